/* http_forecast.c - taking events, and forecasts: of a stored sequence, or of the events in the request. */
#include "http.h"
#include "json_out.h"

#include <stdlib.h>
#include <string.h>

/* ---- POST /v1/events --------------------------------------------------------------------------- */

static void refuse_late(struct request *q, const struct store_batch *b)
{
    char at[MOMENT_TEXT], last[MOMENT_TEXT];
    const struct store_event *e = &b->event[b->at];
    reply_error(&q->reply, MHD_HTTP_CONFLICT, "time",
                "send the events of a sequence in the order of time; to send one again, give it an id",
                "event %zu: %s is before the last event of '%.200s', at %s; none of the events is stored", b->at + 1,
                moment_text(at, e->at, q->service->calendar), e->sequence,
                moment_text(last, b->last, q->service->calendar));
}

static void refuse_pruned(struct request *q, const struct store_batch *b)
{
    char at[MOMENT_TEXT];
    const struct store_event *e = &b->event[b->at];
    reply_error(&q->reply, MHD_HTTP_CONFLICT, "time", "leave it out: no forecast depends on it",
                "event %zu: %s is before the events of '%.200s' that are kept; none of the events is stored", b->at + 1,
                moment_text(at, e->at, q->service->calendar), e->sequence);
}

static void tell_outcome(struct request *q, const struct store_batch *b)
{
    struct reply *r = &q->reply;
    switch (b->outcome) {
    case STORE_DONE: fprintf(r->out, "{\"accepted\":%zu,\"duplicates\":%zu}\n", b->accepted, b->duplicates); return;
    case STORE_LATE: refuse_late(q, b); return;
    case STORE_PRUNED: refuse_pruned(q, b); return;
    case STORE_CONFLICT:
        reply_error(r, MHD_HTTP_CONFLICT, "id", "give each event an id of its own",
                    "event %zu: its id is that of another event of '%.200s'; none of the events is stored", b->at + 1,
                    b->event[b->at].sequence);
        return;
    case STORE_MANY:
        reply_error(r, MHD_HTTP_INSUFFICIENT_STORAGE, "sequence", "start the service with more --sequences",
                    "event %zu: there are %zu sequences, and no more are accepted; none of the events is stored",
                    b->at + 1, q->service->o->sequences);
        return;
    case STORE_FULL:
        reply_error(r, MHD_HTTP_INSUFFICIENT_STORAGE, NULL, "make room where the store is, and send them again",
                    "the store is full; none of the events is stored");
        return;
    case STORE_BUSY:
        reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "send them again in a while",
                    "too many events wait to be stored");
        return;
    case STORE_BROKEN:
        reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "check the store and its disk, and send them again",
                    "the store cannot be written: %s; none of the events is stored", b->words);
        return;
    case STORE_UNSURE:
        reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "send them again, with the same ids",
                    "the connection to the store was lost during the commit: the events are stored or not (%s)",
                    b->words);
        return;
    case STORE_OTHER: /* only who watches is told */
    case STORE_MEMORY: reply_memory(r); return;
    }
}

void answer_events(struct request *q)
{
    struct store_batch batch;
    if (events_read(q, &batch)) {
        store_put(q->service->store, &batch);
        q->service->taken += batch.accepted;
        q->service->duplicates += batch.duplicates;
        tell_outcome(q, &batch);
    }
    events_release(&batch);
}

/* ---- GET /v1/forecast/SEQUENCE ----------------------------------------------------------------- */

void reply_standing(struct request *q, enum standing_outcome outcome, const char *name, const smurf_error *err)
{
    if (outcome == STANDING_NONE)
        reply_error(&q->reply, MHD_HTTP_NOT_FOUND, "sequence", "post its events to /v1/events first",
                    "there is no sequence '%.200s'", name);
    else if (outcome == STANDING_STORE)
        reply_broken_store(&q->reply);
    else
        reply_library(&q->reply, err, query_text(q, "now") ? "now" : NULL,
                      "give a moment that is not before the last event");
}

/* Also the events that follow the next one: drawn from a copy, so that others need not wait. */
static void answer_futures(struct request *q, const struct question *question, size_t events)
{
    smurf_forecast *forecast = NULL;
    smurf_answer *answer = NULL;
    smurf_error err;
    size_t past;
    enum standing_outcome outcome = standing_copy(q->serving->standing, q->rest, &forecast, &past, &err);
    if (outcome == STANDING_DONE && smurf_forecast_ask(forecast, &question->ask, &answer, &err))
        outcome = STANDING_FAILED;
    if (outcome == STANDING_DONE) {
        answer->events = past;
        show_forecast(q->reply.out, question, q->rest, answer);
        if (next_show(q, question, forecast, answer, events)) q->service->forecasts++;
    } else {
        reply_standing(q, outcome, q->rest, &err);
    }
    smurf_answer_free(answer);
    smurf_forecast_free(forecast);
}

