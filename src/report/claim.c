/*
 * claim.c - see claim.h. A claim is decided on rounded numbers, so that what is printed shows why:
 *
 *     inside      the share of PIT values in [0.05, 0.95], against the range of chance of n gaps around 90%
 *     levels      CS (tally.h), against its 95% quantile under the true law
 *     CRPS        1 - CRPS / CRPS of the best naive law, and the 90% interval of the evaluation (bootstrap.h)
 *     likelihood  the mean log density minus that of the best naive law, and its 90% interval (noise.h)
 *     types       accuracy minus that of the most frequent successor, likewise
 */
#include "report/claim.h"

#include "eval/metrics.h"
#include "report/figure.h"
#include "report/noise.h"

#include <math.h>
#include <stdlib.h>

/* Rounds as smurf_fixed does. */
static double rounded(double x, int places)
{
    return copysign((double)llround(fabs(fmax(fmin(x, 1e12), -1e12)) * pow(10, places)), x) / pow(10, places);
}

static double down(double x, int places)
{
    return floor(x * pow(10, places) + 1e-9) / pow(10, places);
}

static double up(double x, int places)
{
    return -down(-x, places);
}

static struct label text(const char *before, struct label middle, const char *after)
{
    struct words words = {0};
    struct label label;
    smurf_words_add(&words, "%s%s%s", before, middle.text, after);
    smurf_clean(label.text, sizeof label.text, words.text);
    return label;
}

static struct label percent(double x, int places)
{
    return text("", smurf_fixed(x, places), "%");
}

/* ---- Values --------------------------------------------------------------------------------------- */

double smurf_inside(const struct evaluation *evaluation, enum row name)
{
    const struct row_values *row = &evaluation->row[name];
    size_t inside = 0, all = 0;
    for (size_t i = 0; row->pit && i < evaluation->n; i++) {
        if (!(row->pit[i] >= 0 && row->pit[i] <= 1)) continue;
        all++;
        inside += row->pit[i] >= 0.05 && row->pit[i] <= 0.95;
    }
    if (all) return 100 * (double)inside / (double)all;
    return 100 * (row->metrics.coverage[SMURF_LEVELS - 1] - row->metrics.coverage[0]);
}

const smurf_metric *smurf_fair_cs(const struct evaluation *evaluation)
{
    bool by_pit = evaluation->tick > 0 && isfinite(evaluation->row[ROW_MODEL].metrics.cs_pit);
    return smurf_metric_at(by_pit ? METRIC_cs_pit : METRIC_cs);
}

/* The naive row with the best value of a metric; ROWS without. */
static enum row best_naive(const struct evaluation *evaluation, enum metric metric)
{
    const smurf_metric *m = smurf_metric_at(metric);
    enum row best = ROWS;
    double most = -INFINITY;
    for (enum row row = 0; row < ROWS; row++) {
        double x = m->better * smurf_metric_value(&evaluation->row[row].metrics, m);
        if (!is_naive(row) || !is_measured(evaluation, row) || !isfinite(x) || x <= most) continue;
        most = x;
        best = row;
    }
    return best;
}

double smurf_gain(const struct evaluation *evaluation, enum row row)
{
    enum row naive = best_naive(evaluation, METRIC_crps);
    if (naive == ROWS || !(evaluation->row[naive].metrics.crps > 0)) return NAN;
    return 100 * (1 - evaluation->row[row].metrics.crps / evaluation->row[naive].metrics.crps);
}

/* ---- Against chance ------------------------------------------------------------------------------- */

