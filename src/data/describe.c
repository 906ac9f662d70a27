/*
 * describe.c - the statistics of a data set that `smurf info` shows. The wording is in advice.c.
 *
 * Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan): level p of n values is at rank
 * (n - 1) p. Values are selected in place, not sorted; the only memory used is one array of 8 bytes per gap.
 */
#include "base/error.h"
#include "data/advice.h"
#include "base/sized.h"
#include "data/data.h"
#include "data/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double smurf_quantile_levels[SMURF_QUANTILES] = {0, .01, .05, .25, .5, .75, .95, .99, 1};

/* Moves the k-th smallest of x[low .. high-1] to x[k], with none larger before it and none smaller after it. Hoare's
   selection; the pivot position is scattered so that no input order makes it slow. */
static double select_kth(double *x, size_t low, size_t high, size_t k)
{
    for (uint64_t weyl = 0; high - low > 1;) {
        weyl += 0x9e3779b97f4a7c15;
        double pivot = x[low + (size_t)(weyl >> 11) % (high - low)];
        size_t i = low, j = high - 1;
        for (;;) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        size_t right = i == j ? i + 1 : i; /* x[i .. right-1] is the pivot in its final place */
        if (k < i) {
            high = i;
        } else if (k >= right) {
            low = right;
        } else {
            break;
        }
    }
    return x[k];
}

/* Quantile p of x[0 .. n-1], whose first `done` values are known to be the smallest. NaN if n = 0. */
static double quantile(double *x, size_t done, size_t n, double p)
{
    if (n == 0) return NAN;
    double rank = (double)(n - 1) * p;
    size_t k = (size_t)rank;
    double below = select_kth(x, k < done ? 0 : done, n, k);
    if (rank <= (double)k) return below;
    double above = select_kth(x, k + 1, n, k + 1);
    return below + (above - below) * (rank - (double)k);
}

static void quantiles(double out[SMURF_QUANTILES], double *x, size_t n)
{
    size_t done = 0;
    for (int q = 0; q < SMURF_QUANTILES; q++) {
        out[q] = quantile(x, done, n, smurf_quantile_levels[q]);
        done = n > 0 ? (size_t)((double)(n - 1) * smurf_quantile_levels[q]) : 0;
    }
}

static void mean_and_sd(const double *x, size_t n, double *mean, double *sd)
{
    struct sum sum = {0}, squares = {0};
    for (size_t i = 0; i < n; i++) smurf_sum_add(&sum, x[i]);
    *mean = n > 0 ? smurf_sum_value(&sum) / (double)n : NAN;
    for (size_t i = 0; i < n; i++) smurf_sum_add(&squares, (x[i] - *mean) * (x[i] - *mean));
    *sd = n > 1 ? sqrt(smurf_sum_value(&squares) / (double)(n - 1)) : NAN;
}

/* origin + time, saturating at the limits of 64 bits. */
static smurf_moment moment_at(int64_t origin, double time)
{
    double whole = floor(time);
    smurf_moment m = {.fraction = time - whole};
    if (__builtin_add_overflow(origin, (int64_t)whole, &m.whole)) m.whole = whole < 0 ? INT64_MIN : INT64_MAX;
    return m;
}

static bool is_before(smurf_moment a, smurf_moment b)
{
    return a.whole < b.whole || (a.whole == b.whole && a.fraction < b.fraction);
}

static void count_events(smurf_summary *s, const smurf_data *data)
{
    bool seen = false;
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *q = &data->sequence[i];
        if (!isnan(q->end)) s->windows_known++;
        if (q->length == 0) {
            s->empty_sequences++;
            continue;
        }
        if (q->first > 1) s->history += q->first;
        for (size_t j = q->first > 1 ? q->first : 0; j < q->length; j++) s->type_count[q->type[j]]++;
        smurf_moment from = moment_at(q->origin, q->time[0]), to = moment_at(q->origin, q->time[q->length - 1]);
        if (!seen || is_before(from, s->earliest)) s->earliest = from;
        if (!seen || is_before(s->latest, to)) s->latest = to;
        seen = true;
    }
    for (uint32_t k = 0; k < data->types; k++) s->types_seen += s->type_count[k] > 0;
}

