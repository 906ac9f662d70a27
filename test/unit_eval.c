/* unit_eval.c - evaluation against closed forms and brute force: metrics, naive laws, the walk over a data set and its
   bootstrap. The truth here is an exponential law with a mean that the test chooses; a wrong mean must show. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/sort.h"
#include "data/builder.h"
#include "eval/bootstrap.h"
#include "eval/evaluate.h"
#include "eval/metrics.h"
#include "eval/naive.h"

static void assert_close(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s: %.17g instead of %.17g", what, got, want);
}

/* ---- A law that is known ------------------------------------------------------------------------- */

struct exponential {
    double mean;     /* after recalibration, so to say */
    double raw_mean; /* before */
};

static double mean_of(const void *self)
{
    return *(const double *)self;
}

static void exponential_cdf(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = in[i] > 0 ? -expm1(-in[i] / mean_of(self)) : 0 * in[i];
}

static void exponential_density(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0 ? exp(-in[i] / mean_of(self)) / mean_of(self) : 0;
}

static void exponential_quantile(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = -mean_of(self) * log1p(-in[i]);
}

static size_t exponential_knots(const void *self, double *out)
{
    for (size_t i = 0; i <= 60; i++) out[i] = 0.5 * (double)i * mean_of(self);
    return 61;
}

static const struct dist_class exponential_class = {
    "exponential", exponential_cdf, exponential_density, exponential_quantile, exponential_knots, NULL, NULL,
};

static void *workspace_new(const void *self, size_t events, struct stop *stop)
{
    (void)stop;
    (void)self;
    return malloc(events + 1);
}

static void read_nothing(const void *self, void *workspace, const smurf_sequence *sequence)
{
    (void)self, (void)workspace, (void)sequence;
}

static struct dist exponential_dist(const void *self, void *workspace, size_t row, int raw)
{
    (void)workspace, (void)row;
    const struct exponential *e = self;
    return (struct dist){&exponential_class, raw ? &e->raw_mean : &e->mean};
}

/* Type 0 with probability exp(-gap), else type 1: over Exp(1), one half each. */
static void exponential_types(const void *self, void *workspace, size_t row, const double *gap, double *out, size_t n)
{
    (void)self, (void)workspace, (void)row;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = exp(-gap[i]);
        out[2 * i + 1] = 1 - out[2 * i];
    }
}

static const struct predictor_class timed = {
    "exponential", workspace_new, free, read_nothing, exponential_dist, exponential_types, NULL, NULL, NULL, NULL, NULL,
};

/* Probabilities .6, .3, .1 whatever the time. */
static void fixed_types(const void *self, void *workspace, size_t row, const double *gap, double *out, size_t n)
{
    (void)self, (void)workspace, (void)row, (void)gap;
    for (size_t i = 0; i < n; i++) memcpy(out + 3 * i, (double[]){0.6, 0.3, 0.1}, 3 * sizeof *out);
}

static const struct predictor_class fixed = {
    "fixed types", workspace_new, free, read_nothing, exponential_dist, fixed_types, NULL, NULL, NULL, NULL, NULL,
};

/* ---- Data ---------------------------------------------------------------------------------------- */

static void add_sequence(struct builder *b, const double *gap, const uint32_t *type, size_t gaps, size_t first)
{
    double time = 0;
    for (size_t i = 0; i <= gaps; i++) {
        if (i) time += gap[i - 1];
        assert_int_equal(smurf_builder_time(b, time, NULL), SMURF_OK);
        assert_int_equal(smurf_builder_index(b, type ? type[i] : 0, NULL), SMURF_OK);
    }
    struct sequence_info info = {.start = NAN, .end = NAN, .first = first};
    assert_int_equal(smurf_builder_close(b, &info, NULL), SMURF_OK);
}

static smurf_data *finish(struct builder *b)
{
    smurf_data *data = NULL;
    assert_int_equal(smurf_builder_finish(b, &data, NULL), SMURF_OK);
    smurf_builder_release(b);
    return data;
}

/* Sequences of Exp(1) gaps, with types as exponential_types says. */
static smurf_data *simulate(size_t sequences, size_t gaps, uint64_t seed)
{
    struct builder b = {.name = "exponential", .declared = 2};
    double *gap = malloc(gaps * sizeof *gap);
    uint32_t *type = calloc(gaps + 1, sizeof *type);
    assert_true(gap && type);
    for (size_t s = 0; s < sequences; s++) {
        struct random random;
        smurf_random_init(&random, seed, s);
        for (size_t i = 0; i < gaps; i++) {
            gap[i] = smurf_random_exponential(&random);
            type[i + 1] = smurf_random_uniform(&random) > exp(-gap[i]);
        }
        add_sequence(&b, gap, type, gaps, 1);
    }
    free(gap);
    free(type);
    return finish(&b);
}

static const struct exponential truth = {1, 1.3};

