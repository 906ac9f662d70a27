/*
 * builder.h - builds a data set; used by every reader, splitter and simulator.
 *
 * Push times and types, each in order, then close the sequence. Types are numbers until the first word; from then on
 * all types are words, and earlier numbers become their decimal text.
 *
 *     struct builder b = {.sort = ..., .name = "train.csv"};
 *     smurf_builder_time(&b, 0.5, err); smurf_builder_type(&b, 3, err); ...
 *     smurf_builder_close(&b, &(struct sequence_info){...}, err);
 *     status = smurf_builder_finish(&b, &data, err);
 *     smurf_builder_release(&b);
 */
#ifndef SMURF_DATA_BUILDER_H
#define SMURF_DATA_BUILDER_H

#include "base/error.h"
#include "base/spill.h"
#include "data/data.h"
#include "data/names.h"

/* More types than this is considered a mistake. */
enum { TYPE_LIMIT = 1 << 24 };

/* A sequence's properties other than its events. NaN: unknown. */
struct sequence_info {
    int64_t origin;
    double start, end; /* relative to origin */
    size_t first;      /* first scored event; 0 counts as 1 */
    const char *name;  /* copied; NULL: none */
    size_t before;     /* events before the first one here, in a window of a longer sequence */
};

/* {0} with name set is a valid empty builder. Callers set the options; the rest is private. */
struct builder {
    const char *name;  /* the source, for messages and smurf_data_source; copied by finish */
    bool sort;         /* sort events that are out of order instead of failing */
    bool newest_first; /* events come in descending order: each sequence is reversed before it is checked */
    bool words;        /* types are words; may be set before the first type */
    bool inherited;    /* the vocabulary comes from another data set: numbers index it */
    bool numbers_only; /* a word is an error: another part of the data set has numbers */
    bool calendar;
    bool observed, assumed; /* as in struct smurf_data */
    smurf_moment observed_until;
    bool decoded;            /* some text was not UTF-8 */
    const char *unit;        /* copied by finish; NULL: unknown */
    uint32_t declared;       /* number of types the source declares; 0: not declared */
    struct names vocabulary; /* of words */

    double *time;
    uint32_t *type;
    bool lent_time, lent_type; /* owned by the caller: neither changed nor freed. Only for events in order. */
    smurf_free_fn *release;    /* returns what is lent, called once; NULL: the caller does. Moves to the data set */
    void *release_context;
    bool outside;                            /* keeps events in temporary files instead of memory */
    struct spill time_outside, type_outside; /* private */
    size_t times, types, time_room, type_room;
    struct further further; /* columns; set before the first event */
    float *further_value;
    size_t further_rows, further_room; /* events; floats */
    uint32_t type_max;                 /* largest number pushed so far, while types are numbers */
    smurf_sequence *sequence;          /* time, type: NULL until finish; length is set */
    size_t sequences, sequence_room;
    size_t closed; /* events in closed sequences */
    size_t sorted; /* events sorted because they were out of order */
    struct arena text;
    const char **remark;
    size_t remarks, remark_room;
    smurf_reading reading; /* set by readers of tables; texts in `text` */
};

void smurf_builder_release(struct builder *b);

/* Takes over the types of `from` and their names. Types pushed later with smurf_builder_index are indices, named or
   not. */
smurf_status smurf_builder_inherit_types(struct builder *b, const smurf_data *from, smurf_error *err);
/* For a data set made of events of `from`: takes over its types, further columns, unit, calendar flag, source name,
   remarks and reading. */
smurf_status smurf_builder_inherit(struct builder *b, const smurf_data *from, smurf_error *err);

smurf_status smurf_builder_time(struct builder *b, double time, smurf_error *err);
/* Pushes a type given as a number; an error above TYPE_LIMIT. Becomes a word if words are in use. */
smurf_status smurf_builder_type(struct builder *b, int64_t type, smurf_error *err);
/* Pushes a type by index, whether or not types are words. */
smurf_status smurf_builder_index(struct builder *b, uint32_t type, smurf_error *err);
/* Pushes a whole sequence of n events copied from arrays; close it next. */
smurf_status smurf_builder_events(struct builder *b, const double *time, const uint32_t *type, size_t n,
                                  smurf_error *err);
/* Pushes n rows of the further columns, copied; NULL: all is missing. Nothing where there are no columns. */
smurf_status smurf_builder_further(struct builder *b, const float *value, size_t n, smurf_error *err);
/* Pushes a type given as text: a number if it parses as one and words are not in use, else a word. */
smurf_status smurf_builder_type_text(struct builder *b, const char *text, size_t n, smurf_error *err);
/* Adds a word to the types, if it is new, without an event. */
smurf_status smurf_builder_word(struct builder *b, const char *text, size_t n, uint32_t *number, smurf_error *err);
/* Pushes a type given as a word. */
smurf_status smurf_builder_type_word(struct builder *b, const char *text, size_t n, smurf_error *err);

/* Ends the sequence of the events pushed since the last close. Checks that there are as many types as times, that times
   are finite and in order (or sorts them), and that start and end enclose them. Messages carry no location: readers
   prepend it with smurf_source_blame. */
smurf_status smurf_builder_close(struct builder *b, const struct sequence_info *info, smurf_error *err);

/* Records a remark for smurf_data_remark. */
smurf_status smurf_builder_remark(struct builder *b, smurf_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Hands over the data set and leaves the builder empty. Checks types against `declared`. */
smurf_status smurf_builder_finish(struct builder *b, smurf_data **out, smurf_error *err);

#endif
