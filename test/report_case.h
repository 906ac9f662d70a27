/*
 * report_case.h - evaluations made by hand, to write reports of: nice ones, and ones that are hard on the eye.
 *
 * Gaps have a log-logistic law, ln x = mu + s ln(u / (1-u)), whose quantiles are easy. The header is for test programs:
 * it aborts where memory is out.
 */
#ifndef SMURF_TEST_REPORT_CASE_H
#define SMURF_TEST_REPORT_CASE_H

#include "base/random.h"
#include "eval/bootstrap.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_EPOCHS 40

struct report_case {
    struct evaluation evaluation;
    smurf_epoch epoch[CASE_EPOCHS];
    char **name;
};

static void *case_array(size_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    if (!array) abort();
    return array;
}

static void case_fill_metrics(struct evaluation *e, enum row row, const char *name, double mu, double s, double crps)
{
    struct row_values *values = &e->row[row];
    smurf_metrics *m = &values->metrics;
    double n = (double)e->n, sum = 0, ks = 0;
    values->name = name;
    m->n = e->n;
    m->sequences = e->sequences;
    for (int i = 0; i < SMURF_LEVELS; i++) {
        double q = smurf_levels[i], inside = 0;
        for (size_t k = 0; k < e->n; k++) inside += values->pit[k] < q;
        m->coverage[i] = inside / n;
        m->interval_length[i] = exp(mu + s * log(q / (1 - q)));
        if (i >= 9) sum += pow(m->coverage[i] - q, 2);
        ks = fmax(ks, fabs(m->coverage[i] - q));
    }
    m->cs = m->cs_pit = m->cs_all = 100 * sqrt(sum / 10);
    m->cs_floor = 100 * 0.43 / sqrt(n);
    m->cer = 100 * fabs(m->coverage[9] - 0.5);
    m->il = m->interval_length[9];
    m->crps = crps;
    m->pinball = crps / 2;
    m->spread = crps / 1.5;
    m->log_likelihood = -1.2 - crps;
    m->ks = ks;
    m->ks_p = fmin(1, 2 * exp(-2 * n * ks * ks));
    m->acc = m->acc_draws = m->acc_true_time = m->type_loss = m->brier = m->ece = NAN;
    values->low = *m;
    values->high = *m;
    values->low.cs *= 0.7, values->high.cs *= 1.4;
    values->low.crps *= 0.98, values->high.crps *= 1.02;
}

/* Values of n gaps with the given mean: the same easy and hard gaps in each row, and noise of its own. */
static double *case_spread(size_t n, enum row row, double mean, double noise)
{
    double *out = case_array(n, sizeof *out), sum = 0;
    struct random shared, own;
    smurf_random_init(&shared, 7, 200);
    smurf_random_init(&own, 7, 201 + row);
    for (size_t i = 0; i < n; i++) {
        out[i] = -log(smurf_random_uniform(&shared)) + noise * (smurf_random_uniform(&own) - 0.5);
        sum += out[i];
    }
    for (size_t i = 0; i < n; i++) out[i] += mean - sum / (double)n;
    return out;
}

/* pit = u^power: 1 is right, less comes later than forecast. */
static void case_add_row(struct evaluation *e, enum row row, const char *name, double power, double mu, double s,
                         double crps)
{
    struct random random;
    smurf_random_init(&random, 7, row);
    e->row[row].pit = case_array(e->n, sizeof(double));
    for (size_t i = 0; i < e->n; i++) e->row[row].pit[i] = pow(smurf_random_uniform(&random), power);
    case_fill_metrics(e, row, name, mu, s, crps);
    e->row[row].crps = case_spread(e->n, row, crps, 0.2);
    e->row[row].log_density = case_spread(e->n, row, e->row[row].metrics.log_likelihood, 0.2);
}

