/*
 * sample.c - speed of Langevin draws.
 *
 *     bench_sample [THREADS]
 *
 * Prints one JSON object per line: sample-steps per second of each sampler for 100 draws of 1000 steps from each of
 * many laws of 64 tanh units, lambda = softplus(sum of w tanh(a t + b) + c), including the score table; threads over
 * laws. Median wall time of several rounds; ns is the processor time per sample-step, which other work on the machine
 * does not affect. `smooth` laws have |a| < 1, like those of the heads; `steep` ones 20 times that. Compiled with
 * -ffast-math for a vector tanh.
 */
#include "law/sampler.h"

#include "base/random.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { UNITS = 64, LAWS = 64, DRAWS = 100, STEPS = 1000, ROUNDS = 9 };

struct units {
    double w[UNITS], a[UNITS], b[UNITS], c;
};

/* psi = u' q / lambda - lambda, q = 1 / (1 + e^-u) */
static void score(const void *self, const double *gap, double *out, size_t n)
{
    const struct units *x = self;
    for (size_t i = 0; i < n; i++) {
        double u = x->c, slope = 0, t = gap[i];
        for (size_t j = 0; j < UNITS; j++) {
            double z = tanh(x->a[j] * t + x->b[j]);
            u += x->w[j] * z;
            slope += x->w[j] * x->a[j] * (1 - z * z);
        }
        double lambda = fmax(u, 0) + log1p(exp(-fabs(u)));
        out[i] = slope / (1 + exp(-u)) / (lambda + 1e-10) - lambda;
    }
}

static const struct law_class class = {.name = "units", .score = score};

static void make(struct units *x, double steepness, uint64_t seed)
{
    struct random random;
    smurf_random_init(&random, seed, 1);
    for (size_t j = 0; j < UNITS; j++) {
        x->w[j] = 0.2 * smurf_random_normal(&random);
        x->a[j] = steepness * tanh(smurf_random_normal(&random));
        x->b[j] = smurf_random_normal(&random);
    }
    x->c = 0.5;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Wall time and processor time for the draws of all laws, in seconds. */
static void measure(const struct sampler_class *sampler, const struct law *law, int threads, double seconds[2])
{
    static const clockid_t clock[2] = {CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID};
    static double out[LAWS][DRAWS];
    struct sampler_config config = {.steps = STEPS, .step = 0.02, .start = {0.05, 3}, .denoise = 0.1, .seed = 1};
    double round[2][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start[2] = {now(clock[0]), now(clock[1])};
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int i = 0; i < LAWS; i++) sampler->draw(law + i, &config, (uint64_t)i, out[i], DRAWS);
        for (int c = 0; c < 2; c++) round[c][r] = now(clock[c]) - start[c];
    }
    for (int c = 0; c < 2; c++) {
        smurf_sort(round[c], ROUNDS);
        seconds[c] = round[c][ROUNDS / 2];
    }
}

static void bench(const char *name, double steepness, int threads)
{
    static struct units units[LAWS];
    struct law law[LAWS];
    for (size_t i = 0; i < LAWS; i++) {
        make(units + i, steepness, i);
        law[i] = (struct law){&class, units + i, 1, 0, INFINITY};
    }
    for (size_t s = 0; smurf_sampler_at(s); s++) {
        if (!smurf_sampler_at(s)->draw) continue;
        double taken[2], count = (double)LAWS * DRAWS * STEPS;
        measure(smurf_sampler_at(s), law, threads, taken);
        printf(
            "{\"name\": \"%s\", \"laws\": \"%s\", \"threads\": %d, \"sample_steps_per_second\": %.0f, \"ns\": %.2f}\n",
            smurf_sampler_at(s)->name, name, threads, count / taken[0], 1e9 * taken[1] / count);
    }
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1) return 1;
    bench("smooth", 1, threads);
    bench("steep", 20, threads);
}
