/*
 * hash.h - a 64-bit hash, against damage and mistakes, not against attackers.
 *
 * Each step is a bijection of the hash and of the word, so that a change within one word always changes the result.
 */
#ifndef SMURF_BASE_HASH_H
#define SMURF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0x9E3779B97F4A7C15u

static inline uint64_t smurf_hash(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

/* n bytes, in words of 8; the last one is filled up with zeros. bytes may be NULL where n is 0. */
static inline uint64_t smurf_hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    h = smurf_hash(h, n);
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, n - i < sizeof word ? n - i : sizeof word);
        h = smurf_hash(h, word);
    }
    return h;
}

#endif
