/*
 * adam.h - Adam on one slab, and the average of the weights.
 *
 *     m <- b1 m + (1-b1) g,  v <- b2 v + (1-b2) g^2,  w <- w - rate (m / (1-b1^t)) / (sqrt(v / (1-b2^t)) + eps)
 *
 * with b1 = 0.9, b2 = 0.999, eps = 1e-5. The norm is a sum over chunks of fixed size: the same at any number of
 * threads.
 */
#ifndef SMURF_TRAIN_ADAM_H
#define SMURF_TRAIN_ADAM_H

#include <stddef.h>
#include <stdint.h>

enum { ADAM_CHUNK = 16384 };
static inline size_t smurf_adam_chunks(size_t n)
{
    return (n + ADAM_CHUNK - 1) / ADAM_CHUNK;
}

/* Sum of the squares of a chunk; NaN or infinite if an element is. */
double smurf_square(size_t n, const float *g);
/* Norm of the gradient: of the sums over its chunks, added in order. */
double smurf_gradient_norm(size_t n, const float *g);

/* What the weights of a step share. */
struct adam_rates {
    float factor, rate, inverse; /* of the gradient; bias-corrected rate, and factor of the second moment */
};
/* Step t, counted from 1; the gradient is multiplied by `factor`. */
struct adam_rates smurf_adam_rates(uint64_t t, double rate, double factor);
/* Moves n weights. */
void smurf_adam_move(size_t n, const struct adam_rates *rates, const float *g, float *m, float *v, float *w);
/* average <- decay average + (1 - decay) w. */
void smurf_average_move(size_t n, double decay, const float *w, float *average);

#endif
