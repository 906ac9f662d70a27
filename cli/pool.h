/*
 * pool.h - runs jobs in parallel, each in its own process, one per core.
 *
 * A job asked to stop saves its state; a crash does not affect other jobs.
 */
#ifndef POOL_H
#define POOL_H

#include "smurf_lab.h"

/* A job's progress. */
struct job_line {
    int pipe;
    double from, to; /* range of the job's share covered by the current stage */
    char stage[64];  /* "drawing, 20 steps"; "": as the library calls it ("epoch 4 of 30") */
    char shown[64];  /* the stage last reported */
    double told;     /* when that was */
};
/* A progress callback; context is a struct job_line. Requests a stop when the job should end. */
int job_progress(void *line, const smurf_progress *progress);

struct job {
    const char *name; /* "thp seed 2" */
    /* Runs in its own process. Returns 0, JOB_STOPPED, or 1 after reporting the error. */
    int (*run)(void *context, int threads, struct job_line *line);
    void *context;
    int done; /* 1: already done */
};
enum { JOB_STOPPED = 3 };

/* Runs the jobs that are not done. Returns 0, 1 if any failed (the others still run), or JOB_STOPPED. */
int pool_run(struct job *jobs, size_t count, int cores);
/* Cores to use: --threads, or all available to this process. */
int pool_cores(void);

#endif
