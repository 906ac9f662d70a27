/* figure_length.c - length of the intervals by level. */
#include "report/figure.h"

#include <math.h>

static void range(const struct evaluation *evaluation, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (enum row row = 0; row < ROWS; row++) {
        if (!is_measured(evaluation, row)) continue;
        const double *length = evaluation->row[row].metrics.interval_length;
        for (int i = 0; i < SMURF_LEVELS; i++) {
            if (!isfinite(length[i])) continue;
            if (length[i] > 0) *low = fmin(*low, length[i]);
            *high = fmax(*high, length[i]);
        }
    }
}

static size_t panels(const struct evaluation *evaluation)
{
    double low, high;
    range(evaluation, &low, &high);
    return evaluation->n > 0 && low < INFINITY ? 1 : 0;
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    double low, high, level[SMURF_LEVELS];
    range(evaluation, &low, &high);
    bool log = high > 100 * low;
    struct key key[ROWS];
    struct label label = smurf_unit_label("mean length", evaluation);
    struct chart_plan plan = {.width = 440, .height = 330, .key = key, .keys = smurf_row_keys(key, evaluation)};
    plan.x = (struct axis){.label = "level (%)", .low = 0, .high = 100};
    plan.y = (struct axis){
        .label = label.text, .low = log ? low / 1.2 : 0, .high = log ? high * 1.2 : high, .log = log, .round = !log};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    for (int i = 0; i < SMURF_LEVELS; i++) level[i] = 100 * smurf_levels[i];
    for (int row = ROWS - 1; row >= 0; row--)
        if (is_measured(evaluation, (enum row)row))
            smurf_chart_line(&chart, level, evaluation->row[row].metrics.interval_length, SMURF_LEVELS,
                             &smurf_row_style[row]);
    smurf_chart_close(&chart);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    const int ninety = 17;
    double model = evaluation->row[ROW_MODEL].metrics.interval_length[ninety];
    if (!is_measured(evaluation, ROW_MODEL) || !isfinite(model)) return;
    smurf_words_add(words, "The mean length at the 90%% level is %s", smurf_duration(model, evaluation->unit).text);
    double recent = evaluation->row[ROW_RECENT].metrics.interval_length[ninety];
    if (is_measured(evaluation, ROW_RECENT) && isfinite(recent))
        smurf_words_add(words, ", compared with %s for the naive law of recent gaps",
                        smurf_duration(recent, evaluation->unit).text);
    smurf_words_add(words, ". ");
}

const struct figure smurf_figure_length = {
    .name = "length",
    .title = "How long are the intervals?",
    .caption =
        "Mean length of the interval from now to the time of each level. Of two calibrated laws, the one with "
        "shorter intervals is better. Short intervals that are not calibrated are worthless: check coverage first.",
    .width = 440,
    .height = 330,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
