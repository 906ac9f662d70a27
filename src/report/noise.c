/*
 * noise.c - see noise.h.
 *
 * Limit of CS: 1.761 sqrt(mean q (1 - q) / n), q = 0.50 .. 0.95. The shares of a true law are a Brownian bridge, and
 * 1.761 is the 95% quantile of the root mean square of the bridge, relative to its mean square.
 *
 * Paired interval: mean ± t sqrt(B / (B - 1) sum_b (s_b - mean n_b)^2) / n, for B blocks with sums s_b of n_b
 * differences each, and t the 95% quantile of Student's law with B - 1 degrees of freedom.
 */
#include "report/noise.h"

#include "eval/bootstrap.h"

#include <math.h>

/* Sums the probabilities, as logarithms: P(0) may be too small for a double. */
static struct span exact(size_t n, double p)
{
    struct span span = {0, 1};
    double odds = log(p) - log1p(-p), log_share = (double)n * log1p(-p), sum = 0;
    int below = 1;
    for (size_t k = 0; k <= n; k++) {
        sum += exp(log_share);
        if (below && sum >= 0.025) span.low = (double)k / (double)n, below = 0;
        if (sum >= 0.975) {
            span.high = (double)k / (double)n;
            break;
        }
        log_share += odds + log((double)(n - k)) - log((double)(k + 1));
    }
    return span;
}

struct span smurf_binomial_span(size_t n, double p)
{
    if (n == 0 || !(p > 0 && p < 1)) return (struct span){p > 0 ? p : 0, p > 0 ? p : 0};
    double variance = (double)n * p * (1 - p);
    if (variance < 1000) return exact(n, p);
    double half = 1.959963984540054 * sqrt(variance) / (double)n;
    return (struct span){p - half, p + half};
}

double smurf_calibration_limit(double inverse)
{
    double sum = 0;
    size_t used = 0;
    for (size_t l = 0; l < SMURF_LEVELS; l++) {
        if (smurf_levels[l] < 0.499) continue;
        sum += smurf_levels[l] * (1 - smurf_levels[l]) * inverse;
        used++;
    }
    return 100 * 1.761 * sqrt(sum / (double)used);
}

double smurf_chi_square_tail(double sum, size_t n)
{
    double spread = 2 / (9 * (double)n);
    return 0.5 * erfc((cbrt(sum / (double)n) - (1 - spread)) / sqrt(2 * spread));
}

/* ---- Paired differences ------------------------------------------------------------------------- */

enum { UNITS_LEAST = 20, BLOCKS = 50, BLOCKS_LEAST = 5 };

static size_t count_units(const unsigned *unit, size_t n)
{
    size_t count = n > 0;
    for (size_t i = 1; unit && i < n; i++) count += unit[i] != unit[i - 1];
    return count;
}

bool smurf_paired_span(struct span *out, const double *difference, const unsigned *unit, size_t n)
{
    double mean = 0, squares = 0, sum = 0, size = 0;
    size_t units = count_units(unit, n), blocks = n < BLOCKS ? n : BLOCKS;
    bool by_unit = units >= UNITS_LEAST;
    if (by_unit) blocks = units;
    for (size_t i = 0; i < n; i++) mean += difference[i] / (double)n;
    if (!isfinite(mean) || blocks < BLOCKS_LEAST) return false;
    for (size_t i = 0; i < n; i++) {
        sum += difference[i];
        size++;
        bool last = i + 1 == n || (by_unit ? unit[i + 1] != unit[i] : (i + 1) * blocks / n > i * blocks / n);
        if (!last) continue;
        squares += (sum - mean * size) * (sum - mean * size);
        sum = size = 0;
    }
    double half = smurf_student((double)blocks - 1) * sqrt((double)blocks / (double)(blocks - 1) * squares) / (double)n;
    *out = (struct span){mean - half, mean + half};
    return isfinite(half);
}
