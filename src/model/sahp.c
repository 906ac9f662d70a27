/* Compiled twice, for float and for double: see op/op.h. */
/*
 * sahp.c - the self-attentive Hawkes process (Zhang et al., 2020): attention over the past sets an intensity that moves
 * from one level to another until the next event.
 *
 *     x_j = embedding(type_j) + code_j      code_j = sin, cos (p_j omega_i + w_i (t_j - t_{j-1})),  i < width/2
 *     h   = layers(x)                       those of encoder.h, causal; time enters through code alone
 *     mu, eta = gelu(linear h)   gamma = softplus(linear h)      each `width` wide: the coefficients of one event
 *     z(tau) = tanh(mu + (eta - mu) e^{-gamma tau})              eta just after the event, mu in the limit
 *     lambda_k(tau) = softplus(u_k),  u = W z(tau) + b
 *     loss of a gap = integral from 0 to tau of sum_k lambda_k - ln lambda_type(tau)     censored: the integral alone
 *
 * p_j is the position of event j in its sequence, omega_i = 10000^{-2i/width}, and w is learned; the gap before the
 * first event is 0. The integral uses Gauss-Legendre with NODES points. Types are shares of lambda_k.
 *
 * Targets are divided into chunks that depend on their number only, each with its own gradients of W and b, added in
 * order. Within a chunk, the points of a block of targets are the rows of one product with W.
 *
 * Compiled with -ffast-math for the vector tanh, exp, log, sin and cos of libmvec.
 */
#include "model/model_class.h"

#include "base/clones.h"
#include "base/gauss_legendre.h"
#include "op/activation.h"
#include "op/gemm.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/real.h"

#include <string.h>

enum { NODES = 20, POINTS = NODES + 1 }; /* per target: the nodes, and the gap itself */
enum { CHUNK = 8, ROWS_CHUNK = 24, BLOCK = 32, PAIRS = 64 };

struct offsets {
    struct encoder_params encoder;
    size_t gap_rate;          /* (width/2) */
    size_t state, state_bias; /* (3 width x width), (3 width): rows of mu, of eta, of gamma */
    size_t type, type_bias;   /* (types x width), (types) */
};
_Static_assert(sizeof(struct offsets) <= MODEL_OWN, "the offsets have room in a model");

static const struct offsets *offsets(const struct model *model)
{
    return (const void *)model->own;
}

static void params(struct model *model)
{
    struct offsets *at = (void *)model->own;
    model->shape.gap_feature = false; /* the gap is in the code */
    const size_t d = model->shape.width, types = model->shape.types;
    struct params *p = &model->params;
    smurf_encoder_params(&model->shape, p, &at->encoder);
    at->gap_rate = smurf_params_add(p, START_FAN_IN, 1, d / 2, 0, "code.gap");
    at->state = smurf_params_add(p, START_FAN_IN, d, 3 * d, d, "state.weight");
    at->state_bias = smurf_params_add(p, START_FAN_IN, d, 3 * d, 0, "state.bias");
    at->type = smurf_params_add(p, START_FAN_IN, d, types, d, "type.weight");
    at->type_bias = smurf_params_add(p, START_FAN_IN, d, types, 0, "type.bias");
}

