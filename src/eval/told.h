/*
 * told.h - what is known of a model's laws before an evaluation asks: a GPU was asked about all gaps at once.
 *
 * Arrays are by gap, in the order of the data.
 */
#ifndef SMURF_EVAL_TOLD_H
#define SMURF_EVAL_TOLD_H

#include "smurf_lab.h"

/* Levels at which types are averaged (measure.c). */
enum { TYPE_NODES = 20, TOLD_LEVELS = SMURF_LEVELS + TYPE_NODES };
extern const double smurf_type_node[TYPE_NODES];

struct told_row {
    const double *mass;          /* (n x 2) F below and above the gap's tick */
    const double *density;       /* (n) of the tick if its mass is told precisely, else at the gap */
    const double *crps, *spread; /* (n) */
    const double *quantile;      /* (n x TOLD_LEVELS) at smurf_levels, then at smurf_type_node */
};

struct told {
    struct told_row model, raw; /* raw: before recalibration; with a map only */
};

#endif
