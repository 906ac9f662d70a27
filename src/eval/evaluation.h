/*
 * evaluation.h - the quality of laws on a data set: values per gap, and their summary.
 *
 * evaluate.c queries predictors for the law of every scored gap and fills `struct evaluation`; metrics.c turns arrays
 * over gaps into metrics; report/ draws it. Gaps are numbered in the order of the data.
 */
#ifndef SMURF_EVAL_EVALUATION_H
#define SMURF_EVAL_EVALUATION_H

#include "base/memory.h"
#include "law/predictor.h"

/* The rows of the table. */
enum row {
    ROW_MODEL,     /* the model, pooled and recalibrated if it has a pool and a map */
    ROW_RAW,       /* the model before that; measured only if it has one of them */
    ROW_SAMPLED,   /* by draws of a sampler, as the paper defines the metrics; only if draws are requested */
    ROW_MARGINAL,  /* naive: quantiles of the train gaps */
    ROW_RECENT,    /* naive: the same, given the mean of the last 8 gaps */
    ROW_SAME_HOUR, /* naive: the last 100 gaps that began in the same hour of the day; times are dates */
    ROW_LAST,      /* naive: the last 100 gaps; times are dates */
    ROW_FIXED,     /* the model before its levels adapt; measured only if they do */
    ROWS,
};

/* Results of one predictor for each gap. Arrays are (n) or NULL. */
struct row_values {
    const char *name; /* "smurf", "smurf, raw", "marginal", ...; NULL: the row was not measured */
    double *pit;      /* randomised within the tick */
    double *crps, *log_density, *spread;
    float *quantile;     /* (n x SMURF_LEVELS) */
    double *mass;        /* (n x 2) F just below and just above the tick of the gap: ticks.c */
    uint32_t *top;       /* most probable type, time unknown */
    uint32_t *top_draws; /* mode of drawn types */
    uint32_t *top_at;    /* most probable type at the true gap */
    float *top_share;    /* probability of `top` */
    float *true_share;   /* probability of the true type, time unknown */
    float *brier;        /* squared distance of the probabilities from the truth */
    smurf_metrics metrics;
    smurf_metrics low, high; /* bootstrap 90% intervals; NaN without */
    smurf_coverage coverage; /* of the intervals shown */
};

/* The law of one event, for plotting. */
enum { EXAMPLE_POINTS = 200, EXAMPLES_MOST = 12, EXAMPLE_TYPES = 5 };
struct example {
    char title[96]; /* "user-17, event 42" */
    double truth;   /* the observed gap */
    uint32_t true_type;
    size_t points;
    double x[EXAMPLE_POINTS], density[EXAMPLE_POINTS], cdf[EXAMPLE_POINTS];
    double quantile[SMURF_LEVELS];
    size_t types; /* the most probable ones, time unknown */
    uint32_t type[EXAMPLE_TYPES];
    double share[EXAMPLE_TYPES];
};

/* How much lower the CRPS of ROW_MODEL is than that of the best naive row, in % of the latter, with the ends of its 90%
   interval: a paired bootstrap over sequences, or over blocks of time if there are few. NaN: not known. */
struct advantage {
    enum row row; /* the naive row with the lowest CRPS; ROWS: none */
    double value, low, high;
};

struct evaluation {
    size_t n, sequences;
    uint32_t types;
    uint32_t known;     /* types that the model knows; the types of others are not scored. 0: all are known */
    char **type_name;   /* (types), or NULL */
    char unit[32];      /* of time; "" unknown */
    double mean_gap;    /* of train, in that unit; NaN unknown */
    double tick;        /* of the clock; 0: none */
    double *gap;        /* (n) the truth */
    uint32_t *type;     /* (n) */
    uint32_t *sequence; /* (n) the sequence of each gap: the bootstrap's unit */
    struct row_values row[ROWS];
    double acc_markov;    /* accuracy of the most frequent successor of the last type, in %; NaN without train */
    double *markov_right; /* (n) 0 or 1; NULL without train */
    double acc_recency;   /* the same for the most probable type by recency (naive/recency.h) */
    double *recency_right;
    struct advantage advantage; /* over the best naive row */
    double *end_after; /* (n) forecast that nothing follows the event before each gap until the end of observation
                          (ends.h); NULL: not measured */
    smurf_ends ends;   /* n 0: not measured */
    size_t examples;
    struct example example[EXAMPLES_MOST];
    size_t bootstrap;         /* resamples */
    bool misses;              /* the law still misses held-out gaps after calibration */
    const smurf_epoch *epoch; /* (epochs) of training, for its curves; may be NULL */
    size_t epochs;
    char model_about[256]; /* objective, scale, layers, width and parameters, in one line */
    char data_about[256];  /* "stackoverflow/test: 1,326 sequences, 95,907 gaps" */
    struct arena text;     /* of the names and epochs */
    size_t n_dev;          /* gaps the model was recalibrated on; 0: not recalibrated */
    double *began;         /* (n) the event before each gap: seconds since 1970 in `zone`; NULL: times are no dates */
    char zone[48];         /* "Europe/Berlin", "UTC" */
    char pool_about[256];  /* a sentence on the naive laws that the model is pooled with; "": none */
    bool no_week;          /* dates without a year: days of the week are unknown */
};

/* The public handle. */
struct smurf_evaluation {
    struct evaluation values;
    const char *device; /* where laws were measured */
    const char *remark; /* why not where they were asked to; NULL: they were */
};

/* Whether the type of the event that ends gap i is scored. */
static inline bool evaluation_is_typed(const struct evaluation *e, size_t i)
{
    return !e->known || e->type[i] < e->known;
}

#endif
