/* Compiled twice, for float and for double: see op/op.h. */
/* thp_part.c - see thp_part.h. */
#include "model/thp_part.h"

#include "base/random.h"
#include "op/linear.h"

#include <math.h>
#include <string.h>

enum { ROWS_CHUNK = 24, BLOCK = 32 };

void thp_part_params(struct thp_part *part, struct params *params)
{
    size_t d = part->shape.width, types = part->shape.types;
    smurf_encoder_params(&part->shape, params, &part->encoder);
    part->w = smurf_params_add(params, START_FAN_IN, d, types, d, "intensity.weight");
    part->b = smurf_params_add(params, START_FAN_IN, d, types, 0, "intensity.bias");
    part->alpha = smurf_params_add(params, START_VALUE, 0, 1, 0, "alpha");
    params->entry[params->count - 1].value = -0.1;
    part->beta = smurf_params_add(params, START_ONE, 0, 1, 0, "beta");
    part->offset = 1;
}

/* ---- Linear maps ----------------------------------------------------------------------------- */

void thp_map_forward(int threads, size_t n, size_t in, size_t out, const real *x, const real *w, const real *b, real *y)
{
    size_t chunks = op_chunks(n, ROWS_CHUNK);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
        linear_forward(rows, in, out, x + i * in, w, b, y + i * out);
    }
}

void thp_map_backward(int threads, size_t n, size_t in, size_t out, const real *x, const real *dy, const real *w,
                      bool add, real *dx, real *dw, real *db)
{
    size_t chunks = op_chunks(n, ROWS_CHUNK), blocks = (out + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t c = 0; c < chunks + blocks; c++) {
        if (c < chunks) {
            size_t i = op_chunk_start(n, chunks, c), rows = op_chunk_start(n, chunks, c + 1) - i;
            linear_backward(rows, in, out, dy + i * out, w, add, dx + i * in);
        } else {
            size_t from = (c - chunks) * BLOCK, to = from + BLOCK < out ? from + BLOCK : out;
            linear_gradient(n, in, out, x, dy, from, to, dw, db);
        }
    }
}

/* ---- A batch --------------------------------------------------------------------------------- */

void thp_pass_take(struct thp_pass *pass, struct workspace *w, const struct thp_part *part, size_t n, int threads)
{
    pass->part = part;
    pass->encoder = op_take(w, encoder_memory(&part->shape, n, threads));
    pass->z = op_take(w, n * part->shape.types);
    pass->s = op_take(w, n);
    pass->dz = op_take(w, n * part->shape.types);
    pass->dh = op_take(w, n * part->shape.width);
}

double thp_pass_since(const struct thp_pass *pass, size_t row)
{
    return fmax(pass->input->time[row], 0) + pass->part->offset;
}

void thp_pass_forward(struct thp_pass *p, bool backward)
{
    const struct thp_part *at = p->part;
    size_t n = p->input->n, types = at->shape.types;
    p->h = encoder_forward(p->run, &at->shape, &at->encoder, p->slab, p->input, p->encoder);
    thp_map_forward(p->run->threads, n, at->shape.width, types, p->h, p->slab + at->w, p->slab + at->b, p->z);
    for (size_t i = 0; i < n; i++) p->s[i] = (real)((double)p->slab[at->alpha] / thp_pass_since(p, i));
    if (backward) memset(p->dz, 0, n * types * sizeof *p->dz); /* rows without a target have no gradient */
}

struct thp_head thp_pass_head(const struct thp_pass *p, size_t row)
{
    real beta = p->slab[p->part->beta];
    if (beta < (real)THP_BETA_LEAST) beta = (real)THP_BETA_LEAST;
    return (struct thp_head){p->part->shape.types, p->z + row * p->part->shape.types, p->s[row], beta};
}

void thp_pass_backward(struct thp_pass *p, bool dh_add, double dalpha, double dbeta, real *grad)
{
    const struct thp_part *at = p->part;
    grad[at->alpha] += (real)dalpha;
    grad[at->beta] += (real)dbeta;
    thp_map_backward(p->run->threads, p->input->n, at->shape.width, at->shape.types, p->h, p->dz, p->slab + at->w,
                     dh_add, p->dh, grad + at->w, grad + at->b);
    encoder_backward(p->run, &at->shape, &at->encoder, p->slab, p->input, p->encoder, p->dh, grad);
}

/* ---- The likelihood of a gap ------------------------------------------------------------------ */

static size_t padded(size_t points)
{
    return (points + THP_BLOCK - 1) / THP_BLOCK * THP_BLOCK;
}

size_t thp_scratch(const struct loss_config *config)
{
    return 2 * padded(config->points);
}

/* Points u * gap and their weights; the last block is padded with weight 0. */
static void place(const struct thp_pass *p, const struct target *t, size_t index, real *tau, real *w)
{
    size_t points = p->config->points, all = padded(points);
    uint64_t stream = p->run->step * 0x9E3779B97F4A7C15u ^ 0x7468702064726177u; /* "thp draw" */
    for (size_t i = 0; i < points; i += 4) {
        uint32_t word[4];
        if (!p->config->u) smurf_philox(word, p->run->seed, stream, t->id << 8 | i / 4);
        for (size_t j = i; j < i + 4 && j < points; j++) {
            double u = p->config->u ? p->config->u[index * points + j] : ((double)word[j - i] + 0.5) * 0x1p-32;
            tau[j] = (real)(u * t->gap);
        }
    }
    for (size_t i = points; i < all; i++) tau[i] = 0;
    for (size_t i = 0; i < all; i++) w[i] = i < points ? 1 / (real)points : 0;
}

double thp_nll(const struct thp_pass *p, const struct thp_head *head, const struct target *t, size_t index,
               real *scratch, double scale, struct thp_gradient *g)
{
    size_t n = padded(p->config->points);
    real gap = (real)t->gap;
    place(p, t, index, scratch, scratch + n);
    double nll = t->gap * thp_integral(head, n, scratch, scratch + n, scale * t->gap, g);
    if (t->censored) return nll;
    struct thp_point at = thp_at(head, t->type, gap);
    double lambda = (double)at.lambda + THP_LOG_OFFSET;
    if (g) thp_add(head, t->type, gap, &at, -scale / lambda, g);
    return nll - log(lambda);
}

/* ---- The law --------------------------------------------------------------------------------- */

/* Laws are made in the float build; in the double one (tests) the coefficients are doubles. */
static struct thp_head head_of(const void *self)
{
    const struct model_law *l = self;
    const real *c = (const void *)l->c;
    size_t types = l->model->shape.types;
    return (struct thp_head){types, c, c[types], c[types + 1]};
}

static void intensity(const void *self, const double *tau, double *out, size_t n)
{
    struct thp_head head = head_of(self);
    thp_total(&head, tau, out, n);
}

static void slope(const void *self, const double *tau, double *out, size_t n)
{
    struct thp_head head = head_of(self);
    thp_total_slope(&head, tau, out, n);
}

static void types_at(const void *self, const double *tau, double *out, size_t n)
{
    struct thp_head head = head_of(self);
    thp_types(&head, tau, out, n);
}

const struct law_class OP(thp_law) = {.name = "softplus", .intensity = intensity, .slope = slope, .types = types_at};
