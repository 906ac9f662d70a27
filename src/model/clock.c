/* Compiled twice, for float and for double: see op/op.h. */
/* clock.c - see clock.h: the clock as the encoder sees it, the weights of an event, and the factor of its law. */
#include "model/clock.h"

#include "op/linear.h"
#include "op/real.h"

#include <math.h>
#include <string.h>

/* ---- Events -------------------------------------------------------------------------------------- */

struct clock_seen clock_seen_take(struct workspace *w, const struct clock *clock, size_t n)
{
    struct clock_seen seen = {NULL, NULL};
    if (!clock->on) return seen;
    seen.utc = workspace_take(w, n, sizeof *seen.utc);
    seen.row = op_take(w, n * clock_inputs(clock->shape));
    return seen;
}

void clock_see(const struct clock *clock, double base, const double *time, size_t i0, size_t n,
               const struct clock_seen *out)
{
    size_t inputs = clock_inputs(clock->shape);
    for (size_t i = i0; i < i0 + n; i++) {
        out->utc[i] = base + time[i] * clock->unit;
        clock_row(clock->shape, smurf_clock_local(clock, out->utc[i]), out->row + i * inputs);
    }
}

void clock_head(const struct clock *clock, const struct clock_params *at, const real *slab, size_t width, size_t i0,
                size_t n, const real *h, const struct clock_seen *seen, real *c, real *out, size_t apart)
{
    const real bound = (real)CLOCK_BOUND;
    size_t inputs = clock_inputs(clock->shape);
    linear_forward(n, width, inputs, h + i0 * width, slab + at->weight, slab + at->bias, c + i0 * inputs);
    for (size_t i = i0; i < i0 + n; i++) {
        real *own = c + i * inputs, *to = out + i * apart;
        double until, shift;
        for (size_t j = 0; j < inputs; j++) own[j] = bound * tanh_real(own[j] / bound);
        clock_turn(inputs, seen->row + i * inputs, own, to);
        smurf_clock_change(clock, seen->utc[i], &until, &shift);
        to[inputs] = (real)until;
        to[inputs + 1] = (real)shift;
    }
}

void clock_head_back(const struct clock *clock, const struct clock_params *at, const real *slab, size_t width, size_t n,
                     const real *h, const struct clock_seen *seen, const real *c, real *dr, real *dh, real *grad)
{
    size_t inputs = clock_inputs(clock->shape);
    for (size_t i = 0; i < n; i++) {
        real *own = dr + i * inputs;
        clock_turn_back(inputs, seen->row + i * inputs, own, own);
        for (size_t j = 0; j < inputs; j++) {
            real t = c[i * inputs + j] / (real)CLOCK_BOUND;
            own[j] *= 1 - t * t;
        }
    }
    linear_backward(n, width, inputs, dr, slab + at->weight, 1, dh);
    linear_gradient(n, width, inputs, h, dr, 0, inputs, grad + at->weight, grad + at->bias);
}

/* ---- The factor ---------------------------------------------------------------------------------- */

struct clock_points clock_points_take(struct workspace *w, const struct clock *clock, size_t n)
{
    struct clock_points p = {0};
    real **vectors[] = {&p.b, &p.b1, &p.b2, &p.g0, &p.g1, &p.g2, &p.slope, &p.bend};
    if (!clock->on) return p;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = op_take(w, n);
    p.column = op_take(w, n * clock_inputs(clock->shape));
    p.local = workspace_take(w, n, sizeof *p.local);
    return p;
}

/* tau, where clocks that change count. */
static double local_gap(const real *change, double gap)
{
    return gap < (double)change[0] ? gap : gap + (double)change[1];
}

/* ln M, and its derivatives by the weights: the means of B, weighted by e^b. */
static real mean_of_week(const struct clock *clock, const real *r, real *derivative)
{
    enum { N = CLOCK_WEEK_HOURS };
    double hour[N], share[N], sum = 0;
    real column[CLOCK_MOST * N], b[N], top;
    size_t inputs = clock_inputs(clock->shape);
    for (int k = 0; k < N; k++) hour[k] = local_gap(r + inputs, clock->cut) + 3600.0 * k;
    clock_columns(clock->shape, N, hour, column);
    clock_sum(0, clock->shape, N, column, r, b, NULL, NULL);
    top = b[0];
    for (int k = 1; k < N; k++) top = b[k] > top ? b[k] : top;
    for (int k = 0; k < N; k++) sum += share[k] = exp((double)(b[k] - top));
    for (size_t j = 0; j < inputs; j++) {
        double mean = 0;
        for (int k = 0; k < N; k++) mean += share[k] * (double)column[j * N + (size_t)k];
        derivative[j] = (real)(mean / sum);
    }
    return top + (real)log(sum / N);
}

void clock_factor(const struct clock *clock, int order, const real *coefficients, size_t n, const real *y,
                  const struct clock_points *p)
{
    real mean = 0, derivative[CLOCK_MOST];
    bool averaged = false;
    size_t inputs = clock_inputs(clock->shape);
    for (size_t i = 0; i < n; i++) {
        struct clock_gap at = smurf_clock_gap(clock, (double)y[i]);
        bool inside = at.gap < clock->cut;
        p->local[i] = inside ? local_gap(coefficients + inputs, at.gap) : 0;
        p->slope[i] = inside ? (real)at.slope : 0;
        p->bend[i] = inside ? (real)at.bend : 0;
        if (inside || averaged) continue;
        mean = mean_of_week(clock, coefficients, derivative);
        averaged = true;
    }
    clock_columns(clock->shape, n, p->local, p->column);
    clock_sum(order, clock->shape, n, p->column, coefficients, p->b, p->b1, p->b2);
    for (size_t i = 0; averaged && i < n; i++) {
        if (p->slope[i] != 0) continue;
        p->b[i] = mean;
        for (size_t j = 0; j < inputs; j++) p->column[j * n + i] = derivative[j];
    }
    for (size_t i = 0; order >= 2 && i < n; i++)
        p->b2[i] = p->b2[i] * p->slope[i] * p->slope[i] + p->b1[i] * p->bend[i];
    for (size_t i = 0; order >= 1 && i < n; i++) p->b1[i] *= p->slope[i];
}

void clock_factor_back(const struct clock *clock, int order, size_t n, const struct clock_points *p, real *dr)
{
    for (size_t i = 0; order >= 1 && i < n; i++) {
        p->g1[i] *= p->slope[i];
        if (order < 2) continue;
        p->g1[i] += p->g2[i] * p->bend[i];
        p->g2[i] *= p->slope[i] * p->slope[i];
    }
    clock_sum_back(order, clock->shape, n, p->column, p->g0, p->g1, p->g2, dr);
}
