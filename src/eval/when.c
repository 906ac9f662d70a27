/*
 * when.c - see when.h. Dates are stored as seconds since 1970 in UTC; the zone is the one the data was read in.
 */
#include "eval/when.h"

#include "base/error.h"
#include "data/data.h"
#include "data/reading.h"
#include "data/time_zone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct evaluation *out, const smurf_data *data, const struct time_zone *zone)
{
    size_t i = 0;
    for (size_t s = 0; s < data->sequences; s++) {
        const smurf_sequence *q = &data->sequence[s];
        for (size_t event = q->first; event < q->length; event++) {
            double utc = (double)q->origin + q->time[event - 1];
            bool usual = fabs(utc) < 1e11; /* years -1200 to 5100 */
            out->began[i++] = usual ? utc + smurf_time_zone_offset(zone, (int64_t)floor(utc)) : NAN;
        }
    }
}

smurf_status smurf_when_fill(struct evaluation *out, const smurf_data *data, smurf_error *err)
{
    const char *name = data->reading.timezone;
    struct time_zone *zone = NULL;
    if (!data->calendar) return SMURF_OK;
    /* A zone that cannot be opened here (a model from another computer): times are shown in UTC. */
    if (name && smurf_time_zone_open(&zone, name, NULL)) zone = NULL;
    out->began = malloc((out->n ? out->n : 1) * sizeof *out->began);
    if (out->began) fill(out, data, zone);
    snprintf(out->zone, sizeof out->zone, "%s", zone ? name : "UTC");
    out->no_week = smurf_reading_lacks_year(&data->reading);
    smurf_time_zone_free(zone);
    return out->began ? SMURF_OK : smurf_fail_memory(err);
}
