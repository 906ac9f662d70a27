/*
 * show_forecast.h - one forecast a line: as a table, CSV or JSON Lines.
 */
#ifndef SHOW_FORECAST_H
#define SHOW_FORECAST_H

#include "smurf.h"

#include <stdbool.h>
#include <stdio.h>

enum { LEVELS_MOST = 20, HORIZONS_MOST = 20, TOP_MOST = 50 };
enum show_format { SHOW_TABLE, SHOW_CSV, SHOW_JSONL };

/* What is asked of every forecast; the same for all of them. */
struct question {
    enum show_format format;
    double level[LEVELS_MOST]; /* of intervals */
    size_t levels;
    int sides;     /* 1: [0, quantile], 2: central */
    int conformal; /* conformal intervals beside the others */
    double horizon[HORIZONS_MOST];
    size_t horizons;
    size_t top;      /* types to name */
    int64_t target;  /* the time to the next event of this type, by futures; -1: not asked */
    size_t paths;    /* futures */
    size_t steps;    /* events of each at most */
    const char *now; /* as given; NULL: from the last event */
    smurf_moment now_moment;
    const char *unit;
    int calendar;
    int name_width; /* columns for names of sequences in a table; 0: the usual */
};

struct interval {
    double low, high;
};

/* One forecast. Times are counted from `from`: now, or the last event. */
struct answer {
    const char *sequence; /* its name */
    size_t events;
    bool has_last;
    smurf_moment last, from;
    double median, mean;
    struct interval interval[LEVELS_MOST], conformal[LEVELS_MOST];
    double within[HORIZONS_MOST]; /* probabilities */
    size_t types;                 /* that are named */
    const char *type[TOP_MOST];
    double share[TOP_MOST];
    /* of the target type; infinite where it did not come within the futures drawn, NaN where there is no telling */
    double target_median;
    struct interval target_interval[LEVELS_MOST];
    double target_within[HORIZONS_MOST], target_seen; /* share of the futures in which it came */
};

void show_forecast_header(FILE *out, const struct question *question, const smurf_model *model);
void show_forecast(FILE *out, const struct question *question, const smurf_model *model, const struct answer *answer);

/* from + gap on the user's clock; false where that is beyond it. */
bool moment_after(smurf_moment *out, smurf_moment from, double gap);
/* A field of CSV: quoted where it must be. */
void put_csv_text(FILE *out, const char *text);
/* A field of CSV: up to nine digits, "inf" or "-inf", empty where x is NaN. */
void put_csv_number(FILE *out, double x);
/* For a table, in 10 columns at most, or "inf", "-". */
const char *gap_text(char out[32], double x);

#endif
