/*
 * vector_functions.h - the functions that hot loops are made of, compiled as they are there, with doubles at the
 * border. vector_functions.c is compiled for each number type and each generation of processors of base/clones.h.
 */
#ifndef SMURF_TEST_VECTOR_FUNCTIONS_H
#define SMURF_TEST_VECTOR_FUNCTIONS_H

#include <stddef.h>

enum vector_function {
    VECTOR_TANH,
    VECTOR_EXP,
    VECTOR_LOG,
    VECTOR_LOG1P,
    VECTOR_ERF,
    VECTOR_SIN,
    VECTOR_COS,
    VECTOR_SOFTPLUS, /* of training: op/intensity.h */
    VECTOR_LOGISTIC,
    VECTOR_GELU,
    VECTOR_GELU_SLOPE,
    VECTOR_LAW_SOFTPLUS, /* of laws: op/softplus.h; double alone */
    VECTOR_LAW_LOGISTIC,
    VECTOR_FUNCTIONS
};

/* y = f(x), both (n); x must be of the number type. */
typedef void vector_run(const double *x, double *y, size_t n);

extern vector_run *const vector_default_32[VECTOR_FUNCTIONS], *const vector_default_64[VECTOR_FUNCTIONS];
extern vector_run *const vector_v3_32[VECTOR_FUNCTIONS], *const vector_v3_64[VECTOR_FUNCTIONS];
extern vector_run *const vector_v4_32[VECTOR_FUNCTIONS], *const vector_v4_64[VECTOR_FUNCTIONS];
/* By op/vector.h. */
extern vector_run *const vector_inline_default_32[VECTOR_FUNCTIONS], *const vector_inline_v3_32[VECTOR_FUNCTIONS];
extern vector_run *const vector_inline_v4_32[VECTOR_FUNCTIONS];

#endif
