/* special.c - see special.h. Formulas: NIST Digital Library of Mathematical Functions, chapters 7 and 8. */
#include "law/special.h"

#include <float.h>
#include <math.h>

static const double sqrt_half = 0.70710678118654752440;
static const double sqrt_two_over_pi = 0.79788456080286535588;
static const double ln_sqrt_two_pi = 0.91893853320467274178;

/* The normal tail is a continued fraction from here on. */
static const double normal_tail = 4;

/* h(z) - z = 1 / (z + 2 / (z + 3 / (z + ...))) for z >= normal_tail. The error falls like
   exp(-z sqrt(8 terms)). */
static double normal_tail_excess(double z)
{
    double sum = z;
    for (int i = 8 + (int)(400 / (z * z)); i > 1; i--) sum = z + i / sum;
    return 1 / sum;
}

double smurf_normal_hazard(double z)
{
    if (z >= normal_tail) return z + normal_tail_excess(z);
    return sqrt_two_over_pi * exp(-z * z / 2) / erfc(z * sqrt_half);
}

double smurf_normal_hazard_excess(double z)
{
    if (z >= normal_tail) return normal_tail_excess(z);
    return smurf_normal_hazard(z) - z;
}

double smurf_normal_cumulative_hazard(double z)
{
    if (z >= normal_tail) return z * z / 2 + ln_sqrt_two_pi + log(z + normal_tail_excess(z));
    if (z > 0) return -log(erfc(z * sqrt_half) / 2);
    return -log1p(-erfc(-z * sqrt_half) / 2);
}

/* v - ln(1 + v) for 1 + v = x / shape, without cancellation near v = 0: ln(1 + v) = 2 atanh(v / (2 + v)). */
static double log_deficit(double x, double shape)
{
    double v = (x - shape) / shape;
    if (fabs(v) > 0.3) return v - log(x / shape);
    double r = v / (2 + v), square = r * r, sum = 0;
    for (int i = 25; i >= 3; i -= 2) sum = sum * square + 1.0 / i;
    return r * v - 2 * r * square * sum;
}

/* ln(x^shape e^-x / Gamma(shape + 1)). Large shapes use Stirling's series, so that terms of the size of the shape do
   not cancel. */
static double log_prefix(double shape, double x)
{
    if (shape < 15) return shape * log(x) - x - log(tgamma(shape + 1));
    double s = 1 / (shape * shape);
    double stirling = (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / shape;
    return -stirling - shape * log_deficit(x, shape) - ln_sqrt_two_pi - log(shape) / 2;
}

/* P(shape, x) = prefix * (1 + x/(shape+1) + x^2/((shape+1)(shape+2)) + ...) for x < shape + 1. */
static double gamma_body(double shape, double x, double prefix)
{
    double term = 1, sum = 1;
    for (double n = 1; term > sum * (DBL_EPSILON / 8); n++) {
        term *= x / (shape + n);
        sum += term;
    }
    return prefix * sum;
}

/* C in x h(x) = x + 1 - shape - C, the tail of Legendre's continued fraction, for x >= shape + 1:
       C = 1(1-shape) / (x+3-shape - 2(2-shape) / (x+5-shape - 3(3-shape) / ...))
   by Lentz's method. C is also -x (ln h)'. */
static double gamma_tail(double shape, double x)
{
    double b = x + 3 - shape, c = b, d = 0, sum = b;
    for (double n = 2; n < 1e6; n++) {
        double a = -n * (n - shape);
        b += 2;
        d = 1 / (b + a * d);
        c = b + a / c;
        sum *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return (1 - shape) / sum;
}

double smurf_gamma_hazard(double shape, double x)
{
    if (isinf(x)) return 1;
    if (x == 0) return shape == 1 ? 1 : shape > 1 ? 0 : INFINITY;
    if (x >= shape + 1) return (x + 1 - shape - gamma_tail(shape, x)) / x;
    double prefix = exp(log_prefix(shape, x));
    return prefix * shape / x / (1 - gamma_body(shape, x, prefix));
}

/* Q = prefix * shape / (x h). */
double smurf_gamma_cumulative_hazard(double shape, double x)
{
    if (x == 0 || isinf(x)) return x;
    if (x >= shape + 1) return log((x + 1 - shape - gamma_tail(shape, x)) / shape) - log_prefix(shape, x);
    return -log1p(-gamma_body(shape, x, exp(log_prefix(shape, x))));
}

/* h' = h (h + (shape - 1) / x - 1); h is about x^(shape-1) / Gamma(shape) near 0. */
double smurf_gamma_hazard_slope(double shape, double x)
{
    if (shape == 1 || isinf(x)) return 0;
    if (x == 0) return (shape - 1) * pow(0, shape - 2) / tgamma(shape);
    if (x < shape + 1) {
        double h = smurf_gamma_hazard(shape, x);
        return h * (h + (shape - 1) / x - 1);
    }
    double c = gamma_tail(shape, x);
    return -(x + 1 - shape - c) / x * c / x;
}
