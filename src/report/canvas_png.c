/*
 * canvas_png.c - a canvas that renders images with cairo.
 *
 * cairo pulls in fonts, X11 and some twenty libraries, so it is loaded when an image is opened, not when the program
 * starts. Only its header is needed to build.
 */
#include "report/canvas.h"

#include "base/library.h"

#include "config.h"

#if SMURF_HAVE_CAIRO

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cairo functions used here, without their prefix. */
#define FUNCTIONS(F)                                                                                                   \
    F(arc)                                                                                                             \
    F(clip)                                                                                                            \
    F(close_path)                                                                                                      \
    F(create)                                                                                                          \
    F(destroy)                                                                                                         \
    F(fill_preserve)                                                                                                   \
    F(image_surface_create)                                                                                            \
    F(line_to)                                                                                                         \
    F(move_to)                                                                                                         \
    F(new_path)                                                                                                        \
    F(paint)                                                                                                           \
    F(rectangle)                                                                                                       \
    F(restore)                                                                                                         \
    F(save)                                                                                                            \
    F(scale)                                                                                                           \
    F(select_font_face)                                                                                                \
    F(set_dash)                                                                                                        \
    F(set_font_size)                                                                                                   \
    F(set_line_join)                                                                                                   \
    F(set_line_width)                                                                                                  \
    F(set_source_rgba)                                                                                                 \
    F(show_text)                                                                                                       \
    F(status)                                                                                                          \
    F(status_to_string)                                                                                                \
    F(stroke_preserve)                                                                                                 \
    F(surface_destroy)                                                                                                 \
    F(surface_write_to_png_stream)                                                                                     \
    F(text_extents)                                                                                                    \
    F(translate)
#define MEMBER(name) __typeof__(cairo_##name) *name;
struct functions {
    FUNCTIONS(MEMBER)
};
#define ENTRY(name) {offsetof(struct functions, name), "cairo_" #name},
static const struct library_entry entry[] = {FUNCTIONS(ENTRY)};

enum { PIXELS = 2 }; /* per unit */

struct png {
    struct canvas canvas;
    struct functions call;
    cairo_surface_t *surface;
    cairo_t *cairo;
};

static void use(struct png *png, enum colour colour, double opacity)
{
    unsigned rgb = smurf_colours[colour].light;
    png->call.set_source_rgba(png->cairo, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0, opacity);
}

static void paint(struct png *png, const struct style *style)
{
    static const double dashes[][2] = {[DASH_LONG] = {7, 4}, [DASH_SHORT] = {3.5, 3}, [DASH_DOTS] = {1.5, 3.5}};
    if (style->fill) {
        use(png, style->fill, style->opacity > 0 ? style->opacity : 1);
        png->call.fill_preserve(png->cairo);
    }
    if (style->line) {
        use(png, style->line, 1);
        png->call.set_line_width(png->cairo, style->width > 0 ? style->width : 1);
        png->call.set_dash(png->cairo, dashes[style->dash], style->dash ? 2 : 0, 0);
        png->call.stroke_preserve(png->cairo);
    }
    png->call.new_path(png->cairo);
}

static void path(struct canvas *canvas, const struct point *point, size_t n, bool closed, const struct style *style)
{
    struct png *png = (struct png *)canvas;
    png->call.set_line_join(png->cairo, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < n; i++) png->call.line_to(png->cairo, point[i].x, point[i].y);
    if (closed) png->call.close_path(png->cairo);
    paint(png, style);
}

static void rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style)
{
    struct png *png = (struct png *)canvas;
    png->call.set_line_join(png->cairo, CAIRO_LINE_JOIN_MITER);
    png->call.rectangle(png->cairo, x, y, w, h);
    paint(png, style);
}

static void circle(struct canvas *canvas, double x, double y, double r, const struct style *style)
{
    struct png *png = (struct png *)canvas;
    png->call.arc(png->cairo, x, y, r, 0, 2 * acos(-1));
    paint(png, style);
}

static void text(struct canvas *canvas, double x, double y, const char *words, const struct font *font)
{
    struct png *png = (struct png *)canvas;
    cairo_text_extents_t size;
    png->call.select_font_face(png->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                               font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    png->call.set_font_size(png->cairo, font->size);
    png->call.text_extents(png->cairo, words, &size);
    use(png, font->colour, 1);
    png->call.move_to(png->cairo, x - size.x_advance * (int)font->anchor / 2, y);
    png->call.show_text(png->cairo, words);
    png->call.new_path(png->cairo);
}

static void shift(struct canvas *canvas, double dx, double dy)
{
    struct png *png = (struct png *)canvas;
    png->call.save(png->cairo);
    png->call.translate(png->cairo, dx, dy);
}

static void clip(struct canvas *canvas, double x, double y, double w, double h)
{
    struct png *png = (struct png *)canvas;
    png->call.save(png->cairo);
    png->call.rectangle(png->cairo, x, y, w, h);
    png->call.clip(png->cairo);
}

static void pop(struct canvas *canvas)
{
    struct png *png = (struct png *)canvas;
    png->call.restore(png->cairo);
}

bool smurf_png_available(void)
{
    return true;
}

static smurf_status open_picture(struct png *png, double width, double height, smurf_error *err)
{
    smurf_status status = smurf_library_load(&png->call, "libcairo.so.2", entry, sizeof entry / sizeof *entry,
                                             "PNG figures need libcairo2: install it, or leave out --figures", err);
    if (status) return status;
    png->surface =
        png->call.image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(PIXELS * width), (int)ceil(PIXELS * height));
    png->cairo = png->call.create(png->surface);
    if (png->call.status(png->cairo) != CAIRO_STATUS_SUCCESS) return smurf_fail_memory(err);
    use(png, COLOUR_PAPER, 1);
    png->call.paint(png->cairo);
    png->call.scale(png->cairo, PIXELS, PIXELS);
    return SMURF_OK;
}

smurf_status smurf_png_open(struct png **out, struct canvas **canvas, double width, double height, smurf_error *err)
{
    static const struct canvas_class class = {path, rect, circle, text, shift, clip, pop};
    struct png *png = calloc(1, sizeof *png);
    *out = NULL;
    *canvas = NULL;
    if (!png) return smurf_fail_memory(err);
    png->canvas.class = &class;
    smurf_status status = open_picture(png, width, height, err);
    if (status) {
        smurf_png_free(png);
        return status;
    }
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
    if (png->canvas.no_memory) return smurf_fail_memory(err);
    cairo_status_t status = png->call.status(png->cairo);
    if (!status) status = png->call.surface_write_to_png_stream(png->surface, to_sink, sink);
    if (!status) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_IO, "cannot paint a figure: %s", png->call.status_to_string(status));
}

void smurf_png_free(struct png *png)
{
    if (!png) return;
    if (png->cairo) png->call.destroy(png->cairo);
    if (png->surface) png->call.surface_destroy(png->surface);
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
