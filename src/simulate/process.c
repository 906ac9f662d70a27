/* process.c - the table of processes (process.h), and construction from named parameters. */
#include "simulate/process.h"

#include "base/error.h"
#include "data/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &name,
static const struct process_class *const table[] = {SMURF_PROCESSES(ENTRY)};
#undef ENTRY
enum { PROCESSES = sizeof table / sizeof *table };

/* Checking a larger matrix takes minutes. */
enum { MATRIX_TYPE_LIMIT = 4096 };

/* ---- The table, for help ------------------------------------------------------------------------- */

const char *smurf_process_name(size_t index)
{
    return index < PROCESSES ? table[index]->name : NULL;
}

const char *smurf_process_about(size_t index)
{
    return index < PROCESSES ? table[index]->about : NULL;
}

const char *smurf_process_parameter_name(size_t index, size_t parameter)
{
    return index < PROCESSES && parameter < PARAMETER_LIMIT ? table[index]->parameter[parameter].name : NULL;
}

const char *smurf_process_parameter_about(size_t index, size_t parameter)
{
    return index < PROCESSES && parameter < PARAMETER_LIMIT ? table[index]->parameter[parameter].about : NULL;
}

/* Index of `name` in the NULL-terminated names; if it is missing, fails with a list of them. */
static smurf_status find(size_t *out, const char *const *names, const char *name, const char *what, smurf_error *err)
{
    char all[512] = "";
    for (size_t i = 0, used = 0; names[i]; i++) {
        *out = i;
        if (name && strcmp(name, names[i]) == 0) return SMURF_OK;
        if (used < sizeof all) used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
    }
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "unknown %s '%s': use one of %s", what, name ? name : "", all);
}

/* ---- Parameters ---------------------------------------------------------------------------------- */

static size_t size_of(enum parameter_shape shape, size_t types)
{
    return shape == SHAPE_ONE ? 1 : shape == SHAPE_MATRIX ? types * types : types;
}

/* The request, as the checks below see it. */
struct request {
    const struct process_class *class;
    size_t types;
    smurf_error *err;
};

static smurf_status check_count(const struct request *r, const struct parameter_class *p, size_t count)
{
    size_t types = r->types;
    if (count == 1 || (count && count == size_of(p->shape, types)) || (p->shape == SHAPE_MATRIX && count == types))
        return SMURF_OK;
    char allowed[128] = "";
    if (p->shape == SHAPE_MATRIX && types > 1)
        snprintf(allowed, sizeof allowed, ", %zu or %zu", types, types * types);
    else if (p->shape != SHAPE_ONE && types > 1)
        snprintf(allowed, sizeof allowed, " or %zu, one per type", types);
    return smurf_fail(r->err, SMURF_ERROR_ARGUMENT, "parameter '%s' of process '%s' has %zu values: give 1%s", p->name,
                      r->class->name, count, allowed);
}

static smurf_status check_value(const struct request *r, const struct parameter_class *p, double value)
{
    const struct parameter_range *range = &p->range;
    if (isfinite(value) && value >= range->low && value <= range->high && !(range->open && value == range->low))
        return SMURF_OK;
    char allowed[128] = "a finite number";
    if (isfinite(range->high))
        snprintf(allowed, sizeof allowed, "a number from %g to %g", range->low, range->high);
    else if (isfinite(range->low))
        snprintf(allowed, sizeof allowed, "a finite number %s", range->open ? "above 0" : "of 0 or more");
    return smurf_fail(r->err, SMURF_ERROR_ARGUMENT, "parameter '%s' of process '%s' is %g: give %s", p->name,
                      r->class->name, value, allowed);
}

/* Expands count values to the parameter's shape. */
static void spread(double *out, enum parameter_shape shape, size_t types, const double *values, size_t count)
{
    size_t size = size_of(shape, types);
    if (shape != SHAPE_MATRIX || count == size) {
        for (size_t i = 0; i < size; i++) out[i] = values[count == 1 ? 0 : i];
        return;
    }
    for (size_t i = 0; i < size; i++) {
        size_t row = i / types, column = i % types;
        if (count == 1)
            out[i] = values[0] / (double)types;
        else
            out[i] = row == column ? values[row] : 0;
    }
}

static smurf_status make_shares(const struct request *r, const struct parameter_class *p, double *share, double *weight)
{
    *weight = 0;
    for (size_t k = 0; k < r->types; k++) *weight += share[k];
    if (!(*weight > 0 && isfinite(*weight)))
        return smurf_fail(r->err, SMURF_ERROR_ARGUMENT,
                          "the values of parameter '%s' of process '%s' sum to %g: give at least one above 0, "
                          "with a finite sum",
                          p->name, r->class->name, *weight);
    for (size_t k = 0; k < r->types; k++) share[k] /= *weight;
    return SMURF_OK;
}

