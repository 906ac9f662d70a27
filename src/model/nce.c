/* Compiled twice, for float and for double: see op/op.h. */
/*
 * nce.c - NCE-TPP: THP intensities lambda_p, trained to distinguish events from noise instead of by likelihood.
 *
 *     p minimises  sum over events of ln(1 + M lambda_q / lambda_p) + sum over noise of ln(1 + lambda_p / (M lambda_q))
 *
 * with the intensities of the event's own type, each plus 1.1e-9. Noise: in every observed gap (0, tau), including the
 * censored last one, M = 10 streams of q given the real history; together they are one Poisson process with intensity M
 * lambda_q, drawn by thinning: lambda_q is monotone in tau, so its maximum is at an end of the gap. (The published
 * noise term is larger by ln M, which does not depend on p.)
 *
 * This sum varies with q, so it cannot tell which of two epochs has the better p. The reported time loss is therefore
 * the negative log-likelihood of p (thp_part.h), as for THP; the gradient is that of the sum above.
 *
 * q is a separate THP, one layer and 16 wide ("noise." in the table), fitted by likelihood: the gradient with respect
 * to q is that of its own negative log-likelihood (thp_part.h), not that of the sum. It is fitted together with p, not
 * before: the optimal p is the same for any q > 0, and a poor q only makes gradients noisier for the first steps.
 *
 * On average at most CANDIDATES_MEAN candidates are drawn per gap. If M lambda_q requires more (long gaps), a share of
 * them is drawn with correspondingly larger weights, so that the mean of the sum is unchanged.
 *
 * Types are shares of lambda_p,k. The types + 2 coefficients of an event: z_k, s, beta (thp_head.h).
 */
#include "model/nce.h"

#include "base/random.h"
#include "model/thp_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 8 };
enum { STREAMS = 10, CANDIDATES_MEAN = 128, CANDIDATES_MOST = 256 };
enum { NOISE_WIDTH = 16, NOISE_HEADS = 2, NOISE_HEAD_WIDTH = 8, NOISE_INNER = 32 };

/* ---- Parameters ------------------------------------------------------------------------------- */

struct offsets {
    struct thp_part p, q;
};
_Static_assert(sizeof(struct offsets) <= MODEL_OWN, "the offsets have room in a model");

static const struct offsets *offsets(const struct model *m)
{
    return (const void *)m->own;
}

static struct encoder_shape noise_shape(const struct model *m)
{
    return (struct encoder_shape){.types = m->shape.types,
                                  .width = NOISE_WIDTH,
                                  .heads = NOISE_HEADS,
                                  .head_width = NOISE_HEAD_WIDTH,
                                  .layers = 1,
                                  .inner = NOISE_INNER,
                                  .activation = m->shape.activation,
                                  .gap_feature = m->shape.gap_feature,
                                  .unknown = m->shape.unknown};
}

static void params(struct model *m)
{
    struct offsets *at = (void *)m->own;
    at->p.shape = m->shape;
    at->q.shape = noise_shape(m);
    thp_part_params(&at->p, &m->params);
    size_t first = m->params.count;
    thp_part_params(&at->q, &m->params);
    for (size_t i = first; i < m->params.count; i++) {
        struct param *entry = &m->params.entry[i];
        char name[sizeof entry->name];
        snprintf(name, sizeof name, "noise.%.33s", entry->name);
        memcpy(entry->name, name, sizeof name);
    }
}

static size_t coefficients(const struct model *m)
{
    return m->shape.types + 2;
}

/* ---- A pass over a batch ---------------------------------------------------------------------- */

struct work {
    struct thp_pass p, q;
    struct op_run still; /* run of q, without dropout */
    const struct batch *batch;
    real *scratch; /* (TARGET_CHUNKS x scratch_size) */
    size_t scratch_size;
    bool backward;
    bool likelihood; /* report the likelihood of p as the loss */
};

/* config NULL: for encoding only, which needs p alone. */
static size_t lay_out(struct work *w, const struct model *m, const struct loss_config *config, size_t n, int threads,
                      real *base)
{
    *w = (struct work){.scratch_size = config ? thp_scratch(config) : 0};
    struct workspace all = {base, 0};
    thp_pass_take(&w->p, &all, &offsets(m)->p, n, threads);
    if (!config) return op_taken(&all);
    thp_pass_take(&w->q, &all, &offsets(m)->q, n, threads);
    w->scratch = op_take(&all, TARGET_CHUNKS * w->scratch_size);
    return op_taken(&all);
}

