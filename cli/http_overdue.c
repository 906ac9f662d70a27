/* http_overdue.c - the sequences that have been silent for longer than expected. All are asked, one request at a time.
 */
#include "http.h"

#include "silent.h"

#include <stdlib.h>
#include <string.h>

enum { OVERDUE_MOST = 1000 };

struct named {
    struct silent row; /* first: the order is that of silent_order */
    char *name;
    uint32_t type;
};

struct search {
    struct request *request;
    struct named *found;
    size_t count, room, asked;
    smurf_question ask;
    smurf_moment now;
    double level;
};

static bool keep(struct search *s, const char *name, const smurf_answer *a, uint32_t type)
{
    double expected = a->interval[0].high;
    s->asked++;
    if (!(a->silence > expected)) return true;
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct named *more = realloc(s->found, room * sizeof *more);
        if (!more) return false;
        s->found = more;
        s->room = room;
    }
    struct named *n = &s->found[s->count];
    *n = (struct named){{s->asked, a->events, a->last, a->silence, expected, a->survival}, strdup(name), type};
    if (!n->name) return false;
    s->count++;
    return true;
}

static bool ask_one(void *context, const char *name, const struct store_sequence *sequence)
{
    struct search *s = context;
    struct request *q = s->request;
    smurf_answer *a;
    smurf_error err;
    uint32_t type;
    (void)sequence;
    enum standing_outcome outcome = standing_ask(q->serving->standing, name, &s->ask, &a, &type, &err);
    if (outcome != STANDING_DONE) {
        reply_standing(q, outcome, name, &err);
        return false;
    }
    bool good = keep(s, name, a, type);
    smurf_answer_free(a);
    if (!good) reply_memory(&q->reply);
    return good;
}

static void show_overdue(const struct search *s, size_t top)
{
    FILE *out = s->request->reply.out;
    char type[24];
    const struct service *v = s->request->service;
    fprintf(out, "{\"sequences\":%zu,\"total\":%zu,\"overdue\":[", s->asked, s->count);
    for (size_t i = 0; i < s->count && i < top; i++) {
        if (i) putc(',', out);
        silent_json(out, &s->found[i].row, s->found[i].name,
                    type_text(type, s->request->serving->model, s->found[i].type), s->now, s->level, v->calendar);
    }
    fputs("]}\n", out);
}

static void search(struct search *s, size_t top)
{
    smurf_question_init(&s->ask);
    s->ask.level = &s->level;
    s->ask.levels = 1;
    s->ask.one_sided = 1;
    s->ask.top = 0;
    s->ask.threads = 1;
    s->ask.until = &s->now;
    s->ask.recalibrate = !s->request->service->o->raw;
    if (each_sequence(s->request, ask_one, s)) {
        if (s->count) qsort(s->found, s->count, sizeof *s->found, silent_order);
        show_overdue(s, top);
    }
    for (size_t i = 0; i < s->count; i++) free(s->found[i].name);
    free(s->found);
}

void answer_overdue(struct request *q)
{
    struct search s = {.request = q, .level = 0.9};
    struct service *v = q->service;
    const char *level = query_text(q, "level");
    size_t top = 20;
    bool given;
    char *end;
    if (!query_count(q, "top", OVERDUE_MOST, &top) || !query_moment(q, "now", &s.now, &given)) return;
    if (level) s.level = strtod(level, &end);
    if (level && (!*level || *end || !(s.level >= 1e-9 && s.level <= 1 - 1e-9))) {
        reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, "level", "give a number between 0 and 1", "level is '%.100s'",
                    level);
        return;
    }
    if (v->overdue_running++ != 0)
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again in a while",
                    "another request for all sequences is being answered");
    else if (given || present(q, &s.now))
        search(&s, top);
    v->overdue_running--;
}
