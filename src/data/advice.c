/* advice.c - see advice.h. One function per subject; each states the problem and what to do about it. */
#include "data/advice.h"

#include "base/error.h"
#include "data/data.h"
#include "data/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT = sizeof(((smurf_summary *)0)->warning[0]),
    NAMED = 4,        /* types named before "and 7 more" */
    NAME_LENGTH = 24, /* bytes of a name shown */
    FEW_GAPS = 20,    /* too few to describe their distribution */
};

struct advice {
    smurf_summary *s;
    const smurf_data *data;
    size_t room;
    bool out_of_memory;
};

/* Makes text fit for one terminal line: no control characters, no truncated UTF-8 character at the end. */
static void tidy(char *text)
{
    size_t n = strlen(text), last = n;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    while (last > 0 && ((unsigned char)text[last - 1] & 0xc0) == 0x80) last--;
    if (last == 0) return;
    unsigned char lead = (unsigned char)text[last - 1];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (n - last + 1 < need) text[last - 1] = '\0';
}

__attribute__((format(printf, 2, 3))) static void warn(struct advice *a, const char *format, ...)
{
    smurf_summary *s = a->s;
    if (!smurf_grow(&s->warning, &a->room, s->warnings + 1, sizeof *s->warning)) {
        a->out_of_memory = true;
        return;
    }
    char *text = s->warning[s->warnings++];
    va_list args;
    va_start(args, format);
    vsnprintf(text, TEXT, format, args);
    va_end(args);
    tidy(text);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* The names, or numbers, of the first few marked types: "a, b, c, d and 7 more". Returns how many are marked. */
static size_t list_types(char *out, size_t size, const smurf_data *data, const bool *marked)
{
    size_t count = 0, used = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < data->types; k++) {
        if (!marked[k] || count++ >= NAMED || used >= size) continue;
        char name[NAME_LENGTH + 1];
        if (data->type_name) {
            snprintf(name, sizeof name, "%s", data->type_name[k]);
        } else {
            snprintf(name, sizeof name, "%u", k);
        }
        tidy(name);
        used += (size_t)snprintf(out + used, size - used, "%s%s", count > 1 ? ", " : "", name);
    }
    if (count > NAMED && used < size) snprintf(out + used, size - used, " and %zu more", count - NAMED);
    return count;
}

static void on_reading(struct advice *a)
{
    for (size_t i = 0; a->data->remark && a->data->remark[i]; i++) warn(a, "%s", a->data->remark[i]);
}

static void on_sequences(struct advice *a)
{
    const smurf_summary *s = a->s;
    if (s->events == 0) {
        warn(a, "there are no events: nothing can be learned from this data set");
        return;
    }
    size_t idle = 0;
    for (size_t i = 0; i < a->data->sequences; i++) idle += a->data->sequence[i].length < 2;
    if (idle == s->sequences) {
        warn(a, "no sequence has two events, so there is no gap to predict: is the right column used for "
                "the name "
                "of the sequence?");
    } else if (idle > 0) {
        warn(a, "%zu of %zu sequences %s fewer than two events: there is nothing to predict in %s", idle, s->sequences,
             idle == 1 ? "has" : "have", idle == 1 ? "it" : "them");
    }
    if (idle < s->sequences && s->scored == 0)
        warn(a, "every event is history only and none is scored: cut the data set at an earlier time");
}

static void on_gaps(struct advice *a)
{
    const smurf_summary *s = a->s;
    double n = (double)s->scored, longest = s->gap[SMURF_QUANTILES - 1];
    char text[SMURF_DURATION_TEXT];
    if (s->scored == 0) return;
    if (s->ties == s->scored) {
        warn(a, "all gaps are 0, so there is no time to predict: is the right column used for the time?");
    } else if (s->scored > 1 && longest - s->gap[0] <= 1e-9 * longest) {
        warn(a, "every gap is %s: the time of the next event is certain, so there is nothing to model",
             smurf_duration_text(text, longest, a->data->unit));
    } else if (2 * s->ties > s->scored) {
        warn(a,
             "%.0f%% of the gaps are 0: the clock is too coarse for these events, or one sequence holds what "
             "should be several; use finer times or merge simultaneous events",
             100 * (double)s->ties / n);
    } else if (s->scored >= FEW_GAPS && longest > 0.5 * s->gap_mean * n) {
        warn(a, "one gap of %s makes up %.0f%% of all time between events: is that event's time right?",
             smurf_duration_text(text, longest, a->data->unit), 100 * longest / (s->gap_mean * n));
    }
}

