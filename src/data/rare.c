/* rare.c - see rare.h. */
#include "data/rare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t smurf_other_type(const char *const *type_name, uint32_t types)
{
    for (uint32_t k = 0; type_name && k < types; k++)
        if (strcmp(type_name[k], OTHER_NAME) == 0) return k;
    return types;
}

/* The new numbering: kept types in their old order, then "other", unless there is a type of that name. */
struct numbering {
    uint32_t *place; /* (old types) */
    uint32_t *old;   /* (types) the inverse; that of a new "other" is the old number of types */
    uint32_t types;  /* new */
    size_t present, merged_types, rare_events; /* in the first part */
};

static smurf_status count_events(const smurf_data *data, uint32_t **out, smurf_error *err)
{
    uint32_t *count = *out = calloc((size_t)data->types + 1, sizeof *count);
    if (!count) return smurf_fail_memory(err);
    for (size_t i = 0; i < data->events; i++) count[data->type[i]] += count[data->type[i]] < UINT32_MAX;
    return SMURF_OK;
}

/* Sets up the numbering; merged_types 0: nothing to do. */
static smurf_status number(struct numbering *out, const smurf_data *data, size_t least, smurf_error *err)
{
    uint32_t *count, other = smurf_other_type(data->type_name, data->types);
    *out = (struct numbering){0};
    smurf_status status = count_events(data, &count, err);
    if (status) return status;
    for (uint32_t k = 0; k < data->types; k++) {
        out->present += count[k] > 0;
        if (k == other || count[k] == 0 || count[k] >= least) continue;
        out->merged_types++;
        out->rare_events += count[k];
    }
    if (out->present <= RARE_TYPES_KEPT) out->merged_types = 0;
    if (out->merged_types) {
        out->place = malloc(((size_t)data->types + 1) * sizeof *out->place);
        out->old = malloc(((size_t)data->types + 1) * sizeof *out->old);
        if (!out->place || !out->old) status = smurf_fail_memory(err);
    }
    for (uint32_t k = 0; out->merged_types && !status && k < data->types; k++) {
        bool kept = k == other || count[k] >= least;
        out->place[k] = kept ? out->types : UINT32_MAX;
        if (kept) out->old[out->types++] = k;
    }
    if (out->merged_types && !status) {
        uint32_t to = other < data->types ? out->place[other] : out->types;
        if (other == data->types) out->old[out->types++] = other;
        for (uint32_t k = 0; k < data->types; k++)
            if (out->place[k] == UINT32_MAX) out->place[k] = to;
    }
    free(count);
    return status;
}

/* Copies types that were lent. */
static bool own_types(smurf_data *data)
{
    uint32_t *own = malloc((data->events + 1) * sizeof *own);
    if (!own) return false;
    for (size_t i = 0; i < data->events; i++) own[i] = data->type[i];
    for (size_t i = 0, at = 0; i < data->sequences; at += data->sequence[i++].length) data->sequence[i].type = own + at;
    data->type = data->own_type = own;
    return true;
}

static smurf_status rename_types(smurf_data *data, const struct numbering *n, smurf_error *err)
{
    const char **name = malloc(n->types * sizeof *name);
    bool ok = name;
    for (uint32_t k = 0; ok && k < n->types; k++) {
        char text[16];
        if (n->old[k] == data->types)
            name[k] = OTHER_NAME;
        else if (data->type_name)
            name[k] = data->type_name[n->old[k]];
        else
            ok = (name[k] = smurf_arena_text(&data->text, text, (size_t)snprintf(text, sizeof text, "%u", n->old[k])));
    }
    if (!ok) {
        free(name);
        return smurf_fail_memory(err);
    }
    if (!data->own_type && !own_types(data)) {
        free(name);
        return smurf_fail_memory(err);
    }
    for (size_t i = 0; i < data->events; i++) data->own_type[i] = n->place[data->own_type[i]];
    free(data->type_name);
    data->type_name = name;
    data->types = n->types;
    return SMURF_OK;
}

static smurf_status add_remark(smurf_data *data, const struct numbering *n, size_t least, smurf_error *err)
{
    char text[200];
    int length = snprintf(text, sizeof text,
                          "%zu of %zu types have fewer than %zu events: their %zu events are of the type '" OTHER_NAME
                          "' (--rare 0 keeps them)",
                          n->merged_types, n->present, least, n->rare_events);
    size_t remarks = 0;
    while (data->remark && data->remark[remarks]) remarks++;
    const char **list = realloc(data->remark, (remarks + 2) * sizeof *list);
    if (!list) return smurf_fail_memory(err);
    data->remark = list;
    list[remarks] = smurf_arena_text(&data->text, text, (size_t)length);
    list[remarks + 1] = NULL;
    return list[remarks] ? SMURF_OK : smurf_fail_memory(err);
}

smurf_status smurf_rare_merge(smurf_data *const part[], size_t n, size_t least, smurf_error *err)
{
    struct numbering numbering;
    if (least <= 1 || part[0]->types <= RARE_TYPES_KEPT) return SMURF_OK;
    smurf_status status = number(&numbering, part[0], least, err);
    for (size_t i = 0; i < n && !status && numbering.merged_types; i++)
        if (part[i]) status = rename_types(part[i], &numbering, err);
    if (!status && numbering.merged_types) status = add_remark(part[0], &numbering, least, err);
    free(numbering.place);
    free(numbering.old);
    return status;
}
