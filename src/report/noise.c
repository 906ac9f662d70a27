/* noise.c - see noise.h. */
#include "report/noise.h"

#include <math.h>

/* Sums the probabilities, as logarithms: P(0) may be too small for a double. */
static struct span exact(size_t n, double p)
{
    struct span span = {0, 1};
    double odds = log(p) - log1p(-p), log_share = (double)n * log1p(-p), sum = 0;
    int below = 1;
    for (size_t k = 0; k <= n; k++) {
        sum += exp(log_share);
        if (below && sum >= 0.05) span.low = (double)k / (double)n, below = 0;
        if (sum >= 0.95) {
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
    double half = 1.6448536269514722 * sqrt(variance) / (double)n;
    return (struct span){p - half, p + half};
}
