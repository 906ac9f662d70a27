/*
 * gap_law.c - see gap_law.h.
 *
 * tanh(x) = 1 - 2 / (1 + e^{2x}), so with r_k = 1 / (1 + e^{2 a_k y + 2 b_k}):
 *
 *     u = c + sum w - 2 sum w r       u' = 4 sum w a r (1 - r)
 *
 * Compiled with -ffast-math for the vector exp and log1p of libmvec; arguments are clamped to +-700, so nothing
 * overflows. The error of u is about 1e-16 of the sum of |w|.
 */
#include "model/gap_law.h"

#include "base/clones.h"
#include "model/clock_law.h"
#include "model/smurf_class.h"
#include "op/softplus.h"
#include "op/type_head.h"

#include <math.h>

/* Points are processed in runs of this many, with sums on the stack. */
enum { RUN = 64 };

static double clamp(double x)
{
    x = x < -700 ? -700 : x;
    return x > 700 ? 700 : x;
}

/* u at n <= RUN points. */
OP_CLONES
static void heights(size_t d, const double *restrict two_a, const double *restrict two_b, const double *restrict w,
                    double c, const double *restrict y, double *restrict u, size_t n)
{
    double sum[RUN] = {0};
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < n; i++) sum[i] += w[k] / (1 + exp(clamp(two_a[k] * y[i] + two_b[k])));
    for (size_t i = 0; i < n; i++) u[i] = c - 2 * sum[i];
}

/* u and u'. */
OP_CLONES
static void slopes(size_t d, const double *restrict two_a, const double *restrict two_b, const double *restrict w,
                   double c, const double *restrict y, double *restrict u, double *restrict u1, size_t n)
{
    double sum[RUN] = {0}, slope[RUN] = {0};
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < n; i++) {
            double r = 1 / (1 + exp(clamp(two_a[k] * y[i] + two_b[k])));
            sum[i] += w[k] * r;
            slope[i] += w[k] * two_a[k] * r * (1 - r);
        }
    for (size_t i = 0; i < n; i++) {
        u[i] = c - 2 * sum[i];
        u1[i] = 2 * slope[i];
    }
}

/* Turns u into lambda. */
OP_CLONES
static void soften(double *restrict u, size_t n)
{
    for (size_t i = 0; i < n; i++) u[i] = softplus(u[i]);
}

void smurf_gap_law_heights(const struct gap_law *l, const double *y, double *u, size_t n)
{
    for (size_t i = 0; i < n; i += RUN)
        heights(l->width, l->two_a, l->two_b, l->w, l->c, y + i, u + i, n - i < RUN ? n - i : RUN);
}

static void intensity(const void *self, const double *y, double *out, size_t n)
{
    const struct gap_law *l = self;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double u[RUN];
        heights(l->width, l->two_a, l->two_b, l->w, l->c, y + i, u, m);
        soften(u, m);
        for (size_t j = 0; j < m; j++) out[i + j] = u[j];
    }
}

static void both(const struct gap_law *l, const double *y, double *u, double *u1, size_t n)
{
    slopes(l->width, l->two_a, l->two_b, l->w, l->c, y, u, u1, n);
}

/* lambda' = u' / (1 + e^-u) */
static void slope(const void *self, const double *y, double *out, size_t n)
{
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double u[RUN], u1[RUN];
        both(self, y + i, u, u1, m);
        for (size_t j = 0; j < m; j++) out[i + j] = u1[j] / (1 + exp(clamp(-u[j])));
    }
}

/* psi = r u' - lambda, r = q / (lambda + 1e-10) (intensity.h) */
static void score(const void *self, const double *y, double *out, size_t n)
{
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double u[RUN], u1[RUN], q[RUN];
        both(self, y + i, u, u1, m);
        for (size_t j = 0; j < m; j++) q[j] = 1 / (1 + exp(clamp(-u[j])));
        soften(u, m);
        for (size_t j = 0; j < m; j++) out[i + j] = q[j] * u1[j] / (u[j] + 1e-10) - u[j];
    }
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* Adds what repeats to the logits (types x n). */
static void add_repeats(const struct gap_law *l, float *logits, size_t n)
{
    const struct encoder_shape *s = &l->model->shape;
    for (size_t k = 0; s->counts && k < counts_slots(s->types); k++)
        for (size_t i = 0; i < n; i++) logits[repeat_type(s, l->repeat, k) * n + i] += l->repeat[k];
}

/* Probabilities of the types, out (n x types), given an event at y[i]; n <= TYPE_POINTS. */
static void shares(const struct gap_law *l, const double *y, double *out, size_t n)
{
    const struct head_params *at = &smurf_offsets(l->model)->head;
    size_t count = l->model->shape.types, half = l->model->shape.width / 2;
    float *tau = l->scratch, *h = tau + n, *logits = h + half * n;
    for (size_t i = 0; i < n; i++) tau[i] = (float)y[i];
    smurf_type_head_forward_f32(count, half, l->type_a, l->type_b, l->slab + at->type_w, l->slab + at->type_c, tau, n,
                                h, logits);
    add_repeats(l, logits, n);
    for (size_t i = 0; i < n; i++) {
        double most = -HUGE_VAL, sum = 0, *row = out + i * count;
        for (size_t k = 0; k < count; k++) most = logits[k * n + i] > most ? logits[k * n + i] : most;
        for (size_t k = 0; k < count; k++) sum += row[k] = exp(logits[k * n + i] - most);
        for (size_t k = 0; k < count; k++) row[k] /= sum;
    }
}

