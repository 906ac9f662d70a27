/*
 * lanes_test.h - a warp of 32 lanes on the host: fibers of one thread that take turns where lanes meet.
 *
 * Between two meetings lane 0 runs first, then lane 1, and so on: what a lane reads before the lane that writes it has
 * met it is wrong here, too. lanes_run checks that all lanes take part in the same meetings, and that none leaves
 * early.
 */
#ifndef SMURF_TEST_LANES_TEST_H
#define SMURF_TEST_LANES_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { LANES = 32, LANES_STACK = 1 << 18 };
#define LANES_CODE static inline
#define LANES_CALL static inline
#define LANES_LOOP

struct lanes_warp {
    ucontext_t main, lane[LANES];
    int at;                 /* the lane that runs */
    bool done[LANES], down; /* down: lane 31 first */
    int meeting[LANES];
    double value[LANES];
    void (*run)(void *);
    void *argument;
    char *stack;
};
static struct lanes_warp lanes_warp;

LANES_CODE int lane_id(void)
{
    return lanes_warp.at;
}

static void lanes_next(void)
{
    struct lanes_warp *w = &lanes_warp;
    int from = w->at, step = w->down ? LANES - 1 : 1;
    w->at = (from + step) % LANES;
    swapcontext(&w->lane[from], &w->lane[w->at]);
}

/* All lanes are here before one goes on; kind tells meetings apart. */
static void lanes_meet_as(int kind)
{
    struct lanes_warp *w = &lanes_warp;
    w->meeting[w->at] = kind;
    lanes_next();
    for (int i = 0; i < LANES; i++)
        if (w->meeting[i] != kind || w->done[i]) {
            fprintf(stderr, "lane %d meets as %d, lane %d as %d%s\n", w->at, kind, i, w->meeting[i],
                    w->done[i] ? ", and has left" : "");
            abort();
        }
    lanes_next();
}

static void lanes_show(double value, int kind, double all[LANES])
{
    lanes_warp.value[lanes_warp.at] = value;
    lanes_meet_as(kind);
    for (int i = 0; i < LANES; i++) all[i] = lanes_warp.value[i];
    lanes_meet_as(kind + 100);
}

LANES_CODE void lanes_meet(void)
{
    lanes_meet_as(1);
}

LANES_CODE double lanes_sum(double value, int width)
{
    double all[LANES];
    for (int k = 1; k < width; k *= 2) {
        lanes_show(value, 2, all);
        value += all[lane_id() ^ k];
    }
    return value;
}

LANES_CODE double lanes_max(double value)
{
    double all[LANES];
    lanes_show(value, 3, all);
    for (int i = 0; i < LANES; i++) value = fmax(value, all[i]);
    return value;
}

LANES_CODE bool lanes_any(bool value)
{
    return lanes_max(value) > 0;
}

LANES_CODE int lanes_before(bool value, int *count)
{
    double all[LANES];
    int before = 0;
    lanes_show(value, 4, all);
    *count = 0;
    for (int i = 0; i < LANES; i++) {
        if (i == lane_id()) before = *count;
        *count += all[i] > 0;
    }
    return before;
}

LANES_CODE double lanes_running_max(double value, double *last)
{
    double all[LANES];
    lanes_show(value, 5, all);
    for (int i = 0; i < lane_id(); i++) value = fmax(value, all[i]);
    *last = value;
    for (int i = 0; i < LANES; i++) *last = fmax(*last, all[i]);
    return value;
}

LANES_CODE int lanes_running_sum(int value, int *sum)
{
    double all[LANES];
    int before = 0;
    lanes_show(value, 6, all);
    *sum = 0;
    for (int i = 0; i < LANES; i++) {
        if (i == lane_id()) before = *sum;
        *sum += (int)all[i];
    }
    return before;
}

static void lanes_begin(void)
{
    struct lanes_warp *w = &lanes_warp;
    w->run(w->argument);
    w->done[w->at] = true;
    for (;;) {
        bool all = true;
        for (int i = 0; i < LANES; i++) all = all && w->done[i];
        if (all) setcontext(&w->main);
        lanes_next();
    }
}

/* Calls run(argument) in every lane. */
static inline void lanes_run(void (*run)(void *), void *argument, bool down)
{
    struct lanes_warp *w = &lanes_warp;
    if (!w->stack && !(w->stack = malloc((size_t)LANES * LANES_STACK))) abort();
    w->run = run;
    w->argument = argument;
    w->down = down;
    w->at = down ? LANES - 1 : 0;
    for (int i = 0; i < LANES; i++) {
        w->done[i] = false;
        w->meeting[i] = 0;
        getcontext(&w->lane[i]);
        w->lane[i].uc_stack.ss_sp = w->stack + (size_t)i * LANES_STACK;
        w->lane[i].uc_stack.ss_size = LANES_STACK;
        w->lane[i].uc_link = NULL;
        makecontext(&w->lane[i], lanes_begin, 0);
    }
    swapcontext(&w->main, &w->lane[w->at]);
}

#endif