/* Types that follow a falling law, predicted right about as often as they are sure. */
static void case_add_types(struct evaluation *e)
{
    struct row_values *row = &e->row[ROW_MODEL];
    struct random random;
    double right = 0, markov = 0;
    smurf_random_init(&random, 7, 100);
    e->markov_right = case_array(e->n, sizeof *e->markov_right);
    row->top = case_array(e->n, sizeof *row->top);
    row->top_share = case_array(e->n, sizeof *row->top_share);
    for (size_t i = 0; i < e->n; i++) {
        double share = 0.15 + 0.8 * pow(smurf_random_uniform(&random), 1.3);
        e->type[i] = (uint32_t)((double)e->types * pow(smurf_random_uniform(&random), 2.5));
        bool good = smurf_random_uniform(&random) < share - 0.06 * share * share;
        row->top[i] = good ? e->type[i] : (uint32_t)((double)e->types * pow(smurf_random_uniform(&random), 3));
        row->top_share[i] = (float)share;
        e->markov_right[i] = row->top[i] == e->type[i] && smurf_random_uniform(&random) < 0.96;
        right += row->top[i] == e->type[i];
        markov += e->markov_right[i];
    }
    row->metrics.acc = 100 * right / (double)e->n;
    row->metrics.acc_true_time = row->metrics.acc + 1.4;
    row->metrics.type_loss = 1.47;
    row->metrics.brier = 0.66;
    row->metrics.ece = 2.1;
    e->acc_markov = 100 * markov / (double)e->n;
}

static void case_add_example(struct evaluation *e, size_t index)
{
    static const double shapes[] = {0.25, 1.1, 0.4, 0.6, 1.6, 0.3};
    struct example *x = &e->example[index];
    struct random random;
    double s = shapes[index % 6], mu = -0.6 + 0.3 * (double)(index % 5);
    smurf_random_init(&random, 9, index);
    snprintf(x->title, sizeof x->title, "user-%zu, event %zu", 17 + 31 * index, 42 + 7 * index);
    double u = smurf_random_uniform(&random);
    x->truth = exp(mu + s * log(u / (1 - u)));
    x->points = EXAMPLE_POINTS;
    for (size_t i = 0; i < EXAMPLE_POINTS; i++) {
        double z = -7 + 14.0 * (double)i / (EXAMPLE_POINTS - 1), f = 1 / (1 + exp(-z));
        x->x[i] = exp(mu + s * z);
        x->cdf[i] = f;
        x->density[i] = f * (1 - f) / (s * x->x[i]);
    }
    for (int i = 0; i < SMURF_LEVELS; i++) x->quantile[i] = exp(mu + s * log(smurf_levels[i] / (1 - smurf_levels[i])));
    x->types = e->types < EXAMPLE_TYPES ? e->types : EXAMPLE_TYPES;
    x->true_type = (uint32_t)smurf_random_below(&random, e->types < 7 ? e->types : 7);
    for (size_t i = 0; i < x->types; i++) {
        x->type[i] = (uint32_t)i;
        x->share[i] = 0.45 * pow(0.55, (double)i);
    }
    e->examples = index + 1;
}

static void case_add_training(struct report_case *c)
{
    for (size_t i = 0; i < CASE_EPOCHS; i++) {
        double t = (double)i;
        smurf_epoch *epoch = &c->epoch[i];
        *epoch = (smurf_epoch){.epoch = i + 1, .train_loss = 1.9 + 2.5 * exp(-t / 3) - 0.004 * t};
        epoch->dev_loss = 1.98 + 2.4 * exp(-t / 3) + 0.00045 * (t - 24) * (t - 24) + 0.01 * sin(3 * t);
        epoch->best = i == 0 || epoch->dev_loss < c->epoch[i - 1].dev_loss;
        for (size_t k = 0; k < i; k++) epoch->best &= epoch->dev_loss < c->epoch[k].dev_loss;
    }
    c->evaluation.epoch = c->epoch;
    c->evaluation.epochs = CASE_EPOCHS;
}

/* The gain over the best naive row, as evaluations find it. */
static void case_compare(struct evaluation *e)
{
    if (smurf_bootstrap_advantage(&e->advantage, e, 7, NULL)) abort();
}

/* Begins every gap at some hour of the year 2024. */
static void case_add_dates(struct report_case *c)
{
    struct evaluation *e = &c->evaluation;
    struct random random;
    smurf_random_init(&random, 7, 300);
    e->began = case_array(e->n, sizeof *e->began);
    for (size_t i = 0; i < e->n; i++) e->began[i] = 1704067200 + floor(366 * 86400.0 * smurf_random_uniform(&random));
    snprintf(e->zone, sizeof e->zone, "Europe/Berlin");
}

