/*
 * grad_model.c - the gradient of whole models against finite differences, for every objective, head and
 * option.
 *
 * Compared are the derivatives along random directions of all parameters together, and of each tensor the
 * largest element of the gradient and a few random ones. Dropout masks are a function of (seed, step), so a
 * model with dropout has derivatives as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "difference.h"
#include "model_case.h"
#include "op/intensity.h"
#include "op/type_head.h"

/* Relative to the largest element of the tensor; along a direction, to the length of the gradient. */
static const double TOLERANCE = 1e-6;
enum { DIRECTIONS = 2, SINGLES = 2 };

/* ---- What is differentiated ------------------------------------------------------------------ */

struct subject {
    struct model_case c;
    const struct objective_class *objective;
    struct op_run run;
    double *memory, *grad, *start, *direction;
    double along; /* place on the line start + along * direction */
};

static double total(struct subject *s, const struct objective_class *objective, double *grad)
{
    struct batch batch = model_case_batch(&s->c);
    s->c.config.objective.class = objective;
    struct loss loss = smurf_loss(&s->run, &s->c.model, &s->c.config, s->c.slab, &batch, s->memory, grad);
    return s->c.config.alpha * loss.time + loss.type;
}

static double value(void *context)
{
    struct subject *s = context;
    return total(s, s->objective, NULL);
}

static double value_along(void *context)
{
    struct subject *s = context;
    for (size_t i = 0; i < s->c.model.params.total; i++) s->c.slab[i] = s->start[i] + s->along * s->direction[i];
    double out = value(s);
    memcpy(s->c.slab, s->start, s->c.model.params.total * sizeof *s->start);
    return out;
}

/* The difference nearest to `got` of two steps: a corner of relu nearer than the longer one spoils that one
   only. Steps are short because of these corners; rounding then makes errors of about 1e-16 * 100 / 1e-5. */
static double nearest(double (*f)(void *), struct subject *s, double *x, double got)
{
    double a = difference(f, s, x, 1e-5);
    if (fabs(a - got) <= 0.1 * TOLERANCE * fabs(got)) return a;
    double b = difference(f, s, x, 1e-6);
    return fabs(a - got) < fabs(b - got) ? a : b;
}

static void check_directions(struct subject *s)
{
    size_t n = s->c.model.params.total;
    for (uint64_t k = 0; k < DIRECTIONS; k++) {
        fill_normal(s->direction, n, 90 + k);
        double length = sqrt(dot(s->grad, s->grad, n)), got = dot(s->grad, s->direction, n);
        double want = nearest(value_along, s, &s->along, got);
        if (!(fabs(got - want) <= TOLERANCE * length))
            fail_msg("%s along a direction: %.12g, by differences %.12g", s->c.objective, got, want);
        if (!(fabs(want) > 1e-5 * length)) fail_msg("%s does not change along a direction: %g", s->c.objective, want);
    }
}

static void check_tensor(struct subject *s, const struct param *p, struct random *random)
{
    const double *g = s->grad + p->at;
    double size = largest(g, p->size);
    size_t element = 0;
    if (!(size > 0) || !isfinite(size)) fail_msg("%s: gradient of %s: largest %g", s->c.objective, p->name, size);
    for (size_t i = 0; i < p->size; i++)
        if (fabs(g[i]) == size) element = i;
    for (int k = 0; k <= SINGLES; k++, element = (size_t)smurf_random_below(random, p->size)) {
        double want = nearest(value, s, &s->c.slab[p->at + element], g[element]);
        if (!(fabs(g[element] - want) <= TOLERANCE * size))
            fail_msg("%s: %s[%zu]: %.12g, by differences %.12g (largest %g)", s->c.objective, p->name, element,
                     g[element], want, size);
    }
}

/* Gradients are added into grad: what was there before stays. */
static void check_gradient_added(struct subject *s)
{
    size_t n = s->c.model.params.total;
    memcpy(s->direction, s->grad, n * sizeof *s->grad);
    double with = total(s, s->objective, s->direction), without = value(s);
    assert_true(with == without);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(s->direction[i] - 2 * s->grad[i]) <= 1e-12 * fabs(s->grad[i]) + 1e-14);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static const size_t lengths[] = {5, 1, 7}, long_ones[] = {150, 1, 170};

struct options {
    enum activation activation;
    bool gap_feature, type_at_truth, ending;
    double dropout;
    bool counts;
    bool further;
    size_t types;           /* 0: few; many need more events too */
    smurf_scale_kind clock; /* the axis of a law with a clock; none: no clock */
};