void answer_forecast(struct request *q)
{
    struct question question;
    smurf_error err;
    size_t events = 0;
    if (!query_question(q, &question) || !query_count(q, "next", FOLLOWING_MOST, &events)) return;
    if (events) {
        answer_futures(q, &question, events);
        return;
    }
    enum standing_outcome outcome = standing_show(q->serving->standing, q->rest, &question, q->reply.out, &err);
    if (outcome == STANDING_DONE)
        q->service->forecasts++;
    else
        reply_standing(q, outcome, q->rest, &err);
}

/* ---- POST /v1/forecast ------------------------------------------------------------------------- */

struct showing {
    struct request *request;
    const struct question *question;
    const smurf_data *data;
};

static int show(void *context, const smurf_answer *a)
{
    const struct showing *s = context;
    char name[24];
    FILE *out = s->request->reply.out;
    if (a->sequence) putc(',', out);
    show_forecast(out, s->question, sequence_text(name, smurf_data_sequence(s->data, a->sequence), a->sequence), a);
    s->request->service->forecasts++;
    return 0;
}

static int is_ending(void *context, const smurf_progress *progress)
{
    const struct service *v = context;
    (void)progress;
    return v->draining;
}

/* What was read, after the forecasts. */
static void show_data(FILE *out, const smurf_model *model, const smurf_data *data, const smurf_reading *reading)
{
    uint32_t types = smurf_model_types(model);
    size_t *count = calloc((size_t)types + 1, sizeof *count);
    char name[24];
    for (size_t i = 0; count && i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        for (size_t k = 0; k < s->length; k++) count[s->type[k] < types ? s->type[k] : types]++;
    }
    fprintf(out, ",\"data\":{\"sequences\":%zu,\"events\":%zu,\"read\":", smurf_data_sequences(data),
            smurf_data_events(data));
    put_string(out, reading && reading->text ? reading->text : "");
    fputs(",\"types\":[", out);
    bool any = false;
    for (uint32_t k = 0; count && k <= types; k++) {
        if (!count[k]) continue;
        fputs(any ? ",{\"type\":" : "{\"type\":", out);
        put_string(out, type_text(name, model, k));
        fprintf(out, ",\"events\":%zu}", count[k]);
        any = true;
    }
    fputs("],\"remarks\":[", out);
    for (size_t i = 0; smurf_data_remark(data, i); i++) {
        if (i) putc(',', out);
        put_string(out, smurf_data_remark(data, i));
    }
    fputs("]}", out);
    free(count);
}

static bool is_compressed(const struct request *q)
{
    return q->size > 1 && (unsigned char)q->body[0] == 0x1f && (unsigned char)q->body[1] == 0x8b;
}

void answer_history(struct request *q)
{
    static const char hint[] = "send events as JSON Lines, JSON or CSV, as in the data of training";
    struct question question;
    struct showing showing = {.request = q, .question = &question};
    smurf_many_config config;
    smurf_data *body, *data = NULL;
    smurf_error err;
    if (!query_question(q, &question)) return;
    if (!q->size || is_compressed(q)) {
        reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, NULL, hint,
                    q->size ? "the body is compressed" : "the body is empty");
        return;
    }
    smurf_status status = body_data(q, &body, &err);
    if (!status) {
        status = smurf_model_match(q->serving->model, body, &data, &err);
        smurf_data_free(body);
    }
    if (!status) {
        smurf_many_config_init(&config);
        config.history = q->service->o->history;
        config.threads = 1;
        config.progress = is_ending;
        config.progress_context = q->service;
        showing.data = data;
        fputs("{\"forecasts\":[", q->reply.out);
        status = smurf_forecast_many(q->serving->model, data, &question.ask, &config, show, &showing, &err);
        putc(']', q->reply.out);
        show_data(q->reply.out, q->serving->model, data, smurf_data_reading(data));
        fputs("}\n", q->reply.out);
    }
    if (status == SMURF_ERROR_CANCELLED)
        reply_ending(&q->reply);
    else if (status)
        reply_library(&q->reply, &err, question.ask.now ? "now" : NULL, hint);
    smurf_data_free(data);
}
