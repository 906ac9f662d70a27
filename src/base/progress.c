/* progress.c - see progress.h. */
#include "base/progress.h"

smurf_status smurf_progress_tell(struct progress *progress, double done, smurf_error *err)
{
    progress->state.done = done;
    if (!progress->report || progress->report(progress->context, &progress->state) == 0) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_CANCELLED, "stopped while %s", progress->state.what);
}
