/* held.c - see held.h. The hours are a ring; the bars of the histogram are 0.05 wide, so that they make up levels. */
#include "held.h"

#include "show_forecast.h"

#include <math.h>
#include <string.h>

static struct held_hour *slot_of(struct held *h, int64_t number)
{
    return &h->slot[(number % HELD_HOURS + HELD_HOURS) % HELD_HOURS];
}

void held_add(struct held *h, smurf_moment at, double pit)
{
    const double most = 9e18;
    double x = floor(((double)at.whole + at.fraction) / h->hour);
    if (!(pit >= 0 && pit <= 1) || !(fabs(x) < most)) return;
    int64_t number = (int64_t)x;
    struct held_hour *s = slot_of(h, number);
    if (s->gaps && s->number > number) return; /* too long ago */
    if (s->number != number) memset(s, 0, sizeof *s);
    s->number = number;
    int bar = (int)(pit * HELD_BARS);
    s->bar[bar < HELD_BARS ? bar : HELD_BARS - 1]++;
    s->gaps++;
    if (!h->gaps++ || number > h->latest) h->latest = number;
}

/* The bars that make up the central interval: for 0.5 those from 5 to 14, for 0.9 from 1 to 18. */
static double share_inside(const struct held_hour *s, int level)
{
    int outside = (HELD_BARS - level * HELD_BARS / 100) / 2;
    size_t n = 0;
    for (int i = outside; i < HELD_BARS - outside; i++) n += s->bar[i];
    return (double)n / (double)s->gaps;
}

/* ,"gaps":12,"levels":[{"level":0.5,"share":0.48},...] */
static void put_shares(FILE *out, const struct held_hour *s)
{
    static const int level[] = {50, 90};
    fprintf(out, ",\"gaps\":%zu,\"levels\":[", s->gaps);
    for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
        fprintf(out, "%s{\"level\":%g", i ? "," : "", level[i] / 100.0);
        json_number(out, "share", s->gaps ? share_inside(s, level[i]) : NAN);
        putc('}', out);
    }
    putc(']', out);
}

static smurf_moment start_of(const struct held *h, int64_t number)
{
    smurf_moment at;
    return smurf_moment_after(&at, (smurf_moment){0, 0}, (double)number * h->hour) ? at : (smurf_moment){0, 0};
}

void held_show(const struct held *h, FILE *out, size_t hours, int calendar)
{
    struct held_hour sum = {0};
    int64_t first = h->latest - (int64_t)hours + 1;
    fputs("{\"hours\":[", out);
    for (int64_t number = first; h->gaps && number <= h->latest; number++) {
        const struct held_hour *s = slot_of((struct held *)h, number);
        if (!s->gaps || s->number != number) continue;
        fprintf(out, "%s{\"number\":%lld", sum.gaps ? "," : "", (long long)(number - first));
        json_moment(out, "from", start_of(h, number), calendar);
        put_shares(out, s);
        putc('}', out);
        sum.gaps += s->gaps;
        for (int i = 0; i < HELD_BARS; i++) sum.bar[i] += s->bar[i];
    }
    fputs("],\"hour\":", out);
    fprintf(out, "%.9g", h->hour);
    if (h->gaps) {
        json_moment(out, "from", start_of(h, first), calendar);
        json_moment(out, "to", start_of(h, h->latest + 1), calendar);
    }
    put_shares(out, &sum);
    fputs(",\"pit\":[", out);
    for (int i = 0; i < HELD_BARS; i++) fprintf(out, "%s%zu", i ? "," : "", sum.bar[i]);
    fputs("]}\n", out);
}
