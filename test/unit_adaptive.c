/*
 * unit_adaptive.c - adaptive levels: the law they make, their guarantee on streams that are against them, and their
 * state over a data set.
 */
#include "dist_case.h"
#include "eval/adaptation.h"
#include "law/adaptive.h"

#include <stdio.h>

/* ---- An exponential law ------------------------------------------------------------------------------ */

static void exponential_cdf(const void *self, const double *in, double *out, size_t n)
{
    const double *mean = self;
    for (size_t i = 0; i < n; i++) out[i] = in[i] > 0 ? -expm1(-in[i] / *mean) : in[i] * 0;
}

static void exponential_density(const void *self, const double *in, double *out, size_t n)
{
    const double *mean = self;
    for (size_t i = 0; i < n; i++) out[i] = in[i] < 0 ? 0 : exp(-in[i] / *mean) / *mean;
}

static void exponential_quantile(const void *self, const double *in, double *out, size_t n)
{
    const double *mean = self;
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0 && in[i] <= 1 ? -*mean * log1p(-in[i]) : NAN;
}

static size_t exponential_knots(const void *self, double *out)
{
    const double *mean = self;
    for (int i = 0; i <= 40; i++) out[i] = *mean * i;
    return 41;
}

static const struct dist_class exponential = {.name = "exponential",
                                              .cdf = exponential_cdf,
                                              .density = exponential_density,
                                              .quantile = exponential_quantile,
                                              .knots = exponential_knots};

/* ---- The law ------------------------------------------------------------------------------------------- */

static void the_same_at_first(void **state)
{
    (void)state;
    double mean = 2;
    struct dist inner = {&exponential, &mean};
    struct adaptive a;
    struct adapted room;
    smurf_adaptive_init(&a, 0);
    assert_ptr_equal(smurf_adapted(&room, inner, &a).class, &exponential);
    smurf_adaptive_init(&a, 0.01);
    struct dist dist = smurf_adapted(&room, inner, &a);
    for (double x = 0.01; x < 30; x *= 1.3) {
        assert_close(smurf_dist_cdf(&dist, x), smurf_dist_cdf(&inner, x), 1e-15, "cdf", x);
        assert_close(smurf_dist_density(&dist, x), smurf_dist_density(&inner, x), 1e-13, "density", x);
        assert_close(smurf_dist_crps(&dist, x), smurf_dist_crps(&inner, x), 1e-6, "crps", x);
    }
    for (int k = 0; k < SMURF_LEVELS; k++) assert_close(a.p[k], smurf_levels[k], 1e-15, "level", k);
    assert_close(smurf_dist_mean(&dist), 2, 1e-6, "mean", 0);
    check_shape_within(&dist, -1, 30, 1e-12);
}

/* Whatever the levels: a distribution, with the quantile of p at each level. */
static void a_law_whatever_the_levels(void **state)
{
    (void)state;
    double mean = 2;
    struct dist inner = {&exponential, &mean};
    struct random random;
    size_t opened = 0, below = 0, checked = 0;
    smurf_random_init(&random, 1, 1);
    for (int trial = 0; trial < 60; trial++) {
        struct adaptive a;
        struct adapted room;
        double power = exp(1.5 * smurf_random_normal(&random));
        smurf_adaptive_init(&a, trial % 3 ? 0.02 : 0.2);
        for (int i = 0; i < 300; i++)
            smurf_adaptive_see(&a, i > 200 && trial % 5 == 1 ? 1 : pow(smurf_random_uniform(&random), power));
        struct dist dist = smurf_adapted(&room, inner, &a);
        bool open = smurf_adaptive_is_open(&a);
        opened += open;
        below += a.p[0] < 0;
        double least = 1; /* F is as steep as levels are close, and no more exact */
        for (int k = 1; k < SMURF_LEVELS; k++)
            if (a.p[k] > a.p[k - 1]) least = fmin(least, a.p[k] - a.p[k - 1]);
        bool far = a.p[SMURF_LEVELS - 1] > 0.9999; /* doubles do not tell gaps there apart */
        checked += !far;
        if (!far) check_shape_within(&dist, -1, 40, 1e-12 + 1e-15 / least);
        for (int k = 0; k < SMURF_LEVELS; k++) {
            double at = smurf_dist_quantile(&dist, smurf_levels[k]);
            assert_true(k == 0 || a.p[k] >= a.p[k - 1]);
            assert_true(a.p[k] < 0    ? at == 0
                        : a.p[k] >= 1 ? at == INFINITY
                                      : at == smurf_dist_quantile(&inner, a.p[k]));
        }
        assert_true(smurf_dist_cdf(&dist, INFINITY) == 1 && smurf_dist_cdf(&dist, -1e-9) == 0);
        assert_true(isinf(smurf_dist_mean(&dist)) == open && isinf(smurf_dist_crps(&dist, 1)) == open);
        if (!open && a.p[0] > 0.01 && a.p[SMURF_LEVELS - 1] < 0.999) check_integrals(&dist, 3e-3);
    }
    assert_true(opened > 0 && below > 0 && checked > 20);
}

