/*
 * model_file.h - a trained model in memory and on disk.
 */
#ifndef SMURF_MODEL_MODEL_FILE_H
#define SMURF_MODEL_MODEL_FILE_H

#include "data/tensors.h"
#include "law/wrap.h"
#include "model/config.h"
#include "model/model.h"
#include "model/wall_clock.h"
#include "naive/pool.h"

#include <jansson.h>

/* Quantiles of the train gaps are stored at levels k / (MARGINAL_LEVELS - 1). */
enum { MARGINAL_LEVELS = 101 };

/* Everything known besides the weights: about the train data, training and calibration. */
struct model_notes {
    double tick;                      /* of the train clock; 0: none */
    bool has_marginal;                /* false: the model predates support for empty histories */
    double marginal[MARGINAL_LEVELS]; /* quantiles of the train gaps, in the user's unit */
    smurf_epoch *history;             /* (epochs): results of training so far */
    size_t epochs;
    smurf_calibration calibration; /* result of calibration; gaps 0: none */
    struct recalibration map;      /* the identity unless calibration.recalibrated */
    struct tail tail;              /* what a law may claim beyond the longest train gap; from 0: no bound */
    double *conformal;             /* (calibration.conformal) sorted levels, one per sequence */
    struct pool *pool;             /* naive laws that the model's are pooled with; NULL: none */
    char *split;                   /* how the program split its data; NULL: not known */
};

/* Upper bound on times, gaps and units of a model: beyond it, their squares and products are unusable. */
#define MODEL_TIME_MOST 1e300

struct smurf_model {
    struct model model; /* shape and parameter table */
    float *slab;
    smurf_settings config;
    struct view view;
    double low, high; /* support of the law on its axis */
    uint32_t types;
    char **type_name; /* (types), or NULL */
    char *unit;
    bool calendar;
    uint64_t fingerprint; /* of the train data */
    size_t epoch;         /* the best one */
    double dev_loss;
    struct model_notes notes;
    struct wall_clock wall_clock; /* with setting wall-clock */
    smurf_reading reading;        /* of the train data; time_column NULL: it was no table */
    struct arena text;            /* of the reading */
};

/* The reading as JSON (NULL: out of memory); and back: *right is false if it is invalid. */
json_t *smurf_model_reading_to_json(const smurf_reading *reading);
smurf_status smurf_model_reading_from_json(smurf_model *model, const json_t *json, bool *right, smurf_error *err);

/* NULL, or the name of a scale or support value that is out of range. Values fitted on sane data never are. */
const char *smurf_model_check(const smurf_model *model);

/* The type that stands for types the model does not know: the one named "other", or else the number of types, which has
   an embedding only if the model was trained with masked types. */
uint32_t smurf_model_other(const smurf_model *model);

/* Fills the parameter table from the config, the types, the view and the clock. */
void smurf_model_shape(smurf_model *model);

/* Everything but the weights, as JSON (NULL: out of memory); and back, without a slab. `file` is for messages. */
json_t *smurf_model_to_json(const smurf_model *model);
smurf_status smurf_model_from_json(smurf_model **out, const json_t *json, const char *file, smurf_error *err);
/* *out is NULL if the text is NULL or not JSON. */
smurf_status smurf_json_parse(json_t **out, const char *text, smurf_error *err);
/* A deep copy; without a slab if the original has none. */
smurf_status smurf_model_copy(smurf_model **out, const smurf_model *from, smurf_error *err);
/* Gives a model a zeroed slab. */
smurf_status smurf_model_allocate(smurf_model *model, smurf_error *err);
/* Reads a model from an open file. */
smurf_status smurf_model_open(smurf_model **out, const struct tensor_file *file, smurf_error *err);

/* Lists one tensor per parameter, named prefix + name, of a slab laid out by the model's table. tensors has room for
   all. Names are allocated in `arena`. */
smurf_status smurf_model_list(const struct model *model, const float *slab, const char *prefix, struct tensor *tensors,
                              struct arena *arena, smurf_error *err);
/* Copies the tensors named prefix + name into a slab. A tensor that is missing, not finite or of another shape is an
   error. slab NULL: only checks them, so that memory is not allocated on the word of an untrusted file. */
smurf_status smurf_model_fetch(const struct model *model, const struct tensor_file *file, const char *prefix,
                               float *slab, smurf_error *err);
/* The notes as JSON members of an object (false: out of memory); and back: *wrong is NULL, or names the invalid member.
 */
bool smurf_model_notes_to_json(const struct model_notes *notes, json_t *object);
smurf_status smurf_model_notes_from_json(struct model_notes *notes, const json_t *object, const char **wrong,
                                         smurf_error *err);
/* The pool as JSON (NULL: out of memory); and back: *right is false if it is invalid. */
json_t *smurf_model_pool_to_json(const struct pool *pool);
smurf_status smurf_model_pool_from_json(struct pool **out, const json_t *json, uint32_t types, const char *file,
                                        bool *right, smurf_error *err);
/* Numbers as JSON (NULL: out of memory); and n non-decreasing ones from 0 to most, if the array is that. */
json_t *smurf_json_numbers(const double *x, size_t n);
bool smurf_json_rising(const json_t *array, double *out, size_t n, double most);
void smurf_model_notes_release(struct model_notes *notes);
/* Sets cs_floor and misses from the rest. */
void smurf_calibration_judge(smurf_calibration *calibration);
/* Bounds the tail of the laws by the gaps of train and of dev, which may be NULL. */
void smurf_model_notes_tail(struct model_notes *notes, const smurf_data *train, const smurf_data *dev);
/* Fits tick and marginal quantiles on the train data. */
smurf_status smurf_model_notes_fit(struct model_notes *notes, const smurf_data *train, smurf_error *err);
/* Keeps a copy of how the data was split. */
smurf_status smurf_model_notes_split(struct model_notes *notes, const char *split, smurf_error *err);
/* Appends an epoch to the history. */
smurf_status smurf_model_notes_add(struct model_notes *notes, const smurf_epoch *epoch, smurf_error *err);

/* A hash of times, types and which events are scored. */
uint64_t smurf_data_fingerprint(const smurf_data *data);

#endif
