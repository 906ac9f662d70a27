/*
 * cuda.h - training on a GPU: what C sees of it. For C and for nvcc; knows numbers and offsets only.
 *
 * A training session on the card holds the slabs, the events of train and dev, and what a pass needs. The host names
 * the sequences of a batch and gets back the sums of the loss; nothing else travels in a step.
 *
 * Functions return 0, or CUDA_... with the reason in `why` (CUDA_TEXT bytes).
 */
#ifndef SMURF_CUDA_CUDA_H
#define SMURF_CUDA_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_TEXT = 400, CUDA_LAYERS = 24, CUDA_SCALES = 10, CUDA_SIGMAS = 8, CUDA_POINTS = 512 };
enum { CUDA_OK, CUDA_ABSENT, CUDA_MEMORY, CUDA_UNSUPPORTED, CUDA_FAILED };
enum cuda_objective { CUDA_DSM, CUDA_SM, CUDA_WSM, CUDA_MLE };
enum cuda_slab { CUDA_WEIGHT, CUDA_GRADIENT, CUDA_MOMENT1, CUDA_MOMENT2, CUDA_AVERAGE, CUDA_SLABS };
/* Which events a batch is of. */
enum cuda_part { CUDA_TRAIN, CUDA_DEV, CUDA_PARTS };

/* Offsets in the slab, as in struct encoder_layer. */
struct cuda_layer {
    size_t query, key, value, out, out_bias, gain1, bias1, gain2, bias2, inner, inner_bias, outer, outer_bias;
};

/* A model of class smurf, and the loss that trains it. */
struct cuda_model {
    size_t types, inputs, width, heads, head_width, layers, inner; /* inputs: rows of the embedding */
    size_t total;                                                  /* weights of the slab */
    int relu, gap_feature, counts, ending;
    size_t gap_units, count_inputs, count_slots; /* count_inputs, count_slots: see op/counts.h; 0: no counts */
    double count_rate[CUDA_SCALES], norm_eps;
    size_t embedding, gap_v, gap_c, gap_table, counts_weight;
    struct cuda_layer layer[CUDA_LAYERS];
    size_t a, a_bias, b, b_bias, w, c, type_a, type_a_bias, type_b, type_b_bias, type_w, type_c;
    size_t end_w, end_b, repeat_v, repeat_v_bias;
    enum cuda_objective objective;
    int score, multiplicative, stop, log_axis, at_truth; /* score: the head is the score itself */
    size_t points, sigmas;
    double low, alpha, smoothing, sigma[CUDA_SIGMAS], node[CUDA_POINTS], weight[CUDA_POINTS];
};

/* Events end to end; the gap after each is a target, a censored one, or none. */
enum { CUDA_NONE, CUDA_EVENT, CUDA_CENSORED };
struct cuda_events {
    size_t n;
    const uint32_t *type;
    const double *time;
    const float *gap; /* NaN: none before */
    const double *target_gap, *target_limit;
    const uint32_t *target_type;
    const uint32_t *target_kind;
    const uint64_t *target_id;
};

/* A batch: whole sequences of one part, and how to run it. */
struct cuda_batch {
    enum cuda_part part;
    size_t sequences;
    const size_t *first, *length; /* (sequences): events, numbered in the part */
    uint64_t seed, step;
    double dropout;
    double mask; /* share of the input types that are hidden */
    uint32_t other;
    uint64_t epoch;         /* of the mask */
    enum cuda_slab weights; /* CUDA_WEIGHT, or CUDA_AVERAGE */
    int backward;
};

struct cuda_loss {
    double time, type, right, gaps, typed, square; /* square: of the gradient's norm */
};

struct cuda_training;

/* Whether this build has CUDA. */
int smurf_cuda_built(void);
/* Whether there is a card that can be used, and its name; or why not. */
int smurf_cuda_device(char name[CUDA_TEXT], char why[CUDA_TEXT]);
/* Why this model does not train on the card, or NULL. */
const char *smurf_cuda_refuses(const struct cuda_model *model);
/* For batches of up to `rows` events in `sequences` sequences. average: there is a slab for it. */
int smurf_cuda_open(struct cuda_training **out, const struct cuda_model *model, size_t rows, size_t sequences,
                    int average, char why[CUDA_TEXT]);
void smurf_cuda_close(struct cuda_training *t);
int smurf_cuda_events(struct cuda_training *t, enum cuda_part part, const struct cuda_events *events,
                      char why[CUDA_TEXT]);
int smurf_cuda_put(struct cuda_training *t, enum cuda_slab slab, const float *from, char why[CUDA_TEXT]);
int smurf_cuda_get(struct cuda_training *t, enum cuda_slab slab, float *to, char why[CUDA_TEXT]);
/* The loss of a batch; with `backward`, its gradient in CUDA_GRADIENT. */
int smurf_cuda_pass(struct cuda_training *t, const struct cuda_batch *batch, struct cuda_loss *loss,
                    char why[CUDA_TEXT]);
/* Adam with the gradient times `factor`, and the average. rate, inverse: of struct adam_rates. */
int smurf_cuda_update(struct cuda_training *t, float factor, float rate, float inverse, float decay,
                      char why[CUDA_TEXT]);
/* Seconds of the last pass and of the last update on the card; for benchmarks. Slows passes down. */
void smurf_cuda_timed(struct cuda_training *t, int on);
double smurf_cuda_seconds(const struct cuda_training *t);

#ifdef __cplusplus
}
#endif

#endif
