/*
 * xxh64.c - XXH64 with seed 0. See xxh64.h.
 *
 * Four lanes take 8 bytes each of every 32:  lane = rotate(lane + word P2, 31) P1.  They are merged at the end, and the
 * last bytes follow one by one. Words are little-endian.
 */
#include "base/xxh64.h"

#include <string.h>

static const uint64_t p1 = 0x9E3779B185EBCA87u, p2 = 0xC2B2AE3D27D4EB4Fu, p3 = 0x165667B19E3779F9u,
                      p4 = 0x85EBCA77C2B2AE63u, p5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t word(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    memcpy(&x, p, (size_t)bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static uint64_t mixed(uint64_t lane, uint64_t x)
{
    return rotate(lane + x * p2, 31) * p1;
}

void smurf_xxh64_init(struct xxh64 *h)
{
    *h = (struct xxh64){.lane = {p1 + p2, p2, 0, 0 - p1}};
}

/* Whole blocks of 32 bytes. */
static void take(struct xxh64 *h, const unsigned char *p, size_t blocks)
{
    uint64_t a = h->lane[0], b = h->lane[1], c = h->lane[2], d = h->lane[3];
    for (; blocks > 0; blocks--, p += 32) {
        a = mixed(a, word(p, 8));
        b = mixed(b, word(p + 8, 8));
        c = mixed(c, word(p + 16, 8));
        d = mixed(d, word(p + 24, 8));
    }
    h->lane[0] = a, h->lane[1] = b, h->lane[2] = c, h->lane[3] = d;
}

void smurf_xxh64_add(struct xxh64 *h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t kept = h->total % 32;
    if (n == 0) return;
    h->total += n;
    if (kept) {
        size_t more = n < 32 - kept ? n : 32 - kept;
        memcpy(h->rest + kept, p, more);
        if (kept + more < 32) return;
        take(h, h->rest, 1);
        p += more, n -= more;
    }
    take(h, p, n / 32);
    memcpy(h->rest, p + n / 32 * 32, n % 32);
}

uint64_t smurf_xxh64_value(const struct xxh64 *h)
{
    const uint64_t *lane = h->lane;
    const unsigned char *p = h->rest, *end = p + h->total % 32;
    uint64_t x = p5;
    if (h->total >= 32) {
        x = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
        for (int i = 0; i < 4; i++) x = (x ^ mixed(0, lane[i])) * p1 + p4;
    }
    x += h->total;
    for (; end - p >= 8; p += 8) x = rotate(x ^ mixed(0, word(p, 8)), 27) * p1 + p4;
    if (end - p >= 4) {
        x = rotate(x ^ word(p, 4) * p1, 23) * p2 + p3;
        p += 4;
    }
    for (; p < end; p++) x = rotate(x ^ *p * p5, 11) * p1;
    x = (x ^ x >> 33) * p2;
    x = (x ^ x >> 29) * p3;
    return x ^ x >> 32;
}
