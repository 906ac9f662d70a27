/*
 * model_pool.c - the naive laws that a model is pooled with, in its file: only what the chosen ones need.
 *
 *     {"law": "recent", "weight": 0.3, "gain": 2.1, "edges": [...], "bins": [[...], ...],
 *      "types": "Markov", "type_weight": 0.2, "type_gain": 0.05, "type_follow": 0.01, "pairs": [from, to, count, ...]}
 */
#include "model/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const smurf_pool *smurf_model_pool(const smurf_model *model)
{
    return model->notes.pool ? &model->notes.pool->found : NULL;
}

/* ---- To JSON --------------------------------------------------------------------------------- */

static json_t *pairs_to_json(const struct pairs *pairs)
{
    json_t *out = json_array();
    for (size_t i = 0; i < pairs->n; i++) {
        const struct pair *p = &pairs->pair[i];
        if (json_array_append_new(out, json_integer(p->from)) || json_array_append_new(out, json_integer(p->to)) ||
            json_array_append_new(out, json_integer((json_int_t)p->count))) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *bins_to_json(const struct pool *pool)
{
    json_t *out = json_array();
    for (size_t b = 0; b <= pool->bins; b++)
        if (json_array_append_new(out, smurf_json_numbers(pool->bin[b].gap, pool->bin[b].n))) {
            json_decref(out);
            return NULL;
        }
    return out;
}

/* Adds a member; false: out of memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool law_to_json(const struct pool *pool, json_t *out)
{
    if (!pool->law) return true;
    bool done = put(out, "law", json_string(smurf_pool_law_name(pool->law)));
    done = put(out, "weight", json_real(pool->weight)) && put(out, "gain", json_real(pool->found.gain)) && done;
    if (pool->wide.n) done = put(out, "gaps", smurf_json_numbers(pool->wide.gap, pool->wide.n)) && done;
    if (pool->bin) done = put(out, "edges", smurf_json_numbers(pool->edge, pool->bins - 1)) && done;
    if (pool->bin) done = put(out, "bins", bins_to_json(pool)) && done;
    if (pool->timezone) done = put(out, "timezone", json_string(pool->timezone)) && done;
    return done;
}

static bool types_to_json(const struct pool *pool, json_t *out)
{
    const struct recency *r = &pool->recency;
    bool done = true;
    if (pool->types)
        done = put(out, "types", json_string(smurf_pool_types_name(pool->types))) &&
               put(out, "type_weight", json_real(pool->type_weight)) &&
               put(out, "type_gain", json_real(pool->found.type_gain));
    if (pool->type_follow > 0) done = put(out, "type_follow", json_real(pool->type_follow)) && done;
    if (pool->pairs.n) done = put(out, "pairs", pairs_to_json(&pool->pairs)) && done;
    if (!r->common) return done;
    return put(out, "shares", smurf_json_numbers(r->share, RECENCY_GROUPS)) && put(out, "new", json_real(r->fresh)) &&
           put(out, "common", smurf_json_numbers(r->common, r->types)) && done;
}

json_t *smurf_model_pool_to_json(const struct pool *pool)
{
    json_t *out = json_object();
    if (law_to_json(pool, out) && types_to_json(pool, out)) return out;
    json_decref(out);
    return NULL;
}

/* ---- From JSON ------------------------------------------------------------------------------- */

static double number(const json_t *object, const char *key)
{
    const json_t *x = json_object_get(object, key);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

static bool gaps_from_json(struct pool_gaps *out, const json_t *array)
{
    out->n = json_array_size(array);
    return out->n >= 1 && out->n <= PAST_LAW && smurf_json_rising(array, out->gap, out->n, MODEL_TIME_MOST);
}

static smurf_status bins_from_json(struct pool *pool, const json_t *json, bool *right, smurf_error *err)
{
    const json_t *bins = json_object_get(json, "bins"), *edges = json_object_get(json, "edges");
    size_t n = json_array_size(bins);
    *right = n >= 2 && n <= POOL_BINS_MOST && smurf_json_rising(edges, pool->edge, n - 2, INFINITY);
    if (!*right) return SMURF_OK;
    if (!(pool->bin = calloc(n, sizeof *pool->bin))) return smurf_fail_memory(err);
    pool->bins = n - 1;
    for (size_t b = 0; b < n && *right; b++) *right = gaps_from_json(&pool->bin[b], json_array_get(bins, b));
    return SMURF_OK;
}

static smurf_status law_from_json(struct pool *pool, const json_t *json, bool *right, smurf_error *err)
{
    const char *name = json_string_value(json_object_get(json, "law"));
    const json_t *zone = json_object_get(json, "timezone");
    *right = true;
    if (!name) return SMURF_OK;
    for (enum pool_law law = POOL_MARGINAL; law < POOL_LAWS; law++)
        if (strcmp(name, smurf_pool_law_name(law)) == 0) pool->law = law;
    pool->weight = number(json, "weight");
    pool->found.gain = number(json, "gain");
    *right = pool->law && pool->weight > 0 && pool->weight <= 1 && isfinite(pool->found.gain);
    if (!*right) return SMURF_OK;
    if (pool->law == POOL_RECENT) return bins_from_json(pool, json, right, err);
    *right = gaps_from_json(&pool->wide, json_object_get(json, "gaps")) && (!zone || json_is_string(zone));
    if (!*right || pool->law != POOL_SAME_HOUR || !zone) return SMURF_OK;
    if (!(pool->timezone = strdup(json_string_value(zone)))) return smurf_fail_memory(err);
    return smurf_pool_open_zone(pool, err);
}

static smurf_status pairs_from_json(struct pairs *out, const json_t *array, uint32_t types, bool *right,
                                    smurf_error *err)
{
    size_t n = json_array_size(array) / 3;
    *right = n <= PAIRS_MOST && json_array_size(array) == 3 * n;
    if (!*right) return SMURF_OK;
    struct pair *pair = malloc((n + 1) * sizeof *pair);
    if (!pair) return smurf_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        json_int_t x[3];
        for (size_t k = 0; k < 3; k++) {
            const json_t *one = json_array_get(array, 3 * i + k);
            x[k] = json_is_integer(one) ? json_integer_value(one) : -1;
        }
        *right = *right && x[0] >= 0 && x[0] < types && x[1] >= 0 && x[1] < types && x[2] >= 0;
        pair[i] = (struct pair){(uint32_t)x[0], (uint32_t)x[1], (uint64_t)x[2]};
    }
    smurf_status status = SMURF_OK;
    if (*right) status = smurf_pairs_set(out, types, pair, n, right, err);
    free(pair);
    return status;
}

/* n numbers above 0 and at most 1. */
static bool shares(const json_t *array, double *out, size_t n)
{
    if (json_array_size(array) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(array, i);
        out[i] = json_is_number(x) ? json_number_value(x) : NAN;
        if (!(out[i] > 0 && out[i] <= 1)) return false;
    }
    return true;
}

static smurf_status recency_from_json(struct recency *out, const json_t *json, uint32_t types, bool *right,
                                      smurf_error *err)
{
    const json_t *common = json_object_get(json, "common");
    out->fresh = number(json, "new");
    *right = json_array_size(common) == types && types <= POOL_KNOWN_TYPES_MOST && out->fresh > 0 && out->fresh <= 1 &&
             shares(json_object_get(json, "shares"), out->share, RECENCY_GROUPS);
    if (!*right) return SMURF_OK;
    out->types = types;
    if (!(out->common = malloc(types * sizeof *out->common))) return smurf_fail_memory(err);
    *right = shares(common, out->common, types);
    return SMURF_OK;
}

static smurf_status types_from_json(struct pool *pool, const json_t *json, uint32_t types, bool *right,
                                    smurf_error *err)
{
    const char *name = json_string_value(json_object_get(json, "types"));
    const json_t *pairs = json_object_get(json, "pairs"), *follow = json_object_get(json, "type_follow");
    if (!name && !follow) return SMURF_OK;
    if (follow) pool->type_follow = number(json, "type_follow");
    *right = !follow || (pool->type_follow > 0 && pool->type_follow < 1 && (pairs || json_object_get(json, "shares")));
    for (enum pool_types t = POOL_MARKOV; t < POOL_TYPES && name; t++)
        if (strcmp(name, smurf_pool_types_name(t)) == 0) pool->types = t;
    if (name) {
        pool->type_weight = number(json, "type_weight");
        pool->found.type_gain = number(json, "type_gain");
        *right =
            *right && pool->types && pool->type_weight > 0 && pool->type_weight <= 1 && isfinite(pool->found.type_gain);
    }
    smurf_status status = SMURF_OK;
    if (*right && (pool->types == POOL_RECENCY || json_object_get(json, "shares")))
        status = recency_from_json(&pool->recency, json, types, right, err);
    if (!status && *right && (pool->types == POOL_MARKOV || pairs))
        status = pairs_from_json(&pool->pairs, pairs, types, right, err);
    return status;
}

smurf_status smurf_model_pool_from_json(struct pool **out, const json_t *json, uint32_t types, const char *file,
                                        bool *right, smurf_error *err)
{
    *out = NULL;
    *right = json_is_object(json);
    if (!*right) return SMURF_OK;
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return smurf_fail_memory(err);
    smurf_status status = law_from_json(pool, json, right, err);
    if (!status && *right) status = types_from_json(pool, json, types, right, err);
    if (status == SMURF_ERROR_INPUT) status = smurf_error_place(err, status, file, 0); /* an unknown time zone */
    if (!status && *right) *right = pool->law || pool->types || pool->type_follow > 0;
    if (status || !*right) {
        smurf_pool_free(pool);
        return status;
    }
    smurf_pool_trim(pool);
    *out = pool;
    return SMURF_OK;
}
