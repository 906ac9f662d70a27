/*
 * adaptive.h - levels that follow what came: adaptive conformal inference (Gibbs and Candes 2021) on a grid of levels.
 *
 * For each level q of the grid keep q^, which starts as z(q). With p the isotonic regression of q^ over the levels and
 * u the PIT of a gap that came (randomised within its tick),
 *
 *     q^ <- q^ + gamma (q - [z(u) <= p])
 *
 * and the law of the next gap has the quantile of z^-1(p) at level q. q^ is neither sorted nor clipped: whatever the
 * data do, the share of the gaps with z(u) <= p among the first T is within (1 + 2 gamma) / (gamma T) of q. What counts
 * is what is shown: with p < 0 no gap is below the quantile, which is 0, and with p >= 1 all are, as it is infinite.
 *
 * The axis z rises from 0 to 1. It is linear up to the last level of the grid and logarithmic in 1 - u beyond, as far
 * as 1 - u = 1e-6: a law whose upper tail is too short needs levels close to 1, and on u itself a few steps from there
 * would make intervals infinite.
 */
#ifndef SMURF_LAW_ADAPTIVE_H
#define SMURF_LAW_ADAPTIVE_H

#include "law/dist.h"

#include <stdbool.h>

/* The grid: (k + 1) / (ADAPTIVE_LEVELS + 1), the levels that are evaluated. */
enum { ADAPTIVE_LEVELS = SMURF_LEVELS };

struct adaptive {
    double gamma;              /* 0: the levels stay as they are */
    double q[ADAPTIVE_LEVELS]; /* q^ */
    double p[ADAPTIVE_LEVELS]; /* z^-1 of their isotonic regression: below 0 and 1 beyond the ends of the axis */
};

void smurf_adaptive_init(struct adaptive *adaptive, double gamma);
/* Takes in the PIT of the next gap; NaN changes nothing. */
void smurf_adaptive_see(struct adaptive *adaptive, double pit);
/* Sets q^, as stored; false if they cannot be. */
bool smurf_adaptive_set(struct adaptive *adaptive, const double q[ADAPTIVE_LEVELS]);
/* Whether quantiles of some levels below 1 are infinite. */
bool smurf_adaptive_is_open(const struct adaptive *adaptive);

/* The PIT that adaptation sees, of the gap before event `event` of a sequence, counted from its true start: where the
   gap lies within its tick is a function of that number, so all uses of a model adapt alike. */
double smurf_adaptive_pit(const struct dist *dist, double gap, double tick, uint64_t event);

/* F(x) = M^-1(inner(x)), where M is linear between the levels of the grid: M(q) = p there, M(0) = min(0, p of the
   first), M(1) = max(1, p of the last). Where M is below 0 its mass is an atom at 0, and where it reaches 1 below level
   1 it is never: F has that mass at infinity, and mean and CRPS are infinite. With gamma 0 the result is `inner`. */
struct adapted {
    struct dist inner;
    const struct adaptive *adaptive;
};
struct dist smurf_adapted(struct adapted *out, struct dist inner, const struct adaptive *adaptive);

#endif