static void the_density_is_the_slope(void **state)
{
    (void)state;
    double mean = 2;
    struct adaptive a;
    struct adapted room;
    struct random random;
    smurf_random_init(&random, 5, 1);
    smurf_adaptive_init(&a, 0.002);
    for (int i = 0; i < 500; i++) smurf_adaptive_see(&a, sqrt(smurf_random_uniform(&random)));
    struct dist dist = smurf_adapted(&room, (struct dist){&exponential, &mean}, &a);
    check_density(&dist, 1e-4);
}

/* ---- The guarantee ------------------------------------------------------------------------------------- */

enum { STREAM = 2000 };

/* The gap that comes next, by one who knows what is shown: its quantiles (SMURF_LEVELS). */
typedef double stream(size_t t, size_t target, const double *shown, struct random *random);

static double alternating(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)shown, (void)random;
    return t / (target + 1) % 2 ? 1e6 : 1e-6;
}

static double constant(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)t, (void)shown, (void)random;
    return 0.3 * (double)(target + 1);
}

static double always_longer(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)t, (void)target, (void)shown, (void)random;
    return 1e6;
}

static double drifting(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)target, (void)shown;
    return 0.05 * exp(6.0 * (double)t / STREAM) * smurf_random_exponential(random);
}

/* Just above what is shown for the target: a miss for it and for as few others as possible. */
static double just_above(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)t, (void)random;
    return isfinite(shown[target]) ? shown[target] * (1 + 1e-9) + 1e-12 : 1e6;
}

static double just_inside(size_t t, size_t target, const double *shown, struct random *random)
{
    (void)t, (void)random;
    return isfinite(shown[target]) ? shown[target] * (1 - 1e-9) : 1e6;
}

/* Above one, inside another: pulls levels out of order. */
static double tearing(size_t t, size_t target, const double *shown, struct random *random)
{
    return t % 2 ? just_above(t, target, shown, random) : just_inside(t, SMURF_LEVELS - 1 - target, shown, random);
}

static double anywhere(size_t t, size_t target, const double *shown, struct random *random)
{
    size_t k = (size_t)smurf_random_below(random, SMURF_LEVELS);
    return (t + target) % 3 ? just_above(t, k, shown, random) : just_inside(t, k, shown, random);
}

static stream *const streams[] = {alternating, constant,    always_longer, drifting,
                                  just_above,  just_inside, tearing,       anywhere};
enum { STREAMS = sizeof streams / sizeof *streams };

/* The largest of |coverage - q| gamma T / (1 + 2 gamma) over levels and T: 1 is the bound. What is counted are gaps up
   to the end that is shown; one of 0 is none. */
