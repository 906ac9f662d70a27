/*
 * alarms.c - how many alarms a healthy stream raises, and how long faults go unnoticed, at one alarm a day
 * (test/alarm_case.h).
 *
 *     bench_alarms      prints one JSON object per line
 *
 * `delay`: days from the fault on until the first alarm of the kinds that are about it; medians and 90% quantiles.
 */
#include "alarm_case.h"

#include "base/sort.h"

#include <stdio.h>

enum { RUNS = 200, HEALTHY = 31, DAYS = 60 };

static void healthy(const char *name, double shape, double skipped)
{
    struct stream s;
    begin(&s, 1, shape, 1, 1);
    run(&s, 1 + skipped);
    double before = total(&s);
    run(&s, 1001 + skipped);
    printf("{\"kind\":\"healthy\",\"name\":\"%s\",\"days\":1000,\"alarms\":%g}\n", name, total(&s) - before);
    smurf_alarms_free(s.alarms);
}

struct fault {
    const char *name;
    double rate, all; /* of machine 0, of the others */
    double unknown;
    unsigned kinds; /* bits of the alarms that count */
};

static double seen(const struct stream *s, unsigned kinds)
{
    double sum = 0;
    for (int k = 0; k < SMURF_ALARMS; k++) sum += kinds & 1u << k ? s->count[k] : 0;
    return sum;
}

/* A machine that has stopped raises its alarm when its silence reaches the quantile; without a fault the same kinds
   raise alarms now and then, which is the chance that a delay hides. */
static double delay_of(const struct fault *f, uint64_t seed)
{
    struct stream s;
    begin(&s, 1, 1, 1, seed);
    run(&s, HEALTHY);
    double delay = DAYS - HEALTHY;
    if (f->rate == 0) {
        delay = -log(s.due[0]) / 24 - (HEALTHY - s.last[0]);
    } else {
        double before = seen(&s, f->kinds);
        s.rate[0] = f->rate, s.unknown = f->unknown;
        for (int q = 1; q < SEQUENCES; q++) s.rate[q] = f->all;
        for (double day = HEALTHY; day < DAYS && seen(&s, f->kinds) == before; day += 1 / 24.0) run(&s, day + 1 / 24.0);
        if (seen(&s, f->kinds) > before) delay = s.days - HEALTHY;
    }
    smurf_alarms_free(s.alarms);
    return delay;
}

int main(void)
{
    const unsigned rate = 1u << SMURF_ALARM_RATE, lost = 1u << SMURF_ALARM_CALIBRATION, type = 1u << SMURF_ALARM_TYPE;
    const struct fault faults[] = {
        {"none: the first rate alarm", 1, 1, 0, rate},
        {"none: the first calibration alarm", 1, 1, 0, lost},
        {"one machine stops", 0, 1, 0, 1u << SMURF_ALARM_OVERDUE},
        {"one machine is twice as fast", 2, 1, 0, rate},
        {"one machine is half as fast", 0.5, 1, 0, rate},
        {"all machines are a quarter slower", 0.75, 0.75, 0, lost},
        {"a tenth of one machine's events are of a new type", 1, 1, 0.1, type},
    };
    healthy("the true law", 1, 0);
    healthy("a law that is wrong (gaps are Weibull of shape 0.85), after 100 days", 0.85, 100);
    healthy("a law that is wrong (gaps are Weibull of shape 1.2), after 100 days", 1.2, 100);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        double delay[RUNS];
        for (int r = 0; r < RUNS; r++) delay[r] = delay_of(&faults[i], 100 + (uint64_t)r);
        smurf_sort(delay, RUNS);
        printf("{\"kind\":\"fault\",\"name\":\"%s\",\"median\":%.3f,\"most\":%.3f,\"alarms\":%u}\n", faults[i].name,
               delay[RUNS / 2], delay[RUNS * 9 / 10], faults[i].kinds);
    }
    return 0;
}
