/*
 * mirror.c - Langevin through y = ln t: y has density t p(t), and therefore score t psi(t) + 1.
 *
 * Draws are positive by construction. If p is a density on t > 0, it is the stationary law of the walk, up to eps.
 */
#include "law/langevin.h"
#include "law/score_table.h"

#include <float.h>
#include <math.h>

enum { PIECE = 256 };

/* self: the law of t. */
static void score(const void *self, const double *gap, double *out, size_t n)
{
    double t[PIECE], psi[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        for (size_t i = 0; i < m; i++) t[i] = exp(gap[from + i]);
        smurf_score_everywhere(self, t, psi, m);
        for (size_t i = 0; i < m; i++) out[from + i] = t[i] * psi[i] + 1;
    }
}

static const struct law_class mirrored = {.name = "mirrored", .score = score};

static bool draw(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n)
{
    struct law walked = {.class = &mirrored, .self = law, .types = 1, .lo = -INFINITY, .hi = INFINITY};
    struct langevin langevin = {.law = law, .walked = &walked, .into = log, .back = exp, .floor = 0};
    struct sampler_config positive = *config;
    double least = fmax(1e-6 * fmax(config->start[0], config->start[1]), DBL_MIN);
    for (int i = 0; i < 2; i++) positive.start[i] = fmax(config->start[i], least);
    return smurf_langevin_draw(&langevin, &positive, stream, out, n);
}

const struct sampler_class smurf_sampler_mirror = {
    "mirror", "Langevin steps on the logarithm of the gap, for models in plain or mean time",
    "mirror works on ln gap, which already is this model's axis: use langevin", draw};
