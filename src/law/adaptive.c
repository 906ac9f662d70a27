/* adaptive.c - see adaptive.h. */
#include "law/adaptive.h"

#include "base/random.h"

#include <math.h>

enum { CELLS = ADAPTIVE_LEVELS + 1, PIECE = 128 };

/* The key of the random numbers that spread gaps within a tick. */
enum { KEY = 0x61646170 };

/* ---- Levels ------------------------------------------------------------------------------------------ */

static double level_at(size_t k)
{
    return (double)(k + 1) / CELLS;
}

/* z(u) = u / END up to LAST, the last level of the grid; beyond, with the same slope there,
   (LAST + (1 - LAST) ln ((1 - LAST) / (1 - u))) / END. END makes it 1 where 1 - u = 1e-6. */
static const double last = (double)ADAPTIVE_LEVELS / CELLS, rest = 1.0 / CELLS;
static const double end = (double)ADAPTIVE_LEVELS / CELLS + 10.819778284410283 / CELLS; /* ln (0.05 / 1e-6) */
_Static_assert(CELLS == 20, "the logarithm is that of this grid");

static double from_axis(double z)
{
    double s = z * end;
    if (z >= 1) return 1;
    return s <= last ? s : 1 - rest * exp((last - s) / rest);
}

/* p: the non-decreasing values nearest to q^, back from the axis. Pools neighbours out of order. */
static void regress(struct adaptive *a)
{
    double mean[ADAPTIVE_LEVELS];
    size_t size[ADAPTIVE_LEVELS], n = 0;
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) {
        mean[n] = a->q[k];
        size[n++] = 1;
        for (; n > 1 && mean[n - 2] > mean[n - 1]; n--) {
            double l = (double)size[n - 2], r = (double)size[n - 1];
            mean[n - 2] = (l * mean[n - 2] + r * mean[n - 1]) / (l + r);
            size[n - 2] += size[n - 1];
        }
    }
    for (size_t b = 0, k = 0; b < n; b++)
        for (size_t i = 0; i < size[b]; i++) a->p[k++] = from_axis(mean[b]);
}

void smurf_adaptive_init(struct adaptive *a, double gamma)
{
    a->gamma = gamma;
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) a->q[k] = level_at(k) / end;
    regress(a);
}

void smurf_adaptive_see(struct adaptive *a, double pit)
{
    if (!(a->gamma > 0) || isnan(pit)) return;
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) a->q[k] += a->gamma * (level_at(k) - (pit <= a->p[k]));
    regress(a);
}

/* q^ stays within a few steps of [0, 1], and a step is at most 1. */
bool smurf_adaptive_set(struct adaptive *a, const double q[ADAPTIVE_LEVELS])
{
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++) {
        if (!(fabs(q[k]) < 100)) return false;
        a->q[k] = q[k];
    }
    regress(a);
    return true;
}

bool smurf_adaptive_is_open(const struct adaptive *a)
{
    return a->gamma > 0 && a->p[ADAPTIVE_LEVELS - 1] >= 1;
}

double smurf_adaptive_pit(const struct dist *dist, double gap, double tick, uint64_t event)
{
    uint32_t word[4];
    smurf_philox(word, KEY, 0, event);
    return smurf_dist_pit(dist, gap, tick, smurf_random_unit((uint64_t)word[0] << 32 | word[1]));
}

/* ---- The map ----------------------------------------------------------------------------------------- */

/* M at k / CELLS. */
static double knot(const struct adaptive *a, size_t k)
{
    if (k == 0) return fmin(0, a->p[0]);
    return k < CELLS ? a->p[k - 1] : fmax(1, a->p[ADAPTIVE_LEVELS - 1]);
}

static double map(const struct adaptive *a, double level)
{
    size_t k = 0;
    while (k + 1 < CELLS && level_at(k) <= level) k++;
    double left = k ? level_at(k - 1) : 0, from = knot(a, k);
    return from + (level - left) * CELLS * (knot(a, k + 1) - from);
}

/* The cell of a value from 0 to 1: it begins with the last level that M maps to at most the value, and, where M reaches
   1, below 1. M rises in it. */
