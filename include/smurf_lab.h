/*
 * smurf_lab.h - the laboratory: simulation with known laws, descriptions, splits in time, time scales, step-by-step
 * training, comparisons. For research and for the command; smurf.h has what most programs need.
 *
 * The conventions of smurf.h hold, but for one: structs of this header may change from version to version. Compile
 * again after an upgrade.
 */
#ifndef SMURF_LAB_H
#define SMURF_LAB_H

#include "smurf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Splits, windows, dithering -------------------------------------------------------------------------- */

/* The part that smurf_split_read takes a file name for: 0 train, 1 dev, 2 test, -1 none. Type files of RMTPP text
   ("event-dev.txt") belong to their times and are none. */
SMURF_API int smurf_split_part(const char *file_name);
/* The file name of a part in such a directory: "dev.csv". Writes it into out (n bytes; 32 suffice). format NULL: jsonl.
 */
SMURF_API smurf_status smurf_split_file(char *out, size_t n, int part, const char *format, smurf_error *err);

/* Cuts in time: train sees what comes before dev_from and knows that its observation ends there; dev is
   scored from dev_from to test_from, test from test_from on, both with all that came before as
   history. A sequence is in dev or test where it has an event to score there or is known to be observed
   there (its end is after the part's start): then the gap that was cut off counts. dev_from == test_from
   leaves dev NULL. */
SMURF_API smurf_status smurf_split_by_time(smurf_split *out, const smurf_data *data, smurf_moment dev_from,
                                           smurf_moment test_from, smurf_error *err);

/* Cuts every sequence into windows of `window` scored events, each preceded by up to `history` events that are not
   scored. The scored events of the windows are those of the input, each once. Windows begin at the events 1,
   1 + window, 1 + 2 window, ..., counted from the true start of the sequence (`before`); the first is shorter where
   scoring begins within one. With the window and context of a model, they give its laws of the whole sequence. */
SMURF_API smurf_status smurf_data_window(smurf_data **out, const smurf_data *data, size_t window, size_t history,
                                         smurf_error *err);

/* The step of the clock that all gaps are multiples of; 0: none found, NaN: out of memory. */
SMURF_API double smurf_data_tick(const smurf_data *data);

/* Spreads rounded gaps within the tick: gap + tick (u - 1/2), or tick u/2 for a tie, u uniform, a function
   of (seed, sequence, event). A gap below tick/2 moves by less than itself: all gaps come out positive. */
SMURF_API smurf_status smurf_data_dither(smurf_data **out, const smurf_data *data, double tick, uint64_t seed,
                                         smurf_error *err);

/* ---- Description ----------------------------------------------------------------------------------------- */

enum { SMURF_QUANTILES = 9, SMURF_BINS = 40 };
/* The levels of the quantiles below: 0, .01, .05, .25, .5, .75, .95, .99, 1. */
extern SMURF_API const double smurf_quantile_levels[SMURF_QUANTILES];

/* Description of a data set, as `smurf info` shows it. Gaps are the scored ones; types are those of the scored events
   and of the first event of a sequence without history; lengths and the time span are of all events. */
typedef struct smurf_summary {
    size_t sequences, empty_sequences, events;
    size_t history; /* events used as history only: neither their gaps nor their types are described */
    size_t scored;  /* events that are scored, each with the gap before it */
    uint32_t types, types_seen;
    size_t *type_count;             /* (types), sums to events - history; owned by the summary */
    double length[SMURF_QUANTILES]; /* NaN where there are no sequences */
    double length_mean;
    double gap[SMURF_QUANTILES]; /* NaN where there are no gaps */
    double gap_mean;
    double gap_sd; /* of the sample: over n - 1; NaN where there are fewer than two gaps */
    size_t ties;   /* gaps that are exactly 0 */
    double tick;   /* 0: none seen */
    smurf_moment earliest, latest;
    size_t windows_known;     /* sequences whose end of observation is known */
    double bin_low, bin_high; /* the histogram spans these log10 gaps, bins of equal width; ties not counted */
    size_t bin[SMURF_BINS];
    size_t bin_beyond; /* gaps outside the histogram, counted in its outermost bins */
    size_t warnings;
    char (*warning)[256]; /* (warnings), owned by the summary */
} smurf_summary;

