/*
 * lanes.h - code that one warp runs together, or one thread of the host.
 *
 * The headers *_lanes.h of this directory are written once, in the C that C and CUDA share. A law belongs to LANES
 * lanes: 32 in a kernel, one on the host, where the same formulas are tested without a GPU. All lanes call every
 * function, and values that the text calls common are the same in all of them. What one lane writes, others read after
 * lanes_meet().
 */
#ifndef SMURF_CUDA_LANES_H
#define SMURF_CUDA_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__

enum { LANES = 32 };
#define LANES_CODE static __device__ __forceinline__
#define LANES_CALL static __device__ __noinline__
/* Before a loop in which lanes meet or one lane writes: not unrolled. Unrolled, such loops are mistranslated by
   ptxas 13.0 (addresses of later turns are off by one), and the code would not fit into the cache of instructions. */
#define LANES_LOOP _Pragma("unroll 1")
#define LANES_ALL  0xffffffffu

LANES_CODE int lane_id(void)
{
    return (int)(threadIdx.x % LANES);
}

LANES_CODE void lanes_meet(void)
{
    __syncwarp();
}

/* The sum over groups of `width` lanes, a power of two: the same bits in all of them. */
LANES_CODE double lanes_sum(double value, int width)
{
    for (int k = 1; k < width; k *= 2) value += __shfl_xor_sync(LANES_ALL, value, k);
    return value;
}

LANES_CODE double lanes_max(double value)
{
    for (int k = 1; k < LANES; k *= 2) value = fmax(value, __shfl_xor_sync(LANES_ALL, value, k));
    return value;
}

LANES_CODE bool lanes_any(bool value)
{
    return __any_sync(LANES_ALL, value);
}

/* How many lanes before this one say so; *all: how many in total. */
LANES_CODE int lanes_before(bool value, int *all)
{
    unsigned said = __ballot_sync(LANES_ALL, value);
    *all = __popc(said);
    return __popc(said & ((1u << lane_id()) - 1));
}

/* The largest of the values of this lane and those before it; *last: of all. */
LANES_CODE double lanes_running_max(double value, double *last)
{
    for (int k = 1; k < LANES; k *= 2) {
        double other = __shfl_up_sync(LANES_ALL, value, k);
        if (lane_id() >= k) value = fmax(value, other);
    }
    *last = __shfl_sync(LANES_ALL, value, LANES - 1);
    return value;
}

/* The sum of the values of the lanes before this one; *all: of all. */
LANES_CODE int lanes_running_sum(int value, int *all)
{
    int sum = value;
    for (int k = 1; k < LANES; k *= 2) {
        int other = __shfl_up_sync(LANES_ALL, sum, k);
        if (lane_id() >= k) sum += other;
    }
    *all = __shfl_sync(LANES_ALL, sum, LANES - 1);
    return sum - value;
}

#elif defined(LANES_TEST)

#include LANES_TEST /* 32 lanes on the host, for tests */

#else

enum { LANES = 1 };
#define LANES_CODE static inline
#define LANES_CALL static inline
#define LANES_LOOP

LANES_CODE int lane_id(void)
{
    return 0;
}

LANES_CODE void lanes_meet(void) {}

LANES_CODE double lanes_sum(double value, int width)
{
    (void)width;
    return value;
}

LANES_CODE double lanes_max(double value)
{
    return value;
}

LANES_CODE bool lanes_any(bool value)
{
    return value;
}

LANES_CODE int lanes_before(bool value, int *all)
{
    *all = value;
    return 0;
}

LANES_CODE double lanes_running_max(double value, double *last)
{
    *last = value;
    return value;
}

LANES_CODE int lanes_running_sum(int value, int *all)
{
    *all = value;
    return 0;
}

#endif

/* Lanes that share one of the last n < LANES items: a power of two. */
LANES_CODE int lanes_split(int n)
{
    int split = 1;
    while (2 * split * n <= LANES) split *= 2;
    return split;
}

#endif
