/*
 * past_columns.h - further columns of the last events of a history, to draw those of future events from: a future event
 * has the columns of a past one of its type, or of any past one if there is none of its type.
 */
#ifndef SMURF_FORECAST_PAST_COLUMNS_H
#define SMURF_FORECAST_PAST_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAST_ROWS = 256 };

/* {0}: the model sees no columns. */
struct past_columns {
    size_t columns;
    size_t events;  /* seen; the last PAST_ROWS are kept, event i in place i % PAST_ROWS */
    uint32_t *type; /* (PAST_ROWS) */
    float *row;     /* (PAST_ROWS x columns), as the encoder sees them */
};

/* False: out of memory. */
bool smurf_past_columns_init(struct past_columns *past, size_t columns);
void smurf_past_columns_release(struct past_columns *past);
void smurf_past_columns_add(struct past_columns *past, uint32_t type, const float *row);
void smurf_past_columns_copy(struct past_columns *to, const struct past_columns *from);
/* The row of a past event; u: uniform in [0, 1). NULL: there is none. */
const float *smurf_past_columns_draw(const struct past_columns *past, uint32_t type, double u);

/* As bytes; returns how many. out NULL: only counts them. Then back: how many of the n bytes were read, 0 where they
   cannot be that. */
size_t smurf_past_columns_pack(const struct past_columns *past, void *out);
size_t smurf_past_columns_unpack(struct past_columns *past, const void *bytes, size_t n);

#endif
