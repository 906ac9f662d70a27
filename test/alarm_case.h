/*
 * alarm_case.h - twenty simulated machines that report an event an hour each, and the alarms about them: for tests, and
 * for bench/alarms.c.
 */
#ifndef SMURF_TEST_ALARM_CASE_H
#define SMURF_TEST_ALARM_CASE_H

#include "base/random.h"
#include "smurf.h"

#include <math.h>
#include <stdlib.h>

enum { SEQUENCES = 20 };

/* Sequences whose gaps are Weibull with mean 1/24 day, of one event an hour; the law forecast is exponential with that
   mean, true for shape 1. */
struct stream {
    smurf_alarms *alarms;
    smurf_track track[SEQUENCES];
    double shape, last[SEQUENCES], next[SEQUENCES], due[SEQUENCES]; /* days; due: the level of 1 - F that is overdue */
    double rate[SEQUENCES];                                         /* relative to what is forecast */
    double unknown; /* share of the events of sequence 0 whose type is unknown */
    struct random random;
    double count[SMURF_ALARMS], days;
    double at[SMURF_ALARMS]; /* of the last alarm */
};

static inline double gap_of(struct stream *s, int q)
{
    double scale = 1 / (24 * tgamma(1 + 1 / s->shape) * s->rate[q]);
    return scale * pow(smurf_random_exponential(&s->random), 1 / s->shape);
}

static inline void begin(struct stream *s, double per_day, double shape, int adapt, uint64_t seed)
{
    smurf_alarms_config config;
    *s = (struct stream){.shape = shape};
    smurf_random_init(&s->random, seed, 0);
    smurf_alarms_config_init(&config);
    config.per_day = per_day;
    config.day = 1;
    config.adapt = adapt;
    if (smurf_alarms_new(&s->alarms, &config, NULL)) abort();
    for (int q = 0; q < SEQUENCES; q++) s->rate[q] = 1, s->next[q] = gap_of(s, q);
}

static inline void count(struct stream *s, unsigned found)
{
    for (int k = 0; k < SMURF_ALARMS; k++)
        if (found & 1u << k) s->count[k]++, s->at[k] = s->days;
}

static inline smurf_moment moment(double days)
{
    return (smurf_moment){(int64_t)floor(days), days - floor(days)};
}

/* An event of sequence q at its time. */
static inline void event(struct stream *s, int q)
{
    double now = s->next[q], pit = -expm1(-24 * (now - s->last[q]));
    smurf_surprise surprise = {.gap = now - s->last[q], .pit = pit, .type_share = 0.5};
    smurf_finding finding;
    s->days = now;
    surprise.type_level = smurf_random_uniform(&s->random);
    if (q == 0 && s->unknown > 0 && smurf_random_uniform(&s->random) < s->unknown)
        surprise.type_level = 1, surprise.type_share = NAN;
    smurf_alarms_pass(s->alarms, moment(now));
    if (1 - pit < s->due[q]) {
        smurf_alarms_overdue(s->alarms);
        count(s, 1u << SMURF_ALARM_OVERDUE);
    }
    count(s, smurf_alarms_gap(s->alarms, &s->track[q], &surprise, &finding));
    s->due[q] = smurf_alarms_level(s->alarms, SMURF_ALARM_OVERDUE);
    s->last[q] = now;
    s->next[q] = now + gap_of(s, q);
}

static inline void run(struct stream *s, double until)
{
    for (;;) {
        int first = 0;
        for (int q = 1; q < SEQUENCES; q++)
            if (s->next[q] < s->next[first]) first = q;
        if (s->next[first] > until) return;
        event(s, first);
    }
}

static inline double total(const struct stream *s)
{
    double sum = 0;
    for (int k = 0; k < SMURF_ALARMS; k++) sum += s->count[k];
    return sum;
}

#endif
