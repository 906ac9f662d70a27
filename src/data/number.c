/*
 * number.c - see number.h.
 *
 * Reading is exact: up to 19 significant digits are kept in 64 bits. The nearest double is then
 *   - one division or multiplication of doubles if both operands are exact (mantissa < 2^53, |exponent| <= 22);
 *   - an integer division in 128 bits (multiplication by the inverse, made exact) with the remainder as sticky bit
 *     if exponent is -1 .. -19;
 *   - strtod in the C locale otherwise (rare: 20 digits or more, large exponents).
 */
#include "data/number.h"
#include "data/calendar.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

enum { MAX_DIGITS = 19, EXPONENT_LIMIT = 100000 };

const double smurf_pow10[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
const uint64_t smurf_pow10_int[20] = {1u,
                                      10u,
                                      100u,
                                      1000u,
                                      10000u,
                                      100000u,
                                      1000000u,
                                      10000000u,
                                      100000000u,
                                      1000000000u,
                                      10000000000u,
                                      100000000000u,
                                      1000000000000u,
                                      10000000000000u,
                                      100000000000000u,
                                      1000000000000000u,
                                      10000000000000000u,
                                      100000000000000000u,
                                      1000000000000000000u,
                                      10000000000000000000u};

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* ---- Scanning -------------------------------------------------------------------------------- */

/* Appends the digits at p to the mantissa; returns their end. Digits after the 19th significant one are counted in
 *dropped. */
static const char *scan_digits(const char *p, struct decimal *d, int *kept, int *dropped)
{
    for (; is_digit(*p); p++) {
        if (*kept < MAX_DIGITS) {
            d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
            if (d->mantissa) ++*kept;
        } else {
            if (*dropped < EXPONENT_LIMIT) ++*dropped;
            if (*p != '0') d->cut = true;
        }
    }
    return p;
}

const char *smurf_decimal_scan(struct decimal *d, const char *text)
{
    const char *p = text;
    *d = (struct decimal){.integer = true, .text = text};
    if (*p == '-' || *p == '+') d->negative = *p++ == '-';

    int kept = 0, dropped = 0;
    const char *whole = p;
    p = scan_digits(p, d, &kept, &dropped);
    ptrdiff_t digits = p - whole;
    int exponent = dropped;
    if (*p == '.') {
        const char *fraction = ++p;
        int dropped_whole = dropped;
        p = scan_digits(p, d, &kept, &dropped);
        digits += p - fraction;
        ptrdiff_t read = p - fraction - (dropped - dropped_whole);
        exponent -= read < EXPONENT_LIMIT ? (int)read : EXPONENT_LIMIT;
        d->integer = false;
    }
    if (digits == 0) return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        bool minus = false;
        if (*q == '-' || *q == '+') minus = *q++ == '-';
        if (is_digit(*q)) {
            int e = 0;
            for (; is_digit(*q); q++)
                if (e < EXPONENT_LIMIT) e = 10 * e + (*q - '0');
            exponent += minus ? -e : e;
            d->integer = false;
            p = q;
        }
    }
    d->exponent = d->mantissa ? exponent : 0;
    d->length = (size_t)(p - text);
    return p;
}

