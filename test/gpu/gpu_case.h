/*
 * gpu_case.h - what the tests on a GPU share: results as TAP, and "skipped: no GPU" elsewhere.
 */
#ifndef SMURF_TEST_GPU_CASE_H
#define SMURF_TEST_GPU_CASE_H

#include "cuda/cuda.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int cases, failures;

static inline void result(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void result(bool ok, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s %d - ", ok ? "ok" : "not ok", ++cases);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
    failures += !ok;
}

/* Ends the program unless there is a card. */
static inline void need_gpu(void)
{
    char name[CUDA_TEXT], why[CUDA_TEXT];
    if (smurf_cuda_device(name, why)) {
        printf("1..0 # SKIP no GPU\nskipped: no GPU (%s)\n", why);
        exit(0);
    }
    printf("# %s\n", name);
}

static inline int finish(void)
{
    printf("1..%d\n", cases);
    return failures > 0;
}

#endif
