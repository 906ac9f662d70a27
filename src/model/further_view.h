/*
 * further_view.h - further columns as a model sees them; fitted on train, stored in the model.
 *
 *     number x:  (y - mean) / sd within +-FURTHER_LIMIT, where y = x, or asinh(x / unit) if x is skewed
 *     word:      its number in the column's vocabulary; then all others; then missing
 */
#ifndef SMURF_MODEL_FURTHER_VIEW_H
#define SMURF_MODEL_FURTHER_VIEW_H

#include "data/further.h"
#include "op/further.h"

#include <stdint.h>

struct json_t; /* of jansson */

#define FURTHER_LIMIT 8.0

struct further_number {
    bool log;
    double unit, mean, sd;
};

struct further_view {
    struct further further;        /* names and words */
    struct further_number *number; /* (columns); of words unused */
};

/* *out is NULL if the data has no further columns. */
smurf_status smurf_further_view_fit(struct further_view **out, const smurf_data *train, smurf_error *err);
smurf_status smurf_further_view_copy(struct further_view **out, const struct further_view *from, smurf_error *err);
void smurf_further_view_free(struct further_view *view);

struct further_layout smurf_further_view_layout(const struct further_view *view);
/* One row. raw: as in smurf_sequence, with the model's words; NULL: all is missing. */
void smurf_further_view_see(const struct further_view *view, const float *raw, float *out);
/* Rows that were seen, read from somewhere: values that no row can have become missing. */
void smurf_further_view_check(const struct further_view *view, float *seen, size_t rows);

/* Fails unless the data has the model's columns with the model's words: what smurf_model_match makes of it. */
smurf_status smurf_further_view_fits(const struct further_view *view, const smurf_data *data, smurf_error *err);

uint64_t smurf_further_view_hash(const struct further_view *view, uint64_t h);
/* As JSON (NULL: out of memory); and back: *right is false if it is invalid. */
struct json_t *smurf_further_view_to_json(const struct further_view *view);
smurf_status smurf_further_view_from_json(struct further_view **out, const struct json_t *json, bool *right,
                                          smurf_error *err);

#endif