/* Describes data. If train is given and is not data itself, also warns of what data has and train has not. */
SMURF_API smurf_status smurf_data_summarise_sized(smurf_summary *out, size_t size, const smurf_data *data,
                                                  const smurf_data *train, smurf_error *err);
#define smurf_data_summarise(out, data, train, err) smurf_data_summarise_sized(out, sizeof *(out), data, train, err)
SMURF_API void smurf_summary_release_sized(smurf_summary *summary, size_t size);
#define smurf_summary_release(summary) smurf_summary_release_sized((summary), sizeof *(summary))

/* ---- Time scales ----------------------------------------------------------------------------------------- */

typedef enum smurf_scale_kind {
    SMURF_SCALE_NONE, /* y = gap */
    SMURF_SCALE_MEAN, /* y = gap / mean */
    SMURF_SCALE_LOG,  /* y = (ln(gap / mean + 1e-9) - mu) / sd */
} smurf_scale_kind;

/* An invertible, increasing map from gaps to the axis of a law. */
typedef struct smurf_scale {
    smurf_scale_kind kind;
    double mean;   /* of the train gaps */
    double mu, sd; /* of ln(gap / mean + 1e-9) over the train gaps */
} smurf_scale;

/* Fits the scale on the scored gaps of train. Constant gaps give sd = 1; all gaps zero is an error. */
SMURF_API smurf_status smurf_scale_fit(smurf_scale *out, smurf_scale_kind kind, const smurf_data *train,
                                       smurf_error *err);
SMURF_API double smurf_scale_forward(const smurf_scale *scale, double gap);
SMURF_API double smurf_scale_backward(const smurf_scale *scale, double y);
/* ln dy/dgap: added to a log density on y, gives the log density per unit of gap. */
SMURF_API double smurf_scale_log_slope(const smurf_scale *scale, double gap);

SMURF_API const smurf_scale *smurf_model_scale(const smurf_model *model);

/* ---- Laws and processes with a known law ----------------------------------------------------------------- */

/* The law of the next gap, given a history: a function of one number. */
typedef struct smurf_law smurf_law;

SMURF_API void smurf_law_free(smurf_law *law);
SMURF_API uint32_t smurf_law_types(const smurf_law *law);
/* Each evaluates n gaps at once; gap and out may be the same array. Negative gaps give 0 (score: NaN). */
SMURF_API void smurf_law_intensity(const smurf_law *law, const double *gap, double *out, size_t n);
SMURF_API void smurf_law_compensator(const smurf_law *law, const double *gap, double *out, size_t n);
SMURF_API void smurf_law_cdf(const smurf_law *law, const double *gap, double *out, size_t n);
SMURF_API void smurf_law_score(const smurf_law *law, const double *gap, double *out, size_t n);
/* Intensity of each type: out is (n x types), row by row. Must not be the same array as gap. */
SMURF_API void smurf_law_type_intensity(const smurf_law *law, const double *gap, double *out, size_t n);
/* Advances the history: the next event came after `gap` and was of `type`. */
SMURF_API smurf_status smurf_law_advance(smurf_law *law, double gap, uint32_t type, smurf_error *err);

/* A process to simulate from. */
typedef struct smurf_process smurf_process;

/* A parameter by name, such as {"decay", values, 2}. */
typedef struct smurf_parameter {
    const char *name;
    const double *values;
    size_t count;
} smurf_parameter;

/* Available processes: name and one line each. NULL past the last. Parameters likewise. */
SMURF_API const char *smurf_process_name(size_t index);
SMURF_API const char *smurf_process_about(size_t index);
SMURF_API const char *smurf_process_parameter_name(size_t index, size_t parameter);
SMURF_API const char *smurf_process_parameter_about(size_t index, size_t parameter);

/* Makes a process; parameters not given take their defaults. */
SMURF_API smurf_status smurf_process_new(smurf_process **out, const char *name, uint32_t types,
                                         const smurf_parameter *parameters, size_t count, smurf_error *err);
SMURF_API void smurf_process_free(smurf_process *process);
/* Long-run events per unit of time of each type: out is (types). NaN where there is no closed form. */
SMURF_API void smurf_process_rates(const smurf_process *process, double *out);

typedef struct smurf_simulate_config {
    size_t size;
    size_t sequences;
    double until;      /* observe each sequence from 0 to this time; 0: by max_events alone */
    size_t max_events; /* stop a sequence after this many events; 0: by until alone */
    uint64_t seed;
    int threads; /* 0: all cores. The result does not depend on it. */
    smurf_progress_fn *progress;
    void *progress_context;
} smurf_simulate_config;

