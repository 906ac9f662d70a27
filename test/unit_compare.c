/* unit_compare.c - laws that need no training, measured; laws side by side: values, marks, the page. */
#include "smurf_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- The truth ------------------------------------------------------------------------------------ */

static smurf_process *process_of(const char *name, uint32_t types)
{
    smurf_process *process;
    smurf_error err;
    if (smurf_process_new(&process, name, types, NULL, 0, &err)) fail_msg("%s", err.message);
    return process;
}

static smurf_data *simulate(const smurf_process *process, size_t sequences)
{
    smurf_simulate_config config;
    smurf_data *data;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = 30;
    config.until = 0;
    config.seed = 5;
    config.threads = 1;
    assert_int_equal(smurf_process_simulate(&data, process, &config, NULL), SMURF_OK);
    return data;
}

/* ln lambda - Lambda and whether the likeliest type came, straight from the law of the process. */
static void direct(const smurf_process *process, const smurf_data *data, double *log_likelihood, double *acc)
{
    double sum = 0, right = 0, n = 0, share[8];
    for (size_t s = 0; s < smurf_data_sequences(data); s++) {
        const smurf_sequence *q = smurf_data_sequence(data, s);
        for (size_t i = q->first; i < q->length; i++, n++) {
            smurf_law *law;
            double gap = q->time[i] - q->time[i - 1], lambda, compensator;
            assert_int_equal(smurf_process_law(&law, process, q, i, NULL), SMURF_OK);
            smurf_law_intensity(law, &gap, &lambda, 1);
            smurf_law_compensator(law, &gap, &compensator, 1);
            smurf_law_type_intensity(law, &gap, share, 1);
            uint32_t top = 0;
            for (uint32_t k = 1; k < smurf_law_types(law); k++)
                if (share[k] > share[top]) top = k;
            sum += log(lambda) - compensator;
            right += top == q->type[i];
            smurf_law_free(law);
        }
    }
    *log_likelihood = sum / n;
    *acc = 100 * right / n;
}

static void truth_is_the_law_of_the_process(void **state)
{
    (void)state;
    for (size_t p = 0; smurf_process_name(p); p++) {
        smurf_process *process = process_of(smurf_process_name(p), 3);
        smurf_data *data = simulate(process, 40);
        smurf_evaluation *e;
        smurf_error err;
        double log_likelihood, acc;
        if (smurf_evaluate_process(&e, process, data, data, NULL, &err)) fail_msg("%s", err.message);
        const smurf_metrics *m = smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL);
        direct(process, data, &log_likelihood, &acc);
        assert_int_equal(m->n, smurf_data_gaps(data));
        if (fabs(m->log_likelihood - log_likelihood) > 1e-4)
            fail_msg("%s: log-likelihood %g, not %g", smurf_process_name(p), m->log_likelihood, log_likelihood);
        assert_true(fabs(m->acc_true_time - acc) < 1e-9);
        if (m->cs > 4 * m->cs_floor) fail_msg("%s: cs %g, floor %g", smurf_process_name(p), m->cs, m->cs_floor);
        assert_true(m->ks_p > 1e-4);
        assert_true(m->crps < smurf_evaluation_row(e, SMURF_ROW_MARGINAL, NULL, NULL)->crps * 1.02);
        smurf_evaluation_free(e);
        smurf_data_free(data);
        smurf_process_free(process);
    }
}

