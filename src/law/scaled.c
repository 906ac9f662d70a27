/*
 * scaled.c - turns a table on a law's axis into a distribution of gaps in the user's unit.
 *
 *     F(t) = keep F_y(scale(t))                        0 <= t < end
 *     1 - F(t) = (1 - F(end)) exp(-rate (t - end))     beyond
 *
 * rate = max(lambda(hi) dy/dt, 1/end) and keep = 1; or, with a bound on the tail, end is the longest gap known,
 * 1 - F(end) = min(1 - F_y(scale(end)), share), keep = F(end) / F_y(scale(end)) and rate = 1 / mean. Mass left of the
 * gap 0 is an atom at 0.
 */
#include "law/wrap.h"

#include <math.h>

/* Knots continue while this much survival is left: the limit of double precision. */
static const double least_survival = 1e-16;
/* Log axis: gaps grow by at most a factor e between two knots; knots much closer to 0 than the median are omitted. */
static const double growth_most = 1, negligible = 1e-9;
static const double tail_step = 2; /* between knots of the tail, in 1/rate */
/* A law with less mass than this below the bound on its tail keeps what it has beyond. */
static const double least_level = 1e-6;

enum { PIECE = 128, TAIL_KNOTS_MOST = 24 };

/* ---- Values ------------------------------------------------------------------------------------------ */

static double tail_survival(const struct scaled *s, double gap)
{
    return s->rate > 0 ? s->rest * exp(-s->rate * (gap - s->end)) : s->rest;
}

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct scaled *s = self;
    double y[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) y[i] = smurf_scale_forward(s->scale, in[from + i] < 0 ? 0 : in[from + i]);
        s->inner.class->cdf(s->inner.self, y, y, m);
        for (size_t i = 0; i < m; i++) {
            double gap = in[from + i];
            out[from + i] = gap < 0 ? 0 : gap >= s->end ? 1 - tail_survival(s, gap) : s->keep * y[i];
        }
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct scaled *s = self;
    for (size_t i = 0; i < n; i++) {
        double gap = in[i];
        if (gap >= 0 && gap < s->end)
            out[i] = s->keep * smurf_dist_density(&s->inner, smurf_scale_forward(s->scale, gap)) *
                     exp(smurf_scale_log_slope(s->scale, gap));
        else
            out[i] = isnan(gap) ? NAN : gap < 0 ? 0 : s->rate > 0 ? s->rate * tail_survival(s, gap) : 0;
    }
}

/* Keeps rounding from moving a quantile of the table into the tail; NaN stays NaN. */
static double into_table(const struct scaled *s, double gap)
{
    return gap > s->end ? s->end : gap;
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct scaled *s = self;
    double level[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) {
            level[i] = in[from + i];
            out[from + i] = level[i] <= 1 ? level[i] / s->keep : NAN;
        }
        s->inner.class->quantile(s->inner.self, out + from, out + from, m);
        for (size_t i = 0; i < m; i++) {
            double *q = &out[from + i];
            if (s->rate > 0 && level[i] >= s->end_level && level[i] <= 1)
                *q = s->end - fmin(log((1 - level[i]) / s->rest), 0) / s->rate;
            else
                *q = into_table(s, smurf_scale_backward(s->scale, *q));
        }
    }
}

/* ---- Knots ------------------------------------------------------------------------------------------- */

/* The number of pieces for the cell between two points of the axis, in user's time; limited by the room left. */
static double pieces(const struct scaled *s, double from, double to)
{
    if (s->scale->kind != SMURF_SCALE_LOG) return 1;
    return fmin(fmax(ceil(s->scale->sd * (to - from) / growth_most), 1), DIST_KNOTS_MOST);
}

static size_t tail_knots(const struct scaled *s, double *out)
{
    size_t n = 0;
    if (!(s->rate > 0)) return 0;
    for (double left = s->rest; left > least_survival && n < TAIL_KNOTS_MOST; left *= exp(-tail_step), n++)
        out[n] = s->end + (double)(n + 1) * tail_step / s->rate;
    return n;
}

static size_t knots(const void *self, double *out)
{
    const struct scaled *s = self;
    double y[DIST_KNOTS_MOST], least = 0;
    size_t n = s->inner.class->knots(s->inner.self, y), made = 0, most = DIST_KNOTS_MOST - TAIL_KNOTS_MOST - 1;
    if (s->scale->kind == SMURF_SCALE_LOG)
        least =
            negligible * smurf_scale_backward(s->scale, smurf_dist_quantile(&s->inner, 0.5 * s->end_level / s->keep));
    out[made++] = 0;
    double before = smurf_scale_forward(s->scale, least); /* the axis up to here is one cell */
    for (size_t i = 0; i < n && y[i] < s->hi; i++) {
        if (!(y[i] > before)) continue;
        double cuts = i > 0 ? pieces(s, before, y[i]) : 1;
        for (double k = 1; k <= cuts && made < most; k++) {
            double gap = smurf_scale_backward(s->scale, before + (y[i] - before) * (k / cuts));
            if (gap > out[made - 1] && gap < s->end) out[made++] = gap;
        }
        before = y[i];
    }
    if (s->end > out[made - 1]) out[made++] = s->end;
    made += tail_knots(s, out + made);
    if (made == 1) out[made++] = s->scale->mean > 0 ? s->scale->mean : 1; /* all mass is in the atom */
    return made;
}

/* ---- Making ------------------------------------------------------------------------------------------ */

static const struct dist_class scaled_class = {
    .name = "scaled", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots};

/* Ends the law at the longest known gap. */
static void bound_tail(struct scaled *s, const struct tail *tail)
{
    double hi = smurf_scale_forward(s->scale, tail->from), level = smurf_dist_cdf(&s->inner, hi);
    if (!(level >= least_level)) return;
    s->hi = hi;
    s->end = tail->from;
    s->rest = fmin(1 - level, tail->share);
    s->taken = 1 - level - s->rest;
    s->end_level = 1 - s->rest;
    s->keep = s->end_level / level;
    s->rate = 1 / tail->mean;
}

struct dist smurf_scaled(struct scaled *out, const struct exact *exact, const smurf_scale *scale,
                         const struct tail *tail)
{
    double hi = exact->x[exact->n - 1], end = smurf_scale_backward(scale, hi);
    *out = (struct scaled){.inner = smurf_exact_dist(exact), .scale = scale, .hi = hi, .end = end, .keep = 1};
    out->end_level = exact->f[exact->n - 1];
    out->rest = exact->rest > 0 ? exact->rest : 1 - out->end_level;
    if (out->rest > 0) {
        double slow = end > 0 ? 1 / end : 1 / scale->mean;
        double hazard = exact->hazard * exp(smurf_scale_log_slope(scale, end));
        out->rate = hazard > slow && isfinite(hazard) ? hazard : slow;
    }
    if (tail && tail->from > 0 && tail->from < end) bound_tail(out, tail);
    return (struct dist){&scaled_class, out};
}
