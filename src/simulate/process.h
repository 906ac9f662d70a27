/*
 * process.h - processes with a known law: one file each, and one line of the table at the end.
 *
 * A process is its parameters, immutable once made. A history is the state of one sequence; it is the `self` of the law
 * of the next gap. A process only defines how to draw that gap and its law: types, sequences, threads and parameter
 * checks are common to all.
 */
#ifndef SMURF_SIMULATE_PROCESS_H
#define SMURF_SIMULATE_PROCESS_H

#include "smurf_lab.h"

#include "base/random.h"
#include "data/further.h"
#include "law/law.h"

#include <math.h>
#include <stdbool.h>

/* How the values of a parameter are given and stored. */
enum parameter_shape {
    SHAPE_ONE,     /* one value */
    SHAPE_TYPES,   /* one per type; a single value applies to all */
    SHAPE_WEIGHTS, /* given likewise; stored as shares that sum to 1, and their sum as the process's `weight` */
    SHAPE_MATRIX,  /* types x types, row by row; `types` values are a diagonal, a single value is spread over
                      each column: every entry is value / types */
};

/* Values lie in [low, high], or above low if `open`. All are finite. */
struct parameter_range {
    double low, high;
    bool open;
};
/* clang-format off */
#define RANGE_REAL     {-INFINITY, INFINITY, false}
#define RANGE_POSITIVE {0, INFINITY, true}
#define RANGE_WEIGHT   {0, INFINITY, false}
/* clang-format on */

struct parameter_class {
    const char *name;
    const char *about; /* one line, with the default */
    double fallback;   /* the default, as a single value */
    enum parameter_shape shape;
    struct parameter_range range;
};

/* The last parameter of every process whose types are independent of times. */
/* clang-format off */
#define PARAMETER_WEIGHTS \
    {"weights", "shares of the types: one value per type, in any unit (default 1: all equal)", 1, SHAPE_WEIGHTS, \
     RANGE_WEIGHT}
/* clang-format on */

enum { PARAMETER_LIMIT = 4, MARKS = 2 };

/* A further column of the events of a process. */
struct column_class {
    const char *name;         /* NULL: none */
    const char *const *words; /* NULL-terminated, in the order of their numbers; NULL: it holds numbers */
};

struct history {
    const smurf_process *process;
    smurf_process *owned; /* freed with the history; NULL if the process is borrowed */
    double time;          /* of the last event; 0 before the first */
    double count;         /* of events */
    double mark[MARKS];   /* further columns of the last event; 0 before the first */
    double trace[];       /* (types) state kept by the process's own `step`; 0 at the start */
};

struct process_class {
    const char *name;
    const char *about;
    struct parameter_class parameter[PARAMETER_LIMIT]; /* as many as have names */
    /* The next gap. If it is longer than `left`, any number above `left` will do. */
    double (*draw)(const struct history *history, struct random *random, double left);
    /* Updates the trace for an event of `type` after `gap`; NULL: no trace. */
    void (*step)(struct history *history, double gap, uint32_t type);
    struct law_class law; /* of the next gap; self is a struct history */
    /* Long-run events per unit of time: of all types together, divided by weight... */
    double (*rate)(const smurf_process *process);
    /* ...or of each type, into out (types), if `rate` is NULL. Fails if there is no long-run rate. */
    smurf_status (*rates)(const smurf_process *process, double *out, smurf_error *err);
    /* The probability that no further event comes; draw and law are those of a gap that comes. NULL: sequences do not
       end. */
    double (*never)(const struct history *history);
    /* Further columns of events, which the next gap depends on, and how they are drawn; NULL: there are none. */
    struct column_class column[MARKS];
    void (*mark)(struct random *random, double out[MARKS]);
    bool calendar; /* times are dates: seconds since 1970 */
};

struct smurf_process {
    const struct process_class *class;
    uint32_t types;
    double weight;              /* sum of the weights before normalisation */
    size_t share;               /* offset of the shares (types) in values */
    size_t at[PARAMETER_LIMIT]; /* offset of each parameter in values */
    size_t count;               /* of values */
    double values[];            /* the long-run rates (types), then the parameters in the order of the class */
};

/* The values of a parameter, as its shape says. */
static inline const double *smurf_process_values(const smurf_process *process, size_t parameter)
{
    return process->values + process->at[parameter];
}

/* The value of a parameter of SHAPE_ONE, from the `self` of a law. */
static inline double smurf_history_value(const void *self, size_t parameter)
{
    const struct history *history = self;
    return *smurf_process_values(history->process, parameter);
}

/* A history at time 0; NULL: out of memory. The process is copied if `own`, else it must outlive the history. */
struct history *smurf_history_new(const smurf_process *process, bool own);
void smurf_history_free(struct history *history);
/* Back to time 0. */
void smurf_history_restart(struct history *history);
/* Adds an event of `type` at `time`. O(types). */
void smurf_history_step(struct history *history, double time, uint32_t type);

/* Adds event i of a sequence with its further columns, which must be those of the process. */
void smurf_history_read(struct history *history, const smurf_sequence *sequence, size_t i);

/* Number of further columns of the process's events; and the columns, empty ones for most. */
size_t smurf_process_columns(const smurf_process *process);
smurf_status smurf_process_further(const smurf_process *process, struct further *out, smurf_error *err);

/* The law's `types` for processes with weights: share[k] lambda(tau). */
law_function smurf_history_types;

/* The table of processes, in the order of the help. To add one: write its file, add its line. */
/* clang-format off */
#define SMURF_PROCESSES(line)   \
    line(smurf_poisson)         \
    line(smurf_inhomogeneous)   \
    line(smurf_daily)           \
    line(smurf_exponential)     \
    line(smurf_gamma)           \
    line(smurf_weibull)         \
    line(smurf_lognormal)       \
    line(smurf_self_correcting) \
    line(smurf_hawkes)          \
    line(smurf_sittings)        \
    line(smurf_ending)          \
    line(smurf_repeating)       \
    line(smurf_covariate)
/* clang-format on */
#define DECLARE(name) extern const struct process_class name;
SMURF_PROCESSES(DECLARE)
#undef DECLARE

#endif
