/* recency.c - see recency.h. */
#include "naive/recency.h"

#include "base/error.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

enum { SINGLE = 8 };

/* 0 .. 7 are their own groups; then 8 .. 15, 16 .. 31 and so on. */
static size_t group_of(size_t rank)
{
    size_t group = rank;
    if (rank < SINGLE) return group;
    for (group = SINGLE; rank >= 2 * SINGLE; rank /= 2) group++;
    return group < RECENCY_GROUPS ? group : RECENCY_GROUPS - 1;
}

/* The rank after the last of a group. */
static size_t end_of(size_t group)
{
    return group < SINGLE ? group + 1 : (size_t)SINGLE << (group - SINGLE + 1);
}

/* ---- The list -------------------------------------------------------------------------------- */

bool smurf_recent_types_init(struct recent_types *list, uint32_t types)
{
    *list = (struct recent_types){.types = types, .type = malloc((types + 1) * sizeof *list->type)};
    return list->type != NULL;
}

void smurf_recent_types_release(struct recent_types *list)
{
    free(list->type);
    *list = (struct recent_types){0};
}

static uint32_t find(const struct recent_types *list, uint32_t type)
{
    uint32_t at = 0;
    while (at < list->n && list->type[at] != type) at++;
    return at;
}

void smurf_recent_types_push(struct recent_types *list, uint32_t type)
{
    if (type >= list->types) return;
    uint32_t at = find(list, type);
    if (at == list->n) list->n++;
    memmove(list->type + 1, list->type, at * sizeof *list->type);
    list->type[0] = type;
}

/* ---- Fitting --------------------------------------------------------------------------------- */

struct counts {
    double hits[RECENCY_GROUPS], there[RECENCY_GROUPS], fresh, may_be_fresh;
};

static void count_event(struct counts *c, const struct recent_types *list, uint32_t type)
{
    uint32_t rank = find(list, type);
    size_t from = 0;
    for (size_t g = 0; g < RECENCY_GROUPS && from < list->n; from = end_of(g), g++)
        c->there[g] += (double)((end_of(g) < list->n ? end_of(g) : list->n) - from);
    c->may_be_fresh += list->n < list->types;
    if (rank < list->n)
        c->hits[group_of(rank)]++;
    else
        c->fresh++;
}

static void count_train(struct counts *c, struct recent_types *list, const smurf_data *train, double *common)
{
    for (size_t s = 0; s < train->sequences; s++) {
        const smurf_sequence *q = &train->sequence[s];
        list->n = 0;
        for (size_t i = 0; i < q->length; i++) {
            if (i >= q->first) {
                count_event(c, list, q->type[i]);
                common[q->type[i]]++;
            }
            smurf_recent_types_push(list, q->type[i]);
        }
    }
}

smurf_status smurf_recency_init(struct recency *out, const smurf_data *train, smurf_error *err)
{
    struct counts c = {0};
    struct recent_types list;
    bool listed = smurf_recent_types_init(&list, train->types);
    *out = (struct recency){.types = train->types, .common = calloc(train->types, sizeof *out->common)};
    if (!listed || !out->common) {
        smurf_recent_types_release(&list);
        smurf_recency_release(out);
        return smurf_fail_memory(err);
    }
    count_train(&c, &list, train, out->common);
    double all = 0;
    for (uint32_t k = 0; k < out->types; k++) all += out->common[k] += 0.5;
    for (uint32_t k = 0; k < out->types; k++) out->common[k] /= all;
    for (size_t g = 0; g < RECENCY_GROUPS; g++) out->share[g] = (c.hits[g] + 0.5) / (c.there[g] + 1);
    out->fresh = (c.fresh + 0.5) / (c.may_be_fresh + 1);
    smurf_recent_types_release(&list);
    return SMURF_OK;
}

void smurf_recency_release(struct recency *recency)
{
    free(recency->common);
    *recency = (struct recency){0};
}

/* ---- Probabilities --------------------------------------------------------------------------- */

void smurf_recency_shares(const struct recency *recency, const struct recent_types *list, double *out)
{
    double seen = 0, total = 0;
    for (uint32_t r = 0; r < list->n; r++) seen += recency->common[list->type[r]];
    double fresh = list->n < recency->types && seen < 1 ? recency->fresh / (1 - seen) : 0;
    for (uint32_t k = 0; k < recency->types; k++) out[k] = fresh * recency->common[k];
    for (uint32_t r = 0; r < list->n; r++) out[list->type[r]] = recency->share[group_of(r)];
    for (uint32_t k = 0; k < recency->types; k++) total += out[k];
    for (uint32_t k = 0; k < recency->types; k++) out[k] /= total;
}
