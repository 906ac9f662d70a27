/* blend.c - see blend.h. */
#include "law/blend.h"

#include <math.h>

static bool is_there(const struct blend *b, int law)
{
    return b->there >> law & 1;
}

static double count(const struct blend *b)
{
    double n = 0;
    for (int e = 0; e < BLEND_LAWS; e++) n += is_there(b, e);
    return n;
}

void smurf_blend_init(struct blend *b, double rate, uint64_t there)
{
    *b = (struct blend){.rate = rate, .there = rate > 0 ? there : 1};
    for (int e = 0; e < BLEND_LAWS; e++) b->weight[e] = is_there(b, e) ? 1 / count(b) : 0;
}

void smurf_blend_see(struct blend *b, const double share[BLEND_LAWS])
{
    double part[BLEND_LAWS] = {0}, sum = 0;
    if (!(b->rate > 0) || isnan(share[0])) return;
    for (int e = 0; e < BLEND_LAWS; e++) {
        if (is_there(b, e)) part[e] = b->weight[e] * fmax(share[e], BLEND_LEAST);
        sum += part[e];
    }
    for (int e = 0; e < BLEND_LAWS; e++)
        if (is_there(b, e)) b->weight[e] = (1 - b->rate) * part[e] / sum + b->rate / count(b);
}

bool smurf_blend_set(struct blend *b, const double weight[BLEND_LAWS])
{
    double sum = 0;
    for (int e = 0; e < BLEND_LAWS; e++) {
        bool possible = is_there(b, e) ? weight[e] > 0 && weight[e] <= 1 : weight[e] == 0;
        if (!possible) return false;
        sum += weight[e];
    }
    if (!(fabs(sum - 1) < 1e-9)) return false;
    for (int e = 0; e < BLEND_LAWS; e++) b->weight[e] = weight[e];
    return true;
}