static size_t cell_of(const struct adaptive *a, double value)
{
    size_t k = 0;
    while (k + 1 < CELLS && knot(a, k + 1) <= value && knot(a, k + 1) < 1) k++;
    return k;
}

static double inverse(const struct adaptive *a, double value)
{
    if (isnan(value)) return NAN;
    size_t k = cell_of(a, value);
    double from = knot(a, k), left = k ? level_at(k - 1) : 0, right = k + 1 < CELLS ? level_at(k) : 1;
    return fmin(left + (value - from) / (knot(a, k + 1) - from) / CELLS, right);
}

/* ---- The distribution -------------------------------------------------------------------------------- */

static void cdf(const void *self, const double *in, double *out, size_t n)
{
    const struct adapted *w = self;
    double x[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) x[i] = in[from + i];
        w->inner.class->cdf(w->inner.self, x, out + from, m);
        for (size_t i = 0; i < m; i++) {
            double *f = &out[from + i];
            *f = x[i] < 0 ? 0 : isinf(x[i]) ? 1 : inverse(w->adaptive, *f);
        }
    }
}

static void density(const void *self, const double *in, double *out, size_t n)
{
    const struct adapted *w = self;
    for (size_t i = 0; i < n; i++) {
        double x = in[i], f = smurf_dist_cdf(&w->inner, x), own = smurf_dist_density(&w->inner, x);
        size_t k = cell_of(w->adaptive, f);
        out[i] = x < 0 ? 0 : own / (CELLS * (knot(w->adaptive, k + 1) - knot(w->adaptive, k)));
    }
}

static void quantile(const void *self, const double *in, double *out, size_t n)
{
    const struct adapted *w = self;
    bool open = smurf_adaptive_is_open(w->adaptive);
    double p[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) {
            double level = in[from + i];
            p[i] = level >= 0 && level <= 1 ? map(w->adaptive, level) : NAN;
            out[from + i] = isnan(p[i]) ? NAN : fmin(fmax(p[i], 0), 1);
        }
        w->inner.class->quantile(w->inner.self, out + from, out + from, m);
        for (size_t i = 0; i < m; i++) {
            if (p[i] < 0) out[from + i] = 0;
            if (open && p[i] >= 1) out[from + i] = INFINITY;
        }
    }
}

/* The knots of the law and the quantiles of the grid. */
static size_t knots(const void *self, double *out)
{
    const struct adapted *w = self;
    double own[DIST_KNOTS_MOST], level[ADAPTIVE_LEVELS];
    size_t n = w->inner.class->knots(w->inner.self, own), made = 0, j = 0, ends = 0;
    for (size_t k = 0; k < ADAPTIVE_LEVELS; k++)
        if (w->adaptive->p[k] > 0 && w->adaptive->p[k] < 1) level[ends++] = w->adaptive->p[k];
    w->inner.class->quantile(w->inner.self, level, level, ends);
    if (w->adaptive->p[0] < 0 && own[0] > 0) out[made++] = 0; /* the atom */
    for (size_t i = 0; i < n; i++) {
        for (; j < ends && level[j] < own[i]; j++)
            if (made > 0 && level[j] > out[made - 1] && made + (n - i) < DIST_KNOTS_MOST) out[made++] = level[j];
        if (made < DIST_KNOTS_MOST) out[made++] = own[i];
    }
    return made;
}

static double infinite_mean(const void *self)
{
    (void)self;
    return INFINITY;
}

static double infinite_crps(const void *self, double gap)
{
    (void)self, (void)gap;
    return INFINITY;
}

static const struct dist_class adapted_class = {
    .name = "adapted", .cdf = cdf, .density = density, .quantile = quantile, .knots = knots};
static const struct dist_class open_class = {.name = "adapted, open",
                                             .cdf = cdf,
                                             .density = density,
                                             .quantile = quantile,
                                             .knots = knots,
                                             .mean = infinite_mean,
                                             .crps = infinite_crps};

struct dist smurf_adapted(struct adapted *out, struct dist inner, const struct adaptive *adaptive)
{
    if (!(adaptive->gamma > 0)) return inner;
    *out = (struct adapted){inner, adaptive};
    return (struct dist){smurf_adaptive_is_open(adaptive) ? &open_class : &adapted_class, out};
}