SMURF_API void smurf_simulate_config_init_sized(smurf_simulate_config *config, size_t size);
#define smurf_simulate_config_init(config) smurf_simulate_config_init_sized((config), sizeof *(config))

/* Simulates. Sequence i is a function of (process, until, max_events, seed, i) alone. */
SMURF_API smurf_status smurf_process_simulate(smurf_data **out, const smurf_process *process,
                                              const smurf_simulate_config *config, smurf_error *err);

/* The true law of the gap that follows the first `seen` events of a sequence (seen = 0: from time 0, the
   start of observation, to the first event). The sequence must be whole: observed from origin + start == 0 on;
   a window, whose start is unknown, is an SMURF_ERROR_ARGUMENT. The law copies what it needs. */
SMURF_API smurf_status smurf_process_law(smurf_law **out, const smurf_process *process, const smurf_sequence *sequence,
                                         size_t seen, smurf_error *err);

/* ---- Training step by step ------------------------------------------------------------------------------- */

/* Training, step by step or by epochs. Data sets are borrowed and must outlive it. Trainers are independent: each may
   run on a thread of its own. */
typedef struct smurf_trainer smurf_trainer;

/* dev may be NULL: then the last epoch counts as the best. */
SMURF_API smurf_status smurf_trainer_new(smurf_trainer **out, const smurf_settings *config, const smurf_data *train,
                                         const smurf_data *dev, smurf_error *err);
SMURF_API void smurf_trainer_free(smurf_trainer *trainer);
SMURF_API void smurf_trainer_progress(smurf_trainer *trainer, smurf_progress_fn *progress, void *context);
/* One step: *loss is that of its batch, per gap. *last is 1 after the last step of the epoch: then
   smurf_trainer_epoch measures dev and ends the epoch. A long step calls the progress callback, and is dropped if that
   asks to stop. */
SMURF_API smurf_status smurf_trainer_step(smurf_trainer *trainer, double *loss, int *last, smurf_error *err);
/* Steps to the end of the epoch, then dev. A progress callback that asks to stop ends it with SMURF_ERROR_CANCELLED;
   the current step is dropped, as if it had not begun: save and continue later. A loss that is not finite is
   SMURF_ERROR_INPUT, and names the epoch, the step and the sequences; the best model so far stays. */
SMURF_API smurf_status smurf_trainer_epoch_sized(smurf_trainer *trainer, smurf_epoch *out, size_t size,
                                                 smurf_error *err);
#define smurf_trainer_epoch(trainer, out, err) smurf_trainer_epoch_sized(trainer, out, sizeof *(out), err)
/* 1 once epochs or patience are used up. */
SMURF_API int smurf_trainer_done(const smurf_trainer *trainer);
/* The best epoch so far, also of a resumed run. Returns 0 if there is none yet. */
SMURF_API int smurf_trainer_best_sized(const smurf_trainer *trainer, smurf_epoch *out, size_t size);
#define smurf_trainer_best(trainer, out) smurf_trainer_best_sized(trainer, out, sizeof *(out))
/* A copy of the best model so far; the caller frees it. Before the end of the first epoch: the initial weights. */
SMURF_API smurf_status smurf_trainer_model(const smurf_trainer *trainer, smurf_model **out, smurf_error *err);
/* Writes everything needed to continue as if never interrupted, with the same data sets and any number of threads. */
SMURF_API smurf_status smurf_trainer_save(const smurf_trainer *trainer, const char *path, smurf_error *err);
SMURF_API smurf_status smurf_trainer_resume(smurf_trainer **out, const char *path, const smurf_data *train,
                                            const smurf_data *dev, int threads, smurf_error *err);
SMURF_API const smurf_settings *smurf_trainer_settings(const smurf_trainer *trainer);

/* How smurf_fit divides dev: a third selects, the rest calibrates. One sequence is cut in time: the earlier third
   selects. Both are NULL if dev is not divided. */
SMURF_API smurf_status smurf_fit_divide(smurf_data **selecting, smurf_data **calibrating, const smurf_data *dev,
                                        int recalibrate, uint64_t seed, smurf_error *err);

/* 1 if the objective has noise (setting sigma) to choose. */
SMURF_API int smurf_train_has_noise(const smurf_settings *config);
/* Chooses that noise by short runs, judged by the CRPS of the exact law on dev, and sets sigma. trial receives the
   results. */
