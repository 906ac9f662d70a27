/* past.c - see past.h. */
#include "naive/past.h"

#include "data/time_zone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOUR = 3600 };

/* ---- A ring ---------------------------------------------------------------------------------- */

/* The number of the n sorted values below x. */
static size_t rank_of(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void ring_add(struct gap_ring *r, double gap)
{
    if (r->n == PAST_GAPS) {
        size_t out = rank_of(r->sorted, r->n, r->arrival[r->next]);
        memmove(r->sorted + out, r->sorted + out + 1, (--r->n - out) * sizeof *r->sorted);
    }
    size_t in = rank_of(r->sorted, r->n, gap);
    memmove(r->sorted + in + 1, r->sorted + in, (r->n - in) * sizeof *r->sorted);
    r->sorted[in] = gap;
    r->n++;
    r->arrival[r->next] = gap;
    r->next = (r->next + 1) % PAST_GAPS;
}

/* ---- Events ---------------------------------------------------------------------------------- */

void smurf_past_init(struct past *past, bool dated, const struct time_zone *zone)
{
    *past = (struct past){.zone = zone, .dated = dated};
}

void smurf_past_clear(struct past *past, int64_t origin)
{
    past->origin = origin;
    past->events = 0;
    past->from = past->until = 0;
    past->all.n = past->all.next = 0;
    for (int h = 0; h < PAST_HOURS; h++)
        if (past->hour[h]) past->hour[h]->n = past->hour[h]->next = 0;
}

void smurf_past_release(struct past *past)
{
    for (int h = 0; h < PAST_HOURS; h++) free(past->hour[h]);
    *past = (struct past){0};
}

/* The local hour of a moment. Moments that no calendar has are in hour 0. */
static int hour_at(struct past *past, double time)
{
    double at = floor(time) + (double)past->origin;
    if (!(fabs(at) < 1e15)) return 0;
    int64_t seconds = (int64_t)floor(time) + past->origin;
    if (!(seconds >= past->from && seconds < past->until))
        past->offset = smurf_time_zone_span(past->zone, seconds, &past->from, &past->until);
    int64_t of_day = (seconds + past->offset) % (PAST_HOURS * HOUR);
    return (int)((of_day < 0 ? of_day + PAST_HOURS * HOUR : of_day) / HOUR);
}

static struct gap_ring *ring_of(struct past *past, int hour)
{
    if (!past->hour[hour]) past->hour[hour] = calloc(1, sizeof *past->hour[hour]);
    return past->hour[hour];
}

bool smurf_past_reserve(struct past *past)
{
    bool ok = true;
    for (int h = 0; h < (past->dated ? PAST_HOURS : 0); h++) ok = ring_of(past, h) && ok;
    return ok;
}

bool smurf_past_push(struct past *past, double time)
{
    if (past->events++) {
        double gap = time - past->last;
        struct gap_ring *ring = past->dated ? ring_of(past, past->now) : NULL;
        if (past->dated && !ring) return false;
        ring_add(&past->all, gap);
        if (ring) ring_add(ring, gap);
    }
    past->last = time;
    if (past->dated) past->now = hour_at(past, time);
    return true;
}

bool smurf_past_copy(struct past *to, const struct past *from)
{
    smurf_past_clear(to, from->origin);
    for (int h = 0; h < PAST_HOURS; h++) {
        if (!from->hour[h] || from->hour[h]->n == 0) continue;
        if (!ring_of(to, h)) return false;
        *to->hour[h] = *from->hour[h];
    }
    to->events = from->events;
    to->last = from->last;
    to->now = from->now;
    to->all = from->all;
    return true;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

static size_t merge(const double *a, size_t n, const double *b, size_t m, double *out)
{
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        if (j == m || (i < n && a[i] <= b[j])) {
            out[i + j] = a[i];
            i++;
        } else {
            out[i + j] = b[j];
            j++;
        }
    }
    return n + m;
}

/* The gaps of the ring, completed by some of the n of a wider law. */
static size_t complete(const struct gap_ring *ring, const double *wide, size_t n, double *out)
{
    size_t own = ring ? ring->n : 0, more = (PAST_GAPS - own + 9) / 10;
    double add[PAST_GAPS / 10];
    if (own == 0) {
        memcpy(out, wide, n * sizeof *out);
        return n;
    }
    for (size_t i = 0; i < more; i++) add[i] = wide[(2 * i + 1) * n / (2 * more)];
    return merge(ring->sorted, own, add, more, out);
}

size_t smurf_past_last(const struct past *past, const double *wide, size_t n, double *out)
{
    return complete(&past->all, wide, n, out);
}

size_t smurf_past_same_hour(const struct past *past, const double *wide, size_t n, double *out)
{
    double last[PAST_LAW];
    size_t lasts = complete(&past->all, wide, n, last);
    return complete(past->dated && past->events ? past->hour[past->now] : NULL, last, lasts, out);
}

double smurf_past_mean(const struct past *past, size_t most)
{
    const struct gap_ring *r = &past->all;
    size_t n = r->n < most ? r->n : most;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += r->arrival[(r->next + PAST_GAPS - n + i) % PAST_GAPS];
    return n ? sum / (double)n : NAN;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* events, last; then for each ring (all gaps, and of dates the hours) its count and gaps, the oldest first. */
static size_t ring_pack(const struct gap_ring *ring, double *out)
{
    size_t n = ring ? ring->n : 0;
    if (!out) return n + 1;
    out[0] = (double)n;
    for (size_t i = 0; i < n; i++) out[i + 1] = ring->arrival[(ring->next + PAST_GAPS - n + i) % PAST_GAPS];
    return n + 1;
}

size_t smurf_past_pack(const struct past *past, void *out)
{
    double part[PAST_GAPS + 1], head[2] = {(double)past->events, past->events ? past->last : 0};
    char *at = out;
    size_t total = sizeof head;
    if (at) at = mempcpy(at, head, sizeof head);
    for (int h = -1; h < (past->dated ? PAST_HOURS : 0); h++) {
        size_t n = ring_pack(h < 0 ? &past->all : past->hour[h], part);
        total += n * sizeof *part;
        if (at) at = mempcpy(at, part, n * sizeof *part);
    }
    return total;
}

/* Takes n numbers from the bytes. */
static bool take(double *out, size_t n, const char **at, size_t *left)
{
    if (n * sizeof *out > *left) return false;
    memcpy(out, *at, n * sizeof *out);
    *at += n * sizeof *out;
    *left -= n * sizeof *out;
    return true;
}

static bool ring_unpack(struct past *past, int hour, const char **at, size_t *left)
{
    double count, gap[PAST_GAPS];
    if (!take(&count, 1, at, left) || !(count >= 0 && count <= PAST_GAPS) || count != floor(count)) return false;
    if (!take(gap, (size_t)count, at, left)) return false;
    struct gap_ring *ring = hour < 0 ? &past->all : count > 0 ? ring_of(past, hour) : NULL;
    if (!ring) return count == 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        if (!(gap[i] >= 0) || !isfinite(gap[i])) return false;
        ring_add(ring, gap[i]);
    }
    return true;
}

size_t smurf_past_unpack(struct past *past, const void *bytes, size_t size)
{
    const char *at = bytes;
    size_t left = size;
    double head[2];
    smurf_past_clear(past, past->origin);
    if (!take(head, 2, &at, &left) || !(head[0] >= 0 && head[0] < 1e15) || !isfinite(head[1])) return 0;
    past->events = (size_t)head[0];
    past->last = head[1];
    if (past->dated && past->events) past->now = hour_at(past, past->last);
    for (int h = -1; h < (past->dated ? PAST_HOURS : 0); h++)
        if (!ring_unpack(past, h, &at, &left)) return 0;
    return size - left;
}