void smurf_gap_law_types(const struct law *law, const double *y, double *out, size_t n)
{
    shares(law->self, y, out, n);
}

static void types(const void *self, const double *y, double *out, size_t n)
{
    const struct gap_law *l = self;
    size_t count = l->model->shape.types;
    for (size_t i = 0; i < n; i++) {
        double lambda = 1;
        if (l->model->param == PARAM_INTENSITY) intensity(l, &y[i], &lambda, 1);
        shares(l, &y[i], out + i * count, 1);
        for (size_t k = 0; k < count; k++) out[i * count + k] *= lambda;
    }
}

const struct law_class smurf_gap_law_class = {
    .name = "gap head", .intensity = intensity, .slope = slope, .score = score, .types = types};

/* ---- The score as the head ------------------------------------------------------------------- */

static void score_itself(const void *self, const double *y, double *out, size_t n)
{
    const struct gap_law *l = self;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double u[RUN];
        heights(l->width, l->two_a, l->two_b, l->w, l->c, y + i, u, m);
        for (size_t j = 0; j < m; j++) out[i + j] = u[j];
    }
}

/* ln cosh x + ln 2 = |x| + ln(1 + e^{-2|x|}) */
OP_CLONES
static void add_log_cosh(double two_a, double two_b, double factor, const double *restrict y, double *restrict out,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = fabs(two_a * y[i] + two_b);
        out[i] += factor * (0.5 * x + log(1 + exp(-(x < 700 ? x : 700))));
    }
}

/* Integral of psi = sum (w/a) ln cosh(a y + b) + c y, up to a constant. For tiny a the quotient loses all digits, so
   the integral of the series is used: w (z y + a (1 - z^2) y^2 / 2) with z = tanh b. */
static void log_density(const void *self, const double *y, double *out, size_t n)
{
    const struct gap_law *l = self;
    double w_sum = 0;
    for (size_t k = 0; k < l->width; k++) w_sum += l->w[k];
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double sum[RUN], at[RUN];
        for (size_t j = 0; j < m; j++) {
            at[j] = y[i + j];
            sum[j] = (l->c - w_sum) * at[j];
        }
        for (size_t k = 0; k < l->width; k++) {
            double a = 0.5 * l->two_a[k], z = tanh(0.5 * l->two_b[k]);
            if (fabs(a) > 1e-5)
                add_log_cosh(l->two_a[k], l->two_b[k], l->w[k] / a, at, sum, m);
            else
                for (size_t j = 0; j < m; j++) sum[j] += l->w[k] * at[j] * (z + 0.5 * a * (1 - z * z) * at[j]);
        }
        for (size_t j = 0; j < m; j++) out[i + j] = sum[j];
    }
}

static const struct law_class score_class = {
    .name = "score head", .score = score_itself, .types = types, .log_density = log_density};

/* ---- Setting up ------------------------------------------------------------------------------- */

/* The struct that the vectors follow. */
static size_t head_size(const struct model *model)
{
    return model->shape.clock.on ? sizeof(struct clock_law) : sizeof(struct gap_law);
}

static size_t scratch_size(const struct model *model)
{
    return TYPE_POINTS * (1 + model->shape.width / 2 + model->shape.types);
}

size_t smurf_gap_law_memory(const struct model *model)
{
    return head_size(model) + 3 * model->shape.width * sizeof(double) + scratch_size(model) * sizeof(float);
}

struct law smurf_gap_law(const struct model *model, const float *slab, const float *c, double low, double high,
                         void *memory)
{
    struct gap_law *l = memory;
    const struct head_params *at = &smurf_offsets(model)->head;
    const float *a = c, *b = c + model->shape.width, *w = slab + at->w;
    size_t d = model->shape.width;
    double *vectors = (double *)(void *)((char *)memory + head_size(model));
    *l = (struct gap_law){.model = model,
                          .slab = slab,
                          .width = d,
                          .two_a = vectors,
                          .two_b = vectors + d,
                          .w = vectors + 2 * d,
                          .c = (double)slab[at->c],
                          .type_a = c + 2 * d,
                          .type_b = c + 2 * d + d / 2,
                          .repeat = c + 3 * d,
                          .scratch = (float *)(void *)(vectors + 3 * d)};
    for (size_t k = 0; k < d; k++) {
        l->two_a[k] = 2 * (double)a[k];
        l->two_b[k] = 2 * (double)b[k];
        l->w[k] = (double)w[k];
        l->c += (double)w[k];
    }
    const struct law_class *class = model->param == PARAM_INTENSITY ? &smurf_gap_law_class : &score_class;
    if (model->shape.clock.on) return smurf_clock_law(memory, model, c + smurf_clock_at(model), low, high);
    return (struct law){class, l, (uint32_t)model->shape.types, low, high};
}
