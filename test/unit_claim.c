/* unit_claim.c - what a report claims is what the numbers say: decisions and their error rates; sentence, tile and
   table agree for random results. */
#include "base/random.h"
#include "report/claim.h"
#include "report/noise.h"
#include "report/page.h"
#include "report_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/smurf-claim-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- Random results ----------------------------------------------------------------------------- */

static double between(struct random *random, double low, double high)
{
    return low + (high - low) * smurf_random_uniform(random);
}

/* The PIT of a law that is `late` (above 1: events come sooner) and `wide` (above 1: intervals are too wide). */
static void set_pit(struct evaluation *e, struct random *random, double late, double wide)
{
    for (size_t i = 0; i < e->n; i++) {
        double u = pow(smurf_random_uniform(random), late), x = 2 * u - 1;
        e->row[ROW_MODEL].pit[i] = 0.5 + copysign(pow(fabs(x), wide), x) / 2;
    }
}

static void set_row(struct evaluation *e, enum row row, const char *name, double crps, double likelihood)
{
    struct row_values *values = &e->row[row];
    case_fill_metrics(e, row, name, 0, 1, crps);
    free(values->crps);
    free(values->log_density);
    values->metrics.log_likelihood = likelihood;
    values->crps = case_spread(e->n, row, crps, 0.5);
    values->log_density = case_spread(e->n, row, likelihood, 0.5);
}

/* The predictor of types loses a share of the hits, the naive one another. */
static void set_types(struct evaluation *e, struct random *random, double model, double markov)
{
    double right = 0, naive = 0;
    for (size_t i = 0; i < e->n; i++) {
        e->row[ROW_MODEL].top[i] = e->type[i] + (smurf_random_uniform(random) > model);
        e->markov_right[i] = smurf_random_uniform(random) < markov;
        right += e->row[ROW_MODEL].top[i] == e->type[i];
        naive += e->markov_right[i];
    }
    e->row[ROW_MODEL].metrics.acc = 100 * right / (double)e->n;
    e->acc_markov = 100 * naive / (double)e->n;
}

/* Results of any quality; `flat` 0: the model is the true law and the naive laws are as good. */
static struct report_case *random_case(struct random *random, double flat)
{
    size_t n = (size_t)(30 * pow(50, smurf_random_uniform(random)));
    struct report_case *c = case_new(n, 5, NULL, 0);
    struct evaluation *e = &c->evaluation;
    e->examples = e->epochs = 0;
    e->row[ROW_RAW].name = NULL;
    if (smurf_random_uniform(random) < 0.5) e->tick = 0.01;
    if (smurf_random_uniform(random) < 0.5) e->bootstrap = 0;
    if (smurf_random_uniform(random) < 0.5) e->n_dev = 1 + n / 2;
    if (smurf_random_uniform(random) < 0.2) case_add_dates(c);
    set_pit(e, random, exp(between(random, -flat, flat)), exp(between(random, -flat, flat)));
    set_row(e, ROW_MODEL, "smurf", 0.5 * exp(between(random, -flat, flat)), between(random, -flat, flat));
    set_row(e, ROW_MARGINAL, "marginal", 0.5 * exp(between(random, 0, flat)), between(random, -flat, 0));
    set_row(e, ROW_RECENT, "recent", 0.5 * exp(between(random, 0, flat)), between(random, -flat, 0));
    double share = between(random, 0.2, 0.8);
    set_types(e, random, fmin(1, share * exp(between(random, -flat, flat))), share);
    case_compare(e);
    return c;
}

/* ---- Reading the page --------------------------------------------------------------------------- */

