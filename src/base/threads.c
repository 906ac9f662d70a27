/* threads.c - see threads.h. */
#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#endif

enum { THREADS_MOST = 256 };

#ifdef _OPENMP
/* The threads that OpenMP keeps for later do not exist in the child of a fork, which would wait for them for ever. So
   they are given up before a fork, and started anew where needed. */
static void give_up_threads(void)
{
    omp_pause_resource_all(omp_pause_soft);
}

static void watch_forks(void)
{
    pthread_atfork(give_up_threads, NULL, NULL);
}
#endif

int smurf_threads(int wanted, size_t work)
{
#ifdef _OPENMP
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
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
