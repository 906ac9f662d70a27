/*
 * model_class.h - kinds of models, one a file: SMURF, and published ones to compare with.
 *
 * A model turns events into coefficients, those of event j from events 1..j alone, and the coefficients of one event
 * into the law of the next gap. All are trained by the same trainer, each with its own loss, and their laws are used
 * through the same interface. To add one: write the file, and add its name to MODELS.
 *
 * Compiled for float and for double (op.h); laws and histories are those of the float build.
 */
#ifndef SMURF_MODEL_MODEL_CLASS_H
#define SMURF_MODEL_MODEL_CLASS_H

#include "law/law.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/history.h"
#include "model/loss.h"
#include "model/model.h"

/* Names as calls use them. */
#define model_class_at         OP(model_class_at)
#define model_class_named      OP(model_class_named)
#define model_init             OP(model_init)
#define model_law_memory       OP(model_law_memory)
#define model_law_of           OP(model_law_of)
#define model_type_shares      OP(model_type_shares)
#define model_preset_published OP(model_preset_published)

#define MODELS(X) X(smurf) X(thp) X(sahp) X(nhp) X(nce)

/* Most points that types are asked for at in one call. */
enum { TYPE_POINTS = 64 };

struct model_class {
    const char *name, *about;

    /* What it can be set to. */
    unsigned scales; /* bits 1 << SMURF_SCALE_... of the axes it runs on */
    bool objectives; /* takes an objective; false: the loss is its own */
    /* Settings that its preset changes after the default has chosen; NULL: it is the default's model. */
    void (*preset)(smurf_settings *settings);

    /* Adds its entries to the table and keeps their offsets in model->own. */
    void (*params)(struct model *model);
    /* Reals that describe the law of one event. */
    size_t (*coefficients)(const struct model *model);
    /* Reals of memory to encode up to n events. */
    size_t (*encode_memory)(const struct model *model, size_t n, int threads);
    /* out (n x coefficients). */
    void (*encode)(const struct op_run *run, const struct model *model, const real *slab,
                   const struct encoder_input *input, real *memory, real *out);
    /* Reals of memory for the loss of up to n events and as many targets. */
    size_t (*loss_memory)(const struct model *model, const struct loss_config *config, size_t n, int threads);
    /* The loss of a batch: time is the objective, the negative log-likelihood or what stands in its place; type the
       cross-entropy of a classifier, 0 where types come from the intensities. grad NULL: the loss alone; else the
       gradient of alpha * time + type is added to it. Sums have one order, whatever the threads; censored targets count
       where the loss has a use for them. */
    struct loss (*loss)(const struct op_run *run, const struct model *model, const struct loss_config *config,
                        const real *slab, const struct batch *batch, real *memory, real *grad);

    /* The state of a history that grows. */
    const struct history_class *history;
    /* Bytes of memory for the law of one event, aligned as malloc does; then the law on [low, high] of the axis, valid
       as long as the memory and the coefficients c are left alone. */
    size_t (*law_memory)(const struct model *model);
    struct law (*law)(const struct model *model, const float *slab, const float *c, double low, double high,
                      void *memory);
    /* Probabilities of the types, out (n x types), given the gap; n <= TYPE_POINTS. */
    void (*types)(const struct law *law, const double *y, double *out, size_t n);
};

/* What most laws point to. */
struct model_law {
    const struct model *model;
    const float *slab;
    const float *c; /* coefficients of one event */
    double *work;   /* what the class adds to its memory; NULL: nothing */
};

#define MODEL_DECLARE(name) extern const struct model_class OP(model_##name);
MODELS(MODEL_DECLARE)

/* NULL past the last; NULL if there is none of that name. */
const struct model_class *model_class_at(size_t index);
const struct model_class *model_class_named(const char *name);

/* Fills the table of a model for a shape. */
void model_init(struct model *model, const struct model_class *class, const struct encoder_shape *shape,
                enum parametrisation param);

/* ---- Parts that classes share ------------------------------------------------------------------ */

/* Bytes of a struct model_law with no work. */
size_t model_law_memory(const struct model *model);
/* A law that is asked through a struct model_law. */
struct law model_law_of(const struct law_class *law, const struct model *model, const float *slab, const float *c,
                        double low, double high, void *memory);
/* Types as shares of the law's intensities. */
void model_type_shares(const struct law *law, const double *y, double *out, size_t n);
/* The published models: mean time, events without the gap before them; the rest is as the default chooses. */
void model_preset_published(smurf_settings *settings);

#endif
