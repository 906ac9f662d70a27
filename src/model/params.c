/* params.c - see params.h. */
#include "model/params.h"

#include "base/random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t smurf_params_add(struct params *params, enum param_start start, size_t fan, size_t rows, size_t columns,
                        const char *name, ...)
{
    struct param *p = &params->entry[params->count++];
    va_list args;
    va_start(args, name);
    vsnprintf(p->name, sizeof p->name, name, args);
    va_end(args);
    p->rows = rows;
    p->columns = columns;
    p->size = rows * (columns ? columns : 1);
    p->start = start;
    p->fan = fan;
    p->value = 0;
    p->at = params->total;
    params->total += (p->size + 15) & ~(size_t)15;
    return p->at;
}

static double draw(const struct param *p, struct random *random)
{
    double bound;
    switch (p->start) {
    case START_ONE: return 1;
    case START_VALUE: return p->value;
    case START_NORMAL: return smurf_random_normal(random);
    case START_XAVIER: bound = sqrt(6.0 / (double)(p->rows + p->columns)); break;
    case START_XAVIER_NORMAL: return sqrt(2.0 / (double)(p->rows + p->columns)) * smurf_random_normal(random);
    case START_FAN_IN: bound = 1 / sqrt((double)p->fan); break;
    default: return 0;
    }
    return bound * (2 * smurf_random_uniform(random) - 1);
}

void smurf_params_start(const struct params *params, uint64_t seed, double *slab)
{
    memset(slab, 0, params->total * sizeof *slab);
    for (size_t i = 0; i < params->count; i++) {
        const struct param *p = &params->entry[i];
        struct random random;
        smurf_random_init(&random, seed, 0x706172616d000000u + i); /* each tensor has its own stream */
        for (size_t k = 0; k < p->size; k++) slab[p->at + k] = draw(p, &random);
    }
}