static size_t coefficients(const struct model *model)
{
    return 3 * model->shape.width;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Scratch of one chunk, for one block of targets at a time. A row is a point of a target. */
struct scratch {
    real *tau;        /* (rows) */
    real *e, *z, *dz; /* (rows x width): e^{-gamma tau}, z, gradient of z */
    real *u;          /* (rows x types): u, later its gradient */
};

struct memory {
    real *encoder, *code, *x, *dh; /* all but the first (n x width) */
    real *raw, *c, *dc;            /* (n x 3 width): before the activations, coefficients, their gradient */
    real *shared;                  /* (chunks x shared size): gradients of W and b */
    real *scratch;                 /* (chunks x scratch size) */
    size_t shared_size, scratch_size;
};

/* Targets per block: fewer if there are many types. */
static size_t block_of(const struct model *model)
{
    return model->shape.types > 512 ? 1 : 8;
}

static struct scratch take_scratch(struct workspace *w, const struct model *model)
{
    size_t d = model->shape.width, rows = block_of(model) * POINTS;
    struct scratch k;
    k.tau = op_take(w, rows);
    k.e = op_take(w, rows * d);
    k.z = op_take(w, rows * d);
    k.dz = op_take(w, rows * d);
    k.u = op_take(w, rows * model->shape.types);
    return k;
}

/* Returns the number of reals used; with base NULL it only counts. */
static size_t lay_out(struct memory *m, const struct model *model, size_t n, int threads, real *base)
{
    size_t d = model->shape.width, types = model->shape.types;
    struct workspace w = {base, 0}, one = {NULL, 0};
    m->encoder = op_take(&w, encoder_memory(&model->shape, n, threads));
    m->code = op_take(&w, n * d);
    m->x = op_take(&w, n * d);
    m->dh = op_take(&w, n * d);
    m->raw = op_take(&w, n * 3 * d);
    m->c = op_take(&w, n * 3 * d);
    m->dc = op_take(&w, n * 3 * d);
    m->shared_size = (types * d + types + 15) & ~(size_t)15;
    m->shared = op_take(&w, TARGET_CHUNKS * m->shared_size);
    take_scratch(&one, model);
    m->scratch_size = op_taken(&one);
    m->scratch = op_take(&w, TARGET_CHUNKS * m->scratch_size);
    return op_taken(&w);
}

static size_t encode_memory(const struct model *model, size_t n, int threads)
{
    struct memory m;
    return lay_out(&m, model, n, threads, NULL);
}

static size_t loss_memory(const struct model *model, const struct loss_config *config, size_t n, int threads)
{
    (void)config;
    return encode_memory(model, n, threads);
}

/* ---- From events to x ------------------------------------------------------------------------ */

OP_CLONES
static void phases(size_t n, double place, double gap, const double *restrict period, const real *restrict rate,
                   double *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] = place / period[i] + (double)rate[i] * gap;
}

/* Separate loops: in one, the compiler would call sincos, which has no vector form. */
OP_CLONES
static void sines(size_t n, const double *restrict phase, double *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] = sin(phase[i]);
}

OP_CLONES
static void cosines(size_t n, const double *restrict phase, double *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] = cos(phase[i]);
}

static double gap_before(const struct encoder_input *input, size_t first, size_t i)
{
    return i > first ? input->time[i] - input->time[i - 1] : 0;
}

/* Code and x for the rows of one sequence. */
static void see_sequence(const struct model *model, const real *slab, const struct encoder_input *input, size_t s,
                         struct memory *m)
{
    size_t d = model->shape.width, first = input->rows.offset[s], end = input->rows.offset[s + 1];
    const real *rate = slab + offsets(model)->gap_rate;
    double period[PAIRS], phase[PAIRS], sine[PAIRS], cosine[PAIRS];
    for (size_t at = 0; at < d / 2; at += PAIRS) {
        size_t n = d / 2 - at < PAIRS ? d / 2 - at : PAIRS;
        for (size_t i = 0; i < n; i++) period[i] = temporal_period(at + i, d);
        for (size_t j = first; j < end; j++) {
            real *row = m->code + j * d + 2 * at;
            phases(n, (double)(j - first), gap_before(input, first, j), period, rate + at, phase);
            sines(n, phase, sine);
            cosines(n, phase, cosine);
            for (size_t i = 0; i < n; i++) row[2 * i] = (real)sine[i], row[2 * i + 1] = (real)cosine[i];
        }
    }
    embed_forward(end - first, d, encoder_inputs(&model->shape), input->type + first,
                  slab + offsets(model)->encoder.embedding, m->x + first * d);
    for (size_t i = first * d; i < end * d; i++) m->x[i] += m->code[i];
}

