/*
 * device.h - steps of training on a GPU: what cuda/cuda.h offers, in terms of models and feeds.
 *
 * The card holds weights, moments and average, all of train and dev, and runs whole steps. Sums are taken in an order
 * of its own, so weights differ from the processor's by rounding; dropout masks, noise and order are the same. The same
 * steps on the same kind of card give the same bits.
 */
#ifndef SMURF_TRAIN_DEVICE_H
#define SMURF_TRAIN_DEVICE_H

#include "cuda/cuda.h"
#include "train/feed.h"

struct train_device;

/* "cpu", "cuda", "auto"; NULL: cpu. */
enum device { DEVICE_CPU, DEVICE_CUDA, DEVICE_AUTO };
smurf_status smurf_device_parse(enum device *out, const char *name, smurf_error *err);
/* What the card is to know of a model and its loss. Returns why it does not train there, or NULL. */
const char *smurf_device_describe(struct cuda_model *out, const struct model *model, const struct loss_config *loss);
/* Whether a run is long enough to gain. */
bool smurf_device_pays(const struct feed *train, size_t epochs);

/* For the batches of `train`, and all of dev unless it is NULL; both must outlive it. Slabs are undefined. */
smurf_status smurf_train_device_open(struct train_device **out, const struct model *model,
                                     const struct loss_config *loss, bool average, const struct feed *train,
                                     const struct feed *dev, smurf_error *err);
void smurf_train_device_close(struct train_device *device);
smurf_status smurf_train_device_put(struct train_device *device, enum cuda_slab slab, const float *from,
                                    smurf_error *err);
smurf_status smurf_train_device_get(struct train_device *device, enum cuda_slab slab, float *to, smurf_error *err);

/* As the functions of step.h. After a failure the loss is NaN. */
struct loss smurf_train_device_gradient(struct train_device *device, const struct op_run *run, const struct feed *train,
                                        size_t index, double *norm);
void smurf_train_device_update(struct train_device *device, uint64_t t, double rate, double factor, double decay);
/* slab: CUDA_WEIGHT or CUDA_AVERAGE. */
struct loss smurf_train_device_dev(struct train_device *device, const struct op_run *run, enum cuda_slab slab,
                                   const struct feed *dev);
/* The first failure of a step, if any. */
smurf_status smurf_train_device_status(const struct train_device *device, smurf_error *err);
/* The session, for benchmarks. */
struct cuda_training *smurf_train_device_session(struct train_device *device);

#endif
