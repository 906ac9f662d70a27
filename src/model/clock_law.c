/*
 * clock_law.c - see clock_law.h.
 *
 * The clock needs many more points than u, which is smooth on the law's axis: tanh(a y + b) with |a| < 1 has no pole
 * within pi/2 of it. So u is computed once, at CLOCK_PIECE_NODES Chebyshev nodes of pieces of width 1 at most, which
 * gives it within 1e-8 of the sum of |w|; the intensity takes it from there.
 *
 * Compiled with -ffast-math for the vector sin, cos, exp and log1p of libmvec.
 */
#include "model/clock_law.h"

#include "base/clones.h"
#include "op/softplus.h"

#include <math.h>

enum { RUN = 64, NODES = CLOCK_PIECE_NODES, PERIODS = 3 };
/* Longest panel of quadrature, in seconds. */
static const double longest_panel = 3 * 3600;
static const double two_pi = 6.28318530717958647692;
static const double period[PERIODS] = {86400, 7 * 86400, 365.2425 * 86400};

/* ---- beta ------------------------------------------------------------------------------------------ */

OP_CLONES
static void sines(size_t n, const double *restrict s, double rate, double *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        double turns = s[i] * rate;
        out[i] = sin(two_pi * (turns - floor(turns)));
    }
}

OP_CLONES
static void cosines(size_t n, const double *restrict s, double rate, double *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        double turns = s[i] * rate;
        out[i] = cos(two_pi * (turns - floor(turns)));
    }
}

/* Adds the harmonics of one period to b, and their derivatives by time to b1; n <= RUN. */
OP_CLONES
static void add_harmonics(size_t n, size_t harmonics, double rate, const double *restrict weight,
                          const double *restrict sine, const double *restrict cosine, double *restrict b,
                          double *restrict b1)
{
    double s[RUN], c[RUN];
    for (size_t i = 0; i < n; i++) s[i] = sine[i], c[i] = cosine[i];
    for (size_t k = 0; k < harmonics; k++) {
        const double p = weight[2 * k], q = weight[2 * k + 1], w = two_pi * rate * (double)(k + 1);
        for (size_t i = 0; i < n; i++) {
            double next = s[i] * cosine[i] + c[i] * sine[i];
            b[i] += p * s[i] + q * c[i];
            b1[i] += w * (p * c[i] - q * s[i]);
            c[i] = c[i] * cosine[i] - s[i] * sine[i];
            s[i] = next;
        }
    }
}

/* b and b' at n <= RUN local times, counted as tau is. */
static void sum_of(const struct clock_law *l, const double *local, double *b, double *b1, size_t n)
{
    const bool has[PERIODS] = {true, l->clock->shape.week, l->clock->shape.year};
    const size_t harmonics[PERIODS] = {CLOCK_DAY, CLOCK_WEEK, CLOCK_YEAR};
    const double *weight = l->weight;
    double sine[RUN], cosine[RUN];
    for (size_t i = 0; i < n; i++) b[i] = b1[i] = 0;
    for (int p = 0; p < PERIODS; p++) {
        if (!has[p]) continue;
        sines(n, local, 1 / period[p], sine);
        cosines(n, local, 1 / period[p], cosine);
        add_harmonics(n, harmonics[p], 1 / period[p], weight, sine, cosine, b, b1);
        weight += 2 * harmonics[p];
    }
}

OP_CLONES
static void log_gaps(const double *restrict y, double *restrict gap, size_t n, const smurf_scale *s)
{
    const double sd = s->sd, mu = s->mu, mean = s->mean;
    for (size_t i = 0; i < n; i++) gap[i] = mean * exp(sd * y[i] + mu);
}

/* beta at n <= RUN points, and beta' unless NULL. */
static void factor(const struct clock_law *l, const double *y, double *beta, double *beta1, size_t n)
{
    double gap[RUN], local[RUN], b1[RUN];
    const smurf_scale *scale = &l->clock->scale;
    if (scale->kind == SMURF_SCALE_LOG)
        log_gaps(y, gap, n, scale); /* the 1e-9 of a mean gap is far below a second, or far below the gap */
    else
        for (size_t i = 0; i < n; i++) gap[i] = smurf_scale_backward(scale, y[i]);
    for (size_t i = 0; i < n; i++) local[i] = gap[i] < l->until ? gap[i] : gap[i] + l->shift;
    sum_of(l, local, beta, b1, n);
    for (size_t i = 0; beta1 && i < n; i++)
        beta1[i] = gap[i] < l->clock->cut ? b1[i] * smurf_clock_gap(l->clock, y[i]).slope : 0;
    for (size_t i = 0; i < n; i++) beta[i] = gap[i] < l->clock->cut ? beta[i] : l->mean;
}

/* ln of the mean of e^b over the hours of the week after the cut. */
static double mean_of_week(const struct clock_law *l)
{
    double cut = l->clock->cut, hour[RUN], b[RUN], b1[RUN], sum = 0;
    for (size_t k = 0; k < CLOCK_WEEK_HOURS; k += RUN) {
        size_t n = CLOCK_WEEK_HOURS - k < RUN ? CLOCK_WEEK_HOURS - k : RUN;
        for (size_t i = 0; i < n; i++) hour[i] = (cut < l->until ? cut : cut + l->shift) + 3600.0 * (double)(k + i);
        sum_of(l, hour, b, b1, n);
        for (size_t i = 0; i < n; i++) sum += exp(b[i]);
    }
    return log(sum / CLOCK_WEEK_HOURS);
}

/* ---- u --------------------------------------------------------------------------------------------- */

