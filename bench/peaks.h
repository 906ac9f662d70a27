/*
 * peaks.h - peak rates of one thread of this machine, which ops are compared with.
 */
#ifndef SMURF_BENCH_PEAKS_H
#define SMURF_BENCH_PEAKS_H

#include <stddef.h>

/* Vector functions of the ops, from libmvec or op/vector.h, whichever is faster; log also stands for log1p. */
enum function { TANH, EXP, ERF, LOG, SINE, SINE64, FUNCTIONS };
/* Levels of memory, by the size of the arrays. */
enum store { NEAR, SHARED, FAR, STORES };

struct peaks {
    double gflops, small_gflops;  /* sgemm of 1024 x 1024 x 1024; of 36 x 64 x 64, like the encoder's maps */
    double per_second[FUNCTIONS]; /* evaluations per second */
    double bytes[STORES];         /* per second, read and written: y = x - y/2 on two arrays of size[] bytes in all */
    size_t size[STORES];
};

extern const char *const function_name[FUNCTIONS];

struct peaks measure_peaks(void);

/* Those of op/vector.h: y = f(x), both (n). */
void inline_tanh(size_t n, const float *x, float *y);
void inline_exp(size_t n, const float *x, float *y);
void inline_log(size_t n, const float *x, float *y);

/* Processor time of the fastest of `rounds` calls, after a warm-up call: other work on the machine only adds. */
double fastest_of(int rounds, void (*work)(void *), void *data);

#endif
