/*
 * dither.c - undoes clock rounding by spreading each gap within its tick.
 *
 *     gap > 0:  gap + 2 h (u - 1/2),  h = min(tick / 2, gap)     a gap below half a tick stays positive
 *     gap = 0:  tick u / 2                                       events on the same tick
 *
 * u is uniform in (0, 1), a function of (seed, sequence, event) alone. Times are running sums of the new gaps. The
 * first event and the start of observation do not move; the end of observation moves with the last event, so the
 * silence after it keeps its length.
 */
#include "base/error.h"
#include "base/random.h"
#include "data/builder.h"

#include <math.h>

/* Separates these draws from others with the same seed. */
static const uint64_t purpose = 0x646974686572; /* "dither" */

static double uniform(uint64_t seed, size_t sequence, size_t event)
{
    uint32_t word[4];
    smurf_philox(word, seed ^ purpose, sequence, event);
    return smurf_random_unit((uint64_t)word[1] << 32 | word[0]);
}

static double spread(double gap, double tick, double u)
{
    if (gap <= 0) return tick * u / 2;
    return gap + 2 * fmin(tick / 2, gap) * (u - 0.5);
}

static smurf_status dither_sequence(struct builder *b, const smurf_sequence *s, size_t index, double tick,
                                    uint64_t seed, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    double time = 0;
    for (size_t j = 0; j < s->length && !status; j++) {
        double before = time;
        time = j == 0 ? s->time[0] : before + spread(s->time[j] - s->time[j - 1], tick, uniform(seed, index, j));
        if (j > 0 && time <= before) time = nextafter(before, INFINITY); /* the gap was lost to rounding */
        status = smurf_builder_time(b, time, err);
        if (!status) status = smurf_builder_index(b, s->type[j], err);
    }
    if (status) return status;
    status = smurf_builder_further(b, s->further, s->length, err);
    if (status) return status;
    double end = s->length > 0 ? time + (s->end - s->time[s->length - 1]) : s->end;
    return smurf_builder_close(b, &(struct sequence_info){s->origin, s->start, end, s->first, s->name, s->before}, err);
}

smurf_status smurf_data_dither(smurf_data **out, const smurf_data *data, double tick, uint64_t seed, smurf_error *err)
{
    *out = NULL;
    if (!(tick > 0) || isinf(tick))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "cannot dither '%s': the tick must be a positive number, such as 1 for whole seconds",
                          data->source);
    struct builder b = {.name = data->source};
    smurf_status status = smurf_builder_inherit(&b, data, err);
    for (size_t i = 0; i < data->sequences && !status; i++)
        status = dither_sequence(&b, &data->sequence[i], i, tick, seed, err);
    if (!status) status = smurf_builder_finish(&b, out, err);
    smurf_builder_release(&b);
    return status;
}
