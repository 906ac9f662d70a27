/* figure_confusion.c - confusion matrix of the types. */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 12, CELLS = SHOWN + 1, WIDTH = 440, HEIGHT = 400, LABEL = 132, COUNT = 54, TOP = 40 };

struct confusion {
    size_t shown; /* types with their own row */
    bool other;   /* whether there is a row for the rest */
    size_t cells; /* shown + other */
    uint32_t type[SHOWN];
    size_t count[CELLS][CELLS]; /* truth, predicted */
    size_t total[CELLS];
};

/* The number of events of each type; NULL: out of memory. */
static size_t *frequencies(const struct evaluation *evaluation)
{
    size_t *count = calloc((size_t)evaluation->types + 1, sizeof *count);
    for (size_t i = 0; count && i < evaluation->n; i++)
        if (evaluation->type[i] < evaluation->types) count[evaluation->type[i]]++;
    return count;
}

/* The most frequent types, in order, with one pass over the counts for each. */
static void choose(struct confusion *c, const size_t *count, uint32_t types)
{
    for (c->shown = 0; c->shown < SHOWN; c->shown++) {
        uint32_t best = types;
        for (uint32_t k = 0; k < types; k++) {
            bool taken = false;
            for (size_t j = 0; j < c->shown; j++) taken |= c->type[j] == k;
            if (!taken && count[k] && (best == types || count[k] > count[best])) best = k;
        }
        if (best == types) return;
        c->type[c->shown] = best;
    }
}

static size_t cell_of(const struct confusion *c, uint32_t type)
{
    for (size_t j = 0; j < c->shown; j++)
        if (c->type[j] == type) return j;
    return c->shown;
}

/* False: out of memory, and *c is empty. */
static bool find(struct confusion *c, const struct evaluation *evaluation)
{
    const uint32_t *top = evaluation->row[ROW_MODEL].top;
    size_t *count = frequencies(evaluation);
    *c = (struct confusion){0};
    if (!count) return false;
    choose(c, count, evaluation->types);
    free(count);
    for (size_t i = 0; i < evaluation->n; i++) {
        size_t truth = cell_of(c, evaluation->type[i]), predicted = cell_of(c, top[i]);
        c->count[truth][predicted]++;
        c->total[truth]++;
        c->other |= truth == c->shown || predicted == c->shown;
    }
    c->cells = c->shown + c->other;
    return true;
}

static size_t panels(const struct evaluation *evaluation)
{
    return evaluation->n > 0 && evaluation->types > 1 && evaluation->type && is_measured(evaluation, ROW_MODEL) &&
           evaluation->row[ROW_MODEL].top;
}

static void draw_cell(struct canvas *canvas, double x, double y, double side, double height, double share)
{
    const struct style back = {.fill = COLOUR_GRID, .opacity = 0.45};
    const struct style fill = {.fill = COLOUR_MODEL, .opacity = fmax(0.02, share)};
    const struct font font = {.size = fmin(CHART_SMALL, 0.42 * side),
                              .anchor = ANCHOR_MIDDLE,
                              .colour = share > 0.6 ? COLOUR_PAPER : COLOUR_INK};
    smurf_canvas_rect(canvas, x + 0.75, y + 0.75, side - 1.5, height - 1.5, &back);
    if (share < 0.005) return;
    smurf_canvas_rect(canvas, x + 0.75, y + 0.75, side - 1.5, height - 1.5, &fill);
    smurf_canvas_text(canvas, x + side / 2, y + height / 2 + 3.5, 0, smurf_fixed(100 * share, 0).text, &font);
}

static void draw_row(struct canvas *canvas, const struct evaluation *evaluation, const struct confusion *c, size_t row,
                     double side, double height)
{
    const struct font name = {.size = CHART_SMALL, .colour = COLOUR_INK};
    const struct font number = {.size = CHART_SMALL, .colour = COLOUR_MUTED, .anchor = ANCHOR_END};
    const struct font above = {.size = CHART_SMALL, .colour = COLOUR_MUTED, .anchor = ANCHOR_MIDDLE};
    double y = TOP + height * (double)row, middle = y + height / 2 + 4;
    bool rest = row == c->shown;
    struct label index = rest ? (struct label){"…"} : smurf_count(row + 1);
    smurf_canvas_text(canvas, 18, middle, 0, index.text, &number);
    smurf_canvas_text(canvas, 26, middle, LABEL - 34,
                      rest ? "all others" : smurf_type_label(evaluation, c->type[row]).text, &name);
    smurf_canvas_text(canvas, LABEL + side * ((double)row + 0.5), TOP - 5, 0, index.text, &above);
    for (size_t k = 0; k < c->cells; k++)
        draw_cell(canvas, LABEL + side * (double)k, y, side, height,
                  c->total[row] ? (double)c->count[row][k] / (double)c->total[row] : 0);
    smurf_canvas_text(canvas, LABEL + side * (double)c->cells + COUNT - 6, middle, 0, smurf_count(c->total[row]).text,
                      &number);
}

static void draw(struct canvas *canvas, const struct evaluation *evaluation, size_t panel)
{
    (void)panel;
    const struct font label = {.size = CHART_FONT, .colour = COLOUR_MUTED};
    const struct font last = {.size = CHART_FONT, .colour = COLOUR_MUTED, .anchor = ANCHOR_END};
    struct confusion c;
    if (!find(&c, evaluation)) canvas->no_memory = true;
    if (c.cells == 0) return;
    double side = fmin(44, (WIDTH - LABEL - COUNT) / (double)c.cells);
    double height = fmin(40, (HEIGHT - TOP - 4) / (double)c.cells);
    smurf_canvas_text(canvas, 2, 14, 0, "observed", &label);
    smurf_canvas_text(canvas, LABEL, 14, 0, "predicted (% of the row)", &label);
    smurf_canvas_text(canvas, fmax(LABEL + side * (double)c.cells + COUNT - 6, 345), 14, 0, "events", &last);
    for (size_t row = 0; row < c.cells; row++) draw_row(canvas, evaluation, &c, row, side, height);
}

static void finding(struct words *words, const struct evaluation *evaluation)
{
    double acc = evaluation->row[ROW_MODEL].metrics.acc;
    if (!isfinite(acc)) return;
    smurf_words_add(words, "%s%% of types are correct, with the time unknown", smurf_fixed(acc, 1).text);
    if (isfinite(evaluation->acc_markov))
        smurf_words_add(words, "; the most frequent successor gets %s%%", smurf_fixed(evaluation->acc_markov, 1).text);
    smurf_words_add(words, ". ");
}

const struct figure smurf_figure_confusion = {
    .name = "confusion",
    .title = "Which types are confused?",
    .caption =
        "One row per true type, most frequent first; the columns, in the same order, are the predicted types. Each "
        "row adds up to 100%. A strong diagonal is good; a strong column is a type predicted regardless of the "
        "truth.",
    .width = WIDTH,
    .height = HEIGHT,
    .columns = 1,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
