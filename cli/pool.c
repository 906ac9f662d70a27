/* pool.c - see pool.h. Jobs report progress through pipes; a closed pipe means the job has ended. */
#include "pool.h"

#include "option.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { WORKERS_MOST = 256, WAIT_MS = 200 };

/* Sent through the pipe; small enough for an atomic write. */
struct message {
    double share;
    char stage[64];
};

struct worker {
    pid_t pid;
    int pipe;
    size_t job;
    double started, first, share; /* first: share done when a resumed job started; negative: not known yet */
    char stage[64];
};

struct pool {
    struct job *jobs;
    size_t count, next, finished, todo;
    struct worker worker[WORKERS_MOST];
    size_t workers;
    int cores;
    double started, credit; /* credit: shares done before this run */
    bool failed, stopping;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int pool_cores(void)
{
    size_t cores = common.threads;
    cpu_set_t set;
    if (cores == 0 && sched_getaffinity(0, sizeof set, &set) == 0) cores = (size_t)CPU_COUNT(&set);
    if (cores == 0) cores = 1;
    return (int)(cores < WORKERS_MOST ? cores : WORKERS_MOST);
}

/* ---- In the worker process ------------------------------------------------------------------- */

int job_progress(void *context, const smurf_progress *p)
{
    struct job_line *line = context;
    double time = now();
    struct message message = {.share = line->from};
    if (terminal_stopped()) return 1;
    const char *stage = line->stage[0] ? line->stage : p->what, *details = strstr(stage, "  ");
    snprintf(message.stage, sizeof message.stage, "%.*s", details ? (int)(details - stage) : (int)strlen(stage), stage);
    if (time - line->told < 0.1 && strcmp(line->shown, message.stage) == 0) return 0;
    line->told = time;
    memcpy(line->shown, message.stage, sizeof line->shown);
    if (p->total > 0) message.share += (line->to - line->from) * p->done / p->total;
    ssize_t sent = write(line->pipe, &message, sizeof message); /* if the pipe is full, the next message will do */
    (void)sent;
    return 0;
}

_Noreturn static void work(const struct job *job, int threads, int pipe, pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    terminal_work();
    struct job_line line = {.pipe = pipe, .to = 1};
    int status = getppid() == parent ? job->run(job->context, threads, &line) : JOB_STOPPED;
    fflush(NULL);
    _exit(status);
}

/* ---- In the parent --------------------------------------------------------------------------- */

/* When fewer jobs are left than cores are free, they share the free cores. */
static int threads_of(const struct pool *p)
{
    size_t left = 0, free_cores = (size_t)p->cores - p->workers;
    for (size_t i = p->next; i < p->count; i++) left += !p->jobs[i].done;
    return left && free_cores > left ? (int)(free_cores / left) : 1;
}

static bool start(struct pool *p, size_t index)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return false;
    int threads = threads_of(p);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) work(&p->jobs[index], threads, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    p->worker[p->workers++] =
        (struct worker){.pid = pid, .pipe = ends[0], .job = index, .started = now(), .first = -1, .stage = "starting"};
    return true;
}

static void start_more(struct pool *p)
{
    while (!p->stopping && p->workers < (size_t)p->cores && p->next < p->count) {
        if (p->jobs[p->next].done) {
            p->next++;
            continue;
        }
        if (!start(p, p->next)) {
            if (p->workers) return; /* retry when one has ended */
            report_failure("cannot start a process: %s", strerror(errno));
            p->failed = p->stopping = true;
            return;
        }
        p->next++;
    }
}

static void listen_to(struct pool *p, struct worker *w)
{
    struct message message;
    while (read(w->pipe, &message, sizeof message) == (ssize_t)sizeof message) {
        if (w->first < 0) {
            w->first = message.share > 0.02 ? message.share : 0;
            p->credit += w->first;
        }
        w->share = message.share;
        memcpy(w->stage, message.stage, sizeof w->stage - 1);
    }
}

/* "6 min" */
static void say_time(char *text, size_t size, double seconds)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* The time left assumes that all cells cost the same. */
static void draw_line(const struct pool *p)
{
    char text[512], left[32];
    double done = (double)p->finished - p->credit, all = (double)p->todo - p->credit, passed = now() - p->started;
    size_t n = (size_t)snprintf(text, sizeof text, "cell %zu of %zu", p->finished + p->workers, p->todo);
    for (size_t i = 0; i < p->workers; i++) done += p->worker[i].share;
    if (done > 0.01 && passed > 1) {
        say_time(left, sizeof left, passed * (all - done) / done);
        n += (size_t)snprintf(text + n, sizeof text - n, "  about %s left", left);
    }
    for (size_t i = 0; i < p->workers && n < sizeof text; i++) {
        const struct worker *w = &p->worker[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s  %s  %s", i ? " |" : "", p->jobs[w->job].name, w->stage);
    }
    terminal_line(text);
}

static void collect(struct pool *p, size_t index)
{
    struct worker w = p->worker[index];
    int status = 0;
    while (waitpid(w.pid, &status, 0) < 0 && errno == EINTR) continue;
    close(w.pipe);
    p->worker[index] = p->worker[--p->workers];
    terminal_clear();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        p->jobs[w.job].done = 1;
        p->finished++;
        char took[32];
        say_time(took, sizeof took, now() - w.started);
        report_done("cell %zu of %zu  %s  done in %s", p->finished, p->todo, p->jobs[w.job].name, took);
        return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == JOB_STOPPED) {
        p->stopping = true;
        return;
    }
    if (WIFSIGNALED(status) && !p->stopping)
        report_failure("%s was killed by signal %d", p->jobs[w.job].name, WTERMSIG(status));
    if (!(WIFSIGNALED(status) && p->stopping)) p->failed = true;
}

static void wait_for_news(struct pool *p)
{
    struct pollfd fd[WORKERS_MOST];
    for (size_t i = 0; i < p->workers; i++) fd[i] = (struct pollfd){.fd = p->worker[i].pipe, .events = POLLIN};
    int n = poll(fd, p->workers, WAIT_MS);
    for (size_t i = p->workers; i-- > 0 && n > 0;) {
        if (fd[i].revents & POLLIN) listen_to(p, &p->worker[i]);
        if (fd[i].revents & (POLLHUP | POLLERR)) collect(p, i);
    }
}

int pool_run(struct job *jobs, size_t count, int cores)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p) out_of_memory();
    p->jobs = jobs;
    p->count = count;
    p->cores = cores;
    p->started = now();
    for (size_t i = 0; i < count; i++) p->todo += !jobs[i].done;
    for (bool told = false;;) {
        if (terminal_stopped()) p->stopping = true;
        start_more(p);
        if (!p->workers) break;
        if (p->stopping && !told) {
            for (size_t i = 0; i < p->workers; i++) kill(p->worker[i].pid, SIGTERM);
            told = true;
        }
        wait_for_news(p);
        draw_line(p);
    }
    terminal_clear();
    int status = p->failed ? 1 : p->stopping ? JOB_STOPPED : 0;
    free(p);
    return status;
}
