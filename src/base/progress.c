/* progress.c - see progress.h. */
#include "base/progress.h"

#include <time.h>

smurf_status smurf_progress_tell(struct progress *progress, double done, smurf_error *err)
{
    progress->state.done = done;
    if (!progress->report || progress->report(progress->context, &progress->state) == 0) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while %s", progress->state.what);
}

/* ---- Leaving early --------------------------------------------------------------------------- */

static const double period = 0.05; /* seconds between callback calls */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void smurf_stop_init(struct stop *stop, struct progress *progress)
{
    stop->progress = progress;
    stop->owner = pthread_self();
    stop->done = NULL;
    stop->told = now();
    atomic_init(&stop->asked, false);
}

bool smurf_stop_asked(struct stop *stop)
{
    if (!stop || !stop->progress->report) return false;
    if (atomic_load_explicit(&stop->asked, memory_order_relaxed)) return true;
    if (!pthread_equal(stop->owner, pthread_self())) return false;
    double time = now();
    if (time - stop->told < period) return false;
    struct progress *p = stop->progress;
    if (stop->done) p->state.done = (double)atomic_load(stop->done);
    bool asked = p->report(p->context, &p->state) != 0;
    stop->told = now();
    if (asked) atomic_store(&stop->asked, true);
    return asked;
}

void smurf_stop_linger(struct stop *stop, atomic_size_t *left)
{
    const long longest = 1000000;
    struct timespec nap = {.tv_nsec = 50000};
    if (!stop || !stop->progress->report || !pthread_equal(stop->owner, pthread_self())) return;
    while (atomic_load(left) && !smurf_stop_asked(stop)) {
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < longest) nap.tv_nsec += nap.tv_nsec / 8; /* never much longer than the wait so far */
    }
}

smurf_status smurf_stop_fail(const struct stop *stop, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while %s", stop->progress->state.what);
}
