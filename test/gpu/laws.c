/*
 * laws.c - draws and exact laws of the GPU against the processor's, for every law of laws_case.h; the same bits twice.
 *
 *     laws [COUNT]
 *
 * COUNT laws of each kind (default 200). Prints one line a check; exit status 1 if one fails, 77 without a GPU.
 */
#include "../laws_case.h"

#include "cuda/laws_gpu.h"

enum { DRAWS = 100, STEPS = 203 };

static int failures;

static void say(bool good, const char *name, const char *what, double value, const char *more)
{
    printf("%s %s: %s %.3g%s\n", good ? "ok" : "FAILED", name, what, value, more);
    failures += !good;
}

static void must(smurf_status status, const smurf_error *err)
{
    if (!status) return;
    fprintf(stderr, "laws: %s\n", err->message);
    exit(1);
}

static void check_answers(struct laws_gpu *gpu, struct laws *laws)
{
    size_t n = laws->rows.count, bytes = n * ANSWER_VALUES * sizeof(double);
    smurf_error err;
    struct exact exact;
    double *at[2], worst = 0;
    char more[200];
    int which = 0, kind;
    size_t of = 0, wrong = 0, large = 0;
    for (int r = 0; r < 2; r++) {
        at[r] = laws_room(bytes);
        memset(at[r], 0x7b, bytes); /* poison: every element must be written */
        struct laws_answers out = {at[r], at[r] + 2 * n, at[r] + 3 * n, at[r] + 4 * n, at[r] + 5 * n};
        must(smurf_laws_gpu_answer(gpu, &laws->rows, &laws->wrapping, laws->gap, laws->is->tick, laws->level,
                                   CASE_LEVELS, &out, &err),
             &err);
        large = smurf_laws_gpu_large(gpu);
    }
    must(smurf_exact_init(&exact, &err), &err);
    for (size_t i = 0; i < n; i++) {
        double want[ANSWER_VALUES], got[ANSWER_VALUES];
        laws_reference(laws, &exact, i, want);
        memcpy(got, at[0] + 2 * i, 2 * sizeof *got);
        for (size_t k = 2; k < 5; k++) got[k] = at[0][k * n + i];
        memcpy(got + 5, at[0] + 5 * n + i * CASE_LEVELS, CASE_LEVELS * sizeof *got);
        double miss = laws_difference(laws, got, want, &kind);
        wrong += !(miss < 1);
        if (miss > worst) worst = miss, of = i, which = kind;
    }
    smurf_exact_release(&exact);
    snprintf(more, sizeof more, " (law %zu, value %d; %zu of %zu wrong; %zu large)", of, which, wrong, n, large);
    say(worst < 1, laws->is->name, "answers differ by, relative to the limit,", worst, more);
    say(memcmp(at[0], at[1], bytes) == 0, laws->is->name, "answers are the same twice", 1, "");
    free(at[0]), free(at[1]);
}

static void check_draws(struct laws_gpu *gpu, struct laws *laws, const struct sampler_class *sampler, size_t every)
{
    struct sampler_config config = {
        .steps = STEPS, .step = 0.01, .start = {0.1, 3}, .denoise = 0.1, .every = every, .seed = 11};
    size_t n = laws->rows.count, each = DRAWS * (every ? STEPS / every : 1), bytes = n * each * sizeof(double), off = 0;
    double *at[2], *want = laws_room(each * sizeof *want), worst = 0, reach = sqrt(config.step * STEPS);
    smurf_error err;
    char more[200];
    for (int r = 0; r < 2; r++) {
        at[r] = laws_room(bytes);
        memset(at[r], 0x7b, bytes);
        must(smurf_laws_gpu_draw(gpu, &laws->rows, sampler, &config, laws->stream, at[r], DRAWS, &err), &err);
    }
    for (size_t i = 0; i < n; i++) {
        struct law law = laws_at(laws, i);
        if (!sampler->draw(&law, &config, laws->stream[i], want, DRAWS)) abort();
        for (size_t k = 0; k < each; k++) {
            double miss = fabs(at[0][i * each + k] - want[k]) / (fabs(want[k]) + reach);
            off += !(miss <= 1e-4);
            if (miss <= 1e-4 && miss > worst) worst = miss;
        }
    }
    double share = (double)off / (double)(n * each);
    snprintf(more, sizeof more, "; the rest differ by up to %.2g (%s, %zu looks, %zu large)", worst, sampler->name,
             each / DRAWS, smurf_laws_gpu_large(gpu));
    say(share <= laws_apart(laws->is, sampler), laws->is->name, "share of draws that differ", share, more);
    say(memcmp(at[0], at[1], bytes) == 0, laws->is->name, "draws are the same twice", 1, "");
    free(at[0]), free(at[1]), free(want);
}

/* A law without numbers gives none; the others are not touched. */
static void check_nan(struct laws_gpu *gpu)
{
    struct laws laws;
    smurf_error err;
    double answer[3][ANSWER_VALUES];
    laws_make(&laws, &laws_cases[0], 3, 1);
    laws.row[laws.rows.stride + 5] = NAN;
    double flat[3 * ANSWER_VALUES];
    struct laws_answers out = {flat, flat + 6, flat + 9, flat + 12, flat + 15};
    must(smurf_laws_gpu_answer(gpu, &laws.rows, &laws.wrapping, laws.gap, 0, laws.level, CASE_LEVELS, &out, &err),
         &err);
    (void)answer;
    say(isnan(out.crps[1]) && isnan(out.mass[2]) && isnan(out.quantile[CASE_LEVELS]) && isfinite(out.crps[0]) &&
            isfinite(out.crps[2]) && isfinite(out.quantile[2 * CASE_LEVELS]),
        "not a number", "answers of its law alone", 1, "");
    laws_release(&laws);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)atoi(argv[1]) : 200;
    const struct sampler_class *sampler[] = {&smurf_sampler_langevin, &smurf_sampler_mirror, &smurf_sampler_reject};
    struct laws_gpu *gpu;
    smurf_error err;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (smurf_laws_gpu_new(&gpu, &err)) {
        printf("skipped: %s\n", err.message);
        return 77;
    }
    printf("on %s\n", smurf_laws_gpu_name(gpu));
    check_nan(gpu);
    for (size_t k = 0; k < LAWS_CASES; k++) {
        struct laws laws;
        laws_make(&laws, &laws_cases[k], count, 5 + k);
        if (!laws.is->is_score) check_answers(gpu, &laws);
        laws_release(&laws);
        laws_make(&laws, &laws_cases[k], count / 4 + 1, 5 + k);
        for (int s = 0; s < 3; s++) check_draws(gpu, &laws, sampler[s], k % 2 ? 67 : 0);
        laws_release(&laws);
    }
    smurf_laws_gpu_free(gpu);
    printf("%d failed\n", failures);
    return failures > 0;
}
