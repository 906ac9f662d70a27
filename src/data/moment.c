/* moment.c - exact times on the user's clock. */
#include "base/error.h"
#include "data/number.h"

#include <math.h>
#include <string.h>

smurf_status smurf_moment_parse(smurf_moment *out, const char *text, smurf_error *err)
{
    struct decimal d;
    int64_t origin;
    double offset;
    if (!smurf_decimal_scan_time(&d, text, strlen(text)))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "'%s' is neither a number nor an ISO-8601 time such as 2024-01-31T12:00:00Z", text);
    if (!smurf_decimal_origin(&d, &origin) || !smurf_decimal_offset(&d, origin, &offset))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "time '%s' is out of range", text);
    double whole = floor(offset);
    *out = (smurf_moment){origin + (int64_t)whole, offset - whole};
    return SMURF_OK;
}

int smurf_moment_after(smurf_moment *out, smurf_moment from, double gap)
{
    double whole = floor(gap), fraction = from.fraction + (gap - whole);
    if (fraction >= 1) whole += 1, fraction -= 1;
    if (!(fabs(whole) < 9e18)) return 0;
    out->fraction = fraction;
    return !__builtin_add_overflow(from.whole, (int64_t)whole, &out->whole);
}

double smurf_moment_gap(smurf_moment from, smurf_moment to)
{
    int64_t whole;
    if (__builtin_sub_overflow(to.whole, from.whole, &whole)) return (double)to.whole - (double)from.whole;
    return (double)whole + (to.fraction - from.fraction);
}
