/*
 * xxh64.h - XXH64, the checksum of packed files (xxhash.com). Not for hostile input: it detects damage, not forgery.
 *
 *     struct xxh64 h;
 *     smurf_xxh64_init(&h);
 *     smurf_xxh64_add(&h, bytes, n); ...
 *     uint64_t value = smurf_xxh64_value(&h);
 */
#ifndef SMURF_BASE_XXH64_H
#define SMURF_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

struct xxh64 {
    uint64_t lane[4], total;
    unsigned char rest[32]; /* the last total % 32 bytes */
};

/* With seed 0. */
void smurf_xxh64_init(struct xxh64 *hash);
void smurf_xxh64_add(struct xxh64 *hash, const void *bytes, size_t n);
uint64_t smurf_xxh64_value(const struct xxh64 *hash);

#endif
