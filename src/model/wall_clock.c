/* wall_clock.c - see wall_clock.h. */
#include "model/wall_clock.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/sort.h"
#include "data/data.h"
#include "data/reading.h"
#include "data/time_zone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double two_years = 2 * 365.2425 * 86400, two_weeks = 14 * 86400;
enum { EVENTS_LEAST = 2000 };
/* Share of the gaps that are longer than the cut; and gaps that it is taken from, if there are more. */
static const double rare = 0.001;
enum { SAMPLE = 1 << 23 };

/* ---- Fitting ----------------------------------------------------------------------------------- */

/* Time from the first event to the last, over all sequences. */
static double span_of(const smurf_data *data)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t s = 0; s < data->sequences; s++) {
        const smurf_sequence *q = &data->sequence[s];
        if (!q->length) continue;
        first = fmin(first, (double)q->origin + q->time[0]);
        last = fmax(last, (double)q->origin + q->time[q->length - 1]);
    }
    return last - first;
}

static smurf_status fit_cut(double *cut, const smurf_data *train, smurf_error *err)
{
    size_t n = 0, seen = 0, every = 1 + smurf_data_gaps(train) / SAMPLE;
    double *gap = malloc((smurf_data_gaps(train) / every + 1) * sizeof *gap);
    if (!gap) return smurf_fail_memory(err);
    for (size_t s = 0; s < train->sequences; s++)
        for (size_t i = train->sequence[s].first; i < train->sequence[s].length; i++)
            if (++seen % every == 0) gap[n++] = train->sequence[s].time[i] - train->sequence[s].time[i - 1];
    smurf_sort(gap, n);
    *cut = fmin(fmax(n ? gap[n - 1 - (size_t)(rare * (double)n)] : 0, CLOCK_CUT_LEAST), CLOCK_CUT_MOST);
    free(gap);
    return SMURF_OK;
}

static smurf_status open_zone(struct wall_clock *clock, const char *name, smurf_error *err)
{
    if (!name) return SMURF_OK;
    clock->timezone = strdup(name);
    return clock->timezone ? smurf_time_zone_open(&clock->zone, name, err) : smurf_fail_memory(err);
}

bool smurf_wall_clock_suits(const smurf_data *train)
{
    return train->calendar && !smurf_reading_lacks_year(&train->reading) && train->events >= EVENTS_LEAST &&
           span_of(train) >= two_weeks;
}

smurf_status smurf_wall_clock_fit(struct wall_clock *clock, const smurf_data *train, bool season, smurf_error *err)
{
    *clock = (struct wall_clock){0};
    if (!train->calendar)
        return smurf_fail_at(err, train->source, 0,
                             "its times are not dates, so there is no hour and no weekday to learn from: leave "
                             "wall-clock off");
    bool year = !smurf_reading_lacks_year(&train->reading);
    clock->shape = (struct clock_shape){year, season && year && span_of(train) >= two_years};
    smurf_status status = fit_cut(&clock->cut, train, err);
    if (!status) status = open_zone(clock, train->reading.timezone, err);
    if (status) smurf_wall_clock_release(clock);
    return status;
}

void smurf_wall_clock_release(struct wall_clock *clock)
{
    smurf_time_zone_free(clock->zone);
    free(clock->timezone);
    *clock = (struct wall_clock){0};
}

smurf_status smurf_wall_clock_copy(struct wall_clock *to, const struct wall_clock *from, smurf_error *err)
{
    *to = *from;
    to->timezone = NULL;
    to->zone = NULL;
    return open_zone(to, from->timezone, err);
}

uint64_t smurf_wall_clock_hash(const struct wall_clock *clock, uint64_t h)
{
    h = smurf_hash(h, (clock->shape.week ? 1u : 0) + (clock->shape.year ? 2u : 0));
    h = smurf_hash_bytes(h, &clock->cut, sizeof clock->cut);
    return smurf_hash_bytes(h, clock->timezone, clock->timezone ? strlen(clock->timezone) : 0);
}

/* ---- As JSON ------------------------------------------------------------------------------------ */

json_t *smurf_wall_clock_to_json(const struct wall_clock *clock)
{
    return json_pack("{s:b, s:b, s:f, s:s?}", "week", (int)clock->shape.week, "year", (int)clock->shape.year, "cut",
                     clock->cut, "timezone", clock->timezone);
}

smurf_status smurf_wall_clock_from_json(struct wall_clock *clock, const json_t *json, const char *file, bool *right,
                                        smurf_error *err)
{
    const json_t *zone = json_object_get(json, "timezone"), *week = json_object_get(json, "week"),
                 *year = json_object_get(json, "year");
    smurf_error why;
    clock->shape = (struct clock_shape){json_is_true(week), json_is_true(year)};
    clock->cut = json_number_value(json_object_get(json, "cut"));
    *right = json_is_boolean(week) && json_is_boolean(year) && (!zone || json_is_null(zone) || json_is_string(zone)) &&
             clock->cut >= CLOCK_CUT_LEAST && clock->cut <= CLOCK_CUT_MOST;
    if (!*right) return SMURF_OK;
    smurf_status status = open_zone(clock, json_string_value(zone), &why);
    return status == SMURF_ERROR_MEMORY ? smurf_fail_memory(err)
           : status                     ? smurf_fail_at(err, file, 0, "%.900s", why.message)
                                        : SMURF_OK;
}
