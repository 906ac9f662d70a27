/*
 * group_mpi.c - see group.h: the processes that mpirun started, for smurf-mpi. The only file that knows MPI.
 *
 * Training joins the library's group (base/ranks.h), whose messages travel here by MPI_Isend and MPI_Irecv. Nothing is
 * added on the way: sums are made by the library, in an order of its own.
 *
 * A process that fails does not leave the others waiting: at its end it tells its status, and if they do not come to
 * their end as well, it ends the job. A process that hears nothing for TIMEOUT seconds ends the job, too. If a
 * process is killed, mpirun asks the others to stop, which cannot finish their step. One of them says so, in one line.
 *
 * Environment: SMURF_MPI_TIMEOUT=600, in seconds, 0 never; for measurements, SMURF_MPI_DELAY=0.001 seconds that every
 * message takes longer, and SMURF_MPI_COUNTS=FILE, to which rank R writes what it sent as FILE.R.
 */
#include "group.h"

#include "base/ranks.h"
#include "option.h"
#include "terminal.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 1, TAG_TOLD = 2, FAILURE_SECONDS = 3 };
static const size_t piece_most = (size_t)1 << 30; /* MPI counts bytes in an int */
static const double spin_seconds = 2e-4;          /* a wait this long gives the processor away */
static const double stop_seconds = 0.3;           /* mpirun kills a second after it asked to stop */
static const char no_answer[] = "no answer from";

static struct {
    struct ranks ranks;
    MPI_Comm world;
    MPI_Request *request; /* (2 count + 4) */
    int *other;           /* of each request */
    int told, held;       /* standard error; what stands in for it in ranks above 0, or -1 */
    double timeout, delay;
    bool begun, joined; /* joined: by training */
} group = {.ranks = {.count = 1}, .told = STDERR_FILENO, .held = -1, .timeout = 600};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR) continue;
}

/* ---- Messages to the user -------------------------------------------------------------------- */

/* Tells what failed: the lines held back that begin with "smurf: ", but no warnings. They are told once. */
static void tell_held(void)
{
    static const char mark[] = "smurf: ", warning[] = "smurf: warning: ";
    char line[1200];
    if (group.held < 0) return;
    fflush(stderr);
    int copy = dup(group.held);
    FILE *in = copy < 0 ? NULL : fdopen(copy, "r");
    if (!in) return;
    rewind(in);
    while (fgets(line, sizeof line, in))
        if (strncmp(line, mark, sizeof mark - 1) == 0 && strncmp(line, warning, sizeof warning - 1) != 0)
            dprintf(group.told, "%srank %d: %s", mark, group.ranks.rank, line + sizeof mark - 1);
    fclose(in);
    if (ftruncate(group.held, 0) == 0) lseek(group.held, 0, SEEK_SET);
}

/* Ends the job. */
_Noreturn static void end_job(void)
{
    fflush(stdout);
    MPI_Abort(group.world, 1);
    _exit(1);
}

/* Whether another process has told why the job ends. Ranks listen for different times: the lowest speaks. */
static bool is_told(void)
{
    int told = 0;
    double start = now(), patience = 0.05 * (group.ranks.rank < 8 ? group.ranks.rank : 8);
    do {
        rest(0.001);
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_TOLD, group.world, &told, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    } while (!told && now() - start < patience);
    return told;
}

/* Tells the others that this one has said why the job ends. It ends before the requests could be completed. */
static void tell_others(void)
{
    MPI_Request request;
    for (int q = 0; q < group.ranks.count; q++)
        if (q != group.ranks.rank) MPI_Isend(NULL, 0, MPI_BYTE, q, TAG_TOLD, group.world, &request);
}

