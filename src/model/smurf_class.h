/*
 * smurf_class.h - SMURF: a Transformer (encoder.h), and heads that turn its vectors into laws of gaps and types
 * (head.h).
 *
 * The coefficients of one event: a, b of the gap head (width each), a, b of the type head (width/2 each), with counts
 * those of repeat.h, with setting `ending` one more, s (ending.h), and with a clock those of clock.h. Trained with an
 * objective (objective.h) and the cross-entropy of the type.
 */
#ifndef SMURF_MODEL_SMURF_CLASS_H
#define SMURF_MODEL_SMURF_CLASS_H

#include "model/ending.h"
#include "model/model_class.h"
#include "model/repeat.h"

/* Short names; see op.h. */
#define smurf_loss_memory OP(smurf_loss_memory)
#define smurf_loss        OP(smurf_loss)

/* Offsets in the slab. */
struct smurf_offsets {
    struct encoder_params encoder;
    struct head_params head;
    struct ending_params end; /* with setting `ending` */
    struct repeat_params repeat;
    struct clock_params clock;
};
_Static_assert(sizeof(struct smurf_offsets) <= MODEL_OWN, "the offsets have room in a model");

static inline const struct smurf_offsets *smurf_offsets(const struct model *model)
{
    return (const void *)model->own;
}

/* Locates the coefficients of one event; for functions of head.h, with n = 1. Those of repeat.h follow. */
static inline struct head_coefficients smurf_coefficients(const struct model *model, real *c)
{
    size_t d = model->shape.width;
    return (struct head_coefficients){c, c + d, c + 2 * d, c + 2 * d + d / 2};
}

static inline real *smurf_repeat_at(const struct model *model, real *c)
{
    return c + 3 * model->shape.width;
}

/* Where s is among them. */
static inline size_t smurf_ending_at(const struct model *model)
{
    return 3 * model->shape.width + repeat_coefficients(&model->shape);
}

/* Where those of clock.h are. */
static inline size_t smurf_clock_at(const struct model *model)
{
    return smurf_ending_at(model) + model->shape.ending;
}

/* See struct model_class. */
size_t smurf_loss_memory(const struct model *model, const struct loss_config *config, size_t n, int threads);
struct loss smurf_loss(const struct op_run *run, const struct model *model, const struct loss_config *config,
                       const real *slab, const struct batch *batch, real *memory, real *grad);

#endif
