/* unit_simulate.c - simulated sequences against the laws they come from, and everything that can be asked for
   wrongly. Seeds are fixed: a test that passes once passes always. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "process_cases.h"
#include "simulate/process.h"

/* ---- Events against their law ------------------------------------------------------------------------ */

enum { SEQUENCES = 50, EVENTS = 2000, TOTAL = SEQUENCES * EVENTS };

/* What ought to be TOTAL independent uniform numbers each, if the law is that of the data. */
struct ranks {
    double gap[TOTAL];  /* F(gap): time-rescaled residuals through the exponential law */
    double type[TOTAL]; /* the type's place among the shares of the types, drawn within its own share */
};

static void rank_sequence(struct ranks *r, size_t from, const smurf_process *process, const smurf_sequence *s,
                          struct random *random)
{
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, s, 0, NULL), SMURF_OK);
    uint32_t types = smurf_law_types(law);
    double *lambda = malloc(types * sizeof *lambda);
    for (size_t i = 0; i < s->length; i++) {
        double gap = s->time[i] - (i ? s->time[i - 1] : 0), below = 0, total = 0;
        smurf_law_cdf(law, &gap, &r->gap[from + i], 1);
        smurf_law_type_intensity(law, &gap, lambda, 1);
        for (uint32_t k = 0; k < types; k++) total += lambda[k];
        for (uint32_t k = 0; k < s->type[i]; k++) below += lambda[k];
        r->type[from + i] = (below + smurf_random_uniform(random) * lambda[s->type[i]]) / total;
        assert_int_equal(smurf_law_advance(law, gap, s->type[i], NULL), SMURF_OK);
    }
    free(lambda);
    smurf_law_free(law);
}

/* Ranks data of one process by the laws of another. */
static void rank_all(struct ranks *r, const struct process_case *truth, const struct process_case *belief)
{
    smurf_process *from = new_process(truth), *process = new_process(belief);
    smurf_data *data = simulate(from, SEQUENCES, EVENTS, 20240);
    struct random random;
    smurf_random_init(&random, 7, 7);
    for (size_t i = 0; i < SEQUENCES; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        assert_int_equal(s->length, EVENTS);
        assert_true(isnan(s->end) && s->start == 0 && s->first == 1 && s->origin == 0);
        for (size_t j = 1; j < s->length; j++) assert_true(s->time[j] > s->time[j - 1]);
        rank_sequence(r, i * EVENTS, process, s, &random);
    }
    smurf_data_free(data);
    smurf_process_free(from);
    smurf_process_free(process);
}

/* Kolmogorov and Smirnov's sqrt(n) sup |F_n(u) - u|. Above 1.95 with probability 0.001, 2.33 with 4e-5. Sorts
 * u. */
static double kolmogorov(double *u, size_t n)
{
    double most = 0;
    smurf_sort(u, n);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fmax(u[i] - (double)i / (double)n, (double)(i + 1) / (double)n - u[i]));
    return most * sqrt((double)n);
}

/* sqrt(n) times the correlation of neighbours: a standard normal number where they are independent. */
static double neighbours(const double *u, size_t n)
{
    double sum = 0;
    for (size_t i = 1; i < n; i++) sum += (u[i] - 0.5) * (u[i - 1] - 0.5);
    return 12 * sum / sqrt((double)n);
}

static const double ks_limit = 1.95;    /* p = 0.001 */
static const double normal_limit = 3.3; /* p = 0.001 */

static void events_follow_their_law(void **state)
{
    (void)state;
    struct ranks *r = malloc(sizeof *r);
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        const struct process_case *p = &process_cases[c];
        rank_all(r, p, p);
        double gap_tie = neighbours(r->gap, TOTAL), type_tie = neighbours(r->type, TOTAL);
        double gap = kolmogorov(r->gap, TOTAL), type = kolmogorov(r->type, TOTAL);
        if (!(gap < ks_limit && type < ks_limit && fabs(gap_tie) < normal_limit && fabs(type_tie) < normal_limit))
            fail_msg("case %zu, %s: gaps %g, types %g, neighbours %g and %g", c, p->name, gap, type, gap_tie, type_tie);
    }
    free(r);
}

