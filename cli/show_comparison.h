/*
 * show_comparison.h - shows a comparison of models as text, Markdown, CSV or JSON.
 */
#ifndef SHOW_COMPARISON_H
#define SHOW_COMPARISON_H

#include "cell.h"

#include <stdio.h>

/* What a row has in addition to smurf_compared. */
struct compared_row {
    const char *model, *law;
    bool drawn;
    const struct law_result *run[64]; /* the first `runs` of the row */
    const struct cell *cell[64];
};

struct comparison {
    smurf_comparison values; /* lengths in the displayed unit */
    struct compared_row *row;
    const struct bench *bench;
    const char *data, *unit; /* "mean gaps" */
    double per, mean_gap;    /* lengths were divided by `per` */
    size_t seeds;
    size_t cells, of_other_code; /* total; those produced by other sources than this build's */
};

void show_comparison_text(FILE *out, const struct comparison *comparison, bool bold, bool utf8);
void show_comparison_markdown(FILE *out, const struct comparison *comparison);
void show_comparison_csv(FILE *out, const struct comparison *comparison);
void show_comparison_json(FILE *out, const struct comparison *comparison);
/* A remark if something was chosen on test, else "". */
const char *comparison_warning(const struct comparison *comparison);

#endif
