/* Compiled twice, for float and for double: see op/op.h. */
/* counts.c - see counts.h. All slots decay at each event, so that they share the COUNT_SCALES exponentials. */
#include "op/counts.h"

#include "base/clones.h"
#include "op/real.h"

#include <string.h>

/* Smaller counts are 0: numbers without leading digits are slow. */
#define LEAST ((real)1e-20)

/* sum (n x COUNT_SCALES) times factor. */
OP_CLONES
static void decay(size_t n, const real *restrict factor, real *restrict sum)
{
    for (size_t k = 0; k < n; k++)
        for (size_t m = 0; m < COUNT_SCALES; m++) {
            real s = sum[k * COUNT_SCALES + m] * factor[m];
            sum[k * COUNT_SCALES + m] = s < LEAST ? 0 : s;
        }
}

OP_CLONES
static void logarithms(size_t n, const real *restrict sum, real *restrict out)
{
    for (size_t i = 0; i < n; i++) out[i] = log_real(1 + sum[i]);
}

/* The slot of a type that occurs. */
static size_t slot_of(struct counts *c, size_t types, uint32_t type)
{
    size_t oldest = 0, slot = 0;
    if (counts_have_all(types)) {
        c->used = (uint32_t)types;
        return type;
    }
    while (slot < c->used && c->type[slot] != type) slot++;
    if (slot < c->used) return slot;
    if (slot < counts_slots(types)) {
        c->used++;
    } else {
        for (size_t k = 1; k < slot; k++) oldest = c->last[k] < c->last[oldest] ? k : oldest;
        slot = oldest;
    }
    c->type[slot] = type;
    memset(c->sum + (1 + slot) * COUNT_SCALES, 0, COUNT_SCALES * sizeof *c->sum);
    return slot;
}

static void count(struct counts *c, size_t row)
{
    for (size_t m = 0; m < COUNT_SCALES; m++) c->sum[row * COUNT_SCALES + m] += 1;
}

static void write_row(const struct counts *c, size_t types, const struct count_rows *rows, size_t i)
{
    size_t used = c->used * COUNT_SCALES;
    real *input = rows->input + i * rows->inputs, *slot = (real *)counts_slot(rows, i);
    logarithms(COUNT_SCALES, c->sum, input);
    logarithms(used, c->sum + COUNT_SCALES, slot);
    memset(slot + used, 0, (rows->slots * COUNT_SCALES - used) * sizeof *slot);
    if (counts_have_all(types)) return;
    memcpy(rows->type + i * rows->slots, c->type, c->used * sizeof *c->type);
    memset(rows->type + i * rows->slots + c->used, 0, (rows->slots - c->used) * sizeof *c->type);
}

void counts_add(struct counts *c, const double rate[COUNT_SCALES], size_t types, uint32_t type, double time,
                const struct count_rows *rows, size_t i)
{
    real factor[COUNT_SCALES];
    double gap = c->events ? time - c->time : 0;
    for (size_t m = 0; m < COUNT_SCALES; m++) factor[m] = exp_real((real)(-gap * rate[m]));
    decay(1 + c->used, factor, c->sum);
    c->time = time;
    c->events++;
    count(c, 0);
    if (type < types) {
        size_t slot = slot_of(c, types, type);
        c->last[slot] = c->events;
        count(c, 1 + slot);
    }
    write_row(c, types, rows, i);
}
