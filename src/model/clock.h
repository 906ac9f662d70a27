/*
 * clock.h - the clock on the wall, of models whose train data has dates.
 *
 * B(t) of an event, in the time zone of the log (op/clock.h), is an input of the encoder; and the law of the gap after
 * an event at t sees the clock at the time it speaks of:
 *
 *     lambda(tau) = lambda0(tau) e^{b(t + tau)},   b(s) = sum_j c_j B_j(s),   c = C tanh((V h + v) / C)
 *
 * with C = CLOCK_BOUND. Beyond `cut`, e^b is replaced by its mean M over the week that follows. On the axis of the law,
 * y(tau), with tau', tau'' derivatives by y:
 *
 *     beta(y) = b(t + tau(y)),   beta' = b' tau',   beta'' = b'' tau'^2 + b' tau''
 *
 * What a law needs are the coefficients of its event: c turned by the phases of t; the seconds until clocks change, and
 * by how much (1e30 and 0 if they do not within the cut: at most one change counts).
 */
#ifndef SMURF_MODEL_CLOCK_H
#define SMURF_MODEL_CLOCK_H

#include "model/params.h"
#include "op/clock.h"
#include "smurf_lab.h"

/* Short names; see op.h. */
#define clock_seen_take   OP(clock_seen_take)
#define clock_see         OP(clock_see)
#define clock_head        OP(clock_head)
#define clock_head_back   OP(clock_head_back)
#define clock_points_take OP(clock_points_take)
#define clock_factor      OP(clock_factor)
#define clock_factor_back OP(clock_factor_back)

struct time_zone;

static const double CLOCK_BOUND = 3;
enum { CLOCK_WEEK_HOURS = 168 };
enum { CLOCK_CUT_LEAST = 86400, CLOCK_CUT_MOST = 4 * 7 * 86400 };

/* Of a model; all 0: none. */
struct clock {
    bool on;
    struct clock_shape shape;
    const struct time_zone *zone; /* borrowed; NULL: UTC */
    double cut;                   /* in seconds */
    double unit;                  /* of the encoder's time, in seconds */
    smurf_scale scale;            /* of the law's axis */
};

/* Local time in seconds since 1970 at a UTC time; and when, in seconds from then, clocks change by how much. */
double smurf_clock_local(const struct clock *clock, double utc);
void smurf_clock_change(const struct clock *clock, double utc, double *until, double *shift);
/* tau, tau' and tau'' at y. */
struct clock_gap {
    double gap, slope, bend;
};
struct clock_gap smurf_clock_gap(const struct clock *clock, double y);

/* Number of coefficients of an event. */
static inline size_t clock_coefficients(const struct clock *clock)
{
    return clock->on ? clock_inputs(clock->shape) + 2 : 0;
}

/* ---- The map from h to c ------------------------------------------------------------------------- */

/* Offsets in the slab. */
struct clock_params {
    size_t weight, bias; /* (inputs x width), (inputs) */
};
void smurf_clock_params(const struct clock *clock, size_t width, struct params *params, struct clock_params *out);

/* Events as the model sees them: when they were in UTC, and B (n x inputs). */
struct clock_seen {
    double *utc;
    real *row;
};
struct clock_seen clock_seen_take(struct workspace *w, const struct clock *clock, size_t n);
/* Rows i0 .. i0+n-1, of events at `time` in the encoder's unit, counted from `base` in seconds since 1970. */
void clock_see(const struct clock *clock, double base, const double *time, size_t i0, size_t n,
               const struct clock_seen *out);
/* c (n x inputs), and the coefficients (n, `apart` reals apart), of rows i0 .. i0+n-1. */
void clock_head(const struct clock *clock, const struct clock_params *at, const real *slab, size_t width, size_t i0,
                size_t n, const real *h, const struct clock_seen *seen, real *c, real *out, size_t apart);
/* From dr (n x inputs), the gradient by the turned weights, which is overwritten: adds to dh (n x width) and grad. */
void clock_head_back(const struct clock *clock, const struct clock_params *at, const real *slab, size_t width, size_t n,
                     const real *h, const struct clock_seen *seen, const real *c, real *dr, real *dh, real *grad);

/* ---- The factor of a law, at n points -------------------------------------------------------------- */

/* b, b1, b2 are beta and its derivatives by y, up to the order; g0, g1, g2 the gradient by them. (n) each. */
struct clock_points {
    real *b, *b1, *b2, *g0, *g1, *g2;
    real *slope, *bend; /* tau', tau'' */
    real *column;       /* (inputs x n) */
    double *local;      /* tau, in local time */
};
/* Scratch for up to n points. */
struct clock_points clock_points_take(struct workspace *w, const struct clock *clock, size_t n);
/* coefficients: of the event. */
void clock_factor(const struct clock *clock, int order, const real *coefficients, size_t n, const real *y,
                  const struct clock_points *p);
/* Adds to dr (inputs). Uses up g0, g1, g2. */
void clock_factor_back(const struct clock *clock, int order, size_t n, const struct clock_points *p, real *dr);

#endif
