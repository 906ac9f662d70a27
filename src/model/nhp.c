/* Compiled twice, for float and for double: see op/op.h. */
/*
 * nhp.c - the neural Hawkes process: a continuous-time LSTM whose memory decays between events.
 *
 * Event i with the embedding x_i of its type; h^-, c^- and cbar^- are the memory just before it, 0 at the first event.
 * One linear map of [x_i, h^-] gives seven gates: i, f, ibar, fbar and o logistic, z tanh, delta softplus.
 *
 *     c_i = f c^- + i z                 cbar_i = fbar cbar_{i-1} + ibar z
 *     c(tau) = cbar_i + (c_i - cbar_i) e^{-delta_i tau}             h(tau) = o_i tanh c(tau)
 *     lambda_k(tau) = s_k softplus(w_k . h(tau) / s_k)              ln s_k is stored
 *
 * until the next event, tau in mean gaps. The coefficients of a law are (o, c, cbar, delta), each `width` long. No
 * dropout, as published.
 *
 *     loss of a target = -ln lambda_k(tau) + integral of sum_k lambda_k from 0 to tau         (censored: the integral)
 *
 * The integral uses at most NODES_MOST Gauss-Legendre nodes in v, u = tau v^3: memory that decays in 1/10,000 of a gap
 * is still resolved to 1% (published: uniform draws, used if config->u is given).
 *
 * Sequences run in parallel, each on one thread. Targets are divided into chunks that depend on their number only, and
 * these into tiles, whose points form matrices large enough for fast products. Gradients of the gates are kept for
 * every row, so those of their map are one product over all rows.
 *
 * Compiled with -ffast-math for the vector exp, log1p and tanh of libmvec.
 */
#include "model/model_class.h"

#include "base/clones.h"
#include "base/gauss_legendre.h"
#include "op/gemm.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/real.h"
#include "op/softplus.h"

#include <string.h>

enum { NODES_MOST = 20, TILE_MOST = 8, TILE_CELLS = 1 << 16, CHUNK = 16, ROWS_CHUNK = 24 };
enum gate { GATE_I, GATE_F, GATE_IBAR, GATE_FBAR, GATE_O, LOGISTIC, GATE_Z = LOGISTIC, GATE_DELTA, GATES };
enum part { PART_O, PART_C, PART_CBAR, PART_DELTA, PARTS };

struct offsets {
    size_t embedding;   /* (inputs x width) */
    size_t gates, bias; /* (7 width x 2 width), (7 width) */
    size_t intensity;   /* (types x width) */
    size_t scale;       /* (types) */
};
_Static_assert(sizeof(struct offsets) <= MODEL_OWN, "the offsets have room in a model");

static const struct offsets *offsets(const struct model *model)
{
    return (const void *)model->own;
}

static void params(struct model *model)
{
    size_t d = model->shape.width, types = model->shape.types;
    struct offsets *at = (void *)model->own;
    struct params *p = &model->params;
    at->embedding = smurf_params_add(p, START_NORMAL, 0, encoder_inputs(&model->shape), d, "embedding");
    at->gates = smurf_params_add(p, START_FAN_IN, 2 * d, GATES * d, 2 * d, "gates.weight");
    at->bias = smurf_params_add(p, START_FAN_IN, 2 * d, GATES * d, 0, "gates.bias");
    at->intensity = smurf_params_add(p, START_FAN_IN, d, types, d, "intensity.weight");
    at->scale = smurf_params_add(p, START_ZERO, 0, types, 0, "intensity.log_scale");
}

