/* ranks.c - see ranks.h. */
#include "base/ranks.h"

#include <stdlib.h>
#include <time.h>

static struct ranks alone = {.count = 1};
static struct ranks *group = &alone;

struct ranks *smurf_ranks(void)
{
    return group;
}

void smurf_ranks_join(struct ranks *joined)
{
    group = joined;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void transfer(enum ranks_use use, size_t n)
{
    struct ranks_counts *counts = &group->counts[use];
    double start = now();
    group->transfer(group->room, n);
    counts->rounds++;
    for (size_t i = 0; i < n; i++) {
        counts->messages += group->room[i].sent;
        counts->bytes += group->room[i].sent ? group->room[i].bytes : 0;
    }
    counts->seconds += now() - start;
}

/* Adds a message, unless it is empty. */
static size_t put(size_t n, int other, bool sent, char *at, size_t bytes)
{
    if (bytes) group->room[n++] = (struct ranks_message){other, sent, at, bytes};
    return n;
}

void smurf_ranks_exchange(enum ranks_use use, void *out, const size_t *out_bytes, void *in, const size_t *in_bytes)
{
    size_t n = 0;
    char *from = out, *to = in;
    if (group->count == 1) return;
    for (int q = 0; q < group->count; q++) {
        n = put(n, q, true, from, out_bytes[q]);
        n = put(n, q, false, to, in_bytes[q]);
        from += out_bytes[q], to += in_bytes[q];
    }
    transfer(use, n);
}

/* The blocks of ranks first .. first+blocks-1 modulo the count, in one message or two. */
static size_t put_blocks(size_t n, int other, bool sent, char *all, const size_t *bytes, int first, int blocks)
{
    int count = group->count, end = first + blocks < count ? first + blocks : count;
    size_t at = 0, size = 0, wrapped = 0;
    for (int q = 0; q < first; q++) at += bytes[q];
    for (int q = first; q < end; q++) size += bytes[q];
    for (int q = 0; q < first + blocks - count; q++) wrapped += bytes[q];
    n = put(n, other, sent, all + at, size);
    return put(n, other, sent, all, wrapped);
}

/* Each passes on all that it has, so that it doubles (Bruck's algorithm). */
void smurf_ranks_gather(enum ranks_use use, void *all, const size_t *bytes)
{
    int rank = group->rank, count = group->count;
    for (int have = 1; have < count; have *= 2) {
        int more = have < count - have ? have : count - have;
        int to = (rank - have + count) % count, from = (rank + have) % count;
        size_t n = put_blocks(0, to, true, all, bytes, rank, more);
        n = put_blocks(n, from, false, all, bytes, from, more);
        transfer(use, n);
    }
}

int smurf_ranks_differ(enum ranks_use use, uint64_t mine)
{
    size_t ranks = (size_t)group->count;
    int other = 0;
    uint64_t *all = calloc(ranks, sizeof *all);
    size_t *bytes = calloc(ranks, sizeof *bytes);
    bool room = all && bytes;
    for (size_t q = 0; q < ranks && room; q++) bytes[q] = sizeof *all;
    if (room) {
        all[group->rank] = mine;
        smurf_ranks_gather(use, all, bytes);
        while (other < group->count && all[other] == all[0]) other++;
    }
    free(all), free(bytes);
    return room ? other : -1;
}

bool smurf_ranks_any(enum ranks_use use, bool mine)
{
    /* A byte each, passed on as the sum of what is known: no room is needed. */
    int rank = group->rank, count = group->count;
    unsigned char any = mine;
    for (int have = 1; have < count; have *= 2) {
        unsigned char more = 0;
        size_t n = put(0, (rank - have + count) % count, true, (char *)&any, 1);
        n = put(n, (rank + have) % count, false, (char *)&more, 1);
        transfer(use, n);
        any |= more;
    }
    return any;
}
