/*
 * figure.h - the figures of a report.
 *
 * A figure is one file with one `struct figure`, and one line in FIGURES below. It is drawn panel by panel: a page
 * arranges panels to fit the screen, a file arranges them in `columns`.
 */
#ifndef SMURF_REPORT_FIGURE_H
#define SMURF_REPORT_FIGURE_H

#include "eval/evaluation.h"
#include "report/chart.h"
#include "report/words.h"

/* In the order of the page. */
#define FIGURES(X)                                                                                                     \
    X(coverage)                                                                                                        \
    X(length)                                                                                                          \
    X(pit)                                                                                                             \
    X(residuals)                                                                                                       \
    X(ends)                                                                                                            \
    X(when)                                                                                                            \
    X(training)                                                                                                        \
    X(laws)                                                                                                            \
    X(confusion)                                                                                                       \
    X(reliability)

struct figure {
    const char *name; /* base name of its files */
    const char *title;
    const char *caption;  /* how to read it; plain text */
    double width, height; /* of a panel */
    size_t columns;
    /* The number of panels; 0: nothing to draw. */
    size_t (*panels)(const struct evaluation *evaluation);
    void (*draw)(struct canvas *canvas, const struct evaluation *evaluation, size_t panel);
    /* The result in a sentence or two, from the numbers; may be empty. */
    void (*finding)(struct words *words, const struct evaluation *evaluation);
};

/* The figures, NULL past the last. */
const struct figure *smurf_figure(size_t index);
/* Size and drawing of all panels together, with the title, for a file. */
void smurf_figure_size(const struct figure *figure, const struct evaluation *evaluation, double *width, double *height);
void smurf_figure_draw(const struct figure *figure, struct canvas *canvas, const struct evaluation *evaluation);

/* ---- Shared helpers ---------------------------------------------------------------------------- */

/* The style of each row, the same in every figure. */
extern const struct style smurf_row_style[ROWS];
static inline bool is_measured(const struct evaluation *evaluation, enum row row)
{
    return evaluation->row[row].name != NULL;
}
/* The legend of the measured rows; returns their number. */
size_t smurf_row_keys(struct key key[ROWS], const struct evaluation *evaluation);
/* The user's name of a type, or "type 17". */
struct label smurf_type_label(const struct evaluation *evaluation, uint32_t type);
/* "gap (s)", or "gap" if the unit is unknown. */
struct label smurf_unit_label(const char *what, const struct evaluation *evaluation);

#endif
