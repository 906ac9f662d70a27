/*
 * model_file.h - a trained model in memory and on disk.
 */
#ifndef SMURF_MODEL_MODEL_FILE_H
#define SMURF_MODEL_MODEL_FILE_H

#include "model/model.h"
#include "data/tensors.h"

#include <jansson.h>

struct smurf_model {
    struct model model; /* shapes and the table of parameters */
    float *slab;
    smurf_train_config config;
    struct view view;
    double low, high; /* support of the law on its axis */
    uint32_t types;
    char **type_name; /* (types), or NULL */
    char *unit;
    bool calendar;
    uint64_t fingerprint; /* of the train data */
    size_t epoch;         /* after which it was best */
    double dev_loss;
};

/* Fills the table of parameters from the config and the number of types. */
void smurf_model_shape(smurf_model *model);

/* Everything but the weights, as JSON; and back, without a slab: `file` is for messages. */
json_t *smurf_model_to_json(const smurf_model *model);
smurf_status smurf_model_from_json(smurf_model **out, const json_t *json, const char *file, smurf_error *err);
/* Gives a model its slab, all zero. */
smurf_status smurf_model_allocate(smurf_model *model, smurf_error *err);
/* A model from an open file. */
smurf_status smurf_model_open(smurf_model **out, const struct tensor_file *file, smurf_error *err);

/* One tensor for each parameter, of a slab laid out by the model's table, named prefix + name. tensors has room for
   all. The names are kept in `arena`. */
smurf_status smurf_model_list(const struct model *model, const float *slab, const char *prefix, struct tensor *tensors,
                              struct arena *arena, smurf_error *err);
/* Copies the tensors named prefix + name into a slab; one that is missing, of another shape or not finite is an error.
   slab NULL: only looks at them, so that no memory is taken on a file's word alone. */
smurf_status smurf_model_fetch(const struct model *model, const struct tensor_file *file, const char *prefix,
                               float *slab, smurf_error *err);
/* A hash of times, types and what is scored. */
uint64_t smurf_data_fingerprint(const smurf_data *data);

#endif
