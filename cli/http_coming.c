/*
 * http_coming.c - GET /v1/next: the sequences in the order in which their next events are expected.
 *
 * Each is asked for the median of its next event, given that nothing has happened until now. Overdue ones come first,
 * those with the least probable silence on top; those of which no further event is expected come last. Those that are
 * shown are then asked for all of it.
 */
#include "http.h"
#include "json_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEXT_MOST = 1000 };
static const double overdue_at = 0.1; /* a silence of that probability, as /v1/overdue has it */

struct due {
    char *name;
    double p; /* of the silence until now */
    double silence;
    double gap; /* from now to the median of the next event */
    size_t number;
};

struct listing {
    struct request *request;
    struct question *question;
    smurf_question ask;
    struct due *due;
    size_t count, room, overdue;
};

static bool is_overdue(double p)
{
    return p <= overdue_at;
}

static int by_turn(const void *left, const void *right)
{
    const struct due *a = left, *b = right;
    bool late = is_overdue(a->p);
    if (late != is_overdue(b->p)) return late ? -1 : 1;
    if (late && a->p != b->p) return a->p < b->p ? -1 : 1;
    if (late && a->silence != b->silence) return a->silence > b->silence ? -1 : 1;
    if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A sequence with events after now is asked from its last event on. */
static enum standing_outcome ask(struct request *q, const char *name, const smurf_question *question,
                                 smurf_answer **out, uint32_t *type, smurf_error *err)
{
    enum standing_outcome outcome = standing_ask(q->serving->standing, name, question, out, type, err);
    if (outcome != STANDING_FAILED || err->status != SMURF_ERROR_ARGUMENT) return outcome;
    smurf_question from_last = *question;
    from_last.now = from_last.until = NULL;
    return standing_ask(q->serving->standing, name, &from_last, out, type, err);
}

/* The probability of the silence so far; 1 if there was none. */
static double survival_of(const smurf_answer *a)
{
    return a->silence > 0 ? a->survival : 1;
}

static bool keep(struct listing *l, const char *name, const smurf_answer *a)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct due *more = realloc(l->due, room * sizeof *more);
        if (!more) return false;
        l->due = more;
        l->room = room;
    }
    double p = survival_of(a), ahead = smurf_moment_gap(l->question->now_moment, a->from);
    l->due[l->count] = (struct due){strdup(name), p, a->silence, ahead + a->median, l->count};
    if (!l->due[l->count].name) return false;
    l->count++;
    l->overdue += is_overdue(p);
    return true;
}

static bool ask_one(void *context, const char *name, const struct store_sequence *sequence)
{
    struct listing *l = context;
    smurf_answer *a;
    smurf_error err;
    uint32_t type;
    (void)sequence;
    enum standing_outcome outcome = ask(l->request, name, &l->ask, &a, &type, &err);
    if (outcome != STANDING_DONE) {
        reply_standing(l->request, outcome, name, &err);
        return false;
    }
    bool good = keep(l, name, a);
    smurf_answer_free(a);
    if (!good) reply_memory(&l->request->reply);
    return good;
}

void put_coming(FILE *out, const struct question *question, const char *name, const smurf_answer *a, uint32_t type)
{
    char number[24];
    double p = survival_of(a);
    fprintf(out, "{\"overdue\":%s,\"last_type\":", is_overdue(p) ? "true" : "false");
    put_string(out, type_text(number, question->model, type));
    json_number(out, "silence", a->silence > 0 ? a->silence : 0);
    json_number(out, "p", p);
    fputs(",\"forecast\":", out);
    show_forecast(out, question, name, a);
    putc('}', out);
}

static void show_one(struct listing *l, const char *name, bool first)
{
    FILE *out = l->request->reply.out;
    smurf_answer *a;
    smurf_error err;
    uint32_t type;
    enum standing_outcome outcome = ask(l->request, name, &l->question->ask, &a, &type, &err);
    if (outcome != STANDING_DONE) {
        reply_standing(l->request, outcome, name, &err);
        return;
    }
    if (!first) putc(',', out);
    put_coming(out, l->question, name, a, type);
    smurf_answer_free(a);
    l->request->service->forecasts++;
}

static void show(struct listing *l, size_t limit)
{
    struct reply *r = &l->request->reply;
    fprintf(r->out, "{\"sequences\":%zu,\"overdue\":%zu", l->count, l->overdue);
    json_moment(r->out, "now", l->question->now_moment, l->question->calendar);
    fputs(",\"next\":[", r->out);
    for (size_t i = 0; i < l->count && i < limit && r->status == MHD_HTTP_OK; i++) show_one(l, l->due[i].name, i == 0);
    if (r->status == MHD_HTTP_OK) fputs("]}\n", r->out);
}

static void list(struct listing *l, size_t limit)
{
    l->ask = l->question->ask;
    l->ask.levels = l->ask.horizons = l->ask.top = 0;
    if (each_sequence(l->request, ask_one, l)) {
        if (l->count) qsort(l->due, l->count, sizeof *l->due, by_turn);
        show(l, limit);
    }
    for (size_t i = 0; i < l->count; i++) free(l->due[i].name);
    free(l->due);
}

void answer_coming(struct request *q)
{
    struct question question;
    struct listing l = {.request = q, .question = &question};
    size_t limit = 20;
    if (!query_question(q, &question) || !query_count(q, "limit", NEXT_MOST, &limit)) return;
    if (q->service->overdue_running++ != 0) {
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again in a while",
                    "another request for all sequences is being answered");
    } else if (question.ask.now || present(q, &question.now_moment)) {
        question.ask.now = question.ask.until = &question.now_moment;
        list(&l, limit);
    }
    q->service->overdue_running--;
}
