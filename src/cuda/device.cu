/* device.cu - the card: whether there is one, and its name. The driver is loaded by the CUDA runtime, which is linked
 * in. */
#include "cuda/cuda.h"

#include <cuda_runtime.h>
#include <stdio.h>

int smurf_cuda_built(void)
{
    return 1;
}

int smurf_cuda_device(char name[CUDA_TEXT], char why[CUDA_TEXT])
{
    struct cudaDeviceProp about;
    int count = 0, device = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
    name[0] = '\0';
    if (status != cudaSuccess) {
        cudaGetLastError();
        int driver = 0;
        cudaDriverGetVersion(&driver);
        snprintf(why, CUDA_TEXT, "there is no NVIDIA GPU that can be used: %s",
                 driver == 0 ? "its driver is not installed" : cudaGetErrorString(status));
        return CUDA_ABSENT;
    }
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&about, device) != cudaSuccess) {
        snprintf(why, CUDA_TEXT, "the GPU cannot be used: %s", cudaGetErrorString(cudaGetLastError()));
        return CUDA_ABSENT;
    }
    if (about.major < 9) {
        snprintf(why, CUDA_TEXT, "%s is older than compute capability 9.0, which this build is for", about.name);
        return CUDA_ABSENT;
    }
    snprintf(name, CUDA_TEXT, "%s", about.name);
    return CUDA_OK;
}
