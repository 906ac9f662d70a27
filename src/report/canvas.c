/* canvas.c - see canvas.h: code common to all back ends. */
#include "report/canvas.h"

#include "report/words.h"

#include <math.h>

const struct colour_values smurf_colours[COLOURS] = {
    [COLOUR_NONE] = {"none", 0, 0},
    [COLOUR_INK] = {"ink", 0x1b1f24, 0xe8eaed},
    [COLOUR_MUTED] = {"muted", 0x5b6470, 0xa3abb6},
    [COLOUR_GRID] = {"grid", 0xe4e7eb, 0x333940},
    [COLOUR_PAPER] = {"paper", 0xffffff, 0x16191d},
    [COLOUR_BAND] = {"band", 0xc9ced6, 0x4a525c},
    [COLOUR_MODEL] = {"model", 0x0072b2, 0x56b4e9},
    [COLOUR_RAW] = {"raw", 0xb65c8f, 0xe19cc3},
    [COLOUR_SAMPLED] = {"sampled", 0x4fa9dd, 0xc7b8ff},
    [COLOUR_MARGINAL] = {"marginal", 0xd98c00, 0xf0b642},
    [COLOUR_RECENT] = {"recent", 0x008a65, 0x2fc49a},
    [COLOUR_TRUTH] = {"truth", 0xc84e00, 0xff8a4a},
};

/* Clamps to a distance that is far off the sheet but that every renderer can handle. */
static double near(double x)
{
    return fmax(-1e5, fmin(1e5, x));
}

static bool is_finite(struct point p)
{
    return isfinite(p.x) && isfinite(p.y);
}

/* Passes on runs of finite points, at most `most` at a time; runs overlap by a point where a line continues. */
enum { RUN = 1024 };

void smurf_canvas_polyline(struct canvas *canvas, const struct point *point, size_t n, const struct style *style)
{
    struct point run[RUN];
    size_t used = 0;
    for (size_t i = 0; i <= n; i++) {
        bool ends = i == n || !is_finite(point[i]);
        if (!ends) run[used++] = (struct point){near(point[i].x), near(point[i].y)};
        if (!ends && used < RUN) continue;
        if (used > 1) canvas->class->path(canvas, run, used, false, style);
        if (ends) {
            used = 0;
        } else {
            run[0] = run[used - 1];
            used = 1;
        }
    }
}

void smurf_canvas_line(struct canvas *canvas, double x1, double y1, double x2, double y2, const struct style *style)
{
    struct point ends[2] = {{x1, y1}, {x2, y2}};
    smurf_canvas_polyline(canvas, ends, 2, style);
}

void smurf_canvas_area(struct canvas *canvas, const struct point *point, size_t n, const struct style *style)
{
    struct point run[RUN];
    size_t used = 0;
    for (size_t i = 0; i < n && used < RUN; i++)
        if (is_finite(point[i])) run[used++] = (struct point){near(point[i].x), near(point[i].y)};
    if (used > 2) canvas->class->path(canvas, run, used, true, style);
}

void smurf_canvas_rect(struct canvas *canvas, double x, double y, double w, double h, const struct style *style)
{
    if (!isfinite(x) || !isfinite(y) || !isfinite(w) || !isfinite(h)) return;
    if (w < 0) x += w, w = -w;
    if (h < 0) y += h, h = -h;
    canvas->class->rect(canvas, near(x), near(y), near(w), near(h), style);
}

void smurf_canvas_circle(struct canvas *canvas, double x, double y, double r, const struct style *style)
{
    if (isfinite(x) && isfinite(y) && isfinite(r)) canvas->class->circle(canvas, near(x), near(y), near(r), style);
}

void smurf_canvas_text(struct canvas *canvas, double x, double y, double width, const char *text,
                       const struct font *font)
{
    char clean[512];
    if (!isfinite(x) || !isfinite(y)) return;
    double unit = font->bold ? 1.1 * font->size : font->size; /* bold letters are wider */
    if (width > 0)
        smurf_clean_to_width(clean, sizeof clean, text, width / unit);
    else
        smurf_clean(clean, sizeof clean, text);
    if (clean[0]) canvas->class->text(canvas, near(x), near(y), clean, font);
}

void smurf_canvas_shift(struct canvas *canvas, double dx, double dy)
{
    canvas->class->shift(canvas, dx, dy);
}

void smurf_canvas_clip(struct canvas *canvas, double x, double y, double w, double h)
{
    canvas->class->clip(canvas, x, y, w, h);
}

void smurf_canvas_pop(struct canvas *canvas)
{
    canvas->class->pop(canvas);
}