/* The cut falls among the gaps of the case, which are about 1 on their axis. */
static struct clock clock_on(smurf_scale_kind kind)
{
    return (struct clock){.on = kind != SMURF_SCALE_NONE,
                          .shape = {true, true},
                          .cut = 1.5 * 86400,
                          .unit = 9000,
                          .scale = {.kind = kind, .mean = 60000, .mu = -0.5, .sd = 0.7}};
}

static void subject_init(struct subject *s, const char *objective, enum parametrisation param, const struct options *o)
{
    bool many = o->types >= COUNT_SLOTS;
    struct encoder_shape shape = {.types = o->types ? o->types : 3,
                                  .width = 8,
                                  .heads = 2,
                                  .head_width = 3,
                                  .layers = 2,
                                  .inner = 10,
                                  .activation = o->activation,
                                  .gap_feature = o->gap_feature,
                                  .ending = o->ending,
                                  .counts = o->counts,
                                  .clock = clock_on(o->clock),
                                  .count_rate = MODEL_CASE_RATES};
    if (o->further) shape.further = (struct further_layout)MODEL_CASE_FURTHER;
    *s = (struct subject){.objective = objective_named(objective),
                          .run = {.threads = 1, .seed = 5, .step = 9, .dropout = o->dropout}};
    assert_non_null(s->objective);
    model_case_init(&s->c, &shape, param, many ? long_ones : lengths, 3, 3);
    s->c.objective = objective;
    s->c.config.type_at_truth = o->type_at_truth;
    s->c.config.likelihood = s->c.config.objective;
    s->c.config.likelihood.class = &OP(objective_mle);
    if (o->clock) s->c.config.objective.clock = s->c.config.likelihood.clock = &s->c.model.shape.clock;
    s->c.config.high = 6;
    size_t n = s->c.model.params.total;
    s->memory = model_case_workspace(smurf_loss_memory(&s->c.model, &s->c.config, s->c.n, 1), sizeof *s->memory);
    s->grad = model_case_room(n, sizeof *s->grad);
    s->start = model_case_room(n, sizeof *s->start);
    s->direction = model_case_room(n, sizeof *s->direction);
    memcpy(s->start, s->c.slab, n * sizeof *s->start);
}

static void subject_release(struct subject *s)
{
    free(s->memory), free(s->grad), free(s->start), free(s->direction);
    model_case_release(&s->c);
}

static void check_subject(struct subject *s)
{
    struct random random;
    smurf_random_init(&random, 4, 4);
    total(s, s->objective, s->grad);
    check_gradient_added(s);
    check_directions(s);
    for (size_t i = 0; i < s->c.model.params.count; i++) check_tensor(s, &s->c.model.params.entry[i], &random);
}

/* Calls `check` for every combination of options. */
static void for_options(void (*check)(const struct options *))
{
    for (unsigned k = 0; k < 16; k++) {
        struct options o = {.activation = k & 1 ? ACTIVATION_RELU : ACTIVATION_GELU,
                            .gap_feature = k & 2,
                            .type_at_truth = k & 4,
                            .dropout = k & 8 ? 0.2 : 0,
                            .counts = (k & 1) == (k >> 2 & 1),
                            .further = (k & 1) == (k >> 3 & 1)};
        check(&o);
    }
}

/* With both meanings of the gap head. */
static void check_objective(const char *objective, const struct options *o, void (*set)(struct objective_config *))
{
    const enum parametrisation params[] = {PARAM_INTENSITY, PARAM_SCORE};
    for (int p = 0; p < 2; p++) {
        struct subject s;
        subject_init(&s, objective, params[p], o);
        if (set) set(&s.c.config.objective);
        check_subject(&s);
        subject_release(&s);
    }
}

static void several_sigmas(struct objective_config *config)
{
    config->sigma[1] = 0.1, config->sigma[2] = 0.5, config->sigmas = 3;
}
static void multiplicative(struct objective_config *config)
{
    config->multiplicative = true;
}

static void check_dsm(const struct options *o)
{
    check_objective("dsm", o, NULL);
}
static void check_dsm_sigmas(const struct options *o)
{
    check_objective("dsm", o, several_sigmas);
}
static void check_dsm_multiplicative(const struct options *o)
{
    check_objective("dsm", o, multiplicative);
}
static void check_sm(const struct options *o)
{
    check_objective("sm", o, NULL);
}
static void check_wsm(const struct options *o)
{
    check_objective("wsm", o, NULL);
}

static void check_mle(const struct options *o)
{
    struct subject s;
    subject_init(&s, "mle", PARAM_INTENSITY, o);
    s.c.config.objective.low = -0.1;
    check_subject(&s);
    subject_release(&s);
}

