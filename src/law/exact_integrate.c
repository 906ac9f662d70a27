/*
 * exact_integrate.c - fills the table of exact.h by quadrature.
 *
 *     Lambda(x) = integral of lambda,  F = 1 - exp(-Lambda)       an intensity
 *     F(x) = integral of exp(ln p - top),  over the whole of it   a law known by its score
 *
 * The function is approximated by a polynomial of degree 8 on each panel. The units of learned laws, tanh(a x + b) with
 * |a| < 1, have no pole within pi/2 of the real axis, so panels of width 1 are accurate to about 1e-8. A panel whose
 * coefficients decay too slowly is halved. All panels of a round are evaluated in one call. An error of Lambda is
 * weighted by the remaining mass, exp(-Lambda).
 *
 * The table is then filled from the polynomials alone, more finely where F has more curvature.
 */
#include "law/exact_table.h"

#include <math.h>
#include <string.h>

/* Total error of F: of each panel's integral, and of the table's cubics. */
static const double panel_tolerance = 4e-9, cubic_tolerance = 2e-8;
/* The mass remaining at this Lambda, 4e-18, is negligible. */
static const double lambda_most = 40;
/* Largest rise of Lambda in one piece of the table: exp(-Lambda) is then close to a polynomial, too. */
static const double rise_most = 2;
/* Densities with less mass than this in a cell are not resolved; upper limit on the cells spent on small ones. */
static const double least_mass = 1e-14, folds_most = 8;
static const double first_width = 1.25, growth = 1.3;
static const double uniform_most = 20; /* panels grow on longer axes */
static const double largest = 1e100;   /* intensities are clipped here */

enum {
    PANELS_LEAST = 4,
    PANELS_FIRST = 8, /* evaluated before checking how far the mass reaches */
    ROUNDS_MOST = 60,
    DEPTH_MOST = 60,
    TABLE_RESERVE = 2 * PANEL_GRID,
};

struct integration {
    struct exact *exact;
    struct exact_work *work;
    const struct law *law;
    bool scored; /* ln p instead of an intensity */
    enum exact_mass mass;
    struct panel *panel, *spare;
    size_t panels;
    double ease;    /* factor of the tolerances: 10 for laws with edges, which have many panels */
    double top;     /* scored: subtracted from ln p */
    double total;   /* divisor of F */
    size_t pending; /* panels that still need a table node */
};

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < PANEL_NODES; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- Evaluating ------------------------------------------------------------------------------------- */

static double sane(double value)
{
    return value > 0 ? fmin(value, largest) : 0;
}

/* Evaluates all pending nodes in one call. A panel that does not know its left end has a neighbour there. */
static void evaluate(struct integration *in)
{
    double *point = in->work->point, *value = in->work->value;
    size_t n = 0, used = 0;
    for (size_t i = 0; i < in->panels; i++) {
        struct panel *p = &in->panel[i];
        for (int j = p->from; j < p->to; j++)
            point[n++] = j == PANEL_DEGREE ? p->b : p->a + (p->b - p->a) * in->work->rules.node[j];
    }
    if (n == 0) return;
    const struct law_class *class = in->law->class;
    (in->scored ? class->log_density : class->intensity)(in->law->self, point, value, n);
    in->exact->evaluations += n;
    for (size_t i = 0; i < in->panels; i++) {
        struct panel *p = &in->panel[i];
        double *into = in->scored ? p->log : p->value;
        for (int j = p->from; j < p->to; j++) into[j] = in->scored ? value[used++] : sane(value[used++]);
        if (p->from == 1 && p->to == PANEL_NODES)
            into[0] = (in->scored ? in->panel[i - 1].log : in->panel[i - 1].value)[PANEL_DEGREE];
    }
}

/* p = exp(ln p - top) of all panels, where top is the largest ln p so far; of new panels only, while top barely
   changes. */
static void exponentiate(struct integration *in)
{
    double top = -INFINITY;
    for (size_t i = 0; i < in->panels; i++)
        for (int j = 0; j < PANEL_NODES; j++) {
            double *v = &in->panel[i].log[j];
            if (!(*v < INFINITY)) *v = -INFINITY; /* also if NaN */
            top = fmax(top, *v);
        }
    bool moved = !(fabs(top - in->top) < 10);
    if (moved) in->top = isfinite(top) ? top : 0;
    for (size_t i = 0; i < in->panels; i++) {
        struct panel *p = &in->panel[i];
        if (!moved && p->from == p->to) continue;
        for (int j = 0; j < PANEL_NODES; j++) p->value[j] = exp(p->log[j] - in->top);
        if (p->from == p->to) p->to = p->from + 1; /* measured again */
    }
}