static void find_inside(struct claim *claim, const struct evaluation *evaluation)
{
    double value = smurf_inside(evaluation, ROW_MODEL);
    if (!isfinite(value)) return;
    struct span chance = smurf_binomial_span(evaluation->n, 0.9);
    *claim = (struct claim){.value = rounded(value, 1),
                            .reference = 90,
                            .low = down(100 * chance.low, 1),
                            .high = up(100 * chance.high, 1),
                            .shown = percent(value, 1)};
    claim->difference = rounded(claim->value - 90, 1);
    bool even = claim->value >= claim->low && claim->value <= claim->high;
    claim->finding = even ? FINDING_EVEN : FINDING_WORSE;
    claim->word = even ? (struct label){"within chance"}
                       : text("", smurf_fixed(fabs(claim->difference), 1),
                              claim->difference < 0 ? " points too few" : " points too many");
}

static void find_levels(struct claim *claim, const struct evaluation *evaluation)
{
    double value = smurf_metric_value(&evaluation->row[ROW_MODEL].metrics, smurf_fair_cs(evaluation));
    if (!isfinite(value)) return;
    *claim = (struct claim){.value = rounded(value, 2),
                            .reference = up(smurf_calibration_limit(1 / (double)evaluation->n), 2),
                            .shown = percent(value, 2)};
    claim->high = claim->reference;
    claim->difference = rounded(claim->value - claim->reference, 2);
    claim->finding = claim->value <= claim->high ? FINDING_EVEN : FINDING_WORSE;
    claim->word = claim->finding == FINDING_EVEN ? (struct label){"within chance"} : (struct label){"above chance"};
}

/* ---- Against naive laws --------------------------------------------------------------------------- */

/* Decides on a difference, above 0 if the model is better, and names the rival. */
static void decide(struct claim *claim, struct span span, int places, const char *before)
{
    struct words words = {0};
    claim->low = down(span.low, places);
    claim->high = up(span.high, places);
    bool even = (claim->low <= 0 && claim->high >= 0) || claim->difference == 0;
    claim->finding = even ? FINDING_EVEN : claim->difference > 0 ? FINDING_BETTER : FINDING_WORSE;
    smurf_words_add(&words, "%s%s %s", even ? "" : before,
                    even                    ? "even with"
                    : claim->difference > 0 ? "better than"
                                            : "worse than",
                    claim->rival);
    smurf_clean(claim->word.text, sizeof claim->word.text, words.text);
}

/* The interval of the mean of a - b. False: it cannot be told. */
static bool compare(struct span *out, struct claim *claim, const struct evaluation *evaluation, const double *a,
                    const double *b)
{
    if (!a || !b) return false;
    double *difference = malloc((evaluation->n + 1) * sizeof *difference);
    claim->no_memory = !difference;
    if (!difference) return false;
    for (size_t i = 0; i < evaluation->n; i++) difference[i] = a[i] - b[i];
    bool ok = smurf_paired_span(out, difference, evaluation->sequence, evaluation->n);
    free(difference);
    return ok;
}

static void find_crps(struct claim *claim, const struct evaluation *evaluation)
{
    enum row naive = best_naive(evaluation, METRIC_crps);
    double gain = smurf_gain(evaluation, ROW_MODEL);
    const struct advantage *a = &evaluation->advantage;
    if (!isfinite(gain)) return;
    *claim = (struct claim){.value = rounded(gain, 1), .rival = evaluation->row[naive].name, .low = NAN, .high = NAN};
    claim->difference = claim->value;
    claim->shown = text(claim->value > 0 ? "+" : "", smurf_fixed(gain, 1), "%");
    if (a->row == naive && isfinite(a->low)) decide(claim, (struct span){a->low, a->high}, 1, "");
}

static void find_likelihood(struct claim *claim, const struct evaluation *evaluation)
{
    enum row naive = best_naive(evaluation, METRIC_log_likelihood);
    double value = evaluation->row[ROW_MODEL].metrics.log_likelihood;
    struct span span;
    if (naive == ROWS || !isfinite(value)) return;
    const struct row_values *model = &evaluation->row[ROW_MODEL], *rival = &evaluation->row[naive];
    *claim = (struct claim){.value = value,
                            .rival = rival->name,
                            .reference = rival->metrics.log_likelihood,
                            .shown = smurf_significant(value, 4)};
    claim->difference = value - claim->reference;
    if (compare(&span, claim, evaluation, model->log_density, rival->log_density)) decide(claim, span, 4, "");
}