static struct evaluation_plan plan_for(const smurf_data *test)
{
    return (struct evaluation_plan){
        .model = {&timed, &truth, 2}, .test = test, .mean_gap = NAN, .seed = 7, .threads = 2};
}

static struct evaluation run(const struct evaluation_plan *plan)
{
    struct evaluation e;
    smurf_error err;
    if (smurf_evaluation_run(&e, plan, &err)) fail_msg("%s", err.message);
    return e;
}

/* ---- Metrics ------------------------------------------------------------------------------------- */

/* By the definitions, word by word. */
static void sample_metrics(void **state)
{
    (void)state;
    enum { N = 31, U = 24 };
    double sample[N][U], gap[N], crps = 0, covered = 0, length = 0;
    struct random random;
    smurf_random_init(&random, 1, 1);
    for (size_t i = 0; i < N; i++) {
        gap[i] = smurf_random_exponential(&random);
        for (size_t u = 0; u < U; u++) sample[i][u] = smurf_random_exponential(&random) - 0.3;
        double first = 0, second = 0;
        for (size_t u = 0; u < U; u++) {
            first += fabs(sample[i][u] - gap[i]) / U;
            for (size_t v = 0; v < U; v++) second += fabs(sample[i][u] - sample[i][v]) / (2.0 * U * U);
        }
        crps += (first - second) / N;
    }
    smurf_metrics m;
    assert_int_equal(smurf_metrics_of_samples(&m, *sample, U, gap, N, smurf_levels, NULL), SMURF_OK);
    for (size_t i = 0; i < N; i++) { /* sorted by now: the median lies between the 12th and the 13th */
        double median = sample[i][11] + 0.5 * (sample[i][12] - sample[i][11]);
        covered += gap[i] < median;
        length += fmax(median, 0) / N;
    }
    assert_close(m.crps, crps, 1e-13, "CRPS");
    assert_close(m.coverage[9], covered / N, 1e-15, "coverage of the median");
    assert_close(m.cer, 100 * fabs(covered / N - 0.5), 1e-12, "CER");
    assert_close(m.il, length, 1e-14, "interval length");
    assert_true(m.n == N && isnan(m.acc) && isnan(m.type_loss) && isnan(m.ece) && isnan(m.ks));
    assert_int_equal(smurf_metrics_of_samples(&m, *sample, U, gap, 0, smurf_levels, NULL), SMURF_ERROR_ARGUMENT);
}

/* Critical values of Kolmogorov's distribution, of Stephens's table, and the seam of the two series. */
static void kolmogorov_smirnov(void **state)
{
    (void)state;
    const double n = 1e12; /* the correction is gone */
    assert_close(smurf_ks_probability(1.2238478702170826 / sqrt(n), (size_t)n), 0.10, 1e-6, "10%");
    assert_close(smurf_ks_probability(1.3580986393225505 / sqrt(n), (size_t)n), 0.05, 1e-6, "5%");
    assert_close(smurf_ks_probability(1.6276236115189504 / sqrt(n), (size_t)n), 0.01, 1e-6, "1%");
    assert_close(smurf_ks_probability(0.40925, 10), 0.05, 1e-3, "5% of ten");
    double left = smurf_ks_probability(1.18 * (1 - 1e-9) / sqrt(n), (size_t)n);
    assert_close(smurf_ks_probability(1.18 * (1 + 1e-9) / sqrt(n), (size_t)n), left, 1e-6, "seam");
    assert_true(smurf_ks_probability(0, 100) == 1 && smurf_ks_probability(1, 100) < 1e-30);
    double value[] = {0.9, 0.1, 0.35, 0.3};
    assert_close(smurf_ks_distance(value, 4), 0.4, 1e-15, "distance"); /* after 0.35: 3/4 - 0.35 */
    assert_true(isnan(smurf_ks_distance((double[]){0.5, NAN}, 2)));
}

static void fields_by_name(void **state)
{
    (void)state;
    const smurf_metric *field;
    smurf_metrics m;
    smurf_metrics_clear(&m);
    size_t count = 0;
    for (; (field = smurf_metric_at(count)); count++) {
        assert_true(isnan(smurf_metric_value(&m, field)) && field->name[0] && field->about[0]);
        for (size_t other = 0; other < count; other++) {
            assert_string_not_equal(field->name, smurf_metric_at(other)->name);
            assert_true(field->offset != smurf_metric_at(other)->offset);
        }
    }
    /* every double of the struct but the two lists has a name */
    assert_int_equal(offsetof(smurf_metrics, coverage), offsetof(smurf_metrics, cs) + count * sizeof(double));
    assert_true(m.n == 0 && isnan(m.coverage[0]) && isnan(m.interval_length[SMURF_LEVELS - 1]));
}

/* ---- The true law, and a wrong one --------------------------------------------------------------- */

