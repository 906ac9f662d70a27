/*
 * blas.h - matrix products for both number types, single-threaded: callers parallelise.
 */
#ifndef SMURF_OP_BLAS_H
#define SMURF_OP_BLAS_H

#include "op/op.h"

#include <cblas.h>

#if SMURF_REAL == 64
#define op_gemm cblas_dgemm
#else
#define op_gemm cblas_sgemm
#endif

/* c (m x n) = alpha a (m x k) b (k x n) + beta c, all row-major with leading dimensions. ta, tb: the stored matrix is
   the transpose. */
static inline void gemm(int ta, int tb, size_t m, size_t n, size_t k, real alpha, const real *a, size_t lda,
                        const real *b, size_t ldb, real beta, real *c, size_t ldc)
{
    op_gemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k,
            alpha, a, (int)lda, b, (int)ldb, beta, c, (int)ldc);
}

#endif