/* Gradients of the embedding and of w; d sin = cos, d cos = -sin. */
static void unsee(const struct model *model, const struct encoder_input *input, const struct memory *m, const real *dx,
                  real *grad)
{
    size_t d = model->shape.width;
    real *drate = grad + offsets(model)->gap_rate;
    embed_gradient(input->n, d, input->type, dx, grad + offsets(model)->encoder.embedding);
    for (size_t s = 0; s < input->rows.sequences; s++)
        for (size_t first = input->rows.offset[s], j = first; j < input->rows.offset[s + 1]; j++) {
            const real *code = m->code + j * d, *g = dx + j * d, gap = (real)gap_before(input, first, j);
            for (size_t i = 0; i < d / 2; i++)
                drate[i] += gap * (g[2 * i] * code[2 * i + 1] - g[2 * i + 1] * code[2 * i]);
        }
}

/* ---- From h to the coefficients -------------------------------------------------------------- */

/* softplus(u) = max(u, 0) + ln(1 + e^-|u|) */
static inline real softplus(real u)
{
    return (u > 0 ? u : 0) + log1p_real(exp_real(-fabs_real(u)));
}

/* Its derivative. */
static inline real logistic(real u)
{
    real e = exp_real(-fabs_real(u));
    return (u > 0 ? 1 : e) / (1 + e);
}

OP_CLONES
static void softplus_all(size_t n, const real *restrict u, real *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] = softplus(u[i]);
}

OP_CLONES
static void through_softplus(size_t n, const real *restrict u, real *restrict g)
{
    for (size_t i = 0; i < n; i++) g[i] *= logistic(u[i]);
}

static void state_rows(const struct model *model, const real *slab, size_t i0, size_t n, const real *h, real *raw,
                       real *c)
{
    size_t d = model->shape.width;
    linear_forward(n, d, 3 * d, h + i0 * d, slab + offsets(model)->state, slab + offsets(model)->state_bias,
                   raw + i0 * 3 * d);
    for (size_t i = i0 * 3 * d; i < (i0 + n) * 3 * d; i += 3 * d) {
        activation_forward(ACTIVATION_GELU, 2 * d, raw + i, c + i);
        softplus_all(d, raw + i + 2 * d, c + i + 2 * d);
    }
}

/* Replaces dc by the gradient of raw; writes dh. */
static void unstate_rows(const struct model *model, const real *slab, size_t i0, size_t n, struct memory *m)
{
    size_t d = model->shape.width;
    for (size_t i = i0 * 3 * d; i < (i0 + n) * 3 * d; i += 3 * d) {
        activation_backward(ACTIVATION_GELU, 2 * d, m->raw + i, m->dc + i, m->c + i);
        through_softplus(d, m->raw + i + 2 * d, m->dc + i + 2 * d);
    }
    linear_backward(n, d, 3 * d, m->dc + i0 * 3 * d, slab + offsets(model)->state, 0, m->dh + i0 * d);
}

/* Computes the coefficients c of all rows; returns h. */
static const real *forward(const struct op_run *run, const struct model *model, const real *slab,
                           const struct encoder_input *input, struct memory *m, real *c)
{
    size_t n = input->n, chunks = op_chunks(n, ROWS_CHUNK);
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t s = 0; s < input->rows.sequences; s++) see_sequence(model, slab, input, s, m);
    const real *h = layers_forward(run, &model->shape, &offsets(model)->encoder, slab, input, m->x, m->encoder);
    if (op_stopped(run)) return h;
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t k = 0; k < chunks; k++) {
        size_t i0 = op_chunk_start(n, chunks, k), i1 = op_chunk_start(n, chunks, k + 1);
        state_rows(model, slab, i0, i1 - i0, h, m->raw, c);
    }
    return h;
}

