/* schedule.c - see schedule.h. */
#include "train/schedule.h"

#include <math.h>

double smurf_schedule_rate(const smurf_settings *config, size_t epoch, uint64_t step, unsigned halvings)
{
    double rate = config->rate;
    size_t end = config->cosine_epochs ? config->cosine_epochs : config->epochs;
    if (config->schedule == 1) {
        double done = end > 0 ? (double)(epoch - 1) / (double)end : 0;
        rate *= 0.5 * (1 + cos(3.14159265358979323846 * (done < 1 ? done : 1)));
    }
    if (config->schedule == 2) rate = ldexp(rate, -(int)halvings);
    if (step < config->warmup) rate *= (double)step / (double)config->warmup;
    return rate;
}