/* Arrays (n) of 0 and 1 where the type is scored, packed; returns how many. */
static size_t collect_types(const struct evaluation *evaluation, double *difference, unsigned *unit)
{
    const uint32_t *top = evaluation->row[ROW_MODEL].top;
    size_t n = 0;
    for (size_t i = 0; i < evaluation->n; i++) {
        if (!evaluation_is_typed(evaluation, i)) continue;
        unit[n] = evaluation->sequence[i];
        difference[n++] = (top[i] == evaluation->type[i]) - evaluation->markov_right[i];
    }
    return n;
}

static void find_types(struct claim *claim, const struct evaluation *evaluation)
{
    double value = evaluation->row[ROW_MODEL].metrics.acc, markov = evaluation->acc_markov;
    struct span span;
    if (evaluation->types < 2 || !isfinite(value)) return;
    *claim = (struct claim){.value = rounded(value, 1), .reference = NAN, .shown = percent(value, 1)};
    if (!isfinite(markov)) return;
    claim->reference = rounded(markov, 1);
    claim->difference = rounded(claim->value - claim->reference, 1);
    claim->rival = "the most frequent successor";
    if (!evaluation->markov_right || !evaluation->sequence || !evaluation->row[ROW_MODEL].top) return;
    double *difference = malloc((evaluation->n + 1) * sizeof *difference);
    unsigned *unit = malloc((evaluation->n + 1) * sizeof *unit);
    claim->no_memory = !difference || !unit;
    if (difference && unit && smurf_paired_span(&span, difference, unit, collect_types(evaluation, difference, unit))) {
        struct label points = text("", smurf_fixed(fabs(claim->difference), 1), " points ");
        decide(claim, (struct span){100 * span.low, 100 * span.high}, 1, points.text);
    }
    free(difference);
    free(unit);
}

/* ---- Sentences ------------------------------------------------------------------------------------ */

static void add_chance(struct words *words, const struct claim *claim)
{
    smurf_words_add(words, "%s%% to %s%%", smurf_fixed(claim->low, 1).text, smurf_fixed(claim->high, 1).text);
}

static void say_inside(struct words *words, const struct claim *claims, const struct evaluation *evaluation)
{
    const struct claim *claim = &claims[CLAIM_INSIDE];
    bool even = claim->finding == FINDING_EVEN, wide = claim->high - claim->low > 4;
    if (even && claims[CLAIM_LEVELS].finding != FINDING_WORSE)
        smurf_words_add(words,
                        wide ? "The intervals are calibrated, as far as %s gaps can show: "
                             : "The intervals are calibrated: ",
                        smurf_count(evaluation->n).text);
    else if (!even)
        smurf_words_add(words, "The intervals are %stoo %s: ", fabs(claim->difference) < 1 ? "slightly " : "",
                        claim->difference < 0 ? "narrow" : "wide");
    smurf_words_add(words, "90%% intervals contained %s of %s gaps, %s", claim->shown.text,
                    smurf_count(evaluation->n).text, claim->word.text);
    smurf_words_add(words, even ? " (" : "; chance alone gives ");
    add_chance(words, claim);
    smurf_words_add(words, even ? ")." : ".");
    size_t dev = evaluation->n_dev;
    if (even || !dev) return;
    struct span span = smurf_binomial_span(1 + (size_t)(1 / (1 / (double)evaluation->n + 1 / (double)dev)), 0.9);
    if (claim->value >= 100 * span.low && claim->value <= 100 * span.high)
        smurf_words_add(words, " A law calibrated on only %s gaps may be off by as much.", smurf_count(dev).text);
}

