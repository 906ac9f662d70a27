/*
 * show_forecast.h - shows one forecast per line as a table, CSV or JSON Lines.
 */
#ifndef SHOW_FORECAST_H
#define SHOW_FORECAST_H

#include "duration.h"
#include "show_summary.h"

#include <stdbool.h>
#include <stdio.h>

enum { LEVELS_MOST = 20, CURVE_MOST = 200, HORIZONS_MOST = 20, TOP_MOST = 50, SHOW_NAME_WIDTH = 14 };
enum show_format { SHOW_TABLE, SHOW_CSV, SHOW_JSONL };

/* What every forecast must answer, and how it is shown. */
struct question {
    const smurf_model *model;
    smurf_question ask; /* level and within point to the arrays below */
    double level[LEVELS_MOST + CURVE_MOST / 2], horizon[HORIZONS_MOST];
    char within_label[HORIZONS_MOST][DURATION_LABEL]; /* the horizons as given */
    enum show_format format;
    const char *now; /* as given; NULL: from the last event */
    smurf_moment now_moment;
    const char *unit;
    int calendar;
    int name_width; /* columns for names of sequences in a table */
    bool ending;    /* the model knows that no further event may come */
    size_t curve;   /* the last curve / 2 - 1 levels are for its quantiles, not shown as intervals; 0: none */
};

void show_forecast_header(FILE *out, const struct question *question);
/* sequence: the name of the sequence. */
void show_forecast(FILE *out, const struct question *question, const char *sequence, const smurf_answer *answer);

/* Parses --format; a usage error if unknown. */
enum show_format show_format_named(const char *word);
/* Width of the name column of a table, at most 40. */
int show_name_width(const smurf_data *data);
/* The name of a type or sequence, or its number if it has none. */
const char *type_text(char out[24], const smurf_model *model, int64_t type);
/* Does the model know only one type, without a name? Then texts for people do not mention it. */
bool type_is_only(const smurf_model *model);
const char *sequence_text(char out[24], const smurf_sequence *sequence, size_t number);
/* A date for a table, to the minute, or to the second if `exact`: up to DATE_WIDTH columns. "-" if out of range. */
enum { DATE_WIDTH = 19 };
const char *date_text(char out[MOMENT_TEXT], smurf_moment moment, bool exact);
/* A space and the text, right-aligned and cut to `width`. */
void put_right(FILE *out, const char *text, int width);
/* A CSV field, quoted if necessary. */
void put_csv_text(FILE *out, const char *text);
/* A CSV field: up to nine digits, "inf" or "-inf"; empty for NaN. */
void put_csv_number(FILE *out, double x);
/* A comma and such a number. */
void csv_number(FILE *out, double x);
/* A further member of a JSON object: a number of up to nine digits, or a moment. */
void json_number(FILE *out, const char *key, double x);
void json_moment(FILE *out, const char *key, smurf_moment moment, int calendar);
/* The moment of `gap` after `from`. False if it is beyond what can be parsed again; null in JSON. */
bool moment_of(smurf_moment *out, smurf_moment from, double gap, int calendar);
void json_at(FILE *out, const char *key, smurf_moment from, double gap, int calendar);

#endif
