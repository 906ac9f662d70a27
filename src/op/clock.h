/*
 * clock.h - the clock on the wall: harmonics of the day, the week and the year, and weighted sums of them.
 *
 *     B(s): sin(w s), cos(w s) for the rates w of the shape         b(s) = sum_j c_j B_j(s)
 *
 * s is local time in seconds since 1970. After an event at s0, b(s0 + tau) = sum_j r_j B_j(tau), where r are the
 * weights c turned by the phases of s0:
 *
 *     r_sin = c_sin cos(w s0) - c_cos sin(w s0)        r_cos = c_sin sin(w s0) + c_cos cos(w s0)
 *
 * so that what b does along a gap is known without its date.
 */
#ifndef SMURF_OP_CLOCK_H
#define SMURF_OP_CLOCK_H

#include "op/op.h"

/* Short names; see op.h. */
#define clock_row       OP(clock_row)
#define clock_turn      OP(clock_turn)
#define clock_turn_back OP(clock_turn_back)
#define clock_columns   OP(clock_columns)
#define clock_sum       OP(clock_sum)
#define clock_sum_back  OP(clock_sum_back)

enum { CLOCK_DAY = 4, CLOCK_WEEK = 3, CLOCK_YEAR = 2, CLOCK_RATES = CLOCK_DAY + CLOCK_WEEK + CLOCK_YEAR };
enum { CLOCK_MOST = 2 * CLOCK_RATES };

/* Which harmonics there are, beside those of the day. */
struct clock_shape {
    bool week, year;
};

static inline size_t clock_rates(struct clock_shape shape)
{
    return (size_t)CLOCK_DAY + (shape.week ? (size_t)CLOCK_WEEK : 0) + (shape.year ? (size_t)CLOCK_YEAR : 0);
}
/* Number of elements of B: sine and cosine of the first rate, of the second, ... */
static inline size_t clock_inputs(struct clock_shape shape)
{
    return 2 * clock_rates(shape);
}

/* B(s), (inputs). */
void clock_row(struct clock_shape shape, double s, real *out);
/* r from c (inputs each) and B(s0); and dc from dr. */
void clock_turn(size_t inputs, const real *row, const real *c, real *r);
void clock_turn_back(size_t inputs, const real *row, const real *dr, real *dc);

/* B at n moments as columns: out (inputs x n). */
void clock_columns(struct clock_shape shape, size_t n, const double *s, real *out);
/* b, b' and b'' (n each, up to the order; derivatives by seconds) of weights r (inputs) from these columns; and dr
   (inputs), added to, from the gradients g0, g1, g2 by b, b', b''. */
void clock_sum(int order, struct clock_shape shape, size_t n, const real *columns, const real *r, real *b, real *b1,
               real *b2);
void clock_sum_back(int order, struct clock_shape shape, size_t n, const real *columns, const real *g0, const real *g1,
                    const real *g2, real *dr);

#endif