static size_t loss_memory(const struct model *m, const struct loss_config *config, size_t n, int threads)
{
    struct work w;
    return lay_out(&w, m, config, n, threads, NULL);
}

static size_t encode_memory(const struct model *m, size_t n, int threads)
{
    return loss_memory(m, NULL, n, threads);
}

static void forward(struct thp_pass *pass, const struct op_run *run, const struct loss_config *config, const real *slab,
                    const struct encoder_input *input, bool backward)
{
    pass->run = run, pass->config = config, pass->slab = slab, pass->input = input;
    thp_pass_forward(pass, backward);
}

static void encode(const struct op_run *run, const struct model *m, const real *slab, const struct encoder_input *input,
                   real *memory, real *out)
{
    struct work w;
    size_t types = m->shape.types;
    lay_out(&w, m, NULL, input->n, run->threads, memory);
    forward(&w.p, run, NULL, slab, input, false);
    for (size_t i = 0; i < input->n; i++, out += types + 2) {
        struct thp_head head = thp_pass_head(&w.p, i);
        memcpy(out, head.z, types * sizeof *out);
        out[types] = head.slope;
        out[types + 1] = head.beta;
    }
}

/* ---- Noise ----------------------------------------------------------------------------------- */

/* Noise events in one gap; each counts `weight` times. */
struct noise {
    size_t n;
    double weight;
    double tau[CANDIDATES_MOST];
    uint32_t type[CANDIDATES_MOST];
};

/* Draws a type with probability lambda_k / total. */
static uint32_t draw_type(const struct thp_head *q, double tau, double total, double u)
{
    double left = u * total;
    for (size_t k = 0; k + 1 < q->types; k++) {
        left -= (double)thp_at(q, k, (real)tau).lambda;
        if (left < 0) return (uint32_t)k;
    }
    return (uint32_t)(q->types - 1);
}

/* Draws candidates at the largest rate of the gap and keeps each with probability lambda_q / largest. An empty gap, or
   a q that is NaN, gives none. */
static void draw_noise(const struct op_run *run, const struct thp_head *q, const struct target *t, struct noise *out)
{
    struct random random;
    double ends[2] = {0, t->gap}, total[CANDIDATES_MOST];
    smurf_random_init(&random, run->seed, run->step * 0x9E3779B97F4A7C15u ^ 0x6e636520647261u); /* "nce dra" */
    random.counter = t->id << 16;
    out->n = 0;
    thp_total(q, ends, ends, 2);
    double largest = fmax(ends[0], ends[1]), rate = STREAMS * largest;
    if (!(rate > 0 && t->gap > 0) || isinf(rate)) return;
    if (rate * t->gap > CANDIDATES_MEAN) rate = CANDIDATES_MEAN / t->gap;
    out->weight = STREAMS * largest / rate;
    size_t n = 0, kept_n = 0;
    for (double at = smurf_random_exponential(&random) / rate; at < t->gap && n < CANDIDATES_MOST;
         at += smurf_random_exponential(&random) / rate)
        out->tau[n++] = at;
    thp_total(q, out->tau, total, n);
    for (size_t i = 0; i < n; i++) {
        if (smurf_random_uniform(&random) * largest >= total[i]) continue;
        out->type[kept_n] = draw_type(q, out->tau[i], total[i], smurf_random_uniform(&random));
        out->tau[kept_n++] = out->tau[i];
    }
    out->n = kept_n;
}

/* ---- The loss -------------------------------------------------------------------------------- */

/* Loss of one event or noise event, and its gradient with respect to p times scale. */
static double tell(const struct thp_head *p, const struct thp_head *q, uint32_t type, double tau, bool is_noise,
                   double scale, struct thp_gradient *g)
{
    struct thp_point at = thp_at(p, type, (real)tau);
    double lambda = (double)at.lambda + THP_LOG_OFFSET;
    double noise = STREAMS * ((double)thp_at(q, type, (real)tau).lambda + THP_LOG_OFFSET);
    double d = 1 / (lambda + noise) - (is_noise ? 0 : 1 / lambda);
    if (g) thp_add(p, type, (real)tau, &at, scale * d, g);
    return is_noise ? log1p(lambda / noise) : log1p(noise / lambda);
}

static double nce_loss(const struct op_run *run, const struct thp_head *p, const struct thp_head *q,
                       const struct target *t, double scale, struct thp_gradient *g)
{
    struct noise noise;
    double sum = t->censored ? 0 : tell(p, q, t->type, t->gap, false, scale, g);
    draw_noise(run, q, t, &noise);
    for (size_t i = 0; i < noise.n; i++)
        sum += noise.weight * tell(p, q, noise.type[i], noise.tau[i], true, scale * noise.weight, g);
    return sum;
}

