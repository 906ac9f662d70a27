/*
 * digits.h - parses digits eight at a time, for loops over many numbers.
 *
 * With random lengths, a loop over digits is mispredicted about once per number, which costs more than everything else.
 * Here eight bytes are one integer, first byte lowest, and nothing branches on the length. The price: bytes after the
 * number are read too. smurf_decimal_simple is the plain form and does not read past the number.
 */
#ifndef SMURF_DATA_DIGITS_H
#define SMURF_DATA_DIGITS_H

#include "data/number.h"

#include <string.h>

/* c in each of eight bytes. */
#define EIGHT(c) (0x0101010101010101u * (uint64_t)(c))

static inline uint64_t smurf_eight_load(const char *text)
{
    uint64_t eight;
    memcpy(&eight, text, sizeof eight);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return eight;
}

/* The first n characters, 0 to 8, as digit values, shifted up behind leading zeros. */
static inline uint64_t smurf_eight_first(uint64_t eight, int n)
{
    int half = 32 - 4 * n; /* a single shift by 64 is undefined */
    return (eight ^ EIGHT('0')) << half << half;
}

/* 0x80 in the first byte that is not a digit value, garbage after it; 0 if all are. A byte of 10 or more has its top
   bit set, or gets it by adding 0x76; a carry out of such a byte only reaches later bytes. */
static inline uint64_t smurf_eight_wrong(uint64_t digits)
{
    return ((digits + EIGHT(0x76)) | digits) & EIGHT(0x80);
}

/* The number of leading digits among eight characters. */
static inline int smurf_eight_count(uint64_t eight)
{
    uint64_t wrong = smurf_eight_wrong(eight ^ EIGHT('0'));
    return wrong ? __builtin_ctzll(wrong) >> 3 : 8;
}

/* The number formed by eight digit values: combined in pairs, fours, then all eight. */
static inline uint32_t smurf_eight_value(uint64_t digits)
{
    const uint64_t low = 0x000000FF000000FFu;
    uint64_t pairs = 10 * digits + (digits >> 8);
    return (uint32_t)(((pairs & low) * (((uint64_t)1000000 << 32) + 100) +
                       (pairs >> 16 & low) * (((uint64_t)10000 << 32) + 1)) >>
                      32);
}

/* Appends the digits at text to *value, up to 24 of them; returns their end. Reads at most 24 bytes. */
static inline const char *smurf_digits_append(const char *text, uint64_t *value)
{
    const char *p = text;
    int n;
    do {
        uint64_t eight = smurf_eight_load(p);
        n = smurf_eight_count(eight);
        *value = *value * smurf_pow10_int[n] + smurf_eight_value(smurf_eight_first(eight, n));
        p += n;
    } while (n == 8 && p - text < 24);
    return p;
}

/* Same results as smurf_decimal_simple. All DECIMAL_AHEAD bytes at text must be readable. */
enum { DECIMAL_AHEAD = 48 };
static inline const char *smurf_decimal_ahead(const char *text, uint64_t *mantissa, int *places)
{
    uint64_t value = 0;
    const char *p = smurf_digits_append(text, &value);
    if (p == text || p - text > 18 || (*text == '0' && p > text + 1)) return NULL;
    *places = 0;
    if (*p == '.') {
        const char *fraction = ++p;
        p = smurf_digits_append(p, &value);
        if (p == fraction) return NULL;
        *places = (int)(p - fraction);
    }
    if (p - text - (*places > 0) > 18 || *p == 'e' || *p == 'E') return NULL;
    *mantissa = value;
    return p;
}

#endif
