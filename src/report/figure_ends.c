/* figure_ends.c - does the model know when nothing follows? The forecast and what happened, by groups of events. */
#include "report/figure.h"
#include "report/noise.h"

#include <math.h>

enum { WIDTH = 440, HEIGHT = 400 };

static size_t panels(const struct evaluation *evaluation)
{
    return evaluation->ends.n > 0;
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const smurf_ends *ends = &evaluation->ends;
    const struct style diagonal = {.line = COLOUR_MUTED}, dot = {.fill = COLOUR_MODEL},
                       whisker = {.line = COLOUR_BAND, .width = 7};
    struct key key[2] = {{"a tenth of the events", {.fill = COLOUR_MODEL}, KEY_DOT},
                         {"chance, 95%", {.fill = COLOUR_BAND}, KEY_BOX}};
    struct chart_plan plan = {.width = WIDTH, .height = HEIGHT, .key = key, .keys = 2};
    plan.x = (struct axis){.label = "forecast that nothing follows (%)", .low = 0, .high = 100};
    plan.y = (struct axis){.label = "nothing followed (%)", .low = 0, .high = 100};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    const double line[2] = {0, 100};
    smurf_chart_line(&chart, line, line, 2, &diagonal);
    for (int k = 0; k < SMURF_END_GROUPS; k++) {
        if (!ends->group[k]) continue;
        double at = 100 * ends->group_forecast[k];
        struct span span = smurf_binomial_span(ends->group[k], fmin(fmax(ends->group_forecast[k], 1e-4), 0.9999));
        smurf_chart_line(&chart, (double[]){at, at}, (double[]){100 * span.low, 100 * span.high}, 2, &whisker);
    }
    smurf_chart_close(&chart); /* dots on the frame are not cut */
    for (int k = 0; k < SMURF_END_GROUPS; k++)
        if (ends->group[k])
            smurf_chart_dot(&chart, 100 * ends->group_forecast[k], 100 * ends->group_share[k], 4.5, &dot);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    const smurf_ends *ends = &evaluation->ends;
    smurf_words_add(words, "Nothing followed %s of %s events, %s%%; the forecasts said %s%%. ",
                    smurf_count(ends->last).text, smurf_count(ends->n).text, smurf_fixed(100 * ends->share, 1).text,
                    smurf_fixed(100 * ends->forecast, 1).text);
    smurf_words_add(words, "Their Brier score is %s; that of always saying %s%% is %s. ",
                    smurf_fixed(ends->brier, 4).text, smurf_fixed(100 * ends->share, 1).text,
                    smurf_fixed(ends->brier_constant, 4).text);
}

const struct figure smurf_figure_ends = {
    .name = "ends",
    .title = "Does it know that nothing follows?",
    .caption =
        "After each event, the forecast gives the probability that nothing more comes before the end of observation. "
        "Events are sorted by it and divided into ten groups: where it is 70%, nothing should have followed 70% of the "
        "events, on the diagonal. Above it the model expects events that do not come. Grey bars: the range of chance "
        "for a calibrated model.",
    .width = WIDTH,
    .height = HEIGHT,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