/* Sums over one chunk of targets: the loss, and gradients of alpha and beta of p and q. */
struct part_sums {
    struct loss loss;
    double alpha[2], beta[2];
};

/* The type with the largest intensity is the one with the largest z. */
static bool guessed(const struct thp_head *p, uint32_t type)
{
    for (size_t k = 0; k < p->types; k++)
        if (p->z[k] > p->z[type]) return false;
    return true;
}

static void one_target(const struct work *w, size_t index, real *scratch, struct part_sums *sums)
{
    const struct target *t = &w->batch->target[index];
    size_t at = t->row * w->p.part->shape.types;
    double alpha = w->p.config->alpha, since = thp_pass_since(&w->p, t->row);
    struct thp_head p = thp_pass_head(&w->p, t->row), q = thp_pass_head(&w->q, t->row);
    struct thp_gradient gp = {.z = w->p.dz + at}, gq = {.z = w->q.dz + at};
    double nce = w->backward || !w->likelihood ? nce_loss(w->p.run, &p, &q, t, alpha, w->backward ? &gp : NULL) : 0;
    sums->loss.time += w->likelihood ? thp_nll(&w->p, &p, t, index, scratch, 0, NULL) : nce;
    if (w->backward) thp_nll(&w->q, &q, t, index, scratch, alpha, &gq);
    sums->loss.gaps++;
    sums->alpha[0] += gp.slope / since, sums->beta[0] += gp.beta;
    sums->alpha[1] += gq.slope / since, sums->beta[1] += gq.beta;
    if (t->censored) return;
    sums->loss.typed++;
    sums->loss.right += guessed(&p, t->type);
}

/* Chunks depend on the number of targets only, and are added in order. */
static struct part_sums all_targets(const struct work *w)
{
    size_t targets = w->batch->targets, chunks = target_chunks(targets, CHUNK);
    struct part_sums part[TARGET_CHUNKS] = {{{0}, {0}, {0}}}, sum = {{0}, {0}, {0}};
#pragma omp parallel for schedule(static) num_threads(w->p.run->threads)
    for (size_t c = 0; c < chunks; c++)
        for (size_t i = op_chunk_start(targets, chunks, c); i < op_chunk_start(targets, chunks, c + 1); i++)
            if (!op_stopped(w->p.run)) one_target(w, i, w->scratch + c * w->scratch_size, &part[c]);
    for (size_t c = 0; c < chunks; c++) {
        loss_add(&sum.loss, &part[c].loss);
        for (int k = 0; k < 2; k++) {
            sum.alpha[k] += part[c].alpha[k];
            sum.beta[k] += part[c].beta[k];
        }
    }
    return sum;
}

static struct loss run_loss(const struct op_run *run, const struct model *m, const struct loss_config *config,
                            const real *slab, const struct batch *batch, real *memory, real *grad, bool likelihood)
{
    struct work w;
    lay_out(&w, m, config, batch->input.n, run->threads, memory);
    w.batch = batch;
    w.backward = grad != NULL;
    w.likelihood = likelihood;
    forward(&w.p, run, config, slab, &batch->input, w.backward);
    w.still = *run;
    w.still.dropout = 0;
    forward(&w.q, &w.still, config, slab, &batch->input, w.backward);
    if (op_stopped(run)) return (struct loss){0};
    struct part_sums sum = all_targets(&w);
    if (!grad || op_stopped(run)) return sum.loss;
    thp_pass_backward(&w.p, false, sum.alpha[0], sum.beta[0], grad);
    thp_pass_backward(&w.q, false, sum.alpha[1], sum.beta[1], grad);
    return sum.loss;
}

static struct loss loss(const struct op_run *run, const struct model *m, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad)
{
    return run_loss(run, m, config, slab, batch, memory, grad, true);
}

struct loss nce_contrast(const struct op_run *run, const struct model *m, const struct loss_config *config,
                         const real *slab, const struct batch *batch, real *memory, real *grad)
{
    return run_loss(run, m, config, slab, batch, memory, grad, false);
}

/* ---- The law --------------------------------------------------------------------------------- */

static struct law law(const struct model *m, const float *slab, const float *c, double low, double high, void *memory)
{
    return model_law_of(&OP(thp_law), m, slab, c, low, high, memory);
}

const struct model_class OP(model_nce) = {
    .name = "nce",
    .about = "NCE-TPP: THP intensities, trained to tell events from noise",
    .scales = 1u << SMURF_SCALE_MEAN,
    .counts = true,
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
