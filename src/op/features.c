/* features.c - what was built in, and the kernels of matrix products that this processor runs. */
#define SMURF_REAL 32
#include "op/gemm.h"

#include "config.h"
#include "cuda/cuda.h"

#include <pthread.h>
#include <stdio.h>

static char features[96];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void list_features(void)
{
    const char *kernels;
    gemm_level(0, &kernels);
    snprintf(features, sizeof features, "%s%s%s%s%s%s", kernels, SMURF_HAVE_ZLIB ? " zlib" : "",
             SMURF_HAVE_CAIRO ? " cairo" : "",
#ifdef _OPENMP
             " openmp",
#else
             "",
#endif
             SMURF_HAVE_SQLITE ? " sqlite" : "", SMURF_HAVE_POSTGRESQL ? " postgresql" : "");
}

static char gpu[CUDA_TEXT];
static pthread_once_t once_gpu = PTHREAD_ONCE_INIT;

static void find_gpu(void)
{
    char why[CUDA_TEXT];
    if (smurf_cuda_device(gpu, why)) snprintf(gpu, sizeof gpu, "no device");
}

const char *smurf_gpu(void)
{
    if (!smurf_cuda_built()) return NULL;
    pthread_once(&once_gpu, find_gpu);
    return gpu;
}

const char *smurf_features(void)
{
    pthread_once(&once, list_features);
    return features;
}
