/*
 * gemm.h - matrix products for both number types, on the calling thread.
 *
 * Every element of the result is one chain of multiply-adds over k, in order, whatever the shape and the processor. So
 * an element does not depend on how its matrix is divided, and processors with fused multiply-add give the same bits.
 */
#ifndef SMURF_OP_GEMM_H
#define SMURF_OP_GEMM_H

#include "op/op.h"

#define gemm       OP(gemm)
#define gemm_with  OP(gemm_with)
#define gemm_level OP(gemm_level)

/* c (m x n) = alpha a (m x k) b (k x n) + beta c, all row-major with leading dimensions. ta, tb: the stored matrix is
   the transpose. With beta 0, c is not read. */
void gemm(int ta, int tb, size_t m, size_t n, size_t k, real alpha, const real *a, size_t lda, const real *b,
          size_t ldb, real beta, real *c, size_t ldc);

/* Kernels for one kind of processor. */
struct gemm_level;
/* Those this processor can run, best first; NULL past the last. *name: such as "avx512". */
const struct gemm_level *gemm_level(size_t index, const char **name);
/* The same product with the kernels of a level, for tests and benchmarks. */
void gemm_with(const struct gemm_level *level, int ta, int tb, size_t m, size_t n, size_t k, real alpha, const real *a,
               size_t lda, const real *b, size_t ldb, real beta, real *c, size_t ldc);

#endif