/* The test above can fail: laws that are a little wrong are found out. */
static void wrong_laws_are_found_out(void **state)
{
    (void)state;
    const struct {
        struct process_case truth, belief;
        int gaps, types; /* which of them must fail */
    } cases[] = {
        {{"poisson", 1, {{"rate", VALUES(1)}}, 1}, {"poisson", 1, {{"rate", VALUES(1.03)}}, 1}, 1, 0},
        {{"gamma", 1, {{"shape", VALUES(2)}}, 1},
         {"gamma", 1, {{"shape", VALUES(2.2)}, {"scale", VALUES(2 / 2.2)}}, 2},
         1,
         0},
        {{"inhomogeneous", 1, {{"period", VALUES(5)}}, 1}, {"inhomogeneous", 1, {{"period", VALUES(5.05)}}, 1}, 1, 0},
        {{"hawkes", 1, {{"decay", VALUES(1)}}, 1}, {"hawkes", 1, {{"decay", VALUES(1.3)}}, 1}, 1, 0},
        {{"exponential", 2, {{"weights", VALUES(2, 3)}}, 1}, {"exponential", 2, {{"weights", VALUES(1, 1)}}, 1}, 0, 1},
        {{"hawkes", 2, {{"excitation", VALUES(0.1, 0.6, 0.2, 0.1)}}, 1},
         {"hawkes", 2, {{"excitation", VALUES(0.1, 0.2, 0.6, 0.1)}}, 1},
         0,
         1},
    };
    struct ranks *r = malloc(sizeof *r);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rank_all(r, &cases[c].truth, &cases[c].belief);
        double gap = kolmogorov(r->gap, TOTAL), type = kolmogorov(r->type, TOTAL);
        if (cases[c].gaps ? gap < 3 : cases[c].types ? type < 3 : 0)
            fail_msg("case %zu, %s: gaps %g, types %g", c, cases[c].truth.name, gap, type);
    }
    free(r);
}

/* The compensator of a sequence up to its end. */
static double compensate(const smurf_process *process, const smurf_sequence *s)
{
    smurf_law *law;
    assert_int_equal(smurf_process_law(&law, process, s, 0, NULL), SMURF_OK);
    double sum = 0, last = 0;
    for (size_t i = 0; i <= s->length; i++) {
        double gap = (i < s->length ? s->time[i] : s->end) - last, part;
        smurf_law_compensator(law, &gap, &part, 1);
        sum += part;
        if (i == s->length) break;
        assert_int_equal(smurf_law_advance(law, gap, s->type[i], NULL), SMURF_OK);
        last = s->time[i];
    }
    smurf_law_free(law);
    return sum;
}

static void number_of_events_up_to_a_time_is_right(void **state)
{
    (void)state;
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        smurf_process *process = new_process(&process_cases[c]);
        smurf_simulate_config config;
        smurf_simulate_config_init(&config);
        config.sequences = 300;
        config.until = 20;
        config.seed = 5;
        smurf_data *data;
        assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
        assert_int_equal(smurf_data_sequences(data), 300);
        assert_int_equal(smurf_data_types(data), process_cases[c].types);
        assert_string_equal(smurf_data_unit(data), smurf_data_is_calendar(data) ? "s" : "");
        double expected = 0;
        for (size_t i = 0; i < 300; i++) {
            const smurf_sequence *s = smurf_data_sequence(data, i);
            assert_true(s->start == 0 && s->end == 20 && (s->length == 0 || s->time[s->length - 1] <= 20));
            expected += compensate(process, s);
        }
        /* events - compensator is a martingale whose variance is the compensator */
        double z = ((double)smurf_data_events(data) - expected) / sqrt(expected);
        if (!(fabs(z) < normal_limit)) fail_msg("case %zu, %s: z = %g", c, process_cases[c].name, z);
        smurf_data_free(data);
        smurf_process_free(process);
    }
}

/* ---- Long-run rates ------------------------------------------------------------------------------------ */

