/* laws_gpu_absent.c - laws_gpu.h in a build without CUDA. */
#include "cuda/laws_gpu.h"

#include "base/error.h"

smurf_status smurf_laws_gpu_new(struct laws_gpu **out, smurf_error *err)
{
    *out = NULL;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "this build of smurf has no CUDA (build it with -Dcuda=enabled)");
}

void smurf_laws_gpu_free(struct laws_gpu *gpu)
{
    (void)gpu;
}

const char *smurf_laws_gpu_name(const struct laws_gpu *gpu)
{
    (void)gpu;
    return "";
}

double smurf_laws_gpu_milliseconds(const struct laws_gpu *gpu)
{
    (void)gpu;
    return 0;
}

size_t smurf_laws_gpu_large(const struct laws_gpu *gpu)
{
    (void)gpu;
    return 0;
}

smurf_status smurf_laws_gpu_draw(struct laws_gpu *gpu, const struct laws_rows *rows,
                                 const struct sampler_class *sampler, const struct sampler_config *config,
                                 const uint64_t *stream, double *out, size_t n, smurf_error *err)
{
    (void)gpu, (void)rows, (void)sampler, (void)config, (void)stream, (void)out, (void)n;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "this build of smurf has no CUDA");
}

smurf_status smurf_laws_gpu_answer(struct laws_gpu *gpu, const struct laws_rows *rows,
                                   const struct laws_wrapping *wrapping, const double *gap, double tick,
                                   const double *level, size_t levels, const struct laws_answers *out, smurf_error *err)
{
    (void)gpu, (void)rows, (void)wrapping, (void)gap, (void)tick, (void)level, (void)levels, (void)out;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "this build of smurf has no CUDA");
}
