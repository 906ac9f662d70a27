/*
 * canvas.h - a drawing surface with two back ends: SVG text (canvas_svg.c) and PNG images (canvas_png.c).
 *
 * Units are those of the sheet, y grows downwards. Non-finite numbers are dropped and text is made valid UTF-8 here, so
 * back ends never see them. Colours have names, and values for light and dark backgrounds.
 */
#ifndef SMURF_REPORT_CANVAS_H
#define SMURF_REPORT_CANVAS_H

#include "data/sink.h"

/* The colour-blind-safe palette of Okabe and Ito. */
enum colour {
    COLOUR_NONE,
    COLOUR_INK,
    COLOUR_MUTED, /* labels, axes */
    COLOUR_GRID,
    COLOUR_PAPER,
    COLOUR_BAND, /* range of chance */
    COLOUR_MODEL,
    COLOUR_RAW,
    COLOUR_SAMPLED,
    COLOUR_MARGINAL,
    COLOUR_RECENT,
    COLOUR_TRUTH,
    COLOURS,
};
struct colour_values {
    const char *name;     /* of the CSS variable */
    unsigned light, dark; /* 0xrrggbb */
};
extern const struct colour_values smurf_colours[COLOURS];

enum dash { DASH_SOLID, DASH_LONG, DASH_SHORT, DASH_DOTS };

/* How something is drawn. Unset parts are not drawn: {0} draws nothing. */
struct style {
    enum colour line, fill;
    double width;   /* of the line; 0: 1 */
    double opacity; /* of the fill; 0: 1 */
    enum dash dash;
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
struct font {
    double size;
    enum colour colour;
    enum anchor anchor;
    bool bold;
};

struct point {
    double x, y;
};

struct canvas;
struct canvas_class {
    void (*path)(struct canvas *canvas, const struct point *point, size_t n, bool closed, const struct style *style);
    void (*rect)(struct canvas *canvas, double x, double y, double w, double h, const struct style *style);
    void (*circle)(struct canvas *canvas, double x, double y, double r, const struct style *style);
    void (*text)(struct canvas *canvas, double x, double y, const char *text, const struct font *font);
    void (*shift)(struct canvas *canvas, double dx, double dy);
    void (*clip)(struct canvas *canvas, double x, double y, double w, double h);
    void (*pop)(struct canvas *canvas);
};
struct canvas {
    const struct canvas_class *class;
    bool no_memory; /* set by who draws and runs out of memory; the file is then not written */
};

/* A line through n points; it breaks where a point is not finite. */
void smurf_canvas_polyline(struct canvas *canvas, const struct point *point, size_t n, const struct style *style);
void smurf_canvas_line(struct canvas *canvas, double x1, double y1, double x2, double y2, const struct style *style);
/* The polygon through n points; non-finite points are dropped. */
void smurf_canvas_area(struct canvas *canvas, const struct point *point, size_t n, const struct style *style);
void smurf_canvas_rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style);
void smurf_canvas_circle(struct canvas *canvas, double x, double y, double r, const struct style *style);
/* y is the baseline. Text is truncated to `width` unless that is 0. */
void smurf_canvas_text(struct canvas *canvas, double x, double y, double width, const char *text,
                       const struct font *font);
/* Until the matching pop: draw shifted right and down; clip to a rectangle. */
void smurf_canvas_shift(struct canvas *canvas, double dx, double dy);
void smurf_canvas_clip(struct canvas *canvas, double x, double y, double w, double h);
void smurf_canvas_pop(struct canvas *canvas);

/* ---- Back ends --------------------------------------------------------------------------------- */

/* SVG into an open sink. inside: part of a page, whose CSS defines the colours; else a standalone file. The title is
   for screen readers. */
enum { SVG_DEPTH = 16 };
struct svg {
    struct canvas canvas;
    struct sink *sink;
    bool inside;
    size_t depth;
    const char *closing[SVG_DEPTH];
};
struct canvas *smurf_svg_open(struct svg *svg, struct sink *sink, double width, double height, const char *title,
                              bool inside);
/* The sink fails if the drawing ran out of memory. */
void smurf_svg_close(struct svg *svg);

/* PNG at two pixels per unit, on a light background. smurf_png_open loads cairo; if it is missing, or was missing when
   smurf was built (not available), it fails with SMURF_ERROR_UNSUPPORTED. */
struct png;
bool smurf_png_available(void);
smurf_status smurf_png_open(struct png **out, struct canvas **canvas, double width, double height, smurf_error *err);
/* Writes the image into an open sink. */
smurf_status smurf_png_write(struct png *png, struct sink *sink, smurf_error *err);
void smurf_png_free(struct png *png);

#endif
