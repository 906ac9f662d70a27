/*
 * adam.h - Adam on one slab, and the average of the weights.
 *
 *     m <- b1 m + (1-b1) g,  v <- b2 v + (1-b2) g^2,  w <- w - rate (m / (1-b1^t)) / (sqrt(v / (1-b2^t)) + eps)
 *
 * with b1 = 0.9, b2 = 0.999, eps = 1e-5. The slab is divided into chunks of fixed size: results are bit-identical at
 * any number of threads.
 */
#ifndef SMURF_TRAIN_ADAM_H
#define SMURF_TRAIN_ADAM_H

#include <stddef.h>
#include <stdint.h>

/* Norm of the gradient; NaN or infinite if an element is. */
double smurf_gradient_norm(size_t n, const float *g, int threads);
/* Step t, counted from 1; the gradient is multiplied by `factor`. */
void smurf_adam_step(size_t n, uint64_t t, double rate, double factor, const float *g, float *m, float *v, float *w,
                     int threads);
/* average <- decay average + (1 - decay) w. */
void smurf_average_step(size_t n, double decay, const float *w, float *average, int threads);

#endif
