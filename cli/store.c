/* store.c - see store.h: opens and closes a store, and reads from it. */
#include "store_class.h"

#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Opening ----------------------------------------------------------------------------------- */

static const struct store_class *class_of(const char *address)
{
#define ENTRY(store) &store,
    static const struct store_class *const all[] = {STORES(ENTRY)};
    size_t i = 0;
    while (!all[i]->takes(address)) i++;
    return all[i];
}

static int count_all(struct store *s)
{
    struct store_counts counts = {0};
    char words[STORE_WORDS] = "";
    enum store_outcome outcome = s->class->begin(s->own, &counts, words);
    s->sequences = counts.sequences;
    s->events = counts.events;
    if (outcome) return report_failure("the store cannot be read: %s", words);
    s->class->rollback(s->own);
    return 0;
}

int store_open(struct store **out, const struct store_options *options)
{
    struct store *s = *out = calloc(1, sizeof *s);
    bool one = false;
    if (!s) out_of_memory();
    s->o = *options;
    s->last = &s->first;
    s->class = class_of(options->address);
    pthread_mutex_init(&s->write_lock, NULL);
    pthread_mutex_init(&s->read_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->arrived, NULL);
    pthread_cond_init(&s->done, NULL);
    int status = s->class->open(&s->own, options, &one);
    s->read = one ? &s->write_lock : &s->read_lock;
    if (!status) status = count_all(s);
    if (!status && pthread_create(&s->writer, NULL, store_writer, s) != 0)
        status = report_failure("a thread cannot be started");
    s->writing = !status;
    if (!status) return 0;
    store_close(s);
    *out = NULL;
    return status;
}

void store_prune(struct store *s, const struct pruning *pruning)
{
    pthread_mutex_lock(&s->write_lock);
    if (pruning) s->pruning = *pruning;
    s->prunes = pruning != NULL;
    pthread_mutex_unlock(&s->write_lock);
}

void store_close(struct store *s)
{
    if (!s) return;
    if (s->writing) {
        pthread_mutex_lock(&s->lock);
        s->closing = true;
        pthread_cond_broadcast(&s->arrived);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->writer, NULL);
    }
    if (s->own) s->class->close(s->own);
    pthread_cond_destroy(&s->arrived);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->read_lock);
    pthread_mutex_destroy(&s->write_lock);
    free(s);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

/* Others may have written. */
static void refresh(struct store *s)
{
    struct store_counts counts;
    if (!s->class->count) return;
    pthread_mutex_lock(s->read);
    int found = s->class->count(s->own, &counts);
    pthread_mutex_unlock(s->read);
    if (found <= 0) return;
    s->sequences = counts.sequences;
    s->events = counts.events;
}

size_t store_sequences(struct store *s)
{
    refresh(s);
    return s->sequences;
}

size_t store_events(struct store *s)
{
    refresh(s);
    return s->events;
}

int store_find(struct store *s, const char *name, struct store_sequence *out)
{
    pthread_mutex_lock(s->read);
    int found = s->class->find(s->own, name, out);
    pthread_mutex_unlock(s->read);
    return found;
}

int store_read(struct store *s, const struct store_sequence *sequence, size_t n, size_t limit, store_event_fn *take,
               void *context)
{
    pthread_mutex_lock(s->read);
    int found = s->class->read(s->own, sequence, n, limit, take, context);
    pthread_mutex_unlock(s->read);
    return found;
}

int store_list(struct store *s, const char *prefix, const char *after, size_t limit, store_sequence_fn *take,
               void *context)
{
    pthread_mutex_lock(s->read);
    int found = s->class->list(s->own, prefix, after, limit, take, context);
    pthread_mutex_unlock(s->read);
    return found;
}

int store_log(struct store *s, size_t after, size_t limit, store_log_fn *take, void *context)
{
    pthread_mutex_lock(s->read);
    int found = s->class->log(s->own, after, limit, take, context);
    pthread_mutex_unlock(s->read);
    return found;
}

int store_log_of(struct store *s, const char *name, size_t after, size_t before, size_t limit, store_log_fn *take,
                 void *context)
{
    pthread_mutex_lock(s->read);
    int found = s->class->log_of(s->own, name, after, before, limit, take, context);
    pthread_mutex_unlock(s->read);
    return found;
}

/* ---- What is watched --------------------------------------------------------------------------- */

/* Ends a transaction. */
static enum store_outcome settle(struct store *s, enum store_outcome outcome, const struct store_counts *counts)
{
    char words[STORE_WORDS];
    if (!outcome) outcome = s->class->commit(s->own, counts, words);
    if (outcome) s->class->rollback(s->own);
    return outcome;
}

static enum store_outcome begin_mine(struct store *s, struct store_counts *counts)
{
    char words[STORE_WORDS];
    bool mine = false;
    enum store_outcome outcome = s->class->begin(s->own, counts, words);
    if (outcome) return outcome;
    outcome = s->class->watch_is_mine(s->own, s->token, &mine, words);
    if (!outcome && !mine) outcome = STORE_OTHER;
    if (outcome) s->class->rollback(s->own);
    return outcome;
}

enum store_outcome store_watch_begin(struct store *s, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                     store_pass_fn *pass, void *context)
{
    struct store_counts counts;
    char words[STORE_WORDS];
    unsigned char random[16] = {0};
    *out = (struct store_watch){0};
    if (getrandom(random, sizeof random, 0) < 0) return STORE_MEMORY;
    for (size_t i = 0; i < sizeof random; i++) snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    pthread_mutex_lock(&s->write_lock);
    enum store_outcome outcome = s->class->begin(s->own, &counts, words);
    if (!outcome) {
        outcome = s->class->watch_claim(s->own, s->token, words);
        if (!outcome) outcome = s->class->watch_load(s->own, out, last, alarm, pass, context, words);
        outcome = settle(s, outcome, &counts);
    }
    pthread_mutex_unlock(&s->write_lock);
    return outcome;
}

enum store_outcome store_watch_goes_on(struct store *s)
{
    struct store_counts counts;
    pthread_mutex_lock(&s->write_lock);
    enum store_outcome outcome = begin_mine(s, &counts);
    if (!outcome) s->class->rollback(s->own);
    pthread_mutex_unlock(&s->write_lock);
    return outcome;
}

enum store_outcome store_watch_save(struct store *s, const struct store_watch *watch, size_t first,
                                    const char *const *alarm, size_t count)
{
    struct store_counts counts;
    char words[STORE_WORDS];
    pthread_mutex_lock(&s->write_lock);
    enum store_outcome outcome = begin_mine(s, &counts);
    if (!outcome) outcome = settle(s, s->class->watch_save(s->own, watch, first, alarm, count, words), &counts);
    pthread_mutex_unlock(&s->write_lock);
    return outcome;
}

enum store_outcome store_watch_pass(struct store *s, size_t event, smurf_moment moment)
{
    struct store_counts counts;
    char words[STORE_WORDS];
    pthread_mutex_lock(&s->write_lock);
    enum store_outcome outcome = begin_mine(s, &counts);
    if (!outcome) outcome = settle(s, s->class->watch_pass(s->own, event, moment, words), &counts);
    pthread_mutex_unlock(&s->write_lock);
    return outcome;
}
