/*
 * naive.c - see naive.h. With the sorted gaps x_0 .. x_{n-1} of a bin, k of them below y and P_k the sum of those,
 *
 *     CRPS(y) = ((2k - n) y + P_n - 2 P_k) / n - sum (2i - n + 1) x_i / n^2,
 *
 * the sample formula with precomputed sums.
 */
#include "eval/naive.h"

#include "base/error.h"
#include "base/sort.h"
#include "data/data.h"
#include "data/sum.h"
#include "data/time_zone.h"
#include "eval/metrics.h"
#include "law/wrap.h"
#include "naive/past.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 8, BINS = 40, BINS_FEW = 4, FEW = 5000, CELLS_MOST = 200, KNOTS_MOST = 1025 };

/* The empirical law of a set of gaps. */
struct bin {
    struct empirical empirical;
    const double *x;   /* (n) sorted */
    const double *sum; /* (n+1) prefix sums of x */
    size_t n;
    double spread, mean;
    size_t cells; /* of the histogram: from edge[c] up to edge[c+1] */
    double edge[CELLS_MOST + 1], height[CELLS_MOST];
};

struct naive {
    double *x;   /* marginal (n), then the bins end to end (n) */
    double *sum; /* (n+1), then those of the bins */
    struct bin marginal;
    size_t bins;
    double edge[BINS]; /* (bins-1): a bin reaches from one edge up to the next */
    struct bin bin[BINS];
    struct bin first; /* gaps with no previous gap */
    bool dated;       /* times are dates */
    struct time_zone *zone;
    size_t wide; /* gaps of train, at even steps of their order */
    double wide_gap[PAST_LAW];
};

/* ---- Bins ---------------------------------------------------------------------------------------- */

/* The number of the n sorted values that are below y, or at most y. */
static size_t count_below(const double *x, size_t n, double y, int or_equal)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (or_equal ? x[mid] <= y : x[mid] < y)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Edges at order statistics about sqrt(n) gaps apart, each the first of its value: an atom has its own cell or starts
   one. The last cell includes the largest gap. */
static void make_histogram(struct bin *bin)
{
    size_t n = bin->n, want = (size_t)sqrt((double)n), cells = 0, from = 0;
    if (want > CELLS_MOST) want = CELLS_MOST;
    if (want < 1) want = 1;
    bin->edge[0] = bin->x[0];
    for (size_t c = 1; c <= want; c++) {
        double edge = c == want ? bin->x[n - 1] : bin->x[c * n / want];
        if (!(edge > bin->edge[cells])) continue;
        size_t to = c == want ? n : count_below(bin->x, n, edge, 0);
        bin->height[cells] = (double)(to - from) / (double)n / (edge - bin->edge[cells]);
        bin->edge[++cells] = edge;
        from = to;
    }
    if (cells && from < n) /* an atom at the end */
        bin->height[cells - 1] += (double)(n - from) / (double)n / (bin->edge[cells] - bin->edge[cells - 1]);
    bin->cells = cells;
}

/* x and sum have room for n and n + 1 elements. x holds the gaps. */
static void make_bin(struct bin *bin, double *x, double *sum, size_t n)
{
    struct sum total = {0};
    smurf_sort(x, n);
    for (size_t i = 0; i < n; i++) {
        sum[i] = smurf_sum_value(&total);
        smurf_sum_add(&total, x[i]);
    }
    sum[n] = smurf_sum_value(&total);
    *bin = (struct bin){.x = x, .sum = sum, .n = n, .spread = smurf_sorted_spread(x, n), .mean = sum[n] / (double)n};
    smurf_empirical(&bin->empirical, x, n);
    make_histogram(bin);
}

/* ---- The distribution ---------------------------------------------------------------------------- */

static struct dist inner(const struct bin *bin)
{
    struct empirical out;
    struct dist dist = smurf_empirical(&out, bin->x, bin->n);
    dist.self = &bin->empirical;
    return dist;
}

