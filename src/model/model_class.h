/*
 * model_class.h - model classes, one per file: SMURF, and published models for comparison.
 *
 * A model turns events into coefficients, those of event j from events 1..j alone, and the coefficients of one event
 * into the law of the next gap. All are trained by the same trainer, each with its own loss, and their laws share one
 * interface. To add one: write the file, and add its name to MODELS.
 *
 * Compiled for float and for double (op.h); laws and histories use the float build.
 */
#ifndef SMURF_MODEL_MODEL_CLASS_H
#define SMURF_MODEL_MODEL_CLASS_H

#include "law/law.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/history.h"
#include "model/loss.h"
#include "model/model.h"

/* Short names; see op.h. */
#define model_class_at         OP(model_class_at)
#define model_class_named      OP(model_class_named)
#define model_init             OP(model_init)
#define model_law_memory       OP(model_law_memory)
#define model_law_of           OP(model_law_of)
#define model_type_shares      OP(model_type_shares)
#define model_preset_published OP(model_preset_published)

#define MODELS(X) X(smurf) X(thp) X(sahp) X(nhp) X(nce)

/* Maximum points per call for types. */
enum { TYPE_POINTS = 64 };

struct model_class {
    const char *name, *about;

    /* Supported settings. */
    unsigned scales; /* bits 1 << SMURF_SCALE_... of the supported axes */
    bool objectives; /* takes an objective; false: has its own loss */
    bool counts;     /* can see decayed counts */
    bool further;    /* can see further columns */
    bool clock;      /* can see the clock on the wall */
    /* Settings that its preset changes after the default was chosen; NULL: it is the default model. */
    void (*preset)(smurf_settings *settings);

    /* Adds its entries to the table and stores their offsets in model->own. */
    void (*params)(struct model *model);
    /* Number of reals that describe the law of one event. */
    size_t (*coefficients)(const struct model *model);
    /* Memory to encode up to n events, in reals. */
    size_t (*encode_memory)(const struct model *model, size_t n, int threads);
    /* out (n x coefficients). */
    void (*encode)(const struct op_run *run, const struct model *model, const real *slab,
                   const struct encoder_input *input, real *memory, real *out);
    /* Memory for the loss of up to n events and as many targets, in reals. */
    size_t (*loss_memory)(const struct model *model, const struct loss_config *config, size_t n, int threads);
    /* The loss of a batch. time is the objective, the negative log-likelihood or the class's equivalent; type is the
       cross-entropy of a classifier, 0 if types come from the intensities. grad NULL: the loss alone; otherwise the
       gradient of alpha * time + type is added to it. Sums have a fixed order, whatever the threads. Censored targets
       count if the loss uses them. */
    struct loss (*loss)(const struct op_run *run, const struct model *model, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad);

    /* State of a growing history. */
    const struct history_class *history;
    /* Memory for the law of one event, in bytes, aligned as by malloc; then the law on [low, high] of the axis, valid
       as long as the memory and the coefficients c are unchanged. */
    size_t (*law_memory)(const struct model *model);
    struct law (*law)(const struct model *model, const float *slab, const float *c, double low, double high,
                      void *memory);
    /* Probabilities of the types, out (n x types), given the gap; n <= TYPE_POINTS. */
    void (*types)(const struct law *law, const double *y, double *out, size_t n);
    /* The probability that no further event comes, from the coefficients c: 0 unless the model has setting `ending`.
       The law is that of a gap that comes. NULL: the class refuses that setting. */
    double (*never)(const struct model *model, const float *c);
};

/* State of most laws. */
struct model_law {
    const struct model *model;
    const float *slab;
    const float *c; /* coefficients of one event */
    double *work;   /* extra memory of the class; NULL: none */
};

#define MODEL_DECLARE(name) extern const struct model_class OP(model_##name);
MODELS(MODEL_DECLARE)

/* NULL past the last; NULL for an unknown name. */
const struct model_class *model_class_at(size_t index);
const struct model_class *model_class_named(const char *name);

/* Fills the parameter table of a model for a shape. */
void model_init(struct model *model, const struct model_class *class, const struct encoder_shape *shape,
                enum parametrisation param);

/* ---- Parts that classes share ------------------------------------------------------------------ */

/* Size of a struct model_law without work, in bytes. */
size_t model_law_memory(const struct model *model);
/* A law backed by a struct model_law. */
struct law model_law_of(const struct law_class *law, const struct model *model, const float *slab, const float *c,
                        double low, double high, void *memory);
/* Types as shares of the law's intensities. */
void model_type_shares(const struct law *law, const double *y, double *out, size_t n);
/* Preset of the published models: mean time, no gap feature, no counts; the rest as in the default. */
void model_preset_published(smurf_settings *settings);

#endif