/* Ends forecast a little too rarely. */
static void case_add_ends(struct evaluation *e)
{
    smurf_ends *ends = &e->ends;
    *ends = (smurf_ends){.n = e->n + e->sequences, .last = e->sequences, .brier = 0.0123};
    ends->share = (double)ends->last / (double)ends->n;
    ends->forecast = 0.9 * ends->share;
    ends->brier_constant = ends->share * (1 - ends->share);
    for (size_t k = 0; k < SMURF_END_GROUPS; k++) {
        ends->group[k] = (k + 1) * ends->n / SMURF_END_GROUPS - k * ends->n / SMURF_END_GROUPS;
        ends->group_forecast[k] = pow((double)(k + 1) / SMURF_END_GROUPS, 4) * 0.9;
        ends->group_share[k] = fmin(1, 1.1 * ends->group_forecast[k]);
    }
}

/* n > 0 gaps of `types` types; names may be NULL, else are repeated as needed. */
static struct report_case *case_new(size_t n, uint32_t types, const char *const *names, size_t name_count)
{
    struct report_case *c = case_array(1, sizeof *c);
    struct evaluation *e = &c->evaluation;
    e->n = n;
    e->sequences = 1 + n / 72;
    e->types = types;
    e->mean_gap = 0.86;
    e->acc_markov = NAN;
    e->gap = case_array(n, sizeof *e->gap);
    e->type = case_array(n, sizeof *e->type);
    e->sequence = case_array(n, sizeof *e->sequence);
    for (size_t i = 0; i < n; i++) e->sequence[i] = (uint32_t)(i / 72);
    if (names) {
        c->name = case_array(types, sizeof *c->name);
        for (uint32_t k = 0; k < types; k++) c->name[k] = strdup(names[k % name_count]);
        e->type_name = c->name;
    }
    case_add_row(e, ROW_MODEL, "smurf", 1, -0.65, 1.0, 0.425);
    case_add_row(e, ROW_RAW, "smurf, raw", 0.93, -0.7, 0.95, 0.428);
    case_add_row(e, ROW_MARGINAL, "marginal", 1.01, -0.55, 1.15, 0.473);
    case_add_row(e, ROW_RECENT, "recent", 0.985, -0.6, 1.08, 0.444);
    case_add_types(e);
    for (size_t i = 0; i < EXAMPLES_MOST; i++) case_add_example(e, i);
    case_add_training(c);
    case_add_ends(e);
    snprintf(e->unit, sizeof e->unit, "days");
    snprintf(e->model_about, sizeof e->model_about, "mle on log time, 3 layers, 64 wide, 166,000 parameters");
    snprintf(e->data_about, sizeof e->data_about, "synthetic/test: %zu sequences, %zu gaps", e->sequences, n);
    e->bootstrap = 200;
    case_compare(e);
    return c;
}

static void case_free(struct report_case *c)
{
    struct evaluation *e = &c->evaluation;
    for (int row = 0; row < ROWS; row++) {
        free(e->row[row].pit);
        free(e->row[row].crps);
        free(e->row[row].log_density);
        free(e->row[row].top);
        free(e->row[row].top_share);
    }
    for (uint32_t k = 0; c->name && k < e->types; k++) free(c->name[k]);
    free(c->name);
    free(e->gap);
    free(e->type);
    free(e->sequence);
    free(e->markov_right);
    free(e->began);
    free(c);
}

static const char *const case_badges[] = {
    "Nice Question", "Popular Question", "Notable Question", "Great Answer", "Good Answer",
    "Guru",          "Enlightened",      "Famous Question",  "Necromancer",  "Nice Answer",
    "Revival",       "Caucus",           "Yearling",         "Custodian",    "Promoter"};
static const char *const case_hostile[] = {"<script>alert(1)</script>",
                                           "a & b \"c\" 'd' ]]> <!-- x",
                                           "\xff\xfe latin \x80 \x01\x02 bytes",
                                           ("a name so long that no column of any table on any screen of any device "
                                            "could ever hold all of it, and it goes on and on"),
                                           "",
                                           "\xe4\xba\x8b\xe4\xbb\xb6\xe7\x9a\x84\xe7\xb1\xbb\xe5\x9e\x8b",
                                           "</svg></title><img src=x onerror=alert(2)>"};

#endif
