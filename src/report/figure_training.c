/* figure_training.c - loss during training. */
#include "report/figure.h"

#include <math.h>

static size_t panels(const struct evaluation *evaluation)
{
    for (size_t i = 0; evaluation->epoch && i < evaluation->epochs; i++)
        if (isfinite(evaluation->epoch[i].train_loss) || isfinite(evaluation->epoch[i].dev_loss)) return 1;
    return 0;
}

/* The last epoch that was the best so far; NULL if there is none. */
static const smurf_epoch *best_of(const struct evaluation *evaluation)
{
    for (size_t i = evaluation->epochs; i-- > 0;)
        if (evaluation->epoch[i].best) return &evaluation->epoch[i];
    return NULL;
}

static void stretch(double *low, double *high, double x)
{
    if (!isfinite(x)) return;
    *low = fmin(*low, x);
    *high = fmax(*high, x);
}

/* Losses often start so high that the rest would look flat: the first tenth does not set the upper end. */
static struct axis loss_axis(const struct evaluation *evaluation)
{
    double low = INFINITY, high = -INFINITY;
    size_t skip = evaluation->epochs >= 5 ? (evaluation->epochs + 9) / 10 : 0;
    for (size_t i = 0; i < evaluation->epochs; i++) {
        double unused = high;
        stretch(&low, i < skip ? &unused : &high, evaluation->epoch[i].train_loss);
        stretch(&low, i < skip ? &unused : &high, evaluation->epoch[i].dev_loss);
    }
    return (struct axis){.label = "loss per gap", .low = low, .high = fmax(high, low), .round = true};
}

static void draw_loss(struct chart *chart, const struct evaluation *evaluation, bool dev, const struct style *style)
{
    double x[2], y[2];
    for (size_t i = 0; i < evaluation->epochs; i++) {
        const smurf_epoch *epoch = &evaluation->epoch[i];
        x[0] = x[1];
        y[0] = y[1];
        x[1] = (double)epoch->epoch;
        y[1] = dev ? epoch->dev_loss : epoch->train_loss;
        if (i) smurf_chart_line(chart, x, y, 2, style);
        if (evaluation->epochs == 1) smurf_chart_dot(chart, x[1], y[1], 3, &(struct style){.fill = style->line});
    }
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const struct style train = {.line = COLOUR_MARGINAL, .width = 1.8}, dev = {.line = COLOUR_MODEL, .width = 2.4};
    const struct style mark = {.fill = COLOUR_PAPER, .line = COLOUR_TRUTH, .width = 2};
    const struct style fall = {.line = COLOUR_TRUTH, .width = 1, .dash = DASH_SHORT};
    const smurf_epoch *best = best_of(evaluation);
    struct key key[3] = {{"train", train, KEY_LINE}, {"dev", dev, KEY_LINE}, {"best epoch", mark, KEY_DOT}};
    struct chart_plan plan = {.width = 440, .height = 330, .key = key, .keys = best ? 3 : 2};
    size_t first = evaluation->epoch[0].epoch, last = evaluation->epoch[evaluation->epochs - 1].epoch;
    plan.x = (struct axis){.label = "epoch", .low = (double)first, .high = (double)last, .whole = true};
    if (last <= first) plan.x.low -= 1, plan.x.high += 1;
    plan.y = loss_axis(evaluation);
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    if (best) {
        const double at[2] = {(double)best->epoch, (double)best->epoch}, ends[2] = {chart.y.low, chart.y.high};
        smurf_chart_line(&chart, at, ends, 2, &fall);
    }
    draw_loss(&chart, evaluation, false, &train);
    draw_loss(&chart, evaluation, true, &dev);
    if (best)
        smurf_chart_dot(&chart, (double)best->epoch, isfinite(best->dev_loss) ? best->dev_loss : best->train_loss, 4.5,
                        &mark);
    smurf_chart_close(&chart);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    const smurf_epoch *best = best_of(evaluation);
    if (!best) return;
    smurf_words_add(words, "Best: epoch %zu of %zu", best->epoch, evaluation->epoch[evaluation->epochs - 1].epoch);
    if (isfinite(best->dev_loss)) smurf_words_add(words, ", dev loss %s", smurf_significant(best->dev_loss, 4).text);
    smurf_words_add(words, ". ");
}

const struct figure smurf_figure_training = {
    .name = "training",
    .title = "How did training go?",
    .caption =
        "The loss on training data (train) and on held-out data (dev); lower is better, and the model of the best "
        "dev epoch is kept. Train falling while dev rises means overfitting. Dev still falling at the end: more "
        "epochs may help. The first epochs may lie above the frame.",
    .width = 440,
    .height = 330,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