/* Chebyshev coefficients of u on each piece: c_k = 2/N sum_j u_j cos((j + 1/2) k pi / N), the first halved. */
static void fit_pieces(struct clock_law *l, double low, double high)
{
    double turn[4 * NODES], y[NODES], u[NODES];
    l->pieces = (size_t)ceil(high - low);
    if (!(high - low < CLOCK_PIECES)) l->pieces = 0;
    if (!l->pieces) return;
    l->low = low;
    l->width = (high - low) / (double)l->pieces;
    for (int i = 0; i < 4 * NODES; i++) turn[i] = cos(two_pi * i / (4 * NODES));
    for (size_t p = 0; p < l->pieces; p++) {
        for (int j = 0; j < NODES; j++) y[j] = low + l->width * ((double)p + 0.5 + 0.5 * turn[2 * j + 1]);
        smurf_gap_law_heights(&l->plain, y, u, NODES);
        for (int k = 0; k < NODES; k++) {
            double sum = 0;
            for (int j = 0; j < NODES; j++) sum += u[j] * turn[(2 * j + 1) * k % (4 * NODES)];
            l->polynomial[p][k] = sum * (k ? 2.0 : 1.0) / NODES;
        }
    }
}

/* u at n <= RUN points. */
OP_CLONES
static void heights(const struct clock_law *l, const double *restrict y, double *restrict u, size_t n)
{
    const double inverse = 1 / l->width, low = l->low, last = (double)(l->pieces - 1);
    for (size_t i = 0; i < n; i++) {
        double place = (y[i] - low) * inverse, piece = floor(place);
        piece = piece < 0 ? 0 : piece;
        piece = piece > last ? last : piece;
        const double *c = l->polynomial[(int)piece];
        double t = 2 * (place - piece) - 1, b = 0, b_next = 0;
        for (int k = NODES - 1; k > 0; k--) {
            double sum = c[k] + 2 * t * b - b_next;
            b_next = b;
            b = sum;
        }
        u[i] = c[0] + t * b - b_next;
    }
}

OP_CLONES
static void times_factor(const double *restrict u, const double *restrict beta, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = softplus(u[i]) * exp(beta[i]);
}

/* ---- The law --------------------------------------------------------------------------------------- */

static void intensity(const void *self, const double *y, double *out, size_t n)
{
    const struct clock_law *l = self;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double u[RUN], beta[RUN], product[RUN];
        if (l->pieces)
            heights(l, y + i, u, m);
        else
            smurf_gap_law_heights(&l->plain, y + i, u, m);
        factor(l, y + i, beta, NULL, m);
        times_factor(u, beta, product, m);
        for (size_t j = 0; j < m; j++) out[i + j] = product[j];
    }
}

static void slope(const void *self, const double *y, double *out, size_t n)
{
    const struct clock_law *l = self;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double beta[RUN], beta1[RUN], plain[RUN], lambda[RUN];
        factor(l, y + i, beta, beta1, m);
        smurf_gap_law_class.slope(&l->plain, y + i, plain, m);
        smurf_gap_law_class.intensity(&l->plain, y + i, lambda, m);
        for (size_t j = 0; j < m; j++) out[i + j] = (plain[j] + lambda[j] * beta1[j]) * exp(beta[j]);
    }
}

static void score(const void *self, const double *y, double *out, size_t n)
{
    const struct clock_law *l = self;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN;
        double beta[RUN], beta1[RUN], plain[RUN], lambda[RUN];
        factor(l, y + i, beta, beta1, m);
        smurf_gap_law_class.score(&l->plain, y + i, plain, m);
        smurf_gap_law_class.intensity(&l->plain, y + i, lambda, m);
        for (size_t j = 0; j < m; j++) out[i + j] = plain[j] + beta1[j] - lambda[j] * expm1(beta[j]);
    }
}

static void types(const void *self, const double *y, double *out, size_t n)
{
    const struct clock_law *l = self;
    size_t count = l->plain.model->shape.types;
    smurf_gap_law_class.types(&l->plain, y, out, n);
    for (size_t i = 0; i < n; i++) {
        double beta;
        factor(l, y + i, &beta, NULL, 1);
        for (size_t k = 0; k < count; k++) out[i * count + k] *= exp(beta);
    }
}

/* Where lambda jumps, a panel ends, and the next one is a second long: the table has one slope for both sides. */
static bool at_jump(double gap, double jump, double *next)
{
    const double resolution = 1e-3 + 1e-9 * jump;
    if (gap >= jump + 0.5) return false;
    if (gap + resolution >= jump)
        *next = jump + 1;
    else if (*next > jump)
        *next = jump;
    return *next >= jump;
}

/* Panels are short up to the cut. */
static double edge(const void *self, double y)
{
    const struct clock_law *l = self;
    double gap = smurf_clock_gap(l->clock, y).gap, next = gap + longest_panel;
    if (gap >= l->clock->cut + 0.5) return HUGE_VAL;
    if (!at_jump(gap, l->until, &next)) at_jump(gap, l->clock->cut, &next);
    return smurf_scale_forward(&l->clock->scale, next);
}

static const struct law_class clock_class = {
    .name = "gap head and clock", .intensity = intensity, .slope = slope, .score = score, .types = types, .edge = edge};

struct law smurf_clock_law(struct clock_law *l, const struct model *model, const float *c, double low, double high)
{
    size_t inputs = clock_inputs(model->shape.clock.shape);
    l->clock = &model->shape.clock;
    for (size_t j = 0; j < inputs; j++) l->weight[j] = (double)c[j];
    l->until = (double)c[inputs];
    l->shift = (double)c[inputs + 1];
    l->mean = smurf_clock_gap(l->clock, high).gap > l->clock->cut ? mean_of_week(l) : 0;
    fit_pieces(l, low, high);
    return (struct law){&clock_class, l, (uint32_t)model->shape.types, low, high};
}
