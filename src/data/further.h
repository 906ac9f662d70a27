/*
 * further.h - further columns of a data set: numbers and words of each event, beside its time and type.
 *
 * One float per event and column. A number is itself. A word is its number in the column's vocabulary, and the size of
 * the vocabulary stands for all other words. NaN: missing.
 */
#ifndef SMURF_DATA_FURTHER_H
#define SMURF_DATA_FURTHER_H

#include "base/error.h"
#include "data/names.h"

#include <stdbool.h>

/* WORDS: the most that a column names; WORDS_READ: more different ones in a file are considered a mistake. */
enum { FURTHER_COLUMNS = 32, FURTHER_WORDS = 1000, FURTHER_WORDS_READ = 1 << 20 };

struct further_column {
    char *name;
    bool is_word;
    struct names word; /* the vocabulary */
};

/* {0} is valid and has no columns. Owns everything it points to. */
struct further {
    struct further_column *column; /* (columns) */
    size_t columns, room;
};

smurf_status smurf_further_add(struct further *further, const char *name, size_t n, bool is_word, smurf_error *err);
smurf_status smurf_further_copy(struct further *to, const struct further *from, smurf_error *err);
void smurf_further_release(struct further *further);
/* The number of the column, or `columns`. */
size_t smurf_further_find(const struct further *further, const char *name);
/* Of the columns of a data set, their words and values; 0 if it has none. */
uint64_t smurf_further_hash(const smurf_data *data);
/* The same columns in the same order, with the same words? */
bool smurf_further_same(const struct further *a, const struct further *b);

/* An entry of a list such as "amount,zip=word". */
enum further_kind { FURTHER_OPEN, FURTHER_NUMBER, FURTHER_WORD };
struct further_entry {
    const char *name;
    size_t n;
    enum further_kind kind;
};
/* Takes the next entry off the list, which may be NULL; false at its end. */
bool smurf_further_next(const char **list, struct further_entry *out);
/* The columns as a list, with what they hold, in the arena; NULL: out of memory. */
const char *smurf_further_list(const struct further *further, struct arena *arena);

/* Translates rows of one set of columns into those of another, which are found by name. */
struct further_map {
    size_t columns;
    size_t *from;    /* (columns) column of the source */
    uint32_t **word; /* (columns) new number of each old word, `other` included; NULL: a number */
};
/* Fails with SMURF_ERROR_INPUT if `from` lacks a column, or has it with another kind. source: its name, for messages.
 */
smurf_status smurf_further_map(struct further_map *map, const struct further *from, const struct further *to,
                               const char *source, smurf_error *err);
void smurf_further_map_release(struct further_map *map);
/* One row; in: NULL: all is missing. */
void smurf_further_translate(const struct further_map *map, const float *in, float *out);

/* Gives the data set the vocabularies of another one's columns; both have columns of the same names. */
smurf_status smurf_further_adopt(smurf_data *data, const struct further *as, smurf_error *err);
/* Words with fewer than `least` events, and all but the FURTHER_WORDS most frequent, are no longer named. */
smurf_status smurf_further_merge(smurf_data *data, size_t least, smurf_error *err);

#endif
