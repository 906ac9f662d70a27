/* stream_case.h - a text that arrives bit by bit, and what every stream of it must give; for unit_stream and
 * fuzz_stream. */
#ifndef SMURF_TEST_STREAM_CASE_H
#define SMURF_TEST_STREAM_CASE_H

#include "smurf_lab.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arriving {
    const char *text;
    size_t size, at, chunk;
};

/* A smurf_read_fn. */
static inline ptrdiff_t arriving_read(void *context, void *bytes, size_t room)
{
    struct arriving *a = context;
    size_t n = a->size - a->at;
    if (n > a->chunk) n = a->chunk;
    if (n > room) n = room;
    memcpy(bytes, a->text + a->at, n);
    a->at += n;
    return (ptrdiff_t)n;
}

static inline const char *type_text(const smurf_data *data, uint32_t type, char text[16])
{
    const char *name = smurf_data_type_name(data, type);
    if (name) return name;
    snprintf(text, 16, "%u", type);
    return text;
}

static inline bool same_event(const smurf_data *a, const smurf_sequence *s, size_t i, const smurf_data *b,
                              const smurf_sequence *t, size_t j)
{
    char left[16], right[16];
    double gap = (double)(s->origin - t->origin) + (s->time[i] - t->time[j]);
    return fabs(gap) <= 1e-9 * (1 + fabs(s->time[i])) &&
           strcmp(type_text(a, s->type[i], left), type_text(b, t->type[j], right)) == 0;
}

/* Takes a piece off a data set that was read whole: at[s] counts the events of sequence s that have come. Sequences are
   found by name; finished ones come in order. */
static inline bool take_piece(const smurf_data *whole, size_t *at, size_t *finished, const smurf_piece *piece)
{
    for (size_t p = 0; p < smurf_data_sequences(piece->data); p++) {
        const smurf_sequence *t = smurf_data_sequence(piece->data, p), *s;
        size_t k = piece->whole ? (*finished)++ : 0;
        for (; (s = smurf_data_sequence(whole, k)); k++)
            if (piece->whole || !s->name || strcmp(s->name, t->name ? t->name : "0") == 0) break;
        if (!s || (piece->whole && s->length != t->length)) return false;
        for (size_t j = 0; j < t->length; j++, at[k]++)
            if (at[k] >= s->length || !same_event(whole, s, at[k], piece->data, t, j)) return false;
    }
    return true;
}

/* Did all of it come? */
static inline bool all_taken(const smurf_data *whole, const size_t *at)
{
    for (size_t k = 0; k < smurf_data_sequences(whole); k++)
        if (at[k] != smurf_data_sequence(whole, k)->length) return false;
    return true;
}

#endif
