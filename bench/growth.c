/*
 * growth.c - time and memory of a training step against each size, with the others fixed.
 *
 *     bench_growth [SERIES]     prints one JSON object per line: series, x, seconds, memory_mb
 *
 * One process per point: memory is the peak of the process minus its memory before the model was created. Seconds are
 * the fastest of several steps, because other work on the machine only adds: processor time, or wall time in the series
 * over threads. growth.py fits the slopes and has their limits.
 *
 * The fixed model is a small StackOverflow: 2 layers, width 64, 22 types, 4 sequences of 64 events, one thread. In the
 * series over lengths it has one layer with one head of 16, so that 100,000 events take seconds. "cut" is the same
 * number of events in sequences of 64: a step without the attention of a long sequence.
 */
#include "step.h"

struct point {
    const char *series, *preset;
    size_t types, sequences, length, width, points, threads; /* 0: those of the fixed model */
    bool narrow;                                             /* one layer, one head */
    size_t x;
};

static void report(const struct point *p, double seconds, double memory)
{
    printf("{\"series\":\"%s\",\"x\":%zu,\"seconds\":%.7f,\"memory_mb\":%.2f}\n", p->series, p->x, seconds, memory);
}

/* The fastest of the runs that fit into half a second, after a warm-up run; a very long one runs once. */
static double fastest(clockid_t clock, void (*run)(void *), void *data)
{
    double start = clock_of(clock), best = HUGE_VAL;
    run(data);
    double first = clock_of(clock) - start;
    if (first > 6) return first;
    for (int r = 0; r < 1 || (r < 50 && clock_of(clock) - start < 0.5); r++) {
        double from = clock_of(clock);
        run(data);
        double took = clock_of(clock) - from;
        if (took < best) best = took;
    }
    return best;
}

static void run_step(void *step)
{
    step_run(step);
}

static void training(const void *point)
{
    const struct point *p = point;
    static struct step step;
    double before = peak_mb();
    smurf_settings c = settings_of(p->preset);
    c.layers = 2;
    if (p->narrow) c.layers = c.heads = 1;
    if (p->width) c.width = p->width, c.heads = p->width / 16, c.inner = 4 * p->width;
    if (p->points) c.points = c.nodes = p->points;
    step_open(&step, &c, p->types ? p->types : 22, p->sequences ? p->sequences : 4, p->length ? p->length : 64,
              p->threads ? (int)p->threads : 1);
    double seconds = fastest(p->threads ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, run_step, &step);
    report(p, seconds, peak_mb() - before);
}

/* ---- Forecasts against the number of types ---------------------------------------------------- */

static void must(smurf_status status, const smurf_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_growth: %s\n", err->message);
    exit(1);
}

struct asked {
    smurf_forecast *forecast;
    const smurf_sequence *sequence;
    double *share; /* NULL: only the gap is needed */
};

/* A history of four events, three quantiles of the next gap, and the types if requested. */
static void ask(void *data)
{
    struct asked *a = data;
    smurf_error err;
    double level[3] = {0.05, 0.5, 0.95}, gap[3];
    must(smurf_forecast_read(a->forecast, a->sequence, 4, &err), &err);
    must(smurf_forecast_quantile(a->forecast, level, gap, 3, &err), &err);
    if (a->share) must(smurf_forecast_types(a->forecast, a->share, &err), &err);
}

static smurf_model *train_on(const smurf_data *data)
{
    smurf_error err;
    smurf_trainer *trainer;
    smurf_model *model;
    smurf_epoch epoch;
    smurf_settings config;
    smurf_settings_init(&config);
    config.epochs = 1;
    config.threads = 1;
    must(smurf_trainer_new(&trainer, &config, data, NULL, &err), &err);
    must(smurf_trainer_epoch(trainer, &epoch, &err), &err);
    must(smurf_trainer_model(trainer, &model, &err), &err);
    smurf_trainer_free(trainer);
    return model;
}

static void forecasting(const void *point)
{
    const struct point *p = point;
    smurf_error err;
    smurf_process *process;
    smurf_data *data;
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = 4;
    config.max_events = 64;
    must(smurf_process_new(&process, "poisson", (uint32_t)p->types, NULL, 0, &err), &err);
    must(smurf_process_simulate(&data, process, &config, &err), &err);
    smurf_model *model = train_on(data);
    struct asked asked = {.sequence = smurf_data_sequence(data, 0)};
    double before = peak_mb();
    must(smurf_forecast_new(&asked.forecast, model, 4, &err), &err);
    struct point gap = *p;
    gap.series = "types, forecast of the gap";
    double seconds = fastest(CLOCK_PROCESS_CPUTIME_ID, ask, &asked);
    report(&gap, seconds, peak_mb() - before);
    asked.share = room(p->types * sizeof *asked.share);
    seconds = fastest(CLOCK_PROCESS_CPUTIME_ID, ask, &asked);
    report(p, seconds, peak_mb() - before);
}

/* ---- All series ------------------------------------------------------------------------------- */

/* Points at which the field at offset `vary` is x, with all other fields as in `like`. */
struct series {
    struct point like;
    size_t vary;
    const size_t *x; /* ends with 0 */
    void (*work)(const void *point);
};

#define VARY(field) offsetof(struct point, field)
#define AT(...)                                                                                                        \
    (const size_t[])                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__, 0                                                                                                 \
    }

static void run_series(const struct series *s)
{
    for (const size_t *x = s->x; *x; x++) {
        struct point p = s->like;
        p.x = *x;
        *(size_t *)((char *)&p + s->vary) = *x;
        if (p.threads <= (size_t)sysconf(_SC_NPROCESSORS_ONLN)) apart(s->work, &p);
    }
}

int main(int argc, char **argv)
{
    const char *paper = "paper-stackoverflow", *smurf = "default";
    const size_t *lengths = AT(64, 256, 1024, 4096, 16384, 100000), *events = AT(1, 4, 16, 64, 256, 1562);
    const size_t *types = AT(2, 10, 40, 160, 640, 2500, 10000);
    const struct series all[] = {
        {{.series = "length", .preset = smurf, .sequences = 1, .narrow = true}, VARY(length), lengths, training},
        {{.series = "length, cut", .preset = smurf, .length = 64, .narrow = true}, VARY(sequences), events, training},
        {{.series = "types, default", .preset = smurf}, VARY(types), types, training},
        {{.series = "types, paper", .preset = paper}, VARY(types), types, training},
        {{.series = "types, thp", .preset = "thp"}, VARY(types), types, training},
        {{.series = "types, forecast", .preset = smurf}, VARY(types), types, forecasting},
        {{.series = "points, paper", .preset = paper}, VARY(points), AT(2, 8, 32, 128, 512), training},
        {{.series = "points, default", .preset = smurf}, VARY(points), AT(4, 16, 64, 256), training},
        {{.series = "points, 10,000 types", .preset = smurf, .types = 10000},
         VARY(points),
         AT(4, 16, 64, 256),
         training},
        {{.series = "width", .preset = smurf}, VARY(width), AT(16, 64, 256, 512), training},
        {{.series = "batch", .preset = smurf}, VARY(sequences), AT(1, 4, 16, 64, 256), training},
        {{.series = "threads", .preset = smurf, .sequences = 16}, VARY(threads), AT(1, 2, 4, 8, 16), training},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc < 2 || strcmp(argv[1], all[i].like.series) == 0) run_series(&all[i]);
    return 0;
}
