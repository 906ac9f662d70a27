/*
 * packed_seal.h - gives a changed packed file checksums that fit, so that the checks behind them are reached.
 */
#ifndef SMURF_TEST_PACKED_SEAL_H
#define SMURF_TEST_PACKED_SEAL_H

#include "base/xxh64.h"

#include <stdbool.h>
#include <string.h>

enum {
    PACKED_HEADER = 104,
    PACKED_EVENTS = 24,
    PACKED_TYPES = 48,
    PACKED_COLUMNS = 60,
    PACKED_HASHES = 64,
    PACKED_OWN = 96
};

static inline uint64_t packed_number(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline void packed_put_hash(unsigned char *at, const unsigned char *p, size_t n)
{
    struct xxh64 hash;
    smurf_xxh64_init(&hash);
    smurf_xxh64_add(&hash, p, n);
    uint64_t value = smurf_xxh64_value(&hash);
    memcpy(at, &value, sizeof value);
}

/* Where the four parts begin, and the end; false if the header's sizes are larger than the file. */
static inline bool packed_parts(const unsigned char *p, size_t n, size_t at[5])
{
    if (n < PACKED_HEADER) return false;
    uint32_t columns;
    memcpy(&columns, p + PACKED_COLUMNS, sizeof columns);
    uint64_t events = packed_number(p + PACKED_EVENTS), sequences = packed_number(p + 32),
             texts = packed_number(p + 40);
    if (events > n || sequences > n || texts > n || columns > n) return false;
    at[0] = PACKED_HEADER;
    at[1] = at[0] + events * 8;
    at[2] = at[1] + (events * 4 + 7) / 8 * 8 + (events * columns * 4 + 7) / 8 * 8;
    at[3] = at[2] + sequences * 56;
    at[4] = at[3] + texts;
    return at[4] <= n;
}

static inline void packed_seal(unsigned char *p, size_t n)
{
    size_t at[5];
    if (packed_parts(p, n, at))
        for (int part = 0; part < 4; part++)
            packed_put_hash(p + PACKED_HASHES + 8 * part, p + at[part], at[part + 1] - at[part]);
    if (n >= PACKED_HEADER) packed_put_hash(p + PACKED_OWN, p, PACKED_OWN);
}

#endif
