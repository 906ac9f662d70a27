/*
 * http_events.c - the events of a body: an object, an array of objects, or JSON Lines. A table is left to http_table.c.
 *
 *     {"sequence": "pump-7", "time": "2024-01-31T12:00:00Z", "type": "stop", "id": "a81f"}
 *
 * Names and types may be numbers; `time` is a date or a number, as in the model's data; `id` may be missing, and `type`
 * where there is only one.
 */
#include "http.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types ------------------------------------------------------------------------------------- */

struct type {
    const char *name;
    uint32_t number;
};
struct types {
    struct type *type; /* (count) by name; NULL: types are numbers */
    uint32_t count;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct type *)left)->name, ((const struct type *)right)->name);
}

struct types *types_new(const smurf_model *model)
{
    struct types *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->count = smurf_model_types(model);
    if (!smurf_model_type_name(model, 0)) return t;
    t->type = calloc(t->count, sizeof *t->type);
    if (!t->type) {
        free(t);
        return NULL;
    }
    for (uint32_t k = 0; k < t->count; k++) t->type[k] = (struct type){smurf_model_type_name(model, k), k};
    qsort(t->type, t->count, sizeof *t->type, by_name);
    return t;
}

void types_free(struct types *t)
{
    if (t) free(t->type);
    free(t);
}

uint32_t types_find(const struct types *t, const char *name)
{
    char *end;
    if (t->type) {
        const struct type key = {.name = name}, *found = bsearch(&key, t->type, t->count, sizeof key, by_name);
        return found ? found->number : t->count;
    }
    if (*name < '0' || *name > '9') return t->count;
    unsigned long number = strtoul(name, &end, 10);
    return *end || number >= t->count ? t->count : (uint32_t)number;
}

/* ---- One event --------------------------------------------------------------------------------- */

struct reading {
    struct request *request;
    struct store_batch *batch;
    size_t room;
};

static bool refuse(struct reading *r, const char *field, const char *what_to_do, const char *what)
{
    reply_error(&r->request->reply, MHD_HTTP_BAD_REQUEST, field, what_to_do, "event %zu: %s", r->batch->count, what);
    return false;
}

static bool no_memory(struct reading *r)
{
    reply_memory(&r->request->reply);
    return false;
}

/* A string or a number as text, in all its digits; NULL: neither. */
static const char *plain(const json_t *value, char number[40])
{
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(number, 40, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return number;
    }
    if (!json_is_real(value)) return NULL;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, 40, "%.*g", digits, json_real_value(value));
        if (strtod(number, NULL) == json_real_value(value)) break;
    }
    return number;
}

static bool read_name(struct reading *r, const json_t *object, const char *field, char **out)
{
    char number[40];
    const char *text = plain(json_object_get(object, field), number);
    if (!text || !*text)
        return refuse(r, field, "give a text or a number", text ? "the name is empty" : "it has no such name");
    if (strlen(text) > EVENT_NAME_MOST) return refuse(r, field, "give up to 512 bytes", "the name is too long");
    *out = strdup(text);
    return *out || no_memory(r);
}

static bool read_time(struct reading *r, const json_t *object, smurf_moment *out)
{
    const json_t *value = json_object_get(object, "time");
    int calendar = r->request->service->calendar;
    char number[40], *end;
    const char *text = plain(value, number);
    smurf_error err;
    if (!text)
        return refuse(r, "time", calendar ? "give a date such as \"2024-01-31T12:00:00Z\"" : "give a number",
                      "it has no time");
    strtod(text, &end);
    bool is_number = *text && !*end;
    if (is_number && calendar)
        return refuse(r, "time", "give a date such as \"2024-01-31T12:00:00Z\"",
                      "the time is a number, but the model's times are dates");
    if (!is_number && !calendar)
        return refuse(r, "time", "give a number", "the time is no number, but the model's times are numbers");
    if (smurf_moment_parse(out, text, &err))
        return refuse(r, "time", calendar ? "give a date such as \"2024-01-31T12:00:00Z\"" : "give a number",
                      err.message);
    return true;
}

static bool read_type(struct reading *r, const json_t *object, char **out)
{
    const struct types *types = r->request->serving->types;
    char text[700];
    if (!json_object_get(object, "type") && types->count == 1) {
        *out = strdup(types->type ? types->type[0].name : "0");
        return *out || no_memory(r);
    }
    if (!read_name(r, object, "type", out)) return false;
    if (types_find(types, *out) < types->count) return true;
    snprintf(text, sizeof text, "the model does not know the type '%s'", *out);
    return refuse(r, "type", "give one of the types in /v1/model, or train a model that knows it", text);
}

