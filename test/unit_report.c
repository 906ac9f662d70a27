/* unit_report.c - reports of normal and hostile evaluations: complete, well-formed, escaped, locale-independent. */
#include "eval/when.h"
#include "report/canvas.h"
#include "report/figure.h"
#include "report/noise.h"
#include "report/report.h"
#include "report_case.h"

#include <ctype.h>
#include <dirent.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Test folder ------------------------------------------------------------------------------- */

static char folder[64], page[128], figures[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/smurf-report-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(page, sizeof page, "%s/report.html", folder);
    snprintf(figures, sizeof figures, "%s/figures", folder);
    return 0;
}

static void remove_all(const char *path)
{
    DIR *dir = opendir(path);
    char inner[1024];
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) != 0) remove_all(inner);
    }
    if (dir) closedir(dir);
    rmdir(path);
}

static int remove_folder(void **state)
{
    (void)state;
    remove_all(folder);
    return 0;
}

static char *content(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t n = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(n + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, n, file), n);
    fclose(file);
    return text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) n++;
    return n;
}

/* ---- A strict tag parser ----------------------------------------------------------------------- */

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "!DOCTYPE") == 0 || name[0] == '?';
}

/* Reads a tag at '<'; returns its end. Attributes must be name="value" (or a bare name), free of '<'. */
static const char *read_tag(const char *at, char name[32], bool *closes, bool *empty)
{
    size_t n = 0;
    at++;
    *closes = *at == '/';
    if (*closes) at++;
    while (isalnum((unsigned char)*at) || *at == '!' || *at == '?') {
        assert_true(n < 31);
        name[n++] = *at++;
    }
    name[n] = '\0';
    assert_true(n > 0);
    bool quoted = false;
    const char *from = at;
    for (; quoted || *at != '>'; at++) {
        assert_true(*at && *at != '<');
        if (*at == '"') quoted = !quoted;
    }
    *empty = at > from && (at[-1] == '/' || at[-1] == '?');
    return at + 1;
}

/* Every tag is closed, every '&' starts an entity, every coordinate is a number, all text is valid UTF-8. */
static void assert_well_formed(const char *text)
{
    char stack[64][32], name[32];
    size_t depth = 0;
    bool closes, empty;
    for (const char *at = text; *at;) {
        size_t n = smurf_utf8_length(at);
        assert_true(n > 0);
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
        if (*at == '&') assert_true(strcspn(at, ";") < 7);
        if (*at != '<') {
            assert_true(*at != '>' || (depth && strcmp(stack[depth - 1], "style") == 0));
            at += n;
            continue;
        }
        at = read_tag(at, name, &closes, &empty);
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], name);
        } else if (!empty && !is_void(name)) {
            assert_true(depth < 64);
            strcpy(stack[depth++], name);
        }
    }
    assert_int_equal(depth, 0);
}

/* No attribute of a drawing contains "nan", "inf" or a decimal comma. */
static void assert_numbers(const char *text)
{
    for (const char *at = text; (at = strstr(at, "=\"")); at += 2) {
        size_t n = strcspn(at + 2, "\"");
        char value[64];
        snprintf(value, sizeof value, "%.*s", n < 63 ? (int)n : 63, at + 2);
        assert_null(strcasestr(value, "nan"));
        assert_int_not_equal(strncmp(value, "inf", 3), 0);
        assert_int_not_equal(strncmp(value, "-inf", 4), 0);
    }
}

/* Writes the report and makes the checks common to all; returns the page, to be freed. */
static char *write_report(const struct evaluation *e)
{
    smurf_error err = {0};
    struct stat about;
    char path[512];
    smurf_status status = smurf_report_write(e, page, figures, &err);
    if (status) fail_msg("%s", err.message);
    for (size_t i = 0; smurf_figure(i); i++) {
        bool drawn = smurf_figure(i)->panels(e) > 0;
        snprintf(path, sizeof path, "%s/%s.svg", figures, smurf_figure(i)->name);
        assert_int_equal(stat(path, &about) == 0, drawn);
        if (!drawn) continue;
        char *svg = content(path);
        assert_well_formed(svg);
        assert_numbers(svg);
        free(svg);
        snprintf(path, sizeof path, "%s/%s.png", figures, smurf_figure(i)->name);
        assert_int_equal(stat(path, &about) == 0, smurf_png_available());
    }
    char *text = content(page);
    assert_well_formed(text);
    assert_numbers(text);
    return text;
}