/* Counts of each type in the second half of each sequence against theory, by the spread over sequences. */
static void check_rates(const struct process_case *c, double until)
{
    enum { MANY = 400 };
    smurf_process *process = new_process(c);
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = MANY;
    config.until = until;
    config.seed = 11;
    smurf_data *data;
    assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
    double rate[20], sum[20] = {0}, square[20] = {0};
    smurf_process_rates(process, rate);
    for (size_t i = 0; i < MANY; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        double count[20] = {0};
        for (size_t j = 0; j < s->length; j++) count[s->type[j]] += s->time[j] > until / 2;
        for (uint32_t k = 0; k < c->types; k++) {
            double seen = count[k] / (until / 2);
            sum[k] += seen;
            square[k] += seen * seen;
        }
    }
    for (uint32_t k = 0; k < c->types; k++) {
        double mean = sum[k] / MANY, error = sqrt((square[k] / MANY - mean * mean) / MANY);
        if (!(fabs(mean - rate[k]) <= 4 * error))
            fail_msg("%s, type %u: %g +- %g instead of %g", c->name, k, mean, error, rate[k]);
    }
    smurf_data_free(data);
    smurf_process_free(process);
}

static void rates_match_theory(void **state)
{
    (void)state;
    for (size_t c = 0; c < PROCESS_CASES; c++) check_rates(&process_cases[c], 120);
}

/* Over days, which the common cases are too short for: Lambda against a sum over minutes, the slope against
   differences; and the events are dates, more of them in the first half of the day than in the second. */
static void daily_rhythm_is_on_the_calendar(void **state)
{
    (void)state;
    const smurf_parameter p[] = {{"rate", VALUES(2e-5)}, {"day", VALUES(0.9)}, {"week", VALUES(0.6)}};
    smurf_process *process;
    smurf_law *law;
    assert_int_equal(smurf_process_new(&process, "daily", 1, p, 3, NULL), SMURF_OK);
    smurf_data *data = simulate(process, 1, 4000, 5);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_true(smurf_data_is_calendar(data));
    size_t first = 0, week = 0;
    for (size_t i = 0; i < s->length; i++) {
        first += fmod(s->time[i], 86400) < 43200;
        week += fmod(s->time[i], 604800) < 302400;
    }
    double half = (double)s->length / 2; /* the share of the first half of the day is (1 + 2 a / pi) / 2 */
    assert_true(fabs((double)first - half * (1 + 2 * 0.9 / M_PI)) < 4 * sqrt(half / 2));
    assert_true((double)week > 1.25 * half);
    assert_int_equal(smurf_process_law(&law, process, s, 17, NULL), SMURF_OK);
    double sum = 0;
    for (double gap = 0; gap < 10 * 86400; gap += 60) {
        double middle = gap + 30, rate, end = gap + 60, total, slope, near[2] = {middle - 1, middle + 1};
        double score;
        smurf_law_intensity(law, &middle, &rate, 1);
        smurf_law_compensator(law, &end, &total, 1);
        smurf_law_score(law, &middle, &score, 1);
        smurf_law_intensity(law, near, near, 2);
        slope = (near[1] - near[0]) / 2;
        sum += 60 * rate;
        assert_true(fabs(total - sum) < 3e-6 * (1 + sum));
        assert_true(fabs((score + rate) * rate - slope) < 1e-6 * rate / 3600 + 1e-13);
    }
    smurf_law_free(law);
    smurf_data_free(data);
    smurf_process_free(process);
}

static void hawkes_rates_are_exact(void **state)
{
    (void)state;
    /* base 1, 2; A = [.5 .2; 0 .5]: x2 = 4, x1 = (1 + .2 4) / .5 */
    smurf_parameter p[] = {{"base", VALUES(1, 2)}, {"excitation", VALUES(0.5, 0.2, 0, 0.5)}};
    smurf_process *process;
    double rate[2];
    assert_int_equal(smurf_process_new(&process, "hawkes", 2, p, 2, NULL), SMURF_OK);
    smurf_process_rates(process, rate);
    assert_true(fabs(rate[0] - 3.6) < 1e-14 && fabs(rate[1] - 4) < 1e-14);
    smurf_process_free(process);
    /* A row of 3 with spectral radius sqrt(3 * 0.3) < 1: not every sum is below 1, yet it does not explode.
     */
    smurf_parameter q = {"excitation", VALUES(0, 3, 0.3, 0)};
    assert_int_equal(smurf_process_new(&process, "hawkes", 2, &q, 1, NULL), SMURF_OK);
    smurf_process_rates(process, rate);
    assert_true(fabs(rate[0] - 0.8 / 0.1) < 1e-12 && fabs(rate[1] - 0.26 / 0.1) < 1e-12);
    smurf_process_free(process);
}

