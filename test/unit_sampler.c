/* unit_sampler.c - tables of scores against the scores; Langevin samplers against a plain walk in double, against
   distributions they must end in, and at the edges: seeds, streams, first draws, laws that are not numbers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "law/sampler.h"
#include "law/score_table.h"

enum { DRAWS = 4000 };

/* ---- Laws ----------------------------------------------------------------------------------------------- */

#define SCORE(which, psi)                                                                                              \
    static void which##_score(const void *self, const double *gap, double *out, size_t n)                              \
    {                                                                                                                  \
        (void)self;                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double t = gap[i];                                                                                         \
            out[i] = (psi);                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static const struct law_class which##_class = {.name = #which, .score = which##_score};                            \
    static const struct law which = {&which##_class, NULL, 1, 0, INFINITY};

SCORE(normal, -(t - 1000) / 4)      /* mean 1000, deviation 2 */
SCORE(half_normal, -t)              /* standard */
SCORE(exponential, -1 + 0 * t)      /* of rate 1 */
SCORE(gamma_2, 1 / t - 1)           /* shape 2; has no end on the left of 0 */
SCORE(lognormal, -(1 + log(t)) / t) /* standard; NaN left of 0 */
SCORE(nobody, NAN *t)
SCORE(infinite, t > 1 ? INFINITY : -INFINITY)
SCORE(explosive, t *t *t) /* steps grow without end */
SCORE(stiff, -1e6 * t)    /* overshoots more at every step */
SCORE(broken, t < 0.5 ? NAN : t < 1 ? INFINITY : -1)

/* lambda = softplus(sum of w tanh(a t + b) + c), as the heads have it. */
enum { UNITS = 64 };
struct units {
    double w[UNITS], a[UNITS], b[UNITS], c;
};

static double units_at(const struct units *x, double t, double *slope)
{
    double u = x->c;
    *slope = 0;
    for (size_t j = 0; j < UNITS; j++) {
        double z = tanh(x->a[j] * t + x->b[j]);
        u += x->w[j] * z;
        *slope += x->w[j] * x->a[j] * (1 - z * z);
    }
    *slope /= 1 + exp(-u);
    return fmax(u, 0) + log1p(exp(-fabs(u))) + 1e-10;
}

static void units_intensity(const void *self, const double *gap, double *out, size_t n)
{
    double slope;
    for (size_t i = 0; i < n; i++) out[i] = units_at(self, gap[i], &slope);
}

static void units_slope(const void *self, const double *gap, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double slope;
        units_at(self, gap[i], &slope);
        out[i] = slope;
    }
}

static const struct law_class units_class = {.name = "units", .intensity = units_intensity, .slope = units_slope};

/* A law of random units whose steepest has about this slope. */
static struct law learned(struct units *x, double steepness, uint64_t seed)
{
    struct random random;
    smurf_random_init(&random, seed, 1);
    for (size_t j = 0; j < UNITS; j++) {
        x->w[j] = 0.2 * smurf_random_normal(&random);
        x->a[j] = steepness * tanh(smurf_random_normal(&random));
        x->b[j] = smurf_random_normal(&random);
    }
    x->c = 0.5;
    return (struct law){&units_class, x, 1, 0, INFINITY};
}

static double score_at(const struct law *law, double t)
{
    double out;
    smurf_score_everywhere(law, &t, &out, 1);
    return out;
}

/* ---- Tables of scores ----------------------------------------------------------------------------------- */

/* At points that are no nodes; returns how many asked the law. */
static int check_table(const struct score_table *table, const struct law *law, double from, double to, double scale)
{
    enum { POINTS = 20011 };
    int asked = 0;
    for (int i = 0; i < POINTS; i++) {
        double x = from + (to - from) * i / (POINTS - 1), got = smurf_score_table_at(table, x), want = score_at(law, x);
        if (isnan(got))
            asked++;
        else if (!(fabs(got - want) <= SCORE_TABLE_BOUND * fmax(fabs(want), 1 / scale)))
            fail_msg("%s at %.9g: %.9g instead of %.9g", law->class->name, x, got, want);
    }
    return asked;
}

static void table_is_within_its_bound(void **state)
{
    (void)state;
    static const double steepness[] = {0.1, 1, 1, 1, 5, 20};
    for (size_t i = 0; i < sizeof steepness / sizeof *steepness; i++) {
        struct units units;
        struct law law = learned(&units, steepness[i], i);
        struct score_table table;
        smurf_score_table_init(&table, &law, -25, 22, 3);
        assert_true(table.cells >= 2 * SCORE_TABLE_COARSE && table.cells <= SCORE_TABLE_FINE);
        assert_true(table.error > 0 && table.error <= SCORE_TABLE_BOUND);
        assert_int_equal(table.direct, 0);
        assert_int_equal(check_table(&table, &law, -25 + 1e-9, 22 - 1e-9, 3), 0);
        check_table(&table, &law, -2000, 2000, 3); /* the ends */
        smurf_score_table_release(&table);
    }
}

/* psi = sin(3 t / s) / s, self: s. */
static void wave_score(const void *self, const double *gap, double *out, size_t n)
{
    double s = *(const double *)self;
    for (size_t i = 0; i < n; i++) out[i] = sin(3 * gap[i] / s) / s;
}

/* The same law in another unit of time has the same table. */
static void table_does_not_depend_on_the_unit(void **state)
{
    (void)state;
    struct law_class wave = {.name = "wave", .score = wave_score};
    struct score_table table[2];
    static const double unit[2] = {1, 1024};
    for (int i = 0; i < 2; i++) {
        struct law law = {&wave, unit + i, 1, 0, INFINITY};
        smurf_score_table_init(table + i, &law, -60 * unit[i], 50 * unit[i], 2 * unit[i]);
        assert_int_equal(check_table(table + i, &law, -59 * unit[i], 49 * unit[i], 2 * unit[i]), 0);
    }
    assert_true(table[0].cells == table[1].cells && table[0].cells > 2 * SCORE_TABLE_COARSE);
    assert_true(table[0].error == table[1].error);
    for (int i = 0; i < 2; i++) smurf_score_table_release(table + i);
}

static void table_asks_the_law_where_it_must(void **state)
{
    (void)state;
    struct score_table table;
    smurf_score_table_init(&table, &gamma_2, -1, 3, 1);
    assert_true(table.direct > 0 && table.direct < table.cells / 100);
    assert_true(isnan(smurf_score_table_at(&table, 0)) && isnan(smurf_score_table_at(&table, 1e-5)));
    check_table(&table, &gamma_2, -1, 3, 1);
    smurf_score_table_release(&table);
    smurf_score_table_init(&table, &lognormal, -1, 3, 1);
    assert_true(isnan(smurf_score_table_at(&table, -0.5)) && !isnan(smurf_score_table_at(&table, 0.5)));
    check_table(&table, &lognormal, 1e-3, 3, 1);
    smurf_score_table_release(&table);
    smurf_score_table_init(&table, &nobody, -1, 3, 1);
    assert_true(table.direct == table.cells && isnan(smurf_score_table_at(&table, 1)));
    smurf_score_table_release(&table);
}

static void table_knows_constant_ends(void **state)
{
    (void)state;
    struct score_table table;
    struct units units = {.w = {1}, .a = {1}};
    struct law law = {&units_class, &units, 1, 0, INFINITY};
    smurf_score_table_init(&table, &law, -20, 20, 1);
    assert_true(fabs(smurf_score_table_at(&table, -1e9) - score_at(&law, -1e9)) < 1e-4);
    assert_true(fabs(smurf_score_table_at(&table, 1e9) - score_at(&law, 1e9)) < 1e-4);
    smurf_score_table_release(&table);
    smurf_score_table_init(&table, &normal, 990, 1010, 1);
    assert_true(isnan(smurf_score_table_at(&table, 900)) && isnan(smurf_score_table_at(&table, 1100)));
    smurf_score_table_release(&table);
}

static void table_of_nothing_asks_everywhere(void **state)
{
    (void)state;
    static const double ends[][2] = {{1, 1}, {2, 1}, {NAN, 1}, {0, INFINITY}, {-1e308, 1e308}, {1e9, 1e9 + 1e-6}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct score_table table;
        smurf_score_table_init(&table, &half_normal, ends[i][0], ends[i][1], 1);
        assert_true(table.cells == 0 && table.width == 1 && isfinite(table.origin));
        assert_true(isnan(smurf_score_table_at(&table, 0)) && isnan(smurf_score_table_at(&table, 1e9)));
        smurf_score_table_release(&table);
    }
}

/* ---- Against a plain walk --------------------------------------------------------------------------------- */

/* Samplers that take steps start here: the first in the table is exact. */
enum { WALKS = 1 };

static const struct sampler_class *sampler(const char *name)
{
    const struct sampler_class *found;
    assert_int_equal(smurf_sampler_find(&found, name, NULL), SMURF_OK);
    return found;
}

/* The normal of a step of a draw, by the definition in walk.h. */
static double normal_of(uint64_t seed, uint64_t stream, uint64_t draw, size_t step)
{
    uint32_t word[4];
    smurf_philox(word, seed, stream, draw << 32 | (step / 4 + 1));
    size_t pair = step % 4 / 2 * 2;
    double radius = sqrt(-2 * log(((double)(word[pair] >> 9) + 0.5) * 0x1p-23));
    double angle = (double)(int32_t)word[pair + 1] * acos(-1) * 0x1p-31;
    return radius * (step % 2 ? sin(angle) : cos(angle));
}

/* One draw as sampler.h has it, in double and without a table. */
static double plain(const char *name, const struct law *law, const struct sampler_config *c, uint64_t stream,
                    uint64_t i)
{
    int log_axis = !strcmp(name, "mirror"), floored = !strcmp(name, "reject");
    uint32_t word[4];
    smurf_philox(word, c->seed, stream, i << 32);
    double t = c->start[0] + (c->start[1] - c->start[0]) * smurf_random_unit((uint64_t)word[1] << 32 | word[0]);
    for (size_t s = 0; s < c->steps; s++) {
        double psi = score_at(law, t), noise = sqrt(c->step) * normal_of(c->seed, stream, i, s);
        double to = log_axis ? exp(log(t) + c->step / 2 * (t * psi + 1) + noise) : t + c->step / 2 * psi + noise;
        if (!floored || to > c->floor) t = to;
    }
    double to = t + c->denoise * c->denoise * score_at(law, t);
    return log_axis && to <= 0 ? t : floored && to <= c->floor ? t : to;
}

static void samplers_are_the_plain_walk(void **state)
{
    (void)state;
    enum { N = 300 };
    struct units units;
    struct law law = learned(&units, 1, 3);
    struct sampler_config config = {.steps = 30, .step = 0.02, .start = {0.2, 3}, .denoise = 0.1, .seed = 5};
    double out[N];
    for (size_t s = WALKS; smurf_sampler_at(s); s++) {
        const char *name = smurf_sampler_at(s)->name;
        smurf_sampler_at(s)->draw(&law, &config, 1ull << 40 | 9, out, N);
        for (uint64_t i = 0; i < N; i++) {
            double want = plain(name, &law, &config, 1ull << 40 | 9, i);
            if (!(fabs(out[i] - want) < 1e-4)) fail_msg("%s, draw %d: %.9g, not %.9g", name, (int)i, out[i], want);
        }
    }
}

/* Looking at a walk does not change it: the last look is the draws of a walk without, and an earlier one, taken within
   a block of normals, those of a shorter walk, but for the error of the table. */
static void a_walk_can_be_looked_at(void **state)
{
    (void)state;
    enum { N = 300, EVERY = 10, STEPS = 30, LOOKS = 3 };
    struct units units;
    struct law law = learned(&units, 1, 3);
    struct sampler_config config = {.steps = STEPS, .step = 0.02, .start = {0.2, 3}, .denoise = 0.1, .seed = 5};
    double seen[LOOKS][N], out[N];
    for (size_t s = WALKS; smurf_sampler_at(s); s++) {
        config.every = EVERY;
        assert_true(smurf_sampler_at(s)->draw(&law, &config, 9, seen[0], N));
        for (size_t k = 0; k < LOOKS; k++) {
            config.every = 0;
            config.steps = (k + 1) * EVERY;
            assert_true(smurf_sampler_at(s)->draw(&law, &config, 9, out, N));
            for (size_t i = 0; i < N; i++)
                if (!(fabs(out[i] - seen[k][i]) <= (k + 1 < LOOKS ? 2e-4 : 0)))
                    fail_msg("%s, look %zu, draw %zu: %.9g, not %.9g", smurf_sampler_at(s)->name, k, i, seen[k][i],
                             out[i]);
        }
    }
}

/* ---- Distributions ------------------------------------------------------------------------------------------ */

/* The largest distance of the draws' distribution from a CDF. By chance it is above 0.031 once in a thousand times. */
static double distance(double *draw, size_t n, double (*cdf)(double))
{
    double most = 0;
    smurf_sort(draw, n);
    for (size_t i = 0; i < n; i++) {
        double p = cdf(draw[i]), below = (double)i / (double)n, above = (double)(i + 1) / (double)n;
        most = fmax(most, fmax(fabs(p - below), fabs(p - above)));
    }
    return most;
}

static double mean(const double *draw, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += draw[i];
    return sum / (double)n;
}

static double normal_cdf(double t)
{
    return erfc(-(t - 1000) / 2 / sqrt(2)) / 2;
}

static double half_normal_cdf(double t)
{
    return erf(t / sqrt(2));
}

static double exponential_cdf(double t)
{
    return -expm1(-t);
}

static double gamma_2_cdf(double t)
{
    return 1 - (1 + t) * exp(-t);
}

static double lognormal_cdf(double t)
{
    return erfc(-log(t) / sqrt(2)) / 2;
}

/* The walk ends at its stationary law: the true one with an error of the order of eps. Of the normal the variance is
   wrong by 1 / (1 - eps / 16), 0.6%, which is 0.002 of the distance; on the log axis, alike. The exponential with
   refused steps has no such error. The half normal has it next to the floor, where a refusal is no reflection: a third
   of a step or so of what is there. */
static void samplers_end_in_the_stationary_law(void **state)
{
    (void)state;
    const struct {
        const char *name;
        const struct law *law;
        double (*cdf)(double);
        double mean, tolerance, start[2];
        size_t steps;
        double step;
    } cases[] = {
        {"langevin", &normal, normal_cdf, 1000, 0.13, {990, 995}, 800, 0.1},
        {"mirror", &gamma_2, gamma_2_cdf, 2, 0.09, {0.05, 1}, 2000, 0.01},
        {"mirror", &exponential, exponential_cdf, 1, 0.07, {0, 3}, 2000, 0.01},
        {"mirror", &lognormal, lognormal_cdf, exp(0.5), 0.14, {0.5, 3}, 1000, 0.02},
        {"reject", &exponential, exponential_cdf, 1, 0.07, {0, 3}, 2000, 0.05},
        {"reject", &half_normal, half_normal_cdf, sqrt(2 / acos(-1)), 0.04, {0, 1}, 2000, 0.005},
    };
    double draw[DRAWS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sampler_config config = {.steps = cases[i].steps,
                                        .step = cases[i].step,
                                        .start = {cases[i].start[0], cases[i].start[1]},
                                        .seed = 11};
        sampler(cases[i].name)->draw(cases[i].law, &config, i, draw, DRAWS);
        double off = mean(draw, DRAWS) - cases[i].mean, far = distance(draw, DRAWS, cases[i].cdf);
        if (!(fabs(off) < cases[i].tolerance) || !(far < 0.03))
            fail_msg("%s of %s: mean off by %g, distance %g", cases[i].name, cases[i].law->class->name, off, far);
    }
}

/* The drift of method.md, section 6: lambda is positive on the left, too, and nothing holds the draws. */
static void learned_laws_drift_left(void **state)
{
    (void)state;
    struct units units;
    double draw[400], before = INFINITY;
    struct law law = learned(&units, 1, 2);
    for (size_t steps = 500; steps <= 8000; steps *= 2) {
        struct sampler_config config = {.steps = steps, .step = 0.05, .start = {0.1, 2}, .seed = 3};
        sampler("langevin")->draw(&law, &config, 0, draw, 400);
        double now = mean(draw, 400);
        assert_true(now < before - 1);
        before = now;
    }
    assert_true(before < law.lo);
}

/* ---- Edges ---------------------------------------------------------------------------------------------------- */

static void draws_are_reproducible(void **state)
{
    (void)state;
    enum { N = 391 };
    struct units units;
    const struct law laws[] = {learned(&units, 1, 4), gamma_2, lognormal};
    double all[N], some[N];
    for (size_t s = WALKS; smurf_sampler_at(s); s++)
        for (size_t l = 0; l < 3; l++) {
            struct sampler_config config = {.steps = 203, .step = 0.03, .start = {0.1, 2}, .denoise = 0.1, .seed = 3};
            const struct sampler_class *which = smurf_sampler_at(s);
            which->draw(laws + l, &config, 8, all, N);
            static const size_t first[] = {0, 1, 2, 15, 16, 17, 100, 127, 128, 129, 390, 391};
            for (size_t k = 0; k < sizeof first / sizeof *first; k++) {
                for (size_t i = 0; i < N; i++) some[i] = -77;
                which->draw(laws + l, &config, 8, some, first[k]);
                assert_memory_equal(all, some, first[k] * sizeof *all);
                for (size_t i = first[k]; i < N; i++) assert_true(some[i] == -77);
            }
            size_t same = 0;
            which->draw(laws + l, &config, 9, some, N);
            for (size_t i = 0; i < N; i++) same += all[i] == some[i];
            config.seed = 4;
            which->draw(laws + l, &config, 8, some, N);
            for (size_t i = 0; i < N; i++) same += all[i] == some[i];
            for (size_t i = 1; i < N; i++) same += all[i] == all[i - 1];
            assert_int_equal(same, 0);
        }
}

/* Without steps: starts, uniform and within their range, and Tweedie's step to the last bit. */
static void starts_and_tweedie(void **state)
{
    (void)state;
    enum { N = 1000 };
    double start[N], out[N];
    for (size_t s = WALKS; smurf_sampler_at(s); s++) {
        struct sampler_config config = {.start = {1, 3}, .seed = 8, .step = 0.1};
        smurf_sampler_at(s)->draw(&gamma_2, &config, 0, start, N);
        config.denoise = 0.3;
        smurf_sampler_at(s)->draw(&gamma_2, &config, 0, out, N);
        for (size_t i = 0; i < N; i++) {
            assert_true(start[i] > 1 && start[i] < 3);
            assert_true(out[i] == start[i] + 0.3 * 0.3 * (1 / start[i] - 1));
        }
        assert_true(fabs(mean(start, N) - 2) < 0.06);
        config.steps = 10; /* a step of no length moves nothing */
        for (int i = 0; i < 3; i++) {
            config.step = (double[]){0, -1, NAN}[i];
            smurf_sampler_at(s)->draw(&gamma_2, &config, 0, start, N);
            assert_memory_equal(start, out, sizeof out);
        }
    }
}

static void floors_hold(void **state)
{
    (void)state;
    enum { N = 500 };
    double out[N];
    static const double floors[] = {0, 0.25, -3, 1e6};
    for (size_t f = 0; f < 4; f++)
        for (int pulled = 0; pulled < 2; pulled++) {
            struct sampler_config config = {.steps = 400,
                                            .step = 0.1,
                                            .start = {floors[f] - 1, floors[f] + 0.01},
                                            .floor = floors[f],
                                            .denoise = 0.5,
                                            .seed = 1};
            sampler("reject")->draw(pulled ? &exponential : &stiff, &config, 0, out, N);
            for (size_t i = 0; i < N; i++) assert_true(out[i] > floors[f] && isfinite(out[i]));
            config.start[0] = config.start[1] = floors[f]; /* a table whose end is the floor */
            sampler("reject")->draw(&exponential, &config, 0, out, N);
            for (size_t i = 0; i < N; i++) assert_true(out[i] > floors[f] && out[i] < floors[f] + 40);
        }
}

static void draws_are_finite_whatever_the_law(void **state)
{
    (void)state;
    enum { N = 40 };
    const struct law *laws[] = {&nobody, &infinite, &explosive, &stiff, &broken, &lognormal, &gamma_2};
    static const double starts[][2] = {{0.1, 2}, {-1, 1}, {0, 0}, {1e9, 1e9}, {-1e300, 1e300}, {3, 1}};
    double out[N];
    for (size_t s = WALKS; smurf_sampler_at(s); s++)
        for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
            for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
                for (int big = 0; big < 3; big++) {
                    struct sampler_config config = {.steps = 50,
                                                    .step = (double[]){1e-12, 0.1, 1e100}[big],
                                                    .start = {starts[k][0], starts[k][1]},
                                                    .denoise = 0.1};
                    smurf_sampler_at(s)->draw(laws[l], &config, 1, out, N);
                    for (size_t i = 0; i < N; i++)
                        if (!isfinite(out[i]))
                            fail_msg("%s of %s gives %g", smurf_sampler_at(s)->name, laws[l]->class->name, out[i]);
                }
    struct sampler_config config = {.steps = 50, .step = 0.1, .start = {1, 2}};
    double start[N];
    sampler("langevin")->draw(&nobody, &config, 1, out, N); /* nowhere to go: draws stay where they start */
    config.steps = 0;
    sampler("langevin")->draw(&nobody, &config, 1, start, N);
    for (size_t i = 0; i < N; i++) assert_true(fabs(out[i] - start[i]) < 1e-5);
}

static void samplers_by_name(void **state)
{
    (void)state;
    size_t count = 0;
    smurf_error err;
    const struct sampler_class *found;
    for (; smurf_sampler_at(count); count++) {
        const char *name = smurf_sampler_name(count);
        assert_int_equal(smurf_sampler_find(&found, name, &err), SMURF_OK);
        assert_ptr_equal(found, smurf_sampler_at(count));
        assert_string_equal(found->name, name);
        assert_true(smurf_sampler_about(count)[0]);
        assert_int_equal(smurf_sampler_has_steps(name), count >= WALKS);
    }
    assert_int_equal(count, 4);
    assert_null(smurf_sampler_at(count + 1));
    assert_null(smurf_sampler_name(count));
    assert_null(smurf_sampler_about(count));
    assert_int_equal(smurf_sampler_find(&found, NULL, &err), SMURF_OK);
    assert_ptr_equal(found, &smurf_sampler_exact);
    assert_false(smurf_sampler_has_steps(NULL) || smurf_sampler_has_steps("gibbs"));
    assert_int_equal(smurf_sampler_find(&found, "", &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_sampler_find(&found, "gibbs", &err), SMURF_ERROR_ARGUMENT);
    assert_null(found);
    assert_non_null(strstr(err.message, "'gibbs': use exact, langevin, mirror or reject"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_within_its_bound),
        cmocka_unit_test(table_does_not_depend_on_the_unit),
        cmocka_unit_test(table_asks_the_law_where_it_must),
        cmocka_unit_test(table_knows_constant_ends),
        cmocka_unit_test(table_of_nothing_asks_everywhere),
        cmocka_unit_test(samplers_are_the_plain_walk),
        cmocka_unit_test(a_walk_can_be_looked_at),
        cmocka_unit_test(samplers_end_in_the_stationary_law),
        cmocka_unit_test(learned_laws_drift_left),
        cmocka_unit_test(draws_are_reproducible),
        cmocka_unit_test(starts_and_tweedie),
        cmocka_unit_test(floors_hold),
        cmocka_unit_test(draws_are_finite_whatever_the_law),
        cmocka_unit_test(samplers_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
