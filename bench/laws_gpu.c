/*
 * laws_gpu.c - speed of draws and exact laws on a GPU, beside one thread of the processor.
 *
 *     bench_laws_gpu
 *
 * Prints one JSON object per line: medians of several rounds of the kernels' time by CUDA events, and of the whole call
 * with its copies by the clock. The rows of a round are many times the size of the card's cache. The laws are those of
 * test/laws_case.h; `smooth` those of bench/sample.c. Exit status 77 without a GPU.
 */
#include "../test/laws_case.h"

#include "base/sort.h"
#include "cuda/laws_gpu.h"

#include <time.h>

enum { ROUNDS = 5, DRAWS = 100 };

static const struct laws_case smooth = {.name = "smooth",
                                        .width = 64,
                                        .size = 0.2,
                                        .steepness = 1,
                                        .c = 0.2,
                                        .lo = 0,
                                        .hi = 30,
                                        .scale = {SMURF_SCALE_NONE, 1, 0, 1}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double median(double *x)
{
    smurf_sort(x, ROUNDS);
    return x[ROUNDS / 2];
}

static void must(smurf_status status, const smurf_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_laws_gpu: %s\n", err->message);
    exit(1);
}

static void bench_draws(struct laws_gpu *gpu, const struct laws_case *is, const struct sampler_class *sampler,
                        size_t count, size_t steps)
{
    struct laws laws;
    smurf_error err;
    struct sampler_config config = {.steps = steps, .step = 0.02, .start = {0.05, 3}, .denoise = 0.1, .seed = 1};
    double *out = laws_room(count * DRAWS * sizeof *out), kernels[ROUNDS], whole[ROUNDS];
    double work = (double)count * DRAWS * (double)steps;
    laws_make(&laws, is, count, 3);
    for (int r = -1; r < ROUNDS; r++) {
        double start = now();
        must(smurf_laws_gpu_draw(gpu, &laws.rows, sampler, &config, laws.stream, out, DRAWS, &err), &err);
        if (r < 0) continue;
        whole[r] = now() - start;
        kernels[r] = 1e-3 * smurf_laws_gpu_milliseconds(gpu);
    }
    size_t few = 40;
    double start = now();
    for (size_t i = 0; i < few; i++) {
        struct law law = laws_at(&laws, i);
        sampler->draw(&law, &config, laws.stream[i], out, DRAWS);
    }
    double alone = (now() - start) * (double)count / (double)few;
    printf("{\"name\": \"%s\", \"laws\": \"%s\", \"count\": %zu, \"draws\": %d, \"steps\": %zu, \"large\": %zu, "
           "\"sample_steps_per_second\": %.4g, \"with_copies\": %.4g, \"one_thread\": %.4g}\n",
           sampler->name, is->name, count, DRAWS, steps, smurf_laws_gpu_large(gpu), work / median(kernels),
           work / median(whole), work / alone);
    laws_release(&laws);
    free(out);
}

static void bench_answers(struct laws_gpu *gpu, const struct laws_case *is, size_t count)
{
    struct laws laws;
    smurf_error err;
    struct exact exact;
    double *room = laws_room(count * ANSWER_VALUES * sizeof *room), kernels[ROUNDS], whole[ROUNDS];
    struct laws_answers out = {room, room + 2 * count, room + 3 * count, NULL, room + 5 * count};
    laws_make(&laws, is, count, 3);
    for (int r = -1; r < ROUNDS; r++) {
        double start = now();
        must(smurf_laws_gpu_answer(gpu, &laws.rows, &laws.wrapping, laws.gap, is->tick, laws.level, CASE_LEVELS, &out,
                                   &err),
             &err);
        if (r < 0) continue;
        whole[r] = now() - start;
        kernels[r] = 1e-3 * smurf_laws_gpu_milliseconds(gpu);
    }
    size_t few = 1000;
    must(smurf_exact_init(&exact, &err), &err);
    double start = now(), want[ANSWER_VALUES];
    for (size_t i = 0; i < few; i++) laws_reference(&laws, &exact, i, want);
    double alone = (now() - start) * (double)count / (double)few;
    smurf_exact_release(&exact);
    printf("{\"name\": \"exact\", \"laws\": \"%s\", \"count\": %zu, \"large\": %zu, \"gaps_per_second\": %.4g, "
           "\"with_copies\": %.4g, \"one_thread\": %.4g}\n",
           is->name, count, smurf_laws_gpu_large(gpu), (double)count / median(kernels), (double)count / median(whole),
           (double)count / alone);
    laws_release(&laws);
    free(room);
}

int main(void)
{
    struct laws_gpu *gpu;
    smurf_error err;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (smurf_laws_gpu_new(&gpu, &err)) {
        printf("skipped: %s\n", err.message);
        return 77;
    }
    bench_draws(gpu, &smooth, &smurf_sampler_langevin, 65536, 1000);
    bench_draws(gpu, &smooth, &smurf_sampler_langevin, 65536, 2000);
    bench_draws(gpu, &smooth, &smurf_sampler_mirror, 65536, 1000);
    bench_draws(gpu, &smooth, &smurf_sampler_reject, 65536, 1000);
    bench_draws(gpu, &laws_cases[6], &smurf_sampler_langevin, 2048, 1000);
    for (size_t k = 0; k < 6; k++) bench_answers(gpu, &laws_cases[k], 1 << 17);
    bench_answers(gpu, &laws_cases[6], 1 << 13);
    smurf_laws_gpu_free(gpu);
    return 0;
}
