/* figure.c - see figure.h: the list of figures, and shared helpers. */
#include "report/figure.h"

#include <math.h>
#include <stdio.h>

#define DECLARE(name) extern const struct figure smurf_figure_##name;
FIGURES(DECLARE)
#define ENTER(name) &smurf_figure_##name,
static const struct figure *const figures[] = {FIGURES(ENTER) NULL};

const struct figure *smurf_figure(size_t index)
{
    return figures[index];
}

/* ---- Panels in a file -------------------------------------------------------------------------- */

enum { MARGIN = 14, TITLE = 30, BETWEEN = 18 };

static size_t columns_of(const struct figure *figure, size_t panels)
{
    return panels < figure->columns ? panels : figure->columns;
}

void smurf_figure_size(const struct figure *figure, const struct evaluation *evaluation, double *width, double *height)
{
    size_t panels = figure->panels(evaluation), columns = columns_of(figure, panels);
    size_t rows = columns ? (panels + columns - 1) / columns : 0;
    *width = 2 * MARGIN + (figure->width + BETWEEN) * (double)columns - BETWEEN;
    *height = 2 * MARGIN + TITLE + (figure->height + BETWEEN) * (double)rows - BETWEEN;
}

void smurf_figure_draw(const struct figure *figure, struct canvas *canvas, const struct evaluation *evaluation)
{
    const struct font title = {.size = 15, .colour = COLOUR_INK, .bold = true};
    const struct style paper = {.fill = COLOUR_PAPER};
    size_t panels = figure->panels(evaluation), columns = columns_of(figure, panels);
    double width, height;
    smurf_figure_size(figure, evaluation, &width, &height);
    smurf_canvas_rect(canvas, 0, 0, width, height, &paper);
    smurf_canvas_text(canvas, MARGIN, MARGIN + 14, width - 2 * MARGIN, figure->title, &title);
    for (size_t i = 0; i < panels; i++) {
        smurf_canvas_shift(canvas, MARGIN + (figure->width + BETWEEN) * (double)(i % columns),
                           MARGIN + TITLE + (figure->height + BETWEEN) * (double)(i / columns));
        figure->draw(canvas, evaluation, i);
        smurf_canvas_pop(canvas);
    }
}

/* ---- Shared helpers ---------------------------------------------------------------------------- */

const struct style smurf_row_style[ROWS] = {
    [ROW_MODEL] = {.line = COLOUR_MODEL, .width = 2.4},
    [ROW_RAW] = {.line = COLOUR_RAW, .width = 1.8, .dash = DASH_LONG},
    [ROW_SAMPLED] = {.line = COLOUR_SAMPLED, .width = 1.8, .dash = DASH_SHORT},
    [ROW_MARGINAL] = {.line = COLOUR_MARGINAL, .width = 1.8, .dash = DASH_DOTS},
    [ROW_RECENT] = {.line = COLOUR_RECENT, .width = 1.8, .dash = DASH_SHORT},
    [ROW_SAME_HOUR] = {.line = COLOUR_RECENT, .width = 1.8, .dash = DASH_DOTS},
    [ROW_LAST] = {.line = COLOUR_MARGINAL, .width = 1.8, .dash = DASH_SHORT},
    [ROW_FIXED] = {.line = COLOUR_MODEL, .width = 1.4, .dash = DASH_LONG},
};

size_t smurf_row_keys(struct key key[ROWS], const struct evaluation *evaluation)
{
    size_t n = 0;
    for (enum row row = 0; row < ROWS; row++)
        if (is_measured(evaluation, row))
            key[n++] = (struct key){evaluation->row[row].name, smurf_row_style[row], KEY_LINE};
    return n;
}

struct label smurf_type_label(const struct evaluation *evaluation, uint32_t type)
{
    struct label label;
    const char *name = evaluation->type_name && type < evaluation->types ? evaluation->type_name[type] : NULL;
    if (name && name[0])
        smurf_clean(label.text, sizeof label.text, name);
    else
        snprintf(label.text, sizeof label.text, "type %u", (unsigned)type);
    return label;
}

struct label smurf_unit_label(const char *what, const struct evaluation *evaluation)
{
    struct label label;
    if (evaluation->unit[0])
        snprintf(label.text, sizeof label.text, "%s (%s)", what, evaluation->unit);
    else
        snprintf(label.text, sizeof label.text, "%s", what);
    return label;
}
