/*
 * store_plan.c - what becomes of events that are to be stored.
 *
 * Batches wait in a list. All that is known of their sequences and ids is read at once; then each event is decided upon
 * in memory, and a batch that is refused is undone there, event by event; then all that is left is written at once.
 * So a database sees a few statements for many requests, and holds nothing of a refused one.
 */
#include "store_class.h"

#include "fingerprint.h"

#include <stdlib.h>
#include <string.h>

struct plan {
    struct store *store;
    struct store_counts *counts;
    char *words;
    struct plan_event *event; /* of all batches, in order */
    struct plan_event **list; /* of some of them */
    struct plan_sequence *sequence, **some;
    size_t events, sequences;
    struct plan_sequence **by_name; /* open addressing; slots is a power of two */
    struct plan_event **by_id;      /* likewise: taken events that have one */
    size_t slots;
};

/* ---- Making ------------------------------------------------------------------------------------ */

static struct plan_sequence *sequence_of(struct plan *p, const char *name)
{
    size_t i = fingerprint_text(0, name) & (p->slots - 1);
    for (; p->by_name[i]; i = (i + 1) & (p->slots - 1))
        if (strcmp(p->by_name[i]->name, name) == 0) return p->by_name[i];
    p->by_name[i] = &p->sequence[p->sequences++];
    p->by_name[i]->name = name;
    return p->by_name[i];
}

static bool make(struct plan *p, const struct store_batch *first)
{
    for (const struct store_batch *b = first; b; b = b->next) p->events += b->count;
    for (p->slots = 16; p->slots < 2 * p->events; p->slots *= 2) {
    }
    p->event = calloc(p->events + 1, sizeof *p->event);
    p->list = calloc(p->events + 1, sizeof(struct plan_event *));
    p->sequence = calloc(p->events + 1, sizeof *p->sequence);
    p->some = calloc(p->events + 1, sizeof(struct plan_sequence *));
    p->by_name = calloc(p->slots, sizeof(struct plan_sequence *));
    p->by_id = calloc(p->slots, sizeof(struct plan_event *));
    if (!p->event || !p->list || !p->sequence || !p->some || !p->by_name || !p->by_id) return false;
    struct plan_event *e = p->event;
    for (const struct store_batch *b = first; b; b = b->next)
        for (size_t i = 0; i < b->count; i++, e++) {
            e->event = &b->event[i];
            e->sequence = sequence_of(p, e->event->sequence);
        }
    return true;
}

static void release(struct plan *p)
{
    free(p->event), free(p->list), free(p->sequence), free(p->some), free(p->by_name), free(p->by_id);
}

static enum store_outcome look_up(struct plan *p)
{
    const struct store_class *c = p->store->class;
    size_t n = 0;
    enum store_outcome outcome = c->find_all(p->store->own, p->sequence, p->sequences, p->words);
    for (size_t i = 0; i < p->events; i++)
        if (p->event[i].event->id && p->event[i].sequence->stored) p->list[n++] = &p->event[i];
    return outcome || !n ? outcome : c->find_ids(p->store->own, p->list, n, p->words);
}

/* ---- Deciding ---------------------------------------------------------------------------------- */

/* The place of an id among those taken: that of its event, or the free one where it would be. */
static struct plan_event **place_of_id(struct plan *p, const struct plan_event *e)
{
    size_t i = fingerprint_text((fingerprint)(e->sequence - p->sequence), e->event->id) & (p->slots - 1);
    for (; p->by_id[i]; i = (i + 1) & (p->slots - 1)) {
        const struct plan_event *other = p->by_id[i];
        if (other->sequence == e->sequence && strcmp(other->event->id, e->event->id) == 0) break;
    }
    return &p->by_id[i];
}

static int compare(const struct store_event *a, const struct store_event *b)
{
    bool same = a->at.whole == b->at.whole && a->at.fraction == b->at.fraction && strcmp(a->type, b->type) == 0;
    return same ? 1 : -1;
}

/* Times that count from 0 up to about a million are kept as they are, as in data sets (smurf_sequence.origin). */
static int64_t origin_of(smurf_moment first)
{
    const int64_t small = 1 << 20;
    return first.whole >= small || first.whole < -small ? first.whole : 0;
}

/* Of an event before the last one of its sequence. */
static enum store_outcome decide_late(struct plan *p, struct plan_event *e)
{
    const struct store_sequence *is = &e->sequence->is;
    size_t n = 1;
    if (!p->store->o.late) return STORE_LATE;
    enum store_outcome outcome = STORE_DONE;
    if (is->first) outcome = p->store->class->find_place(p->store->own, is->number, e->event->at, &n, p->words);
    if (outcome) return outcome;
    return n ? STORE_DONE : STORE_PRUNED;
}

