/*
 * truth_predictor.c - see truth_predictor.h.
 *
 *     events -> history of the process -> its law -> exact, from the compensator -> scaled
 *
 * The law is unbounded: it is cut where a share of exp(-cut_at) is left, and the time scale wrapper adds a tail.
 */
#include "forecast/truth_predictor.h"

#include "law/wrap.h"
#include "simulate/process.h"

#include <stdlib.h>

static const double cut_at = 27; /* compensator at the cut: 2e-12 is left */

struct truth_workspace {
    struct history *history;
    const smurf_sequence *sequence;
    size_t seen;  /* events that the history holds */
    size_t built; /* number of events of the law in the table; 0: none */
    struct exact exact;
    struct scaled scaled;
    smurf_scale scale;
};

static void workspace_free(void *workspace)
{
    struct truth_workspace *d = workspace;
    if (!d) return;
    smurf_history_free(d->history);
    smurf_exact_release(&d->exact);
    free(d);
}

static void *workspace_new(const void *self, size_t events, struct stop *stop)
{
    (void)stop;
    (void)events;
    struct truth_workspace *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->scale = (smurf_scale){.kind = SMURF_SCALE_NONE, .mean = 1, .sd = 1};
    d->history = smurf_history_new(self, false);
    if (!smurf_exact_init(&d->exact, NULL) && d->history) return d;
    workspace_free(d);
    return NULL;
}

static void read_sequence(const void *self, void *workspace, const smurf_sequence *sequence)
{
    (void)self;
    struct truth_workspace *d = workspace;
    d->sequence = sequence;
    d->seen = d->built = 0;
    smurf_history_restart(d->history);
}

/* Where the law has almost no mass left. */
static double end_of(const struct law *law)
{
    double end = 1, there;
    smurf_law_eval_compensator(law, &end, &there, 1);
    while (there > 2 * cut_at && end > 1e-300) {
        end /= 2;
        smurf_law_eval_compensator(law, &end, &there, 1);
    }
    while (there < cut_at && end < 1e300) {
        end *= 2;
        smurf_law_eval_compensator(law, &end, &there, 1);
    }
    return end;
}

/* The law after event `row`. */
static struct law law_at(struct truth_workspace *d, size_t row)
{
    const smurf_sequence *s = d->sequence;
    if (d->seen > row + 1) {
        d->seen = 0;
        smurf_history_restart(d->history);
    }
    for (; d->seen <= row; d->seen++) smurf_history_read(d->history, s, d->seen);
    const smurf_process *process = d->history->process;
    return (struct law){&process->class->law, d->history, process->types, 0, INFINITY};
}

/* Its history has to be stepped through from the first event. */
static size_t not_divided(const void *self)
{
    (void)self;
    return SIZE_MAX;
}

static struct dist dist_of(const void *self, void *workspace, size_t row, int raw)
{
    (void)self, (void)raw;
    struct truth_workspace *d = workspace;
    struct law law = law_at(d, row);
    if (d->built != row + 1) {
        law.hi = end_of(&law);
        smurf_exact_build(&d->exact, &law, EXACT_REST);
        d->built = row + 1;
    }
    return smurf_scaled(&d->scaled, &d->exact, &d->scale, NULL);
}

/* Shares of the intensities; uniform if all are zero. */
static void types_of(const void *self, void *workspace, size_t row, const double *gap, double *out, size_t n)
{
    (void)self;
    struct law law = law_at(workspace, row);
    smurf_law_eval_types(&law, gap, out, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, *share = out + i * law.types;
        for (uint32_t k = 0; k < law.types; k++) sum += share[k];
        for (uint32_t k = 0; k < law.types; k++) share[k] = sum > 0 ? share[k] / sum : 1.0 / law.types;
    }
}

static double never_of(const void *self, void *workspace, size_t row)
{
    (void)self;
    const struct history *history = law_at(workspace, row).self;
    return history->process->class->never ? history->process->class->never(history) : 0;
}

static const struct predictor_class class = {"truth", workspace_new, workspace_free, read_sequence, dist_of, types_of,
                                             NULL,    not_divided,   never_of,       NULL,          NULL};

struct predictor smurf_truth_predictor(const smurf_process *process)
{
    return (struct predictor){&class, process, process->types};
}