/* The clock as input and in the law, with gaps on both sides of its cut. */
static void check_clock(const struct options *given)
{
    struct options o = *given;
    o.clock = o.gap_feature ? SMURF_SCALE_LOG : SMURF_SCALE_MEAN;
    o.ending = o.type_at_truth;
    check_mle(&o);
    struct subject s;
    subject_init(&s, "wsm", PARAM_INTENSITY, &o);
    s.c.config.objective.log_axis = o.gap_feature;
    s.c.config.high = 0.1;   /* as in check_ending */
    s.c.config.alpha = 0.01; /* psi of a clock is large: the types must not drown in its rounding */
    check_subject(&s);
    subject_release(&s);
}

/* ---- The end of a case ------------------------------------------------------------------------ */

static void check_ending(const struct options *given)
{
    struct options o = *given;
    o.ending = true;
    check_mle(&o);
    const char *const names[] = {"dsm", "sm", "wsm"};
    for (int k = 0; k < 3; k++)
        for (int score = 0; score < 2; score++) {
            struct subject s;
            subject_init(&s, names[k], score ? PARAM_SCORE : PARAM_INTENSITY, &o);
            s.c.config.high = 0.1; /* all censored gaps are longer: S0, which is held, is constant */
            check_subject(&s);
            subject_release(&s);
        }
}

/* S0 does not depend on the parameters of the end. */
static void check_ending_alone(const struct options *given)
{
    struct options o = *given;
    struct random random;
    o.ending = true;
    smurf_random_init(&random, 4, 4);
    for (int score = 0; score < 2; score++) {
        struct subject s;
        subject_init(&s, "dsm", score ? PARAM_SCORE : PARAM_INTENSITY, &o);
        total(&s, s.objective, s.grad);
        for (size_t i = 0; i < s.c.model.params.count; i++)
            if (strncmp(s.c.model.params.entry[i].name, "end.", 4) == 0)
                check_tensor(&s, &s.c.model.params.entry[i], &random);
        subject_release(&s);
    }
}

/* -ln S0 of laws normalised to [low, high], by the midpoint rule. */
static void test_compensator(void **state)
{
    (void)state;
    enum { D = 3, N = 20000, POINTS = 24, ROOM = 64 };
    const double a[D] = {0.6, -0.9, 0.3}, b[D] = {-0.4, 0.2, 1.1}, w[D] = {1.2, 0.7, -0.8}, c = 0.4, low = -1, high = 3;
    struct ending_head head = {D, a, b, w, c};
    struct objective_config config = {.low = low, .points = POINTS};
    _Alignas(64) static double tau[ROOM], u[ROOM], z[D * ROOM];
    smurf_gauss_legendre(POINTS, config.node, config.weight);
    for (int score = 0; score < 2; score++)
        for (double gap = -0.9; gap < high - 0.1; gap += 0.3) {
            double below = 0, all = 0, inside = 0, step = (high - low) / N; /* the integral of u or lambda up to x */
            for (int i = 0; i < N; i++) {
                double x = low + (i + 0.5) * step, value = c;
                for (int k = 0; k < D; k++) value += w[k] * tanh(a[k] * x + b[k]);
                double lambda = score ? value : log1p(exp(value)), middle = inside + 0.5 * step * lambda;
                double density = score ? exp(middle) : lambda * exp(-middle);
                inside += step * lambda;
                all += density;
                if (x < gap) below += density;
            }
            config.param = score ? PARAM_SCORE : PARAM_INTENSITY;
            double got = ending_compensator(&config, &head, high, gap, tau, u, z), want = -log(1 - below / all);
            if (!(fabs(got - want) < 2e-3 * (1 + exp(want)))) fail_msg("at %g: %g, not %g", gap, got, want);
        }
    assert_true(ending_compensator(&config, &head, high, low - 1, tau, u, z) == 0);
    assert_true(ending_compensator(&config, &head, high, high + 1, tau, u, z) == 50);
}

