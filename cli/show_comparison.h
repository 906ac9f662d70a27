/*
 * show_comparison.h - a comparison of models as text, Markdown, CSV, JSON.
 */
#ifndef SHOW_COMPARISON_H
#define SHOW_COMPARISON_H

#include "cell.h"

#include <stdio.h>

/* A row, beside what the library has of it. */
struct compared_row {
    const char *model, *law;
    bool drawn;
    const struct law_result *run[64]; /* the first `runs` of the row */
    const struct cell *cell[64];
};

struct comparison {
    smurf_comparison values; /* lengths in the unit that is shown */
    struct compared_row *row;
    const struct bench *bench;
    const char *data, *unit; /* "mean gaps" */
    double per, mean_gap;    /* lengths were divided by `per` */
    size_t seeds;
    size_t cells, of_other_code; /* how many there are; results of other sources than this build's */
};

void show_comparison_text(FILE *out, const struct comparison *comparison, bool bold, bool utf8);
void show_comparison_markdown(FILE *out, const struct comparison *comparison);
void show_comparison_csv(FILE *out, const struct comparison *comparison);
void show_comparison_json(FILE *out, const struct comparison *comparison);
/* The remark on what was chosen on test; "" where nothing was. */
const char *comparison_warning(const struct comparison *comparison);

#endif
