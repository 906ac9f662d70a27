/*
 * live_follow.c - tells listeners of new events, and of the forecasts that follow from them.
 *
 * A thread follows the store while anybody listens. It rests between portions, and of many events at a time tells the
 * last ones only: what listeners can show is bounded, and so is what they cost. Events are numbered, so that a listener
 * sees that some were left out.
 */
#include "http.h"
#include "json_out.h"
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS_MOST = 200, FORECASTS_MOST = 50, REST_MS = 100, BEAT_SECONDS = 15, CURVE = 40 };

struct noted {
    char *sequence, *type;
    smurf_moment at;
    size_t number;
};
struct portion {
    struct noted event[EVENTS_MOST];
    size_t count;
};

static int note(void *context, size_t number, const char *sequence, int64_t origin, smurf_moment at, const char *type)
{
    struct portion *p = context;
    struct noted e = {strdup(sequence), strdup(type), at, number};
    (void)origin;
    if (e.sequence && e.type) {
        p->event[p->count++] = e;
        return 0;
    }
    free(e.sequence);
    free(e.type);
    return 1;
}

static void release(struct portion *p)
{
    while (p->count) {
        struct noted *e = &p->event[--p->count];
        free(e->sequence);
        free(e->type);
    }
}

/* Tells what `text` holds, and frees it. */
static void tell(struct live *live, const char *kind, FILE *out, char *const *text)
{
    if (out && fclose(out) == 0) live_tell(live, kind, *text);
    free(*text);
}

static void tell_event(struct live *live, const struct noted *e)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "{\"number\":%zu,\"sequence\":", e->number);
        put_string(out, e->sequence);
        json_moment(out, "time", e->at, live_service(live)->calendar);
        fputs(",\"type\":", out);
        put_string(out, e->type);
        putc('}', out);
    }
    tell(live, "event", out, &text);
}

/* As in the list of /v1/next. A sequence that cannot be forecast is left out. */
static void put_forecast(struct service *v, const struct serving *serving, struct live *live, const char *sequence)
{
    struct question question;
    smurf_answer *answer;
    smurf_error err;
    uint32_t type;
    char *text = NULL;
    size_t size;
    question_begin(&question, v, serving->model);
    question_curve(&question, CURVE);
    if (standing_ask(serving->standing, sequence, &question.ask, &answer, &type, &err) != STANDING_DONE) return;
    FILE *out = open_memstream(&text, &size);
    if (out) put_coming(out, &question, sequence, answer, type);
    tell(live, "forecast", out, &text);
    smurf_answer_free(answer);
}

static void tell_forecast(struct live *live, const char *sequence)
{
    struct service *v = live_service(live);
    struct serving *serving = serving_take(v);
    put_forecast(v, serving, live, sequence);
    serving_drop(v, serving);
}

/* Whether a later event of the portion is of the same sequence. */
static bool comes_again(const struct portion *p, size_t i)
{
    for (size_t later = i + 1; later < p->count; later++)
        if (strcmp(p->event[later].sequence, p->event[i].sequence) == 0) return true;
    return false;
}

static void tell_portion(struct live *live, const struct portion *p)
{
    size_t told = 0;
    for (size_t i = 0; i < p->count; i++) tell_event(live, &p->event[i]);
    for (size_t i = p->count; i-- && told < FORECASTS_MOST && !live_ended(live);) {
        if (comes_again(p, i)) continue;
        tell_forecast(live, p->event[i].sequence);
        told++;
    }
}

static time_t steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

void *live_follow(void *context)
{
    const struct timespec rest = {0, REST_MS * 1000000};
    struct live *live = context;
    struct store *store = live_service(live)->store;
    size_t number = live_before(live);
    time_t beaten = steady_seconds();
    struct portion *p = calloc(1, sizeof *p);
    while (p && !live_ended(live)) {
        size_t stored = store_events(store);
        if (!live_listeners(live)) number = stored;
        if (stored > number + EVENTS_MOST) number = stored - EVENTS_MOST;
        if (stored > number) {
            store_log(store, number, EVENTS_MOST, note, p);
            if (p->count) number = p->event[p->count - 1].number;
            tell_portion(live, p);
            release(p);
        }
        nanosleep(&rest, NULL);
        if (steady_seconds() - beaten >= BEAT_SECONDS) {
            beaten = steady_seconds();
            live_beat(live);
        }
        store_wait(store, number);
    }
    free(p);
    return NULL;
}