/* ---- Cases ------------------------------------------------------------------------------------- */

static void test_nice(void **state)
{
    (void)state;
    struct report_case *c = case_new(20000, 15, case_badges, 15);
    case_add_dates(c);
    char *text = write_report(&c->evaluation);
    assert_int_equal(occurrences(text, "<figure"), 10);
    assert_non_null(strstr(text, "The intervals are calibrated: 90% intervals contained "));
    assert_non_null(strstr(text, "4.3% better than recent, the best naive law"));
    assert_non_null(strstr(text, "Popular Question"));
    assert_non_null(strstr(text, "20,000 gaps"));
    assert_null(strstr(text, "http://www.w3.org/1999/xlink"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<link"));
    assert_null(strstr(text, "src="));
    free(text);
    case_free(c);
}

static void test_bad_calibration_is_said(void **state)
{
    (void)state;
    struct report_case *c = case_new(5000, 2, NULL, 0);
    struct row_values *model = &c->evaluation.row[ROW_MODEL];
    free(model->pit);
    free(model->crps);
    free(model->log_density);
    case_add_row(&c->evaluation, ROW_MODEL, "smurf", 1, 0, 1, 0.5);
    for (size_t i = 0; i < c->evaluation.n; i++) model->pit[i] = i % 2 ? 0.01 : 0.99;
    case_fill_metrics(&c->evaluation, ROW_MODEL, "smurf", 0, 1, 0.5);
    case_compare(&c->evaluation);
    char *text = write_report(&c->evaluation);
    assert_non_null(
        strstr(text, "The intervals are too narrow: 90% intervals contained 0.0% of 5,000 gaps, 90.0 points too few"));
    assert_non_null(strstr(text, "12.6% worse than recent, the best naive law"));
    assert_non_null(strstr(text, "In log-likelihood it is worse than recent"));
    free(text);
    case_free(c);
}

static void test_tiny_and_one_type(void **state)
{
    (void)state;
    struct report_case *c = case_new(172, 1, NULL, 0);
    c->evaluation.epoch = NULL;
    c->evaluation.epochs = c->evaluation.examples = c->evaluation.bootstrap = 0;
    c->evaluation.unit[0] = '\0';
    char *text = write_report(&c->evaluation);
    assert_int_equal(occurrences(text, "<figure"), 5);
    assert_non_null(strstr(text, "as far as 172 gaps can show"));
    assert_null(strstr(text, "()"));
    free(text);
    case_free(c);
}

static void test_one_gap(void **state)
{
    (void)state;
    struct report_case *c = case_new(1, 3, NULL, 0);
    c->evaluation.epochs = 1;
    c->evaluation.examples = 1;
    free(write_report(&c->evaluation));
    case_free(c);
}

static void test_nothing_measured(void **state)
{
    (void)state;
    struct evaluation *e = case_array(1, sizeof *e);
    e->mean_gap = e->acc_markov = NAN;
    char *text = write_report(e);
    assert_non_null(strstr(text, "Nothing was measured"));
    assert_int_equal(occurrences(text, "<figure"), 0);
    free(text);
    free(e);
}

static void test_ten_thousand_types(void **state)
{
    (void)state;
    struct report_case *c = case_new(20000, 10000, case_hostile, 7);
    char *text = write_report(&c->evaluation);
    assert_true(strlen(text) < 400000);
    assert_non_null(strstr(text, "all others"));
    free(text);
    case_free(c);
}

static void test_missing_rows(void **state)
{
    (void)state;
    for (enum row row = 0; row < ROWS; row++) {
        struct report_case *c = case_new(300, 4, NULL, 0);
        c->evaluation.row[row].name = NULL;
        free(write_report(&c->evaluation));
        case_free(c);
        remove_all(figures);
    }
}

/* Sets every number of the evaluation to the same bad value. */
static void spoil(struct report_case *c, double bad)
{
    struct evaluation *e = &c->evaluation;
    for (int row = 0; row < ROWS; row++) {
        struct row_values *values = &e->row[row];
        smurf_metrics *all[3] = {&values->metrics, &values->low, &values->high};
        for (int k = 0; k < 3; k++)
            for (double *x = &all[k]->cs; x < all[k]->interval_length + SMURF_LEVELS; x++) *x = bad;
        for (size_t i = 0; values->pit && i < e->n; i++) values->pit[i] = bad;
        for (size_t i = 0; e->began && i < e->n; i += 2) e->began[i] = bad;
        for (size_t i = 0; values->crps && i < e->n; i += 2) values->crps[i] = values->log_density[i] = bad;
        for (size_t i = 0; values->top_share && i < e->n; i++) values->top_share[i] = (float)bad;
    }
    for (size_t k = 0; k < e->examples; k++) {
        struct example *x = &e->example[k];
        x->truth = bad;
        for (size_t i = 0; i < EXAMPLE_POINTS; i++) x->x[i] = x->density[i] = x->cdf[i] = bad;
        for (int i = 0; i < SMURF_LEVELS; i++) x->quantile[i] = bad;
        for (size_t i = 0; i < EXAMPLE_TYPES; i++) x->share[i] = bad;
    }
    e->ends.share = e->ends.forecast = e->ends.brier = e->ends.brier_constant = bad;
    for (size_t k = 0; k < SMURF_END_GROUPS; k++) e->ends.group_forecast[k] = e->ends.group_share[k] = bad;
    for (size_t i = 0; i < CASE_EPOCHS; i += 2) c->epoch[i].train_loss = c->epoch[i].dev_loss = bad;
    e->acc_markov = e->mean_gap = bad;
}

static void test_bad_numbers(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, 5e-324, 0, 1.7e308};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct report_case *c = case_new(300, 4, NULL, 0);
        case_add_dates(c);
        spoil(c, bad[i]);
        free(write_report(&c->evaluation));
        case_free(c);
        remove_all(figures);
    }
}

