/* past_columns.c - see past_columns.h. */
#include "forecast/past_columns.h"

#include <stdlib.h>
#include <string.h>

bool smurf_past_columns_init(struct past_columns *p, size_t columns)
{
    *p = (struct past_columns){.columns = columns};
    if (!columns) return true;
    p->type = calloc(PAST_ROWS, sizeof *p->type);
    p->row = calloc(PAST_ROWS * columns, sizeof *p->row);
    return p->type && p->row;
}

void smurf_past_columns_release(struct past_columns *p)
{
    free(p->type);
    free(p->row);
    *p = (struct past_columns){0};
}

static size_t held(const struct past_columns *p)
{
    return p->events < PAST_ROWS ? p->events : PAST_ROWS;
}

void smurf_past_columns_add(struct past_columns *p, uint32_t type, const float *row)
{
    if (!p->columns) return;
    size_t place = p->events++ % PAST_ROWS;
    p->type[place] = type;
    memcpy(p->row + place * p->columns, row, p->columns * sizeof *row);
}

void smurf_past_columns_copy(struct past_columns *to, const struct past_columns *from)
{
    if (!from->columns) return;
    to->events = from->events;
    memcpy(to->type, from->type, held(from) * sizeof *to->type);
    memcpy(to->row, from->row, held(from) * from->columns * sizeof *to->row);
}

const float *smurf_past_columns_draw(const struct past_columns *p, uint32_t type, double u)
{
    size_t n = held(p), same = 0;
    if (!p->columns || !n) return NULL;
    for (size_t i = 0; i < n; i++) same += p->type[i] == type;
    size_t left = (size_t)(u * (double)(same ? same : n)), i = 0;
    for (; i + 1 < n; i++)
        if ((!same || p->type[i] == type) && left-- == 0) break;
    while (same && p->type[i] != type) i--; /* u was 1 but for rounding */
    return p->row + i * p->columns;
}

size_t smurf_past_columns_pack(const struct past_columns *p, void *out)
{
    const uint64_t events = p->events;
    size_t types = held(p) * sizeof *p->type, rows = held(p) * p->columns * sizeof *p->row;
    if (!p->columns) return 0;
    if (out) {
        char *at = mempcpy(out, &events, sizeof events);
        at = mempcpy(at, p->type, types);
        memcpy(at, p->row, rows);
    }
    return sizeof events + types + rows;
}

size_t smurf_past_columns_unpack(struct past_columns *p, const void *bytes, size_t n)
{
    uint64_t events;
    const char *at = bytes;
    if (n < sizeof events) return 0;
    memcpy(&events, at, sizeof events);
    p->events = (size_t)events;
    size_t types = held(p) * sizeof *p->type, rows = held(p) * p->columns * sizeof *p->row;
    if (events > SIZE_MAX / 4 || n - sizeof events < types + rows) return 0;
    memcpy(p->type, at += sizeof events, types);
    memcpy(p->row, at + types, rows);
    return sizeof events + types + rows;
}
