/*
 * match.c - maps the types of a data set to the numbers a model gives them.
 *
 * Named types are matched by name; unnamed ones are numbers already, and must be in the model's range.
 */
#include "data/builder.h"
#include "model/model_file.h"

#include <stdlib.h>
#include <string.h>

struct name_place {
    const char *name;
    uint32_t place;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct name_place *)left)->name, ((const struct name_place *)right)->name);
}

static smurf_status unknown(const smurf_model *m, const smurf_data *data, const char *name, smurf_error *err)
{
    char known[256] = "";
    size_t n = 0;
    for (uint32_t k = 0; k < m->types && k < 6 && n < sizeof known - 60; k++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%.40s", k ? ", " : "", m->type_name[k]);
    return smurf_fail_at(err, data->source, 0, "type '%.100s' is unknown to the model, which knows %s%s", name, known,
                         m->types > 6 ? ", ..." : "");
}

/* The number in the model of each type of the data; UINT32_MAX if the model lacks it. */
static smurf_status look_up(const smurf_model *m, const smurf_data *data, uint32_t *place, smurf_error *err)
{
    struct name_place *table = malloc((m->types + 1) * sizeof *table);
    if (!table) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < m->types; k++) table[k] = (struct name_place){m->type_name[k], k};
    qsort(table, m->types, sizeof *table, by_name);
    for (uint32_t k = 0; k < data->types; k++) {
        struct name_place wanted = {data->type_name[k], 0};
        const struct name_place *found = bsearch(&wanted, table, m->types, sizeof *table, by_name);
        place[k] = found ? found->place : UINT32_MAX;
    }
    free(table);
    return SMURF_OK;
}

/* Same, with an error if an event has a type that the model lacks. */
static smurf_status find_places(const smurf_model *m, const smurf_data *data, uint32_t *place, smurf_error *err)
{
    bool words = data->type_name && m->type_name;
    if (data->events && !words && (data->type_name || m->type_name))
        return smurf_fail_at(err, data->source, 0, "its types are %s, those of the model %s%s",
                             data->type_name ? "words" : "numbers", m->type_name ? "words" : "numbers",
                             m->type_name ? " (read them as words: --types words)" : "");
    smurf_status status = words ? look_up(m, data, place, err) : SMURF_OK;
    for (uint32_t k = 0; k < data->types && !words; k++) place[k] = k < m->types ? k : UINT32_MAX;
    for (size_t i = 0; i < data->events && !status; i++) {
        if (place[data->type[i]] != UINT32_MAX) continue;
        if (words) return unknown(m, data, data->type_name[data->type[i]], err);
        status = smurf_fail_at(err, data->source, 0, "type %u is unknown to the model, which knows 0 to %u",
                               (unsigned)data->type[i], (unsigned)(m->types - 1));
    }
    return status;
}

/* Copies the sequences with their types renumbered. */
static smurf_status copy_sequences(struct builder *b, const smurf_data *data, const uint32_t *place, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (size_t s = 0; s < data->sequences && !status; s++) {
        const smurf_sequence *q = &data->sequence[s];
        const struct sequence_info info = {q->origin, q->start, q->end, q->first, q->name, q->before};
        for (size_t i = 0; i < q->length && !status; i++) {
            status = smurf_builder_time(b, q->time[i], err);
            if (!status) status = smurf_builder_index(b, place[q->type[i]], err);
        }
        if (!status) status = smurf_builder_close(b, &info, err);
    }
    return status;
}

smurf_status smurf_model_match(const smurf_model *m, const smurf_data *data, smurf_data **out, smurf_error *err)
{
    *out = NULL;
    struct builder builder = {0};
    smurf_data known = *data; /* same data with the model's types */
    known.types = m->types;
    known.type_name = (const char **)m->type_name;
    uint32_t *place = malloc((data->types + 1) * sizeof *place);
    smurf_status status = place ? find_places(m, data, place, err) : smurf_fail_memory(err);
    if (!status) status = smurf_builder_inherit(&builder, &known, err);
    if (!status) status = copy_sequences(&builder, data, place, err);
    if (!status) status = smurf_builder_finish(&builder, out, err);
    smurf_builder_release(&builder);
    free(place);
    return status;
}