static const struct figure *figure_when(void)
{
    size_t i = 0;
    while (strcmp(smurf_figure(i)->name, "when") != 0) i++;
    return smurf_figure(i);
}

/* A view with fewer than two groups of enough gaps is left out. */
static void test_too_few_to_compare(void **state)
{
    (void)state;
    const size_t gaps[] = {100, 250, 1000}, panels[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        struct report_case *c = case_new(gaps[k], 2, NULL, 0);
        case_add_dates(c);
        assert_int_equal(figure_when()->panels(&c->evaluation), panels[k]);
        case_free(c);
    }
}

/* Coverage that differs by hour, weekday or period is found; equal coverage is called different in 3% of cases at most:
   of 100, fewer than 10. */
static void test_coverage_by_time(void **state)
{
    (void)state;
    struct report_case *c = case_new(8000, 2, NULL, 0);
    struct evaluation *e = &c->evaluation;
    struct random random;
    size_t alarms = 0;
    case_add_dates(c);
    smurf_random_init(&random, 21, 0);
    for (int k = 0; k < 100; k++) {
        struct words words = {0};
        for (size_t i = 0; i < e->n; i++) e->row[ROW_MODEL].pit[i] = smurf_random_uniform(&random);
        figure_when()->finding(&words, e);
        alarms += strstr(words.text, "does not change") == NULL;
    }
    assert_in_range(alarms, 0, 10);
    const char *const found[] = {"between 3:00 and 4:00", "on a Sunday", "from 2024-12-"};
    for (int k = 0; k < 3; k++) {
        struct words words = {0};
        for (size_t i = 0; i < e->n; i++) {
            double t = e->began[i] - 1704067200; /* a Monday */
            bool off = k == 0   ? fmod(t, 86400) >= 3 * 3600 && fmod(t, 86400) < 4 * 3600
                       : k == 1 ? fmod(t, 7 * 86400) >= 6 * 86400
                                : t > 350 * 86400;
            e->row[ROW_MODEL].pit[i] = off && i % 2 ? 0.99 : smurf_random_uniform(&random);
        }
        figure_when()->finding(&words, e);
        assert_non_null(strstr(words.text, found[k]));
    }
    assert_int_equal(figure_when()->panels(e), 3);
    e->no_week = true;
    assert_int_equal(figure_when()->panels(e), 2);
    free(e->began);
    e->began = NULL;
    assert_int_equal(figure_when()->panels(e), 0);
    e->sequences = 1;
    assert_int_equal(figure_when()->panels(e), 1);
    free(write_report(e));
    case_free(c);
}

