/*
 * evaluate.c - speed of laws: every gap of a test set, one forecast, one appended event.
 *
 *     bench_evaluate
 *
 * On simulated data of StackOverflow's shape (1,326 sequences, 22 types, 73 events each), with the default preset's
 * model after one short epoch. Prints one JSON object per line. Medians of wall time.
 */
#include "forecast/model_predictor.h"

#include "data/data.h"

#include "base/sort.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SEQUENCES = 1326, EVENTS = 73, TYPES = 22, HISTORY = 100, ROUNDS = 5, FORECASTS = 400 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double median(double *x, size_t n)
{
    smurf_sort(x, n);
    return x[n / 2];
}

static void must(smurf_status status, const smurf_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_evaluate: %s\n", err->message);
    exit(1);
}

static smurf_data *simulate(size_t sequences, size_t events, uint64_t seed)
{
    smurf_error err;
    smurf_process *process;
    smurf_data *data;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = events;
    config.seed = seed;
    must(smurf_process_new(&process, "hawkes", TYPES, NULL, 0, &err), &err);
    must(smurf_process_simulate(&data, process, &config, &err), &err);
    smurf_process_free(process);
    return data;
}

static smurf_model *train(void)
{
    smurf_error err;
    smurf_settings config;
    smurf_trainer *trainer;
    smurf_model *model;
    smurf_epoch epoch;
    smurf_data *data = simulate(400, EVENTS, 1);
    smurf_settings_init(&config);
    must(smurf_settings_preset(&config, "default", data, &err), &err);
    config.layers = 3;
    config.epochs = 1;
    must(smurf_trainer_new(&trainer, &config, data, NULL, &err), &err);
    must(smurf_trainer_epoch(trainer, &epoch, &err), &err);
    must(smurf_trainer_model(trainer, &model, &err), &err);
    smurf_trainer_free(trainer);
    smurf_data_free(data);
    return model;
}

/* Law, PIT, 19 quantiles and CRPS of every gap of a sequence. Returns a number that depends on all of them. */
static double ask(const struct predictor *p, void *workspace, const smurf_sequence *s)
{
    double sum = 0, quantile[SMURF_LEVELS];
    for (size_t i = s->first; i < s->length; i++) {
        double gap = s->time[i] - s->time[i - 1];
        struct dist dist = p->class->dist(p->self, workspace, i - 1, 0);
        dist.class->quantile(dist.self, smurf_levels, quantile, SMURF_LEVELS);
        sum += smurf_dist_pit(&dist, gap, 0, 0.5) + quantile[9] + smurf_dist_crps(&dist, gap);
    }
    return sum;
}

/* Seconds for the encoder and for the laws, each as if it ran alone on all threads. */
static void whole_set(const smurf_model *model, const smurf_data *data, int threads)
{
    struct predictor p = smurf_model_predictor(model);
    double encoder[ROUNDS], laws[ROUNDS], check = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double in_encoder = 0, in_laws = 0;
#pragma omp parallel num_threads(threads) reduction(+ : in_encoder, in_laws, check)
        {
            void *workspace = p.class->workspace_new(p.self, EVENTS, NULL);
#pragma omp for schedule(dynamic, 8)
            for (size_t s = 0; s < data->sequences; s++) {
                double t0 = now();
                p.class->read(p.self, workspace, &data->sequence[s]);
                p.class->dist(p.self, workspace, 0, 0); /* encodes what is asked for first */
                double t1 = now();
                check += ask(&p, workspace, &data->sequence[s]);
                in_encoder += t1 - t0;
                in_laws += now() - t1;
            }
            p.class->workspace_free(workspace);
        }
        encoder[r] = in_encoder / threads;
        laws[r] = in_laws / threads;
    }
    size_t gaps = smurf_data_gaps(data);
    double seconds = median(laws, ROUNDS);
    printf("{\"name\": \"exact\", \"threads\": %d, \"gaps\": %zu, \"seconds\": %.4f, \"encoder_seconds\": %.4f, "
           "\"us_per_gap\": "
           "%.2f, \"check\": %.6g}\n",
           threads, gaps, seconds, median(encoder, ROUNDS), 1e6 * seconds * threads / (double)gaps, check);
    fflush(stdout);
}

/* The work of predict: three quantiles and the types. */
static void forecast(smurf_forecast *f, smurf_error *err)
{
    double level[3] = {0.05, 0.5, 0.95}, gap[3], share[TYPES];
    must(smurf_forecast_quantile(f, level, gap, 3, err), err);
    must(smurf_forecast_types(f, share, err), err);
}

static void one_history(const smurf_model *model)
{
    smurf_error err;
    smurf_forecast *f;
    smurf_data *data = simulate(1, HISTORY + FORECASTS, 3);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    double reading[FORECASTS], appending[FORECASTS];
    must(smurf_forecast_new(&f, model, HISTORY, &err), &err);
    for (int i = 0; i < FORECASTS; i++) {
        double start = now();
        must(smurf_forecast_read(f, s, HISTORY, &err), &err);
        forecast(f, &err);
        reading[i] = now() - start;
    }
    for (size_t i = 0; i < FORECASTS; i++) {
        double start = now();
        must(smurf_forecast_append(f, s->time[HISTORY + i], s->type[HISTORY + i], &err), &err);
        forecast(f, &err);
        appending[i] = now() - start;
    }
    printf("{\"name\": \"history\", \"events\": %d, \"us\": %.1f}\n", HISTORY, 1e6 * median(reading, FORECASTS));
    printf("{\"name\": \"append\", \"events\": %d, \"us\": %.1f}\n", HISTORY, 1e6 * median(appending, FORECASTS));
    smurf_forecast_free(f);
    smurf_data_free(data);
}

int main(void)
{
    smurf_model *model = train();
    smurf_data *test = simulate(SEQUENCES, EVENTS, 2);
    whole_set(model, test, 1);
    whole_set(model, test, 2);
    one_history(model);
    smurf_data_free(test);
    smurf_model_free(model);
    return 0;
}