static void bin_cdf(const void *self, const double *in, double *out, size_t n)
{
    struct dist dist = inner(self);
    dist.class->cdf(dist.self, in, out, n);
}

static void bin_quantile(const void *self, const double *in, double *out, size_t n)
{
    struct dist dist = inner(self);
    dist.class->quantile(dist.self, in, out, n);
}

static double density_at(const struct bin *bin, double x)
{
    if (isnan(x)) return NAN;
    if (x < 0) return 0;
    double share = 1 / ((double)bin->n + 1), mean = bin->mean > 0 ? bin->mean : 1, height = 0;
    if (bin->cells > 0 && x >= bin->edge[0] && x <= bin->edge[bin->cells]) {
        size_t cell = count_below(bin->edge, bin->cells, x, 1) - 1;
        height = bin->height[cell];
    }
    return (1 - share) * height + share * exp(-x / mean) / mean;
}

static void bin_density(const void *self, const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = density_at(self, in[i]);
}

/* Evenly spaced order statistics; enough for means and plots. */
static size_t bin_knots(const void *self, double *out)
{
    const struct bin *bin = self;
    size_t steps = bin->n - 1 < KNOTS_MOST - 1 ? bin->n - 1 : KNOTS_MOST - 1, count = 1;
    out[0] = bin->x[0];
    for (size_t s = 1; s <= steps; s++) {
        double x = bin->x[s * (bin->n - 1) / steps];
        if (x > out[count - 1]) out[count++] = x;
    }
    if (count == 1) out[count++] = nextafter(out[0], INFINITY);
    return count;
}

static double bin_mean(const void *self)
{
    return ((const struct bin *)self)->mean;
}

static double bin_crps(const void *self, double gap)
{
    const struct bin *bin = self;
    if (isnan(gap)) return NAN;
    size_t k = count_below(bin->x, bin->n, gap, 0);
    double n = (double)bin->n, below = gap * (double)k - bin->sum[k];
    double above = bin->sum[bin->n] - bin->sum[k] - gap * (n - (double)k);
    return (below + above) / n - bin->spread;
}

static const struct dist_class bin_class = {
    "train gaps", bin_cdf, bin_density, bin_quantile, bin_knots, bin_mean, bin_crps,
};

double smurf_naive_spread(const struct dist *dist)
{
    return dist->class == &bin_class ? ((const struct bin *)dist->self)->spread : NAN;
}

/* ---- Fitting ------------------------------------------------------------------------------------- */

/* The mean of the up to 8 gaps that end with event `row`; NaN if there are none. */
static double recent_mean(const smurf_sequence *s, size_t row)
{
    size_t gaps = row < RECENT ? row : RECENT;
    return gaps ? (s->time[row] - s->time[row - gaps]) / (double)gaps : NAN;
}

static size_t bin_of(const struct naive *naive, double mean)
{
    return count_below(naive->edge, naive->bins - 1, mean, 1);
}

/* The scored gaps of train, and the recent mean before each. */
static void collect(const smurf_data *train, double *gap, double *mean)
{
    size_t n = 0;
    for (size_t i = 0; i < train->sequences; i++) {
        const smurf_sequence *s = &train->sequence[i];
        for (size_t j = s->first; j < s->length; j++, n++) {
            gap[n] = s->time[j] - s->time[j - 1];
            mean[n] = recent_mean(s, j - 1);
        }
    }
}

/* Edges at every N/bins-th of the N sorted means that exist. room: (n). */
static void place_edges(struct naive *naive, const double *mean, size_t n, double *room)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(mean[i])) room[known++] = mean[i];
    smurf_sort(room, known);
    naive->bins = n < FEW ? BINS_FEW : BINS;
    for (size_t b = 1; b < naive->bins; b++) naive->edge[b - 1] = known ? room[known * b / naive->bins] : INFINITY;
}

/* Distributes the gaps over the bins. A bin left empty by equal means gets the marginal law; it is used only if an edge
   lies between. */