/* Whether a peak may hide between two nodes where the function changes by more than e^3: extrapolating the slope from
   the higher node gives a non-negligible mass. */
static bool may_hide(const struct integration *in, const struct panel *p)
{
    double width = p->b - p->a;
    for (int j = 0; j < PANEL_DEGREE; j++) {
        if (in->scored) {
            double high = fmax(p->log[j], p->log[j + 1]), drop = high - fmin(p->log[j], p->log[j + 1]);
            if (drop > 3 && high + fmin(drop, 1e6) - in->top > -25) return true;
        } else {
            double high = fmax(p->value[j], p->value[j + 1]), low = fmin(p->value[j], p->value[j + 1]);
            if (high > 20 * low && high * (high / fmax(low, 1e-100)) * width > 1e-10) return true;
        }
    }
    return false;
}

/* The panel's integral and its error. The unknown coefficients are assumed to continue the decay of the known ones. */
static void measure(const struct integration *in, struct panel *p)
{
    double c[PANEL_NODES], width = p->b - p->a;
    smurf_panel_apply(in->work->rules.coefficient, p->value, c, PANEL_NODES);
    double before = fabs(c[PANEL_DEGREE - 3]) + fabs(c[PANEL_DEGREE - 2]);
    double last = fabs(c[PANEL_DEGREE - 1]) + fabs(c[PANEL_DEGREE]);
    double fall = last < before ? fmax(last / before, 0.02) : 1;
    p->rise = fmax(width * dot(in->work->rules.weight, p->value), 0);
    p->error = width / (2 * PANEL_DEGREE) * last * fall;
    p->suspect = may_hide(in, p);
    p->from = p->to = 0;
}

static void evaluate_and_measure(struct integration *in)
{
    evaluate(in);
    if (in->scored) exponentiate(in);
    double sum = 0;
    for (size_t i = 0; i < in->panels; i++) {
        struct panel *p = &in->panel[i];
        if (p->from < p->to) measure(in, p);
        p->start = sum;
        sum += p->rise;
    }
    in->total = in->scored ? sum : in->mass == EXACT_ONE ? -expm1(-sum) : 1;
}

/* ---- Laying out panels ------------------------------------------------------------------------------ */

/* The integral over all panels. */
static double end(const struct integration *in)
{
    const struct panel *last = &in->panel[in->panels - 1];
    return last->start + last->rise;
}

static void append(struct integration *in, double a, double b)
{
    bool first = in->panels == 0;
    in->panel[in->panels++] = (struct panel){.a = a, .b = b, .from = first ? 0 : 1, .to = PANEL_NODES};
}

/* Adds panels in batches until the axis or the mass is exhausted; if no mass remains, one panel covers the rest. */
static void lay_out(struct integration *in)
{
    const struct law_class *class = in->law->class;
    double lo = in->law->lo, hi = in->law->hi, range = hi - lo, width = first_width, grow = 1;
    if (range <= uniform_most * first_width) width = range / fmax(ceil(range / first_width), PANELS_LEAST);
    if (range > uniform_most * first_width) grow = growth;
    if (range / width > 1e6) grow = 2;
    double x = lo;
    while (x < hi) {
        for (int i = 0; i < PANELS_FIRST && x < hi; i++) {
            bool full = in->panels + 1 == PANELS_MOST / 2, last = full || x + 1.5 * width >= hi;
            double next = last ? hi : x + width, edge = class->edge && !full ? class->edge(in->law->self, x) : hi;
            if (edge < next)
                next = edge;
            else
                width *= grow;
            append(in, x, next);
            x = next;
        }
        evaluate_and_measure(in);
        if (!in->scored && end(in) > lambda_most && x < hi) {
            append(in, x, hi);
            evaluate_and_measure(in);
            return;
        }
    }
}

static bool is_rough(const struct integration *in, const struct panel *p)
{
    if (!in->scored && p->start > lambda_most) return false;
    if (!(in->total > 0)) return p->suspect;
    double weight = (in->scored ? 1 : exp(-p->start)) / in->total;
    return p->error * weight > in->ease * panel_tolerance || (p->suspect && weight > panel_tolerance);
}

