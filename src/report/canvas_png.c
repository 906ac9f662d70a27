/* canvas_png.c - a canvas that paints a picture with cairo. */
#include "report/canvas.h"

#include "base/error.h"

#include "config.h"

#if SMURF_HAVE_CAIRO

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

enum { PIXELS = 2 }; /* a unit */

struct png {
    struct canvas canvas;
    cairo_surface_t *surface;
    cairo_t *cairo;
};

static void use(cairo_t *cairo, enum colour colour, double opacity)
{
    unsigned rgb = smurf_colours[colour].light;
    cairo_set_source_rgba(cairo, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0, opacity);
}

static void paint(cairo_t *cairo, const struct style *style)
{
    static const double dashes[][2] = {[DASH_LONG] = {7, 4}, [DASH_SHORT] = {3.5, 3}, [DASH_DOTS] = {1.5, 3.5}};
    if (style->fill) {
        use(cairo, style->fill, style->opacity > 0 ? style->opacity : 1);
        cairo_fill_preserve(cairo);
    }
    if (style->line) {
        use(cairo, style->line, 1);
        cairo_set_line_width(cairo, style->width > 0 ? style->width : 1);
        cairo_set_dash(cairo, dashes[style->dash], style->dash ? 2 : 0, 0);
        cairo_stroke_preserve(cairo);
    }
    cairo_new_path(cairo);
}

static void path(struct canvas *canvas, const struct point *point, size_t n, bool closed, const struct style *style)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < n; i++) cairo_line_to(cairo, point[i].x, point[i].y);
    if (closed) cairo_close_path(cairo);
    paint(cairo, style);
}

static void rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_rectangle(cairo, x, y, w, h);
    paint(cairo, style);
}

static void circle(struct canvas *canvas, double x, double y, double r, const struct style *style)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_arc(cairo, x, y, r, 0, 2 * acos(-1));
    paint(cairo, style);
}

static void text(struct canvas *canvas, double x, double y, const char *words, const struct font *font)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_text_extents_t size;
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, font->size);
    cairo_text_extents(cairo, words, &size);
    use(cairo, font->colour, 1);
    cairo_move_to(cairo, x - size.x_advance * (int)font->anchor / 2, y);
    cairo_show_text(cairo, words);
    cairo_new_path(cairo);
}

static void shift(struct canvas *canvas, double dx, double dy)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_save(cairo);
    cairo_translate(cairo, dx, dy);
}

static void clip(struct canvas *canvas, double x, double y, double w, double h)
{
    cairo_t *cairo = ((struct png *)canvas)->cairo;
    cairo_save(cairo);
    cairo_rectangle(cairo, x, y, w, h);
    cairo_clip(cairo);
}

static void pop(struct canvas *canvas)
{
    cairo_restore(((struct png *)canvas)->cairo);
}

bool smurf_png_available(void)
{
    return true;
}

smurf_status smurf_png_open(struct png **out, struct canvas **canvas, double width, double height, smurf_error *err)
{
    static const struct canvas_class class = {path, rect, circle, text, shift, clip, pop};
    struct png *png = calloc(1, sizeof *png);
    *out = NULL;
    if (!png) return smurf_fail_memory(err);
    png->canvas.class = &class;
    png->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(PIXELS * width), (int)ceil(PIXELS * height));
    png->cairo = cairo_create(png->surface);
    if (cairo_status(png->cairo) != CAIRO_STATUS_SUCCESS) {
        smurf_png_free(png);
        return smurf_fail_memory(err);
    }
    use(png->cairo, COLOUR_PAPER, 1);
    cairo_paint(png->cairo);
    cairo_scale(png->cairo, PIXELS, PIXELS);
    *out = png;
    *canvas = &png->canvas;
    return SMURF_OK;
}

static cairo_status_t to_sink(void *sink, const unsigned char *bytes, unsigned n)
{
    smurf_sink_bytes(sink, bytes, n);
    return CAIRO_STATUS_SUCCESS;
}

smurf_status smurf_png_write(struct png *png, struct sink *sink, smurf_error *err)
{
    cairo_status_t status = cairo_status(png->cairo);
    if (!status) status = cairo_surface_write_to_png_stream(png->surface, to_sink, sink);
    if (!status) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_IO, "cannot paint a figure: %s", cairo_status_to_string(status));
}

void smurf_png_free(struct png *png)
{
    if (!png) return;
    cairo_destroy(png->cairo);
    cairo_surface_destroy(png->surface);
    free(png);
}

#else

bool smurf_png_available(void)
{
    return false;
}

smurf_status smurf_png_open(struct png **out, struct canvas **canvas, double width, double height, smurf_error *err)
{
    (void)width, (void)height;
    *out = NULL;
    *canvas = NULL;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED,
                      "this build cannot write PNG: install libcairo2-dev and build again");
}

smurf_status smurf_png_write(struct png *png, struct sink *sink, smurf_error *err)
{
    (void)png, (void)sink;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "this build cannot write PNG");
}

void smurf_png_free(struct png *png)
{
    (void)png;
}

#endif