static enum store_outcome decide(struct plan *p, struct plan_event *e, struct store_batch *b)
{
    struct store_sequence *is = &e->sequence->is;
    struct plan_event **id = e->event->id ? place_of_id(p, e) : NULL;
    int known = e->known;
    if (!known && id && *id && (*id)->taken) known = compare((*id)->event, e->event);
    if (known < 0) return STORE_CONFLICT;
    if (known > 0) {
        b->duplicates++;
        return STORE_DONE;
    }
    e->before = *is;
    if (!is->number) {
        if (p->counts->sequences >= p->store->o.most) return STORE_MANY;
        e->begins = true;
        *is = (struct store_sequence){.number = (int64_t)++p->counts->sequences, .origin = origin_of(e->event->at)};
        is->last = e->event->at;
    }
    b->last = is->last;
    e->late = smurf_moment_gap(is->last, e->event->at) < 0;
    enum store_outcome outcome = e->late ? decide_late(p, e) : STORE_DONE;
    if (outcome) return outcome;
    if (e->late)
        is->revision++;
    else
        is->last = e->event->at;
    e->n = is->events++;
    e->taken = true;
    if (id) *id = e;
    b->accepted++;
    return STORE_DONE;
}

static bool is_refusal(enum store_outcome outcome)
{
    return outcome == STORE_LATE || outcome == STORE_PRUNED || outcome == STORE_CONFLICT || outcome == STORE_MANY;
}

/* The i-th event was refused, and so are those before it. */
static void undo(struct plan *p, struct plan_event *event, size_t i)
{
    for (; i--;) {
        struct plan_event *e = &event[i];
        if (!e->taken) continue;
        e->taken = false;
        e->sequence->is = e->before;
        if (e->begins) p->counts->sequences--;
    }
}

static enum store_outcome decide_batch(struct plan *p, struct store_batch *b, struct plan_event *event)
{
    b->outcome = STORE_DONE;
    b->accepted = b->duplicates = 0;
    for (b->at = 0; b->at < b->count; b->at++) {
        b->outcome = decide(p, &event[b->at], b);
        if (b->outcome) break;
    }
    if (!b->outcome) return STORE_DONE;
    b->accepted = b->duplicates = 0;
    undo(p, event, b->at);
    return is_refusal(b->outcome) ? STORE_DONE : b->outcome;
}

/* ---- Writing ----------------------------------------------------------------------------------- */

/* The events in their order. One that is late takes its place when those before it are there. */
static enum store_outcome add_events(struct plan *p)
{
    const struct store_class *c = p->store->class;
    void *own = p->store->own;
    enum store_outcome outcome = STORE_DONE;
    size_t n = 0;
    for (size_t i = 0; i < p->events && !outcome; i++) {
        struct plan_event *e = &p->event[i];
        if (!e->taken) continue;
        e->sequence->changed = true;
        e->number = ++p->counts->events;
        if (e->late) {
            if (n) outcome = c->add_events(own, p->list, n, p->words);
            n = 0;
            if (!outcome) outcome = c->find_place(own, e->sequence->is.number, e->event->at, &e->n, p->words);
            if (!outcome) outcome = c->shift(own, e->sequence->is.number, e->n, p->words);
        }
        p->list[n++] = e;
    }
    return outcome || !n ? outcome : c->add_events(own, p->list, n, p->words);
}

/* Events are pruned when they are a quarter of what is kept, so that this is seldom. What is still to be looked at for
   alarms needs its history, too. */
static enum store_outcome prune(struct plan *p, struct plan_sequence *s)
{
    enum { SLACK = 16 };
    const struct store_class *c = p->store->class;
    size_t n = s->is.events, first = pruning_first(&p->store->pruning, n);
    if (first < s->is.first + SLACK || first - s->is.first < (n - first) / 4) return STORE_DONE;
    enum store_outcome outcome = c->find_unseen(p->store->own, s->is.number, &n, p->words);
    if (outcome) return outcome;
    first = pruning_first(&p->store->pruning, n);
    if (first <= s->is.first) return STORE_DONE;
    s->is.first = first;
    return c->prune(p->store->own, s->is.number, first, p->words);
}

static enum store_outcome write_all(struct plan *p)
{
    size_t n = 0;
    enum store_outcome outcome = add_events(p);
    for (size_t i = 0; i < p->sequences && !outcome; i++) {
        struct plan_sequence *s = &p->sequence[i];
        if (!s->changed) continue;
        if (p->store->prunes) outcome = prune(p, s);
        p->some[n++] = s;
    }
    return outcome || !n ? outcome : p->store->class->put_sequences(p->store->own, p->some, n, p->words);
}

enum store_outcome store_plan(struct store *store, struct store_batch *first, struct store_counts *counts, char *words)
{
    struct plan p = {.store = store, .counts = counts, .words = words};
    enum store_outcome outcome = make(&p, first) ? look_up(&p) : STORE_MEMORY;
    struct plan_event *event = p.event;
    for (struct store_batch *b = first; b && !outcome; event += b->count, b = b->next)
        outcome = decide_batch(&p, b, event);
    if (!outcome) outcome = write_all(&p);
    release(&p);
    return outcome;
}
