/* http_lists.c - the sequences there are, the events of one, the alarms, and how well forecasts have held. */
#include "http.h"

#include "alarm_log.h"
#include "held.h"
#include "json_out.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 100, LIMIT_MOST = 1000 };

struct listing {
    struct request *request;
    size_t count;
    char *last;
};

static int put_sequence(void *context, const char *name, const struct store_sequence *s)
{
    struct listing *l = context;
    FILE *out = l->request->reply.out;
    fputs(l->count++ ? ",{\"sequence\":" : "{\"sequence\":", out);
    put_string(out, name);
    fprintf(out, ",\"events\":%zu", s->events);
    json_moment(out, "last", s->last, l->request->service->calendar);
    putc('}', out);
    free(l->last);
    l->last = strdup(name);
    return l->last == NULL;
}

void answer_sequences(struct request *q)
{
    struct listing l = {.request = q};
    const char *after = query_text(q, "after"), *prefix = query_text(q, "prefix");
    size_t limit = LIMIT;
    FILE *out = q->reply.out;
    if (!query_count(q, "limit", LIMIT_MOST, &limit)) return;
    fprintf(out, "{\"total\":%zu,\"sequences\":[", store_sequences(q->service->store));
    int found = store_list(q->service->store, prefix ? prefix : "", after ? after : "", limit, put_sequence, &l);
    fputs("],\"next\":", out);
    if (l.last && l.count == limit)
        put_string(out, l.last);
    else
        fputs("null", out);
    fputs("}\n", out);
    bool had_name = l.last != NULL;
    free(l.last);
    if (found < 0) reply_broken_store(&q->reply);
    if (l.count && !had_name) reply_memory(&q->reply);
}

/* ---- GET /v1/events/SEQUENCE ------------------------------------------------------------------- */

struct past {
    struct request *request;
    size_t count, most;
};

static int put_event(void *context, smurf_moment at, const char *type)
{
    struct past *p = context;
    FILE *out = p->request->reply.out;
    fputs(p->count++ ? ",{\"type\":" : "{\"type\":", out);
    put_string(out, type);
    json_moment(out, "time", at, p->request->service->calendar);
    putc('}', out);
    return p->count == p->most;
}

void answer_past(struct request *q)
{
    struct store_sequence s;
    struct past p = {.request = q, .most = LIMIT};
    FILE *out = q->reply.out;
    if (!query_count(q, "limit", LIMIT_MOST, &p.most)) return;
    int found = store_find(q->service->store, q->rest, &s);
    if (found <= 0) {
        reply_standing(q, found ? STANDING_STORE : STANDING_NONE, q->rest, NULL);
        return;
    }
    fputs("{\"sequence\":", out);
    put_string(out, q->rest);
    fprintf(out, ",\"total\":%zu,\"events\":[", s.events);
    size_t first = s.events > p.most ? s.events - p.most : 0;
    if (first < s.first) first = s.first;
    if (p.most && store_read(q->service->store, &s, first, p.most, put_event, &p) < 0) {
        reply_broken_store(&q->reply);
        return;
    }
    fputs("]}\n", out);
}

/* ---- GET /v1/alarms, GET /v1/held -------------------------------------------------------------- */

static void tell_no_alarms(struct request *q)
{
    reply_error(&q->reply, MHD_HTTP_NOT_FOUND, NULL, "start the service with --alarms-per-day 1",
                "the service raises no alarms");
}

void answer_held(struct request *q)
{
    size_t hours = 24;
    const char *text = query_text(q, "hours");
    if (!query_count(q, "hours", HELD_HOURS, &hours)) return;
    if (!hours)
        reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, "hours", "give a whole number from 1 to 168", "hours is '%s'",
                    text);
    else if (q->serving->alarms)
        alarm_log_held(q->serving->alarms, q->reply.out, hours);
    else
        tell_no_alarms(q);
}

void answer_alarms(struct request *q)
{
    size_t after = 0, limit = LIMIT_MOST;
    if (!query_count(q, "after", SIZE_MAX / 2, &after) || !query_count(q, "limit", LIMIT_MOST, &limit)) return;
    if (q->serving->alarms)
        alarm_log_show(q->serving->alarms, q->reply.out, after, limit);
    else
        tell_no_alarms(q);
}
