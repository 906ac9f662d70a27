/* sniff.c - see sniff.h. */
#include "data/sniff.h"

#include "data/builder.h"
#include "data/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void smurf_sniff_release(struct sniff *s)
{
    for (size_t i = 0; i < s->columns; i++) smurf_names_release(&s->column[i].value);
    free(s->column);
    *s = (struct sniff){0};
}

smurf_status smurf_sniff_columns(struct sniff *s, size_t columns, smurf_error *err)
{
    if (!smurf_grow(&s->column, &s->column_room, columns, sizeof *s->column)) return smurf_fail_memory(err);
    for (; s->columns < columns; s->columns++) {
        s->column[s->columns] = (struct sniff_column){0};
        smurf_time_guess_init(&s->column[s->columns].time);
    }
    return SMURF_OK;
}

size_t smurf_sniff_distinct(const struct sniff_column *c)
{
    return c->value.count + (c->beyond > 0);
}

bool smurf_sniff_is_month(const char *text, size_t n)
{
    static const char *const month[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    for (size_t i = 0; n >= 3 && i < 12; i++)
        if ((n == 3 || n == strlen(month[i])) && strncasecmp(text, month[i], n) == 0) return true;
    return false;
}

static bool is_flag(const char *text, size_t n)
{
    static const char *const flag[] = {"0", "1", "true", "false", "yes", "no", "t", "f", "y", "n"};
    for (size_t i = 0; n <= 5 && i < sizeof flag / sizeof *flag; i++)
        if (strlen(flag[i]) == n && strncasecmp(text, flag[i], n) == 0) return true;
    return false;
}

/* A cell that does not begin like a number is none. */
static void see_number(struct sniff_column *c, const char *text, size_t n)
{
    struct decimal d;
    if (n > 40 || !((*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == '.')) return;
    char copy[48]; /* a cell may be followed by a letter */
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (smurf_decimal_scan(&d, copy) != copy + n) return;
    double value = smurf_decimal_value(&d);
    c->numbers++;
    c->wholes += value == floor(value) && value >= 0;
    c->indices += value == floor(value) && value >= 0 && value < TYPE_LIMIT;
    c->days += value == floor(value) && value >= 1 && value <= 31;
    if (value > c->largest) c->largest = value;
    c->falls += c->numbers > 1 && value < c->last;
    c->last = value;
}

static void keep_example(struct sniff_column *c, const char *text, size_t n)
{
    size_t shown = n < SNIFF_EXAMPLE - 1 ? n : SNIFF_EXAMPLE - 1;
    memcpy(c->example, text, shown);
    c->example[shown] = '\0';
}

/* Many cells in a row that are no times settle it. */
static void see_time(struct sniff_column *c, const char *text, size_t n)
{
    enum { ENOUGH = 256 };
    if (c->no_time) return;
    if (smurf_time_guess_see(&c->time, text, n) && !c->times++) keep_example(c, text, n);
    if (c->time.cells != ENOUGH) return;
    struct time_format format;
    char note[TIME_NOTE];
    c->no_time = smurf_time_guess_best(&c->time, &format, note) < 0.5;
}

static smurf_status see_cell(struct sniff_column *c, const char *text, size_t n, smurf_error *err)
{
    if (!c->cells++) keep_example(c, text, n);
    if (smurf_names_find(&c->value, text, n) != NAMES_FULL)
        c->repeats++;
    else if (c->value.count == SNIFF_VALUES)
        c->beyond++;
    else if (smurf_names_intern(&c->value, text, n) == NAMES_FULL)
        return smurf_fail_memory(err);
    see_number(c, text, n);
    c->commas += n <= 40 && smurf_column_has_comma(text, n);
    c->flags += is_flag(text, n);
    c->months += smurf_sniff_is_month(text, n);
    see_time(c, text, n);
    return SMURF_OK;
}

smurf_status smurf_sniff_row(struct sniff *s, const struct field *cell, size_t n, smurf_error *err)
{
    if (n > SNIFF_COLUMNS) n = SNIFF_COLUMNS;
    smurf_status status = smurf_sniff_columns(s, n, err);
    for (size_t i = 0; i < n && !status; i++)
        if (cell[i].n) status = see_cell(&s->column[i], cell[i].text, cell[i].n, err);
    s->rows++;
    return status;
}
