/* said.c - see said.h. */
#include "said.h"

#include <stdlib.h>
#include <string.h>

struct said {
    size_t events, revision, levels, curve, horizons, top, size; /* size: of the text */
    double number[];                                             /* levels, horizons; then the text */
};

static size_t numbers(const struct question *q)
{
    return q->ask.levels + q->ask.horizons;
}

static char *text_of(const struct said *s)
{
    return (char *)(s->number + s->levels + s->horizons);
}

struct said *said_new(const struct question *q, size_t events, size_t revision, const char *text, size_t size)
{
    struct said *s = malloc(sizeof *s + numbers(q) * sizeof *s->number + size);
    if (!s) return NULL;
    *s = (struct said){events, revision, q->ask.levels, q->curve, q->ask.horizons, q->ask.top, size};
    memcpy(s->number, q->ask.level, s->levels * sizeof *s->number);
    memcpy(s->number + s->levels, q->ask.within, s->horizons * sizeof *s->number);
    memcpy(text_of(s), text, size);
    return s;
}

const char *said_text(const struct said *s, const struct question *q, size_t events, size_t revision, size_t *size)
{
    if (!s || q->ask.now || s->events != events || s->revision != revision || s->levels != q->ask.levels ||
        s->curve != q->curve || s->horizons != q->ask.horizons || s->top != q->ask.top ||
        memcmp(s->number, q->ask.level, s->levels * sizeof *s->number) != 0 ||
        memcmp(s->number + s->levels, q->ask.within, s->horizons * sizeof *s->number) != 0)
        return NULL;
    *size = s->size;
    return text_of(s);
}

size_t said_size(const struct said *s)
{
    return s ? sizeof *s + (s->levels + s->horizons) * sizeof *s->number + s->size : 0;
}
