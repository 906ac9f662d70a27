/*
 * observe.c - until when sequences were observed, where the data does not say.
 *
 * A log of dates was observed until its last event: a sequence without an event since then fell silent, which is what
 * the probability of no further event is learned from. Sequences that all begin at the same moment, such as those of
 * benchmarks that count from 0, do not share a clock, and nothing follows from their last event.
 */
#include "base/error.h"
#include "data/data.h"

#include <math.h>

enum { PARTS = 3 };

static smurf_moment moment_of(const smurf_sequence *s, double time)
{
    double whole = floor(time);
    return (smurf_moment){s->origin + (int64_t)whole, time - whole};
}

static bool is_before(smurf_moment a, smurf_moment b)
{
    return a.whole < b.whole || (a.whole == b.whole && a.fraction < b.fraction);
}

/* What decides whether a log was observed until its last event. */
struct look {
    size_t sequences, unknown; /* with events; of those, whose end of observation is unknown */
    bool dates, apart;         /* times are dates; not all begin at the same moment */
    smurf_moment begin, last;
};

static void look_at(struct look *l, const smurf_data *data)
{
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        if (s->length == 0) continue;
        smurf_moment begin = moment_of(s, s->time[0]), last = moment_of(s, s->time[s->length - 1]);
        if (l->sequences == 0) l->begin = begin, l->last = last;
        l->apart = l->apart || is_before(begin, l->begin) || is_before(l->begin, begin);
        if (is_before(l->last, last)) l->last = last;
        l->unknown += isnan(s->end) ? 1 : 0;
        l->sequences++;
    }
    l->dates = l->dates && data->calendar;
}

static void take_end(smurf_data *data, smurf_moment until, bool assumed)
{
    data->observed = true;
    data->observed_until = until;
    for (size_t i = 0; i < data->sequences; i++) {
        smurf_sequence *s = &data->sequence[i];
        if (!isnan(s->end) || s->length == 0) continue;
        double end = smurf_moment_gap((smurf_moment){s->origin, 0}, until), last = s->time[s->length - 1];
        s->end = end > last ? end : last; /* not before it by rounding */
        data->assumed = assumed;
    }
}

smurf_status smurf_split_observe(smurf_split *split, const smurf_moment *until, smurf_error *err)
{
    smurf_data *part[PARTS] = {split->train, split->dev, split->test};
    struct look l = {.dates = true};
    for (int i = 0; i < PARTS; i++)
        if (part[i]) look_at(&l, part[i]);
    if (until && l.sequences && is_before(*until, l.last))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the end of observation is before the last event: give a later time, or leave out the events "
                          "after it");
    if (!until && !(l.dates && l.apart && l.sequences > 1 && l.unknown == l.sequences)) return SMURF_OK;
    for (int i = 0; i < PARTS; i++)
        if (part[i]) take_end(part[i], until ? *until : l.last, !until);
    return SMURF_OK;
}

int smurf_data_observed(const smurf_data *data, smurf_moment *until)
{
    if (data->observed) *until = data->observed_until;
    return data->observed;
}