static size_t coefficients(const struct model *model)
{
    return PARTS * model->shape.width;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct memory {
    real *turned;          /* (d x 7d): the recurrent half of the map, transposed */
    real *x;               /* (n x 2d): [x, h^-] */
    real *gates, *dgates;  /* (n x 7d) */
    real *state, *dstate;  /* (n x 4d): o, c, cbar, delta */
    real *before;          /* (n x d): c^-; in the backward pass, its gradient */
    real *bent, *decay;    /* (n x d): tanh c^-, e^{-delta tau} of the previous row */
    real *dx;              /* (n x d): gradient of h^-, then of x */
    real *scale, *inverse; /* (types): s, 1/s */
    real *shared;          /* (chunks x shared_size): gradients of w and ln s */
    real *scratch;         /* (chunks x scratch_size) */
    size_t nodes, tile, shared_size, scratch_size;
};

/* Scratch of one tile. The points of a target are its nodes and, last, its own gap. */
struct scratch {
    real *tau, *weight;     /* (points) */
    real *decay, *bent, *h; /* (points x d); h is later replaced by its gradient */
    real *u, *soft, *slope; /* (points x types): w.h, softplus(u/s) and its derivative */
};

static struct scratch take_scratch(struct workspace *w, const struct model *model, size_t points)
{
    size_t d = model->shape.width, types = model->shape.types;
    struct scratch k;
    k.tau = op_take(w, points);
    k.weight = op_take(w, points);
    k.decay = op_take(w, points * d);
    k.bent = op_take(w, points * d);
    k.h = op_take(w, points * d);
    k.u = op_take(w, points * types);
    k.soft = op_take(w, points * types);
    k.slope = op_take(w, points * types);
    return k;
}

/* Targets per tile: fewer if there are many types. */
static size_t tile_of(size_t types, size_t points)
{
    size_t tile = TILE_CELLS / (types * points);
    return tile < 1 ? 1 : tile > TILE_MOST ? TILE_MOST : tile;
}

/* Returns the number of reals used; with base NULL it only counts. config NULL: for encoding only. */
static size_t lay_out(struct memory *m, const struct model *model, const struct loss_config *config, size_t n,
                      real *base)
{
    size_t d = model->shape.width, types = model->shape.types;
    struct workspace w = {base, 0}, one = {NULL, 0};
    *m = (struct memory){0};
    if (config) m->nodes = config->u || config->points < NODES_MOST ? config->points : NODES_MOST;
    m->turned = op_take(&w, d * GATES * d);
    m->x = op_take(&w, n * 2 * d);
    m->gates = op_take(&w, n * GATES * d);
    m->dgates = op_take(&w, n * GATES * d);
    m->state = op_take(&w, n * PARTS * d);
    m->dstate = op_take(&w, n * PARTS * d);
    real **rows[] = {&m->before, &m->bent, &m->decay, &m->dx};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = op_take(&w, n * d);
    m->scale = op_take(&w, types);
    m->inverse = op_take(&w, types);
    m->shared_size = (types * d + types + 15) & ~(size_t)15;
    m->shared = op_take(&w, TARGET_CHUNKS * m->shared_size);
    m->tile = tile_of(types, m->nodes + 1);
    take_scratch(&one, model, m->tile * (m->nodes + 1));
    m->scratch_size = op_taken(&one);
    m->scratch = op_take(&w, TARGET_CHUNKS * m->scratch_size);
    return op_taken(&w);
}

static size_t loss_memory(const struct model *model, const struct loss_config *config, size_t n, int threads)
{
    (void)threads;
    struct memory m;
    return lay_out(&m, model, config, n, NULL);
}

static size_t encode_memory(const struct model *model, size_t n, int threads)
{
    return loss_memory(model, NULL, n, threads);
}

/* Shared by all functions of a pass. */
struct pass {
    const struct op_run *run;
    const struct model *model;
    const struct loss_config *config;
    const real *slab;
    const struct encoder_input *input;
    struct memory *m;
    double node[NODES_MOST], weight[NODES_MOST]; /* on (0, 1) */
    bool backward;
};

/* ---- From event to event --------------------------------------------------------------------- */

/* y (columns) += sum over rows of x[r] w[r]; rows of w are `stride` apart. Eight rows at a time, to access y less
   often. */
OP_CLONES
static void add_rows(size_t rows, size_t columns, const real *restrict x, const real *restrict w, size_t stride,
                     real *restrict y)
{
    size_t r = 0;
    for (; r + 8 <= rows; r += 8, x += 8, w += 8 * stride)
        for (size_t k = 0; k < columns; k++)
            y[k] += x[0] * w[k] + x[1] * w[stride + k] + x[2] * w[2 * stride + k] + x[3] * w[3 * stride + k] +
                    x[4] * w[4 * stride + k] + x[5] * w[5 * stride + k] + x[6] * w[6 * stride + k] +
                    x[7] * w[7 * stride + k];
    for (; r < rows; r++, x++, w += stride)
        for (size_t k = 0; k < columns; k++) y[k] += *x * w[k];
}

/* Memory of the previous row, tau later. */
OP_CLONES
static void decay_to(size_t d, const real *restrict state, real tau, real *restrict decay, real *restrict before,
                     real *restrict bent, real *restrict h)
{
    const real *o = state + PART_O * d, *c = state + PART_C * d, *cbar = state + PART_CBAR * d,
               *delta = state + PART_DELTA * d;
    for (size_t k = 0; k < d; k++) decay[k] = exp_real(-delta[k] * tau);
    for (size_t k = 0; k < d; k++) before[k] = cbar[k] + (c[k] - cbar[k]) * decay[k];
    for (size_t k = 0; k < d; k++) bent[k] = tanh_real(before[k]);
    for (size_t k = 0; k < d; k++) h[k] = o[k] * bent[k];
}

/* Gates and new memory from the map's outputs. before, last: c^- and cbar^-. */
OP_CLONES
static void remember(size_t d, real *restrict gates, const real *before, const real *last, real *restrict state)
{
    real *z = gates + GATE_Z * d, *delta = gates + GATE_DELTA * d;
    for (size_t k = 0; k < LOGISTIC * d; k++) gates[k] = 1 / (1 + exp_real(gates[k] > -80 ? -gates[k] : 80));
    for (size_t k = 0; k < d; k++) z[k] = tanh_real(z[k]);
    for (size_t k = 0; k < d; k++) {
        real soft = log1p_real(exp_real(-fabs_real(delta[k])));
        delta[k] = (delta[k] > 0 ? delta[k] : 0) + soft;
    }
    for (size_t k = 0; k < d; k++) {
        state[PART_O * d + k] = gates[GATE_O * d + k];
        state[PART_C * d + k] = gates[GATE_F * d + k] * before[k] + gates[GATE_I * d + k] * z[k];
        state[PART_CBAR * d + k] = gates[GATE_FBAR * d + k] * last[k] + gates[GATE_IBAR * d + k] * z[k];
        state[PART_DELTA * d + k] = delta[k];
    }
}

static real gap_before(const struct pass *p, size_t i)
{
    return (real)(p->input->time[i] - p->input->time[i - 1]);
}

static void sequence_forward(const struct pass *p, size_t from, size_t to, real *state)
{
    const struct memory *m = p->m;
    size_t d = p->model->shape.width;
    for (size_t i = from; i < to && !(i % 64 == 63 && op_stopped(p->run)); i++) {
        real *now = state + i * PARTS * d, *gates = m->gates + i * GATES * d, *before = m->before + i * d;
        real *h = m->x + i * 2 * d + d;
        const real *last = before;
        if (i > from) {
            decay_to(d, now - PARTS * d, gap_before(p, i), m->decay + i * d, before, m->bent + i * d, h);
            add_rows(d, GATES * d, h, m->turned, GATES * d, gates);
            last = now - PARTS * d + PART_CBAR * d;
        } else {
            memset(before, 0, d * sizeof *before);
            memset(h, 0, d * sizeof *h);
        }
        remember(d, gates, before, last, now);
    }
}

/* Gradients of the map's outputs, and of c^-, which replaces c^-. softplus' = 1 - e^{-softplus}. */
OP_CLONES
static void remember_backward(size_t d, const real *restrict gates, const real *last, const real *restrict dstate,
                              real *before, real *restrict dgates)
{
    const real *dc = dstate + PART_C * d, *dcbar = dstate + PART_CBAR * d;
    for (size_t k = 0; k < d; k++) {
        real i = gates[GATE_I * d + k], f = gates[GATE_F * d + k], o = gates[GATE_O * d + k];
        real ibar = gates[GATE_IBAR * d + k], fbar = gates[GATE_FBAR * d + k], z = gates[GATE_Z * d + k];
        dgates[GATE_I * d + k] = dc[k] * z * i * (1 - i);
        dgates[GATE_F * d + k] = dc[k] * before[k] * f * (1 - f);
        dgates[GATE_IBAR * d + k] = dcbar[k] * z * ibar * (1 - ibar);
        dgates[GATE_FBAR * d + k] = dcbar[k] * last[k] * fbar * (1 - fbar);
        dgates[GATE_O * d + k] = dstate[PART_O * d + k] * o * (1 - o);
        dgates[GATE_Z * d + k] = (dc[k] * i + dcbar[k] * ibar) * (1 - z * z);
    }
    for (size_t k = 0; k < d; k++)
        dgates[GATE_DELTA * d + k] = dstate[PART_DELTA * d + k] * (1 - exp_real(-gates[GATE_DELTA * d + k]));
    for (size_t k = 0; k < d; k++) before[k] = dc[k] * gates[GATE_F * d + k];
}

/* Adds the contributions of c(tau) and h(tau) to the gradients of a memory. */
OP_CLONES
static void decay_backward(size_t d, const real *restrict state, real tau, const real *restrict decay,
                           const real *restrict bent, const real *restrict dbefore, const real *restrict dh,
                           real *restrict dstate)
{
    for (size_t k = 0; k < d; k++) {
        real dc = (dbefore ? dbefore[k] : 0) + dh[k] * state[PART_O * d + k] * (1 - bent[k] * bent[k]);
        real lead = state[PART_C * d + k] - state[PART_CBAR * d + k];
        dstate[PART_O * d + k] += dh[k] * bent[k];
        dstate[PART_C * d + k] += dc * decay[k];
        dstate[PART_CBAR * d + k] += dc * (1 - decay[k]);
        dstate[PART_DELTA * d + k] -= dc * lead * decay[k] * tau;
    }
}

static void sequence_backward(const struct pass *p, size_t from, size_t to)
{
    const struct memory *m = p->m;
    size_t d = p->model->shape.width;
    const real *w = p->slab + offsets(p->model)->gates + d;
    for (size_t i = to; i-- > from && !(i % 64 == 63 && op_stopped(p->run));) {
        const real *last = i > from ? m->state + ((i - 1) * PARTS + PART_CBAR) * d : m->before + i * d;
        real *dnow = m->dstate + i * PARTS * d, *dgates = m->dgates + i * GATES * d, *dh = m->dx + i * d;
        const real *gates = m->gates + i * GATES * d;
        remember_backward(d, gates, last, dnow, m->before + i * d, dgates);
        if (i == from) return;
        real *dlast = dnow - PARTS * d;
        for (size_t k = 0; k < d; k++) dlast[PART_CBAR * d + k] += dnow[PART_CBAR * d + k] * gates[GATE_FBAR * d + k];
        memset(dh, 0, d * sizeof *dh);
        add_rows(GATES * d, d, dgates, w, 2 * d, dh);
        decay_backward(d, m->state + (i - 1) * PARTS * d, gap_before(p, i), m->decay + i * d, m->bent + i * d,
                       m->before + i * d, dh, dlast);
    }
}

/* ---- All events ------------------------------------------------------------------------------ */

/* Embeddings and their map: the part of the gates that does not depend on the previous event. */
static void inputs_forward(const struct pass *p)
{
    const struct memory *m = p->m;
    size_t n = p->input->n, d = p->model->shape.width, chunks = op_chunks(n, ROWS_CHUNK);
    size_t rows = encoder_inputs(&p->model->shape);
    const real *w = p->slab + offsets(p->model)->gates, *bias = p->slab + offsets(p->model)->bias;
    const real *table = p->slab + offsets(p->model)->embedding;
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i0 = op_chunk_start(n, chunks, c), i1 = op_chunk_start(n, chunks, c + 1);
        for (size_t i = i0; i < i1; i++) {
            embed_forward(1, d, rows, p->input->type + i, table, m->x + i * 2 * d);
            memcpy(m->gates + i * GATES * d, bias, GATES * d * sizeof(real));
        }
        if (i1 > i0)
            gemm(0, 1, i1 - i0, GATES * d, d, 1, m->x + i0 * 2 * d, 2 * d, w, 2 * d, 1, m->gates + i0 * GATES * d,
                 GATES * d);
    }
    for (size_t r = 0; r < GATES * d; r++)
        for (size_t k = 0; k < d; k++) m->turned[k * GATES * d + r] = w[r * 2 * d + d + k];
}