/* From the gradient of the coefficients to those of all parameters below them. */
static void backward(const struct op_run *run, const struct model *model, const real *slab,
                     const struct encoder_input *input, struct memory *m, const real *h, real *grad)
{
    size_t n = input->n, d = model->shape.width, chunks = op_chunks(n, ROWS_CHUNK);
    size_t blocks = (3 * d + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t k = 0; k < chunks; k++) {
        size_t i0 = op_chunk_start(n, chunks, k), i1 = op_chunk_start(n, chunks, k + 1);
        unstate_rows(model, slab, i0, i1 - i0, m);
    }
#pragma omp parallel for schedule(dynamic) num_threads(run->threads)
    for (size_t b = 0; b < blocks; b++) {
        size_t from = b * BLOCK, to = from + BLOCK < 3 * d ? from + BLOCK : 3 * d;
        linear_gradient(n, d, 3 * d, h, m->dc, from, to, grad + offsets(model)->state,
                        grad + offsets(model)->state_bias);
    }
    const real *dx =
        layers_backward(run, &model->shape, &offsets(model)->encoder, slab, input, m->encoder, m->dh, grad);
    unsee(model, input, m, dx, grad);
}

static void encode(const struct op_run *run, const struct model *model, const real *slab,
                   const struct encoder_input *input, real *memory, real *out)
{
    struct memory m;
    lay_out(&m, model, input->n, run->threads, memory);
    forward(run, model, slab, input, &m, out);
}

/* ---- A block of targets ---------------------------------------------------------------------- */

/* Shared by all targets of a batch. */
struct pass {
    const struct model *model;
    const real *slab;
    struct memory *m;
    double node[NODES], weight[NODES];
    double alpha;
    bool backward;
};

/* e and z of one target at its points. One loop per function over all rows, so that no row ends in scalar calls. */
OP_CLONES
static void states(size_t d, const real *restrict c, const real *restrict tau, real *restrict e, real *restrict z)
{
    const real *mu = c, *eta = c + d, *gamma = c + 2 * d;
    for (size_t q = 0; q < POINTS; q++)
        for (size_t i = 0; i < d; i++) e[q * d + i] = -gamma[i] * tau[q];
    for (size_t i = 0; i < POINTS * d; i++) e[i] = exp_real(e[i]);
    for (size_t q = 0; q < POINTS; q++)
        for (size_t i = 0; i < d; i++) z[q * d + i] = mu[i] + (eta[i] - mu[i]) * e[q * d + i];
    for (size_t i = 0; i < POINTS * d; i++) z[i] = tanh_real(z[i]);
}

/* Adds the gradient of the coefficients of one target to dc. */
OP_CLONES
static void unstates(size_t d, const real *restrict c, const real *restrict tau, const real *restrict e,
                     const real *restrict z, const real *restrict dz, real *restrict dc)
{
    const real *mu = c, *eta = c + d;
    for (size_t q = 0; q < POINTS; q++)
        for (size_t i = 0; i < d; i++) {
            size_t at = q * d + i;
            real g = dz[at] * (1 - z[at] * z[at]), ge = g * e[at];
            dc[i] += g - ge;
            dc[d + i] += ge;
            dc[2 * d + i] -= ge * (eta[i] - mu[i]) * tau[q];
        }
}

/* Returns the sum of lambda_k; replaces u by the gradient of factor times it. */
OP_CLONES
static real node_row(size_t types, real factor, real *u)
{
    real sum = 0;
    for (size_t k = 0; k < types; k++) {
        real e = exp_real(-fabs_real(u[k]));
        sum += (u[k] > 0 ? u[k] : 0) + log1p_real(e);
        u[k] = factor * (u[k] > 0 ? 1 : e) / (1 + e);
    }
    return sum;
}

/* Returns -ln lambda_type at the gap; replaces u by the gradient of alpha times it. lambda may underflow, but its
   logarithm is u below -30. */
