/*
 * match.c - maps the types of a data set, and the words of its further columns, to the numbers a model gives them.
 *
 * Named types are matched by name; unnamed ones are numbers already. Types that the model does not know become its type
 * "other" or, if it has none, one type after its own: their events keep their times, and their types are not scored.
 */
#include "data/builder.h"
#include "data/rare.h"
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

/* The number that a name is; UINT32_MAX if it is none. One word among numbers makes all of them words. */
static uint32_t number_of(const char *name)
{
    uint32_t value = 0;
    for (const char *p = name; *p; p++) {
        if (*p < '0' || *p > '9' || p - name == 9) return UINT32_MAX;
        value = 10 * value + (uint32_t)(*p - '0');
    }
    return *name ? value : UINT32_MAX;
}

static smurf_status find_places(const smurf_model *m, const smurf_data *data, uint32_t *place, smurf_error *err)
{
    if (data->type_name && m->type_name) return look_up(m, data, place, err);
    if (data->events && m->type_name)
        return smurf_fail_at(err, data->source, 0,
                             "its types are numbers, those of the model words (read them as words: --types words)");
    for (uint32_t k = 0; k < data->types; k++) {
        uint32_t number = data->type_name ? number_of(data->type_name[k]) : k;
        place[k] = number < m->types ? number : UINT32_MAX;
    }
    return SMURF_OK;
}

/* ---- Unknown types --------------------------------------------------------------------------- */

struct unknown {
    size_t events;
    uint32_t first, types; /* of the data, those that occur */
};

/* Counts the events of unknown types, whose place becomes `other`. */
static struct unknown settle_unknown(const smurf_data *data, uint32_t *place, uint32_t other)
{
    enum { SEEN = UINT32_MAX - 1 };
    struct unknown u = {0};
    for (size_t i = 0; i < data->events; i++) {
        uint32_t k = data->type[i];
        if (place[k] < SEEN) continue;
        if (u.events++ == 0) u.first = k;
        u.types += place[k] != SEEN;
        place[k] = SEEN;
    }
    for (uint32_t k = 0; k < data->types; k++)
        if (place[k] >= SEEN) place[k] = other;
    return u;
}

static smurf_status remark_unknown(struct builder *b, const smurf_model *m, const smurf_data *data, struct unknown u,
                                   smurf_error *err)
{
    bool other = smurf_model_other(m) < m->types || m->model.shape.unknown;
    char name[64];
    if (data->type_name)
        snprintf(name, sizeof name, "'%.50s'", data->type_name[u.first]);
    else
        snprintf(name, sizeof name, "%u", (unsigned)u.first);
    return smurf_builder_remark(b, err, "%zu event%s of a type that the model does not know, %s%s: %s", u.events,
                                u.events == 1 ? " is" : "s are", u.types > 1 ? "such as " : "", name,
                                other ? "it counts as '" OTHER_NAME "'" : "only the time is used");
}

/* Takes over all but the events, with the model's further columns and types, and one more if unknown ones need it. */
static smurf_status inherit(struct builder *b, const smurf_model *m, const smurf_data *data, struct unknown u,
                            smurf_error *err)
{
    smurf_data known = *data;
    bool more = u.events && smurf_model_other(m) == m->types;
    known.further = m->view.further ? m->view.further->further : (struct further){0};
    known.types = m->types + more;
    known.type_name = NULL;
    if (m->type_name) {
        known.type_name = malloc((m->types + 1) * sizeof *known.type_name);
        if (!known.type_name) return smurf_fail_memory(err);
        for (uint32_t k = 0; k < m->types; k++) known.type_name[k] = m->type_name[k];
        known.type_name[m->types] = OTHER_NAME;
    }
    smurf_status status = smurf_builder_inherit(b, &known, err);
    free(known.type_name);
    return status || !u.events ? status : remark_unknown(b, m, data, u, err);
}

/* Copies the sequences with their types, and the words of further columns, renumbered. */
static smurf_status copy_sequences(struct builder *b, const smurf_data *data, const uint32_t *place,
                                   const struct further_map *map, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    float row[FURTHER_COLUMNS];
    for (size_t s = 0; s < data->sequences && !status; s++) {
        const smurf_sequence *q = &data->sequence[s];
        const struct sequence_info info = {q->origin, q->start, q->end, q->first, q->name, q->before};
        for (size_t i = 0; i < q->length && !status; i++) {
            status = smurf_builder_time(b, q->time[i], err);
            if (!status) status = smurf_builder_index(b, place[q->type[i]], err);
            if (map->columns) smurf_further_translate(map, q->further ? q->further + i * q->columns : NULL, row);
            if (!status) status = smurf_builder_further(b, row, 1, err);
        }
        if (!status) status = smurf_builder_close(b, &info, err);
    }
    return status;
}

smurf_status smurf_model_match(const smurf_model *m, const smurf_data *data, smurf_data **out, smurf_error *err)
{
    *out = NULL;
    if (m->config.wall_clock && !data->calendar)
        return smurf_fail_at(err, data->source, 0,
                             "its times are not dates, but the model sees the clock on the wall: give it dates, or "
                             "train a model with wall-clock off");
    struct builder builder = {0};
    struct unknown unknown = {0};
    struct further_map map = {0};
    uint32_t *place = malloc((data->types + 1) * sizeof *place);
    smurf_status status = place ? find_places(m, data, place, err) : smurf_fail_memory(err);
    if (!status && m->view.further)
        status = smurf_further_map(&map, &data->further, &m->view.further->further, data->source, err);
    if (!status) unknown = settle_unknown(data, place, smurf_model_other(m));
    if (!status) status = inherit(&builder, m, data, unknown, err);
    if (!status) status = copy_sequences(&builder, data, place, &map, err);
    if (!status) status = smurf_builder_finish(&builder, out, err);
    smurf_builder_release(&builder);
    smurf_further_map_release(&map);
    free(place);
    return status;
}
