/*
 * digits.h - digits eight at a time, for loops over many numbers.
 *
 * Where lengths are random, a loop over digits is guessed wrong by the processor about once a number, which costs more
 * than all the rest. Here eight bytes are one integer, the first byte lowest, and nothing branches on the length. The
 * price: bytes behind the number are read too. smurf_decimal_simple is the plain form, and reads none.
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

/* The first n, 0 to 8, as values of digits, moved up behind leading zeros. */
static inline uint64_t smurf_eight_first(uint64_t eight, int n)
{
    int half = 32 - 4 * n; /* a shift by 64 at once is undefined */
    return (eight ^ EIGHT('0')) << half << half;
}

/* 0x80 in the first byte that is no value of a digit, rubbish behind it; 0 where all are. What is 10 or more has its
   top bit set, or gets it by adding 0x76; a carry out of such a byte only reaches those behind it. */
static inline uint64_t smurf_eight_wrong(uint64_t digits)
{
    return ((digits + EIGHT(0x76)) | digits) & EIGHT(0x80);
}

/* How many of eight characters are digits, up to the first that is none. */
static inline int smurf_eight_count(uint64_t eight)
{
    uint64_t wrong = smurf_eight_wrong(eight ^ EIGHT('0'));
    return wrong ? __builtin_ctzll(wrong) >> 3 : 8;
}

/* The number that eight values of digits make: added as pairs, fours and eight. */
static inline uint32_t smurf_eight_value(uint64_t digits)
{
    const uint64_t low = 0x000000FF000000FFu;
    uint64_t pairs = 10 * digits + (digits >> 8);
    return (uint32_t)(((pairs & low) * (((uint64_t)1000000 << 32) + 100) +
                       (pairs >> 16 & low) * (((uint64_t)10000 << 32) + 1)) >>
                      32);
}

/* Appends the digits at text to *value, up to 24 of them; returns their end. Reads 24 bytes at most. */
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

/* The same answers as smurf_decimal_simple, where all DECIMAL_AHEAD bytes at text can be read. */
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