static double gap_row(size_t types, uint32_t type, double alpha, real *u, bool *right)
{
    double at = (double)u[type], lambda = log1p(exp(-fabs(at))) + (at > 0 ? at : 0);
    *right = true;
    for (size_t k = 0; k < types; k++) *right &= !(u[k] > u[type]);
    memset(u, 0, types * sizeof *u);
    u[type] = (real)(at < -30 ? -alpha : -alpha / ((1 + exp(-at)) * lambda));
    return at < -30 ? -at : -log(lambda);
}

/* The loss of one target from its rows of u, which are replaced by gradients. */
static void one_target(const struct pass *p, const struct target *t, real *u, struct loss *out)
{
    size_t types = p->model->shape.types;
    real *last = u + NODES * types;
    bool right;
    for (size_t q = 0; q < NODES; q++) {
        double weight = t->gap * p->weight[q];
        out->time += weight * (double)node_row(types, (real)(p->alpha * weight), u + q * types);
    }
    out->gaps++;
    if (t->censored) {
        memset(last, 0, types * sizeof *last);
        return;
    }
    out->time += gap_row(types, t->type, p->alpha, last, &right);
    out->right += right;
    out->typed++;
}

static void place(const struct pass *p, double gap, real *tau)
{
    for (size_t q = 0; q < NODES; q++) tau[q] = (real)(gap * p->node[q]);
    tau[NODES] = (real)gap;
}

/* From the gradients of u to those of W and b (shared), and of the coefficients. */
static void unblock(const struct pass *p, const struct target *t, size_t n, const struct scratch *k, real *shared)
{
    size_t d = p->model->shape.width, types = p->model->shape.types, rows = n * POINTS;
    real *bias = shared + types * d;
    gemm(1, 0, types, d, rows, 1, k->u, types, k->z, d, 1, shared, d);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < types; i++) bias[i] += k->u[r * types + i];
    gemm(0, 0, rows, d, types, 1, k->u, types, p->slab + offsets(p->model)->type, d, 0, k->dz, d);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * POINTS * d, row = t[i].row * 3 * d;
        unstates(d, p->m->c + row, k->tau + i * POINTS, k->e + at, k->z + at, k->dz + at, p->m->dc + row);
    }
}

static void block(const struct pass *p, const struct target *t, size_t n, const struct scratch *k, real *shared,
                  struct loss *out)
{
    size_t d = p->model->shape.width, types = p->model->shape.types, rows = n * POINTS;
    const real *w = p->slab + offsets(p->model)->type, *b = p->slab + offsets(p->model)->type_bias;
    for (size_t i = 0; i < n; i++) {
        size_t at = i * POINTS;
        place(p, t[i].gap, k->tau + at);
        states(d, p->m->c + t[i].row * 3 * d, k->tau + at, k->e + at * d, k->z + at * d);
    }
    for (size_t r = 0; r < rows; r++) memcpy(k->u + r * types, b, types * sizeof *b);
    gemm(0, 1, rows, types, d, 1, k->z, d, w, d, 1, k->u, types);
    for (size_t i = 0; i < n; i++) one_target(p, &t[i], k->u + i * POINTS * types, out);
    if (p->backward) unblock(p, t, n, k, shared);
}

/* ---- The batch ------------------------------------------------------------------------------- */

static struct loss all_targets(const struct op_run *run, const struct pass *p, const struct batch *batch)
{
    struct memory *m = p->m;
    size_t chunks = target_chunks(batch->targets, CHUNK), most = block_of(p->model);
    struct loss part[TARGET_CHUNKS] = {{0}}, sum = {0};
    if (p->backward) memset(m->shared, 0, chunks * m->shared_size * sizeof *m->shared);
#pragma omp parallel for schedule(static) num_threads(run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t end = op_chunk_start(batch->targets, chunks, c + 1);
        struct workspace own = {m->scratch + c * m->scratch_size, 0};
        struct scratch scratch = take_scratch(&own, p->model);
        for (size_t i = op_chunk_start(batch->targets, chunks, c); i < end && !op_stopped(run); i += most)
            block(p, batch->target + i, end - i < most ? end - i : most, &scratch, m->shared + c * m->shared_size,
                  &part[c]);
    }
    for (size_t c = 0; c < chunks; c++) loss_add(&sum, &part[c]);
    return sum;
}

