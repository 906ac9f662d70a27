/*
 * http_case.h - requests without connections, for tests of the service: an address, headers and a body as text.
 *
 *     GET /v1/forecast/a%20b?levels=0.5&top=1
 *     Host: localhost
 *     (an empty line, and the body)
 */
#ifndef SMURF_TEST_HTTP_CASE_H
#define SMURF_TEST_HTTP_CASE_H

#include "http.h"

#include "fuzz.h"

enum { PAIRS_MOST = 64 };
struct pair {
    enum MHD_ValueKind kind;
    const char *name, *value; /* value NULL: none, as in ?a */
};
/* Stands for a connection of libmicrohttpd. */
struct heard {
    char *text; /* of all below */
    const char *method, *path, *body;
    size_t size;
    struct pair pair[PAIRS_MOST];
    size_t pairs;
};

static const char *heard_value(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *name)
{
    const struct heard *h = (void *)connection;
    for (size_t i = 0; i < h->pairs; i++)
        if (h->pair[i].kind == kind && strcasecmp(h->pair[i].name, name) == 0) return h->pair[i].value;
    return NULL;
}

static int heard_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator take,
                        void *context)
{
    const struct heard *h = (void *)connection;
    int n = 0;
    for (size_t i = 0; i < h->pairs; i++)
        if (h->pair[i].kind == kind && ++n && take(context, kind, h->pair[i].name, h->pair[i].value) == MHD_NO) break;
    return n;
}

static const union MHD_ConnectionInfo *heard_info(struct MHD_Connection *connection, enum MHD_ConnectionInfoType type,
                                                  ...)
{
    (void)connection, (void)type;
    return NULL;
}

/* The libraries, but what they say of a connection comes from `struct heard`. */
static inline void heard_begin(void)
{
    FUZZ_MUST(load_libraries() == 0);
    http.lookup_connection_value = heard_value;
    http.get_connection_values = heard_values;
    http.get_connection_info = heard_info;
}

static inline void heard_pair(struct heard *h, enum MHD_ValueKind kind, const char *name, const char *value)
{
    if (h->pairs < PAIRS_MOST) h->pair[h->pairs++] = (struct pair){kind, name, value};
}

/* What comes before the separator; *rest: what comes after it, or NULL. Writes a NUL. */
static inline char *heard_cut(char *text, const char *separator, char **rest)
{
    *rest = strstr(text, separator);
    if (*rest) {
        **rest = '\0';
        *rest += strlen(separator);
    }
    return text;
}

static inline void heard_query(struct heard *h, char *text)
{
    for (char *rest; text && *text; text = rest) {
        char *value, *name = heard_cut(heard_cut(text, "&", &rest), "=", &value);
        query_unescape(name);
        if (value) query_unescape(value);
        heard_pair(h, MHD_GET_ARGUMENT_KIND, name, value);
    }
}

/* Free with heard_free. */
static inline void heard_read(struct heard *h, const void *bytes, size_t size)
{
    char *rest, *line, *query;
    *h = (struct heard){.text = malloc(size + 1)};
    FUZZ_MUST(h->text);
    memcpy(h->text, bytes, size);
    h->text[size] = '\0';
    line = heard_cut(h->text, "\n", &rest);
    char *address;
    h->method = heard_cut(line, " ", &address);
    h->path = address ? heard_cut(address, "?", &query) : "";
    if (address) query_unescape(address);
    if (address && query) heard_query(h, query);
    while (rest && *rest && *rest != '\n') {
        char *value, *name = heard_cut(heard_cut(rest, "\n", &rest), ": ", &value);
        heard_pair(h, MHD_HEADER_KIND, name, value);
    }
    h->body = rest && *rest ? rest + 1 : "";
    h->size = size - (size_t)(h->body - h->text);
    if (!rest || !*rest) h->size = 0;
}

static inline void heard_free(struct heard *h)
{
    free(h->text);
}

/* A request as the server would make it; its body is that of `h`. */
static inline void heard_request(struct request *q, struct service *v, struct heard *h)
{
    *q = (struct request){.service = v, .connection = (void *)h, .method = h->method, .path = h->path};
    q->body = (char *)h->body;
    q->size = h->size;
    reply_begin(&q->reply);
    FUZZ_MUST(q->reply.out);
}

/* Ends the answer, so that its bytes can be read. */
static inline void heard_answer(struct request *q)
{
    FUZZ_MUST(q->reply.out && fclose(q->reply.out) == 0);
    q->reply.out = NULL;
}

/* A small model of two types, of dates or of numbers. */
static inline smurf_model *heard_model(int calendar)
{
    char text[4000];
    size_t used = (size_t)snprintf(text, sizeof text, "case,time,event\n");
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 calendar ? "c%d,2024-02-%02dT%02d:00:00Z,%s\n" : "c%d,%d.%d,%s\n", i % 4, i / 4 + 1,
                                 i * 7 % 24, i % 3 ? "login" : "logout");
    smurf_data *data;
    smurf_settings *settings;
    smurf_model *model;
    smurf_fit_config config;
    smurf_error err;
    FUZZ_MUST(!smurf_data_read_memory(&data, text, used, "log", NULL, &err));
    FUZZ_MUST(!smurf_settings_new(&settings, "default", data, &err));
    static const char *const set[][2] = {{"width", "4"}, {"heads", "1"},  {"head-width", "4"}, {"layers", "1"},
                                         {"inner", "4"}, {"epochs", "1"}, {"threads", "1"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        FUZZ_MUST(!smurf_settings_set(settings, set[i][0], set[i][1], &err));
    smurf_fit_config_init(&config);
    FUZZ_MUST(!smurf_fit(&model, settings, data, NULL, &config, &err));
    smurf_settings_free(settings);
    smurf_data_free(data);
    return model;
}

#endif
