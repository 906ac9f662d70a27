/* http_table.c - a body that is a file of events, read as the data of training was: to be forecast, or to be stored. */
#include "http.h"

#include <stdlib.h>
#include <string.h>

bool body_is_json(const struct request *q)
{
    size_t at = strspn(q->body, " \t\r\n");
    return q->body[at] == '{' || q->body[at] == '[';
}

smurf_status body_data(const struct request *q, smurf_data **out, smurf_error *err)
{
    const smurf_model *model = q->serving->model;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = smurf_format_of_path(body_is_json(q) ? "body.jsonl" : "body.csv");
    config.as = smurf_model_reading(model);
    config.types_are_words = smurf_model_type_name(model, 0) != NULL;
    config.rare = 0;
    return smurf_data_read_memory(out, q->body, q->size, "body", &config, err);
}

/* ---- As events --------------------------------------------------------------------------------- */

/* An event of the data; its place in a sequence breaks ties. */
struct place {
    smurf_moment at;
    size_t sequence, k;
};

static int by_time(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    double gap = smurf_moment_gap(b->at, a->at);
    if (gap != 0) return gap > 0 ? 1 : -1;
    if (a->sequence != b->sequence) return a->sequence > b->sequence ? 1 : -1;
    return a->k > b->k ? 1 : -1;
}

/* All events in the order of time, as they would have come; NULL: out of memory. */
static struct place *in_order(const smurf_data *data)
{
    struct place *place = malloc((smurf_data_events(data) + 1) * sizeof *place);
    size_t n = 0;
    for (size_t i = 0; place && i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        for (size_t k = 0; k < s->length; k++, n++) {
            place[n] = (struct place){{s->origin, 0}, i, k};
            smurf_moment_after(&place[n].at, (smurf_moment){s->origin, 0}, s->time[k]);
        }
    }
    if (place) qsort(place, n, sizeof *place, by_time);
    return place;
}

/* The name of a type, or its number. */
static const char *type_of(char number[24], const smurf_data *data, uint32_t type)
{
    const char *name = smurf_data_type_name(data, type);
    if (!name) snprintf(number, 24, "%u", (unsigned)type);
    return name ? name : number;
}

static bool take(struct store_batch *b, const smurf_data *data, const struct place *place)
{
    char name[24], type[24];
    const smurf_sequence *s = smurf_data_sequence(data, place->sequence);
    struct store_event *e = &b->event[b->count++];
    *e = (struct store_event){.sequence = strdup(sequence_text(name, s, place->sequence)),
                              .type = strdup(type_of(type, data, s->type[place->k])),
                              .at = place->at};
    return e->sequence && e->type;
}

/* False, and nothing to be told: out of memory. */
static bool take_all(const smurf_data *data, struct store_batch *out)
{
    size_t n = smurf_data_events(data);
    struct place *place = in_order(data);
    out->event = calloc(n + 1, sizeof *out->event);
    bool good = place && out->event;
    for (size_t i = 0; i < n && good; i++) good = take(out, data, &place[i]);
    free(place);
    return good;
}

/* ---- What cannot be stored --------------------------------------------------------------------- */

static bool names_fit(struct request *q, const smurf_data *data)
{
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const char *name = smurf_data_sequence(data, i)->name;
        if (!name || strlen(name) <= EVENT_NAME_MOST) continue;
        reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, "sequence", "give up to 512 bytes",
                    "the name '%.100s...' is too long", name);
        return false;
    }
    return true;
}

/* Types that do not occur are no trouble. */
static bool types_are_known(struct request *q, const smurf_data *data)
{
    const struct types *types = q->serving->types;
    char number[24];
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        for (size_t k = 0; k < s->length; k++) {
            const char *name = type_of(number, data, s->type[k]);
            if (types_find(types, name) < smurf_model_types(q->serving->model)) continue;
            reply_error(&q->reply, MHD_HTTP_BAD_REQUEST, "type",
                        "give one of the types in /v1/model, or train a model that knows it",
                        "the model does not know the type '%.200s'", name);
            return false;
        }
    }
    return true;
}

bool events_read_table(struct request *q, struct store_batch *out)
{
    smurf_data *data;
    smurf_error err;
    *out = (struct store_batch){0};
    if (body_data(q, &data, &err)) {
        reply_library(&q->reply, &err, NULL, "send JSON, JSON Lines, or a table as in the data of training");
        return false;
    }
    bool good = names_fit(q, data) && types_are_known(q, data), taken = good && take_all(data, out);
    if (good && !taken) reply_memory(&q->reply);
    smurf_data_free(data);
    return taken;
}