static void describe_lengths(smurf_summary *s, double *x, const smurf_data *data)
{
    for (size_t i = 0; i < data->sequences; i++) x[i] = (double)data->sequence[i].length;
    double sd;
    mean_and_sd(x, data->sequences, &s->length_mean, &sd);
    quantiles(s->length, x, data->sequences);
}

/* The axis spans all but one in 1000 positive gaps at either end, with a small margin if gaps lie beyond, so an outlier
   does not squeeze the rest into a few bins. Its ends are actual gaps, not interpolated: with up to 1000 gaps none lies
   beyond. Reorders x. */
static void choose_axis(smurf_summary *s, double *x, size_t n)
{
    size_t off = (n - 1) / 1000;
    double least = log10(select_kth(x, 0, n, 0)), most = log10(select_kth(x, 0, n, n - 1));
    double low = log10(select_kth(x, 0, n, off)), high = log10(select_kth(x, 0, n, n - 1 - off));
    double air = (high - low) / 20;
    s->bin_low = fmax(least, low - air);
    s->bin_high = fmin(most, high + air);
    if (s->bin_high - s->bin_low < 1e-6) { /* all gaps equal: one decade around them */
        s->bin_low -= .5;
        s->bin_high += .5;
    }
}

static void fill_bins(smurf_summary *s, const double *x, size_t n)
{
    double scale = SMURF_BINS / (s->bin_high - s->bin_low);
    for (size_t i = 0; i < n; i++) {
        double at = log10(x[i]), place = (at - s->bin_low) * scale;
        s->bin_beyond += at < s->bin_low || at > s->bin_high;
        s->bin[place < 1 ? 0 : place >= SMURF_BINS ? SMURF_BINS - 1 : (size_t)place]++;
    }
}

static void describe_gaps(smurf_summary *s, double *x, const smurf_data *data)
{
    size_t n = 0;
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *q = &data->sequence[i];
        for (size_t j = q->first; j < q->length; j++, n++) {
            x[n] = q->time[j] - q->time[j - 1];
            s->ties += x[n] <= 0;
        }
    }
    mean_and_sd(x, n, &s->gap_mean, &s->gap_sd);
    quantiles(s->gap, x, n);
    s->bin_low = s->bin_high = NAN;
    if (s->ties == n) return;
    select_kth(x, 0, n, s->ties); /* ties first, then positive gaps */
    choose_axis(s, x + s->ties, n - s->ties);
    fill_bins(s, x + s->ties, n - s->ties);
}

/* Whether a caller's summary of `size` bytes has this member. */
#define HAS(size, member) ((size) >= offsetof(smurf_summary, member) + sizeof((smurf_summary){0}.member))

smurf_status smurf_data_summarise_sized(smurf_summary *out, size_t size, const smurf_data *data,
                                        const smurf_data *train, smurf_error *err)
{
    smurf_summary s = {.sequences = data->sequences, .events = data->events, .types = data->types};
    smurf_sized_give(out, size, &s, sizeof s);
    s.scored = smurf_data_gaps(data);
    s.type_count = calloc((size_t)data->types + 1, sizeof *s.type_count);
    size_t room = data->events > data->sequences ? data->events : data->sequences;
    double *x = calloc(room + 1, sizeof *x);
    smurf_status status = SMURF_OK;
    if (!s.type_count || !x) {
        status = smurf_fail_memory(err);
        goto done;
    }
    count_events(&s, data);
    describe_lengths(&s, x, data);
    describe_gaps(&s, x, data);
    s.tick = smurf_data_tick(data);
    status = isnan(s.tick) ? smurf_fail_memory(err) : smurf_summary_advise(&s, data, train, err);
done:
    free(x);
    if (status)
        smurf_summary_release(&s);
    else
        smurf_sized_give(out, size, &s, sizeof s);
    if (!status && !HAS(size, type_count)) free(s.type_count);
    if (!status && !HAS(size, warning)) free(s.warning);
    return status;
}

void smurf_summary_release_sized(smurf_summary *summary, size_t size)
{
    if (HAS(size, type_count)) {
        free(summary->type_count);
        summary->type_count = NULL;
    }
    if (HAS(size, warning)) {
        free(summary->warning);
        summary->warning = NULL;
    }
}
