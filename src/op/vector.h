/*
 * vector.h - exp, log, log1p, tanh and erf of floats, as code that compilers make vectors of.
 *
 * A call of a vector library costs as much as the work it does: its registers are saved around it, and nothing runs
 * beside it. Written into the loop, these take half the time. Without branches; within 4 units in the last place where
 * the processor multiplies and adds in one (test/unit_vector.c):
 *
 *     exp    2^n p(r), x = n ln 2 + r, |r| <= ln(2)/2; 0 below -87.3, and as at 88.3 above
 *     log    n ln 2 + log(1 + m), by s = m / (2 + m), for normal x > 0
 *     log1p  2 atanh(x / (2 + x)), for 0 <= x <= 1
 *     tanh   x p(x^2) / q(x^2), |x| cut to where it is 1; erf likewise
 *
 * The coefficients of p and q make the largest relative error smallest. Sums must be taken as they are written: not for
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
    const float magic = 12582912; /* 1.5 * 2^23: added, it rounds to whole numbers, which are then the low bits */
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
    int32_t bits = (int32_t)vector_bits(x) - root_half;
    float n = (float)(bits >> 23), m = vector_of_bits((uint32_t)((bits & 0x7fffff) + root_half)) - 1;
    float s = m / (2 + m), t = s * s;
    float r = t * (0.66666666f + t * (0.40000042f + t * (0.28563526f + t * 0.2332f)));
    return n * 0.69314718f + (m - s * (m - r));
}

VECTOR_INLINE float vector_log1p(float x)
{
    float s = x / (2 + x), t = s * s;
    float r = 1 / 7.f + t * (1 / 9.f + t * (1 / 11.f + t * (1 / 13.f + t * (1 / 15.f))));
    return 2 * (s + s * t * (1 / 3.f + t * (0.2f + t * r)));
}

VECTOR_INLINE float vector_tanh(float x)
{
    float y = x < -9.02f ? -9.02f : x > 9.02f ? 9.02f : x, t = y * y;
    float p = 0.00349409739f + t * (2.05844408e-05f + t * 1.33202738e-08f);
    float q = 0.0258713141f + t * (0.000328319264f + t * 7.76253444e-07f);
    p = 1 + t * (0.13379772f + t * p);
    q = 1 + t * (0.467130929f + t * q);
    return y * p / q;
}

VECTOR_INLINE float vector_erf(float x)
{
    float y = x < -3.93f ? -3.93f : x > 3.93f ? 3.93f : x, t = y * y;
    float p = 0.00377906184f + t * (0.000284791226f + t * 2.04200137e-06f);
    float q = 0.0149963573f + t * (0.00116506976f + t * 3.80034871e-05f);
    p = 1.12837911f + t * (0.190771833f + t * (0.0527886041f + t * p));
    q = 1 + t * (0.502399862f + t * (0.114252448f + t * q));
    return x > 3.9f ? 1 : x < -3.9f ? -1 : y * p / q;
}

#endif