static void fill_bins(struct naive *naive, const double *gap, const double *mean, size_t n)
{
    size_t count[BINS + 1] = {0}, at[BINS + 1], start = n;
    for (size_t i = 0; i < n; i++) count[isnan(mean[i]) ? naive->bins : bin_of(naive, mean[i])]++;
    for (size_t b = 0; b <= naive->bins; b++) {
        at[b] = start;
        start += count[b];
    }
    for (size_t i = 0; i < n; i++) naive->x[at[isnan(mean[i]) ? naive->bins : bin_of(naive, mean[i])]++] = gap[i];
    for (size_t b = 0; b <= naive->bins; b++) {
        struct bin *bin = b < naive->bins ? &naive->bin[b] : &naive->first;
        size_t from = at[b] - count[b];
        if (count[b])
            make_bin(bin, naive->x + from, naive->sum + from + 1 + b, count[b]);
        else
            *bin = naive->marginal;
    }
}

size_t smurf_naive_bins(const struct naive *naive, const double **edge)
{
    *edge = naive->edge;
    return naive->bins;
}

size_t smurf_naive_gaps(const struct naive *naive, size_t bin, double *out)
{
    const struct bin *b = bin == SIZE_MAX ? &naive->marginal : bin < naive->bins ? &naive->bin[bin] : &naive->first;
    size_t n = b->n < PAST_LAW ? b->n : PAST_LAW;
    for (size_t i = 0; i < n; i++) out[i] = b->x[(2 * i + 1) * b->n / (2 * n)];
    return n;
}

static smurf_status fit(struct naive *naive, const smurf_data *train, size_t n, smurf_error *err)
{
    double *gap = malloc(n * sizeof *gap), *mean = malloc(n * sizeof *mean);
    naive->x = malloc(2 * n * sizeof *naive->x);
    naive->sum = malloc((2 * n + BINS + 2) * sizeof *naive->sum);
    smurf_status status = SMURF_OK;
    if (gap && mean && naive->x && naive->sum) {
        collect(train, gap, mean);
        place_edges(naive, mean, n, naive->x);
        memcpy(naive->x, gap, n * sizeof *gap);
        make_bin(&naive->marginal, naive->x, naive->sum, n);
        fill_bins(naive, gap, mean, n);
        naive->wide = smurf_naive_gaps(naive, SIZE_MAX, naive->wide_gap);
    } else {
        status = smurf_fail_memory(err);
    }
    free(gap);
    free(mean);
    return status;
}

smurf_status smurf_naive_new(struct naive **out, const smurf_data *train, smurf_error *err)
{
    *out = NULL;
    size_t n = smurf_data_gaps(train);
    if (n == 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%s' has no gaps: it needs sequences of two events or more",
                          train->source);
    struct naive *naive = calloc(1, sizeof *naive);
    if (!naive) return smurf_fail_memory(err);
    smurf_status status = fit(naive, train, n, err);
    naive->dated = train->calendar;
    if (!status && train->calendar && train->reading.timezone)
        status = smurf_time_zone_open(&naive->zone, train->reading.timezone, err);
    if (status) {
        smurf_naive_free(naive);
        return status;
    }
    *out = naive;
    return SMURF_OK;
}

void smurf_naive_free(struct naive *naive)
{
    if (!naive) return;
    free(naive->x);
    free(naive->sum);
    smurf_time_zone_free(naive->zone);
    free(naive);
}

/* ---- Predictors ---------------------------------------------------------------------------------- */

struct naive_workspace {
    smurf_sequence sequence;
};

static void *workspace_new(const void *self, size_t events, struct stop *stop)
{
    (void)stop;
    (void)self, (void)events;
    return calloc(1, sizeof(struct naive_workspace));
}

static void read_sequence(const void *self, void *workspace, const smurf_sequence *sequence)
{
    (void)self;
    ((struct naive_workspace *)workspace)->sequence = *sequence;
}

