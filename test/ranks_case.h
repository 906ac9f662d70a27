/*
 * ranks_case.h - groups of processes on one machine, without MPI: forked, and joined by sockets.
 *
 * Fork before any parallel region: OpenMP's threads do not survive it.
 */
#ifndef SMURF_TEST_RANKS_CASE_H
#define SMURF_TEST_RANKS_CASE_H

#include "base/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MOST = 16 };

static int ranks_socket[RANKS_MOST]; /* to each other rank */

/* Moves bytes of a message; returns how many. */
static inline size_t ranks_move(const struct ranks_message *m, size_t done)
{
    char *at = (char *)m->at + done;
    ssize_t n = m->sent ? send(ranks_socket[m->other], at, m->bytes - done, MSG_NOSIGNAL)
                        : recv(ranks_socket[m->other], at, m->bytes - done, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n <= 0) _exit(3); /* the other one is gone */
    return (size_t)n;
}

static inline void ranks_transfer(const struct ranks_message *message, size_t n)
{
    size_t done[2 * RANKS_MOST + 4] = {0};
    for (bool more = true; more;) {
        struct pollfd fd[2 * RANKS_MOST + 4];
        size_t waiting = 0;
        for (size_t i = 0; i < n; i++) {
            bool first = true; /* in order, each way */
            for (size_t k = 0; k < i; k++)
                if (message[k].other == message[i].other && message[k].sent == message[i].sent &&
                    done[k] < message[k].bytes)
                    first = false;
            if (!first) continue;
            if (done[i] < message[i].bytes) done[i] += ranks_move(&message[i], done[i]);
            if (done[i] < message[i].bytes)
                fd[waiting++] =
                    (struct pollfd){.fd = ranks_socket[message[i].other], .events = message[i].sent ? POLLOUT : POLLIN};
        }
        if (waiting) poll(fd, waiting, 1000);
        more = false;
        for (size_t i = 0; i < n; i++) more = more || done[i] < message[i].bytes;
    }
}

/* Runs `work` in `count` processes that form a group; context should be shared memory. Returns the number of those that
   did not end with _exit(0). */
static inline int ranks_run(int count, void (*work)(void *context), void *context)
{
    int end[RANKS_MOST][RANKS_MOST], failed = 0;
    pid_t pid[RANKS_MOST];
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) abort();
            end[a][b] = pair[0], end[b][a] = pair[1];
        }
    fflush(NULL);
    for (int r = 0; r < count; r++) {
        pid[r] = fork();
        if (pid[r]) continue;
        struct ranks group = {.rank = r, .count = count, .transfer = ranks_transfer};
        struct ranks_message room[2 * RANKS_MOST + 4];
        group.room = room;
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++)
                if (a == r && b != r)
                    ranks_socket[b] = end[a][b];
                else if (a != b)
                    close(end[a][b]);
        if (count > 1) smurf_ranks_join(&group);
        work(context);
        fflush(NULL);
        _exit(0);
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            if (a != b) close(end[a][b]);
    for (int r = 0; r < count; r++) {
        int status;
        if (pid[r] < 0 || waitpid(pid[r], &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) failed++;
    }
    return failed;
}

/* Zeros that forked processes share. */
static inline void *ranks_shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

#endif