static void read_when(struct evaluation *e, const char *text, const char *zone, const char *format)
{
    smurf_data *data;
    smurf_error err;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = "csv";
    config.time_column = "time";
    config.timezone = zone;
    config.time_format = format;
    if (smurf_data_read_memory(&data, text, strlen(text), "x.csv", &config, &err)) fail_msg("%s", err.message);
    *e = (struct evaluation){.n = smurf_data_gaps(data)};
    assert_int_equal(smurf_when_fill(e, data, &err), SMURF_OK);
    smurf_data_free(data);
}

static void test_local_times(void **state)
{
    (void)state;
    struct evaluation e;
    const char *dates = "time,type\n2024-03-30T12:00:00Z,a\n2024-03-31T12:00:00Z,a\n2024-04-01T00:00:00Z,b\n";
    read_when(&e, dates, NULL, NULL);
    assert_string_equal(e.zone, "UTC");
    assert_true(fmod(e.began[0], 86400) == 12 * 3600 && fmod(e.began[1], 86400) == 12 * 3600 && !e.no_week);
    free(e.began);
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0) { /* clocks were set forward on March 31 */
        read_when(&e, dates, "Europe/Berlin", NULL);
        assert_string_equal(e.zone, "Europe/Berlin");
        assert_true(fmod(e.began[0], 86400) == 13 * 3600 && fmod(e.began[1], 86400) == 14 * 3600);
        free(e.began);
    }
    read_when(&e, "time,type\nMar 30 12:00,a\nMar 31 12:00,b\n", NULL, "%b %d %H:%M");
    assert_true(e.no_week && fmod(e.began[0], 86400) == 12 * 3600);
    free(e.began);
    read_when(&e, "time,type\n1.5,a\n2.5,b\n", NULL, "number");
    assert_null(e.began);
}

static void test_bad_types(void **state)
{
    (void)state;
    struct report_case *c = case_new(300, 4, NULL, 0);
    for (size_t i = 0; i < 300; i += 3) c->evaluation.type[i] = c->evaluation.row[ROW_MODEL].top[i] = UINT32_MAX;
    c->evaluation.example[0].true_type = c->evaluation.example[0].type[0] = UINT32_MAX;
    free(write_report(&c->evaluation));
    case_free(c);
}

/* A law on ticks whose low quantiles are 0 is still shown on a log axis if it is wide; the gap of 0 is left of it. */
static void test_laws_that_begin_at_0(void **state)
{
    (void)state;
    struct report_case *c = case_new(300, 4, NULL, 0);
    snprintf(c->evaluation.unit, sizeof c->evaluation.unit, "d");
    for (size_t k = 0; k < c->evaluation.examples; k++) {
        struct example *x = &c->evaluation.example[k];
        x->truth = 0;
        for (int i = 0; i < SMURF_LEVELS; i++) x->quantile[i] = i < 3 ? 0 : pow(10, 0.5 * i - 9);
    }
    char *text = write_report(&c->evaluation);
    assert_non_null(strstr(text, "observed 0 s; median"));
    assert_non_null(strstr(text, ">10⁻"));
    assert_non_null(strstr(text, "“recent”, those after gaps of a similar mean"));
    free(text);
    case_free(c);
}

static void test_names_are_escaped(void **state)
{
    (void)state;
    struct report_case *c = case_new(400, 7, case_hostile, 7);
    struct evaluation *e = &c->evaluation;
    snprintf(e->unit, sizeof e->unit, "<b>&\"s");
    snprintf(e->data_about, sizeof e->data_about, "%s", case_hostile[0]);
    snprintf(e->model_about, sizeof e->model_about, "%s", case_hostile[2]);
    snprintf(e->example[0].title, sizeof e->example[0].title, "%s", case_hostile[6]);
    e->row[ROW_MODEL].name = "<i>&'\"";
    char *text = write_report(e);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<img"));
    assert_null(strstr(text, "<b>&"));
    assert_null(strstr(text, "<i>"));
    assert_non_null(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_non_null(strstr(text, "ÿþ latin"));
    free(text);
    case_free(c);
}

static void test_locale_does_not_matter(void **state)
{
    (void)state;
    struct report_case *c = case_new(300, 4, NULL, 0);
    char *plain = write_report(&c->evaluation);
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8") && !setlocale(LC_ALL, "de_DE")) {
        free(plain);
        case_free(c);
        skip();
    }
    char *other = write_report(&c->evaluation);
    setlocale(LC_ALL, "C");
    assert_string_equal(plain, other);
    free(plain);
    free(other);
    case_free(c);
}

