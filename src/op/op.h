/*
 * op.h - shared by all ops: the number type they are compiled for, and how work is divided.
 *
 * The ops, and the models built from them, are compiled twice, with SMURF_REAL 32 and 64; their files say so in the
 * first line. OP(x) is smurf_x_f32 or smurf_x_f64; headers define x as OP(x), so that calls use the plain name.
 * Training runs in float; double is for finite differences and golden values.
 *
 * An op is a pair of functions, forward and backward, on raw pointers and sizes, without hidden state. Matrices are
 * row-major; a shape (n x d) names rows first. Unless they say otherwise, backward functions add to gradients of
 * parameters and overwrite gradients of inputs. Nothing here allocates: scratch comes from the caller.
 *
 * Work is divided into chunks that depend on sizes only, never on the number of threads, and every sum has a fixed
 * order, so results are bit-identical at any number of threads.
 */
#ifndef SMURF_OP_OP_H
#define SMURF_OP_OP_H

#include "base/progress.h"
#include "base/workspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if SMURF_REAL == 64
typedef double real;
#define OP(name) smurf_##name##_f64
#else
typedef float real;
#define OP(name) smurf_##name##_f32
#endif

/* How a pass runs: its threads, and the inputs of its random numbers. The `place` arguments of the ops distinguish
   layers, heads and rows. */
struct op_run {
    int threads;       /* 1 or more */
    uint64_t seed;     /* of the training run */
    uint64_t step;     /* of training: masks differ at every step */
    double dropout;    /* rate in training; 0: none, as in forecasts */
    struct stop *stop; /* polled inside long loops; NULL: none. After a stop, results are undefined. */
};

static inline bool op_stopped(const struct op_run *run)
{
    return run->stop && smurf_stop_asked(run->stop);
}

/* From this many rows on, a pass may take so long that the calling thread must keep polling while it waits for the
   others. */
enum { OP_LONG = 8192 };

/* Events of several sequences, end to end: sequence s has rows offset[s] .. offset[s+1]-1. */
struct op_rows {
    size_t sequences;
    const size_t *offset; /* (sequences + 1) */
    const uint64_t *id;   /* (sequences) numbers of their first rows in the data set; NULL: those of the batch */
};

/* A row's number in the data set, i counted from the sequence's first. What is random about a row is a function of it,
   not of the batch. */
static inline uint64_t op_row_id(const struct op_rows *rows, size_t sequence, size_t i)
{
    return (rows->id ? rows->id[sequence] : rows->offset[sequence]) + i;
}

/* Dropout of a tensor: kept elements are divided by 1 - rate. The mask is a function of (seed, step, place, element).
 */
struct op_dropout {
    double rate;    /* 0: none; below 1 */
    uint64_t place; /* which tensor; unique among the dropped tensors of a model */
};

/* Takes n reals from a workspace; and the number taken so far. */
static inline real *op_take(struct workspace *w, size_t n)
{
    return workspace_take(w, n, sizeof(real));
}
static inline size_t op_taken(const struct workspace *w)
{
    return w->used / sizeof(real);
}

/* Number of chunks that n rows are divided into for parallel loops: even, of at least `least` rows each. */
static inline size_t op_chunks(size_t n, size_t least)
{
    size_t chunks = n / least;
    if (chunks > 64) chunks = 64;
    return chunks < 2 ? (chunks ? chunks : 1) : chunks & ~(size_t)1;
}

/* First row of chunk c of n rows in `chunks` chunks. */
static inline size_t op_chunk_start(size_t n, size_t chunks, size_t c)
{
    return n * c / chunks;
}

/* n rounded up to whole vectors. Points of a loss are padded so, which avoids scalar remainder loops; the padding
   repeats the last point with weight 0. */
static inline size_t op_filled(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

#endif
