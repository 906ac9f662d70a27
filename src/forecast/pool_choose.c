/*
 * pool_choose.c - which naive law is pooled with the model's, and in which share.
 *
 * The CRPS of F = (1 - w) A + w B is quadratic in w. With those of A, B and the equal pool as a, b and h, summed over
 * gaps, and c = 2 h - (a + b) / 2 that of the mixed term,
 *
 *     CRPS(w) = (1 - w)^2 a + 2 w (1 - w) c + w^2 b,    w = (a - c) / (a + b - 2 c) at the least.
 *
 * Types: the log score, ln((1 - v) p + v q), at the best v of a grid. A weight of at most MOST leaves every law some of
 * the model's mass, and with it a tail.
 *
 * A choice is judged by cross-fitting: each tenth of the data by what the rest chose. It is used if the mean gain
 * exceeds its standard error over sequences or, of few, blocks of time; else it would be noise as likely as not.
 */
#include "forecast/pool_fit.h"

#include <math.h>

enum { GRID = 19, NONE = -1 };
static const double most = 0.95, least = 0.01, share_least = 1e-12;

/* A score of gap i of candidate `which` with a weight; lower is better. */
typedef double score_fn(const struct pool_scores *s, int which, double weight, size_t i);
/* The best weight for a candidate outside one fold (NONE: on all), and the mean score there. */
typedef double fit_fn(const struct pool_scores *s, int which, int fold, double *weight);

struct kind {
    int candidates;
    double *const *naive; /* NULL: not a candidate */
    score_fn *score;
    fit_fn *fit;
};

/* ---- Gaps ------------------------------------------------------------------------------------ */

static double mixed_crps(double a, double b, double both, double w)
{
    double c = 2 * both - (a + b) / 2;
    return (1 - w) * (1 - w) * a + 2 * w * (1 - w) * c + w * w * b;
}

static double crps_at(const struct pool_scores *s, int which, double w, size_t i)
{
    return mixed_crps(s->crps[i], s->naive[which][i], s->both[which][i], w);
}

static double fit_law(const struct pool_scores *s, int which, int fold, double *weight)
{
    double a = 0, b = 0, both = 0, n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->fold[i] == fold) continue;
        a += s->crps[i], b += s->naive[which][i], both += s->both[which][i], n++;
    }
    double c = 2 * both - (a + b) / 2, curve = a + b - 2 * c;
    *weight = curve > 0 ? fmin(fmax((a - c) / curve, 0), most) : 0;
    return n > 0 ? mixed_crps(a, b, both, *weight) / n : 0;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static double surprise_at(const struct pool_scores *s, int which, double v, size_t i)
{
    if (isnan(s->share[i])) return 0;
    double p = v > 0 ? (1 - v) * s->share[i] + v * s->naive_share[which][i] : s->share[i];
    return -log(fmax(p, share_least));
}

static double fit_types(const struct pool_scores *s, int which, int fold, double *weight)
{
    double best = INFINITY;
    for (int g = 0; g <= GRID; g++) {
        double v = most * g / GRID, sum = 0, n = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->fold[i] != fold) sum += surprise_at(s, which, v, i), n++;
        if (!(sum < best * n)) continue;
        best = sum / n;
        *weight = v;
    }
    return best;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* The best candidate outside one fold. */
static struct pool_choice best_of(const struct kind *k, const struct pool_scores *s, int fold)
{
    struct pool_choice best = {0};
    double least_score = INFINITY;
    for (int which = 1; which < k->candidates; which++) {
        double weight = 0, score = k->naive[which] ? k->fit(s, which, fold, &weight) : INFINITY;
        if (!(score < least_score)) continue;
        least_score = score;
        best = (struct pool_choice){.which = which, .weight = weight};
    }
    return best;
}

/* Mean gain of each fold under the choice of the others, and its standard error over units. */
static double cross_fitted(const struct kind *k, const struct pool_scores *s, double *error)
{
    struct pool_choice other[POOL_FOLDS];
    double sum = 0, squares = 0, cross = 0, counts = 0, all = (double)s->n;
    size_t units = 0;
    *error = INFINITY;
    for (int fold = 0; fold < POOL_FOLDS; fold++) {
        other[fold] = best_of(k, s, fold);
        if (!other[fold].which) return 0;
    }
    for (size_t i = 0, end; i < s->n; i = end, units++) {
        double gain = 0;
        for (end = i; end < s->n && s->unit[end] == s->unit[i]; end++) {
            const struct pool_choice *c = &other[s->fold[end]];
            gain += k->score(s, c->which, 0, end) - k->score(s, c->which, c->weight, end);
        }
        double n = (double)(end - i);
        sum += gain, squares += gain * gain, cross += gain * n, counts += n * n;
    }
    double mean = sum / all, u = (double)units;
    /* sum over units of (gain - n mean)^2 */
    if (units > 1) *error = sqrt(fmax(squares - 2 * mean * cross + mean * mean * counts, 0) * u / (u - 1)) / all;
    return mean;
}

static struct pool_choice choose(const struct kind *k, const struct pool_scores *s)
{
    struct pool_choice out = best_of(k, s, NONE);
    double error, mean = 0;
    out.gain = cross_fitted(k, s, &error);
    for (size_t i = 0; i < s->n; i++) mean += out.which ? k->score(s, out.which, 0, i) / (double)s->n : 0;
    out.mean = mean;
    if (!(out.gain > error) || !(out.weight >= least)) out.which = 0;
    return out;
}

struct pool_choice smurf_pool_choose_law(const struct pool_scores *scores)
{
    const struct kind laws = {POOL_LAWS, scores->naive, crps_at, fit_law};
    return choose(&laws, scores);
}

struct pool_choice smurf_pool_choose_types(const struct pool_scores *scores)
{
    const struct kind types = {POOL_TYPES, scores->naive_share, surprise_at, fit_types};
    return choose(&types, scores);
}
