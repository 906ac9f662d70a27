/* silent.c - see silent.h. */
#include "silent.h"

#include "json_out.h"
#include "show_forecast.h"

int silent_order(const void *left, const void *right)
{
    const struct silent *a = left, *b = right;
    double x = a->silence * b->expected, y = b->silence * a->expected;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    if (x != y) return x > y ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

void silent_json(FILE *out, const struct silent *r, const char *sequence, const char *type, smurf_moment now,
                 double level, int calendar)
{
    fputs("{\"sequence\":", out);
    put_string(out, sequence);
    fprintf(out, ",\"events\":%zu", r->events);
    json_moment(out, "last", r->last, calendar);
    fputs(",\"type\":", out);
    put_string(out, type);
    json_moment(out, "now", now, calendar);
    json_number(out, "silence", r->silence);
    json_number(out, "level", level);
    json_number(out, "expected", r->expected);
    json_at(out, "expected_at", r->last, r->expected, calendar);
    json_number(out, "p", r->p);
    putc('}', out);
}
