/*
 * peaks.h - what one thread of this machine can do at best: the roofs that ops are measured against.
 */
#ifndef SMURF_BENCH_PEAKS_H
#define SMURF_BENCH_PEAKS_H

#include <stddef.h>

/* Functions that ops evaluate in vectors, by libmvec or op/vector.h, whichever is faster; log stands for log1p as well. */
enum function { TANH, EXP, ERF, LOG, SINE, SINE64, FUNCTIONS };
/* Where arrays lie: by their size. */
enum store { NEAR, SHARED, FAR, STORES };

struct peaks {
    double gflops, small_gflops;  /* sgemm of 1024 x 1024 x 1024; of 36 x 64 x 64, as the maps of the encoder are */
    double per_second[FUNCTIONS]; /* evaluations */
    double bytes[STORES];         /* a second, read and written: y = x - y/2 on two arrays of size[] bytes together */
    size_t size[STORES];
};

extern const char *const function_name[FUNCTIONS];

struct peaks measure_peaks(void);

/* Those of op/vector.h: y = f(x), both (n). */
void inline_tanh(size_t n, const float *x, float *y);
void inline_exp(size_t n, const float *x, float *y);
void inline_log(size_t n, const float *x, float *y);

/* Processor time of the fastest of `rounds` calls, after one to warm up: other work on the machine only ever adds. */
double fastest_of(int rounds, void (*work)(void *), void *data);

#endif
