/*
 * fuzz_http.c - any bytes as a request to the service: an address, headers and a body (http_case.h). Whatever they are,
 * the answer is whole: JSON where it says so, an error with its three members, and a status that the document names.
 */
#include "http_case.h"

#include "live.h"

#include <jansson.h>

/* Stores are emptied now and then, so that they stay small. */
enum { REQUESTS_MOST = 200 };

static struct serve_options options = {.model = "none",
                                       .sequences = 50,
                                       .body_mb = 1,
                                       .memory_mb = 16,
                                       .connections = 9,
                                       .timeout = 9,
                                       .late = "refuse",
                                       .keep = SIZE_MAX};
static struct service service[2]; /* of numbers, of dates */
static struct {
    void *bytes;
    size_t size;
} model[2]; /* as files */
static int answered;

static void make_models(void)
{
    heard_begin();
    for (int i = 0; i < 2; i++) {
        smurf_model *made = heard_model(i);
        FUZZ_MUST(!smurf_model_save_memory(made, &model[i].bytes, &model[i].size, NULL));
        smurf_model_free(made);
    }
}

static void begin(void)
{
    if (!model[0].bytes) make_models();
    for (int i = 0; i < 2; i++) {
        struct service *v = &service[i];
        *v = (struct service){.o = &options, .calendar = i};
        FUZZ_MUST((v->clients = clients_new(options.connections, (unsigned)options.timeout)) != NULL);
        const struct store_options store = {.calendar = i, .most = options.sequences};
        FUZZ_MUST(store_open(&v->store, &store) == 0 && guard_new(&v->guard, &options, true) == 0);
        smurf_model *copy;
        FUZZ_MUST(!smurf_model_load_memory(&copy, model[i].bytes, model[i].size, NULL, NULL));
        FUZZ_MUST(serving_begin(v, copy) == 0 && live_new(&v->live, v) == 0);
    }
}

static void end(void)
{
    for (int i = 0; i < 2; i++) {
        live_free(service[i].live);
        serving_end(&service[i]);
        guard_free(service[i].guard);
        clients_free(service[i].clients);
        store_close(service[i].store);
    }
}

static void check_error(const json_t *answer)
{
    const json_t *error = json_object_get(answer, "error");
    const char *words = json_string_value(json_object_get(error, "message"));
    FUZZ_MUST(json_object_size(answer) == 1 && json_object_size(error) == 3 && words && *words);
    FUZZ_MUST(json_object_get(error, "field") && json_object_get(error, "do"));
}

static void check(const struct request *q)
{
    static const unsigned known[] = {200, 400, 401, 403, 404, 405, 409, 413, 429, 500, 503, 507};
    const struct reply *r = &q->reply;
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) found = found || known[i] == r->status;
    FUZZ_MUST(found && r->size > 0);
    if (strcmp(r->type, "application/json") != 0) return;
    json_t *answer = json_loadb(r->bytes, r->size, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_MUST(answer && r->bytes[r->size - 1] == '\n');
    if (r->status >= 400) check_error(answer);
    json_decref(answer);
}

static void ask(struct service *v, struct heard *h)
{
    struct request q;
    heard_request(&q, v, h);
    if (route_find(&q) && guard_admits(v->guard, &q) && query_names(&q) && strcmp(q.path, "/v1/model/reload") != 0) {
        q.serving = serving_take(v);
        q.route->answer(&q);
        serving_drop(v, q.serving);
    } else if (q.reply.status == 200) {
        fputs("{}\n", q.reply.out);
    }
    heard_answer(&q);
    if (q.reply.response)
        http.destroy_response(q.reply.response);
    else
        check(&q);
    free(q.reply.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (answered++ % REQUESTS_MOST == 0) {
        if (answered > 1) end();
        begin();
    }
    for (int i = 0; i < 2; i++) {
        struct heard h;
        heard_read(&h, bytes, size);
        ask(&service[i], &h);
        heard_free(&h);
    }
    return 0;
}