static bool is_wide(const struct integration *in, const struct panel *p)
{
    double range = in->law->hi - in->law->lo, middle = 0.5 * (p->a + p->b);
    return p->b - p->a > range * 0x1p-46 && middle > p->a && middle < p->b;
}

/* Half of a panel; the values at its ends are already known. */
static struct panel half(const struct panel *p, int which)
{
    double middle = p->a + 0.5 * (p->b - p->a);
    struct panel out = {.a = which ? middle : p->a, .b = which ? p->b : middle, .from = 1, .to = PANEL_DEGREE};
    int left = which ? PANEL_DEGREE / 2 : 0, right = which ? PANEL_DEGREE : PANEL_DEGREE / 2;
    out.value[0] = p->value[left];
    out.value[PANEL_DEGREE] = p->value[right];
    out.log[0] = p->log[left];
    out.log[PANEL_DEGREE] = p->log[right];
    return out;
}

/* Halves the panels that are not accurate enough; false if all are, or there is no room. */
static bool refine(struct integration *in)
{
    size_t made = 0, left = in->panels;
    bool any = false;
    for (size_t i = 0; i < in->panels; i++, left--) {
        const struct panel *p = &in->panel[i];
        if (made + left < PANELS_MOST && is_rough(in, p) && is_wide(in, p)) {
            in->spare[made++] = half(p, 0);
            in->spare[made++] = half(p, 1);
            any = true;
        } else {
            in->spare[made++] = *p;
        }
    }
    if (!any) return false;
    struct panel *swap = in->panel;
    in->panel = in->spare;
    in->spare = swap;
    in->panels = made;
    return true;
}

/* ---- Filling the table ------------------------------------------------------------------------------ */

/* F and dF/dx from the integral and the function itself, n each. */
static void finish_values(const struct integration *in, double *f, double *slope, size_t n)
{
    double factor = 1 / in->total;
    for (size_t i = 0; i < n; i++) {
        slope[i] = slope[i] > 0 ? slope[i] * factor : 0;
        if (in->scored) {
            f[i] *= factor;
        } else {
            double cdf = -expm1(-f[i]);
            slope[i] *= 1 - cdf;
            f[i] = cdf * factor;
        }
    }
}

/* The number of equal cells for which the cubics are accurate: their error is F'''' d^4 / 384. Where there is little
   mass this needs few cells; the density must then change by at most a factor e in each, within reason. slope: dF/dx at
   the nodes. */
static double cells(const struct integration *in, const double *slope, double width)
{
    double bend[PANEL_NODES], most_bend = 0, most = 0, least = INFINITY;
    smurf_panel_apply(in->work->rules.third, slope, bend, PANEL_NODES);
    for (int j = 0; j < PANEL_NODES; j++) {
        most_bend = fmax(most_bend, fabs(bend[j]));
        most = fmax(most, slope[j]);
        least = fmin(least, slope[j]);
    }
    double folds = log((most * width + least_mass) / (least * width + least_mass));
    return fmax(sqrt(sqrt(width * most_bend / (384 * in->ease * cubic_tolerance))), fmin(folds, folds_most));
}

/* The table's grid in a panel, as an index into smurf_panel_cells; PANEL_GRIDS: finer than any. */
static size_t grid(const struct integration *in, const struct panel *p)
{
    double f[PANEL_NODES], slope[PANEL_NODES], width = p->b - p->a;
    smurf_panel_apply(in->work->rules.integral, p->value, f, PANEL_NODES);
    for (int j = 0; j < PANEL_NODES; j++) {
        f[j] = p->start + width * f[j];
        slope[j] = p->value[j];
    }
    finish_values(in, f, slope, PANEL_NODES);
    double m = cells(in, slope, width);
    size_t g = 0;
    while (g < PANEL_GRIDS && m > smurf_panel_cells[g]) g++;
    return g;
}

/* The nodes a panel may use: one is reserved for each panel that follows. */
static size_t room(const struct integration *in)
{
    size_t taken = in->exact->n + in->pending;
    return taken < EXACT_NODES_MOST ? EXACT_NODES_MOST - taken : 0;
}

/* psi = lambda' / lambda - lambda, or p' / p. NaN or inaccurate where the law has almost no mass. */
static double score(const struct integration *in, double value, double slope)
{
    return slope / value - (in->scored ? 0 : value);
}

