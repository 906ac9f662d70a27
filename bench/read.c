/*
 * read.c - speed and memory of reading event data, on one core.
 *
 *     bench_read DIRECTORY     writes 100 MB files there, reads each, prints one JSON object per line
 *
 * Two kinds of numbers with different costs: `clock` has short integers in seconds (few bytes per event), `double` has
 * 17 digits, as Python prints doubles. Each file is read five times, each time in its own process, so that the peak
 * memory is that of one read; the median is reported. Fails below 150 MB/s or above three times the packed size.
 */
#include "smurf_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, TARGET = 100000000 };
static const double least_mb_per_s = 150, most_memory = 3;
static int failures;

struct result {
    double seconds, peak, packed, events;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* reading runs on one core; other work does not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *message)
{
    fprintf(stderr, "bench_read: %s\n", message);
    exit(1);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static void print_time(FILE *out, double time, int rounded)
{
    fprintf(out, rounded ? "%.0f" : "%.17g", time);
}

/* Sequences of 100 events of 22 types. */
static void make_jsonl(FILE *out, int rounded)
{
    uint64_t state = 1;
    while (ftell(out) < TARGET) {
        double time = 0;
        fputs("{\"dim_process\":22,\"time_since_start\":[0", out);
        for (int i = 1; i < 100; i++) {
            fputs(", ", out);
            print_time(out, time += -log(uniform(&state)) * (rounded ? 100 : 1), rounded);
        }
        fputs("],\"type_event\":[0", out);
        for (int i = 1; i < 100; i++) fprintf(out, ", %d", (int)(22 * uniform(&state)));
        fputs("]}\n", out);
    }
}

static void make_csv(FILE *out, int rounded)
{
    uint64_t state = 1;
    fputs("sequence,time,type\n", out);
    for (int sequence = 0; ftell(out) < TARGET; sequence++) {
        double time = 0;
        for (int i = 0; i < 100; i++) {
            fprintf(out, "%d,", sequence);
            print_time(out, time += -log(uniform(&state)) * (rounded ? 100 : 1), rounded);
            fprintf(out, ",%d\n", (int)(22 * uniform(&state)));
        }
    }
}

/* Rows in order of time, 1000 sequences interleaved. */
static void make_mixed_csv(FILE *out, int rounded)
{
    uint64_t state = 1;
    double time = 0;
    fputs("sequence,time,type\n", out);
    while (ftell(out) < TARGET) {
        fprintf(out, "%d,", (int)(1000 * uniform(&state)));
        print_time(out, time += -log(uniform(&state)), rounded);
        fprintf(out, ",%d\n", (int)(22 * uniform(&state)));
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static void read_once(const char *path, int pipe_end)
{
    smurf_error err;
    smurf_data *data;
    double start = now();
    if (smurf_data_read(&data, path, NULL, &err)) fail(err.message);
    struct result r = {now() - start, 0, (double)smurf_data_bytes(data), (double)smurf_data_events(data)};
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    r.peak = (double)usage.ru_maxrss * 1024;
    if (write(pipe_end, &r, sizeof r) != sizeof r) fail("cannot report");
    _exit(0);
}

static struct result read_apart(const char *path)
{
    int ends[2];
    struct result r;
    if (pipe(ends) != 0) fail("no pipe");
    pid_t child = fork();
    if (child == 0) read_once(path, ends[1]);
    close(ends[1]);
    if (read(ends[0], &r, sizeof r) != sizeof r) fail("a read failed");
    close(ends[0]);
    waitpid(child, NULL, 0);
    return r;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct result *)a)->seconds, y = ((const struct result *)b)->seconds;
    return x < y ? -1 : x > y;
}

static void measure(const char *directory, const char *name, const char *suffix, void (*make)(FILE *, int), int rounded)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", directory, name, suffix);
    FILE *out = fopen(path, "w");
    if (!out) fail("cannot write to the directory");
    make(out, rounded);
    if (fclose(out) != 0) fail("cannot write to the directory");
    struct stat about;
    stat(path, &about);
    struct result r[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) r[i] = read_apart(path);
    qsort(r, ROUNDS, sizeof *r, by_seconds);
    const struct result *median = &r[ROUNDS / 2];
    printf("{\"name\":\"%s\",\"path\":\"%s\",\"bytes\":%lld,\"events\":%.0f,\"mb_per_s\":%.1f,\"best_mb_per_s\":%.1f,"
           "\"packed_mb\":%.1f,\"peak_mb\":%.1f,\"peak_over_packed\":%.2f}\n",
           name, path, (long long)about.st_size, median->events, (double)about.st_size / median->seconds / 1e6,
           (double)about.st_size / r[0].seconds / 1e6, median->packed / 1e6, median->peak / 1e6,
           median->peak / median->packed);
    fflush(stdout);
    if ((double)about.st_size / median->seconds / 1e6 < least_mb_per_s || median->peak > most_memory * median->packed) {
        fprintf(stderr, "bench_read: %s misses its limits\n", name);
        failures++;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) fail("usage: bench_read DIRECTORY");
    measure(argv[1], "jsonl_clock", "jsonl", make_jsonl, 1);
    measure(argv[1], "jsonl_double", "jsonl", make_jsonl, 0);
    measure(argv[1], "csv_clock", "csv", make_csv, 1);
    measure(argv[1], "csv_double", "csv", make_csv, 0);
    measure(argv[1], "csv_interleaved", "csv", make_mixed_csv, 0);
    return failures > 0;
}
