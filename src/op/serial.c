/* serial.c - see serial.h. */
#include "op/serial.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, before;

void smurf_serial_enter(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return;
    pthread_mutex_lock(&lock);
    if (inside++ == 0) {
        before = openblas_get_num_threads();
        if (before != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void smurf_serial_leave(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return;
    pthread_mutex_lock(&lock);
    if (--inside == 0 && before != 1) openblas_set_num_threads(before);
    pthread_mutex_unlock(&lock);
}

/* Mapped by OpenBLAS in one piece: 128 MB on x86-64, less elsewhere. */
static const size_t blas_buffer = (size_t)128 << 20;
enum { BUFFERS_MOST = 256 };

smurf_status smurf_blas_check(int threads, smurf_error *err)
{
    static atomic_int checked;
    void *buffer[BUFFERS_MOST];
    int n = 0;
    if (threads > BUFFERS_MOST) threads = BUFFERS_MOST;
    if (!openblas_set_num_threads || atomic_load(&checked) >= threads) return SMURF_OK;
    for (; n < threads; n++) {
        buffer[n] = mmap(NULL, blas_buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffer[n] == MAP_FAILED) break;
    }
    for (int i = 0; i < n; i++) munmap(buffer[i], blas_buffer);
    if (n < threads)
        return smurf_fail(err, SMURF_ERROR_MEMORY,
                          "out of memory: matrix products take %zu MB of address space per thread, and there is room "
                          "for %d of %d (use fewer threads, or raise ulimit -v)",
                          blas_buffer >> 20, n, threads);
    atomic_store(&checked, threads);
    return SMURF_OK;
}

size_t smurf_thread_number(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}
