/*
 * train.c - cost of a training step: events per second and memory, on one thread and on two.
 *
 *     bench_train [--quick]     prints one JSON object per line
 *     bench_train --cores       the same model on 1, 2, 4, .. all cores, and what its threads wait for
 *     bench_train --ceiling     one thread, two processes of one thread each, and two threads, in turn
 *
 * Steps with the published settings, on random data with the shapes of the data sets (step.h). Every measurement runs
 * in its own process, so that its peak memory is its own. Times are medians.
 */
#include "step.h"

#include "base/sort.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

struct job {
    const char *name, *preset;
    size_t types, sequences, length;
    int threads, rounds;
    bool busy; /* beside another process that computes */
};

/* The first `most` of the cores that this process may use. */
static void pin(int most)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && kept++ >= most) CPU_CLR(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Starts a process that computes until it is killed, or its parent ends. */
static pid_t neighbour(void)
{
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    for (volatile unsigned long turns = 0;; turns++)
        if (turns % 1000000 == 0 && getppid() != parent) _exit(0);
}

static void run_job(const void *job)
{
    enum { ROUNDS_MOST = 64 };
    const struct job *j = job;
    static struct step step;
    double seconds[ROUNDS_MOST];
    smurf_settings config = settings_of(j->preset);
    step_open(&step, &config, j->types, j->sequences, j->length, j->threads);
    if (j->rounds > 3) step_run(&step); /* threads and pages are there */
    const struct step_counts before = step.train.counts;
    double all = now();
    pid_t other = j->busy ? neighbour() : 0;
    for (int r = 0; r < j->rounds; r++) {
        double from = now();
        step_run(&step);
        seconds[r] = now() - from;
    }
    all = now() - all;
    if (other > 0) kill(other, SIGKILL), waitpid(other, NULL, 0);
    smurf_sort(seconds, (size_t)j->rounds);
    double median = seconds[j->rounds / 2];
    size_t n = step.batch.input.n;
    const struct step_counts *c = &step.train.counts;
    printf("{\"kind\":\"%s\",\"name\":\"%s\",\"threads\":%d,\"events\":%zu,\"parameters\":%zu,\"seconds\":%.6f,"
           "\"events_per_second\":%.0f,\"peak_mb\":%.1f,\"waits\":%.2f,\"serial\":%.5f,\"idle\":%.5f}\n",
           j->busy ? "busy" : "step", j->name, j->threads, n, step.model.params.total, median, (double)n / median,
           peak_mb(), (double)(c->waits - before.waits) / (double)(c->steps - before.steps),
           1 - (c->parallel - before.parallel) / all, (c->idle - before.idle) / (all * step.train.threads));
}

/* One model at several batch sizes, on more and more cores, and on two beside another process. */
static void run_cores(void)
{
    static const struct job models[] = {
        {"paper, batch 4", "paper-stackoverflow", 22, 4, 73, 1, 61},
        {"paper, batch 16", "paper-stackoverflow", 22, 16, 73, 1, 31},
        {"paper, batch 64", "paper-stackoverflow", 22, 64, 73, 1, 15},
        {"default, batch 8", "default", 22, 8, 73, 1, 61},
        {"default, batch 64", "default", 22, 64, 73, 1, 21},
    };
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int threads = 1; threads <= cores; threads *= 2) {
            struct job job = models[i];
            job.threads = threads;
            apart(run_job, &job);
        }
    for (int threads = 1; threads <= 2; threads++) {
        struct job job = models[3];
        job.threads = threads;
        job.busy = true;
        pin(2);
        apart(run_job, &job);
    }
}

/* ---- What the machine allows ------------------------------------------------------------------- */

enum { ROUNDS = 31, TURNS = 9 };

/* Events a second of a process, median. Both start together. */
static double speed_of(const struct job *j, atomic_int *ready, int processes)
{
    static struct step step;
    double seconds[ROUNDS];
    smurf_settings config = settings_of(j->preset);
    step_open(&step, &config, j->types, j->sequences, j->length, j->threads);
    step_run(&step);
    atomic_fetch_add(ready, 1);
    while (atomic_load(ready) < processes) sched_yield();
    for (int r = 0; r < ROUNDS; r++) {
        double from = now();
        step_run(&step);
        seconds[r] = now() - from;
    }
    smurf_sort(seconds, ROUNDS);
    return (double)step.batch.input.n / seconds[ROUNDS / 2];
}

/* Runs the job in so many processes at the same time; returns the sum of their speeds. */
static double speed_together(const struct job *job, int processes)
{
    struct {
        atomic_int ready;
        double speed[2];
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[2];
    double sum = 0;
    if (shared == MAP_FAILED) exit(1);
    for (int p = 0; p < processes; p++) {
        child[p] = fork();
        if (child[p] < 0) exit(1);
        if (child[p] > 0) continue;
        shared->speed[p] = speed_of(job, &shared->ready, processes);
        _exit(0);
    }
    for (int p = 0, status; p < processes; sum += shared->speed[p++])
        if (waitpid(child[p], &status, 0) < 0 || status != 0) exit(1);
    munmap(shared, sizeof *shared);
    return sum;
}

/* Two cores may share caches, memory and clock, so that together they do less than twice the work of one. */
static void run_ceiling(void)
{
    struct job one = {"paper, batch 16", "paper-stackoverflow", 22, 16, 73, 1, ROUNDS}, two = one;
    two.threads = 2;
    for (int turn = 0; turn < TURNS; turn++) {
        double alone = speed_together(&one, 1), pair = speed_together(&one, 2), threads = speed_together(&two, 1);
        printf("{\"kind\":\"ceiling\",\"name\":\"%s\",\"alone\":%.0f,\"pair\":%.0f,\"threads\":%.0f}\n", one.name,
               alone, pair, threads);
        fflush(stdout);
    }
}

/* --quick skips the step of 100,000 events, which takes minutes. */
int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc > 1 && strcmp(argv[1], "--cores") == 0) return run_cores(), 0;
    if (argc > 1 && strcmp(argv[1], "--ceiling") == 0) return run_ceiling(), 0;
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
