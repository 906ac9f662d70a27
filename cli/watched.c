/* watched.c - see watched.h. */
#include "watched_own.h"

#include "duration.h"
#include "show_forecast.h"
#include "terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The heap ---------------------------------------------------------------------------------- */

static bool is_before(const struct kept *a, const struct kept *b)
{
    return smurf_moment_gap(own_of(a)->due, own_of(b)->due) > 0;
}

static void put_at(struct watched *w, size_t i, struct kept *k)
{
    w->heap[i] = k;
    own_of(k)->place = i;
}

static void settle(struct watched *w, size_t i, struct kept *k)
{
    for (; i && is_before(k, w->heap[(i - 1) / 2]); i = (i - 1) / 2) put_at(w, i, w->heap[(i - 1) / 2]);
    for (size_t child; (child = 2 * i + 1) < w->due; i = child) {
        if (child + 1 < w->due && is_before(w->heap[child + 1], w->heap[child])) child++;
        if (!is_before(w->heap[child], k)) break;
        put_at(w, i, w->heap[child]);
    }
    put_at(w, i, k);
}

static void no_longer_due(struct watched *w, struct kept *k)
{
    struct own *own = own_of(k);
    if (!own->waits) return;
    own->waits = 0;
    struct kept *last = w->heap[--w->due];
    if (last != k) settle(w, own->place, last);
}

void watched_put_back(struct watched *w, struct kept *k)
{
    if (w->due == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->heap = realloc(w->heap, w->room * sizeof *w->heap);
        if (!w->heap) out_of_memory();
    }
    own_of(k)->waits = 1;
    settle(w, w->due++, k);
}

/* ---- Alarms ------------------------------------------------------------------------------------ */

enum { WORDS = 400, PERCENT = 32, QUOTED = 112 };

/* "0.46%", "35%", "100%". */
static const char *percent_text(char out[PERCENT], double p)
{
    if (p < 1e-6)
        snprintf(out, PERCENT, "less than 0.0001%%");
    else
        snprintf(out, PERCENT, p < 0.095 ? "%.2g%%" : "%.0f%%", 100 * p);
    return out;
}

/* The type in quotes; `event` instead if the model knows one type without a name. */
static const char *quoted(char out[QUOTED], const smurf_model *model, int64_t type, const char *event)
{
    char number[24];
    if (type_is_only(model)) return event;
    snprintf(out, QUOTED, "'%.100s'", type_text(number, model, type));
    return out;
}

static void raise_overdue(struct watched *w, const struct kept *k)
{
    const struct own *own = own_of(k);
    char words[WORDS], name[QUOTED], gap[SMURF_DURATION_TEXT], p[PERCENT];
    struct alarm a = {
        .kind = SMURF_ALARM_OVERDUE, .at = own->due, .sequence = k->name, .type = own->type, .p = own->level};
    a.gap = a.expected = smurf_moment_gap(own->last, own->due);
    snprintf(words, sizeof words, "silent for %s since %s: longer than in all but %s of cases",
             gap_text(gap, a.gap, model_unit(w->model)), quoted(name, w->model, own->type, "the last event"),
             percent_text(p, own->level));
    a.words = words;
    w->raise(w->context, &a);
}

static const char *found_words(smurf_finding finding)
{
    switch (finding) {
    case SMURF_FINDING_SHORT: return "the gaps of all sequences together are shorter than forecast";
    case SMURF_FINDING_LONG: return "the gaps of all sequences together are longer than forecast";
    case SMURF_FINDING_NARROW: return "forecasts are too narrow: more gaps are very short or very long";
    case SMURF_FINDING_WIDE: return "forecasts are too wide: fewer gaps are very short or very long";
    default: return "forecasts have lost their calibration";
    }
}

