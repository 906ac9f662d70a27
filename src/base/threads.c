/* threads.c - see threads.h. */
#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { THREADS_MOST = 256 };

int smurf_threads(int wanted, size_t work)
{
#ifdef _OPENMP
    int threads = wanted > 0 ? wanted : omp_get_max_threads();
#else
    int threads = 1;
    (void)wanted;
#endif
    if (threads > THREADS_MOST) threads = THREADS_MOST;
    if ((size_t)threads > work) threads = (int)work;
    return threads > 0 ? threads : 1;
}

size_t smurf_thread_number(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}
