/* alarm_log.c - see alarm_log.h. */
#include "alarm_log.h"

#include "alarm_bars.h"
#include "fingerprint.h"
#include "held.h"
#include "http.h"
#include "live.h"
#include "option.h"
#include "terminal.h"
#include "watched.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEPT = 10000,
    PORTION = 500,
    QUIET_SECONDS = 5,
    SAVE_SECONDS = 60,
    SAVE_SHARE = 20, /* of the time saving may take one part, if it takes long */
};

/* Time had come to a moment after an event, and something was overdue. */
struct pass {
    size_t event;
    smurf_moment moment;
};

struct alarm_log {
    const smurf_model *model;
    const struct types *types;
    struct store *store;
    int calendar;
    struct watched watched; /* of the thread */
    pthread_t thread;
    bool following; /* it runs */
    atomic_bool ending;
    atomic_size_t looked_at; /* the number of the last event */
    pthread_mutex_t lock;
    char *text[KEPT]; /* alarm n is text[n % KEPT] */
    size_t count;
    const struct serve_options *o;
    bool durable, replaced; /* the store is a database; another service watches it now */
    struct pass *pass;      /* to be made again */
    size_t passes, passed;
    size_t saved_alarms, saved_event; /* with the state in the store */
    time_t saved, saving;             /* when, and how long it took */
    size_t looking_at;
    bool unread; /* a history could not be read, and so the event was not looked at */
    struct held held;
    struct live *live;
};

/* Tells those who listen, as alarm_log_show() has it. */
static void tell(struct alarm_log *l, size_t number, const char *text)
{
    char *numbered;
    if (asprintf(&numbered, "{\"number\":%zu,%s", number, text + 1) < 0) return;
    live_tell(l->live, "alarm", numbered);
    free(numbered);
}

static void keep(void *context, const struct alarm *a)
{
    struct alarm_log *l = context;
    char *text = NULL, name[24];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    alarm_json(out, a, a->type < 0 ? NULL : type_text(name, l->model, a->type), l->calendar);
    fclose(out);
    tell(l, l->count + 1, text);
    pthread_mutex_lock(&l->lock);
    free(l->text[l->count % KEPT]);
    l->text[l->count++ % KEPT] = text;
    pthread_mutex_unlock(&l->lock);
}

static void count_gap(void *context, const smurf_surprise *surprise, smurf_moment at)
{
    struct alarm_log *l = context;
    pthread_mutex_lock(&l->lock);
    held_add(&l->held, at, surprise->pit);
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
    bool cut; /* out of memory: there are more */
};

/* The number of a type; unknown ones are `other`. */
static uint32_t known_type(const struct alarm_log *l, const char *type)
{
    uint32_t known = types_find(l->types, type);
    return known < smurf_model_types(l->model) ? known : types_find(l->types, "other");
}

/* Copies an event, so that the store is free while it is looked at. */
static int note(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at, const char *type)
{
    struct portion *p = context;
    char *name = strdup(sequence);
    if (!name) return p->cut = true;
    p->event[p->count++] =
        (struct noted){name, origin, (double)(at.whole - origin) + at.fraction, known_type(p->log, type), number};
    return 0;
}

/* Makes the passes again that came before an event. */
static void pass_again(struct alarm_log *l, size_t event)
{
    for (; l->passed < l->passes && l->pass[l->passed].event < event; l->passed++)
        watched_pass(&l->watched, l->pass[l->passed].moment);
}

/* ---- Histories --------------------------------------------------------------------------------- */

struct history {
    struct alarm_log *log;
    const struct kept *kept;
    double *time;
    uint32_t *type;
    size_t count, room, number; /* number: of the last event */
    bool no_memory;
};

/* Leaves out what was inserted late, as look_at() did. */
static int take_past(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at,
                     const char *type)
{
    struct history *h = context;
    double time = (double)(at.whole - h->kept->origin) + at.fraction;
    (void)sequence, (void)origin;
    h->number = number;
    if (h->count && time < h->time[h->count - 1]) return 0;
    if (h->count == h->room) {
        h->room = h->room ? 2 * h->room : 64;
        double *times = realloc(h->time, h->room * sizeof *times);
        if (times) h->time = times;
        uint32_t *types = realloc(h->type, h->room * sizeof *types);
        if (types) h->type = types;
        if (!times || !types) return h->no_memory = true;
    }
    h->time[h->count] = time;
    h->type[h->count++] = known_type(h->log, type);
    return 0;
}

/* Into the forecast. Where the first ones are pruned it begins in the middle (pruning.h). */
static smurf_status put_history(const struct history *h, struct kept *k, smurf_error *err)
{
    smurf_forecast_clear(k->forecast, k->origin);
    k->before = k->away > h->count ? k->away - h->count : 0;
    const smurf_sequence cut = {
        .time = h->time, .type = h->type, .length = 1, .origin = k->origin, .before = k->before};
    smurf_status status = k->before && h->count ? smurf_forecast_read(k->forecast, &cut, 1, err) : SMURF_OK;
    for (size_t i = k->before ? 1 : 0; i < h->count && !status; i++)
        status = smurf_forecast_append(k->forecast, h->time[i], h->type[i], err);
    return status;
}