static void raise_found(struct watched *w, const struct kept *k, const smurf_surprise *s, uint32_t type,
                        smurf_alarm kind, smurf_finding finding)
{
    char words[WORDS], name[QUOTED], gap[SMURF_DURATION_TEXT], p[PERCENT];
    struct alarm a = {.kind = kind, .at = own_of(k)->last, .sequence = k->name, .type = type, .expected = NAN};
    gap_text(gap, s->gap, model_unit(w->model));
    a.gap = s->gap;
    a.p = kind == SMURF_ALARM_EARLY ? s->pit : s->type_level;
    if (kind == SMURF_ALARM_EARLY) {
        snprintf(words, sizeof words, "%s came %s after the last event: sooner than in all but %s of cases",
                 quoted(name, w->model, type, "an event"), gap, percent_text(p, s->pit));
    } else if (kind == SMURF_ALARM_TYPE && isnan(s->type_share)) {
        a.p = NAN;
        snprintf(words, sizeof words, "a type that the model does not know");
    } else if (kind == SMURF_ALARM_TYPE) {
        snprintf(words, sizeof words, "%s had a probability of %s at that time",
                 quoted(name, w->model, type, "an event"), percent_text(p, s->type_share));
    } else {
        bool fast = own_of(k)->track.direction > 0, one = kind == SMURF_ALARM_RATE;
        snprintf(words, sizeof words, "%s",
                 !one   ? found_words(finding)
                 : fast ? "events come about twice as fast as forecast"
                        : "events come about half as fast as forecast");
        a.gap = NAN;
        a.p = smurf_alarms_level(w->alarms, kind);
        if (!one) a.sequence = NULL, a.type = -1;
    }
    a.words = words;
    w->raise(w->context, &a);
}

bool watched_is_due(const struct watched *w, smurf_moment now)
{
    return w->due && smurf_moment_gap(own_of(w->heap[0])->due, now) > 0;
}

void watched_pass(struct watched *w, smurf_moment now)
{
    while (watched_is_due(w, now)) {
        struct kept *k = w->heap[0];
        no_longer_due(w, k);
        smurf_alarms_pass(w->alarms, own_of(k)->due);
        smurf_alarms_overdue(w->alarms);
        raise_overdue(w, k);
    }
    smurf_alarms_pass(w->alarms, now);
}

/* ---- Events ------------------------------------------------------------------------------------ */

/* With more sequences than this, those at rest release the memory that forecasting takes. */
enum { AWAKE_MOST = 64 };

static struct kept *find(struct watched *w, const char *sequence, int64_t origin)
{
    struct kept *dropped, *k = kept_find(&w->kept, sequence, origin, &dropped);
    if (dropped) no_longer_due(w, dropped);
    kept_free(dropped);
    if (!k) out_of_memory();
    if (!k->own && !(k->own = calloc(1, sizeof(struct own)))) out_of_memory();
    return k;
}

/* From when on the sequence is overdue. */
static smurf_status expect(struct watched *w, struct kept *k, smurf_error *err)
{
    struct own *own = own_of(k);
    double p = smurf_alarms_level(w->alarms, SMURF_ALARM_OVERDUE), level = 1 - p, gap;
    if (!(p > 0)) return SMURF_OK;
    smurf_status status = smurf_forecast_quantile(k->forecast, &level, &gap, 1, err);
    if (status || !moment_of(&own->due, own->last, gap, smurf_model_is_calendar(w->model))) return status;
    own->level = p;
    watched_put_back(w, k);
    return SMURF_OK;
}

smurf_status watched_event(struct watched *w, const char *sequence, int64_t origin, double time, uint32_t type,
                           const float *further, smurf_error *err)
{
    struct kept *k = find(w, sequence, origin);
    struct own *own = own_of(k);
    smurf_surprise surprise;
    smurf_finding finding;
    smurf_moment at;
    smurf_status status = k->away ? w->recall(w->context, k, err) : SMURF_OK;
    if (status) return status;
    k->away = 0;
    time += (double)(origin - k->origin);
    if (!smurf_moment_after(&at, (smurf_moment){k->origin, 0}, time)) at = (smurf_moment){k->origin, 0};
    bool follows = smurf_forecast_events(k->forecast) > 0;
    status = follows ? smurf_forecast_surprise(k->forecast, time, type, w->seed + k->number, &surprise, err) : SMURF_OK;
    if (status) return status;
    watched_pass(w, at);
    if (!w->begun || smurf_moment_gap(w->now, at) > 0) w->now = at;
    w->begun = true;
    no_longer_due(w, k);
    status = smurf_forecast_append_with(k->forecast, time, type, further, err);
    if (status) return status;
    k->last = time;
    own->last = at;
    own->type = type;
    if (follows && w->seen) w->seen(w->context, &surprise, at);
    unsigned found = follows ? smurf_alarms_gap(w->alarms, &own->track, &surprise, &finding) : 0;
    for (int kind = 0; kind < SMURF_ALARMS; kind++)
        if (found & 1u << kind) raise_found(w, k, &surprise, type, (smurf_alarm)kind, finding);
    status = expect(w, k, err);
    if (w->kept.count > AWAKE_MOST) smurf_forecast_rest(k->forecast);
    return status;
}

void watched_release(struct watched *w)
{
    kept_release(&w->kept);
    free(w->heap);
    smurf_alarms_free(w->alarms);
}
