/*
 * canvas.h - a sheet to draw on, whatever it is made of: SVG text (canvas_svg.c) or a PNG picture (canvas_png.c).
 *
 * Units are those of the sheet, y grows downwards. Numbers that are not finite are left out and text is made valid
 * UTF-8 here, so that no back end meets them. Colours have names, and values for light and for dark paper.
 */
#ifndef SMURF_REPORT_CANVAS_H
#define SMURF_REPORT_CANVAS_H

#include "data/sink.h"

/* Okabe and Ito's colours, which people tell apart whichever way they see colours. */
enum colour {
    COLOUR_NONE,
    COLOUR_INK,
    COLOUR_MUTED, /* labels, axes */
    COLOUR_GRID,
    COLOUR_PAPER,
    COLOUR_BAND, /* what chance does */
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

/* How something is drawn. What is not set is not drawn: {0} draws nothing. */
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
/* The area between n points and back; points that are not finite are left out. */
void smurf_canvas_area(struct canvas *canvas, const struct point *point, size_t n, const struct style *style);
void smurf_canvas_rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style);
void smurf_canvas_circle(struct canvas *canvas, double x, double y, double r, const struct style *style);
/* y is the base line. Text is cut to `width` unless that is 0. */
void smurf_canvas_text(struct canvas *canvas, double x, double y, double width, const char *text,
                       const struct font *font);
/* Until the matching pop: draw that much further right and down; draw only inside a rectangle. */
void smurf_canvas_shift(struct canvas *canvas, double dx, double dy);
void smurf_canvas_clip(struct canvas *canvas, double x, double y, double w, double h);
void smurf_canvas_pop(struct canvas *canvas);

/* ---- Back ends --------------------------------------------------------------------------------- */

/* SVG into a sink that is open. inside: as part of a page, whose CSS gives the colours; else a file of its own. The
   title is what a screen reader says. */
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

/* PNG at two pixels per unit, on light paper. smurf_png_open loads cairo; where that is missing, or was when smurf was
   built (not available), it fails with SMURF_ERROR_UNSUPPORTED. */
struct png;
bool smurf_png_available(void);
smurf_status smurf_png_open(struct png **out, struct canvas **canvas, double width, double height, smurf_error *err);
/* Writes the picture into a sink that is open. */
smurf_status smurf_png_write(struct png *png, struct sink *sink, smurf_error *err);
void smurf_png_free(struct png *png);

#endif