/* The events of a sequence before the one that is looked at. While the store is away there is nothing to do but wait.
 */
static smurf_status recall(void *context, struct kept *k, smurf_error *err)
{
    const struct timespec second = {1, 0};
    struct alarm_log *l = context;
    struct history h = {.log = l, .kept = k};
    int found = 1;
    while (found && !h.no_memory && !l->ending) {
        found = store_log_of(l->store, k->name, h.number, l->looking_at, PORTION, take_past, &h);
        if (found < 0) nanosleep(&second, NULL);
    }
    *err = (smurf_error){.status = SMURF_ERROR_IO, .message = "the history is not there"};
    l->unread = found || h.no_memory;
    smurf_status status = l->unread ? SMURF_ERROR_IO : put_history(&h, k, err);
    free(h.time);
    free(h.type);
    return status;
}

/* An event that cannot be looked at raises no alarms, and is left out: so is one that was inserted late. */
static void look_at(struct alarm_log *l, struct portion *p)
{
    l->unread = false;
    for (size_t i = 0; i < p->count; i++) {
        const struct noted *e = &p->event[i];
        smurf_error err;
        if (!l->ending && !l->unread) {
            pass_again(l, e->number);
            l->looking_at = e->number;
            watched_event(&l->watched, e->sequence, e->origin, e->time, e->type, NULL, &err);
            if (!l->unread) l->looked_at = e->number;
        }
        free(p->event[i].sequence);
    }
}

/* False: not now, or never again. */
static bool is_noted(struct alarm_log *l, enum store_outcome outcome)
{
    if (outcome == STORE_OTHER && !l->replaced) {
        report_warning("another service raises the alarms of this store now: this one raises no more");
        l->replaced = true;
    }
    return outcome == STORE_DONE;
}

/* Whether to look at the events: not if another service does by now. */
static bool goes_on(struct alarm_log *l, struct portion *p)
{
    if (!p->count || !l->durable || is_noted(l, store_watch_goes_on(l->store))) return true;
    while (p->count) free(p->event[--p->count].sequence);
    return false;
}

/* With dates, what is silent becomes overdue as time passes. Events move time themselves; and while old ones are sent,
   which takes many requests, it must not run ahead of them. The moment is stored first: what time has raised does not
   follow from the events. */
static void pass_time(struct alarm_log *l, time_t quiet)
{
    struct timespec now;
    if (!l->calendar || !l->watched.begun || quiet < QUIET_SECONDS) return;
    clock_gettime(CLOCK_REALTIME, &now);
    smurf_moment moment = {now.tv_sec, (double)now.tv_nsec / 1e9};
    if (smurf_moment_gap(l->watched.now, moment) <= 0 || !watched_is_due(&l->watched, moment)) return;
    if (l->durable && !is_noted(l, store_watch_pass(l->store, l->looked_at, moment))) return;
    watched_pass(&l->watched, moment);
}

static time_t steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ---- State ------------------------------------------------------------------------------------- */

/* Saves the state (how forecasts have held, and what is watched) and the alarms since the last one. What is not saved
   is found again from the events. */
static void save(struct alarm_log *l)
{
    time_t began = steady_seconds();
    struct store_watch watch = {.event = l->looked_at, .alarms = l->count};
    size_t first = l->count - l->saved_alarms > KEPT ? l->count - KEPT : l->saved_alarms, n = 0;
    const char **text = calloc(l->count - first + 1, sizeof(char *));
    char *bytes = NULL;
    smurf_error err;
    FILE *out = open_memstream(&bytes, &watch.size);
    bool good = text && out && fwrite(&l->held, sizeof l->held, 1, out) == 1 && !watched_write(&l->watched, out, &err);
    if (out && fclose(out) != 0) good = false;
    for (size_t i = first; good && i < l->count; i++, n++) {
        text[n] = l->text[i % KEPT];
        good = text[n] != NULL;
    }
    watch.state = bytes;
    if (good && is_noted(l, store_watch_save(l->store, &watch, first + 1, text, n))) {
        l->saved_alarms = watch.alarms;
        l->saved_event = watch.event;
    }
    free(text);
    free(bytes);
    l->saved = steady_seconds();
    l->saving = l->saved - began;
}

static void save_if_old(struct alarm_log *l)
{
    time_t wait = SAVE_SHARE * l->saving > SAVE_SECONDS ? SAVE_SHARE * l->saving : SAVE_SECONDS;
    if (!l->durable || l->replaced || l->passed < l->passes) return;
    if (l->looked_at == l->saved_event && l->count == l->saved_alarms) return;
    if (l->ending || steady_seconds() - l->saved >= wait) save(l);
}