/* Levels whose share is off by more than four standard deviations. */
static size_t out_of_band(const double *pit, size_t n)
{
    size_t out = 0;
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        double q = smurf_levels[l], below = 0;
        for (size_t i = 0; i < n; i++) below += pit[i] < q;
        out += fabs(below / (double)n - q) > 4 * sqrt(q * (1 - q) / (double)n);
    }
    return out;
}

static void true_law(void **state)
{
    (void)state;
    smurf_data *data = simulate(200, 100, 3);
    struct evaluation_plan plan = plan_for(data);
    plan.has_map = true; /* "raw" is the wrong law */
    plan.n_dev = 5000;
    plan.spread = true;
    struct evaluation e = run(&plan);
    const smurf_metrics *right = &e.row[ROW_MODEL].metrics, *wrong = &e.row[ROW_RAW].metrics;
    assert_true(e.n == 20000 && e.sequences == 200 && right->n == 20000 && right->sequences == 200);
    assert_int_equal(out_of_band(e.row[ROW_MODEL].pit, e.n), 0);
    assert_true(out_of_band(e.row[ROW_RAW].pit, e.n) > 15);
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        double q = smurf_levels[l];
        assert_close(right->coverage[l], q, 4 * sqrt(q * (1 - q) / 20000), "coverage");
        assert_close(right->interval_length[l], -log1p(-q), 1e-6, "interval length");
        assert_close(e.row[ROW_MODEL].coverage.upto[l], right->coverage[l], 0, "without ticks: the same coverage");
    }
    for (size_t c = 0; c < SMURF_CENTRAL; c++) {
        double q = 0.1 * (double)(c + 1);
        assert_close(e.row[ROW_MODEL].coverage.central[c], q, 4 * sqrt(q * (1 - q) / 20000), "central coverage");
        assert_close(e.row[ROW_MODEL].coverage.central_pit[c], e.row[ROW_MODEL].coverage.central[c], 0, "by PIT");
    }
    assert_close(right->cs_floor, 100 * sqrt(0.17875 * (1 / 20000. + 1 / 5000.)), 1e-12, "floor, recalibrated");
    assert_close(wrong->cs_floor, 100 * sqrt(0.17875 / 20000.), 1e-12, "floor");
    assert_true(right->cs < 3 * wrong->cs_floor && right->cs_pit < 3 * wrong->cs_floor && wrong->cs > 5);
    assert_true(right->ks_p > 1e-3 && wrong->ks_p < 1e-10 && right->ks < wrong->ks);
    assert_true(right->crps < wrong->crps && right->pinball < wrong->pinball);
    assert_true(right->log_likelihood > wrong->log_likelihood);
    assert_close(right->spread, 0.5, 1e-6, "E|X - X'|/2 of Exp(1)");
    assert_close(wrong->spread, 0.65, 1e-6, "that of the wrong law");
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* Gap by gap: CRPS = y - 2 F(y) + 1/2, ln p = -y, F(y) = 1 - e^-y. */
static void closed_forms(void **state)
{
    (void)state;
    smurf_data *data = simulate(20, 50, 5);
    struct evaluation_plan plan = plan_for(data);
    struct evaluation e = run(&plan);
    const struct row_values *row = &e.row[ROW_MODEL];
    double loss = 0, right = 0, right_at = 0;
    for (size_t i = 0; i < e.n; i++) {
        double y = e.gap[i];
        assert_close(row->crps[i], y + 2 * expm1(-y) + 0.5, 1e-6, "CRPS");
        assert_close(row->log_density[i], -y, 1e-12, "log density");
        assert_close(row->pit[i], -expm1(-y), 1e-12, "PIT");
        assert_close((double)row->quantile[i * SMURF_LEVELS + 9], log(2), 1e-6, "median");
        assert_close((double)row->true_share[i], 0.5, 1e-6, "share of the true type");
        assert_close((double)row->brier[i], 0.5, 1e-6, "Brier score");
        loss -= log((double)row->true_share[i]) / (double)e.n;
        right += row->top[i] == e.type[i];
        right_at += (exp(-y) > 0.5 ? 0 : 1) == (int)e.type[i];
    }
    assert_close(row->metrics.type_loss, loss, 1e-12, "type loss");
    assert_close(row->metrics.acc, 100 * right / (double)e.n, 1e-10, "accuracy");
    assert_close(row->metrics.acc_true_time, 100 * right_at / (double)e.n, 1e-10, "accuracy at the true gap");
    assert_true(isnan(row->metrics.acc_draws) && isnan(row->metrics.spread) && isnan(row->low.cs));
    assert_true(!e.row[ROW_RAW].name && !e.row[ROW_MARGINAL].name && isnan(e.row[ROW_RECENT].metrics.cs));
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* Gaps in steps of 1/2: the density is that of the tick, the PIT lies within it. */
static void ticks(void **state)
{
    (void)state;
    struct builder b = {.name = "ticks", .declared = 1};
    add_sequence(&b, (double[]){0, 0.5, 1.5}, NULL, 3, 1);
    smurf_data *data = finish(&b);
    struct evaluation_plan plan = plan_for(data);
    plan.tick = 0.5;
    struct evaluation e = run(&plan);
    const struct row_values *row = &e.row[ROW_MODEL];
    assert_close(row->log_density[0], log(-expm1(-0.25) / 0.25), 1e-12, "a tie");
    assert_close(row->log_density[2], log((exp(-1.25) - exp(-1.75)) / 0.5), 1e-12, "a tick");
    for (size_t i = 0; i < 3; i++) {
        double low = fmax(e.gap[i] - 0.25, 0), high = e.gap[i] + 0.25;
        assert_true(row->pit[i] >= -expm1(-low) && row->pit[i] <= -expm1(-high));
    }
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* ---- Types by hand ------------------------------------------------------------------------------- */

static void types_by_hand(void **state)
{
    (void)state;
    struct builder b = {.name = "types", .declared = 4};
    add_sequence(&b, (double[]){1, 1, 1, 1}, (uint32_t[]){2, 0, 0, 1, 3}, 4, 1); /* 3: the model knows 0, 1, 2 */
    smurf_data *data = finish(&b);
    struct evaluation_plan plan = plan_for(data);
    plan.model = (struct predictor){&fixed, &truth, 3};
    plan.examples = 1;
    struct evaluation e = run(&plan);
    const smurf_metrics *m = &e.row[ROW_MODEL].metrics;
    assert_close(m->acc, 50, 1e-12, "accuracy");
    assert_close(m->acc_true_time, 50, 1e-12, "accuracy at the true gap");
    /* (0.4^2 + 0.3^2 + 0.1^2) twice, 0.6^2 + 0.7^2 + 0.1^2, 0.6^2 + 0.3^2 + 0.1^2 + 1 */
    assert_close(m->brier, (2 * 0.26 + 0.86 + 1.46) / 4, 1e-6, "Brier score");
    assert_close(m->type_loss, -(2 * log(0.6) + log(0.3) + log(FLT_MIN)) / 4, 1e-6, "type loss");
    assert_close(m->ece, 100 * fabs(0.5 - 0.6), 1e-5, "ECE: all in one bin");
    assert_true(e.examples == 1 && e.example[0].types == 3 && e.example[0].type[0] == 0 && e.example[0].type[2] == 2);
    assert_close(e.example[0].share[1], 0.3, 1e-12, "share");
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* ---- Draws --------------------------------------------------------------------------------------- */

static bool draw_constant(void *context, const struct predictor *predictor, void *workspace, size_t row,
                          uint64_t stream, double *out, size_t n)
{
    (void)predictor, (void)workspace, (void)row, (void)stream;
    for (size_t i = 0; i < n; i++) out[i] = *(double *)context + (double)(n - i); /* in no order: falling */
    return true;
}

static void draws(void **state)
{
    (void)state;
    smurf_data *data = simulate(40, 100, 11);
    struct evaluation_plan plan = plan_for(data);
    plan.draws = 50;
    struct evaluation e = run(&plan);
    const smurf_metrics *exact = &e.row[ROW_MODEL].metrics, *m = &e.row[ROW_SAMPLED].metrics;
    assert_close(m->crps, exact->crps + 0.5 / 50, 0.004, "CRPS, up by E|X - X'|/2U");
    assert_close(m->spread, 0.5 * 49 / 50, 0.004, "spread");
    assert_true(m->cs < 2.5 && m->acc_draws > 40 && m->acc_draws < 60 && isnan(m->log_likelihood));
    smurf_evaluation_release(&e);

    double far = 100; /* all draws are 101 .. 150 */
    plan.draw = draw_constant;
    plan.draw_context = &far;
    e = run(&plan);
    m = &e.row[ROW_SAMPLED].metrics;
    assert_close(m->il, 125.5, 1e-5, "median of the draws");
    assert_close(m->coverage[0], 1, 0, "coverage");
    size_t ones = 0; /* type 0 never comes after so long */
    for (size_t i = 0; i < e.n; i++) ones += e.row[ROW_SAMPLED].top_draws[i] == 1;
    assert_int_equal(ones, e.n);
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* ---- The walk ------------------------------------------------------------------------------------ */

static void assert_same(const void *a, const void *b, size_t bytes, const char *what)
{
    if (memcmp(a, b, bytes) != 0) fail_msg("%s depends on the number of threads", what);
}

static void thread_count(void **state)
{
    (void)state;
    smurf_data *data = simulate(60, 30, 13);
    struct naive *naive;
    assert_int_equal(smurf_naive_new(&naive, data, NULL), SMURF_OK);
    struct predictor marginal = smurf_naive_marginal(naive), recent = smurf_naive_recent(naive);
    struct evaluation_plan plan = plan_for(data);
    plan.marginal = &marginal;
    plan.recent = &recent;
    struct predictor same_hour = smurf_naive_same_hour(naive), last = smurf_naive_last(naive);
    plan.same_hour = &same_hour;
    plan.last = &last;
    plan.has_map = true;
    plan.spread = true;
    plan.draws = 10;
    plan.bootstrap = 40;
    plan.tick = 1e-3;
    plan.examples = 3;
    plan.gamma = 0.01;
    struct evaluation e[2];
    for (int i = 0; i < 2; i++) {
        plan.threads = i ? 3 : 1;
        e[i] = run(&plan);
    }
    for (int r = 0; r < ROWS; r++) {
        const struct row_values *a = &e[0].row[r], *b = &e[1].row[r];
        assert_non_null(a->name);
        assert_same(a->pit, b->pit, e->n * sizeof *a->pit, "PIT");
        assert_same(a->crps, b->crps, e->n * sizeof *a->crps, "CRPS");
        assert_same(a->quantile, b->quantile, e->n * SMURF_LEVELS * sizeof *a->quantile, "a quantile");
        if (a->top) assert_same(a->top_share, b->top_share, e->n * sizeof *a->top_share, "a share");
        if (a->top_draws) assert_same(a->top_draws, b->top_draws, e->n * sizeof *a->top_draws, "a mode");
        assert_same(&a->metrics, &b->metrics, sizeof a->metrics, "a metric");
        assert_same(&a->low, &b->low, sizeof a->low, "the bootstrap");
        assert_same(&a->high, &b->high, sizeof a->high, "the bootstrap");
    }
    assert_same(e[0].example, e[1].example, sizeof e->example, "an example");
    assert_same(&e[0].advantage, &e[1].advantage, sizeof e->advantage, "the advantage");
    for (int i = 0; i < 2; i++) smurf_evaluation_release(&e[i]);
    smurf_naive_free(naive);
    smurf_data_free(data);
}

static void examples(void **state)
{
    (void)state;
    struct builder b = {.name = "two", .declared = 2, .unit = "h"};
    add_sequence(&b, (double[]){9, 1, 2}, NULL, 3, 2);
    add_sequence(&b, (double[]){30, 4}, NULL, 2, 1);
    smurf_data *data = finish(&b);
    struct evaluation_plan plan = plan_for(data);
    plan.examples = 12;
    struct evaluation e = run(&plan);
    assert_true(e.n == 4 && e.examples == 4 && strcmp(e.unit, "h") == 0);
    assert_string_equal(e.example[0].title, "sequence 1, event 3");
    assert_string_equal(e.example[2].title, "sequence 2, event 2");
    assert_close(e.example[2].truth, 30, 0, "truth");
    assert_close(e.example[2].x[EXAMPLE_POINTS - 1], 33, 1e-12, "a bit beyond the truth");
    assert_close(e.example[0].x[EXAMPLE_POINTS - 1], -log(0.01), 1e-12, "the 99% quantile");
    for (size_t p = 0; p < EXAMPLE_POINTS; p++) {
        const struct example *x = &e.example[1];
        assert_close(x->cdf[p], -expm1(-x->x[p]), 1e-12, "CDF");
        assert_close(x->density[p], exp(-x->x[p]), 1e-12, "density");
    }
    smurf_evaluation_release(&e);
    plan.examples = EXAMPLES_MOST + 1;
    assert_int_equal(smurf_evaluation_run(&e, &plan, NULL), SMURF_ERROR_ARGUMENT);
    smurf_data_free(data);
}

static int stop_halfway(void *context, const smurf_progress *progress)
{
    ++*(int *)context;
    return progress->done >= progress->total / 2;
}

static int go_on(void *context, const smurf_progress *progress)
{
    *(double *)context = progress->done / progress->total;
    return 0;
}

static void progress_and_errors(void **state)
{
    (void)state;
    smurf_data *data = simulate(20, 200, 17);
    struct evaluation_plan plan = plan_for(data);
    struct evaluation e;
    smurf_error err;
    int calls = 0;
    double share = 0;
    plan.progress = stop_halfway;
    plan.progress_context = &calls;
    assert_int_equal(smurf_evaluation_run(&e, &plan, &err), SMURF_ERROR_CANCELLED);
    assert_true(calls > 1 && !e.gap && strstr(err.message, "stopped while evaluating"));
    plan.progress = go_on;
    plan.progress_context = &share;
    e = run(&plan);
    assert_close(share, 1, 0, "progress");
    smurf_evaluation_release(&e);

    struct builder b = {.name = "nothing.csv", .declared = 1};
    add_sequence(&b, NULL, NULL, 0, 1);
    smurf_data *empty = finish(&b);
    struct naive *naive;
    struct markov markov;
    plan.test = empty;
    assert_int_equal(smurf_evaluation_run(&e, &plan, &err), SMURF_ERROR_INPUT);
    assert_string_equal(err.message, "'nothing.csv' has no gaps to score: it needs sequences of two events or more");
    assert_int_equal(smurf_naive_new(&naive, empty, &err), SMURF_ERROR_INPUT);
    assert_true(!naive && strstr(err.message, "'nothing.csv' has no gaps"));
    assert_int_equal(smurf_markov_init(&markov, empty, &err), SMURF_ERROR_INPUT);
    smurf_data_free(empty);
    smurf_data_free(data);
}

/* ---- The bootstrap ------------------------------------------------------------------------------- */

static double width(size_t sequences, int *covers)
{
    smurf_data *data = simulate(sequences, 20, 19);
    struct evaluation_plan plan = plan_for(data);
    plan.bootstrap = 400;
    struct evaluation e = run(&plan);
    const struct row_values *row = &e.row[ROW_MODEL];
    *covers = row->low.crps < 0.5 && row->high.crps > 0.5;
    assert_true(row->low.crps < row->metrics.crps && row->metrics.crps < row->high.crps);
    assert_true(row->low.coverage[9] <= row->metrics.coverage[9] && row->metrics.coverage[9] <= row->high.coverage[9]);
    assert_true(row->low.acc < row->high.acc && isnan(row->low.ks) && isnan(row->high.acc_draws));
    assert_true(row->low.n == e.n && row->high.sequences == sequences);
    double out = row->high.crps - row->low.crps, n = (double)e.n;
    /* at a gap y it is y + 2 e^-y - 3/2, whose variance is 1 + 1/3 - 1 */
    assert_close(out, 2 * 1.6449 * sqrt(1 / 3.) / sqrt(n), 0.2 * out, "width");
    smurf_evaluation_release(&e);
    smurf_data_free(data);
    return out;
}

static void bootstrap(void **state)
{
    (void)state;
    int few = 0, many = 0;
    double ratio = width(100, &few) / width(1600, &many);
    assert_close(ratio, 4, 0.8, "sixteen times the data");
    assert_true(few && many);

    smurf_data *data = simulate(1, 20, 23); /* one sequence: nothing to draw from */
    struct evaluation_plan plan = plan_for(data);
    plan.bootstrap = 10;
    struct evaluation e = run(&plan);
    assert_true(isnan(e.row[ROW_MODEL].low.crps) && isnan(e.row[ROW_MODEL].high.cs));
    smurf_evaluation_release(&e);
    smurf_data_free(data);
}

/* ---- Naive laws ---------------------------------------------------------------------------------- */

/* Small integers, many of them equal; every third sequence has history. */
static smurf_data *small_data(uint64_t seed)
{
    struct builder b = {.name = "small", .declared = 5};
    for (size_t s = 0; s < 30; s++) {
        struct random random;
        double gap[25];
        uint32_t type[26] = {0};
        smurf_random_init(&random, seed, s);
        size_t gaps = 1 + smurf_random_below(&random, 24);
        for (size_t i = 0; i < gaps; i++) {
            gap[i] = (double)smurf_random_below(&random, 3 + s % 7);
            type[i + 1] = (uint32_t)smurf_random_below(&random, 4);
        }
        add_sequence(&b, gap, type, gaps, s % 3 ? 1 : 1 + gaps / 2);
    }
    return finish(&b);
}

/* The scored gaps, and the mean of up to 8 before each, one by one. */
struct gaps {
    size_t n;
    double gap[1000], mean[1000];
    uint32_t before[1000], type[1000];
};

static void list_gaps(struct gaps *out, const smurf_data *data)
{
    out->n = 0;
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        for (size_t j = s->first; j < s->length; j++) {
            double sum = 0, count = 0;
            for (size_t k = j - 1; k > 0 && count < 8; k--, count++) sum += s->time[k] - s->time[k - 1];
            out->gap[out->n] = s->time[j] - s->time[j - 1];
            out->mean[out->n] = count > 0 ? sum / count : NAN;
            out->before[out->n] = s->type[j - 1];
            out->type[out->n++] = s->type[j];
        }
    }
}

/* The law of `members` against brute force at one gap. */
static void check_law(const struct evaluation *e, int r, size_t i, double *members, size_t n)
{
    const struct row_values *row = &e->row[r];
    double first = 0, second = 0, y = e->gap[i];
    for (size_t a = 0; a < n; a++) {
        first += fabs(members[a] - y) / (double)n;
        for (size_t b = 0; b < n; b++) second += fabs(members[a] - members[b]) / 2 / (double)n / (double)n;
    }
    assert_close(row->crps[i], first - second, 1e-12, "CRPS of a naive law");
    assert_close(row->spread[i], second, 1e-12, "spread of a naive law");
    assert_true(isfinite(row->log_density[i]) && row->log_density[i] > -100);
    smurf_sort(members, n);
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        double at = smurf_levels[l] * (double)(n - 1), low = floor(at), part = at - low;
        double x = members[(size_t)low], next = members[(size_t)low + 1 < n ? (size_t)low + 1 : (size_t)low];
        double quantile = x + part * (next - x);
        assert_close((double)row->quantile[i * SMURF_LEVELS + l], quantile, 1e-6, "quantile of a naive law");
        if (fabs(quantile - y) > 1e-9) assert_true((y < (double)row->quantile[i * SMURF_LEVELS + l]) == (y < quantile));
    }
}

static void naive_laws(void **state)
{
    (void)state;
    smurf_data *train = small_data(1), *test = small_data(2);
    struct naive *naive;
    struct markov markov;
    assert_int_equal(smurf_naive_new(&naive, train, NULL), SMURF_OK);
    assert_int_equal(smurf_markov_init(&markov, train, NULL), SMURF_OK);
    struct predictor marginal = smurf_naive_marginal(naive), recent = smurf_naive_recent(naive);
    struct evaluation_plan plan = plan_for(test);
    plan.marginal = &marginal;
    plan.recent = &recent;
    plan.markov = &markov;
    struct evaluation e = run(&plan);
    static struct gaps a, b;
    list_gaps(&a, train);
    list_gaps(&b, test);
    assert_true(b.n == e.n && a.n > 100);
    double edge[3], sorted[1000], members[1000];
    size_t known = 0;
    for (size_t i = 0; i < a.n; i++)
        if (!isnan(a.mean[i])) sorted[known++] = a.mean[i];
    smurf_sort(sorted, known);
    for (size_t k = 1; k < 4; k++) edge[k - 1] = sorted[known * k / 4];
    size_t firsts = 0;
    for (size_t i = 0; i < b.n; i++) {
        memcpy(members, a.gap, a.n * sizeof *members);
        check_law(&e, ROW_MARGINAL, i, members, a.n);
        size_t n = 0;
        for (size_t j = 0; j < a.n; j++) {
            int same = isnan(a.mean[j]) == isnan(b.mean[i]);
            for (size_t k = 0; k < 3 && same && !isnan(a.mean[j]); k++)
                same = (a.mean[j] >= edge[k]) == (b.mean[i] >= edge[k]);
            if (same) members[n++] = a.gap[j];
        }
        firsts += isnan(b.mean[i]) ? 1 : 0;
        check_law(&e, ROW_RECENT, i, members, n);
    }
    assert_true(firsts > 0 && firsts < b.n);

    size_t right = 0;
    for (size_t i = 0; i < b.n; i++) {
        size_t count[5] = {0}, best = 0;
        for (size_t j = 0; j < a.n; j++) count[a.type[j]] += a.before[j] == b.before[i];
        for (size_t k = 1; k < 5; k++)
            if (count[k] > count[best]) best = k;
        right += best == b.type[i];
        assert_int_equal(smurf_markov_next(&markov, b.before[i]), best);
    }
    assert_close(e.acc_markov, 100 * (double)right / (double)b.n, 1e-12, "Markov");
    size_t most[5] = {0};
    for (size_t j = 0; j < a.n; j++) most[a.type[j]]++;
    assert_true(most[markov.common] >= most[0] && most[markov.common] >= most[1] && most[markov.common] >= most[2]);
    assert_true(smurf_markov_next(&markov, 4) == markov.common && smurf_markov_next(&markov, 77) == markov.common);
    smurf_evaluation_release(&e);
    smurf_markov_release(&markov);
    smurf_naive_free(naive);
    smurf_data_free(train);
    smurf_data_free(test);
}

/* The distribution as a distribution: CDF and quantiles undo each other, the density is about one in all. */
static void naive_distribution(void **state)
{
    (void)state;
    smurf_data *train = simulate(10, 200, 29);
    struct naive *naive;
    assert_int_equal(smurf_naive_new(&naive, train, NULL), SMURF_OK);
    struct predictor marginal = smurf_naive_marginal(naive);
    struct dist dist = marginal.class->dist(marginal.self, NULL, 0, 0);
    for (double p = 0.03; p < 1; p += 0.05)
        assert_close(smurf_dist_cdf(&dist, smurf_dist_quantile(&dist, p)), p, 1e-12, "CDF of the quantile");
    double mass = 0, end = 40, step = 1e-3;
    for (double x = step / 2; x < end; x += step) mass += step * smurf_dist_density(&dist, x);
    assert_close(mass, 1, 0.01, "mass of the density");
    assert_close(smurf_dist_density(&dist, 0.5), exp(-0.5), 0.15, "density");
    assert_true(smurf_dist_density(&dist, 1e3) >= 0 && smurf_dist_density(&dist, -1) == 0);
    assert_close(smurf_dist_mean(&dist), 1, 0.1, "mean");
    double knot[DIST_KNOTS_MOST];
    size_t knots = dist.class->knots(dist.self, knot);
    assert_true(knots >= 2 && knots <= DIST_KNOTS_MOST);
    for (size_t k = 1; k < knots; k++) assert_true(knot[k] > knot[k - 1]);
    smurf_naive_free(naive);
    smurf_data_free(train);

    struct builder b = {.name = "constant", .declared = 1};
    add_sequence(&b, (double[]){2, 2, 2}, NULL, 3, 1);
    train = finish(&b);
    assert_int_equal(smurf_naive_new(&naive, train, NULL), SMURF_OK);
    marginal = smurf_naive_marginal(naive);
    dist = marginal.class->dist(marginal.self, NULL, 0, 0);
    assert_close(smurf_dist_quantile(&dist, 0.3), 2, 0, "the only gap");
    assert_close(smurf_dist_crps(&dist, 5), 3, 1e-15, "CRPS of the only gap");
    assert_true(smurf_dist_density(&dist, 2) > 0 && dist.class->knots(dist.self, knot) == 2);
    smurf_naive_free(naive);
    smurf_data_free(train);
}

/* ---- Real data ----------------------------------------------------------------------------------- */

/* What method.md gives, CS in % and CRPS in `unit`s; recent CS of MIMIC-II there is 1.11, of 172 gaps. */
static const struct {
    const char *name;
    double marginal_cs, marginal_crps, recent_cs, recent_crps, markov;
    int in_mean_gaps;
} known[] = {
    {"stackoverflow", .23, .473, .20, .444, 44.47, 0},
    {"retweet", 2.31, .907, .37, .701, 53.47, 1},
    {"mimic2", 2.92, .549, 1.19, .570, 81.98, 1},
    {"financial", 1.14, .861, .43, .823, 61.60, 1},
};

static void real_data(void **state)
{
    (void)state;
    const char *shared = getenv("SMURF_SHARED"), *root = getenv("SMURF_ROOT");
    char folder[4096];
    size_t done = 0;
    for (size_t d = 0; d < sizeof known / sizeof *known; d++) {
        snprintf(folder, sizeof folder, "%s%s/data/%s",
                 shared ? shared
                 : root ? root
                        : ".",
                 shared ? "" : "/../shared", known[d].name);
        if (access(folder, R_OK) != 0) continue;
        done++;
        smurf_split split;
        smurf_error err;
        if (smurf_split_read(&split, folder, NULL, &err)) fail_msg("%s", err.message);
        struct naive *naive;
        struct markov markov;
        assert_int_equal(smurf_naive_new(&naive, split.train, NULL), SMURF_OK);
        assert_int_equal(smurf_markov_init(&markov, split.train, NULL), SMURF_OK);
        struct predictor recent = smurf_naive_recent(naive);
        struct evaluation_plan plan = plan_for(split.test);
        plan.model = smurf_naive_marginal(naive);
        plan.recent = &recent;
        plan.markov = &markov;
        plan.tick = smurf_data_tick(split.train);
        struct evaluation e = run(&plan);
        smurf_scale scale;
        assert_int_equal(smurf_scale_fit(&scale, SMURF_SCALE_MEAN, split.train, NULL), SMURF_OK);
        double unit = known[d].in_mean_gaps ? scale.mean : 1;
        const smurf_metrics *a = &e.row[ROW_MODEL].metrics, *b = &e.row[ROW_RECENT].metrics;
        print_message("# %s: marginal cs %.3f pit %.3f crps %.4f ll %.4f; recent cs %.3f pit %.3f crps %.4f ll %.4f; "
                      "markov %.2f; floor %.3f\n",
                      known[d].name, a->cs, a->cs_pit, a->crps / unit, a->log_likelihood, b->cs, b->cs_pit,
                      b->crps / unit, b->log_likelihood, e.acc_markov, a->cs_floor);
        assert_close(a->cs, known[d].marginal_cs, 0.006, "marginal CS");
        assert_close(a->crps / unit, known[d].marginal_crps, 0.0011, "marginal CRPS");
        assert_close(b->cs, known[d].recent_cs, 0.006, "recent CS");
        assert_close(b->crps / unit, known[d].recent_crps, 0.0006, "recent CRPS");
        assert_close(e.acc_markov, known[d].markov, 0.006, "Markov");
        assert_true(isfinite(a->log_likelihood) && isfinite(b->log_likelihood));
        smurf_evaluation_release(&e);
        smurf_markov_release(&markov);
        smurf_naive_free(naive);
        smurf_split_release(&split);
    }
    if (done == 0) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_metrics),      cmocka_unit_test(kolmogorov_smirnov),
        cmocka_unit_test(fields_by_name),      cmocka_unit_test(true_law),
        cmocka_unit_test(closed_forms),        cmocka_unit_test(ticks),
        cmocka_unit_test(types_by_hand),       cmocka_unit_test(draws),
        cmocka_unit_test(thread_count),        cmocka_unit_test(examples),
        cmocka_unit_test(progress_and_errors), cmocka_unit_test(bootstrap),
        cmocka_unit_test(naive_laws),          cmocka_unit_test(naive_distribution),
        cmocka_unit_test(real_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