static void truth_needs_whole_sequences(void **state)
{
    (void)state;
    smurf_process *process = process_of("hawkes", 2), *more = process_of("hawkes", 3);
    smurf_data *data = simulate(process, 20), *many = simulate(more, 20);
    smurf_data *late;
    smurf_evaluation *e;
    smurf_error err;
    static const char text[] = "{\"time_since_start\":[5,6,7],\"type_event\":[0,1,0],\"observation_start\":4}\n";
    assert_int_equal(smurf_data_read_memory(&late, text, strlen(text), "late.jsonl", NULL, NULL), SMURF_OK);
    assert_int_equal(smurf_evaluate_process(&e, process, late, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "from 4 on"));
    assert_null(e);
    smurf_data_free(late);
    static const char early[] = "{\"time_since_start\":[-1,6,7],\"type_event\":[0,1,0]}\n";
    assert_int_equal(smurf_data_read_memory(&late, early, strlen(early), "early.jsonl", NULL, NULL), SMURF_OK);
    assert_int_equal(smurf_evaluate_process(&e, process, late, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "an event is at time -1"));
    assert_int_equal(smurf_evaluate_process(&e, process, many, NULL, NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_non_null(strstr(err.message, "has 2 types"));
    smurf_data_free(late);
    smurf_data_free(data);
    smurf_data_free(many);
    smurf_process_free(process);
    smurf_process_free(more);
}

static void stepping_samplers_need_a_model(void **state)
{
    (void)state;
    smurf_process *process = process_of("hawkes", 2);
    smurf_data *data = simulate(process, 5);
    smurf_evaluation *e;
    smurf_error err;
    smurf_eval_config config;
    smurf_eval_config_init(&config);
    for (size_t i = 0; (config.sampler = smurf_sampler_name(i)); i++) {
        smurf_status expected = smurf_sampler_has_steps(config.sampler) ? SMURF_ERROR_ARGUMENT : SMURF_OK;
        assert_int_equal(smurf_evaluate_process(&e, process, data, NULL, &config, &err), expected);
        if (expected) assert_non_null(strstr(err.message, config.sampler));
        assert_true(!e == !!expected);
        smurf_evaluation_free(e);
        assert_int_equal(smurf_evaluate_naive(&e, data, data, &config, &err), expected);
        assert_true(!e == !!expected);
        smurf_evaluation_free(e);
    }
    smurf_data_free(data);
    smurf_process_free(process);
}

static void naive_laws_stand_alone(void **state)
{
    (void)state;
    smurf_process *process = process_of("hawkes", 2);
    smurf_data *data = simulate(process, 40);
    smurf_evaluation *e, *with;
    assert_int_equal(smurf_evaluate_naive(&e, data, data, NULL, NULL), SMURF_OK);
    assert_int_equal(smurf_evaluate_process(&with, process, data, data, NULL, NULL), SMURF_OK);
    assert_null(smurf_evaluation_row(e, SMURF_ROW_MODEL, NULL, NULL));
    assert_true(smurf_evaluation_row(e, SMURF_ROW_RECENT, NULL, NULL)->crps ==
                smurf_evaluation_row(with, SMURF_ROW_RECENT, NULL, NULL)->crps);
    assert_true(smurf_evaluation_markov(e) == smurf_evaluation_markov(with));
    smurf_evaluation_free(e);
    smurf_evaluation_free(with);
    assert_int_equal(smurf_evaluate_naive(&e, data, NULL, NULL, NULL), SMURF_ERROR_ARGUMENT);
    smurf_data_free(data);
    smurf_process_free(process);
}

/* ---- Side by side --------------------------------------------------------------------------------- */

static smurf_compared row(const char *name, double crps, double sd, double acc)
{
    smurf_compared r = {.name = name, .runs = isnan(sd) ? 1 : 3};
    double *x = &r.mean.cs, *d = &r.sd.cs;
    for (double *end = (double *)(void *)(&r.mean + 1); x < end;) *x++ = NAN;
    for (double *end = (double *)(void *)(&r.sd + 1); d < end;) *d++ = NAN;
    r.mean.n = 100;
    r.mean.sequences = 5;
    r.mean.crps = crps;
    r.sd.crps = sd;
    r.mean.acc = acc;
    for (int k = 0; k < SMURF_LEVELS; k++) {
        r.mean.coverage[k] = smurf_levels[k] + 0.01;
        r.mean.interval_length[k] = smurf_levels[k];
    }
    return r;
}

static size_t column_named(const char *name)
{
    size_t k = 0;
    while (strcmp(smurf_comparison_column(k)->name, name) != 0) k++;
    return k;
}

static void marks_follow_the_deviations(void **state)
{
    (void)state;
    smurf_compared rows[] = {row("a", 0.5, 0.02, 40), row("b", 0.45, 0.01, 45), row("c", 0.468, 0.02, NAN),
                             row("d", 0.471, 0.005, 45), row("e", NAN, NAN, 44.9)};
    smurf_comparison c = {
        .size = sizeof c, .data = "x", .unit = "", .recent_crps = 0.5, .markov = NAN, .row = rows, .rows = 5};
    size_t crps = column_named("crps"), acc = column_named("acc"), skill = column_named("skill");
    const smurf_mark wanted[] = {SMURF_MARK_NONE, SMURF_MARK_BEST, SMURF_MARK_NEAR, SMURF_MARK_NONE, SMURF_MARK_NONE};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(smurf_comparison_mark(&c, i, crps), wanted[i]);
        assert_int_equal(smurf_comparison_mark(&c, i, skill), wanted[i]);
    }
    assert_int_equal(smurf_comparison_mark(&c, 1, acc), SMURF_MARK_BEST);
    assert_int_equal(smurf_comparison_mark(&c, 3, acc), SMURF_MARK_BEST);
    assert_int_equal(smurf_comparison_mark(&c, 4, acc), SMURF_MARK_NONE);
    assert_int_equal(smurf_comparison_mark(&c, 0, column_named("il")), SMURF_MARK_NONE);
    double sd;
    assert_true(fabs(smurf_comparison_value(&c, 1, skill, &sd) - 10) < 1e-9);
    assert_true(fabs(sd - 2) < 1e-9);
}

static void page_has_table_and_figures(void **state)
{
    (void)state;
    char path[] = "/tmp/smurf-compare-XXXXXX", *text = calloc(1 << 20, 1);
    int file = mkstemp(path);
    assert_true(file >= 0 && text);
    close(file);
    smurf_compared rows[] = {row("<thp> & co", 0.5, 0.02, 40), row("b", 0.45, 0.01, 45)};
    smurf_comparison c = {
        .size = sizeof c, .data = "data/", .unit = "s", .recent_crps = 0.5, .markov = 30, .row = rows, .rows = 2};
    assert_int_equal(smurf_comparison_report(&c, path, NULL), SMURF_OK);
    FILE *in = fopen(path, "r");
    assert_true(in && fread(text, 1, (1 << 20) - 1, in) > 1000);
    fclose(in);
    unlink(path);
    assert_non_null(strstr(text, "&lt;thp&gt; &amp; co"));
    assert_null(strstr(text, "<thp>"));
    assert_non_null(strstr(text, "<figure class=\"wide\" id=\"coverage\">"));
    assert_non_null(strstr(text, "<figure id=\"length\">"));
    assert_non_null(strstr(text, "</html>"));
    assert_null(strstr(text, "nan"));
    free(text);
    c.rows = 0;
    assert_int_equal(smurf_comparison_report(&c, path, NULL), SMURF_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_the_law_of_the_process), cmocka_unit_test(truth_needs_whole_sequences),
        cmocka_unit_test(stepping_samplers_need_a_model),  cmocka_unit_test(naive_laws_stand_alone),
        cmocka_unit_test(marks_follow_the_deviations),     cmocka_unit_test(page_has_table_and_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