/* ---- Sequences that end ------------------------------------------------------------------------------------ */

/* Of the events of each type, the share that is the last one; long before the end of observation. */
static void sequences_end_as_often_as_asked(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    smurf_parameter p[] = {{"never", VALUES(0.05, 0.4)}, {"weights", VALUES(3, 1)}};
    smurf_process *process;
    smurf_simulate_config config;
    smurf_data *data;
    double events[2] = {0}, last[2] = {0}, rate[2];
    smurf_simulate_config_init(&config);
    config.sequences = MANY;
    config.until = 1000;
    assert_int_equal(smurf_process_new(&process, "ending", 2, p, 2, NULL), SMURF_OK);
    smurf_process_rates(process, rate);
    assert_true(rate[0] == 0 && rate[1] == 0);
    for (int known = 1; known >= 0; known--) {
        if (!known) config.until = 0, config.max_events = 1000; /* they end by themselves */
        assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
        for (size_t i = 0; i < MANY; i++) {
            const smurf_sequence *s = smurf_data_sequence(data, i);
            assert_true(s->length > 0 && (known ? s->end == 1000 : isnan(s->end)));
            for (size_t j = 0; j < s->length; j++) events[s->type[j]]++;
            last[s->type[s->length - 1]]++;
        }
        smurf_data_free(data);
    }
    for (int k = 0; k < 2; k++) {
        double want = p[0].values[k], sd = sqrt(want * (1 - want) / events[k]);
        assert_true(fabs(last[k] / events[k] - want) < normal_limit * sd);
    }
    smurf_process_free(process);
}

/* ---- Running ------------------------------------------------------------------------------------------- */

static smurf_data *with_threads(const smurf_process *process, int threads, uint64_t seed)
{
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = 37;
    config.until = 100;
    config.max_events = 150;
    config.seed = seed;
    config.threads = threads;
    smurf_data *data;
    assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
    return data;
}

static int same(const smurf_data *a, const smurf_data *b)
{
    if (smurf_data_events(a) != smurf_data_events(b)) return 0;
    for (size_t i = 0; i < smurf_data_sequences(a); i++) {
        const smurf_sequence *s = smurf_data_sequence(a, i), *t = smurf_data_sequence(b, i);
        if (s->length != t->length || isnan(s->end) != isnan(t->end)) return 0;
        if (isnan(s->end) != (s->length == 150)) return 0;
        if (s->length == 0) continue;
        if (memcmp(s->time, t->time, s->length * sizeof *s->time) != 0) return 0;
        if (memcmp(s->type, t->type, s->length * sizeof *s->type) != 0) return 0;
    }
    return 1;
}

static void threads_leave_no_trace(void **state)
{
    (void)state;
    for (size_t c = 0; c < PROCESS_CASES; c++) {
        smurf_process *process = new_process(&process_cases[c]);
        smurf_data *one = with_threads(process, 1, 9), *other = with_threads(process, 1, 10);
        assert_false(same(one, other));
        smurf_data_free(other);
        for (int threads = 0; threads <= 5; threads += threads == 2 ? 3 : 1) {
            smurf_data *many = with_threads(process, threads, 9);
            assert_true(same(one, many));
            smurf_data_free(many);
        }
        smurf_data_free(one);
        smurf_process_free(process);
    }
}

struct listener {
    pthread_t thread;
    double last;
    int calls, stop_at; /* 0: never */
};

