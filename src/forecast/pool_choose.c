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
 * exceeds its standard error over sequences or, of few, blocks of time; else it would be noise as likely as not. A law
 * is used whatever its gain where the gaps also selected the model's epoch, which makes the model look better than it
 * is: of two laws that are about as good, a pool is better than either.
 */
#include "forecast/pool_fit.h"

#include "law/blend.h"

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

static struct pool_choice choose(const struct kind *k, const struct pool_scores *s, bool any_gain)
{
    struct pool_choice out = best_of(k, s, NONE);
    double error, mean = 0;
    out.gain = cross_fitted(k, s, &error);
    for (size_t i = 0; i < s->n; i++) mean += out.which ? k->score(s, out.which, 0, i) / (double)s->n : 0;
    out.mean = mean;
    bool used = any_gain ? isfinite(error) : out.gain > error;
    if (!used || !(out.weight >= least)) out.which = 0;
    return out;
}

/* ---- Weights that follow ---------------------------------------------------------------------- */

static double follow_loss(const struct pool_scores *s, const struct pool_choice *types, double rate)
{
    struct blend blend;
    unsigned there = 1;
    double loss = 0;
    for (int k = 1; k < POOL_TYPES; k++)
        if (s->naive_share[k]) there |= 1u << k;
    smurf_blend_init(&blend, rate, there);
    for (size_t i = 0; i < s->n; i++) {
        double share[BLEND_LAWS] = {s->share[i]}, p = 0;
        if (isnan(share[0])) continue;
        if (types->which) share[0] = exp(-surprise_at(s, types->which, types->weight, i));
        for (int k = 1; k < POOL_TYPES; k++) share[k] = s->naive_share[k] ? s->naive_share[k][i] : 0;
        for (int k = 0; k < BLEND_LAWS; k++) p += blend.weight[k] * share[k];
        loss -= log(fmax(p, share_least));
        smurf_blend_see(&blend, share);
    }
    return loss;
}

double smurf_pool_choose_follow(const struct pool_scores *s, const struct pool_choice *types)
{
    static const double rate[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05};
    double best = rate[0], least_loss = INFINITY;
    for (size_t i = 0; i < sizeof rate / sizeof *rate; i++) {
        double loss = follow_loss(s, types, rate[i]);
        if (!(loss < least_loss)) continue;
        least_loss = loss;
        best = rate[i];
    }
    return best / (double)s->stride; /* shares move between laws at a rate per event, not per gap that is scored */
}

struct pool_choice smurf_pool_choose_law(const struct pool_scores *scores)
{
    const struct kind laws = {POOL_LAWS, scores->naive, crps_at, fit_law};
    return choose(&laws, scores, scores->selected);
}

struct pool_choice smurf_pool_choose_types(const struct pool_scores *scores)
{
    const struct kind types = {POOL_TYPES, scores->naive_share, surprise_at, fit_types};
    return choose(&types, scores, false);
}