bool smurf_decimal_scan_time(struct decimal *out, const char *text, size_t n)
{
    if (n == 0) return false;
    uint64_t mantissa;
    int places;
    if (smurf_decimal_simple(text, &mantissa, &places) == text + n) {
        *out = (struct decimal){
            .mantissa = mantissa, .exponent = -places, .integer = places == 0, .text = text, .length = n};
        return true;
    }
    if (smurf_decimal_scan(out, text) == text + n) return true;
    struct calendar_time time;
    if (!smurf_calendar_scan(&time, text, n)) return false;
    smurf_calendar_decimal(out, &time, text, n);
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_slowly(const char *text)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

static int leading_zeros(uint64_t x)
{
    return __builtin_clzll(x);
}

/* 2^exponent, for exponents of normal numbers. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* 10^k shifted so that its top bit is set, and the multiplier that divides by it: inverse = floor((2^128 - 1) / scaled)
   - 2^64. */
struct divisor {
    uint64_t scaled, inverse;
    int shift;
};
#define SHIFT(power)  __builtin_clzll(power##u)
#define SCALED(power) ((uint64_t)power##u << SHIFT(power))
#define DIVISOR(power)                                                                                                 \
    {                                                                                                                  \
        SCALED(power), (uint64_t)(~(wide)0 / SCALED(power)), SHIFT(power)                                              \
    }
static const struct divisor divisors[20] = {
    DIVISOR(1),
    DIVISOR(10),
    DIVISOR(100),
    DIVISOR(1000),
    DIVISOR(10000),
    DIVISOR(100000),
    DIVISOR(1000000),
    DIVISOR(10000000),
    DIVISOR(100000000),
    DIVISOR(1000000000),
    DIVISOR(10000000000),
    DIVISOR(100000000000),
    DIVISOR(1000000000000),
    DIVISOR(10000000000000),
    DIVISOR(100000000000000),
    DIVISOR(1000000000000000),
    DIVISOR(10000000000000000),
    DIVISOR(100000000000000000),
    DIVISOR(1000000000000000000),
    DIVISOR(10000000000000000000),
};

/* floor(dividend / by->scaled) and the remainder; the upper half of dividend is below by->scaled. Moeller and Granlund,
   Improved division by invariant integers (2011), algorithm 4: the estimate from the inverse is off by at most one,
   either way. */
static uint64_t quotient_of(wide dividend, const struct divisor *by, uint64_t *rest)
{
    wide guess = (wide)by->inverse * (uint64_t)(dividend >> 64) + dividend;
    uint64_t quotient = (uint64_t)(guess >> 64) + 1, left = (uint64_t)dividend - quotient * by->scaled;
    bool above = left > (uint64_t)guess;
    quotient -= above;
    left += above ? by->scaled : 0;
    if (left >= by->scaled) quotient++, left -= by->scaled;
    *rest = left;
    return quotient;
}

/* mantissa / 10^places rounded to nearest even; 0 < mantissa, places <= 19. The quotient of the shifted mantissa has at
   least 62 bits; its lowest bit is set if there is a remainder. Dropping one bit makes it fit a signed integer, which
   converts in one instruction and rounds to nearest even; the sticky bit keeps ties exact. */
static double divide(uint64_t mantissa, int places)
{
    const struct divisor *by = &divisors[places];
    int up = leading_zeros(mantissa);
    uint64_t rest, quotient = quotient_of((wide)(mantissa << up) << 63, by, &rest);
    quotient = quotient >> 1 | ((quotient & 1) | (rest != 0));
    return (double)(int64_t)quotient * power_of_two(by->shift - up - 62);
}

/* The same for a value of 2^64 or more, places <= 18 and a quotient below 2^53: the integer part and 64 bits of the
   fraction, cut to 64 bits with the lowest as sticky bit. */
static double divide_wide(wide value, int places)
{
    wide divisor = smurf_pow10_int[places], rest = (value % divisor) << 64;
    wide bits = (value / divisor) << 64 | rest / divisor;
    int down = 64 - leading_zeros((uint64_t)(bits >> 64)); /* the integer part is not 0: 2^64 / 10^18 > 18 */
    uint64_t top = (uint64_t)(bits >> down);
    if (rest % divisor || (uint64_t)(bits << (64 - down))) top |= 1;
    return ldexp((double)top, down - 64);
}

static double value_of(uint64_t mantissa, int exponent, bool *exact)
{
    *exact = true;
    if (mantissa == 0) return 0;
    if (mantissa <= (uint64_t)1 << 53) {
        if (exponent < 0 && exponent >= -22) return (double)mantissa / smurf_pow10[-exponent];
        if (exponent >= 0 && exponent <= 22) return (double)mantissa * smurf_pow10[exponent];
    }
    if (exponent == 0) return (double)mantissa;
    if (exponent < 0 && exponent >= -19) return divide(mantissa, -exponent);
    *exact = false;
    return 0;
}

double smurf_decimal_value(const struct decimal *d)
{
    bool exact = false;
    double value = d->cut ? 0 : value_of(d->mantissa, d->exponent, &exact);
    if (!exact) {
        if (!d->calendar) return read_slowly(d->text);
        value = (double)d->mantissa / smurf_pow10[-d->exponent];
    }
    return d->negative ? -value : value;
}

/* The mantissa of a truncated decimal, with digits up to the 37th; *exponent goes with it. */
static wide long_mantissa(const struct decimal *d, int *exponent)
{
    wide value = d->mantissa;
    int digits = 0;
    for (const char *p = d->text; p < d->text + d->length && *p != 'e' && *p != 'E'; p++) {
        if (!is_digit(*p) || (digits == 0 && *p == '0')) continue;
        if (++digits <= MAX_DIGITS) continue;
        if (digits > 37) break;
        value = value * 10u + (wide)(unsigned char)(*p - '0');
        --*exponent;
    }
    return value;
}

/* The decimal as an integer multiple of 10^-places, places <= 18, truncated towards zero. False if its integer part is
   beyond 2^63. */
static bool fixed_point(const struct decimal *d, signed_wide *out, int *places)
{
    int exponent = d->exponent;
    wide value = d->cut ? long_mantissa(d, &exponent) : d->mantissa;
    for (; exponent > 0; exponent--) {
        value *= 10;
        if (value >> 64) return false;
    }
    if (exponent < -60) value = 0, exponent = 0;
    for (; exponent < -18; exponent++) value /= 10;
    *places = -exponent;
    if (value / smurf_pow10_int[*places] > (uint64_t)INT64_MAX) return false;
    *out = d->negative ? -(signed_wide)value : (signed_wide)value;
    return true;
}

bool smurf_decimal_origin(const struct decimal *d, int64_t *origin)
{
    signed_wide value;
    int places;
    *origin = 0;
    if (!fixed_point(d, &value, &places)) return false;
    signed_wide unit = (signed_wide)smurf_pow10_int[places];
    signed_wide whole = value >= 0 ? value / unit : -((-value + unit - 1) / unit);
    if (whole >= 1 << 20 || whole < -(1 << 20)) *origin = (int64_t)whole;
    return true;
}

/* The common case of smurf_decimal_offset: everything fits 64 bits, and the difference fits a double. Otherwise
   false. */
static bool near_offset(const struct decimal *d, int64_t origin, double *out)
{
    int places = -d->exponent;
    int64_t from, offset;
    if (d->cut || places < 0 || places > 18 || d->mantissa > INT64_MAX) return false;
    if (__builtin_mul_overflow(origin, (int64_t)smurf_pow10_int[places], &from)) return false;
    if (__builtin_sub_overflow(d->negative ? -(int64_t)d->mantissa : (int64_t)d->mantissa, from, &offset)) return false;
    if (offset >= (int64_t)1 << 53 || offset <= -((int64_t)1 << 53)) return false;
    *out = (double)offset / smurf_pow10[places];
    return true;
}

bool smurf_decimal_offset(const struct decimal *d, int64_t origin, double *out)
{
    if (origin == 0) {
        *out = smurf_decimal_value(d);
        return fabs(*out) < 0x1p53;
    }
    if (near_offset(d, origin, out)) return true;
    signed_wide value;
    int places;
    if (!fixed_point(d, &value, &places)) return false;
    value -= (signed_wide)origin * (signed_wide)smurf_pow10_int[places];
    wide size = (wide)(value < 0 ? -value : value);
    if (size / smurf_pow10_int[places] >= (wide)1 << 53) return false;
    bool exact;
    double offset = size > UINT64_MAX ? divide_wide(size, places) : value_of((uint64_t)size, -places, &exact);
    *out = value < 0 ? -offset : offset;
    return offset < 0x1p53;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static size_t write_unsigned(char *out, uint64_t value, int digits)
{
    char reverse[24];
    int n = 0;
    do {
        reverse[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value || n < digits);
    for (int i = 0; i < n; i++) out[i] = reverse[n - 1 - i];
    return (size_t)n;
}

/* The fewest decimal places, up to 17, with which |x| < 2^53 reads back exactly; -1 if none. The digits are
 *mantissa. */
static int places_needed(double x, uint64_t *mantissa)
{
    for (int places = 0; places <= 17; places++) {
        double scaled = nearbyint(x * smurf_pow10[places]);
        if (scaled > 0x1p53) return -1;
        if (scaled > 0x1p50 && scaled / smurf_pow10[places] != x) { /* the product was rounded and may be off by one */
            if ((scaled - 1) / smurf_pow10[places] == x)
                scaled--;
            else
                scaled++;
        }
        if (scaled / smurf_pow10[places] == x) {
            *mantissa = (uint64_t)scaled;
            return places;
        }
    }
    return -1;
}

size_t smurf_number_write(char out[NUMBER_TEXT], double x)
{
    size_t n = 0;
    double size = fabs(x);
    uint64_t mantissa;
    int places = size < 0x1p53 ? places_needed(size, &mantissa) : -1;
    if (places < 0) {
        for (int digits = 15; digits <= 17; digits++) {
            char text[NUMBER_TEXT];
            n = (size_t)snprintf(text, sizeof text, "%.*g", digits, x);
            for (size_t i = 0; i < n; i++) out[i] = text[i] == ',' ? '.' : text[i];
            text[n] = '\0';
            if (digits == 17 || strtod(text, NULL) == x) break;
        }
        return n;
    }
    if (x < 0) out[n++] = '-';
    n += write_unsigned(out + n, mantissa / smurf_pow10_int[places], 1);
    if (places) {
        out[n++] = '.';
        n += write_unsigned(out + n, mantissa % smurf_pow10_int[places], places);
    }
    return n;
}

/* |x| < 2^53 as *mantissa * 10^-places, places <= 18, that reads back as |x| (if it is 0.01 or more: with 17
   significant digits). */
static int to_fixed(double x, uint64_t *mantissa)
{
    int places = places_needed(x, mantissa);
    if (places >= 0) return places;
    places = x < 0.1 ? 18 : 17;
    for (double y = x; y >= 1; y /= 10) places--;
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%.*f", places, x);
    *mantissa = 0;
    for (const char *p = text; *p; p++)
        if (is_digit(*p)) *mantissa = 10 * *mantissa + (uint64_t)(*p - '0');
    return places;
}

/* origin + offset as an integer multiple of 10^-places, places <= 18. */
static signed_wide time_to_fixed(int64_t origin, double offset, int *places)
{
    uint64_t mantissa = 0;
    *places = to_fixed(fabs(offset), &mantissa);
    signed_wide distance = offset < 0 ? -(signed_wide)mantissa : (signed_wide)mantissa;
    return (signed_wide)origin * (signed_wide)smurf_pow10_int[*places] + distance;
}

size_t smurf_number_write_time(char out[NUMBER_TEXT], int64_t origin, double offset)
{
    if (origin == 0) return smurf_number_write(out, offset);
    int places;
    size_t n = 0;
    signed_wide value = time_to_fixed(origin, offset, &places);
    wide size = (wide)(value < 0 ? -value : value), unit = smurf_pow10_int[places];
    if (value < 0) out[n++] = '-';
    n += write_unsigned(out + n, (uint64_t)(size / unit), 1);
    if (places) {
        out[n++] = '.';
        n += write_unsigned(out + n, (uint64_t)(size % unit), places);
    }
    return n;
}

size_t smurf_number_write_calendar(char out[NUMBER_TEXT], int64_t origin, double offset)
{
    int places;
    signed_wide value = time_to_fixed(origin, offset, &places);
    if (places > 9) {
        signed_wide step = (signed_wide)smurf_pow10_int[places - 9];
        value = (value + (value < 0 ? -step / 2 : step / 2)) / step;
        places = 9;
    }
    signed_wide unit = (signed_wide)smurf_pow10_int[places], whole = value / unit, part_of_second = value % unit;
    if (part_of_second < 0) part_of_second += unit, whole--;
    int64_t seconds = (int64_t)whole, days = seconds / 86400, rest = seconds % 86400;
    if (rest < 0) rest += 86400, days--;

    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t day = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
    int64_t year = yoe + era * 400 + (month <= 2);
    if (year < 0 || year > 9999) return smurf_number_write_time(out, origin, offset);

    size_t n = write_unsigned(out, (uint64_t)year, 4);
    const uint64_t part[] = {(uint64_t)month, (uint64_t)day, (uint64_t)rest / 3600, (uint64_t)rest / 60 % 60,
                             (uint64_t)rest % 60};
    for (int i = 0; i < 5; i++) {
        out[n++] = "--T::"[i];
        n += write_unsigned(out + n, part[i], 2);
    }
    if (part_of_second) {
        out[n++] = '.';
        n += write_unsigned(out + n, (uint64_t)part_of_second, places);
        while (out[n - 1] == '0') n--;
    }
    out[n++] = 'Z';
    return n;
}
