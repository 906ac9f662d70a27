/*
 * walk_lanes.h - the walk of one draw, as law/walk.c and law/langevin.c walk many: one lane each, alone.
 *
 * Words, places and steps are those of the processor, rounded to float in the same places; normals differ from its
 * libm's by rounding. Box-Muller takes ln(1 + m) by a polynomial in m / (2 + m), and sine and cosine of the angle, a
 * 32-bit fraction of a turn, within an eighth of a turn of the quarter that its first bits name.
 */
#ifndef SMURF_CUDA_WALK_LANES_H
#define SMURF_CUDA_WALK_LANES_H

#include "cuda/cells_lanes.h"

#include <float.h>

#define WALK_FAR_AWAY 1e18f /* as in law/walk.h */

/* What the draws of a law have in common, common to a block. */
struct walk_plan {
    uint64_t seed, steps, every;           /* every > 0 */
    double step, start[2], floor, denoise; /* floor: of t; -INFINITY: none */
};

struct walk_law {
    double origin, width;
    float last; /* place of the last cell's middle */
    float drift, noise, floor;
};

LANES_CODE float walk_bits(uint32_t bits)
{
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

LANES_CODE uint32_t walk_bits_of(float x)
{
#ifdef __CUDACC__
    return __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

/* The four words of smurf_philox(seed, stream, counter). */
LANES_CODE void walk_philox(uint64_t seed, uint64_t stream, uint32_t low, uint32_t high, uint32_t word[4])
{
    uint32_t x = low, y = high, z = (uint32_t)stream, w = (uint32_t)(stream >> 32);
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
        uint64_t a = (uint64_t)x * 0xd2511f53u, b = (uint64_t)z * 0xcd9e8d57u;
        x = (uint32_t)(b >> 32) ^ y ^ key0;
        z = (uint32_t)(a >> 32) ^ w ^ key1;
        y = (uint32_t)b;
        w = (uint32_t)a;
    }
    word[0] = x, word[1] = y, word[2] = z, word[3] = w;
}

/* sqrt(-2 ln u), u = (k + 1/2) / 2^23 of the word's first bits: u is a normal float, below 1. */
LANES_CODE float walk_radius(uint32_t word)
{
    float u = ((float)(int32_t)(word >> 9) + 0.5f) * 0x1p-23f;
    const int32_t root_half = 0x3f3504f3; /* the bits of sqrt(1/2) */
    int32_t bits = (int32_t)(walk_bits_of(u) - (uint32_t)root_half);
    float n = (float)(bits >> 23), m = walk_bits((uint32_t)((bits & 0x7fffff) + root_half)) - 1;
#ifdef __CUDACC__
    float s = __fdividef(m, 2 + m);
#else
    float s = m / (2 + m);
#endif
    float t = s * s, r = t * (0.66666666f + t * (0.40000042f + t * (0.28563526f + t * 0.2332f)));
    float log_u = n * 0.69314718f + (m - s * (m - r)), square = -2 * log_u;
#ifdef __CUDACC__
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
#else
    return sqrtf(square);
#endif
}

/* Cosine and sine of pi angle / 2^31. */
LANES_CODE void walk_circle(uint32_t angle, float *cosine, float *sine)
{
    uint32_t turned = angle + 0x20000000u; /* quarter turns begin at its multiples of 2^30 */
    float x = (float)((int32_t)(turned & 0x3fffffffu) - 0x20000000) * (float)(3.14159265358979323846 * 0x1p-31);
    float t = x * x;
    float s = x + x * t * (-0.16666654611f + t * (8.3321608736e-3f + t * -1.9515295891e-4f));
    float c = 1 - 0.5f * t + t * t * (4.166664568298827e-2f + t * (-1.388731625493765e-3f + t * 2.443315711809948e-5f));
    bool odd = turned & 0x40000000u;
    float a = odd ? s : c, b = odd ? c : s; /* by quarter: (c, s), (-s, c), (-c, -s), (s, -c) */
    *cosine = walk_bits(walk_bits_of(a) ^ ((turned ^ (turned << 1)) & 0x80000000u));
    *sine = walk_bits(walk_bits_of(b) ^ (turned & 0x80000000u));
}

/* The normals of steps 4 block .. 4 block + 3. */
LANES_CODE void walk_normals(uint64_t seed, uint64_t stream, uint32_t draw, uint32_t block, float z[4])
{
    uint32_t word[4];
    float radius, cosine, sine;
    walk_philox(seed, stream, block + 1, draw, word);
    radius = walk_radius(word[0]);
    walk_circle(word[1], &cosine, &sine);
    z[0] = radius * cosine, z[1] = radius * sine;
    radius = walk_radius(word[2]);
    walk_circle(word[3], &cosine, &sine);
    z[2] = radius * cosine, z[3] = radius * sine;
}

/* ---- The law of a walk ----------------------------------------------------------------------------------------- */

LANES_CODE double walk_into(bool mirror, double t)
{
    return mirror ? log(t) : t;
}

LANES_CODE float walk_near(double place)
{
    return (float)fmax(fmin(place, (double)WALK_FAR_AWAY), -(double)WALK_FAR_AWAY);
}

/* As floor_place in law/langevin.c. */
LANES_CODE float walk_floor(const struct cells_table *table, double floor)
{
    if (floor == -INFINITY) return -2 * WALK_FAR_AWAY;
    float u = walk_near((floor - table->origin) / table->width);
    for (float slack = 1e-7f; table->origin + table->width * (double)u <= floor && u < WALK_FAR_AWAY; slack *= 2)
        u += slack * fmaxf(1, fabsf(u));
    return u;
}

LANES_CODE struct walk_law walk_law_of(const struct cells_table *table, const struct walk_plan *plan, bool mirror)
{
    struct walk_law law;
    law.origin = table->origin;
    law.width = table->width;
    law.last = (float)table->cells + 1.5f;
    law.drift = (float)fmin(plan->step / (2 * table->width), (double)WALK_FAR_AWAY);
    law.noise = (float)fmin(sqrt(plan->step) / table->width, (double)WALK_FAR_AWAY);
    law.floor = walk_floor(table, walk_into(mirror, plan->floor));
    return law;
}

/* ---- A draw ---------------------------------------------------------------------------------------------------- */

LANES_CODE double walk_start(const struct walk_plan *plan, uint64_t stream, uint32_t draw)
{
    uint32_t word[4];
    walk_philox(plan->seed, stream, 0, draw, word);
    uint64_t bits = (uint64_t)word[1] << 32 | word[0];
    double unit = ((double)(bits >> 12) + 0.5) * 0x1p-52;
    double t = plan->start[0] + (plan->start[1] - plan->start[0]) * unit;
    return t <= plan->floor ? nextafter(plan->floor, (double)INFINITY) : t;
}

LANES_CODE float walk_place(const struct walk_law *law, bool mirror, double t)
{
    float u = walk_near((walk_into(mirror, t) - law->origin) / law->width);
    return u <= law->floor ? nextafterf(law->floor, INFINITY) : u;
}

/* A step where the table defers to the law. */
LANES_CALL float walk_directly(struct walk_law law, struct units units, float z, float u)
{
    double score = units_score(&units, law.origin + law.width * (double)u, 1);
    double to = (double)u + (double)law.drift * score + (double)(law.noise * z);
    if (!isfinite(to)) return u;
    float place = walk_near(to);
    return place > law.floor ? place : u;
}

/* One step. c: the cubics. */
LANES_CODE float walk_step(const struct walk_law *law, const struct units *units, const float *c, float z, float u)
{
    float at = fminf(fmaxf(u, 0), law->last);
#ifdef __CUDACC__
    float whole = __fadd_rd(at, 8388608.0f); /* k, in the low bits */
    float f = at - (whole - 8388608.0f);
    float4 cubic = *(const float4 *)(c + 4 * (__float_as_uint(whole) & 0x7fffffu));
    float c0 = cubic.x, c1 = cubic.y, c2 = cubic.z, c3 = cubic.w;
#else
    int32_t k = (int32_t)at;
    float f = at - (float)k, c0 = c[4 * k], c1 = c[4 * k + 1], c2 = c[4 * k + 2], c3 = c[4 * k + 3];
#endif
    if (c0 >= CELLS_DIRECT) return walk_directly(*law, *units, z, u);
    float score = c0 + f * (c1 + f * (c2 + f * c3));
    float to = u + law->drift * score + law->noise * z;
    to = fminf(fmaxf(to, -WALK_FAR_AWAY), WALK_FAR_AWAY);
    return to <= law->floor ? u : to;
}

/* The gap at place u, after Tweedie's step. */
LANES_CODE double walk_end(const struct walk_plan *plan, const struct walk_law *law, const struct units *units, float u)
{
    double t = law->origin + law->width * (double)u;
    if (units->mirror) t = fmin(fmax(exp(t), DBL_MIN), DBL_MAX);
    if (!(plan->denoise > 0)) return t;
    double to = t + plan->denoise * plan->denoise * units_plain_score(*units, t, 1);
    return isfinite(to) && to > plan->floor ? to : t;
}

/* The draw's places at its looks, after every `every` steps: out[k * stride]. */
LANES_CODE void walk_draw(const struct walk_plan *plan, const struct walk_law *law, const struct units *units,
                          const float *c, uint64_t stream, uint32_t draw, double *out, uint64_t stride)
{
    uint64_t looks = plan->steps / plan->every, s = 0;
    float z[4] = {0, 0, 0, 0}, u = walk_place(law, units->mirror, walk_start(plan, stream, draw));
    for (uint64_t k = 0; k < looks; k++) {
        uint64_t to = k + 1 < looks ? (k + 1) * plan->every : plan->steps;
        for (; s % 4 && s < to; s++) { /* z is there from before the look */
            float at = s % 4 == 1 ? z[1] : s % 4 == 2 ? z[2] : z[3];
            u = walk_step(law, units, c, at, u);
        }
        for (; s + 4 <= to; s += 4) {
            walk_normals(plan->seed, stream, draw, (uint32_t)(s / 4), z);
            u = walk_step(law, units, c, z[0], u);
            u = walk_step(law, units, c, z[1], u);
            u = walk_step(law, units, c, z[2], u);
            u = walk_step(law, units, c, z[3], u);
        }
        if (s < to) walk_normals(plan->seed, stream, draw, (uint32_t)(s / 4), z);
        for (; s < to; s++) u = walk_step(law, units, c, s % 4 == 0 ? z[0] : s % 4 == 1 ? z[1] : z[2], u);
        out[k * stride] = walk_end(plan, law, units, u);
    }
}

#endif
