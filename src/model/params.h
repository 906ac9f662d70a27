/*
 * params.h - a model's parameter table: named views into one slab.
 *
 * The slab is an array of floats (or of doubles in tests); gradients and moments have the same shape, so one table
 * serves them all.
 */
#ifndef SMURF_MODEL_PARAMS_H
#define SMURF_MODEL_PARAMS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum param_start {
    START_ZERO,
    START_ONE,
    START_NORMAL,        /* N(0, 1) */
    START_XAVIER,        /* uniform within sqrt(6 / (rows + columns)) */
    START_FAN_IN,        /* uniform within 1 / sqrt(fan) */
    START_XAVIER_NORMAL, /* N(0, 2 / (rows + columns)) */
    START_VALUE,         /* `value`, set after adding */
};

struct param {
    char name[40];
    size_t rows, columns; /* columns 0: a vector of `rows` */
    size_t at;            /* offset in the slab */
    size_t size;
    enum param_start start;
    size_t fan;   /* for START_FAN_IN */
    double value; /* for START_VALUE */
};

enum { PARAMS_MOST = 400 };
struct params {
    struct param entry[PARAMS_MOST];
    size_t count;
    size_t total; /* elements of the slab */
};

/* Adds an entry and returns its offset. Offsets are multiples of 16 elements. */
size_t smurf_params_add(struct params *params, enum param_start start, size_t fan, size_t rows, size_t columns,
                        const char *name, ...) __attribute__((format(printf, 6, 7)));
/* Fills a slab with initial values, a function of the seed. */
void smurf_params_start(const struct params *params, uint64_t seed, double *slab);

#endif
