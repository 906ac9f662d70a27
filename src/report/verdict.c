/* verdict.c - the results of an evaluation, in words. A sentence is omitted if its numbers are missing. */
#include "report/figure.h"
#include "report/noise.h"
#include "report/page.h"

#include <math.h>

/* Share of gaps inside the middle 90%: by the PIT if available, since it is not affected by clock ticks. */
static double inside_90(const struct evaluation *evaluation)
{
    const struct row_values *row = &evaluation->row[ROW_MODEL];
    size_t inside = 0, all = 0;
    for (size_t i = 0; row->pit && i < evaluation->n; i++) {
        if (!(row->pit[i] >= 0 && row->pit[i] <= 1)) continue;
        all++;
        inside += row->pit[i] >= 0.05 && row->pit[i] <= 0.95;
    }
    if (all) return 100 * (double)inside / (double)all;
    return 100 * (row->metrics.coverage[SMURF_LEVELS - 1] - row->metrics.coverage[0]);
}

/* The calibration score that clock ticks do not distort. */
static double fair_cs(const struct evaluation *evaluation)
{
    const smurf_metrics *metrics = &evaluation->row[ROW_MODEL].metrics;
    return evaluation->tick > 0 && isfinite(metrics->cs_pit) ? metrics->cs_pit : metrics->cs;
}

double smurf_best_naive(const struct evaluation *evaluation, enum row *row)
{
    double best = NAN;
    *row = ROWS;
    for (enum row naive = ROW_MARGINAL; naive < ROWS; naive++) {
        double crps = evaluation->row[naive].metrics.crps;
        if (!is_measured(evaluation, naive) || !(crps > 0) || crps >= (isnan(best) ? INFINITY : best)) continue;
        best = crps;
        *row = naive;
    }
    return best;
}

static double skill(const struct evaluation *evaluation, enum row *naive)
{
    double best = smurf_best_naive(evaluation, naive);
    return 100 * (1 - evaluation->row[ROW_MODEL].metrics.crps / best);
}

/* ---- Sentences --------------------------------------------------------------------------------- */

static void say_calibration(struct words *words, const struct evaluation *evaluation)
{
    const smurf_metrics *metrics = &evaluation->row[ROW_MODEL].metrics;
    double cs = fair_cs(evaluation), inside = inside_90(evaluation);
    if (!isfinite(inside)) return;
    bool few = evaluation->n < 1000;
    if (cs <= fmax(1, 2 * metrics->cs_floor))
        smurf_words_add(words, "Intervals are calibrated%s: ", few ? ", as far as so few gaps can show" : "");
    else if (cs <= 3)
        smurf_words_add(words, "Intervals are nearly calibrated: ");
    else if (isfinite(cs))
        smurf_words_add(words, "Intervals are not calibrated%s: ",
                        inside < 89   ? " (too narrow)"
                        : inside > 91 ? " (too wide)"
                                      : "");
    smurf_words_add(words, "90%% intervals contained %s%% of %s gaps", smurf_fixed(inside, 1).text,
                    smurf_count(evaluation->n).text);
    if (few) {
        struct span span = smurf_binomial_span(evaluation->n, 0.9);
        smurf_words_add(words, " (chance alone gives %s%% to %s%%)", smurf_fixed(100 * span.low, 1).text,
                        smurf_fixed(100 * span.high, 1).text);
    }
    smurf_words_add(words, ". ");
}

/* Printed whatever these gaps show: the gaps set aside in training already showed it. */
static void say_misses(struct words *words, const struct evaluation *evaluation)
{
    if (evaluation->misses)
        smurf_words_add(words, "Warning: calibration did not work. On held-out gaps the law is still off by more than "
                               "chance explains; do not rely on the intervals. ");
}

static void say_skill(struct words *words, const struct evaluation *evaluation)
{
    enum row naive;
    double better = skill(evaluation, &naive);
    if (!isfinite(better)) return;
    const char *name = evaluation->row[naive].name;
    if (fabs(better) < 0.5)
        smurf_words_add(words,
                        "CRPS, the mean error of the forecast distribution, is about that of the best naive law (%s). ",
                        name);
    else
        smurf_words_add(
            words,
            "CRPS, the mean error of the forecast distribution, is %s%% %s than that of the best naive law (%s). ",
            smurf_fixed(fabs(better), 1).text, better > 0 ? "better" : "worse", name);
}

static void say_types(struct words *words, const struct evaluation *evaluation)
{
    double acc = evaluation->row[ROW_MODEL].metrics.acc;
    if (evaluation->types < 2 || !isfinite(acc)) return;
    smurf_words_add(words, "The predicted type is correct for %s%% of events", smurf_fixed(acc, 1).text);
    if (isfinite(evaluation->acc_markov))
        smurf_words_add(words, ", compared with %s%% for the most frequent successor",
                        smurf_fixed(evaluation->acc_markov, 1).text);
    smurf_words_add(words, ". ");
}

void smurf_verdict(struct words *words, const struct evaluation *evaluation)
{
    if (evaluation->n > 0 && is_measured(evaluation, ROW_MODEL)) {
        say_calibration(words, evaluation);
        say_misses(words, evaluation);
        say_skill(words, evaluation);
        say_types(words, evaluation);
    }
    if (!words->used) smurf_words_add(words, "Nothing was measured.");
}

/* ---- Tiles ------------------------------------------------------------------------------------- */

static struct label percent(double x, int places)
{
    struct label label = smurf_fixed(x, places);
    struct words words = {0};
    smurf_words_add(&words, "%s%%", label.text);
    smurf_clean(label.text, sizeof label.text, words.text);
    return label;
}

size_t smurf_verdict_tiles(struct tile tile[TILES], const struct evaluation *evaluation)
{
    const smurf_metrics *metrics = &evaluation->row[ROW_MODEL].metrics;
    size_t n = 0;
    enum row naive;
    if (evaluation->n == 0 || !is_measured(evaluation, ROW_MODEL)) return 0;
    double inside = inside_90(evaluation), cs = fair_cs(evaluation), better = skill(evaluation, &naive);
    if (isfinite(inside)) {
        tile[n] = (struct tile){.what = "inside 90% intervals", .value = percent(inside, 1)};
        smurf_words_add(&tile[n++].against, "nominal: 90%%");
    }
    if (isfinite(cs)) {
        tile[n] = (struct tile){.what = "calibration error (CS)", .value = percent(cs, 2)};
        if (isfinite(metrics->cs_floor))
            smurf_words_add(&tile[n].against, "noise floor: about %s%%", smurf_fixed(metrics->cs_floor, 2).text);
        n++;
    }
    if (isfinite(better)) {
        tile[n] = (struct tile){.what = better >= 0 ? "better than naive (CRPS)" : "worse than naive (CRPS)",
                                .value = percent(fabs(better), 1)};
        smurf_words_add(&tile[n++].against, "best naive law: %s", evaluation->row[naive].name);
    }
    if (evaluation->types > 1 && isfinite(metrics->acc)) {
        tile[n] = (struct tile){.what = "types correct", .value = percent(metrics->acc, 1)};
        if (isfinite(evaluation->acc_markov))
            smurf_words_add(&tile[n].against, "most frequent successor: %s%%",
                            smurf_fixed(evaluation->acc_markov, 1).text);
        n++;
    }
    return n;
}