static void forward(const struct pass *p, real *state)
{
    const struct op_rows *rows = &p->input->rows;
    inputs_forward(p);
    atomic_size_t left = rows->sequences;
#pragma omp parallel num_threads(p->run->threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (size_t s = 0; s < rows->sequences; s++) {
            sequence_forward(p, rows->offset[s], rows->offset[s + 1], state);
            atomic_fetch_sub(&left, 1);
        }
        if (p->input->n >= OP_LONG) smurf_stop_linger(p->run->stop, &left);
    }
}

/* Gradients of the map and of the embeddings, from those of the gates. */
static void inputs_backward(const struct pass *p, real *grad)
{
    const struct memory *m = p->m;
    const struct offsets *at = offsets(p->model);
    size_t n = p->input->n, d = p->model->shape.width, chunks = op_chunks(n, ROWS_CHUNK);
#pragma omp parallel for schedule(dynamic) num_threads(p->run->threads)
    for (size_t g = 0; g < GATES; g++)
        linear_gradient(n, 2 * d, GATES * d, m->x, m->dgates, g * d, (g + 1) * d, grad + at->gates, grad + at->bias);
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t i0 = op_chunk_start(n, chunks, c), i1 = op_chunk_start(n, chunks, c + 1);
        if (i1 > i0)
            gemm(0, 0, i1 - i0, d, GATES * d, 1, m->dgates + i0 * GATES * d, GATES * d, p->slab + at->gates, 2 * d, 0,
                 m->dx + i0 * d, d);
    }
    embed_gradient(n, d, p->input->type, m->dx, grad + at->embedding);
}

