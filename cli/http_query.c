/* http_query.c - the parameters of an address: after=a&limit=10. Each is checked, and unknown ones are refused. */
#include "http.h"

#include "option.h"
#include "settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool refuse(struct request *q, const char *name, const char *what_to_do, const char *text)
{
    reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, name, what_to_do, "%s is '%.100s'", name, text);
    return false;
}

/* A NUL would cut a name short: it becomes a byte that no name has. */
size_t query_unescape(char *text)
{
    for (char *p = text; (p = strstr(p, "%00")); p += 3) p[1] = p[2] = 'F';
    return http.http_unescape(text);
}

/* ---- Names ------------------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; n && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && memcmp(p, name, n) == 0) return true;
    return false;
}

struct odd {
    const char *list, *name;
};

static enum MHD_Result find_odd(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct odd *odd = context;
    (void)kind, (void)value;
    if (!odd->name && !is_listed(odd->list, name)) odd->name = name;
    return MHD_YES;
}

bool query_names(struct request *q)
{
    struct odd odd = {.list = q->route->parameters};
    char text[200];
    http.get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, find_odd, &odd);
    if (!odd.name) return true;
    snprintf(text, sizeof text, *odd.list ? "use only: %s" : "use none", odd.list);
    reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, odd.name, text, "there is no parameter '%.100s' here", odd.name);
    return false;
}

const char *query_text(const struct request *q, const char *name)
{
    return http.lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- Numbers and moments ----------------------------------------------------------------------- */

bool query_count(struct request *q, const char *name, size_t most, size_t *out)
{
    const char *text = query_text(q, name);
    char *end, hint[80];
    if (!text) return true;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    snprintf(hint, sizeof hint, "give a whole number from 0 to %zu", most);
    if (*text < '0' || *text > '9' || *end || errno || x > most) return refuse(q, name, hint, text);
    *out = (size_t)x;
    return true;
}

bool query_moment(struct request *q, const char *name, smurf_moment *out, bool *given)
{
    const char *text = query_text(q, name);
    int calendar = q->service->calendar;
    smurf_error err;
    char *end;
    *given = text != NULL;
    if (!text) return true;
    if (calendar && strcmp(text, "now") == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        *out = (smurf_moment){now.tv_sec, (double)now.tv_nsec / 1e9};
        return true;
    }
    strtod(text, &end);
    bool number = *text && !*end;
    if (number == calendar)
        return refuse(q, name, calendar ? "give a date such as 2024-01-31T12:00:00Z, or now" : "give a number", text);
    if (smurf_moment_parse(out, text, &err)) {
        reply_library(&q->reply, &err, name, "give a time like those of the events");
        return false;
    }
    return true;
}

/* ---- Questions --------------------------------------------------------------------------------- */

static bool levels(struct request *q, const char *text, struct question *out)
{
    static const char hint[] = "give up to 20 numbers between 0 and 1, separated by commas: 0.5,0.9";
    out->ask.levels = 0;
    for (const char *p = text;; p++) {
        char *end;
        double x = strtod(p, &end);
        bool good = end > p && (!*end || *end == ',') && x >= 1e-9 && x <= 1 - 1e-9 && out->ask.levels < LEVELS_MOST;
        if (!good) return refuse(q, "levels", hint, text);
        out->level[out->ask.levels++] = x;
        p = end;
        if (!*p) return true;
    }
}

static bool horizons(struct request *q, const char *text, struct question *out)
{
    for (const char *p = text;; p++) {
        smurf_error err;
        char word[64];
        size_t n = strcspn(p, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : 0), p);
        if (out->ask.horizons == HORIZONS_MOST || n >= sizeof word)
            return refuse(q, "within", "give up to 20 durations, separated by commas: 1h,2d", text);
        if (smurf_duration_parse(&out->horizon[out->ask.horizons++], word, out->unit, &err)) {
            reply_library(&q->reply, &err, "within", "give durations, separated by commas: 1h,2d");
            return false;
        }
        p += n;
        if (!*p) return true;
    }
}

void question_begin(struct question *out, const struct service *v, const smurf_model *model)
{
    smurf_question *ask = &out->ask;
    *out = (struct question){.model = model, .unit = model_unit(model), .calendar = v->calendar};
    out->format = SHOW_JSONL;
    out->ending = settings_is_on(smurf_model_settings(model), "ending");
    smurf_question_init(ask);
    out->level[0] = 0.5;
    out->level[1] = 0.9;
    ask->level = out->level;
    ask->levels = 2;
    ask->within = out->horizon;
    ask->top = 3;
    ask->threads = 1;
    ask->seed = common.seed;
    ask->recalibrate = !v->o->raw;
}

/* The ends of the central interval of level 1 - 2k/n are the quantiles k/n and 1 - k/n. */
void question_curve(struct question *out, size_t n)
{
    out->curve = n;
    for (size_t k = 1; k < n / 2; k++) out->level[out->ask.levels++] = 1 - 2 * (double)k / (double)n;
}

static bool curve(struct request *q, struct question *out)
{
    static const char hint[] = "give an even number from 4 to 200";
    const char *text = query_text(q, "curve");
    size_t n = 0;
    if (!query_count(q, "curve", CURVE_MOST, &n)) return false;
    if (text && (n < 4 || n % 2)) return refuse(q, "curve", hint, text);
    if (n) question_curve(out, n);
    return true;
}

bool query_question(struct request *q, struct question *out)
{
    const char *level = query_text(q, "levels"), *within = query_text(q, "within");
    bool now;
    question_begin(out, q->service, q->serving->model);
    if ((level && !levels(q, level, out)) || (within && !horizons(q, within, out)) ||
        !query_count(q, "top", TOP_MOST, &out->ask.top) || !query_moment(q, "now", &out->now_moment, &now) ||
        !curve(q, out))
        return false;
    if (now) out->ask.now = &out->now_moment;
    return true;
}