static double worst(stream *next, size_t target, double gamma, bool adapts)
{
    double mean = 2, most = 0;
    struct dist inner = {&exponential, &mean};
    struct random random;
    struct adaptive a;
    size_t covered[SMURF_LEVELS] = {0};
    smurf_random_init(&random, 3, target);
    smurf_adaptive_init(&a, gamma);
    for (size_t t = 0; t < STREAM; t++) {
        struct adapted room;
        struct dist dist = smurf_adapted(&room, inner, &a);
        double shown[SMURF_LEVELS];
        dist.class->quantile(dist.self, smurf_levels, shown, SMURF_LEVELS);
        double gap = next(t, target, shown, &random);
        for (int k = 0; k < SMURF_LEVELS; k++) {
            covered[k] += shown[k] > 0 && gap <= shown[k];
            double off = fabs((double)covered[k] - smurf_levels[k] * (double)(t + 1));
            most = fmax(most, off * gamma / (1 + 2 * gamma));
        }
        if (adapts) smurf_adaptive_see(&a, smurf_adaptive_pit(&inner, gap, 0, t));
    }
    return most;
}

static void coverage_whatever_comes(void **state)
{
    (void)state;
    static const double gammas[] = {0.01, 0.1};
    for (size_t s = 0; s < STREAMS; s++)
        for (size_t g = 0; g < 2; g++)
            for (size_t target = 0; target < SMURF_LEVELS; target += 3) {
                double most = worst(streams[s], target, gammas[g], true);
                if (!(most <= 1))
                    fail_msg("stream %zu against level %zu, gamma %g: %.3g of the bound", s, target, gammas[g], most);
            }
}

/* The test can fail: levels that stay as they are do not have it. */
static void fixed_levels_have_no_guarantee(void **state)
{
    (void)state;
    for (size_t s = 0; s < STREAMS; s++) assert_true(worst(streams[s], 9, 0.1, false) > 2);
}

/* What is stored and set again goes on to the bit; what cannot be is refused. */
static void states_can_be_set(void **state)
{
    (void)state;
    struct adaptive a, b;
    struct random random;
    smurf_random_init(&random, 9, 1);
    smurf_adaptive_init(&a, 0.05);
    for (int i = 0; i < 500; i++) {
        if (i) smurf_adaptive_see(&a, pow(smurf_random_uniform(&random), 3));
        smurf_adaptive_init(&b, 0.05);
        assert_true(smurf_adaptive_set(&b, a.q));
        assert_memory_equal(&a, &b, sizeof a);
    }
    smurf_adaptive_see(&b, NAN);
    assert_memory_equal(&a, &b, sizeof a);
    a.q[3] = NAN;
    assert_false(smurf_adaptive_set(&b, a.q));
    a.q[3] = -1e9;
    assert_false(smurf_adaptive_set(&b, a.q));
}

/* ---- A data set ---------------------------------------------------------------------------------------- */

/* Predicts an exponential law whose mean depends on the row. */
static double means[2];
static atomic_int workspaces;

static void *workspace_new(const void *self, size_t events, struct stop *stop)
{
    (void)self, (void)events, (void)stop;
    atomic_fetch_add(&workspaces, 1);
    return malloc(1);
}

static void read_nothing(const void *self, void *workspace, const smurf_sequence *sequence)
{
    (void)self, (void)workspace, (void)sequence;
}

static struct dist law_of(const void *self, void *workspace, size_t row, int raw)
{
    (void)self, (void)workspace, (void)raw;
    return (struct dist){&exponential, &means[row % 2]};
}

static const struct predictor_class two_means = {
    .name = "two means", .workspace_new = workspace_new, .workspace_free = free, .read = read_nothing, .dist = law_of};