static void backward(const struct pass *p, real *grad)
{
    const struct op_rows *rows = &p->input->rows;
    atomic_size_t left = rows->sequences;
#pragma omp parallel num_threads(p->run->threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (size_t s = 0; s < rows->sequences; s++) {
            sequence_backward(p, rows->offset[s], rows->offset[s + 1]);
            atomic_fetch_sub(&left, 1);
        }
        if (p->input->n >= OP_LONG) smurf_stop_linger(p->run->stop, &left);
    }
    if (!op_stopped(p->run)) inputs_backward(p, grad);
}

static void encode(const struct op_run *run, const struct model *model, const real *slab,
                   const struct encoder_input *input, real *memory, real *out)
{
    struct memory m;
    lay_out(&m, model, NULL, input->n, memory);
    const struct pass p = {.run = run, .model = model, .slab = slab, .input = input, .m = &m};
    forward(&p, out);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Of u = v^3. */
static void cubed_nodes(size_t n, double *node, double *weight)
{
    smurf_gauss_legendre(n, node, weight);
    for (size_t i = 0; i < n; i++) {
        weight[i] *= 3 * node[i] * node[i];
        node[i] *= node[i] * node[i];
    }
}

/* The points of one target, and the weights of the total intensity there. */
static void place(const struct pass *p, const struct target *t, size_t index, real *tau, real *weight)
{
    size_t n = p->m->nodes;
    const double *u = p->config->u ? p->config->u + index * n : p->node;
    for (size_t i = 0; i < n; i++) {
        tau[i] = (real)(t->gap * u[i]);
        weight[i] = (real)(t->gap * (p->config->u ? 1 / (double)n : p->weight[i]));
    }
    tau[n] = (real)t->gap;
    weight[n] = 0;
}

/* h (points x d) at the points of one target. */
OP_CLONES
static void hidden(size_t d, size_t points, const real *restrict state, const real *restrict tau, real *restrict decay,
                   real *restrict bent, real *restrict h)
{
    const real *o = state + PART_O * d, *c = state + PART_C * d, *cbar = state + PART_CBAR * d,
               *delta = state + PART_DELTA * d;
    for (size_t i = 0; i < points; i++, decay += d, bent += d, h += d) {
        for (size_t k = 0; k < d; k++) decay[k] = exp_real(-delta[k] * tau[i]);
        for (size_t k = 0; k < d; k++) bent[k] = tanh_real(cbar[k] + (c[k] - cbar[k]) * decay[k]);
        for (size_t k = 0; k < d; k++) h[k] = o[k] * bent[k];
    }
}

/* softplus(u/s) and its derivative. */
OP_CLONES
static void soften(size_t points, size_t types, const real *restrict u, const real *restrict inverse,
                   real *restrict soft, real *restrict slope)
{
    for (size_t i = 0; i < points; i++)
        for (size_t k = 0; k < types; k++) soft[i * types + k] = u[i * types + k] * inverse[k];
    for (size_t i = 0; i < points * types; i++) {
        real x = soft[i], e = exp_real(-fabs_real(x)), q = 1 / (1 + e);
        slope[i] = x > 0 ? q : e * q;
        soft[i] = (x > 0 ? x : 0) + log1p_real(e);
    }
}

/* Sum over types and points of weight * lambda. Unless dscale is NULL, also gradients: that of u replaces the
   derivatives, that of ln s is added to dscale. */
OP_CLONES
static double weigh(size_t points, size_t types, const real *restrict weight, const real *restrict scale, real alpha,
                    const real *restrict u, const real *restrict soft, real *restrict slope, real *restrict dscale)
{
    double sum = 0;
    for (size_t i = 0; i < points; i++, u += types, soft += types, slope += types) {
        real total = 0, g = alpha * weight[i];
        for (size_t k = 0; k < types; k++) total += scale[k] * soft[k];
        sum += (double)weight[i] * (double)total;
        if (!dscale) continue;
        for (size_t k = 0; k < types; k++) dscale[k] += g * (scale[k] * soft[k] - u[k] * slope[k]);
        for (size_t k = 0; k < types; k++) slope[k] *= g;
    }
    return sum;
}

/* ---- Targets --------------------------------------------------------------------------------- */

/* -ln lambda_k at the event itself, given its row of points after `weigh`. Far to the left softplus is e^x. */
static double at_event(const struct pass *p, const struct target *t, const real *u, const real *soft, real *slope,
                       real *dscale)
{
    size_t k = t->type;
    double s = (double)p->m->scale[k], x = (double)u[k] / s, q = 1 / (1 + exp(-x));
    double r = x < -15 ? 1 : q / (double)soft[k];
    if (dscale) {
        slope[k] = (real)(-p->config->alpha * r / s);
        dscale[k] -= (real)(p->config->alpha * (1 - x * r));
    }
    return -(log(s) + (x < -15 ? x : log((double)soft[k])));
}

static bool is_right(const struct pass *p, const struct target *t, const real *soft)
{
    size_t best = 0;
    for (size_t k = 1; k < p->model->shape.types; k++)
        if (p->m->scale[k] * soft[k] > p->m->scale[best] * soft[best]) best = k;
    return best == t->type;
}

/* Losses of `count` targets whose points are laid out; gradients of u and ln s. */
static void add_losses(const struct pass *p, const struct target *t, size_t count, const struct scratch *k,
                       real *dscale, struct loss *out)
{
    size_t points = p->m->nodes + 1, types = p->model->shape.types;
    for (size_t i = 0; i < count; i++) {
        size_t first = i * points * types, end = first + (points - 1) * types;
        out->gaps++;
        out->time += weigh(points, types, k->weight + i * points, p->m->scale, (real)p->config->alpha, k->u + first,
                           k->soft + first, k->slope + first, dscale);
        if (t[i].censored) continue;
        out->typed++;
        out->right += is_right(p, &t[i], k->soft + end);
        out->time += at_event(p, &t[i], k->u + end, k->soft + end, k->slope + end, dscale);
    }
}

/* One tile: targets index .. index+count-1 of the batch. shared: gradients of w, ln s. */
static void tile(const struct pass *p, const struct target *t, size_t index, size_t count, const struct scratch *k,
                 real *shared, struct loss *out)
{
    const struct memory *m = p->m;
    size_t points = m->nodes + 1, all = count * points, d = p->model->shape.width, types = p->model->shape.types;
    const real *w = p->slab + offsets(p->model)->intensity;
    for (size_t i = 0, j = 0; i < count; i++, j += points) {
        place(p, &t[i], index + i, k->tau + j, k->weight + j);
        hidden(d, points, m->state + t[i].row * PARTS * d, k->tau + j, k->decay + j * d, k->bent + j * d, k->h + j * d);
    }
    gemm(0, 1, all, types, d, 1, k->h, d, w, d, 0, k->u, types);
    soften(all, types, k->u, m->inverse, k->soft, k->slope);
    add_losses(p, t, count, k, p->backward ? shared + types * d : NULL, out);
    if (!p->backward) return;
    gemm(1, 0, types, d, all, 1, k->slope, types, k->h, d, 1, shared, d);
    gemm(0, 0, all, d, types, 1, k->slope, types, w, d, 0, k->h, d);
    for (size_t i = 0, j = 0; j < all; j++, i = j / points)
        decay_backward(d, m->state + t[i].row * PARTS * d, k->tau[j], k->decay + j * d, k->bent + j * d, NULL,
                       k->h + j * d, m->dstate + t[i].row * PARTS * d);
}

static struct loss all_targets(const struct pass *p, const struct batch *batch, real *grad)
{
    struct memory *m = p->m;
    struct loss part[TARGET_CHUNKS] = {{0}}, sum = {0};
    size_t chunks = target_chunks(batch->targets, CHUNK), d = p->model->shape.width, types = p->model->shape.types;
    if (grad) memset(m->shared, 0, chunks * m->shared_size * sizeof *m->shared);
#pragma omp parallel for schedule(static) num_threads(p->run->threads)
    for (size_t c = 0; c < chunks; c++) {
        size_t to = op_chunk_start(batch->targets, chunks, c + 1);
        struct workspace own = {m->scratch + c * m->scratch_size, 0};
        struct scratch k = take_scratch(&own, p->model, m->tile * (m->nodes + 1));
        for (size_t i = op_chunk_start(batch->targets, chunks, c); i < to && !op_stopped(p->run); i += m->tile)
            tile(p, batch->target + i, i, to - i < m->tile ? to - i : m->tile, &k, m->shared + c * m->shared_size,
                 &part[c]);
    }
    for (size_t c = 0; grad && c < chunks; c++) {
        const real *shared = m->shared + c * m->shared_size;
        for (size_t i = 0; i < types * d; i++) grad[offsets(p->model)->intensity + i] += shared[i];
        for (size_t i = 0; i < types; i++) grad[offsets(p->model)->scale + i] += shared[types * d + i];
    }
    for (size_t c = 0; c < chunks; c++) loss_add(&sum, &part[c]);
    return sum;
}

static struct loss loss(const struct op_run *run, const struct model *model, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad)
{
    struct memory m;
    lay_out(&m, model, config, batch->input.n, memory);
    struct pass p = {.run = run,
                     .model = model,
                     .config = config,
                     .slab = slab,
                     .input = &batch->input,
                     .m = &m,
                     .backward = grad != NULL};
    if (!config->u) cubed_nodes(m.nodes, p.node, p.weight);
    for (size_t k = 0; k < model->shape.types; k++) {
        m.scale[k] = exp_real(slab[offsets(model)->scale + k]);
        m.inverse[k] = 1 / m.scale[k];
    }
    forward(&p, m.state);
    if (grad) memset(m.dstate, 0, batch->input.n * coefficients(model) * sizeof *m.dstate);
    if (op_stopped(run)) return (struct loss){0};
    struct loss sum = all_targets(&p, batch, grad);
    if (grad && !op_stopped(run)) backward(&p, grad);
    return sum;
}

/* ---- The law --------------------------------------------------------------------------------- */

/* Points are processed in runs of this many, the last one padded, so that results do not depend on a point's position.
 */
enum { RUN = 32 };

/* h (d x RUN) and, with slope, its derivatives: o (1 - tanh^2) (-delta (c - cbar) e^{-delta tau}). */
OP_CLONES
static void law_hidden(size_t d, const float *restrict c, const double *restrict tau, double *restrict h,
                       double *restrict slope)
{
    for (size_t k = 0; k < d; k++, h += RUN) {
        double o = (double)c[PART_O * d + k], cbar = (double)c[PART_CBAR * d + k];
        double lead = (double)c[PART_C * d + k] - cbar, delta = (double)c[PART_DELTA * d + k], e[RUN];
        for (size_t i = 0; i < RUN; i++) e[i] = exp(delta * tau[i] < 700 ? -delta * tau[i] : -700);
        for (size_t i = 0; i < RUN; i++) h[i] = tanh(cbar + lead * e[i]);
        if (slope)
            for (size_t i = 0; i < RUN; i++) slope[k * RUN + i] = -o * delta * lead * e[i] * (1 - h[i] * h[i]);
        for (size_t i = 0; i < RUN; i++) h[i] *= o;
    }
}

OP_CLONES
static void law_dot(size_t d, const float *restrict w, const double *restrict h, double *restrict out)
{
    double sum[RUN] = {0};
    for (size_t k = 0; k < d; k++, h += RUN) {
        double weight = (double)w[k];
        for (size_t i = 0; i < RUN; i++) sum[i] += weight * h[i];
    }
    for (size_t i = 0; i < RUN; i++) out[i] = sum[i];
}

/* lambda_k from u. */
OP_CLONES
static void law_soften(double s, const double *restrict u, double *restrict lambda)
{
    for (size_t i = 0; i < RUN; i++) lambda[i] = s * softplus(u[i] / s);
}

/* lambda_k' = u' / (1 + e^{-u/s}) */
OP_CLONES
static void law_slope(double s, const double *restrict u, const double *restrict u1, double *restrict slope)
{
    for (size_t i = 0; i < RUN; i++) {
        double x = u[i] / s;
        slope[i] = u1[i] / (1 + exp(x < -700 ? 700 : x > 700 ? -700 : -x));
    }
}

enum law_ask { ASK_INTENSITY, ASK_SLOPE, ASK_TYPES };

/* One run of m <= RUN points; h: (2 d x RUN) scratch. */
static void law_run(const struct model_law *l, enum law_ask ask, const double *gap, double *out, size_t m, double *h)
{
    size_t d = l->model->shape.width, types = l->model->shape.types;
    double tau[RUN] = {0}, sum[RUN] = {0}, u[RUN], u1[RUN], value[RUN], *slope = h + d * RUN;
    for (size_t i = 0; i < m; i++) tau[i] = gap[i];
    law_hidden(d, l->c, tau, h, ask == ASK_SLOPE ? slope : NULL);
    for (size_t k = 0; k < types; k++) {
        const float *w = l->slab + offsets(l->model)->intensity + k * d;
        double s = exp((double)l->slab[offsets(l->model)->scale + k]);
        law_dot(d, w, h, u);
        if (ask == ASK_SLOPE) {
            law_dot(d, w, slope, u1);
            law_slope(s, u, u1, value);
        } else {
            law_soften(s, u, value);
        }
        for (size_t i = 0; i < RUN; i++) sum[i] += value[i];
        for (size_t i = 0; ask == ASK_TYPES && i < m; i++) out[i * types + k] = value[i];
    }
    for (size_t i = 0; ask != ASK_TYPES && i < m; i++) out[i] = sum[i];
}

static void law_ask(const struct model_law *l, enum law_ask ask, const double *gap, double *out, size_t n)
{
    size_t each = ask == ASK_TYPES ? l->model->shape.types : 1;
    for (size_t i = 0; i < n; i += RUN) law_run(l, ask, gap + i, out + i * each, n - i < RUN ? n - i : RUN, l->work);
}

static void law_intensity(const void *self, const double *gap, double *out, size_t n)
{
    law_ask(self, ASK_INTENSITY, gap, out, n);
}

static void law_slopes(const void *self, const double *gap, double *out, size_t n)
{
    law_ask(self, ASK_SLOPE, gap, out, n);
}

static void law_types(const void *self, const double *gap, double *out, size_t n)
{
    law_ask(self, ASK_TYPES, gap, out, n);
}

static const struct law_class law_class = {
    .name = "nhp", .intensity = law_intensity, .slope = law_slopes, .types = law_types};

static size_t law_memory(const struct model *model)
{
    return model_law_memory(model) + 2 * model->shape.width * RUN * sizeof(double);
}

static struct law law(const struct model *m, const float *slab, const float *c, double low, double high, void *memory)
{
    return model_law_of(&law_class, m, slab, c, low, high, memory);
}

const struct model_class OP(model_nhp) = {
    .name = "nhp",
    .about = "neural Hawkes process: a continuous-time LSTM",
    .scales = 1u << SMURF_SCALE_MEAN,
    .preset = model_preset_published,
    .params = params,
    .coefficients = coefficients,
    .encode_memory = encode_memory,
    .encode = encode,
    .loss_memory = loss_memory,
    .loss = loss,
    .history = &smurf_history_reread,
    .law_memory = law_memory,
    .law = law,
    .types = model_type_shares,
};