static void add_cells(struct integration *in, const struct panel *p, size_t g)
{
    double f[PANEL_GRID], slope[PANEL_GRID], psi[PANEL_GRID], width = p->b - p->a;
    const struct panel_rules *rules = &in->work->rules;
    size_t m = (size_t)smurf_panel_cells[g];
    smurf_panel_apply(rules->grid_integral[g], p->value, f, m);
    smurf_panel_apply(rules->grid_value[g], p->value, slope, m);
    smurf_panel_apply(rules->grid_slope[g], p->value, psi, m);
    for (size_t i = 0; i < m; i++) psi[i] = score(in, slope[i], psi[i] / width);
    for (size_t i = 0; i < m; i++) f[i] = p->start + width * f[i];
    finish_values(in, f, slope, m);
    for (size_t i = 0; i < m; i++) {
        double x = i + 1 == m ? p->b : p->a + width * ((double)(i + 1) / (double)m);
        smurf_exact_add(in->exact, x, f[i], slope[i], i + 1 == m);
        in->exact->psi[in->exact->n - 1] = psi[i];
    }
}

/* Half of a panel, from its polynomial alone. */
static struct panel imagined_half(const struct integration *in, const struct panel *p, int which)
{
    const struct panel_rules *rules = &in->work->rules;
    double width = p->b - p->a, middle = p->a + 0.5 * width, to_middle = width * dot(rules->middle, p->value);
    struct panel out = {.a = which ? middle : p->a, .b = which ? p->b : middle};
    out.start = p->start + (which ? fmax(to_middle, 0) : 0);
    smurf_panel_apply(rules->half[which], p->value, out.value, PANEL_NODES);
    for (int j = 0; j < PANEL_NODES; j++) out.value[j] = fmax(out.value[j], 0);
    out.rise = fmax(0.5 * width * dot(rules->weight, out.value), 0);
    return out;
}

/* Adds all nodes of a panel except the first. Halves the panel while it needs too many nodes or has too much mass. */
static void fill(struct integration *in, const struct panel *p, int depth)
{
    bool over = !in->scored && p->start > lambda_most, roomy = room(in) > TABLE_RESERVE;
    bool heavy = !in->scored && p->rise > rise_most;
    size_t g = over || heavy || !roomy ? 0 : grid(in, p);
    if (!over && roomy && (heavy || g == PANEL_GRIDS) && depth < DEPTH_MOST && is_wide(in, p)) {
        struct panel left = imagined_half(in, p, 0), right = imagined_half(in, p, 1);
        in->pending++;
        fill(in, &left, depth + 1);
        in->pending--;
        fill(in, &right, depth + 1);
        return;
    }
    add_cells(in, p, g < PANEL_GRIDS ? g : PANEL_GRIDS - 1);
}

static void add_first(struct integration *in)
{
    const struct panel *p = &in->panel[0];
    smurf_exact_add(in->exact, p->a, 0, p->value[0] / in->total, true);
    double slope = 0; /* the rule is for the right end: apply it to the panel's mirror image */
    for (int j = 0; j < PANEL_NODES; j++) slope -= in->work->rules.grid_slope[0][PANEL_DEGREE - j] * p->value[j];
    in->exact->psi = in->work->psi;
    in->exact->psi[0] = score(in, p->value[0], slope / (p->b - p->a));
}

void smurf_exact_integrate(struct exact *exact, const struct law *law, enum exact_mass mass)
{
    struct exact_work *work = exact->work;
    struct integration in = {.exact = exact,
                             .work = work,
                             .law = law,
                             .scored = !law->class->intensity,
                             .mass = mass,
                             .ease = law->class->edge ? 10 : 1,
                             .panel = work->panel[0],
                             .spare = work->panel[1],
                             .top = -INFINITY};
    lay_out(&in);
    for (int round = 0; round < ROUNDS_MOST && refine(&in); round++) evaluate_and_measure(&in);
    double sum = end(&in);
    if (!(in.total > 0)) return; /* an empty table: handled by the caller */
    add_first(&in);
    for (size_t i = 0; i < in.panels; i++) {
        in.pending = in.panels - i - 1;
        fill(&in, &in.panel[i], 0);
    }
    exact->rest = in.scored ? 0 : exp(-sum);
    exact->hazard = in.scored ? 0 : in.panel[in.panels - 1].value[PANEL_DEGREE];
}