/* The mixture itself: with S0 = e^-L, -ln(pi + (1 - pi) S0). */
static void test_mixture(void **state)
{
    (void)state;
    for (double s = -30; s < 31; s += 3)
        for (double l = 0; l < 60; l = 2 * l + 0.01) {
            double by_s, by_l, pi = 1 / (1 + exp(-s)), survival = exp(-l), step = 1e-6, none;
            double loss = ending_none(s, l, &by_s, &by_l);
            assert_true(fabs(loss + log(pi + survival / (1 + exp(s)))) < 1e-9 * (1 + loss));
            double slope_s = ending_none(s + step, l, &none, &none) - ending_none(s - step, l, &none, &none);
            double slope_l = ending_none(s, l + step, &none, &none) - ending_none(s, l - step, &none, &none);
            assert_true(fabs(by_s - slope_s / (2 * step)) < 1e-7 && fabs(by_l - slope_l / (2 * step)) < 1e-7);
            loss = ending_event(s, &by_s);
            assert_true(fabs(loss - log1p(exp(s))) < 1e-12 * (1 + loss) && fabs(by_s - pi) < 1e-12);
        }
}

/* So many types that those of several targets are done together, in chunks of more targets than that. */
static void test_many_types(void **state)
{
    (void)state;
    const char *const names[] = {"mle", "dsm"};
    for (int k = 0; k < 4; k++) {
        const struct options o = {
            .activation = ACTIVATION_GELU, .type_at_truth = true, .types = TYPES_MANY + 3, .counts = k & 2};
        struct subject s;
        subject_init(&s, names[k & 1], PARAM_INTENSITY, &o);
        check_subject(&s);
        s.c.config.smoothing = 0;
        memset(s.grad, 0, s.c.model.params.total * sizeof *s.grad);
        check_subject(&s);
        subject_release(&s);
    }
}

/* More types than have inputs of the encoder, and more than have slots. */
static void test_counts_of_some_types(void **state)
{
    (void)state;
    const size_t types[] = {COUNT_TYPES, COUNT_TYPES + 1, COUNT_SLOTS + 40};
    for (int k = 0; k < 3; k++) {
        const struct options o = {.gap_feature = true, .counts = true, .types = types[k]};
        struct subject s;
        subject_init(&s, "dsm", PARAM_INTENSITY, &o);
        check_subject(&s);
        subject_release(&s);
    }
}

/* ---- The gradient of `stop` ------------------------------------------------------------------ */

/* The definition: lambda'/lambda of every point is taken at the starting parameters and held, and the loss so
   made is differentiated in full. */
static struct {
    double value[32][8];
    bool hold;
} ratio;

static double held_loss(const struct objective_config *config, const struct target *target, size_t n, const double *tau,
                        const double *u, const double *u1, const double *u2, double *g0, double *g1, double *g2)
{
    (void)u2, (void)g0, (void)g1, (void)g2;
    double sum = 0, s2 = config->sigma[0] * config->sigma[0];
    for (size_t i = 0; i < n; i++) {
        struct intensity l = intensity_at(u[i]);
        double *held = &ratio.value[target->id][i];
        if (!ratio.hold) *held = l.r * u1[i];
        double miss = *held - l.lambda - (target->gap - tau[i]) / s2;
        sum += 0.5 * s2 * miss * miss / (double)n;
    }
    return sum;
}

static void check_stop(const struct options *o)
{
    struct subject s;
    struct objective_class held = OP(objective_dsm);
    held.loss = held_loss;
    subject_init(&s, "dsm", PARAM_INTENSITY, o);
    assert_true(s.c.targets <= sizeof ratio.value / sizeof *ratio.value);
    s.c.config.objective.stop = true;
    double loss = total(&s, s.objective, s.grad);
    ratio.hold = false;
    double want = total(&s, &held, NULL);
    check_values("loss with stop", &loss, &want, 1, 1e-12);
    ratio.hold = true;
    s.objective = &held;
    struct random random;
    smurf_random_init(&random, 4, 4);
    check_directions(&s);
    for (size_t i = 0; i < s.c.model.params.count; i++) check_tensor(&s, &s.c.model.params.entry[i], &random);
    subject_release(&s);
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        for_options(check_##name);                                                                                     \
    }
TEST(dsm)
TEST(dsm_sigmas)
TEST(dsm_multiplicative)
TEST(sm)
TEST(wsm)
TEST(mle)
TEST(clock)
TEST(stop)
TEST(ending)
TEST(ending_alone)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dsm),
        cmocka_unit_test(test_dsm_sigmas),
        cmocka_unit_test(test_dsm_multiplicative),
        cmocka_unit_test(test_sm),
        cmocka_unit_test(test_wsm),
        cmocka_unit_test(test_mle),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_many_types),
        cmocka_unit_test(test_counts_of_some_types),
        cmocka_unit_test(test_ending),
        cmocka_unit_test(test_ending_alone),
        cmocka_unit_test(test_compensator),
        cmocka_unit_test(test_mixture),
    };
    return cmocka_run_group_tests_name("gradients of the model", tests, NULL, NULL);
}