static int take_text(void *context, size_t number, const char *text)
{
    struct alarm_log *l = context;
    char **place = &l->text[(number - 1) % KEPT];
    free(*place);
    *place = strdup(text);
    return *place == NULL;
}

static int take_pass(void *context, size_t event, smurf_moment moment)
{
    struct alarm_log *l = context;
    struct pass *more = realloc(l->pass, (l->passes + 1) * sizeof *more);
    if (!more) return 1;
    l->pass = more;
    l->pass[l->passes++] = (struct pass){event, moment};
    return 0;
}

static void begin_anew(struct alarm_log *l)
{
    const struct serve_options *o = l->o;
    l->watched =
        (struct watched){.model = l->model, .seed = common.seed, .raise = keep, .seen = count_gap, .context = l};
    l->watched.recall = recall;
    l->watched.alarms = alarm_bars(l->model, o->per_day, o->day, 0);
    l->watched.kept = (struct kept_set){.model = l->model, .history = o->history, .raw = o->raw, .most = o->sequences};
    fingerprint f = fingerprint_text(fingerprint_text(0, o->per_day), o->day ? o->day : "");
    l->watched.options = fingerprint_number(fingerprint_number(f, o->history), o->raw ? 1u : 0u);
}

/* A state of other options or of another model is dropped. */
static int take_state(struct alarm_log *l, const struct store_watch *watch)
{
    struct held held;
    smurf_error err;
    FILE *in = fmemopen(watch->state, watch->size, "rb");
    bool good =
        in && fread(&held, sizeof held, 1, in) == 1 && !watched_read(&l->watched, in, "the state of the alarms", &err);
    if (in) fclose(in);
    if (good) {
        l->held = held;
        l->looked_at = l->saved_event = watch->event;
        l->count = l->saved_alarms = watch->alarms;
        return 0;
    }
    const struct store_watch none = {0};
    report_warning("the model or the options have changed: the alarms are found anew from the stored events");
    watched_release(&l->watched);
    begin_anew(l);
    l->passes = 0;
    return store_watch_save(l->store, &none, 1, NULL, 0) ? report_failure("the store cannot be written") : 0;
}

static int load(struct alarm_log *l)
{
    struct store_watch watch;
    int status = 0;
    if (store_watch_begin(l->store, &watch, KEPT, take_text, take_pass, l))
        status = report_failure("the state of the alarms cannot be read from the store");
    else if (watch.state)
        status = take_state(l, &watch);
    free(watch.state);
    return status;
}

/* ---- The thread -------------------------------------------------------------------------------- */

static void *follow(void *context)
{
    struct alarm_log *l = context;
    time_t latest = steady_seconds();
    struct portion *p = calloc(1, sizeof *p);
    l->saved = latest;
    while (p && !l->ending && !l->replaced) {
        p->log = l;
        p->count = 0;
        p->cut = false;
        int found = store_log(l->store, l->looked_at, PORTION, note, p);
        if (!goes_on(l, p)) found = -1;
        look_at(l, p);
        save_if_old(l);
        if (p->count) latest = steady_seconds();
        if (p->count == PORTION && !l->unread) continue;
        if (found >= 0 && !p->cut && !l->unread) {
            pass_again(l, SIZE_MAX);
            pass_time(l, steady_seconds() - latest);
        }
        store_wait(l->store, l->looked_at);
    }
    save_if_old(l);
    free(p);
    return NULL;
}

int alarm_log_new(struct alarm_log **out, const smurf_model *model, const struct types *types, struct store *store,
                  const struct serve_options *o, struct live *live)
{
    struct alarm_log *l = *out = calloc(1, sizeof *l);
    if (!l) return report_failure("out of memory");
    l->model = model;
    l->types = types;
    l->store = store;
    l->calendar = smurf_model_is_calendar(model);
    l->o = o;
    l->durable = o->store != NULL;
    l->live = live;
    l->held.hour = alarm_day(model, o->day) / 24;
    pthread_mutex_init(&l->lock, NULL);
    begin_anew(l);
    int status = l->durable ? load(l) : 0;
    if (!status) return 0;
    alarm_log_free(l);
    *out = NULL;
    return status;
}

int alarm_log_start(struct alarm_log *l)
{
    l->ending = false;
    l->following = pthread_create(&l->thread, NULL, follow, l) == 0;
    return l->following ? 0 : report_failure("a thread cannot be started");
}

void alarm_log_stop(struct alarm_log *l)
{
    if (!l->following) return;
    l->ending = true;
    store_wake(l->store);
    pthread_join(l->thread, NULL);
    l->following = false;
}

void alarm_log_free(struct alarm_log *l)
{
    if (!l) return;
    alarm_log_stop(l);
    watched_release(&l->watched);
    for (size_t i = 0; i < KEPT; i++) free(l->text[i]);
    free(l->pass);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void alarm_log_held(struct alarm_log *l, FILE *out, size_t hours)
{
    pthread_mutex_lock(&l->lock);
    held_show(&l->held, out, hours, l->calendar);
    pthread_mutex_unlock(&l->lock);
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