/* The share of gaps below the quantile of level l, as the claim counts them. */
static double share_below(const struct evaluation *evaluation, size_t l)
{
    const struct row_values *row = &evaluation->row[ROW_MODEL];
    size_t below = 0;
    if (smurf_fair_cs(evaluation) == smurf_metric_at(METRIC_cs) || !row->pit) return row->metrics.coverage[l];
    for (size_t i = 0; i < evaluation->n; i++) below += row->pit[i] < smurf_levels[l];
    return (double)below / (double)evaluation->n;
}

/* Says whether events come sooner or later; nothing if that differs between the levels. */
static const char *direction(const struct evaluation *evaluation)
{
    double off[2] = {0, 0};
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        double d = share_below(evaluation, l) - smurf_levels[l];
        if (smurf_levels[l] > 0.499) off[d < 0] += fabs(d);
    }
    if (off[0] > 9 * off[1]) return "; events come sooner than forecast";
    if (off[1] > 9 * off[0]) return "; events come later than forecast";
    return "";
}

static const char *levels_name(const struct evaluation *evaluation)
{
    return smurf_fair_cs(evaluation) == smurf_metric_at(METRIC_cs) ? "CS" : "CSpit";
}

static void say_levels(struct words *words, const struct claim *claims, const struct evaluation *evaluation)
{
    const struct claim *claim = &claims[CLAIM_LEVELS];
    if (claim->finding != FINDING_WORSE) return;
    smurf_words_add(words, "%s %s, the mean deviation over the levels from 50%% to 95%%, is %s, %s (up to %s%%)%s.",
                    claims[CLAIM_INSIDE].finding == FINDING_EVEN ? "But the calibration score"
                                                                 : "The calibration score",
                    levels_name(evaluation), claim->shown.text, claim->word.text, smurf_fixed(claim->high, 2).text,
                    direction(evaluation));
}

static void say_crps(struct words *words, const struct claim *claims, const struct evaluation *evaluation)
{
    const struct claim *claim = &claims[CLAIM_CRPS];
    enum row naive = best_naive(evaluation, METRIC_crps);
    struct label amount = claim->finding == FINDING_EVEN ? (struct label){""} : percent(fabs(claim->difference), 1);
    if (!claim->word.text[0])
        smurf_words_add(words, "In CRPS, the mean error of the forecast distribution, the gain over %s is %s",
                        claim->rival, claim->shown.text);
    else
        smurf_words_add(words,
                        "In CRPS, the mean error of the forecast distribution, the model is %s%s%s, the best naive law",
                        amount.text, amount.text[0] ? " " : "", claim->word.text);
    smurf_words_add(words, ": %s against %s%s%s", smurf_significant(evaluation->row[ROW_MODEL].metrics.crps, 4).text,
                    smurf_significant(evaluation->row[naive].metrics.crps, 4).text, evaluation->unit[0] ? " " : "",
                    evaluation->unit);
    if (claim->word.text[0])
        smurf_words_add(words, " (90%% interval of the gain: %s%% to %s%%)", smurf_fixed(claim->low, 1).text,
                        smurf_fixed(claim->high, 1).text);
    smurf_words_add(words, ".");
}

static void say_likelihood(struct words *words, const struct claim *claims, const struct evaluation *evaluation)
{
    (void)evaluation;
    const struct claim *claim = &claims[CLAIM_LIKELIHOOD];
    if (claim->finding != FINDING_WORSE) return;
    smurf_words_add(words, "In log-likelihood it is %s: %s against %s.", claim->word.text, claim->shown.text,
                    smurf_significant(claim->reference, 4).text);
}

static void say_types(struct words *words, const struct claim *claims, const struct evaluation *evaluation)
{
    (void)evaluation;
    const struct claim *claim = &claims[CLAIM_TYPES];
    smurf_words_add(words, "The predicted type is correct for %s of events", claim->shown.text);
    if (claim->word.text[0])
        smurf_words_add(words, ": %s of the last type (%s%%)", claim->word.text, smurf_fixed(claim->reference, 1).text);
    else if (claim->rival)
        smurf_words_add(words, "; %s of the last type for %s%%", claim->rival, smurf_fixed(claim->reference, 1).text);
    smurf_words_add(words, ".");
}

