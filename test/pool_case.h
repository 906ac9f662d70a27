/*
 * pool_case.h - models that are pooled with a given naive law, for tests.
 */
#ifndef SMURF_TEST_POOL_CASE_H
#define SMURF_TEST_POOL_CASE_H

#include "forecast_case.h"

#include "base/random.h"
#include "data/data.h"
#include "forecast/forecast.h"
#include "forecast/pool_fit.h"

/* Pools a model with these laws of train, each in the share 0.4. */
static inline void set_pool(smurf_model *model, const smurf_data *train, enum pool_law law, enum pool_types types)
{
    smurf_error err;
    struct pool *pool = calloc(1, sizeof *pool);
    assert_non_null(pool);
    if (smurf_pool_laws(pool, train, model->types, &err)) fail_msg("%s", err.message);
    assert_true(law <= pool->law && types <= pool->types);
    pool->law = law;
    pool->types = types;
    pool->weight = pool->type_weight = 0.4;
    smurf_pool_trim(pool);
    smurf_pool_free(model->notes.pool);
    model->notes.pool = pool;
}

/* The same for types alone, the first of these laws in the share 0.3; the weights follow what comes. */
static inline void set_follow(smurf_model *model, const smurf_data *train, enum pool_types types, double rate)
{
    struct pool *pool = calloc(1, sizeof *pool);
    assert_non_null(pool);
    smurf_pool_free(model->notes.pool);
    model->notes.pool = pool;
    assert_int_equal(smurf_pool_laws(pool, train, model->types, NULL), SMURF_OK);
    pool->law = POOL_NO_LAW;
    pool->types = types;
    pool->type_weight = types ? 0.3 : 0;
    pool->type_follow = rate;
    smurf_pool_trim(pool);
}

/* A log with dates, two weeks long, of `sequences` sequences with three types: gaps are short by day and long by night.
 */
static inline smurf_data *dated_log(size_t sequences, size_t events, uint64_t seed)
{
    struct random random;
    smurf_random_init(&random, seed, 0);
    size_t room = 80 * sequences * events + 100, used = 0;
    char *text = malloc(room);
    assert_non_null(text);
    used += (size_t)snprintf(text, room, "case,time,type\n");
    for (size_t s = 0; s < sequences; s++) {
        double at = 3600 * (double)s;
        for (size_t i = 0; i < events; i++) {
            int hour = (int)(at / 3600) % 24, seconds = (int)at;
            used += (size_t)snprintf(text + used, room - used, "c%zu,2021-03-%02dT%02d:%02d:%02dZ,%c\n", s,
                                     1 + seconds / 86400 % 28, hour, seconds / 60 % 60, seconds % 60,
                                     "abc"[smurf_random_below(&random, 3)]);
            at += (hour >= 8 && hour < 20 ? 600 : 7200) * smurf_random_exponential(&random) + 1;
        }
    }
    smurf_data *data = read_text(text);
    free(text);
    assert_true(data->calendar);
    return data;
}

#endif
