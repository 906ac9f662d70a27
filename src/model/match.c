/*
 * match.c - numbers the types of a data set as a model does.
 *
 * Types with names are found by name; those without are numbers already, and must be among the model's.
 */
#include "data/data.h"
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

/* For each type of the data its number in the model; UINT32_MAX where the model has none. */
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

/* The model's names in place of the data's, or none. */
static smurf_status rename_types(const smurf_model *m, smurf_data *data, smurf_error *err)
{
    const char **names = calloc(m->types + 1, sizeof *names);
    if (!names) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < m->types; k++)
        if (!(names[k] = smurf_arena_text(&data->text, m->type_name[k], strlen(m->type_name[k])))) {
            free(names);
            return smurf_fail_memory(err);
        }
    free(data->type_name);
    data->type_name = names;
    return SMURF_OK;
}

static smurf_status match_names(const smurf_model *m, smurf_data *data, smurf_error *err)
{
    uint32_t *place = malloc((data->types + 1) * sizeof *place);
    smurf_status status = place ? look_up(m, data, place, err) : smurf_fail_memory(err);
    for (size_t i = 0; i < data->events && !status; i++)
        if (place[data->type[i]] == UINT32_MAX) status = unknown(m, data, data->type_name[data->type[i]], err);
    if (!status && !smurf_data_own_types(data)) status = smurf_fail_memory(err);
    if (!status) {
        for (size_t i = 0; i < data->events; i++) data->own_type[i] = place[data->own_type[i]];
        status = rename_types(m, data, err);
    }
    free(place);
    return status;
}

smurf_status smurf_model_match(const smurf_model *m, smurf_data *data, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    if (data->events == 0) {
        if (m->type_name) status = rename_types(m, data, err);
    } else if (data->type_name && m->type_name) {
        status = match_names(m, data, err);
    } else if (data->type_name || m->type_name) {
        status = smurf_fail_at(err, data->source, 0, "its types are %s, those of the model %s%s",
                               data->type_name ? "words" : "numbers", m->type_name ? "words" : "numbers",
                               m->type_name ? " (read them as words: --types words)" : "");
    } else {
        for (size_t i = 0; i < data->events && !status; i++)
            if (data->type[i] >= m->types)
                status = smurf_fail_at(err, data->source, 0, "type %u is unknown to the model, which knows 0 to %u",
                                       (unsigned)data->type[i], (unsigned)(m->types - 1));
    }
    if (!status) data->types = m->types;
    return status;
}