/* Ends the job with a line. */
_Noreturn static void end_without(int other)
{
    if (!is_told()) {
        dprintf(group.told,
                "smurf: rank %d: %s rank %d (or one that it waits for); to continue, run the same command%s\n",
                group.ranks.rank, no_answer, other, group.joined ? " with --resume" : "");
        tell_others();
    }
    end_job();
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Completes n requests. False: it took longer than this (0: any time), or the process was asked to stop while others
   do not answer. A process that waits long lets others run. */
static bool complete(MPI_Request *request, int n, double seconds)
{
    int done = 0;
    double start = now(), stopped = 0;
    for (;;) {
        if (MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) return false;
        if (done) return true;
        double time = now(), waited = time - start;
        if (!(stopped > 0) && terminal_stopped()) stopped = time;
        if ((seconds > 0 && waited > seconds) || (stopped > 0 && time - stopped > stop_seconds)) return false;
        if (waited > spin_seconds)
            rest(2e-5);
        else
            sched_yield();
    }
}

static int waits_for(int n)
{
    for (int i = 0, done; i < n; i++)
        if (MPI_Request_get_status(group.request[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
            return group.other[i];
    return group.other[0];
}

/* The part of each message from byte `from` on. */
static void transfer_piece(const struct ranks_message *message, size_t n, size_t from)
{
    int posted = 0;
    double late = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ranks_message *m = &message[i];
        if (m->bytes <= from) continue;
        size_t bytes = m->bytes - from < piece_most ? m->bytes - from : piece_most;
        char *at = (char *)m->at + from;
        MPI_Request *request = &group.request[posted];
        int error = m->sent ? MPI_Isend(at, (int)bytes, MPI_BYTE, m->other, TAG, group.world, request)
                            : MPI_Irecv(at, (int)bytes, MPI_BYTE, m->other, TAG, group.world, request);
        if (error != MPI_SUCCESS) end_without(m->other);
        late += m->sent ? group.delay : 0;
        group.other[posted++] = m->other;
    }
    if (late > 0) rest(late);
    if (!complete(group.request, posted, group.timeout)) end_without(waits_for(posted));
}

static void transfer(const struct ranks_message *message, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) most = message[i].bytes > most ? message[i].bytes : most;
    for (size_t from = 0; from < most; from += piece_most) transfer_piece(message, n, from);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void write_counts(void)
{
    static const char *const use[RANKS_USES] = {"step", "other"};
    const char *base = getenv("SMURF_MPI_COUNTS");
    char path[4096];
    struct rusage usage;
    if (!base || snprintf(path, sizeof path, "%s.%d", base, group.ranks.rank) >= (int)sizeof path) return;
    FILE *out = fopen(path, "w");
    if (!out || getrusage(RUSAGE_SELF, &usage) != 0) return;
    fprintf(out, "{\"rank\":%d,\"ranks\":%d,\"steps\":%" PRIu64 ",\"memory_kb\":%ld", group.ranks.rank,
            group.ranks.count, group.ranks.steps, usage.ru_maxrss);
    for (int i = 0; i < RANKS_USES; i++) {
        const struct ranks_counts *c = &group.ranks.counts[i];
        fprintf(out, ",\"%s\":{\"rounds\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.6f}",
                use[i], c->rounds, c->messages, c->bytes, c->seconds);
    }
    fputs("}\n", out);
    fclose(out);
}

/* Learns the status of all; false if some have not come to their end in this time. */
static bool gather_status(int status, int *all, double seconds)
{
    MPI_Request request;
    if (MPI_Iallgather(&status, 1, MPI_INT, all, 1, MPI_INT, group.world, &request) != MPI_SUCCESS) return false;
    return complete(&request, 1, seconds);
}

/* At exit. All end with the highest status. What only ranks above 0 found is told by the lowest of them. */
static void leave(int status, void *unused)
{
    (void)unused;
    int worst = 0, first = -1, count = group.ranks.count, *all = calloc((size_t)count, sizeof *all);
    if (!group.begun) return;
    group.begun = false;
    write_counts();
    if (!all || !gather_status(status, all, status ? FAILURE_SECONDS : group.timeout)) {
        if (!status) end_without(group.ranks.rank ? 0 : 1);
        tell_held();
        tell_others();
        end_job();
    }
    for (int q = count; q-- > 0;) {
        if (all[q]) first = q;
        if (all[q] > worst) worst = all[q];
    }
    if (first == group.ranks.rank) tell_held();
    free(all);
    fflush(NULL);
    MPI_Finalize();
    if (worst != status) _exit(worst);
}

/* ---- The start ------------------------------------------------------------------------------- */

/* Seconds, from the environment. */
static double seconds_of(const char *name, double otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text) return otherwise;
    double x = strtod(text, &end);
    if (!*text || *end || !(x >= 0) || x > 1e9) usage_error("%s takes seconds, 0 or more, not '%s'", name, text);
    return x;
}

/* Processes of one machine that may run on the same cores share them, unless --threads says otherwise. */
static void share_cores(void)
{
    MPI_Comm node;
    cpu_set_t own, *all;
    int count = 1, same = 0;
    if (sched_getaffinity(0, sizeof own, &own) != 0) return;
    if (MPI_Comm_split_type(group.world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return;
    MPI_Comm_size(node, &count);
    if (!(all = calloc((size_t)count, sizeof *all))) out_of_memory();
    MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, node);
    for (int q = 0; q < count; q++) same += CPU_EQUAL(&own, &all[q]) != 0;
    size_t cores = (size_t)CPU_COUNT(&own) / (size_t)same;
    if (same > 1) common.threads = cores ? cores : 1;
    free(all);
    MPI_Comm_free(&node);
}

/* Ranks above 0 print nothing by themselves. */
static void hold_back(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    group.told = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    group.held = memfd_create("messages", MFD_CLOEXEC);
    if (nowhere < 0 || group.told < 0 || group.held < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(group.held, STDERR_FILENO) < 0)
        exit(report_failure("cannot redirect messages: %s", strerror(errno)));
    close(nowhere);
}

void group_start(void)
{
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &group.world) != MPI_SUCCESS)
        exit(report_failure("cannot start MPI"));
    MPI_Comm_set_errhandler(group.world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group.world, &group.ranks.rank);
    MPI_Comm_size(group.world, &group.ranks.count);
    size_t room = 2 * (size_t)group.ranks.count + 4;
    group.ranks.transfer = transfer;
    group.ranks.room = calloc(room, sizeof *group.ranks.room);
    group.request = calloc(room, sizeof(MPI_Request));
    group.other = calloc(room, sizeof *group.other);
    if (!group.ranks.room || !group.request || !group.other) out_of_memory();
    group.begun = true;
    if (on_exit(leave, NULL) != 0) out_of_memory();
    if (group.ranks.rank > 0) hold_back();
    prctl(PR_SET_TIMERSLACK, 1000UL); /* nanoseconds: short rests are short */
    group.timeout = seconds_of("SMURF_MPI_TIMEOUT", group.timeout);
    group.delay = seconds_of("SMURF_MPI_DELAY", 0);
    share_cores();
}

void group_enter(const char *command, enum group_use use)
{
    if (group.ranks.count == 1) return;
    if (use == GROUP_ALONE)
        usage_error("%s %s runs as one process: start it without mpirun (train and compare use several)",
                    group_program(), command);
    group.joined = use == GROUP_JOINS;
    if (group.joined) smurf_ranks_join(&group.ranks);
}

/* ---- What commands ask ----------------------------------------------------------------------- */

const char *group_program(void)
{
    return "smurf-mpi";
}

const char *group_features(void)
{
    static char text[2 + MPI_MAX_LIBRARY_VERSION_STRING] = ", ";
    int n = 0;
    MPI_Get_library_version(text + 2, &n);
    text[2 + strcspn(text + 2, ",\n")] = '\0'; /* "Open MPI v4.1.4, package: ..." */
    return text;
}

bool group_has_terminal(void)
{
    return false;
}

int group_rank(void)
{
    return group.ranks.rank;
}

int group_count(void)
{
    return group.ranks.count;
}

int group_worst(int status)
{
    int worst = 0, count = group.ranks.count, *all = calloc((size_t)count, sizeof *all);
    if (!all) out_of_memory();
    if (status) tell_held();
    if (!gather_status(status, all, 0)) end_without(group.ranks.rank ? 0 : 1);
    for (int q = 0; q < count; q++)
        if (all[q] == 1 || (worst != 1 && all[q] > worst)) worst = all[q];
    free(all);
    return worst;
}
