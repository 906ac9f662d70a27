/* http_lists.c - the sequences there are, and the alarms. */
#include "http.h"

#include "alarm_log.h"
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

void answer_alarms(struct request *q)
{
    size_t after = 0, limit = LIMIT_MOST;
    if (!query_count(q, "after", SIZE_MAX / 2, &after) || !query_count(q, "limit", LIMIT_MOST, &limit)) return;
    if (q->service->alarms)
        alarm_log_show(q->service->alarms, q->reply.out, after, limit);
    else
        reply_error(&q->reply, MHD_HTTP_NOT_FOUND, NULL, "start the service with --alarms-per-day 1",
                    "the service raises no alarms");
}