/* Adds the chunks' gradients of W and b, in order. */
static void add_shared(const struct pass *p, size_t targets, real *grad)
{
    size_t types = p->model->shape.types, size = types * p->model->shape.width;
    for (size_t c = 0; c < target_chunks(targets, CHUNK); c++) {
        const real *shared = p->m->shared + c * p->m->shared_size;
        for (size_t i = 0; i < size; i++) grad[offsets(p->model)->type + i] += shared[i];
        for (size_t i = 0; i < types; i++) grad[offsets(p->model)->type_bias + i] += shared[size + i];
    }
}

static struct loss loss(const struct op_run *run, const struct model *model, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad)
{
    struct memory m;
    struct pass p = {.model = model, .slab = slab, .m = &m, .alpha = config->alpha, .backward = grad != NULL};
    lay_out(&m, model, batch->input.n, run->threads, memory);
    smurf_gauss_legendre(NODES, p.node, p.weight);
    const real *h = forward(run, model, slab, &batch->input, &m, m.c);
    if (op_stopped(run)) return (struct loss){0};
    if (grad) memset(m.dc, 0, batch->input.n * 3 * model->shape.width * sizeof *m.dc);
    struct loss sum = all_targets(run, &p, batch);
    if (!grad || op_stopped(run)) return sum;
    add_shared(&p, batch->targets, grad);
    backward(run, model, slab, &batch->input, &m, h, grad);
    return sum;
}

/* ---- The law --------------------------------------------------------------------------------- */

/* In double, from floats. Points are processed in runs, units and types in parts that fit on the stack. */
enum { RUN = 32, UNITS = 64, TYPES = 128 };

struct law_room {
    double z[UNITS * RUN], z1[UNITS * RUN]; /* z and dz/dtau */
    double u[TYPES * RUN], u1[TYPES * RUN]; /* u and du/dtau; later lambda and its slope */
};

OP_CLONES
static void law_unit(size_t n, double mu, double eta, double gamma, const double *restrict tau, double *restrict z,
                     double *restrict z1)
{
    for (size_t i = 0; i < n; i++) {
        double e = (eta - mu) * exp(-gamma * tau[i]);
        z[i] = tanh(mu + e);
        z1[i] = -gamma * e * (1 - z[i] * z[i]);
    }
}

OP_CLONES
static void law_add(size_t n, size_t units, const float *restrict w, const double *restrict z, double *restrict u)
{
    for (size_t k = 0; k < units; k++)
        for (size_t i = 0; i < n; i++) u[i] += (double)w[k] * z[k * RUN + i];
}

/* Replaces u by lambda, and u1 by its slope. */
OP_CLONES
static void law_lambda(size_t n, double *restrict u, double *restrict u1)
{
    for (size_t i = 0; i < n; i++) {
        double e = exp(-fabs(u[i]));
        u1[i] *= (u[i] > 0 ? 1 : e) / (1 + e);
        u[i] = (u[i] > 0 ? u[i] : 0) + log1p(e);
    }
}

/* lambda_k of `types` types from k0 on, at n points, a multiple of 8, in r->u; slopes in r->u1, or zeros if not needed.
 */
