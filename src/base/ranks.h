/*
 * ranks.h - the processes that do one piece of work together; one, unless the program was started as several.
 *
 * All of them run the same program on the same data, and must call the functions below in the same order. A group that
 * has lost a member cannot go on: then its functions end the process with a message.
 */
#ifndef SMURF_BASE_RANKS_H
#define SMURF_BASE_RANKS_H

#include <stddef.h>
#include <stdint.h>

struct ranks_counts {
    uint64_t rounds, messages, bytes; /* sent by this process */
    double seconds;                   /* spent in them */
};

struct ranks {
    int rank, count;
    /* Sends out[q] bytes to each rank q, laid end to end, and receives in[q] bytes from each, likewise. Own parts are
       not sent: out[rank] and in[rank] are 0. */
    void (*exchange)(const void *out, const size_t *out_bytes, void *in, const size_t *in_bytes);
    /* Completes `all`: bytes[q] bytes of each rank q, in order; one's own are in place. */
    void (*gather)(void *all, const size_t *bytes);
    struct ranks_counts *counts;
};

/* The group of this process. */
const struct ranks *smurf_ranks(void);
/* Joins a group, which must outlive its use. Call first. */
void smurf_ranks_join(const struct ranks *group);

#endif
