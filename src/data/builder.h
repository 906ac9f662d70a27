/*
 * builder.h - how every reader, splitter and simulator makes a data set.
 *
 * Push times and types, each in its own order; then close the sequence. Types are numbers until a word
 * arrives; from then on, all of them are words (numbers that came before become their own decimal text).
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
#include "data/data.h"
#include "data/names.h"

/* More types than this is taken for a mistake. */
enum { TYPE_LIMIT = 1 << 24 };

/* What is known of a sequence beside its events. NaN: unknown. */
struct sequence_info {
    int64_t origin;
    double start, end; /* relative to origin */
    size_t first;      /* first event to be scored; 0 counts as 1 */
    const char *name;  /* copied; NULL: none */
};

/* {0} with name set is a valid empty builder. The options are set by the caller, the rest is private. */
struct builder {
    const char *name;  /* the source, for messages and for smurf_data_source; copied by finish */
    bool sort;         /* sort events that are out of order rather than fail */
    bool words;        /* types are words; may be set before the first type */
    bool inherited;    /* the vocabulary came from another data set: numbers index it */
    bool numbers_only; /* a word is an error: another part of the data set has numbers */
    bool calendar;
    const char *unit;        /* copied by finish; NULL: unknown */
    uint32_t declared;       /* number of types the source claims; 0: it does not */
    struct names vocabulary; /* of words */

    double *time;
    uint32_t *type;
    bool lent_time, lent_type; /* they are a caller's: neither changed nor freed. Only for events in order. */
    size_t times, types, time_room, type_room;
    uint32_t type_max;        /* largest number pushed so far, while types are numbers */
    smurf_sequence *sequence; /* time, type: NULL until finish; length set */
    size_t sequences, sequence_room;
    size_t closed; /* events in closed sequences */
    size_t sorted; /* events found out of order and sorted */
    struct arena text;
    const char **remark;
    size_t remarks, remark_room;
};

void smurf_builder_release(struct builder *b);

/* Takes over the types of `from` and their names. Types pushed afterwards with smurf_builder_index are indices,
   with or without names. */
smurf_status smurf_builder_inherit_types(struct builder *b, const smurf_data *from, smurf_error *err);
/* For a data set made of the events of `from`: takes over its types, unit, calendar flag, source name and remarks. */
smurf_status smurf_builder_inherit(struct builder *b, const smurf_data *from, smurf_error *err);

smurf_status smurf_builder_time(struct builder *b, double time, smurf_error *err);
/* A type given as a number; an error above TYPE_LIMIT. A word once words are in use. */
smurf_status smurf_builder_type(struct builder *b, int64_t type, smurf_error *err);
/* A type as its index, words or not. */
smurf_status smurf_builder_index(struct builder *b, uint32_t type, smurf_error *err);
/* A whole sequence of n events copied from arrays, to be closed next. */
smurf_status smurf_builder_events(struct builder *b, const double *time, const uint32_t *type, size_t n,
                                  smurf_error *err);
/* A type given as text: a number if it reads as one (and words are not in use), else a word. */
smurf_status smurf_builder_type_text(struct builder *b, const char *text, size_t n, smurf_error *err);
/* A type given as a word. */
smurf_status smurf_builder_type_word(struct builder *b, const char *text, size_t n, smurf_error *err);

/* Ends the sequence made of the events pushed since the last one. Checks: as many types as times, times
   in order (or sorts), finite, start and end around them. Messages lack the place: readers put it before
   them with smurf_source_blame. */
smurf_status smurf_builder_close(struct builder *b, const struct sequence_info *info, smurf_error *err);

/* Keeps a remark for smurf_data_remark. */
smurf_status smurf_builder_remark(struct builder *b, smurf_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Hands over the data set and leaves the builder empty. Checks types against `declared`. */
smurf_status smurf_builder_finish(struct builder *b, smurf_data **out, smurf_error *err);

#endif