static struct dist marginal_dist(const void *self, void *workspace, size_t row, int raw)
{
    (void)workspace, (void)row, (void)raw;
    return (struct dist){&bin_class, &((const struct naive *)self)->marginal};
}

static struct dist recent_dist(const void *self, void *workspace, size_t row, int raw)
{
    (void)raw;
    const struct naive *naive = self;
    double mean = recent_mean(&((const struct naive_workspace *)workspace)->sequence, row);
    return (struct dist){&bin_class, isnan(mean) ? &naive->first : &naive->bin[bin_of(naive, mean)]};
}

static const struct predictor_class marginal_class = {
    "marginal", workspace_new, free, read_sequence, marginal_dist, NULL, NULL, NULL, NULL, NULL, NULL,
};
static const struct predictor_class recent_class = {
    "recent", workspace_new, free, read_sequence, recent_dist, NULL, NULL, NULL, NULL, NULL, NULL,
};

struct predictor smurf_naive_marginal(const struct naive *naive)
{
    return (struct predictor){&marginal_class, naive, 0};
}

struct predictor smurf_naive_recent(const struct naive *naive)
{
    return (struct predictor){&recent_class, naive, 0};
}

/* ---- Laws that follow the sequence --------------------------------------------------------------- */

struct past_workspace {
    const smurf_sequence *sequence;
    struct past past; /* of the events before `read` */
    size_t read;
    double x[PAST_LAW], sum[PAST_LAW + 1];
    struct bin bin;
};

static void *past_new(const void *self, size_t events, struct stop *stop)
{
    (void)events, (void)stop;
    const struct naive *naive = self;
    struct past_workspace *w = calloc(1, sizeof *w);
    if (w) smurf_past_init(&w->past, naive->dated, naive->zone);
    return w;
}

static void past_free(void *workspace)
{
    struct past_workspace *w = workspace;
    if (w) smurf_past_release(&w->past);
    free(w);
}

static void past_read(const void *self, void *workspace, const smurf_sequence *sequence)
{
    (void)self;
    struct past_workspace *w = workspace;
    w->sequence = sequence;
    w->read = 0;
    smurf_past_clear(&w->past, sequence->origin);
}

/* No memory for the gaps of an hour: those of all hours are used, and less is known. */
static const struct past *past_at(struct past_workspace *w, size_t row)
{
    if (w->read > row + 1) past_read(NULL, w, w->sequence);
    for (; w->read <= row; w->read++) smurf_past_push(&w->past, w->sequence->time[w->read]);
    return &w->past;
}

static struct dist same_hour_dist(const void *self, void *workspace, size_t row, int raw)
{
    (void)raw;
    const struct naive *naive = self;
    struct past_workspace *w = workspace;
    size_t n = smurf_past_same_hour(past_at(w, row), naive->wide_gap, naive->wide, w->x);
    make_bin(&w->bin, w->x, w->sum, n);
    return (struct dist){&bin_class, &w->bin};
}

static struct dist last_dist(const void *self, void *workspace, size_t row, int raw)
{
    (void)raw;
    const struct naive *naive = self;
    struct past_workspace *w = workspace;
    size_t n = smurf_past_last(past_at(w, row), naive->wide_gap, naive->wide, w->x);
    make_bin(&w->bin, w->x, w->sum, n);
    return (struct dist){&bin_class, &w->bin};
}

static const struct predictor_class same_hour_class = {
    "same hour", past_new, past_free, past_read, same_hour_dist, NULL, NULL, NULL, NULL, NULL, NULL,
};
static const struct predictor_class last_class = {
    "last 100", past_new, past_free, past_read, last_dist, NULL, NULL, NULL, NULL, NULL, NULL,
};

bool smurf_naive_is_dated(const struct naive *naive)
{
    return naive->dated;
}

struct predictor smurf_naive_same_hour(const struct naive *naive)
{
    return (struct predictor){&same_hour_class, naive, 0};
}

struct predictor smurf_naive_last(const struct naive *naive)
{
    return (struct predictor){&last_class, naive, 0};
}