static int listen(void *context, const smurf_progress *p)
{
    struct listener *l = context;
    assert_true(pthread_equal(l->thread, pthread_self()));
    assert_true(p->done >= l->last && p->done <= p->total);
    assert_string_equal(p->what, "simulating poisson");
    assert_string_equal(p->unit, "sequences");
    l->last = p->done;
    return ++l->calls == l->stop_at;
}

static void progress_is_told_and_can_stop(void **state)
{
    (void)state;
    smurf_process *process;
    smurf_error err;
    assert_int_equal(smurf_process_new(&process, "poisson", 1, NULL, 0, NULL), SMURF_OK);
    for (int shape = 0; shape < 3; shape++) { /* few long sequences, many short ones, by number of events */
        struct listener all = {.thread = pthread_self()};
        smurf_simulate_config config;
        smurf_simulate_config_init(&config);
        config.sequences = shape == 1 ? 70000 : 4;
        config.until = shape == 0 ? 50000 : shape == 1 ? 2 : 0;
        config.max_events = shape == 2 ? 50000 : 0;
        config.threads = 2; /* the other thread may do it all before this one gets to tell: start and end are sure */
        config.progress = listen;
        config.progress_context = &all;
        smurf_data *data;
        assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_OK);
        assert_true(all.calls >= 2 && all.last == (double)config.sequences);
        smurf_data_free(data);
        config.threads = 1;
        all = (struct listener){.thread = pthread_self()};
        assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_OK);
        assert_true(all.calls >= 3 && all.last == (double)config.sequences);
        smurf_data_free(data);
        for (int stop = 1; stop <= 3; stop++) {
            struct listener some = {.thread = pthread_self(), .stop_at = stop};
            config.progress_context = &some;
            data = (smurf_data *)1;
            assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_ERROR_CANCELLED);
            assert_null(data);
            assert_int_equal(err.status, SMURF_ERROR_CANCELLED);
            assert_string_equal(err.message, "stopped while simulating poisson");
            assert_int_equal(some.calls, stop);
        }
    }
    smurf_process_free(process);
}

/* Gaps far below what the clock can show still give increasing times. */
static void times_increase_where_gaps_vanish(void **state)
{
    (void)state;
    smurf_parameter shape = {"shape", VALUES(0.01)};
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, "gamma", 1, &shape, 1, NULL), SMURF_OK);
    smurf_data *data = simulate(process, 1, 5000, 1);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    for (size_t i = 1; i < s->length; i++) assert_true(s->time[i] > s->time[i - 1]);
    smurf_data_free(data);
    smurf_process_free(process);
}

/* ---- Asking wrongly --------------------------------------------------------------------------------------
 */