static smurf_status fill(const struct request *r, smurf_process *process, size_t index, const double *values,
                         size_t count)
{
    const struct parameter_class *p = &r->class->parameter[index];
    smurf_status status = check_count(r, p, values ? count : 0);
    for (size_t i = 0; i < count && !status; i++) status = check_value(r, p, values[i]);
    if (status) return status;
    double *out = process->values + process->at[index];
    spread(out, p->shape, r->types, values, count);
    if (p->shape != SHAPE_WEIGHTS) return SMURF_OK;
    process->share = process->at[index];
    return make_shares(r, p, out, &process->weight);
}

/* ---- Processes ----------------------------------------------------------------------------------- */

/* Allocates the process; the parameters are not set. */
static smurf_process *allocate(const struct process_class *class, uint32_t types)
{
    size_t at[PARAMETER_LIMIT] = {0}, count = types;
    for (size_t i = 0; i < PARAMETER_LIMIT && class->parameter[i].name; i++) {
        at[i] = count;
        count += size_of(class->parameter[i].shape, types);
    }
    smurf_process *process = malloc(sizeof *process + count * sizeof *process->values);
    if (!process) return NULL;
    *process = (smurf_process){.class = class, .types = types, .count = count};
    memcpy(process->at, at, sizeof at);
    return process;
}

static smurf_status check_types(const struct request *r)
{
    size_t limit = TYPE_LIMIT;
    for (size_t i = 0; i < PARAMETER_LIMIT; i++)
        if (r->class->parameter[i].name && r->class->parameter[i].shape == SHAPE_MATRIX) limit = MATRIX_TYPE_LIMIT;
    if (r->types >= 1 && r->types <= limit) return SMURF_OK;
    return smurf_fail(r->err, SMURF_ERROR_ARGUMENT, "process '%s' cannot have %zu types: give 1 to %zu", r->class->name,
                      r->types, limit);
}

/* Checks names; which[i] is the given parameter for the class's parameter i, or NULL. */
static smurf_status match(const struct request *r, const smurf_parameter *given, size_t count,
                          const smurf_parameter *which[PARAMETER_LIMIT])
{
    const char *names[PARAMETER_LIMIT + 1] = {NULL};
    for (size_t i = 0; i < PARAMETER_LIMIT; i++) names[i] = r->class->parameter[i].name;
    char what[128];
    snprintf(what, sizeof what, "%s parameter", r->class->name);
    for (size_t j = 0; j < count; j++) {
        size_t i;
        smurf_status status = find(&i, names, given[j].name, what, r->err);
        if (status) return status;
        if (which[i])
            return smurf_fail(r->err, SMURF_ERROR_ARGUMENT, "parameter '%s' of process '%s' is given twice",
                              given[j].name, r->class->name);
        which[i] = &given[j];
    }
    return SMURF_OK;
}

static smurf_status fill_rates(smurf_process *process, smurf_error *err)
{
    if (process->class->rates) return process->class->rates(process, process->values, err);
    double rate = process->class->rate(process);
    for (uint32_t k = 0; k < process->types; k++) process->values[k] = rate * process->values[process->share + k];
    return SMURF_OK;
}

smurf_status smurf_process_new(smurf_process **out, const char *name, uint32_t types, const smurf_parameter *parameters,
                               size_t count, smurf_error *err)
{
    *out = NULL;
    const char *names[PROCESSES + 1] = {NULL};
    for (size_t i = 0; i < PROCESSES; i++) names[i] = table[i]->name;
    size_t index;
    smurf_status status = find(&index, names, name, "process", err);
    if (status) return status;
    struct request r = {table[index], types, err};
    const smurf_parameter *which[PARAMETER_LIMIT] = {NULL};
    status = check_types(&r);
    if (!status) status = match(&r, parameters, count, which);
    if (status) return status;

    smurf_process *process = allocate(r.class, types);
    if (!process) return smurf_fail_memory(err);
    for (size_t i = 0; i < PARAMETER_LIMIT && r.class->parameter[i].name && !status; i++) {
        if (which[i])
            status = fill(&r, process, i, which[i]->values, which[i]->count);
        else
            status = fill(&r, process, i, &r.class->parameter[i].fallback, 1);
    }
    if (!status) status = fill_rates(process, err);
    if (status)
        smurf_process_free(process);
    else
        *out = process;
    return status;
}

size_t smurf_process_columns(const smurf_process *process)
{
    size_t n = 0;
    while (n < MARKS && process->class->column[n].name) n++;
    return n;
}

smurf_status smurf_process_further(const smurf_process *process, struct further *out, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    *out = (struct further){0};
    for (size_t i = 0; i < smurf_process_columns(process) && !status; i++) {
        const struct column_class *c = &process->class->column[i];
        status = smurf_further_add(out, c->name, strlen(c->name), c->words != NULL, err);
        for (size_t k = 0; !status && c->words && c->words[k]; k++)
            if (smurf_names_intern(&out->column[i].word, c->words[k], strlen(c->words[k])) != k)
                status = smurf_fail_memory(err);
    }
    if (status) smurf_further_release(out);
    return status;
}

void smurf_process_free(smurf_process *process)
{
    free(process);
}

void smurf_process_rates(const smurf_process *process, double *out)
{
    memcpy(out, process->values, process->types * sizeof *out);
}
