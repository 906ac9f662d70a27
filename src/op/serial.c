/* serial.c - see serial.h. */
#include "op/serial.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <pthread.h>
#include <stddef.h>

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

size_t smurf_thread_number(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}
