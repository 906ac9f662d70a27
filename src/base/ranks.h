/*
 * ranks.h - the processes that do one piece of work together; one, unless the program was started as several.
 *
 * All of them run the same program on the same data, and must call the functions below in the same order, with what
 * agrees. A group that has lost a member cannot go on: its transfers end the process with a message.
 */
#ifndef SMURF_BASE_RANKS_H
#define SMURF_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the work is for: training steps, and all else. */
enum ranks_use { RANKS_STEP, RANKS_OTHER, RANKS_USES };

struct ranks_counts {
    uint64_t rounds, messages, bytes; /* sent by this process; a round is a transfer: nobody goes on without it */
    double seconds;                   /* spent in them */
};

/* Bytes to or from another process. */
struct ranks_message {
    int other;
    bool sent;
    void *at;
    size_t bytes;
};

/* How processes reach each other. */
struct ranks {
    int rank, count;
    /* Sends and receives all of these messages, at most two each way with one other process. */
    void (*transfer)(const struct ranks_message *message, size_t n);
    struct ranks_message *room; /* (2 count + 4) */
    struct ranks_counts counts[RANKS_USES];
    uint64_t steps; /* of training */
};

/* The group of this process. */
struct ranks *smurf_ranks(void);
/* Joins a group, which must outlive its use. Call first. */
void smurf_ranks_join(struct ranks *group);

/* Sends out[q] bytes to each rank q, laid end to end, and receives in[q] bytes from each, likewise. Own parts do not
   travel: out[rank] and in[rank] are 0. One round. */
void smurf_ranks_exchange(enum ranks_use use, void *out, const size_t *out_bytes, void *in, const size_t *in_bytes);
/* Completes `all`: bytes[q] bytes of each rank q, in order; one's own are in place. log2(count) rounds. */
void smurf_ranks_gather(enum ranks_use use, void *all, const size_t *bytes);
/* The first rank whose number is not that of rank 0; `count` if all have the same, -1 without memory. */
int smurf_ranks_differ(enum ranks_use use, uint64_t mine);
/* Whether any rank says so. */
bool smurf_ranks_any(enum ranks_use use, bool mine);

#endif