static char *write_page(const struct evaluation *e)
{
    struct sink sink;
    smurf_error err;
    assert_int_equal(smurf_sink_open(&sink, path, false, &err), SMURF_OK);
    smurf_page_write(&sink, e, false);
    assert_int_equal(smurf_sink_commit(&sink, &err), SMURF_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = case_array(1 << 20, 1);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The element `tag` of a claim, from its mark to its end, in out; false if there is none. */
static bool element(char out[2048], const char *text, const char *tag, enum claim_name name)
{
    char start[128], end[16];
    snprintf(start, sizeof start, "<%s data-claim=\"%s\"", tag, smurf_claim_id(name));
    snprintf(end, sizeof end, "</%s>", tag);
    const char *from = strstr(text, start);
    if (!from) return false;
    const char *to =
        strcmp(tag, "span") == 0 || strcmp(tag, "td") == 0 || strcmp(tag, "li") == 0 ? strstr(from, end) : NULL;
    assert_non_null(to);
    assert_null(strstr(to, start));
    snprintf(out, 2048, "%.*s", (int)(to - from), from);
    return true;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* The words of a sentence have the direction of the numbers. */
static void assert_direction(enum claim_name name, const struct claim *claim, const char *sentence)
{
    bool worse = claim->finding == FINDING_WORSE, better = claim->finding == FINDING_BETTER;
    if (name == CLAIM_INSIDE) {
        assert_int_equal(has(sentence, "too narrow"), worse && claim->value < 90);
        assert_int_equal(has(sentence, "too few"), worse && claim->value < 90);
        assert_int_equal(has(sentence, "too wide"), worse && claim->value > 90);
        assert_int_equal(has(sentence, "too many"), worse && claim->value > 90);
        assert_int_equal(has(sentence, "within chance"), claim->finding == FINDING_EVEN);
    } else if (name == CLAIM_LEVELS) {
        assert_true(!sentence[0] || worse);
    } else {
        assert_true(has(sentence, "better than") == better || !sentence[0]);
        assert_true(has(sentence, "worse than") == worse || !sentence[0]);
        assert_true(!better || (claim->difference > 0 && claim->low > 0));
        assert_true(!worse || (claim->difference < 0 && claim->high < 0));
    }
}

/* Sentence, tile and table show one number and one finding. */
static void assert_agreement(const char *text, enum claim_name name, const struct claim *claim)
{
    static const char *const tags[] = {"span", "li", "td"};
    char part[3][2048] = {"", "", ""}, mark[64], number[64];
    snprintf(mark, sizeof mark, "data-finding=\"%s\"", smurf_finding_id(claim->finding));
    snprintf(number, sizeof number, "%s", claim->shown.text + (claim->shown.text[0] == '+'));
    if (number[strlen(number) - 1] == '%') number[strlen(number) - 1] = '\0';
    for (int k = 0; k < 3; k++) {
        bool there = element(part[k], text, tags[k], name);
        if (!there) continue;
        assert_true(has(part[k], mark));
        assert_true(has(part[k], claim->word.text));
        /* the sentence about the CRPS says "worse" for the sign, and what is even needs no number */
        bool sign = k == 0 && name == CLAIM_CRPS;
        if (!sign) assert_true(has(part[k], number));
    }
    assert_true(part[2][0]);                                                    /* the table has all */
    assert_true(claim->finding != FINDING_WORSE || (part[0][0] && part[1][0])); /* losses are in the headline */
    assert_true(part[1][0] || name == CLAIM_LIKELIHOOD);
    assert_direction(name, claim, part[0]);
}

static void test_sentence_tile_and_table_agree(void **state)
{
    (void)state;
    struct random random;
    size_t count[CLAIMS][4] = {{0}};
    smurf_random_init(&random, 11, 0);
    for (int k = 0; k < 150; k++) {
        struct report_case *c = random_case(&random, k % 3 * 0.1);
        struct claim claim[CLAIMS];
        smurf_claims_find(claim, &c->evaluation);
        char *text = write_page(&c->evaluation);
        bool holds = claim[CLAIM_INSIDE].finding == FINDING_EVEN && claim[CLAIM_LEVELS].finding == FINDING_EVEN;
        assert_int_equal(has(text, "The intervals are calibrated"), holds);
        for (enum claim_name name = 0; name < CLAIMS; name++) {
            assert_agreement(text, name, &claim[name]);
            count[name][claim[name].finding]++;
        }
        free(text);
        case_free(c);
    }
    for (enum claim_name name = 0; name < CLAIMS; name++) { /* all cases occurred */
        assert_true(count[name][FINDING_EVEN] > 5 && count[name][FINDING_WORSE] > 5);
        assert_true(name < CLAIM_CRPS || count[name][FINDING_BETTER] > 5);
    }
}

/* ---- Decisions ---------------------------------------------------------------------------------- */

/* Under the true law, with naive laws that are as good, at most 5% of the tests of calibration and 10% of comparisons
   find something. Thresholds: 400 cases, 4 standard deviations above. */
static void test_false_alarms_are_rare(void **state)
{
    (void)state;
    struct random random;
    size_t alarms[CLAIMS] = {0};
    enum { CASES = 400 };
    smurf_random_init(&random, 12, 0);
    for (int k = 0; k < CASES; k++) {
        struct report_case *c = random_case(&random, 0);
        struct claim claim[CLAIMS];
        smurf_claims_find(claim, &c->evaluation);
        for (enum claim_name name = 0; name < CLAIMS; name++) alarms[name] += claim[name].finding != FINDING_EVEN;
        case_free(c);
    }
    for (enum claim_name name = 0; name < CLAIMS; name++) {
        double rate = name < CLAIM_CRPS ? 0.05 : 0.1;
        assert_in_range(alarms[name], 0, (size_t)(CASES * rate + 4 * sqrt(CASES * rate * (1 - rate))));
    }
    assert_true(alarms[CLAIM_INSIDE] + alarms[CLAIM_LEVELS] > 0); /* the tests can fail */
}

/* A deviation is found or not as its size in standard deviations tells. */
static void test_deviations_are_found(void **state)
{
    (void)state;
    struct claim claim[CLAIMS];
    struct report_case *c = case_new(10000, 2, NULL, 0);
    struct evaluation *e = &c->evaluation;
    const struct {
        size_t inside;
        enum finding finding;
        const char *word;
    } cases[] = {{9000, FINDING_EVEN, "within chance"},       {8950, FINDING_EVEN, "within chance"},
                 {8920, FINDING_WORSE, "0.8 points too few"}, {8660, FINDING_WORSE, "3.4 points too few"},
                 {9050, FINDING_EVEN, "within chance"},       {9100, FINDING_WORSE, "1.0 points too many"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (size_t i = 0; i < e->n; i++) e->row[ROW_MODEL].pit[i] = i < cases[k].inside ? 0.5 : 0.97;
        smurf_claims_find(claim, e);
        assert_int_equal(claim[CLAIM_INSIDE].finding, cases[k].finding);
        assert_string_equal(claim[CLAIM_INSIDE].word.text, cases[k].word);
    }
    case_free(c);
}

static void test_what_is_missing_is_not_claimed(void **state)
{
    (void)state;
    struct claim claim[CLAIMS];
    struct report_case *c = case_new(100, 2, NULL, 0);
    struct evaluation *e = &c->evaluation;
    e->row[ROW_MARGINAL].name = e->row[ROW_RECENT].name = NULL;
    e->acc_markov = NAN;
    smurf_claims_find(claim, e);
    assert_true(isnan(claim[CLAIM_CRPS].value) && isnan(claim[CLAIM_LIKELIHOOD].value));
    assert_int_equal(claim[CLAIM_TYPES].finding, FINDING_NONE);
    char *text = write_page(e);
    assert_false(has(text, "naive law:") || has(text, "better than") || has(text, "worse than"));
    assert_true(has(text, "The predicted type is correct for"));
    free(text);
    case_free(c);
}

/* ---- Chance ------------------------------------------------------------------------------------- */

/* The limit of CS is exceeded in 5% of cases: 2,000 of 500 gaps each, within 4 standard deviations. */
static void test_calibration_limit(void **state)
{
    (void)state;
    enum { CASES = 2000, GAPS = 500 };
    struct random random;
    size_t above = 0;
    smurf_random_init(&random, 13, 0);
    for (int k = 0; k < CASES; k++) {
        size_t below[SMURF_LEVELS] = {0};
        double sum = 0, used = 0;
        for (int i = 0; i < GAPS; i++) {
            double u = smurf_random_uniform(&random);
            for (int l = 9; l < SMURF_LEVELS; l++) below[l] += u < smurf_levels[l];
        }
        for (int l = 9; l < SMURF_LEVELS; l++) sum += pow((double)below[l] / GAPS - smurf_levels[l], 2), used++;
        above += 100 * sqrt(sum / used) > smurf_calibration_limit(1.0 / GAPS);
    }
    assert_in_range(above, 61, 139);
}

static void test_chi_square_tail(void **state)
{
    (void)state;
    assert_true(fabs(smurf_chi_square_tail(5.991, 2) - 0.05) < 0.005);
    assert_true(fabs(smurf_chi_square_tail(36.415, 24) - 0.05) < 0.001);
    assert_true(fabs(smurf_chi_square_tail(24.322, 7) - 0.001) < 0.0002);
}

/* The interval holds the true mean in 90% of cases, for units of correlated differences and for a single one; 1,000
   cases, within 4 standard deviations. */
static void test_paired_span(void **state)
{
    (void)state;
    enum { CASES = 1000, N = 400 };
    struct random random;
    double difference[N];
    unsigned unit[N];
    smurf_random_init(&random, 14, 0);
    for (int units = 1; units <= 40; units *= 40) {
        size_t inside = 0;
        for (int k = 0; k < CASES; k++) {
            struct span span;
            double shared = 0;
            for (int i = 0; i < N; i++) {
                if (units > 1 && i % (N / units) == 0) shared = smurf_random_uniform(&random) - 0.5;
                unit[i] = (unsigned)(i / (N / units));
                difference[i] = 3 + shared + smurf_random_uniform(&random) - 0.5;
            }
            assert_true(smurf_paired_span(&span, difference, unit, N));
            inside += span.low <= 3 && span.high >= 3;
        }
        assert_in_range(inside, 862, 938);
    }
    struct span span;
    assert_false(smurf_paired_span(&span, difference, unit, 3));
    difference[7] = NAN;
    assert_false(smurf_paired_span(&span, difference, unit, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentence_tile_and_table_agree),
        cmocka_unit_test(test_false_alarms_are_rare),
        cmocka_unit_test(test_deviations_are_found),
        cmocka_unit_test(test_what_is_missing_is_not_claimed),
        cmocka_unit_test(test_calibration_limit),
        cmocka_unit_test(test_chi_square_tail),
        cmocka_unit_test(test_paired_span),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
