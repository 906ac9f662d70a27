/* http_route.c - the addresses of a service, and who answers each. */
#include "http.h"

#include <string.h>

static const struct route routes[] = {
    {"/v1/events", "POST", answer_events, "", false},
    {"/v1/forecast", "POST", answer_history, "levels within now top curve", false},
    {"/v1/forecast/", "GET", answer_forecast, "levels within now top curve next", false},
    {"/v1/events/", "GET", answer_past, "limit", false},
    {"/v1/next", "GET", answer_coming, "limit levels within now top curve", false},
    {"/v1/sequences", "GET", answer_sequences, "limit after prefix", false},
    {"/v1/overdue", "GET", answer_overdue, "top level now", false},
    {"/v1/alarms", "GET", answer_alarms, "after limit", false},
    {"/v1/held", "GET", answer_held, "hours", false},
    {"/v1/stream", "GET", answer_stream, "", false},
    {"/v1/model", "GET", answer_model, "", false},
    {"/v1/model/reload", "POST", answer_reload, "", false},
    {"/v1/openapi.json", "GET", answer_openapi, "", false},
    {"/healthz", "GET", answer_health, "", true},
    {"/metrics", "GET", answer_metrics, "", false},
    {"/", "GET", answer_page, "", true},
    {"/page/", "GET", answer_page, "", true},
};
enum { ROUTES = sizeof routes / sizeof *routes };

static bool matches(const struct route *route, const char *path)
{
    size_t n = strlen(route->path);
    return n > 1 && route->path[n - 1] == '/' ? strncmp(path, route->path, n) == 0 && path[n]
                                              : strcmp(path, route->path) == 0;
}

/* HEAD is answered like GET, without the body. */
static bool is_method(const struct route *route, const char *method)
{
    return strcmp(method, route->method) == 0 || (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

bool route_find(struct request *q)
{
    const struct route *other = NULL;
    for (const struct route *r = routes; r < routes + ROUTES; r++) {
        if (!matches(r, q->path)) continue;
        other = r;
        if (!is_method(r, q->method)) continue;
        q->route = r;
        q->rest = q->path + strlen(r->path);
        return true;
    }
    if (!other) {
        reply_error(&q->reply, MHD_HTTP_NOT_FOUND, NULL, "see /v1/openapi.json for the addresses there are",
                    "there is nothing at '%.200s'", q->path);
        return false;
    }
    bool get = strcmp(other->method, "GET") == 0;
    q->reply.allow = get ? "GET, HEAD" : "POST";
    reply_error(&q->reply, MHD_HTTP_METHOD_NOT_ALLOWED, NULL, get ? "use GET" : "use POST",
                "%.20s is not possible at '%.200s'", q->method, q->path);
    return false;
}
