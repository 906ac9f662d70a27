/*
 * pool.h - jobs side by side, each in a process of its own: as many as there are cores.
 *
 * A job that is asked to stop saves what it has; one that crashes takes no other with it.
 */
#ifndef POOL_H
#define POOL_H

#include "smurf_lab.h"

/* How a job tells how far it is. */
struct job_line {
    int pipe;
    double from, to; /* the share of the job that the work in hand is */
    char stage[64];  /* "epoch 4 of 30" */
    double told;     /* when */
};
/* A progress callback; context is a struct job_line. Asks for a stop where the job should. */
int job_progress(void *line, const smurf_progress *progress);

struct job {
    const char *name; /* "thp seed 2" */
    /* Does it, on so many threads, in a process of its own; returns 0, JOB_STOPPED, or 1 after saying what is wrong. */
    int (*run)(void *context, int threads, struct job_line *line);
    void *context;
    int done; /* 1: nothing to do */
};
enum { JOB_STOPPED = 3 };

/* Runs those that are not done. Returns 0; 1 where one failed, which the others do not heed; JOB_STOPPED. */
int pool_run(struct job *jobs, size_t count, int cores);
/* Cores to use: --threads, or all that this process may use. */
int pool_cores(void);

#endif
