/*
 * json_plain.c - see json_plain.h.
 *
 * The cost here is latency: waiting for the end of one element before starting the next, and branch mispredictions. The
 * length of times rarely changes, so the last length is tried first and predicts well. Types of one and two digits are
 * mixed at random, so both are computed without a branch.
 */
#include "data/json_plain.h"

#include "data/digits.h"

/* Rare cases are out of line, so that the loops keep their variables in registers. */
#define APART __attribute__((noinline))

_Static_assert((int)DECIMAL_AHEAD < (int)PLAIN_PAD, "an element may start at the last byte of the text");

static inline unsigned digit(char c)
{
    return (unsigned)(unsigned char)c - '0';
}

/* Whether the next element starts where expected after the comma. If so, it is inside the text, because the byte after
   the text is not a digit. If not, what was found is expected next time. */
static inline bool goes_on(struct plain *in, const char *comma, bool blank)
{
    if (digit(comma[1 + blank]) < 10 && (!blank || comma[1] == ' ')) return true;
    in->blank = comma[1] == ' ';
    return false;
}

/* Whether the n bytes at p, 1 to 8, are an integer followed by a comma. */
static inline bool integer_of(const char *p, int n, uint32_t *value)
{
    uint64_t digits = smurf_eight_first(smurf_eight_load(p), n);
    *value = smurf_eight_value(digits);
    return p[n] == ',' && !smurf_eight_wrong(digits) && (*p != '0' || n == 1);
}

/* Whether value - origin, both integers, is small enough for a double. */
static inline bool whole_offset(uint64_t value, int64_t origin, double *out)
{
    int64_t offset;
    if (__builtin_sub_overflow((int64_t)value, origin, &offset)) return false;
    *out = (double)offset;
    return offset < (int64_t)1 << 53 && offset > -((int64_t)1 << 53);
}

/* Any plain time; returns the comma after it, or NULL. */
static APART const char *decimal_time(const char *p, int64_t origin, double *out)
{
    struct decimal d = {0};
    int places = 0;
    const char *end = smurf_decimal_ahead(p, &d.mantissa, &places); /* below 10^18 */
    if (!end || *end != ',') return NULL;
    if (places == 0) return whole_offset(d.mantissa, origin, out) ? end : NULL;
    d.exponent = -places;
    if (origin != 0 || d.mantissa >= (uint64_t)1 << 53) return smurf_decimal_offset(&d, origin, out) ? end : NULL;
    *out = (double)d.mantissa / smurf_pow10[places];
    return end;
}

size_t smurf_plain_times(struct plain *in, double *out, size_t room, int64_t origin)
{
    const char *p = in->p;
    const bool blank = in->blank;
    size_t count = 0;
    int length = 1; /* of the last short integer */
    if (p >= in->end || digit(*p) > 9) return 0;
    for (; count < room; count++) {
        uint32_t value;
        const char *comma = p + length;
        if (*comma == ',' && origin == 0 && integer_of(p, length, &value)) {
            out[count] = value;
        } else {
            if (!(comma = decimal_time(p, origin, &out[count]))) break;
            if (comma - p <= 8) length = (int)(comma - p);
        }
        if (!goes_on(in, comma, blank)) break;
        p = comma + 1 + blank;
    }
    in->p = p;
    return count;
}

/* The length of a type of three to seven digits; 0 if it is not one. */
static APART int long_type(const char *p)
{
    uint32_t type;
    int n = smurf_eight_count(smurf_eight_load(p));
    return n >= 3 && n <= 7 && integer_of(p, n, &type) ? n : 0;
}

size_t smurf_plain_types(struct plain *in, uint32_t *out, size_t room, uint32_t *max)
{
    const char *p = in->p;
    const bool blank = in->blank;
    uint32_t largest = *max;
    size_t count = 0;
    if (p >= in->end || digit(*p) > 9) return 0;
    for (; count < room; count++) {
        unsigned two = p[1] != ',', first = digit(p[0]), second = -two & digit(p[1]);
        uint32_t type = first + (-two & 9 * first) + second;
        const char *comma = p + 1 + two;
        if (first < two || second > 9 || *comma != ',') {
            int n = long_type(p);
            if (n == 0) break;
            type = smurf_eight_value(smurf_eight_first(smurf_eight_load(p), n));
            comma = p + n;
        }
        if (!goes_on(in, comma, blank)) break;
        if (type > largest) largest = type;
        out[count] = type;
        p = comma + 1 + blank;
    }
    in->p = p;
    *max = largest;
    return count;
}
