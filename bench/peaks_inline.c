/*
 * peaks_inline.c - the functions of op/vector.h over arrays, for peaks.c; compiled with the flags of the loops that use
 * them.
 */
#include "peaks.h"

#include "base/clones.h"
#include "op/vector.h"

#define EVALUATE(name, f)                                                                                              \
    OP_CLONES static void name##_loop(size_t n, const float *restrict x, float *restrict y)                            \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++) y[i] = f(x[i]);                                                                 \
    }                                                                                                                  \
    void name(size_t n, const float *x, float *y)                                                                      \
    {                                                                                                                  \
        name##_loop(n, x, y);                                                                                          \
    }
EVALUATE(inline_tanh, vector_tanh)
EVALUATE(inline_exp, vector_exp)
EVALUATE(inline_log, vector_log)
