/*
 * choose.h - which column is what, from names and content together.
 *
 * What the caller names comes first, then what an earlier reading took (config->as), then what fits best.
 */
#ifndef SMURF_DATA_CHOOSE_H
#define SMURF_DATA_CHOOSE_H

#include "data/builder.h"
#include "data/columns.h"
#include "data/sniff.h"

enum { CHOICE_PARTS = 4, CHOICE_TEXT = 800, CHOICE_OTHERS = 600 };

struct choice {
    ptrdiff_t column[COLUMN_ROLES]; /* -1: none; of times, the first */
    ptrdiff_t part[CHOICE_PARTS];   /* columns that together are the time */
    size_t parts;
    bool has_format; /* false: numbers or ISO-8601, as the first cell is */
    struct time_format format;
    bool guessed;           /* not all was settled by options, an earlier reading or the usual names */
    bool words;             /* numbers in the type column are names */
    bool mixed;             /* times are since 1970 in several units, which is an error */
    char text[CHOICE_TEXT]; /* what was taken, in a sentence; "" without a sample */
    size_t further;         /* further columns */
    size_t further_column[FURTHER_COLUMNS];
    bool further_is_word[FURTHER_COLUMNS];
    char others[CHOICE_OTHERS]; /* names of columns that are free and could be further ones */
};

/* A table to choose from. */
struct choosing {
    const struct field *name; /* (columns) */
    size_t columns;
    bool header;               /* names come from the file */
    const struct sniff *sniff; /* NULL: no sample, only names count */
    const struct sniff_rows *rows;
    const smurf_read_config *config;
    struct builder *builder; /* takes remarks; may be NULL */
    bool partial;            /* the sample is not the whole table */
};

struct candidate;
/* Marks the columns that the caller names as further ones, so that no role takes them by itself. */
void smurf_choose_reserve(const struct choosing *table, struct candidate *candidate, size_t candidates);
/* choose_further.c: takes the further columns; candidates: 0 without a sample. */
smurf_status smurf_choose_further(struct choice *choice, const struct choosing *table,
                                  const struct candidate *candidate, size_t candidates, smurf_error *err);

/* Messages carry no location. */
smurf_status smurf_choose(struct choice *out, const struct choosing *table, smurf_error *err);

/* Joins the parts of a time with blanks, in *room; the field is NUL-terminated. */
smurf_status smurf_choice_join(const struct choice *choice, const struct field *cell, size_t n, char **room,
                               size_t *room_n, struct field *out, smurf_error *err);

/* Writes the names of the columns of a role, joined by commas, into an arena; NULL: out of memory. */
const char *smurf_choice_names(const struct choice *choice, enum column_role role, const struct field *name,
                               struct arena *arena);

#endif