SMURF_API smurf_status smurf_train_choose_sigma(smurf_settings *config, const smurf_data *train, const smurf_data *dev,
                                                smurf_progress_fn *progress, void *context,
                                                smurf_sigma_trial trial[SMURF_SIGMA_TRIALS], smurf_error *err);

/* Calibrates on data that training has not seen: pools the law with a naive one where that helps (setting pool on,
   recalibrate not 0, train given), fits the map of levels (recalibrate 1: yes, 0: no, -1: where there are
   SMURF_RECALIBRATE_GAPS gaps) and keeps one level per sequence for conformal intervals. Replaces an
   earlier calibration. train, which may be NULL, stabilises the map with its larger number of gaps. progress may be
   NULL. */
SMURF_API smurf_status smurf_model_calibrate(smurf_model *model, const smurf_data *data, const smurf_data *train,
                                             int recalibrate, uint64_t seed, int threads, smurf_progress_fn *progress,
                                             void *context, smurf_error *err);

/* ---- Evaluation of other laws ---------------------------------------------------------------------------- */

/* Evaluates laws that need no training: the true law of a simulation, in the row of the model, for data whose sequences
   are whole from time 0 on (an unknown start is taken as 0); and the naive laws alone. Samplers that take steps need a
   model: naming one here is an SMURF_ERROR_ARGUMENT. */
SMURF_API smurf_status smurf_evaluate_process(smurf_evaluation **out, const smurf_process *process,
                                              const smurf_data *data, const smurf_data *train,
                                              const smurf_eval_config *config, smurf_error *err);
SMURF_API smurf_status smurf_evaluate_naive(smurf_evaluation **out, const smurf_data *data, const smurf_data *train,
                                            const smurf_eval_config *config, smurf_error *err);

/* The calibration score of draws, in percent, as a function of the number of steps: cs[k] after (k + 1) every steps of
   one walk per gap, cs (steps / every). config: the sampler, which takes steps; draws, steps (0: the model's setting),
   step, denoise, seed, threads and progress; NULL is an SMURF_ERROR_ARGUMENT. Needs draws * steps / every numbers a
   thread. */
SMURF_API smurf_status smurf_evaluate_walk(const smurf_model *model, const smurf_data *data,
                                           const smurf_eval_config *config, size_t every, double *cs, size_t n,
                                           smurf_error *err);

/* ---- Comparisons ----------------------------------------------------------------------------------------- */

/* One law of a comparison: means over runs that differ only in their seed. */
typedef struct smurf_compared {
    const char *name; /* "thp, recalibrated" */
    size_t runs;
    int reference;          /* 1: a naive law or the truth, for figures to draw thin */
    smurf_metrics mean, sd; /* sd of the sample; NaN where there is one run */
} smurf_compared;

/* Laws measured on the same gaps. Everything is borrowed. */
typedef struct smurf_comparison {
    size_t size;
    const char *data;   /* "stackoverflow/, test" */
    const char *unit;   /* of time; "" unknown */
    const char *note;   /* a remark for the page; NULL: none */
    double recent_crps; /* the reference of skill; NaN: unknown */
    double markov;      /* types right by the last type, in %; NaN unknown */
    const smurf_compared *row;
    size_t rows;
    double recency; /* types right by how recently each occurred, in %; NaN unknown */
} smurf_comparison;

/* The columns of the table of a paper. The last, skill, is not in smurf_metrics. NULL past the last. */
SMURF_API const smurf_metric *smurf_comparison_column(size_t column);
/* The mean of a row in a column, and its deviation in *sd unless that is NULL. NaN: not available. */
SMURF_API double smurf_comparison_value(const smurf_comparison *comparison, size_t row, size_t column, double *sd);

typedef enum smurf_mark {
    SMURF_MARK_NONE,
    SMURF_MARK_BEST,
    SMURF_MARK_NEAR, /* no further from the best than the larger of their two deviations */
} smurf_mark;
SMURF_API smurf_mark smurf_comparison_mark(const smurf_comparison *comparison, size_t row, size_t column);
/* Writes a page with the table, coverage and lengths of intervals over all levels. */
SMURF_API smurf_status smurf_comparison_report(const smurf_comparison *comparison, const char *path, smurf_error *err);

#ifdef __cplusplus
}
#endif

#endif