static void test_failures_are_told(void **state)
{
    (void)state;
    struct report_case *c = case_new(100, 2, NULL, 0);
    smurf_error err = {0};
    assert_int_equal(smurf_report_write(&c->evaluation, "/nowhere/at/all.html", NULL, &err), SMURF_ERROR_IO);
    assert_non_null(strstr(err.message, "/nowhere/at/all.html"));
    assert_int_equal(smurf_report_write(&c->evaluation, page, "/nowhere/at/all", &err), SMURF_ERROR_IO);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    assert_int_equal(access(page, F_OK), -1);
    case_free(c);
}

static void test_incomplete_drawings_are_not_written(void **state)
{
    (void)state;
    struct sink sink;
    struct svg svg;
    struct png *png;
    struct canvas *canvas;
    smurf_error err;
    for (int memory = 0; memory < 2; memory++) {
        assert_int_equal(smurf_sink_open(&sink, page, false, &err), SMURF_OK);
        smurf_svg_open(&svg, &sink, 10, 10, "title", false)->no_memory = !memory;
        smurf_svg_close(&svg);
        assert_int_equal(smurf_sink_commit(&sink, &err), memory ? SMURF_OK : SMURF_ERROR_MEMORY);
        assert_int_equal(access(page, F_OK) == 0, memory);
    }
    if (smurf_png_open(&png, &canvas, 10, 10, &err)) return; /* without cairo */
    canvas->no_memory = true;
    assert_int_equal(smurf_sink_open(&sink, page, false, &err), SMURF_OK);
    assert_int_equal(smurf_png_write(png, &sink, &err), SMURF_ERROR_MEMORY);
    smurf_sink_abandon(&sink);
    smurf_png_free(png);
}

static void test_labels(void **state)
{
    (void)state;
    assert_string_equal(smurf_count(0).text, "0");
    assert_string_equal(smurf_count(95907).text, "95,907");
    assert_string_equal(smurf_count(1234567).text, "1,234,567");
    assert_string_equal(smurf_fixed(89.65, 1).text, "89.7");
    assert_string_equal(smurf_fixed(-0.004, 2).text, "0.00");
    assert_string_equal(smurf_fixed(-1.5, 2).text, "−1.50");
    assert_string_equal(smurf_fixed(NAN, 2).text, "–");
    assert_string_equal(smurf_significant(0.01234, 3).text, "0.0123");
    assert_string_equal(smurf_significant(9.9996, 3).text, "10.0");
    assert_string_equal(smurf_significant(4561, 3).text, "4,561");
    assert_string_equal(smurf_significant(-1.234e9, 3).text, "−1.23×10⁹");
    assert_string_equal(smurf_significant(1e-5, 2).text, "1.0×10⁻⁵");
}

static void test_binomial_span(void **state)
{
    (void)state;
    /* 20 draws at 1/2: P(X <= 5) = .0207, P(X <= 6) = .0577, P(X <= 13) = .9423, P(X <= 14) = .9793 */
    struct span span = smurf_binomial_span(20, 0.5);
    assert_true(fabs(span.low - 6.0 / 20) < 1e-12); /* at .025 and .975 */
    assert_true(fabs(span.high - 14.0 / 20) < 1e-12);
    /* the two methods agree where one takes over from the other */
    struct span exact = smurf_binomial_span(3990, 0.5), normal = smurf_binomial_span(4010, 0.5);
    assert_true(fabs(exact.low - normal.low) < 5e-4);
    assert_true(fabs(exact.high - normal.high) < 5e-4);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_nice),
        CASE(test_bad_calibration_is_said),
        CASE(test_tiny_and_one_type),
        CASE(test_one_gap),
        CASE(test_nothing_measured),
        CASE(test_ten_thousand_types),
        CASE(test_missing_rows),
        CASE(test_bad_numbers),
        CASE(test_too_few_to_compare),
        CASE(test_coverage_by_time),
        cmocka_unit_test(test_local_times),
        CASE(test_bad_types),
        CASE(test_laws_that_begin_at_0),
        CASE(test_names_are_escaped),
        CASE(test_locale_does_not_matter),
        CASE(test_failures_are_told),
        CASE(test_incomplete_drawings_are_not_written),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_binomial_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
