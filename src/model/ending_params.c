/* ending_params.c - entries of the probability of an end in the table of parameters. See ending.h. */
#include "model/ending.h"

#include <math.h>

/* The probability that training starts from, after any event. */
static const double start = 0.01;

void smurf_ending_params(size_t width, struct params *params, struct ending_params *out)
{
    out->w = smurf_params_add(params, START_ZERO, 0, width, 0, "end.weight");
    out->b = smurf_params_add(params, START_VALUE, 0, 1, 0, "end.bias");
    params->entry[params->count - 1].value = log(start / (1 - start));
}
