/* silent.h - a sequence that has been silent for longer than expected: shared by smurf overdue and smurf serve. */
#ifndef SILENT_H
#define SILENT_H

#include "smurf_lab.h"

#include <stdio.h>

struct silent {
    size_t sequence, events; /* sequence: for the order of those that are equal */
    smurf_moment last;
    double silence, expected; /* since the last event; the level's quantile */
    double p;                 /* of no event for that long */
};

/* For qsort: least probable first. Where probabilities are too small to tell apart, longest in terms of what was
   expected. */
int silent_order(const void *left, const void *right);
/* As a JSON object. */
void silent_json(FILE *out, const struct silent *row, const char *sequence, const char *type, smurf_moment now,
                 double level, int calendar);

#endif