/* Types that never occur, not even in the history. marked: room for one flag per type. */
static void on_unused_types(struct advice *a, bool *marked)
{
    const smurf_summary *s = a->s;
    uint32_t unused = 0;
    bool numbers = !a->data->type_name;
    for (uint32_t k = 0; k < s->types; k++) marked[k] = true;
    for (size_t i = 0; i < s->events; i++) marked[a->data->type[i]] = false;
    for (uint32_t k = 0; k < s->types; k++) unused += marked[k];
    uint32_t seen = s->types - unused;
    if (unused == 0 || s->events == 0) return;
    if (numbers && marked[0] && unused == 1) {
        warn(a, "types count from 1 and type 0 never occurs: use --types words to have %u types instead of %u", seen,
             s->types);
    } else if (numbers && seen < s->types / 2) {
        warn(a,
             "only %u of the type numbers up to %u occur%s: use --types words to read them as names, not as "
             "indices",
             seen, s->types - 1, seen == 1 ? "s" : "");
    } else {
        char list[NAMED * (NAME_LENGTH + 2) + 32];
        list_types(list, sizeof list, a->data, marked);
        warn(a, "%u of %u types never occur%s (%s): a model cannot learn %s", unused, s->types, unused == 1 ? "s" : "",
             list, unused == 1 ? "it" : "them");
    }
}

static void on_types(struct advice *a)
{
    const smurf_summary *s = a->s;
    size_t events = s->events - s->history;
    if (s->types_seen == 1 && events > 1)
        warn(a, "all events are of one type: only their times can be predicted%s",
             s->types == 1 ? "" : "; is the right column used for the type?");
    if (s->types_seen > FEW_GAPS && events < 3 * (size_t)s->types_seen)
        warn(a, "%u types in %zu events, so most occur once or twice: is the right column used for the type?",
             s->types_seen, events);
}

/* Marks the types that occur in data but not in train: by name if both have names, else by number. Returns false if out
   of memory. */
static bool mark_new_types(bool *marked, const smurf_summary *s, const smurf_data *data, const smurf_data *train)
{
    bool *known = calloc((size_t)train->types + 1, sizeof *known), done = false;
    bool by_name = data->type_name && train->type_name;
    struct names names = {0};
    if (!known) goto done;
    for (size_t i = 0; i < train->events; i++) known[train->type[i]] = true;
    for (uint32_t k = 0; by_name && k < train->types; k++)
        if (known[k] && smurf_names_intern(&names, train->type_name[k], strlen(train->type_name[k])) == NAMES_FULL)
            goto done;
    for (uint32_t k = 0; k < data->types; k++) {
        bool old = by_name ? smurf_names_find(&names, data->type_name[k], strlen(data->type_name[k])) != NAMES_FULL
                           : k < train->types && known[k];
        marked[k] = s->type_count[k] > 0 && !old;
    }
    done = true;
done:
    smurf_names_release(&names);
    free(known);
    return done;
}

static void on_new_types(struct advice *a, const smurf_data *train, bool *marked)
{
    char list[NAMED * (NAME_LENGTH + 2) + 32];
    if (!mark_new_types(marked, a->s, a->data, train)) {
        a->out_of_memory = true;
        return;
    }
    size_t count = list_types(list, sizeof list, a->data, marked), events = 0;
    for (uint32_t k = 0; k < a->data->types; k++) events += marked[k] ? a->s->type_count[k] : 0;
    if (count > 0)
        warn(a,
             "%zu type%s never seen in train (%s), in %zu event%s: no model can predict %s; split again so "
             "that "
             "train has %s",
             count, plural(count), list, events, plural(events), count == 1 ? "it" : "them",
             count == 1 ? "it" : "them all");
}

smurf_status smurf_summary_advise(smurf_summary *summary, const smurf_data *data, const smurf_data *train,
                                  smurf_error *err)
{
    struct advice a = {.s = summary, .data = data};
    bool *marked = calloc((size_t)data->types + 1, sizeof *marked);
    if (!marked) return smurf_fail_memory(err);
    on_reading(&a);
    on_sequences(&a);
    on_gaps(&a);
    on_types(&a);
    if (!train || train == data) {
        on_unused_types(&a, marked);
    } else {
        on_new_types(&a, train, marked);
    }
    free(marked);
    return a.out_of_memory ? smurf_fail_memory(err) : SMURF_OK;
}
