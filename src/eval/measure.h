/*
 * measure.h - measures laws on one gap, and one example in full. One measurer per thread.
 */
#ifndef SMURF_EVAL_MEASURE_H
#define SMURF_EVAL_MEASURE_H

#include "eval/adaptation.h"
#include "eval/evaluate.h"

/* Random numbers of an evaluation come from streams (purpose, index of the gap or of the resample). */
enum measure_stream { STREAM_PIT = 1, STREAM_DRAWS, STREAM_TYPES, STREAM_BOOTSTRAP, STREAM_EXAMPLES };
static inline uint64_t measure_stream(enum measure_stream purpose, size_t index)
{
    return (uint64_t)purpose << 56 | (uint64_t)index;
}

struct measurer {
    const struct evaluation_plan *plan;
    void *model;                      /* workspaces; NULL: not measured */
    void *naive[ROWS];                /* of naive rows */
    struct recent_types recent_types; /* of events before `listed` */
    size_t listed;
    double *recency;                /* (types) probabilities; NULL: not measured */
    const smurf_sequence *sequence; /* the sequence read last */
    double *types; /* (simultaneous gaps x types) probabilities, and (types) their mean; NULL: no types */
    double *share;
    uint32_t *count; /* (types) */
    double *drawn;   /* (draws) */
    bool no_memory;  /* the last gap could not be measured */
    const struct adaptation *adaptation; /* NULL: none */
    struct adaptation_cursor cursor;     /* in it */
    struct adapted adapted;
};

/* False if out of memory; release it even then. adaptation: that of the plan's test data and gamma; NULL: none.
   longest: events of the longest sequence. */
bool smurf_measurer_init(struct measurer *m, const struct evaluation_plan *plan, const struct adaptation *adaptation,
                         size_t longest, struct stop *stop);
void smurf_measurer_release(struct measurer *m);

void smurf_measurer_read(struct measurer *m, const smurf_sequence *sequence);
/* Measures the gap before event `event` of the sequence read. Writes element i of the arrays of *e, nothing else. */
void smurf_measurer_gap(struct measurer *m, const struct evaluation *e, size_t i, size_t event);
/* Tabulates the law of that gap; leaves title alone. */
void smurf_measurer_example(struct measurer *m, struct example *out, size_t event);

#endif