/* ---- Tiles ---------------------------------------------------------------------------------------- */

static const char *tile_inside(struct words *small, const struct claim *claim, const struct evaluation *evaluation)
{
    (void)evaluation;
    smurf_words_add(small, claim->finding == FINDING_EVEN ? "%s: " : "%s; chance: ", claim->word.text);
    add_chance(small, claim);
    return "of gaps inside 90% intervals";
}

static const char *tile_levels(struct words *small, const struct claim *claim, const struct evaluation *evaluation)
{
    smurf_words_add(small, "%s: up to %s%%", claim->word.text, smurf_fixed(claim->high, 2).text);
    return levels_name(evaluation)[2] ? "CSpit: calibration error" : "CS: calibration error";
}

static const char *tile_crps(struct words *small, const struct claim *claim, const struct evaluation *evaluation)
{
    (void)evaluation;
    if (claim->word.text[0])
        smurf_words_add(small, "%s", claim->word.text);
    else
        smurf_words_add(small, "naive law: %s", claim->rival);
    return "gain in CRPS over naive laws";
}

static const char *tile_likelihood(struct words *small, const struct claim *claim, const struct evaluation *evaluation)
{
    (void)evaluation;
    smurf_words_add(small, "%s: %s", claim->word.text, smurf_significant(claim->reference, 4).text);
    return claim->finding == FINDING_WORSE ? "log-likelihood" : NULL;
}

static const char *tile_types(struct words *small, const struct claim *claim, const struct evaluation *evaluation)
{
    (void)evaluation;
    if (claim->rival)
        smurf_words_add(small, "%s: %s%%", claim->word.text[0] ? claim->word.text : claim->rival,
                        smurf_fixed(claim->reference, 1).text);
    return "of types correct";
}

/* ---- The table ------------------------------------------------------------------------------------ */

static const struct {
    const char *id;
    void (*find)(struct claim *claim, const struct evaluation *evaluation);
    void (*say)(struct words *words, const struct claim *claims, const struct evaluation *evaluation);
    const char *(*tile)(struct words *small, const struct claim *claim, const struct evaluation *evaluation);
} table[CLAIMS] = {
    [CLAIM_INSIDE] = {"inside", find_inside, say_inside, tile_inside},
    [CLAIM_LEVELS] = {"levels", find_levels, say_levels, tile_levels},
    [CLAIM_CRPS] = {"crps", find_crps, say_crps, tile_crps},
    [CLAIM_LIKELIHOOD] = {"likelihood", find_likelihood, say_likelihood, tile_likelihood},
    [CLAIM_TYPES] = {"types", find_types, say_types, tile_types},
};

bool smurf_claims_find(struct claim claim[CLAIMS], const struct evaluation *evaluation)
{
    bool found = true;
    for (enum claim_name name = 0; name < CLAIMS; name++) {
        claim[name] = (struct claim){.value = NAN};
        if (evaluation->n > 0 && is_measured(evaluation, ROW_MODEL)) table[name].find(&claim[name], evaluation);
        found = found && !claim[name].no_memory;
    }
    return found;
}

const char *smurf_claim_id(enum claim_name name)
{
    return table[name].id;
}

const char *smurf_finding_id(enum finding finding)
{
    static const char *const id[] = {"none", "even", "better", "worse"};
    return id[finding];
}

void smurf_claim_say(struct words *words, enum claim_name name, const struct claim claim[CLAIMS],
                     const struct evaluation *evaluation)
{
    if (isfinite(claim[name].value)) table[name].say(words, claim, evaluation);
}

bool smurf_claim_tile(struct tile *out, enum claim_name name, const struct claim claim[CLAIMS],
                      const struct evaluation *evaluation)
{
    *out = (struct tile){0};
    if (isfinite(claim[name].value)) out->what = table[name].tile(&out->small, &claim[name], evaluation);
    return out->what != NULL;
}