static bool check_fields(struct reading *r, json_t *object)
{
    static const char *const field[] = {"sequence", "time", "type", "id"};
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        bool known = false;
        for (size_t i = 0; i < sizeof field / sizeof *field; i++) known = known || strcmp(name, field[i]) == 0;
        if (!known)
            return refuse(r, name, "leave it out: an event has sequence, time, type and id", "there is no such field");
    }
    return true;
}

static bool read_event(struct reading *r, json_t *object)
{
    struct store_batch *b = r->batch;
    if (b->count == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        struct store_event *more = realloc(b->event, room * sizeof *more);
        if (!more) return no_memory(r);
        b->event = more;
        r->room = room;
    }
    struct store_event *e = &b->event[b->count++];
    *e = (struct store_event){0};
    if (!json_is_object(object))
        return refuse(r, NULL, "give an object with sequence, time and type", "it is no object");
    json_t *id = json_object_get(object, "id");
    return check_fields(r, object) && read_name(r, object, "sequence", &e->sequence) && read_time(r, object, &e->at) &&
           read_type(r, object, &e->type) && (!id || json_is_null(id) || read_name(r, object, "id", &e->id));
}

/* ---- The body ---------------------------------------------------------------------------------- */

static bool not_json(struct reading *r, const char *what)
{
    reply_error(&r->request->reply, MHD_HTTP_BAD_REQUEST, NULL, "send an object, an array of objects, or JSON Lines",
                "after %zu events the body is not JSON: %s", r->batch->count, what);
    return false;
}

static bool malformed(struct reading *r, const json_error_t *error)
{
    enum json_error_code code = json_error_code(error); /* some allocations fail without a code */
    if (code == json_error_out_of_memory || code == json_error_unknown) return no_memory(r);
    return not_json(r, error->text);
}

/* One event at *p. Values are read one at a time and no further than an event may take, so that a body takes little
   more memory than its events, whatever is in it. */
static bool read_value(struct reading *r, const char **p, const char *end)
{
    json_error_t error;
    bool cut = end - *p > EVENT_MOST;
    json_t *value = json_loadb(*p, cut ? (size_t)EVENT_MOST : (size_t)(end - *p),
                               JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
    if (!value && cut && json_error_code(&error) == json_error_premature_end_of_input) {
        reply_error(&r->request->reply, MHD_HTTP_BAD_REQUEST, NULL, "an event has names of up to 512 bytes",
                    "event %zu: it is longer than 64 KB", r->batch->count + 1);
        return false;
    }
    bool good = value ? read_event(r, value) : malformed(r, &error);
    json_decref(value);
    *p += error.position;
    return good;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && *p && strchr(" \t\r\n", *p)) p++;
    return p;
}

/* An array of events; *p is behind its '['. */
static bool read_array(struct reading *r, const char **p, const char *end)
{
    static const char missing[] = "a ',' or ']' is missing";
    *p = skip_space(*p, end);
    bool more = *p == end || **p != ']';
    while (more) {
        if (*p == end) return not_json(r, missing);
        if (**p != '{') return read_event(r, NULL);
        if (!read_value(r, p, end)) return false;
        *p = skip_space(*p, end);
        if (*p == end || (**p != ',' && **p != ']')) return not_json(r, missing);
        more = **p == ',';
        if (more) *p = skip_space(*p + 1, end);
    }
    ++*p;
    return true;
}

bool events_read(struct request *q, struct store_batch *out)
{
    if (events_read_plain(q, out)) return true;
    if (!body_is_json(q) && strpbrk(q->body, ",;\t") && strchr(q->body, '\n')) return events_read_table(q, out);
    struct reading r = {.request = q, .batch = out};
    *out = (struct store_batch){0};
    const char *p = q->body, *end = q->body + q->size;
    while ((p = skip_space(p, end)) < end) {
        bool array = *p == '[';
        if (array) p++;
        if (!(array ? read_array(&r, &p, end) : read_value(&r, &p, end))) return false;
    }
    if (out->count) return true;
    reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, NULL, "send an object, an array of objects, or JSON Lines",
                "the body holds no event");
    return false;
}

void events_release(struct store_batch *b)
{
    for (size_t i = 0; i < b->count && !b->borrowed; i++) {
        free(b->event[i].sequence);
        free(b->event[i].type);
        free(b->event[i].id);
    }
    free(b->event);
}
