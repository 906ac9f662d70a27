/*
 * vector_functions.c - see vector_functions.h. Compiled as the hot loops are: with -ffast-math, where the compiler
 * calls the vector functions of libmvec, or with SMURF_VECTOR, where it has those of op/vector.h. VECTOR names the
 * generation of processors that the flags are for.
 */
#include "vector_functions.h"

#define OP_CLONES /* one copy */
#include "op/op.h"
#undef OP /* a copy of our own, beside the library's */
#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#define OP(name)       JOIN(name, VECTOR, SMURF_REAL)

#include "op/activation.c"
#include "op/intensity.h"
#include "op/softplus.h"

enum { BLOCK = 256 };

/* Whole blocks, so that no point is left over to the scalar functions. */
typedef void block_run(const real *restrict x, real *restrict y);

static inline void in_blocks(block_run *f, const double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        real in[BLOCK], out[BLOCK];
        for (size_t k = 0; k < BLOCK; k++) in[k] = (real)x[i + (k < m ? k : 0)];
        f(in, out);
        for (size_t k = 0; k < m; k++) y[i + k] = (double)out[k];
    }
}

#define FUNCTION(name, block)                                                                                          \
    static __attribute__((noinline)) void name##_block(const real *restrict x, real *restrict y)                       \
        block static void name##_run(const double *x, double *y, size_t n)                                             \
    {                                                                                                                  \
        in_blocks(name##_block, x, y, n);                                                                              \
    }
#define LOOP(name, value)                                                                                              \
    FUNCTION(name, {                                                                                                   \
        for (size_t i = 0; i < BLOCK; i++) y[i] = (real)(value);                                                       \
    })

LOOP(tanh, tanh_real(x[i]))
LOOP(exp, exp_real(x[i]))
LOOP(log, log_real(x[i]))
LOOP(log1p, log1p_real(x[i]))
LOOP(erf, erf_real(x[i]))
LOOP(sin, sin_real(x[i]))
LOOP(cos, cos_real(x[i]))
LOOP(softplus, intensity_at(x[i]).lambda)
LOOP(logistic, intensity_at(x[i]).q)
FUNCTION(gelu, { activation_forward(ACTIVATION_GELU, BLOCK, x, y); })
FUNCTION(gelu_slope, {
    real again[BLOCK];
    for (size_t i = 0; i < BLOCK; i++) y[i] = 1;
    activation_backward(ACTIVATION_GELU, BLOCK, x, y, again);
})
#if SMURF_REAL == 64
LOOP(law_softplus, softplus(x[i]))
LOOP(law_logistic, logistic(x[i]))
#endif

vector_run *const OP(vector)[VECTOR_FUNCTIONS] = {
    [VECTOR_TANH] = tanh_run,
    [VECTOR_EXP] = exp_run,
    [VECTOR_LOG] = log_run,
    [VECTOR_LOG1P] = log1p_run,
    [VECTOR_ERF] = erf_run,
    [VECTOR_SIN] = sin_run,
    [VECTOR_COS] = cos_run,
    [VECTOR_SOFTPLUS] = softplus_run,
    [VECTOR_LOGISTIC] = logistic_run,
    [VECTOR_GELU] = gelu_run,
    [VECTOR_GELU_SLOPE] = gelu_slope_run,
#if SMURF_REAL == 64
    [VECTOR_LAW_SOFTPLUS] = law_softplus_run,
    [VECTOR_LAW_LOGISTIC] = law_logistic_run,
#endif
};