static void wrong_processes_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *name;
        uint32_t types;
        smurf_parameter parameter[2];
        size_t parameters;
        const char *message;
    } cases[] = {
        {"hawk", 1, {{0}}, 0, "unknown process 'hawk': use one of poisson, "},
        {NULL, 1, {{0}}, 0, "unknown process ''"},
        {"poisson", 0, {{0}}, 0, "process 'poisson' cannot have 0 types: give 1 to 16777216"},
        {"hawkes", 5000, {{0}}, 0, "give 1 to 4096"},
        {"gamma", 1, {{"rate", VALUES(1)}}, 1, "unknown gamma parameter 'rate': use one of shape, scale, weights"},
        {"gamma", 1, {{NULL, VALUES(1)}}, 1, "parameter ''"},
        {"gamma", 1, {{"scale", VALUES(1)}, {"scale", VALUES(1)}}, 2, "'scale' of process 'gamma' is given twice"},
        {"gamma", 3, {{"scale", VALUES(1, 2, 3)}}, 1, "'scale' of process 'gamma' has 3 values: give 1"},
        {"poisson", 3, {{"rate", VALUES(1, 2)}}, 1, "has 2 values: give 1 or 3, one per type"},
        {"poisson", 3, {{"rate", NULL, 3}}, 1, "has 0 values"},
        {"hawkes", 3, {{"excitation", VALUES(0, 0)}}, 1, "has 2 values: give 1, 3 or 9"},
        {"hawkes", 1, {{"decay", NULL, 0}}, 1, "has 0 values: give 1"},
        {"hawkes", 1, {{"decay", VALUES(0)}}, 1, "'decay' of process 'hawkes' is 0: give a finite number above 0"},
        {"hawkes", 1, {{"decay", VALUES(NAN)}}, 1, "is nan"},
        {"hawkes", 1, {{"excitation", VALUES(-0.1)}}, 1, "is -0.1: give a finite number of 0 or more"},
        {"hawkes", 1, {{"excitation", VALUES(1)}}, 1, "spectral radius 1, so the number of events explodes"},
        {"hawkes", 2, {{"excitation", VALUES(0, 2, 0.75, 0)}}, 1, "has spectral radius 1.2"},
        {"hawkes", 2, {{"excitation", VALUES(0.2, 1.4)}}, 1, "spectral radius 1.4"},
        {"hawkes", 20, {{"excitation", VALUES(1.0001)}}, 1, "explode"},
        {"hawkes", 2, {{"base", VALUES(0)}}, 1, "'base' of process 'hawkes' sum to 0"},
        {"poisson", 2, {{"rate", VALUES(0, 0)}}, 1, "'rate' of process 'poisson' sum to 0"},
        {"poisson", 2, {{"rate", VALUES(1e308, 1e308)}}, 1, "sum to inf"},
        {"weibull", 2, {{"weights", VALUES(1, -1)}}, 1, "is -1: give a finite number of 0 or more"},
        {"weibull", 1, {{"shape", VALUES(-2)}}, 1, "is -2: give a number from 0.01 to 1e+06"},
        {"gamma", 1, {{"shape", VALUES(1e7)}}, 1, "is 1e+07: give a number from 0.01 to 1e+06"},
        {"inhomogeneous", 1, {{"amplitude", VALUES(1.5)}}, 1, "is 1.5: give a number from 0 to 1"},
        {"inhomogeneous", 1, {{"period", VALUES(INFINITY)}}, 1, "is inf: give a finite number above 0"},
        {"lognormal", 1, {{"mu", VALUES(-INFINITY)}}, 1, "is -inf: give a finite number"},
        {"lognormal", 1, {{"sigma", VALUES(0)}}, 1, "'sigma' of process 'lognormal' is 0"},
        {"exponential", 1, {{"mean", VALUES(-1)}}, 1, "'mean' of process 'exponential' is -1"},
        {"self-correcting", 1, {{"alpha", VALUES(0)}}, 1, "'alpha' of process 'self-correcting' is 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_error err;
        smurf_process *process = (smurf_process *)1;
        smurf_status status =
            smurf_process_new(&process, cases[i].name, cases[i].types, cases[i].parameter, cases[i].parameters, &err);
        assert_int_equal(status, SMURF_ERROR_ARGUMENT);
        assert_int_equal(err.status, SMURF_ERROR_ARGUMENT);
        assert_null(process);
        if (!strstr(err.message, cases[i].message)) fail_msg("'%s' lacks '%s'", err.message, cases[i].message);
    }
}

static void wrong_runs_are_refused(void **state)
{
    (void)state;
    const struct {
        smurf_simulate_config config;
        const char *message;
    } cases[] = {
        {{.size = 0}, "call smurf_simulate_config_init"},
        {{.size = sizeof(smurf_simulate_config), .until = 1}, "sequences is 0"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1}, "give until, max_events or both"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .until = -1}, "until is -1"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .until = INFINITY}, "until is inf"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .until = NAN, .max_events = 1}, "until is"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .max_events = SIZE_MAX}, "give 2147483648 or less"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .until = 1, .threads = -1}, "threads is -1"},
        {{.size = sizeof(smurf_simulate_config), .sequences = 1, .until = 1e10},
         "1e+10 events per sequence are expected"},
    };
    smurf_process *process;
    assert_int_equal(smurf_process_new(&process, "poisson", 1, NULL, 0, NULL), SMURF_OK);
    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        const smurf_simulate_config *config = i ? &cases[i - 1].config : NULL;
        smurf_error err;
        smurf_data *data = (smurf_data *)1;
        assert_int_equal(smurf_process_simulate(&data, process, config, &err), SMURF_ERROR_ARGUMENT);
        assert_null(data);
        if (i && !strstr(err.message, cases[i - 1].message))
            fail_msg("'%s' lacks '%s'", err.message, cases[i - 1].message);
    }
    smurf_process_free(process);
    smurf_process_free(NULL);
}

