/* result.c - see result.h. */
#include "result.h"

#include "json_out.h"
#include "terminal.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_list(FILE *out, const char *name, const double *x, size_t n)
{
    fprintf(out, ",\n  \"%s\": [", name);
    for (size_t k = 0; k < n; k++) {
        fputs(k ? ", " : "", out);
        put_number(out, x[k]);
    }
    fputc(']', out);
}

static void put_law(FILE *out, const struct law_result *law)
{
    const smurf_metrics *m = &law->metrics;
    fputs("{\"law\": ", out);
    put_string(out, law->name);
    fprintf(out, ", \"n\": %zu, \"sequences\": %zu", m->n, m->sequences);
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++) {
        fprintf(out, ",\n  \"%s\": ", metric->name);
        put_number(out, smurf_metric_value(m, metric));
    }
    put_list(out, "coverage", m->coverage, SMURF_LEVELS);
    put_list(out, "interval_length", m->interval_length, SMURF_LEVELS);
    fputc('}', out);
}

static void put_result(FILE *out, const struct result *r)
{
    fprintf(out, "{\"code\": \"%s\", \"steps\": %zu, \"acc_markov\": ", r->code, r->steps);
    put_number(out, r->markov);
    fputs(", \"acc_recency\": ", out);
    put_number(out, r->recency);
    fputs(", \"mean_gap\": ", out);
    put_number(out, r->mean_gap);
    if (r->walk.looks) fprintf(out, ",\n \"walk_every\": %zu", r->walk.every);
    if (r->walk.looks) put_list(out, "walk_cs", r->walk.cs, r->walk.looks);
    fputs(",\n \"laws\": [", out);
    for (size_t i = 0; i < r->laws; i++) {
        fputs(i ? ",\n " : "", out);
        put_law(out, &r->law[i]);
    }
    fputs("]}\n", out);
}

bool result_write(const struct result *result, const char *path)
{
    char *beside;
    if (asprintf(&beside, "%s.part", path) < 0) return false;
    FILE *out = fopen(beside, "w");
    bool good = out != NULL;
    if (out) {
        put_result(out, result);
        good = fflush(out) == 0 && fsync(fileno(out)) == 0;
        good = fclose(out) == 0 && good;
    }
    good = good && rename(beside, path) == 0;
    int why = errno;
    if (!good) unlink(beside);
    free(beside);
    errno = why;
    return good;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static size_t count(const json_t *object, const char *name)
{
    double x = number(object, name);
    return x >= 0 && x < 1e15 ? (size_t)x : 0;
}

/* Up to n numbers, the rest NaN; returns how many there are. */
static size_t read_list(const json_t *object, const char *name, double *out, size_t n)
{
    const json_t *list = json_object_get(object, name);
    for (size_t k = 0; k < n; k++) {
        const json_t *value = json_array_get(list, k);
        out[k] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return json_array_size(list) < n ? json_array_size(list) : n;
}

static void read_law(struct law_result *out, const json_t *law)
{
    const char *name = json_string_value(json_object_get(law, "law"));
    *out = (struct law_result){0};
    snprintf(out->name, sizeof out->name, "%s", name ? name : "");
    out->metrics.n = count(law, "n");
    out->metrics.sequences = count(law, "sequences");
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++) {
        double x = number(law, metric->name);
        memcpy((char *)&out->metrics + metric->offset, &x, sizeof x);
    }
    read_list(law, "coverage", out->metrics.coverage, SMURF_LEVELS);
    read_list(law, "interval_length", out->metrics.interval_length, SMURF_LEVELS);
}

/* jansson's parser drops characters when out of memory, so that must end the command. */
static void *allocate(size_t n)
{
    void *p = malloc(n);
    if (!p) out_of_memory();
    return p;
}

bool result_read(struct result *out, const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in && errno == ENOMEM) out_of_memory();
    json_set_alloc_funcs(allocate, free);
    json_t *root = in ? json_loadf(in, 0, NULL) : NULL;
    json_set_alloc_funcs(malloc, free);
    if (in) fclose(in);
    const json_t *laws = json_object_get(root, "laws");
    *out = (struct result){.steps = count(root, "steps"), .markov = number(root, "acc_markov")};
    out->recency = number(root, "acc_recency");
    out->mean_gap = number(root, "mean_gap");
    out->walk.every = count(root, "walk_every");
    out->walk.looks = read_list(root, "walk_cs", out->walk.cs, LOOKS_MOST);
    const char *code = json_string_value(json_object_get(root, "code"));
    snprintf(out->code, sizeof out->code, "%s", code ? code : "");
    for (size_t i = 0; i < json_array_size(laws) && i < LAWS_MOST; i++)
        read_law(&out->law[out->laws++], json_array_get(laws, i));
    json_decref(root);
    return out->laws > 0;
}
