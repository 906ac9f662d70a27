/* pieces.c - see pieces.h. */
#include "eval/pieces.h"

#include <stdint.h>
#include <stdlib.h>

/* Rows of a piece if the predictor does not mind. */
enum { ROWS = 1024 };

/* The event after the piece that begins with the scored event `from`. */
static size_t end_of(const smurf_sequence *s, size_t from, size_t group)
{
    size_t left = group - (s->before + from - 1) % group;
    return s->length - from > left ? from + left : s->length;
}

bool smurf_pieces_init(struct pieces *out, const struct predictor *p, const smurf_data *data)
{
    size_t group = p->class && p->class->group ? p->class->group(p->self) : ROWS;
    *out = (struct pieces){0};
    for (int pass = 0; pass < 2; pass++) {
        size_t n = 0;
        for (size_t i = 0; i < data->sequences; i++) {
            const smurf_sequence *s = &data->sequence[i];
            for (size_t from = s->first, to; from < s->length; from = to, n++) {
                to = end_of(s, from, group);
                if (pass) out->piece[n] = (struct piece){i, from, to};
            }
        }
        if (!pass && !(out->piece = malloc((n + 1) * sizeof *out->piece))) return false;
        out->count = n;
    }
    return true;
}