/* A caller built with an older header has a shorter config: what lies behind it is not read. */
static void older_configs_are_taken(void **state)
{
    (void)state;
    smurf_simulate_config config = {
        .size = offsetof(smurf_simulate_config, threads), .sequences = 3, .max_events = 2, .threads = -1};
    smurf_process *process;
    smurf_data *data;
    assert_int_equal(smurf_process_new(&process, "poisson", 1, NULL, 0, NULL), SMURF_OK);
    assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
    assert_int_equal(smurf_data_sequences(data), 3);
    assert_int_equal(smurf_data_events(data), 6);
    smurf_data_free(data);
    smurf_process_free(process);
}

static void endless_gaps_are_an_error(void **state)
{
    (void)state;
    smurf_parameter sigma = {"sigma", VALUES(1000)};
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = 20;
    config.max_events = 50;
    smurf_process *process;
    smurf_data *data;
    smurf_error err;
    assert_int_equal(smurf_process_new(&process, "lognormal", 1, &sigma, 1, NULL), SMURF_OK);
    assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_ERROR_ARGUMENT);
    assert_null(data);
    assert_non_null(strstr(err.message, "overflows: set until"));
    config.until = 1;
    assert_int_equal(smurf_process_simulate(&data, process, &config, &err), SMURF_OK);
    smurf_data_free(data);
    smurf_process_free(process);
}

static void help_tells_the_defaults(void **state)
{
    (void)state;
#define ENTRY(name) &name,
    const struct process_class *const table[] = {SMURF_PROCESSES(ENTRY)};
#undef ENTRY
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t j = 0; j < PARAMETER_LIMIT && table[i]->parameter[j].name; j++) {
            char text[64];
            snprintf(text, sizeof text, "(default %g", table[i]->parameter[j].fallback);
            assert_non_null(strstr(table[i]->parameter[j].about, text));
        }
}

/* The help names every process and parameter, and all defaults together work. */
static void help_is_complete(void **state)
{
    (void)state;
    size_t processes = 0;
    for (; smurf_process_name(processes); processes++) {
        size_t parameters = 0;
        assert_true(strlen(smurf_process_about(processes)) > 0);
        for (; smurf_process_parameter_name(processes, parameters); parameters++)
            assert_non_null(smurf_process_parameter_about(processes, parameters));
        assert_true(parameters > 0);
        assert_null(smurf_process_parameter_about(processes, parameters));
        smurf_process *process;
        assert_int_equal(smurf_process_new(&process, smurf_process_name(processes), 7, NULL, 0, NULL), SMURF_OK);
        smurf_data_free(simulate(process, 1, 100, 1));
        smurf_process_free(process);
    }
    assert_int_equal(processes, 13);
    assert_null(smurf_process_about(processes));
    assert_null(smurf_process_parameter_name(processes, 0));
    assert_null(smurf_process_parameter_name(0, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_follow_their_law),
        cmocka_unit_test(wrong_laws_are_found_out),
        cmocka_unit_test(number_of_events_up_to_a_time_is_right),
        cmocka_unit_test(rates_match_theory),
        cmocka_unit_test(daily_rhythm_is_on_the_calendar),
        cmocka_unit_test(hawkes_rates_are_exact),
        cmocka_unit_test(sequences_end_as_often_as_asked),
        cmocka_unit_test(threads_leave_no_trace),
        cmocka_unit_test(progress_is_told_and_can_stop),
        cmocka_unit_test(times_increase_where_gaps_vanish),
        cmocka_unit_test(wrong_processes_are_refused),
        cmocka_unit_test(wrong_runs_are_refused),
        cmocka_unit_test(older_configs_are_taken),
        cmocka_unit_test(endless_gaps_are_an_error),
        cmocka_unit_test(help_tells_the_defaults),
        cmocka_unit_test(help_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
