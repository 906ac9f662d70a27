/*
 * data.h - the data set inside the library: the packed arrays behind smurf_data.
 *
 * Made by struct builder (builder.h), immutable afterwards. Owns everything it points to, except events lent to it.
 */
#ifndef SMURF_DATA_DATA_H
#define SMURF_DATA_DATA_H

#include "smurf_lab.h"

#include "base/memory.h"
#include "base/spill.h"
#include "data/further.h"

#include <stdbool.h>

struct smurf_data {
    const double *time;     /* (events) relative to each sequence's origin */
    const uint32_t *type;   /* (events) */
    double *own_time;       /* time if owned; NULL: lent */
    uint32_t *own_type;     /* type, likewise */
    smurf_free_fn *release; /* returns lent arrays; NULL: none lent */
    void *release_context;
    struct spill time_outside, type_outside; /* owned, instead of the above */
    size_t events;                           /* of all sequences */
    struct further further;                  /* further columns; none: {0} */
    float *further_value;                    /* (events x columns), or NULL: no columns */
    smurf_sequence *sequence;                /* (sequences) views into time and type, contiguous and in order */
    size_t sequences;
    uint32_t types;
    const char **type_name; /* (types), or NULL if types are numbers */
    const char *unit;       /* "" if unknown */
    bool outside;           /* the events are in a file; so is then what is made of them (base/spill.h) */
    bool observed;          /* ends of observation that were unknown are this moment: */
    smurf_moment observed_until;
    bool assumed;  /* nobody said so: it is the last event */
    bool calendar; /* times are seconds since 1970, read from ISO-8601 text */
    const char *source;
    const char **remark;   /* NULL-terminated, or NULL */
    smurf_reading reading; /* time_column NULL: not read from a table */
    struct arena text;     /* every string above */
};

/* Points the sequences to the rows of their further columns. */
void smurf_data_place_further(smurf_data *data);

#endif
