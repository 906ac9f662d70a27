/*
 * store_write.c - the thread that writes to a store.
 *
 * It takes the batches that wait and stores them in one transaction; a batch that is refused leaves nothing, and the
 * others stay (store_plan.c). Callers are told after the commit, which syncs the disk. If the commit fails nothing of
 * the group is stored, and all of it is refused.
 */
#include "store_class.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    WAITING_MOST = 1000000, /* events; beyond, callers are turned away */
    GROUP_MOST = 20000,     /* events of a transaction, if several requests make that many */
};

static void put_group(struct store *s, struct store_batch *first)
{
    const struct store_class *c = s->class;
    struct store_counts counts;
    char words[STORE_WORDS] = "";
    pthread_mutex_lock(&s->write_lock);
    enum store_outcome outcome = c->begin(s->own, &counts, words);
    if (!outcome) {
        outcome = store_plan(s, first, &counts, words);
        if (!outcome) outcome = c->commit(s->own, &counts, words);
        if (outcome) c->rollback(s->own);
    }
    pthread_mutex_unlock(&s->write_lock);
    for (struct store_batch *b = first; b && outcome; b = b->next) {
        b->outcome = outcome;
        b->accepted = b->duplicates = 0;
        memcpy(b->words, words, sizeof b->words);
    }
    if (outcome) return;
    s->sequences = counts.sequences;
    s->events = counts.events;
}

/* What waits first, up to GROUP_MOST events. */
static struct store_batch *take_group(struct store *s)
{
    struct store_batch *group = s->first, *b = group;
    size_t events = b->count;
    for (; b->next && events + b->next->count <= GROUP_MOST; b = b->next) events += b->next->count;
    s->first = b->next;
    b->next = NULL;
    if (!s->first) s->last = &s->first;
    s->waiting -= events;
    return group;
}

void *store_writer(void *context)
{
    struct store *s = context;
    pthread_mutex_lock(&s->lock);
    while (s->first || !s->closing) {
        if (!s->first) {
            pthread_cond_wait(&s->arrived, &s->lock);
            continue;
        }
        struct store_batch *group = take_group(s);
        pthread_mutex_unlock(&s->lock);
        put_group(s, group);
        pthread_mutex_lock(&s->lock);
        for (struct store_batch *b = group, *next; b; b = next) {
            next = b->next;
            b->finished = true; /* from here on it belongs to its caller */
        }
        pthread_cond_broadcast(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void store_put(struct store *s, struct store_batch *b)
{
    b->finished = false;
    b->next = NULL;
    b->accepted = b->duplicates = 0;
    pthread_mutex_lock(&s->lock);
    if (s->waiting && s->waiting + b->count > WAITING_MOST) {
        b->outcome = STORE_BUSY;
    } else {
        s->waiting += b->count;
        *s->last = b;
        s->last = &b->next;
        pthread_cond_signal(&s->arrived);
        while (!b->finished) pthread_cond_wait(&s->done, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void store_wake(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    s->woken = true;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}

void store_wait(struct store *s, size_t number)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&s->lock);
    if (s->events <= number && !s->woken) pthread_cond_timedwait(&s->done, &s->lock, &until);
    s->woken = false; /* the one who waited looks why */
    pthread_mutex_unlock(&s->lock);
}
