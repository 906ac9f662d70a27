/* pickle_text.c - see pickle.h: the text forms of numbers, strings and bytes in pickles. */
#include "data/pickle.h"

#include "data/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

smurf_status smurf_pickle_from_decimal(const char *text, size_t n, int64_t *out, smurf_error *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (n == 0 || end != text + n)
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%.*s' is not an integer", n < 40 ? (int)n : 40, text);
    if (errno == ERANGE) return smurf_fail(err, SMURF_ERROR_INPUT, "an integer beyond 64 bits");
    *out = value;
    return SMURF_OK;
}

smurf_status smurf_pickle_from_float(const char *text, size_t n, double *out, smurf_error *err)
{
    struct decimal d;
    if (smurf_decimal_scan(&d, text) == text + n)
        *out = smurf_decimal_value(&d);
    else if (n == 3 && memcmp(text, "nan", 3) == 0)
        *out = (double)NAN;
    else if (n == 3 && memcmp(text, "inf", 3) == 0)
        *out = (double)INFINITY;
    else if (n == 4 && memcmp(text, "-inf", 4) == 0)
        *out = -(double)INFINITY;
    else
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%.*s' is not a number", n < 40 ? (int)n : 40, text);
    return SMURF_OK;
}

/* The value of `digits` hexadecimal digits at p; -1 if there are fewer before end. */
static int64_t hexadecimal(const char *p, const char *end, int digits)
{
    int64_t value = 0;
    if (end - p < digits) return -1;
    for (int i = 0; i < digits; i++) {
        int c = p[i], letter = c | 32;
        int digit = c >= '0' && c <= '9' ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The escape at p, after its backslash; returns its end, or NULL if it is invalid. */
static const char *unescape(char *out, const char *p, const char *end)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    if (p == end) return NULL;
    if (*p == 'x') {
        int64_t value = hexadecimal(p + 1, end, 2);
        *out = (char)value;
        return value < 0 ? NULL : p + 3;
    }
    const char *found = memchr(from, *p, sizeof from - 1);
    if (found) *out = to[found - from];
    return found ? p + 1 : NULL;
}

char *smurf_pickle_from_repr(char *out, const char *p, size_t n)
{
    if (n < 2 || (*p != '\'' && *p != '"') || p[n - 1] != *p) return NULL;
    for (const char *end = p++ + n - 1; p < end; out++) {
        if (*p != '\\')
            *out = *p++;
        else if (!(p = unescape(out, p + 1, end)))
            return NULL;
    }
    return out;
}

static char *write_utf8(char *out, uint32_t c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* bytes after the first */
    static const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    *out++ = (char)(lead[more] | c >> 6 * more);
    while (more-- > 0) *out++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return out;
}

char *smurf_pickle_from_raw(char *out, const char *p, size_t n)
{
    for (const char *end = p + n; p < end;) {
        int digits = *p != '\\' || end - p < 2 ? 0 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
        int64_t c = digits ? hexadecimal(p + 2, end, digits) : (unsigned char)*p;
        if (c < 0 || c > 0x10FFFF) return NULL;
        out = write_utf8(out, (uint32_t)c);
        p += digits ? digits + 2 : 1;
    }
    return out;
}

char *smurf_pickle_to_latin1(char *out, const char *p, size_t n)
{
    for (const char *end = p + n; p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x80) {
            if ((c != 0xC2 && c != 0xC3) || ++p == end || ((unsigned char)*p & 0xC0) != 0x80) return NULL;
            c = (unsigned char)(c << 6 | ((unsigned char)*p & 0x3F));
        }
        *out++ = (char)c;
    }
    return out;
}
