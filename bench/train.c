/*
 * train.c - cost of a training step: events per second and memory, on one thread and on two.
 *
 *     bench_train [--quick]     prints one JSON object per line
 *
 * Steps with the published settings, on random data with the shapes of the data sets (step.h). Every measurement runs
 * in its own process, so that its peak memory is its own. Times are medians.
 */
#include "step.h"

#include "base/sort.h"

struct job {
    const char *name, *preset;
    size_t types, sequences, length;
    int threads, rounds;
};

static void run_job(const void *job)
{
    enum { ROUNDS_MOST = 64 };
    const struct job *j = job;
    static struct step step;
    double seconds[ROUNDS_MOST];
    smurf_settings config = settings_of(j->preset);
    step_open(&step, &config, j->types, j->sequences, j->length, j->threads);
    for (int r = 0; r < j->rounds; r++) {
        double from = now();
        step_run(&step);
        seconds[r] = now() - from;
    }
    smurf_sort(seconds, (size_t)j->rounds);
    double median = seconds[j->rounds / 2];
    size_t n = step.batch.input.n;
    printf("{\"kind\":\"step\",\"name\":\"%s\",\"threads\":%d,\"events\":%zu,\"parameters\":%zu,\"seconds\":%.6f,"
           "\"events_per_second\":%.0f,\"peak_mb\":%.1f}\n",
           j->name, j->threads, n, step.model.params.total, median, (double)n / median, peak_mb());
}

/* --quick skips the step of 100,000 events, which takes minutes. */
int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const struct job jobs[] = {
        {"StackOverflow, batch 4", "paper-stackoverflow", 22, 4, 73, 1, 41},
        {"StackOverflow, batch 4", "paper-stackoverflow", 22, 4, 73, 2, 41},
        {"Financial, one sequence", "paper-financial", 2, 1, 3319, 1, 3},
        {"Financial, one sequence", "paper-financial", 2, 1, 3319, 2, 3},
        {"StackOverflow's model, 100,000 events", "paper-stackoverflow", 22, 1, 100000, 2, 1},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs - quick; i++) apart(run_job, &jobs[i]);
    return 0;
}
