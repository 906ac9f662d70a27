/* alarm_log.c - see alarm_log.h. */
#include "alarm_log.h"

#include "alarm_bars.h"
#include "http.h"
#include "option.h"
#include "terminal.h"
#include "watched.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEPT = 10000, PORTION = 500, QUIET_SECONDS = 10 };

struct alarm_log {
    const smurf_model *model;
    const struct types *types;
    struct store *store;
    int calendar;
    struct watched watched; /* of the thread */
    pthread_t thread;
    atomic_bool ending;
    atomic_size_t looked_at; /* the number of the last event */
    pthread_mutex_t lock;
    char *text[KEPT]; /* alarm n is text[n % KEPT] */
    size_t count;
};

static void keep(void *context, const struct alarm *a)
{
    struct alarm_log *l = context;
    char *text = NULL, name[24];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    alarm_json(out, a, a->type < 0 ? NULL : type_text(name, l->model, a->type), l->calendar);
    fclose(out);
    pthread_mutex_lock(&l->lock);
    free(l->text[l->count % KEPT]);
    l->text[l->count++ % KEPT] = text;
    pthread_mutex_unlock(&l->lock);
}

struct noted {
    char *sequence;
    int64_t origin;
    double time;
    uint32_t type;
    size_t number;
};
struct portion {
    struct alarm_log *log;
    struct noted event[PORTION];
    size_t count;
};

/* Copies an event, so that the store is free while it is looked at. */
static int note(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at, const char *type)
{
    struct portion *p = context;
    uint32_t types = smurf_model_types(p->log->model), known = types_find(p->log->types, type);
    char *name = strdup(sequence);
    if (!name) return 1;
    p->event[p->count++] = (struct noted){name, origin, (double)(at.whole - origin) + at.fraction,
                                          known < types ? known : types_find(p->log->types, "other"), number};
    return 0;
}

/* An event that cannot be looked at raises no alarms, and is left out. */
static void look_at(struct alarm_log *l, struct portion *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct noted *e = &p->event[i];
        smurf_error err;
        if (!l->ending) watched_event(&l->watched, e->sequence, e->origin, e->time, e->type, &err);
        l->looked_at = e->number;
        free(p->event[i].sequence);
    }
}

/* With dates, what is silent becomes overdue as time passes. Events move time themselves; and while old ones are sent,
   which takes many requests, it must not run ahead of them. */
static void pass_time(struct alarm_log *l, time_t quiet)
{
    struct timespec now;
    if (!l->calendar || !l->watched.begun || quiet < QUIET_SECONDS) return;
    clock_gettime(CLOCK_REALTIME, &now);
    smurf_moment moment = {now.tv_sec, (double)now.tv_nsec / 1e9};
    if (smurf_moment_gap(l->watched.now, moment) > 0) watched_pass(&l->watched, moment);
}

static time_t steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void *follow(void *context)
{
    struct alarm_log *l = context;
    time_t latest = steady_seconds();
    struct portion *p = calloc(1, sizeof *p);
    while (p && !l->ending) {
        p->log = l;
        p->count = 0;
        store_log(l->store, l->looked_at, PORTION, note, p);
        look_at(l, p);
        if (p->count) latest = steady_seconds();
        if (p->count == PORTION) continue;
        pass_time(l, steady_seconds() - latest);
        store_wait(l->store, l->looked_at);
    }
    free(p);
    return NULL;
}

int alarm_log_new(struct alarm_log **out, const smurf_model *model, const struct types *types, struct store *store,
                  const struct serve_options *o)
{
    struct alarm_log *l = *out = calloc(1, sizeof *l);
    if (!l) out_of_memory();
    l->model = model;
    l->types = types;
    l->store = store;
    l->calendar = smurf_model_is_calendar(model);
    l->watched = (struct watched){.model = model, .seed = common.seed, .raise = keep, .context = l};
    l->watched.alarms = alarm_bars(model, o->per_day, o->day, 0);
    l->watched.kept = (struct kept_set){.model = model, .history = o->history, .raw = o->raw, .most = o->sequences};
    pthread_mutex_init(&l->lock, NULL);
    if (pthread_create(&l->thread, NULL, follow, l) == 0) return 0;
    watched_release(&l->watched);
    free(l);
    *out = NULL;
    return report_failure("a thread cannot be started");
}

void alarm_log_free(struct alarm_log *l)
{
    if (!l) return;
    l->ending = true;
    store_wake(l->store);
    pthread_join(l->thread, NULL);
    watched_release(&l->watched);
    for (size_t i = 0; i < KEPT; i++) free(l->text[i]);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

size_t alarm_log_count(struct alarm_log *l)
{
    pthread_mutex_lock(&l->lock);
    size_t count = l->count;
    pthread_mutex_unlock(&l->lock);
    return count;
}

void alarm_log_show(struct alarm_log *l, FILE *out, size_t after, size_t limit)
{
    pthread_mutex_lock(&l->lock);
    size_t first = l->count > KEPT ? l->count - KEPT : 0;
    if (after > first) first = after < l->count ? after : l->count;
    size_t end = l->count - first > limit ? first + limit : l->count;
    fputs("{\"alarms\":[", out);
    for (size_t i = first; i < end; i++) {
        const char *text = l->text[i % KEPT];
        fprintf(out, "%s{\"number\":%zu,%s", i > first ? "," : "", i + 1, text ? text + 1 : "\"alarm\":null}");
    }
    pthread_mutex_unlock(&l->lock);
    size_t stored = store_events(l->store), looked_at = l->looked_at;
    fprintf(out, "],\"next\":%zu,\"behind\":%zu}\n", end, stored > looked_at ? stored - looked_at : 0);
}
