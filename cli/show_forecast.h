/*
 * show_forecast.h - one forecast a line: as a table, CSV or JSON Lines.
 */
#ifndef SHOW_FORECAST_H
#define SHOW_FORECAST_H

#include "smurf_lab.h"

#include <stdbool.h>
#include <stdio.h>

enum { LEVELS_MOST = 20, HORIZONS_MOST = 20, TOP_MOST = 50, SHOW_NAME_WIDTH = 14 };
enum show_format { SHOW_TABLE, SHOW_CSV, SHOW_JSONL };

/* What is asked of every forecast, and how it is shown; the same for all of them. */
struct question {
    const smurf_model *model;
    smurf_question ask; /* level and within are those below */
    double level[LEVELS_MOST], horizon[HORIZONS_MOST];
    enum show_format format;
    const char *now; /* as given; NULL: from the last event */
    smurf_moment now_moment;
    const char *unit;
    int calendar;
    int name_width; /* columns for names of sequences in a table */
};

void show_forecast_header(FILE *out, const struct question *question);
/* sequence: its name. */
void show_forecast(FILE *out, const struct question *question, const char *sequence, const smurf_answer *answer);

/* What --format says; a usage error where it is none. */
enum show_format show_format_named(const char *word);
/* Columns for the names of all sequences in a table, within reason. */
int show_name_width(const smurf_data *data);
/* The name of a type or of a sequence; its number where it has none. */
const char *type_text(char out[24], const smurf_model *model, int64_t type);
const char *sequence_text(char out[24], const smurf_sequence *sequence, size_t number);
/* A field of CSV: quoted where it must be. */
void put_csv_text(FILE *out, const char *text);
/* A field of CSV: up to nine digits, "inf" or "-inf", empty where x is NaN. */
void put_csv_number(FILE *out, double x);
/* For a table, in 10 columns at most, or "inf", "-". */
const char *gap_text(char out[32], double x);

#endif
