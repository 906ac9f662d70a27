/* Compiled twice, for float and for double: see op/op.h. */
/*
 * thp.c - the Transformer Hawkes Process.
 *
 *     lambda_k(tau) = softplus_beta(w_k . h_j + b_k + alpha tau / (t_j + t0))
 *     softplus_beta(x) = ln(1 + e^{beta x}) / beta
 *     P(type k) = softmax_k(v_k . h_j), a classifier that does not see tau
 *
 * The law of the gap after event j is computed from h_j, which depends on events 1..j. Trained by likelihood with a
 * Monte Carlo integral (thp_part.h), and the cross-entropy of the classifier. The 2 types + 2 coefficients of an event:
 * z_k = w_k . h_j + b_k, then s = alpha / (t_j + t0), beta, and the classifier's logits.
 */
#include "model/thp_part.h"
#include "op/type_head.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 8 };

struct offsets {
    struct thp_part part;
    size_t classifier; /* (types x width) */
};
_Static_assert(sizeof(struct offsets) <= MODEL_OWN, "the offsets have room in a model");

static const struct offsets *offsets(const struct model *m)
{
    return (const void *)m->own;
}

static void params(struct model *m)
{
    struct offsets *at = (void *)m->own;
    at->part.shape = m->shape;
    thp_part_params(&at->part, &m->params);
    at->classifier =
        smurf_params_add(&m->params, START_XAVIER_NORMAL, 0, m->shape.types, m->shape.width, "classifier.weight");
}

static size_t coefficients(const struct model *m)
{
    return 2 * m->shape.types + 2;
}

/* ---- A pass over a batch ---------------------------------------------------------------------- */

struct work {
    struct thp_pass pass;
    const struct batch *batch;
    real *logits, *dlogits; /* (n x types): of the classifier */
    real *scratch;          /* (TARGET_CHUNKS x scratch_size) */
    size_t scratch_size;
    bool backward;
};

/* config NULL: for encoding only. */
static size_t lay_out(struct work *w, const struct model *m, const struct loss_config *config, size_t n, int threads,
                      real *base)
{
    *w = (struct work){.scratch_size = config ? thp_scratch(config) : 0};
    struct workspace all = {base, 0};
    thp_pass_take(&w->pass, &all, &offsets(m)->part, n, threads);
    w->logits = op_take(&all, n * m->shape.types);
    w->dlogits = op_take(&all, n * m->shape.types);
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

static void forward(struct work *w, const struct op_run *run, const struct model *m, const struct loss_config *config,
                    const real *slab, const struct encoder_input *input, real *memory, bool backward)
{
    lay_out(w, m, config, input->n, run->threads, memory);
    w->backward = backward;
    w->pass.run = run, w->pass.config = config, w->pass.slab = slab, w->pass.input = input;
    thp_pass_forward(&w->pass, backward);
    thp_map_forward(run->threads, input->n, m->shape.width, m->shape.types, w->pass.h, slab + offsets(m)->classifier,
                    NULL, w->logits);
}

static void encode(const struct op_run *run, const struct model *m, const real *slab, const struct encoder_input *input,
                   real *memory, real *out)
{
    struct work w;
    size_t types = m->shape.types;
    forward(&w, run, m, NULL, slab, input, memory, false);
    for (size_t i = 0; i < input->n; i++, out += 2 * types + 2) {
        struct thp_head head = thp_pass_head(&w.pass, i);
        memcpy(out, head.z, types * sizeof *out);
        out[types] = head.slope;
        out[types + 1] = head.beta;
        memcpy(out + types + 2, w.logits + i * types, types * sizeof *out);
    }
}

/* ---- The loss -------------------------------------------------------------------------------- */

/* Sums over one chunk of targets. */
struct part_sums {
    struct loss loss;
    double alpha, beta;
};

static void one_target(const struct work *w, size_t index, real *scratch, struct part_sums *sums)
{
    const struct target *t = &w->batch->target[index];
    const struct loss_config *config = w->pass.config;
    size_t types = w->pass.part->shape.types;
    struct thp_head head = thp_pass_head(&w->pass, t->row);
    struct thp_gradient g = {.z = w->pass.dz + t->row * types};
    sums->loss.time += thp_nll(&w->pass, &head, t, index, scratch, config->alpha, w->backward ? &g : NULL);
    sums->loss.gaps++;
    sums->alpha += g.slope / thp_pass_since(&w->pass, t->row);
    sums->beta += g.beta;
    if (t->censored) return;
    double right;
    real *logits = w->dlogits + t->row * types;
    memcpy(logits, w->logits + t->row * types, types * sizeof *logits);
    sums->loss.type += type_head_loss(types, 1, 1, t->type, config->smoothing, 1, logits, &right);
    sums->loss.right += right;
    sums->loss.typed++;
}

/* Chunks depend on the number of targets only, and are added in order. */
static struct part_sums all_targets(const struct work *w)
{
    size_t targets = w->batch->targets, chunks = target_chunks(targets, CHUNK);
    struct part_sums part[TARGET_CHUNKS] = {{{0}, 0, 0}}, sum = {{0}, 0, 0};
#pragma omp parallel for schedule(static) num_threads(w->pass.run->threads)
    for (size_t c = 0; c < chunks; c++)
        for (size_t i = op_chunk_start(targets, chunks, c); i < op_chunk_start(targets, chunks, c + 1); i++)
            if (!op_stopped(w->pass.run)) one_target(w, i, w->scratch + c * w->scratch_size, &part[c]);
    for (size_t c = 0; c < chunks; c++) {
        loss_add(&sum.loss, &part[c].loss);
        sum.alpha += part[c].alpha;
        sum.beta += part[c].beta;
    }
    return sum;
}

static struct loss loss(const struct op_run *run, const struct model *m, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad)
{
    struct work w;
    forward(&w, run, m, config, slab, &batch->input, memory, grad != NULL);
    w.batch = batch;
    if (op_stopped(run)) return (struct loss){0};
    if (grad) memset(w.dlogits, 0, batch->input.n * m->shape.types * sizeof *w.dlogits);
    struct part_sums sum = all_targets(&w);
    if (!grad || op_stopped(run)) return sum.loss;
    thp_map_backward(run->threads, batch->input.n, m->shape.width, m->shape.types, w.pass.h, w.dlogits,
                     slab + offsets(m)->classifier, false, w.pass.dh, grad + offsets(m)->classifier, NULL);
    thp_pass_backward(&w.pass, true, sum.alpha, sum.beta, grad);
    return sum.loss;
}

/* ---- The law --------------------------------------------------------------------------------- */

static struct law law(const struct model *m, const float *slab, const float *c, double low, double high, void *memory)
{
    return model_law_of(&OP(thp_law), m, slab, c, low, high, memory);
}

/* From the classifier; the same at any gap. */
static void classify(const struct law *of, const double *gap, double *out, size_t n)
{
    (void)gap;
    const struct model_law *l = of->self;
    size_t types = l->model->shape.types;
    const real *logit = (const real *)(const void *)l->c + types + 2;
    double most = -HUGE_VAL, sum = 0;
    for (size_t k = 0; k < types; k++) most = fmax(most, (double)logit[k]);
    for (size_t k = 0; n && k < types; k++) sum += out[k] = exp((double)logit[k] - most);
    for (size_t k = 0; n && k < types; k++) out[k] /= sum;
    for (size_t i = 1; i < n; i++) memcpy(out + i * types, out, types * sizeof *out);
}

const struct model_class OP(model_thp) = {
    .name = "thp",
    .about = "Transformer Hawkes Process",
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
    .types = classify,
};
