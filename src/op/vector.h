/*
 * vector.h - exp, log, log1p and tanh of floats, as code that compilers can vectorise.
 *
 * A call to a vector library costs as much as its work: registers are saved around it, and nothing overlaps with it.
 * Inlined, these take half the time. Branch-free, accurate to 4 units in the last place (test/unit_vector.c):
 *
 *     exp    2^n p(r), x = n ln 2 + r, |r| <= ln(2)/2; 0 below -87.3; x is clamped at 88.3
 *     log    n ln 2 + log(1 + m), by s = m / (2 + m), for normal x > 0
 *     log1p  2 atanh(x / (2 + x)), for 0 <= x <= 1
 *     tanh   e / (2 + e), e = e^2x - 1 = (2^n - 1) + 2^n r p(r), 2x = n ln 2 + r
 *
 * The coefficients of p minimise the largest relative error. Sums must be evaluated as written, so do not use this in
 * files compiled with -ffast-math.
 */
#ifndef SMURF_OP_VECTOR_H
#define SMURF_OP_VECTOR_H

#include <stdint.h>
#include <string.h>

#define VECTOR_INLINE static inline __attribute__((always_inline))

VECTOR_INLINE float vector_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

VECTOR_INLINE uint32_t vector_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

VECTOR_INLINE float vector_exp(float x)
{
    const float magic = 12582912; /* 1.5 * 2^23: adding it rounds to an integer, held in the low bits */
    float y = x < -87.3f ? -87.3f : x > 88.3f ? 88.3f : x;
    float rounded = y * 1.44269504f + magic, n = rounded - magic;
    float r = y - n * 0.693359375f + n * 2.12194440e-4f; /* ln 2, in two parts */
    float p = 0.00833336077f + r * 0.00139304355f;
    p = 0.1666666641f + r * (0.0416666338f + r * p);
    p = 1 + r * (1 + r * (0.5f + r * p));
    float power = vector_of_bits(vector_bits(p) + (vector_bits(rounded) << 23));
    return x < -87.3f ? 0 : power;
}

VECTOR_INLINE float vector_log(float x)
{
    const int32_t root_half = 0x3f3504f3; /* the bits of sqrt(1/2) */
    int32_t bits = (int32_t)(vector_bits(x) - (uint32_t)root_half);
    float n = (float)(bits >> 23), m = vector_of_bits((uint32_t)((bits & 0x7fffff) + root_half)) - 1;
    float s = m / (2 + m), t = s * s;
    float r = t * (0.66666666f + t * (0.40000042f + t * (0.28563526f + t * 0.2332f)));
    float value = n * 0.69314718f + (m - s * (m - r));
    return x < 3.4e38f ? value : x; /* infinity and NaN pass through */
}

VECTOR_INLINE float vector_log1p(float x)
{
    float s = x / (2 + x), t = s * s;
    float r = 1 / 7.f + t * (1 / 9.f + t * (1 / 11.f + t * (1 / 13.f + t * (1 / 15.f))));
    return 2 * (s + s * t * (1 / 3.f + t * (0.2f + t * r)));
}

VECTOR_INLINE float vector_tanh(float x)
{
    const float magic = 12582912;
    float y = x < -9.02f ? -9.02f : x > 9.02f ? 9.02f : x;
    float rounded = y * 2.88539008f + magic, n = rounded - magic, r = y + y - n * 0.693147181f;
    float p = 0.0416671571f + r * (0.00836978626f + r * 0.00138887538f);
    p = r * (1 + r * (0.49999998f + r * (0.166664997f + r * p)));
    float power = vector_of_bits((vector_bits(rounded) << 23) + 0x3f800000), e = (power - 1) + power * p;
    return e / (2 + e);
}

#endif
