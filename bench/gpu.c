/*
 * gpu.c - cost of a training step on a GPU: events per second, by batch, length and model.
 *
 *     bench_gpu [FILTER]     one JSON object per line, of the rows whose name contains FILTER
 *
 * Medians over steps: `card` is from the first to the last launch of a step, by CUDA events; `step` is the wall time
 * from step to step, as a run has it. Data are random. "skipped: no GPU" where there is none.
 */
#include "step.h"

#include "base/sort.h"

struct job {
    const char *name, *preset;
    size_t types, sequences, length;
    int rounds;
};

static const struct job jobs[] = {
    {"StackOverflow, paper, batch 4", "paper-stackoverflow", 22, 4, 73, 300},
    {"StackOverflow, paper, batch 16", "paper-stackoverflow", 22, 16, 73, 300},
    {"StackOverflow, paper, batch 64", "paper-stackoverflow", 22, 64, 73, 200},
    {"StackOverflow, paper, batch 512", "paper-stackoverflow", 22, 512, 73, 50},
    {"default, batch 8", "default", 22, 8, 73, 300},
    {"default, batch 64", "default", 22, 64, 73, 200},
    {"default, batch 512", "default", 22, 512, 73, 50},
    {"default, 1,000 types, batch 64", "default", 1000, 64, 73, 50},
    {"Financial, paper, one sequence", "paper-financial", 2, 1, 3319, 30},
    {"StackOverflow's model, one sequence of 20,000", "paper-stackoverflow", 22, 1, 20000, 5},
};

static double median(double *x, int n)
{
    smurf_sort(x, (size_t)n);
    return x[n / 2];
}

static void run_job(const struct job *job)
{
    enum { ROUNDS_MOST = 512, WARM = 5 };
    static struct step s;
    static double card[ROUNDS_MOST], wall[ROUNDS_MOST];
    smurf_error err;
    smurf_settings config = settings_of(job->preset);
    step_open(&s, &config, job->types, job->sequences, job->length, 1);
    if (smurf_train_step_move(&s.train, &s.feed, NULL, &err)) {
        printf("{\"name\":\"%s\",\"failed\":\"%s\"}\n", job->name, err.message);
        return;
    }
    struct cuda_training *session = smurf_train_device_session(s.train.device);
    for (int i = 0; i < WARM; i++) step_run(&s);
    double last = now();
    for (int i = 0; i < job->rounds; i++) {
        step_run(&s);
        double t = now();
        wall[i] = t - last;
        last = t;
    }
    smurf_cuda_timed(session, 1);
    for (int i = 0; i < job->rounds; i++) {
        step_run(&s);
        card[i] = smurf_cuda_seconds(session);
    }
    size_t n = s.batch.input.n;
    double step = median(wall, job->rounds), busy = median(card, job->rounds);
    bool failed = smurf_train_step_status(&s.train, &err) != SMURF_OK;
    printf("{\"name\":\"%s\",\"events\":%zu,\"parameters\":%zu,\"step\":%.7f,\"card\":%.7f,\"events_per_second\":%.0f"
           ",\"card_events_per_second\":%.0f%s%s%s}\n",
           job->name, n, s.model.params.total, step, busy, (double)n / step, (double)n / busy,
           failed ? ",\"failed\":\"" : "", failed ? err.message : "", failed ? "\"" : "");
    fflush(stdout);
    smurf_train_step_release(&s.train);
}

int main(int argc, char **argv)
{
    char name[CUDA_TEXT], why[CUDA_TEXT];
    if (smurf_cuda_device(name, why)) {
        printf("skipped: no GPU (%s)\n", why);
        return 0;
    }
    printf("{\"gpu\":\"%s\"}\n", name);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (argc < 2 || strstr(jobs[i].name, argv[1])) run_job(&jobs[i]);
    return 0;
}