static void law_part(const struct model_law *l, size_t k0, size_t types, const double *tau, size_t n, bool slopes,
                     struct law_room *r)
{
    size_t d = l->model->shape.width;
    const float *w = l->slab + offsets(l->model)->type + k0 * d, *b = l->slab + offsets(l->model)->type_bias + k0,
                *c = l->c;
    for (size_t k = 0; k < types; k++)
        for (size_t i = 0; i < n; i++) r->u[k * RUN + i] = (double)b[k], r->u1[k * RUN + i] = 0;
    for (size_t from = 0; from < d; from += UNITS) {
        size_t units = d - from < UNITS ? d - from : UNITS;
        for (size_t j = 0; j < units; j++) {
            size_t at = from + j;
            law_unit(n, (double)c[at], (double)c[d + at], (double)c[2 * d + at], tau, r->z + j * RUN, r->z1 + j * RUN);
        }
        for (size_t k = 0; k < types; k++) {
            law_add(n, units, w + k * d + from, r->z, r->u + k * RUN);
            if (slopes) law_add(n, units, w + k * d + from, r->z1, r->u1 + k * RUN);
        }
    }
    for (size_t k = 0; k < types; k++) law_lambda(n, r->u + k * RUN, r->u1 + k * RUN);
}

/* Up to RUN gaps, padded with zeros to a multiple of 8, so that there are no scalar calls. Returns the number. */
static size_t law_points(const double *gap, size_t n, double *tau)
{
    size_t filled = (n + 7) & ~(size_t)7;
    for (size_t i = 0; i < filled; i++) tau[i] = i < n ? gap[i] : 0;
    return filled;
}

/* Sums over types of lambda_k, or of their slopes. */
static void law_sums(const struct model_law *l, const double *gap, double *out, size_t n, bool slopes)
{
    struct law_room room;
    double tau[RUN], sum[RUN];
    size_t types = l->model->shape.types;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN, filled = law_points(gap + i, m, tau);
        memset(sum, 0, sizeof sum);
        for (size_t k0 = 0; k0 < types; k0 += TYPES) {
            size_t part = types - k0 < TYPES ? types - k0 : TYPES;
            law_part(l, k0, part, tau, filled, slopes, &room);
            const double *term = slopes ? room.u1 : room.u;
            for (size_t k = 0; k < part; k++)
                for (size_t j = 0; j < filled; j++) sum[j] += term[k * RUN + j];
        }
        memcpy(out + i, sum, m * sizeof *out);
    }
}

static void intensity(const void *self, const double *gap, double *out, size_t n)
{
    law_sums(self, gap, out, n, false);
}

static void slope(const void *self, const double *gap, double *out, size_t n)
{
    law_sums(self, gap, out, n, true);
}

static void types_of(const void *self, const double *gap, double *out, size_t n)
{
    const struct model_law *l = self;
    struct law_room room;
    double tau[RUN];
    size_t types = l->model->shape.types;
    for (size_t i = 0; i < n; i += RUN) {
        size_t m = n - i < RUN ? n - i : RUN, filled = law_points(gap + i, m, tau);
        for (size_t k0 = 0; k0 < types; k0 += TYPES) {
            size_t part = types - k0 < TYPES ? types - k0 : TYPES;
            law_part(l, k0, part, tau, filled, false, &room);
            for (size_t j = 0; j < m; j++)
                for (size_t k = 0; k < part; k++) out[(i + j) * types + k0 + k] = room.u[k * RUN + j];
        }
    }
}

static const struct law_class law_class = {.name = "sahp", .intensity = intensity, .slope = slope, .types = types_of};

static struct law law(const struct model *m, const float *slab, const float *c, double low, double high, void *memory)
{
    return model_law_of(&law_class, m, slab, c, low, high, memory);
}

const struct model_class OP(model_sahp) = {
    .name = "sahp",
    .about = "self-attentive Hawkes process",
    .scales = 1u << SMURF_SCALE_MEAN,
    .preset = model_preset_published,
    .params = params,
    .coefficients = coefficients,
    .encode_memory = encode_memory,
    .encode = encode,
    .loss_memory = loss_memory,
    .loss = loss,
    .history = &smurf_history_reread,
    .law_memory = model_law_memory,
    .law = law,
    .types = model_type_shares,
};
