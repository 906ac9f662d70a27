/*
 * units.h - z = tanh(a tau + b) at n points: the inner loop of both heads.
 *
 * The last n mod 16 points are done with those before them as a block of 16, some for the second time and with the same
 * result: left over, they would be taken one by one, and a scalar tanh costs as much as a whole vector of them. For
 * files compiled with -ffast-math.
 */
#ifndef SMURF_OP_UNITS_H
#define SMURF_OP_UNITS_H

#include "base/clones.h"
#include "op/op.h"
#include "op/real.h"

OP_CLONES
static void units(const real *restrict tau, size_t n, real a, real b, real *restrict z)
{
    enum { BLOCK = 16 };
    size_t whole = n / BLOCK * BLOCK, rest = n - whole;
    for (size_t i = 0; i < whole; i++) z[i] = tanh_real(a * tau[i] + b);
    if (rest == 0) return;
    if (n > BLOCK) {
        const real *end = tau + n - BLOCK;
        for (size_t i = 0; i < BLOCK; i++) z[n - BLOCK + i] = tanh_real(a * end[i] + b);
        return;
    }
    real last[BLOCK] = {0};
    for (size_t i = 0; i < rest; i++) last[i] = a * tau[whole + i] + b;
    for (size_t i = 0; i < BLOCK; i++) last[i] = tanh_real(last[i]);
    for (size_t i = 0; i < rest; i++) z[whole + i] = last[i];
}

#endif
