/*
 * http_plain.c - the events of a body, where all of it is plain: objects of texts without escapes, in ASCII, and of
 * numbers, in an array or one after the other. That is what most clients send, and it is read in place, in a fraction
 * of the time that JSON in general takes. Whatever else there is, errors too, is left to http_events.c.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    char *at;
    const struct request *request;
    struct store_batch *batch;
    size_t room;
    char **end; /* (3 room) where the texts of each event end */
};

static void skip_space(struct scan *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r') s->at++;
}

static bool take(struct scan *s, char c)
{
    skip_space(s);
    if (*s->at != c) return false;
    s->at++;
    return true;
}

/* A text: what is between the quotes. */
static bool take_text(struct scan *s, char **begin, char **end)
{
    if (!take(s, '"')) return false;
    *begin = s->at;
    while (*s->at >= ' ' && *s->at < 0x7f && *s->at != '"' && *s->at != '\\') s->at++;
    *end = s->at;
    return *s->at++ == '"';
}

/* A number as it is written, if JSON in general would be shown so: an integer, or a fraction that does not end in 0. */
static bool take_number(struct scan *s, char **begin, char **end)
{
    enum { DIGITS = 15 };
    *begin = s->at;
    if (*s->at == '-') s->at++;
    size_t whole = strspn(s->at, "0123456789"), fraction = 0;
    if (!whole || (*s->at == '0' && (whole > 1 || s->at > *begin))) return false;
    s->at += whole;
    if (*s->at == '.') {
        fraction = strspn(s->at + 1, "0123456789");
        s->at += 1 + fraction;
        if (!fraction || s->at[-1] == '0' || (whole == 1 && s->at[-(ptrdiff_t)fraction - 2] == '0')) return false;
    }
    *end = s->at;
    return whole + fraction <= DIGITS && *s->at != 'e' && *s->at != 'E';
}

static bool take_value(struct scan *s, char **begin, char **end)
{
    skip_space(s);
    bool good = *s->at == '"' ? take_text(s, begin, end) : take_number(s, begin, end);
    return good && *end > *begin && *end - *begin <= EVENT_NAME_MOST;
}

static bool read_time(const struct scan *s, const char *begin, const char *end, bool is_text, smurf_moment *out)
{
    char text[40];
    size_t n = (size_t)(end - begin);
    bool number = n && strspn(begin, "+-.0123456789eE") >= n;
    if (n >= sizeof text || number == s->request->service->calendar || (number && is_text)) return false;
    memcpy(text, begin, n);
    text[n] = '\0';
    return smurf_moment_parse(out, text, NULL) == SMURF_OK;
}

static bool is_known(const struct scan *s, const char *begin, const char *end)
{
    char text[EVENT_NAME_MOST + 1];
    size_t n = (size_t)(end - begin);
    memcpy(text, begin, n);
    text[n] = '\0';
    return types_find(s->request->serving->types, text) < smurf_model_types(s->request->serving->model);
}

static bool is_named(const char *name, const char *begin, const char *end)
{
    size_t n = strlen(name);
    return (size_t)(end - begin) == n && memcmp(begin, name, n) == 0;
}

static bool take_member(struct scan *s, struct store_event *e, char *end[3], bool *timed)
{
    char *name, *name_end, *begin, *value_end;
    if (!take_text(s, &name, &name_end) || !take(s, ':') || !take_value(s, &begin, &value_end)) return false;
    if (is_named("time", name, name_end)) {
        bool again = *timed;
        *timed = true;
        return !again && read_time(s, begin, value_end, begin[-1] == '"', &e->at);
    }
    char **place = is_named("sequence", name, name_end) ? &e->sequence
                   : is_named("type", name, name_end)   ? &e->type
                   : is_named("id", name, name_end)     ? &e->id
                                                        : NULL;
    if (!place || *place) return false;
    *place = begin;
    end[place == &e->sequence ? 0 : place == &e->type ? 1 : 2] = value_end;
    return place != &e->type || is_known(s, begin, value_end);
}

static bool more_room(struct scan *s)
{
    struct store_batch *b = s->batch;
    if (b->count < s->room) return true;
    size_t room = s->room ? 2 * s->room : 128;
    struct store_event *event = realloc(b->event, room * sizeof *event);
    if (event) b->event = event;
    char **end = realloc(s->end, 3 * room * sizeof *end);
    if (end) s->end = end;
    if (!event || !end) return false;
    s->room = room;
    return true;
}

static bool take_event(struct scan *s)
{
    bool timed = false;
    if (!take(s, '{') || !more_room(s)) return false;
    const char *begin = s->at - 1;
    struct store_event *e = &s->batch->event[s->batch->count];
    char **end = &s->end[3 * s->batch->count++];
    *e = (struct store_event){0};
    memset(end, 0, 3 * sizeof *end);
    do
        if (!take_member(s, e, end, &timed)) return false;
    while (take(s, ','));
    return take(s, '}') && s->at - begin <= EVENT_MOST && timed && e->sequence && e->type;
}

/* All of the body. */
static bool take_all(struct scan *s)
{
    const char *last = s->request->body + s->request->size;
    bool array = take(s, '[');
    do
        if (!take_event(s)) return false;
    while (array ? take(s, ',') : (skip_space(s), s->at < last));
    if (array && !take(s, ']')) return false;
    skip_space(s);
    return s->at == last;
}

bool events_read_plain(const struct request *q, struct store_batch *out)
{
    struct scan s = {.at = q->body, .request = q, .batch = out};
    *out = (struct store_batch){.borrowed = true};
    bool good = take_all(&s);
    for (size_t i = 0; good && i < 3 * out->count; i++)
        if (s.end[i]) *s.end[i] = '\0';
    if (!good) free(out->event);
    free(s.end);
    return good;
}