/* The state before any gap, asked for in any order, is that of one walk along the sequence. */
static void one_state_whatever_the_threads(void **state)
{
    (void)state;
    enum { EVENTS = 5000 };
    static double time[2][EVENTS];
    static const uint32_t type[EVENTS];
    struct random random;
    means[0] = 1, means[1] = 2;
    smurf_random_init(&random, 11, 1);
    for (int s = 0; s < 2; s++)
        for (int i = 1; i < EVENTS; i++)
            time[s][i] = time[s][i - 1] + (i < 3000 ? 1 : 3) * smurf_random_exponential(&random);
    smurf_sequence sequence[] = {{.time = time[0], .type = type, .length = EVENTS, .first = 1500, .before = 70},
                                 {.time = time[1], .type = type, .length = 1, .first = 1},
                                 {.time = time[1], .type = type, .length = EVENTS, .first = 1}};
    smurf_data data = {.sequences = 3, .sequence = sequence};
    struct predictor predictor = {&two_means, NULL, 0};
    struct adaptation one, more;
    struct progress progress = {0};
    struct followed start = {.types = {.there = 1}};
    smurf_adaptive_init(&start.levels, 0.01);
    for (double tick = 0; tick < 1; tick += 0.5) {
        assert_int_equal(smurf_adaptation_init(&one, &predictor, &data, &start, tick, 1, &progress, NULL), SMURF_OK);
        assert_int_equal(smurf_adaptation_init(&more, &predictor, &data, &start, tick, 3, &progress, NULL), SMURF_OK);
        for (size_t s = 0; s < 3; s += 2) {
            struct adaptation_cursor forward = {0}, jumping = {0};
            struct adaptive walk;
            smurf_adaptive_init(&walk, 0.01);
            for (size_t i = 1; i < EVENTS; i++) {
                if (i >= sequence[s].first) {
                    assert_memory_equal(&smurf_adaptation_at(&forward, &one, s, i)->levels, &walk, sizeof walk);
                    if (i % 97 == 0) {
                        assert_memory_equal(&smurf_adaptation_at(&jumping, &more, s, i)->levels, &walk, sizeof walk);
                        (void)smurf_adaptation_at(&jumping, &more, s, i % 2 ? EVENTS - 1 : sequence[s].first);
                    }
                }
                struct dist dist = law_of(NULL, NULL, i - 1, 0);
                smurf_adaptive_see(&walk, smurf_adaptive_pit(&dist, time[s / 2][i] - time[s / 2][i - 1], tick,
                                                             sequence[s].before + i));
            }
        }
        smurf_adaptation_release(&one), smurf_adaptation_release(&more);
    }
    assert_true(workspaces >= 4);
}

/* The beginning is bounded. */
static void begins_in_the_past(void **state)
{
    (void)state;
    assert_int_equal(smurf_adaptation_begin(1), 1);
    assert_int_equal(smurf_adaptation_begin(ADAPTATION_PAST), 1);
    assert_int_equal(smurf_adaptation_begin(ADAPTATION_PAST + 7), 7);
}

static int stop_it(void *context, const smurf_progress *progress)
{
    (void)context, (void)progress;
    return 1;
}

static void can_be_stopped(void **state)
{
    (void)state;
    enum { EVENTS = 3000000 };
    double *time = malloc(EVENTS * sizeof *time);
    uint32_t *type = calloc(EVENTS, sizeof *type);
    for (int i = 0; i < EVENTS; i++) time[i] = i;
    smurf_sequence sequence = {.time = time, .type = type, .length = EVENTS, .first = 1};
    smurf_data data = {.sequences = 1, .sequence = &sequence};
    struct predictor predictor = {&two_means, NULL, 0};
    struct progress progress = {.report = stop_it};
    struct adaptation a;
    smurf_error err;
    /* far more gaps than fit between two calls of the callback */
    struct followed start = {.types = {.there = 1}};
    smurf_adaptive_init(&start.levels, 0.01);
    smurf_status status = smurf_adaptation_init(&a, &predictor, &data, &start, 0, 1, &progress, &err);
    smurf_adaptation_release(&a);
    assert_int_equal(status, SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped while adapting");
    free(time), free(type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_at_first),
        cmocka_unit_test(a_law_whatever_the_levels),
        cmocka_unit_test(the_density_is_the_slope),
        cmocka_unit_test(coverage_whatever_comes),
        cmocka_unit_test(fixed_levels_have_no_guarantee),
        cmocka_unit_test(states_can_be_set),
        cmocka_unit_test(one_state_whatever_the_threads),
        cmocka_unit_test(begins_in_the_past),
        cmocka_unit_test(can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
