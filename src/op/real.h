/*
 * real.h - math.h functions for the number type of op.h; those of vector.h if SMURF_VECTOR is defined.
 */
#ifndef SMURF_OP_REAL_H
#define SMURF_OP_REAL_H

#include "op/op.h"

#include <math.h>

#if SMURF_REAL == 64
#define exp_real   exp
#define log_real   log
#define log1p_real log1p
#define tanh_real  tanh
#define erf_real   erf
#define sqrt_real  sqrt
#define sin_real   sin
#define cos_real   cos
#define fabs_real  fabs
#else
#ifdef SMURF_VECTOR
#include "op/vector.h"
#define exp_real   vector_exp
#define log_real   vector_log
#define log1p_real vector_log1p /* from 0 to 1 */
#define tanh_real  vector_tanh
#define erf_real   erff
#else
#define exp_real   expf
#define log_real   logf
#define log1p_real log1pf
#define tanh_real  tanhf
#define erf_real   erff
#endif
#define sqrt_real sqrtf
#define sin_real  sinf
#define cos_real  cosf
#define fabs_real fabsf
#endif

#endif
