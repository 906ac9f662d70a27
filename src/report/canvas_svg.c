/*
 * canvas_svg.c - a canvas that writes SVG.
 *
 * No ids are used, so any number of drawings can share a page: clipped content goes into a nested <svg>.
 */
#include "report/canvas.h"

#include "base/error.h"
#include "report/markup.h"

static const char *const dashes[] = {[DASH_LONG] = "7 4", [DASH_SHORT] = "3.5 3", [DASH_DOTS] = "1.5 3.5"};

static void attribute(struct svg *svg, const char *name, double value)
{
    smurf_sink_char(svg->sink, ' ');
    smurf_sink_text(svg->sink, name);
    smurf_sink_text(svg->sink, "=\"");
    smurf_markup_number(svg->sink, value);
    smurf_sink_char(svg->sink, '"');
}

static void colour(struct svg *svg, const char *name, enum colour value)
{
    smurf_sink_char(svg->sink, ' ');
    smurf_sink_text(svg->sink, name);
    smurf_sink_text(svg->sink, "=\"");
    if (value == COLOUR_NONE) {
        smurf_sink_text(svg->sink, "none");
    } else if (svg->inside) {
        smurf_sink_text(svg->sink, "var(--");
        smurf_sink_text(svg->sink, smurf_colours[value].name);
        smurf_sink_char(svg->sink, ')');
    } else {
        smurf_markup_hex(svg->sink, smurf_colours[value].light);
    }
    smurf_sink_char(svg->sink, '"');
}

static void style_and_end(struct svg *svg, const struct style *style)
{
    colour(svg, "fill", style->fill);
    if (style->fill && style->opacity > 0 && style->opacity < 1) attribute(svg, "fill-opacity", style->opacity);
    if (style->line) {
        colour(svg, "stroke", style->line);
        if (style->width > 0) attribute(svg, "stroke-width", style->width);
        if (style->dash) {
            smurf_sink_text(svg->sink, " stroke-dasharray=\"");
            smurf_sink_text(svg->sink, dashes[style->dash]);
            smurf_sink_char(svg->sink, '"');
        }
    }
    smurf_sink_text(svg->sink, "/>\n");
}

static void path(struct canvas *canvas, const struct point *point, size_t n, bool closed, const struct style *style)
{
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, closed ? "<polygon points=\"" : "<polyline points=\"");
    for (size_t i = 0; i < n; i++) {
        if (i) smurf_sink_char(svg->sink, ' ');
        smurf_markup_number(svg->sink, point[i].x);
        smurf_sink_char(svg->sink, ',');
        smurf_markup_number(svg->sink, point[i].y);
    }
    smurf_sink_char(svg->sink, '"');
    if (style->line && n > 2) smurf_sink_text(svg->sink, " stroke-linejoin=\"round\"");
    style_and_end(svg, style);
}

static void rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style)
{
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, "<rect");
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    attribute(svg, "width", w);
    attribute(svg, "height", h);
    style_and_end(svg, style);
}

static void circle(struct canvas *canvas, double x, double y, double r, const struct style *style)
{
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, "<circle");
    attribute(svg, "cx", x);
    attribute(svg, "cy", y);
    attribute(svg, "r", r);
    style_and_end(svg, style);
}

static void text(struct canvas *canvas, double x, double y, const char *words, const struct font *font)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, "<text");
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    attribute(svg, "font-size", font->size);
    smurf_sink_text(svg->sink, anchors[font->anchor]);
    if (font->bold) smurf_sink_text(svg->sink, " font-weight=\"600\"");
    colour(svg, "fill", font->colour);
    smurf_sink_char(svg->sink, '>');
    smurf_markup_text(svg->sink, words);
    smurf_sink_text(svg->sink, "</text>\n");
}

static void push(struct svg *svg, const char *closing)
{
    svg->closing[svg->depth < SVG_DEPTH ? svg->depth : SVG_DEPTH - 1] = closing;
    svg->depth++;
}

static void shift(struct canvas *canvas, double dx, double dy)
{
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, "<g transform=\"translate(");
    smurf_markup_number(svg->sink, dx);
    smurf_sink_char(svg->sink, ' ');
    smurf_markup_number(svg->sink, dy);
    smurf_sink_text(svg->sink, ")\">\n");
    push(svg, "</g>\n");
}

static void box(struct svg *svg, double x, double y, double w, double h)
{
    const double side[4] = {x, y, w, h};
    smurf_sink_text(svg->sink, " viewBox=\"");
    for (int i = 0; i < 4; i++) {
        if (i) smurf_sink_char(svg->sink, ' ');
        smurf_markup_number(svg->sink, side[i]);
    }
    smurf_sink_char(svg->sink, '"');
}

static void clip(struct canvas *canvas, double x, double y, double w, double h)
{
    struct svg *svg = (struct svg *)canvas;
    smurf_sink_text(svg->sink, "<svg");
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    attribute(svg, "width", w);
    attribute(svg, "height", h);
    box(svg, x, y, w, h);
    smurf_sink_text(svg->sink, ">\n");
    push(svg, "</svg>\n");
}

static void pop(struct canvas *canvas)
{
    struct svg *svg = (struct svg *)canvas;
    if (svg->depth == 0) return;
    svg->depth--;
    smurf_sink_text(svg->sink, svg->closing[svg->depth < SVG_DEPTH ? svg->depth : SVG_DEPTH - 1]);
}

struct canvas *smurf_svg_open(struct svg *svg, struct sink *sink, double width, double height, const char *title,
                              bool inside)
{
    static const struct canvas_class class = {path, rect, circle, text, shift, clip, pop};
    *svg = (struct svg){.canvas.class = &class, .sink = sink, .inside = inside};
    if (!inside) smurf_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    smurf_sink_text(sink, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    box(svg, 0, 0, width, height);
    if (!inside) {
        attribute(svg, "width", width);
        attribute(svg, "height", height);
    }
    smurf_sink_text(sink, " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
                          "'DejaVu Sans', sans-serif\">\n<title>");
    smurf_markup_text(sink, title);
    smurf_sink_text(sink, "</title>\n");
    push(svg, "</svg>\n");
    return &svg->canvas;
}

void smurf_svg_close(struct svg *svg)
{
    while (svg->depth) pop(&svg->canvas);
    if (svg->canvas.no_memory && !svg->sink->status) svg->sink->status = smurf_fail_memory(&svg->sink->error);
}
