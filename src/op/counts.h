/*
 * counts.h - memory on many scales: decayed counts of the events of a sequence.
 *
 *     S_{m,k} <- S_{m,k} e^{-dt / s_m} + [type = k]          on scales s_1 .. s_COUNT_SCALES, at each event
 *
 * After an event, a model sees ln(1 + S_m) of all types together, and ln(1 + S_{m,k}) of the types in its slots. With
 * up to COUNT_TYPES types, each has its slot. With more, a type takes one when it occurs, from the type that has not
 * occurred for longest, whose counts are forgotten: state and work per event are bounded, whatever the types.
 *
 * Counts begin anew with each sequence of a batch. They are data: they have no gradient.
 */
#ifndef SMURF_OP_COUNTS_H
#define SMURF_OP_COUNTS_H

#include "op/op.h"

/* Short names; see op.h. */
#define counts_add OP(counts_add)

enum { COUNT_SCALES = 10, COUNT_TYPES = 24, COUNT_SLOTS = 64 };

/* Whether every type has a slot of its own, the one of its number. */
static inline bool counts_have_all(size_t types)
{
    return types <= COUNT_TYPES;
}
/* Number of slots. */
static inline size_t counts_slots(size_t types)
{
    return types < COUNT_SLOTS ? types : COUNT_SLOTS;
}
/* Numbers that the encoder sees of an event: those of all types together, then those of each type that has a slot of
   its own. */
static inline size_t counts_inputs(size_t types)
{
    return COUNT_SCALES * (1 + (counts_have_all(types) ? types : 0));
}

/* After the last event. All zero: none yet. Without pointers or padding, so it can be copied as bytes. */
struct counts {
    double time;                                /* of the last event */
    uint64_t events, last[COUNT_SLOTS];         /* number of events; that of the slot's last */
    real sum[(1 + COUNT_SLOTS) * COUNT_SCALES]; /* S of all types together, then of each slot */
    uint32_t type[COUNT_SLOTS];                 /* of the first `used` slots */
    uint32_t used;
    uint32_t padding;
};

/* What is seen of n events. */
struct count_rows {
    size_t types, inputs, slots;
    real *input; /* (n x inputs) */
    /* Unless every type has its slot, in which case slots follow the first COUNT_SCALES inputs: */
    real *slot;     /* (n x slots x COUNT_SCALES); 0 in unused slots */
    uint32_t *type; /* (n x slots); 0 in unused slots */
};

static inline struct count_rows counts_take(struct workspace *w, size_t types, size_t n)
{
    struct count_rows r = {.types = types, .inputs = counts_inputs(types), .slots = counts_slots(types)};
    r.input = op_take(w, n * r.inputs);
    if (counts_have_all(types)) return r;
    r.slot = op_take(w, n * r.slots * COUNT_SCALES);
    r.type = workspace_take(w, n * r.slots, sizeof *r.type);
    return r;
}

/* ln(1 + S) of the slots after event i, (slots x COUNT_SCALES); and the type in a slot. */
static inline const real *counts_slot(const struct count_rows *r, size_t i)
{
    return r->slot ? r->slot + i * r->slots * COUNT_SCALES : r->input + i * r->inputs + COUNT_SCALES;
}
static inline uint32_t counts_type(const struct count_rows *r, size_t i, size_t slot)
{
    return r->type ? r->type[i * r->slots + slot] : (uint32_t)slot;
}

/* Adds an event, and writes row i. rate: 1/s_m per unit of time. A type that is not below `types` counts only among all
   together. */
void counts_add(struct counts *counts, const double rate[COUNT_SCALES], size_t types, uint32_t type, double time,
                const struct count_rows *rows, size_t i);

#endif
