/*
 * smurf.h - when will the next event come, of what type, and how sure can one be?
 *
 * The public interface of libsmurf, in three levels:
 *   1. The basics: errors, reading a log, training, forecasts, evaluation. Most programs need no more.
 *   2. More ways in and out: memory, arrays, streams, splits, writing.
 *   3. Details: settings, single questions to a forecast, futures, metric tables.
 * smurf_lab.h has the rest, for research: simulation, step-by-step training, time scales, comparisons.
 *
 * Conventions
 * - Errors: functions that can fail return a smurf_status and take a smurf_error, which may be NULL. On failure *out is
 *   NULL (but see smurf_fit).
 * - Ownership: the library makes handles, the caller frees each with its own `_free`, which accepts NULL. A handle
 *   copies what it needs, so handles may be freed in any order, with two exceptions: a trainer borrows its data sets
 *   and a forecast its model, which must outlive them. Strings and arrays returned by a handle belong to it. Strings
 *   and arrays passed to the library are used during the call only.
 * - Threads: a handle may be read from several threads at once. A thread that changes it must be the only user. A
 * process may fork between calls, and both go on.
 * - Growth: option structs start with their size, set by the matching `_init` macro, and so can gain members without
 *   breaking programs compiled against an older header. Structs returned by pointer can gain members at their end.
 *   Structs marked "fixed" never change.
 * - The library never prints, exits or aborts, and does not depend on the locale.
 *
 * Example (compiled and run as a test: examples/fit.c)
 *
 *     smurf_error err;
 *     smurf_data *data;
 *     smurf_split part;
 *     smurf_settings *settings;
 *     smurf_model *model;
 *     if (smurf_data_read(&data, "log.csv", NULL, &err) ||
 *         smurf_split_by_share(&part, data, (const double[]){8, 1, 1}, 1, &err) ||
 *         smurf_settings_new(&settings, "default", part.train, &err) ||
 *         smurf_settings_set(settings, "epochs", "2", &err) ||
 *         smurf_fit(&model, settings, part.train, part.dev, NULL, &err) ||
 *         smurf_model_save(model, "model.safetensors", &err) ||
 *         smurf_forecast_many(model, part.test, NULL, NULL, show, part.test, &err)) {
 *         puts(err.message);
 *         return 1;
 *     }
 *     smurf_model_free(model);
 *     smurf_settings_free(settings);
 *     smurf_split_release(&part);
 *     smurf_data_free(data);
 */
#ifndef SMURF_H
#define SMURF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(SMURF_STATIC)
#define SMURF_API __attribute__((visibility("default")))
#else
#define SMURF_API
#endif

/* Version of the library in use, such as "0.1.0". */
SMURF_API const char *smurf_version(void);

/* The kernels of matrix products that this processor runs and what was built in, such as "avx512 zlib cairo openmp
   sqlite": words separated by spaces. */
SMURF_API const char *smurf_features(void);

/* The GPU that steps of training can run on; "no device" where there is none; NULL in a build without CUDA. */
SMURF_API const char *smurf_gpu(void);

/* Frees memory that a function of the library returned as plain bytes. NULL is fine. */
SMURF_API void smurf_free(void *memory);

/* Called by the library when it no longer uses something that a caller lent to it. */
typedef void smurf_free_fn(void *context);

/* ==============================================================================================================
   1. The basics

   Read a log, train, save and load, forecast, evaluate.
   ============================================================================================================ */

/* ---- Errors ---------------------------------------------------------------------------------------------- */

typedef enum smurf_status {
    SMURF_OK = 0,
    SMURF_ERROR_INPUT,       /* a file or stream is malformed; the message says where */
    SMURF_ERROR_ARGUMENT,    /* an argument is out of range or does not fit the others */
    SMURF_ERROR_IO,          /* the operating system refused to open, read or write */
    SMURF_ERROR_MEMORY,      /* out of memory */
    SMURF_ERROR_CANCELLED,   /* a progress callback asked to stop */
    SMURF_ERROR_UNSUPPORTED, /* this build lacks a feature the input needs */
} smurf_status;

/* Filled on failure; allocated by the caller. The message is one line, in lower case, and says what to do. Where the
   error is about a place in a file, the message begins with it ("train.csv:312: ...") and `file` and `line` hold it.
   The layout of this struct never changes. */
typedef struct smurf_error {
    smurf_status status;
    uint64_t line;  /* in the file, counted from 1; 0: none */
    char file[256]; /* the file it is about; "": none. Of a longer name the end is kept. */
    char message[1024];
    uint64_t reserved[8]; /* 0 */
} smurf_error;

/* ---- Progress -------------------------------------------------------------------------------------------- */

typedef struct smurf_progress {
    const char *what; /* "reading train.csv" */
    const char *unit; /* "bytes", "sequences", "events" */
    double done;      /* in units */
    double total;     /* in units; 0 where unknown */
} smurf_progress;

/* Called periodically, on the calling thread. Return 0 to continue, anything else to stop soon with
   SMURF_ERROR_CANCELLED. Nothing half done is left behind. */
typedef int smurf_progress_fn(void *context, const smurf_progress *progress);

/* ---- Moments -------------------------------------------------------------------------------------------- */

/* A moment on the user's clock, exact: whole + fraction, 0 <= fraction < 1. Fixed. */
typedef struct smurf_moment {
    int64_t whole;
    double fraction;
} smurf_moment;

/* ---- Event data ------------------------------------------------------------------------------------------ */

/* A data set: sequences of events laid end to end, 12 bytes per event. Immutable. */
typedef struct smurf_data smurf_data;

/* One sequence of a data set. The arrays belong to the data set.
   An event happened at `origin + time[i]` in the data set's unit. The origin is 0 for times below
   2^20 (about a million) and else the whole part of the first time, so that clocks such as
   nanoseconds since 1970 keep every digit of their gaps. It can gain members: pass on what
   smurf_data_sequence returns, not a struct of your own. */
typedef struct smurf_sequence {
    const double *time;   /* (length), non-decreasing, relative to origin */
    const uint32_t *type; /* (length), 0 .. smurf_data_types - 1 */
    size_t length;
    size_t first;         /* index of the first event to be scored, at least 1: earlier ones are history */
    int64_t origin;       /* what to add to a time to get the user's clock */
    double start;         /* start of observation relative to origin; NaN where unknown */
    double end;           /* end of observation relative to origin; NaN where unknown */
    const char *name;     /* the user's name of the sequence, or NULL */
    size_t before;        /* events of the whole sequence before the first one here; above 0 in windows cut from it */
    const float *further; /* (length x columns) further columns; NULL: none. A number, or the number of a word in its
                             column, which is that of its words for any other; NaN: missing */
    size_t columns;
} smurf_sequence;

SMURF_API void smurf_data_free(smurf_data *data);
SMURF_API size_t smurf_data_sequences(const smurf_data *data);
SMURF_API const smurf_sequence *smurf_data_sequence(const smurf_data *data, size_t index);
SMURF_API size_t smurf_data_events(const smurf_data *data);
/* Gaps that are scored: from each sequence's `first` event on. */
SMURF_API size_t smurf_data_gaps(const smurf_data *data);
SMURF_API uint32_t smurf_data_types(const smurf_data *data);
/* Name of a type, or NULL where types are plain numbers. */
SMURF_API const char *smurf_data_type_name(const smurf_data *data, uint32_t type);
/* Further columns, such as the amount of an order, that were read with `features`: their number; the name of one; and
   the words of one that holds words, by number. NULL past the last, and for the words of numbers. */
SMURF_API size_t smurf_data_columns(const smurf_data *data);
SMURF_API const char *smurf_data_column_name(const smurf_data *data, size_t column);
SMURF_API const char *smurf_data_column_word(const smurf_data *data, size_t column, size_t word);
/* Unit of time, such as "s"; "" where unknown. */
SMURF_API const char *smurf_data_unit(const smurf_data *data);
/* 1 if origin + time counts seconds since 1970, read from ISO-8601 text. */
SMURF_API int smurf_data_is_calendar(const smurf_data *data);
/* The name of its source, for messages. */
SMURF_API const char *smurf_data_source(const smurf_data *data);
/* Bytes held in memory. */
SMURF_API size_t smurf_data_bytes(const smurf_data *data);
/* Non-fatal remarks of the reader ("12 events were out of order and have been sorted"). NULL past the last. */
SMURF_API const char *smurf_data_remark(const smurf_data *data, size_t index);

/* How a table was read: which columns were taken, and how. NULL members: none, or the default. It can gain members:
   pass on what the library returns, not a struct of your own. */
typedef struct smurf_reading {
    const char *format;          /* such as "csv" */
    const char *sequence_column; /* NULL: none, so that all events are one sequence */
    const char *time_column;     /* several columns that make up the time are separated by commas */
    const char *type_column;     /* NULL: none, so that all events are of one type */
    const char *time_format;     /* as in smurf_read_config */
    const char *timezone;
    const char *missing;
    const char *text;      /* what was taken, what else could have been meant and which option says so: one line */
    const char *delimiter; /* of fields; NULL: they are not delimited by a character */
    const char *header;    /* "none": columns are numbered; NULL: they have names */
    int guessed;           /* 1: the usual names, numbers and ISO-8601 times alone did not settle it */
    const char *table;     /* of a database, */
    const char *query;     /* or the query; NULL: another, or no database */
    const char *features;  /* further columns, with what they hold: "amount=number,region=word"; NULL: none asked for */
    const char *others;    /* names of columns that could be further ones; NULL: none, or not known */
} smurf_reading;

/* NULL if the data set was not read from a table. */
SMURF_API const smurf_reading *smurf_data_reading(const smurf_data *data);

/* ---- Reading --------------------------------------------------------------------------------------------- */

typedef struct smurf_read_config {
    size_t size;
    const char *format;          /* by name; NULL: found from the content */
    const char *sequence_column; /* names of columns (CSV) or fields (JSON); NULL: found from names and content; "":
                                    none. Without a header, columns are named 1, 2, ... */
    const char *time_column;     /* also several, separated by commas: "date,time" */
    const char *type_column;
    const char *events_path; /* RMTPP text: the file of types; NULL: beside the file of times */
    const char *key;         /* pickle and JSON: which list of sequences, such as "train"; NULL: the only one */
    const char *unit;        /* unit of time; NULL: what the file says */
    int sort;                /* 1, the default: sort events that are out of order; 0: fail. Streams never sort. */
    int types_are_words;     /* 1: numbers in the type column are names, not indices */
    smurf_progress_fn *progress;
    void *progress_context;
    size_t rare; /* types with fewer events become one type, "other", if there are more than 1000; 0: none. Default 5 */
    const char *time_format; /* of tables: "number", "iso", "epoch-s" (-ms, -us, -ns), "excel", or a pattern of
                                strptime; NULL: found from the content */
    const char *timezone;    /* IANA name of the zone of dates without an offset; NULL: UTC */
    const char
        *missing; /* rows of tables with an empty cell: NULL or "drop": left out; "keep": an empty type is
                     "(none)", an empty sequence name a name; "fail": an error, as is a time that cannot be read */
    const smurf_reading
        *as;           /* read like this, such as smurf_model_reading; what is given above comes first; may be NULL */
    const char *table; /* of a database: the table to read; NULL: the only one. Or */
    const char *query; /* one SELECT, whose rows are read. A query in `as` is not run: give it here */
    const char
        *features; /* of tables, of JSON with one object per event, and of packed files (NULL: all that are there):
                      names of further columns that a model is
                      to see, separated by commas; "=number" or "=word" behind a name says what it holds. "auto":
                      all that hold numbers or few words; NULL: those of `as`; "": none */
} smurf_read_config;

SMURF_API void smurf_read_config_init_sized(smurf_read_config *config, size_t size);
#define smurf_read_config_init(config) smurf_read_config_init_sized((config), sizeof *(config))

/* Reads one file, or standard input if path is "-". Gzip is unpacked. An SQLite file, or the address of a PostgreSQL
   database ("postgresql://user@host/name"), is read as the table or query that config names, and never written.
   config may be NULL. */
SMURF_API smurf_status smurf_data_read(smurf_data **out, const char *path, const smurf_read_config *config,
                                       smurf_error *err);

/* Writes the path as it is shown in messages, the address of a database without its password, and returns `shown`,
   which has room for strlen(path) + 1 bytes. */
SMURF_API char *smurf_path_shown(char *shown, const char *path);

/* ---- Parts of a data set --------------------------------------------------------------------------------- */

/* The three parts of a data set, which number their types alike. Any may be NULL. Fixed. */
typedef struct smurf_split {
    smurf_data *train, *dev, *test;
} smurf_split;

SMURF_API void smurf_split_release(smurf_split *split);

/* Reads a directory that holds train and, optionally, dev and test, in any format. Each is one file, or several whose
   names begin alike: train-000.csv, train-001.csv and so on, which are joined in the order of their names. */
SMURF_API smurf_status smurf_split_read(smurf_split *out, const char *directory, const smurf_read_config *config,
                                        smurf_error *err);

/* Deals whole sequences into three parts with the given shares, which need not add up to 1. A single sequence, and two
   to four that should make three parts, are cut in time instead; each part has what came before as history. */
SMURF_API smurf_status smurf_split_by_share(smurf_split *out, const smurf_data *data, const double share[3],
                                            uint64_t seed, smurf_error *err);

/* Until when sequences were observed, where the data does not say: until `until`, which must not be before the last
   event of any part, or, with NULL, until the last event of all parts; the latter only where times are dates, there are
   several sequences that do not all begin at the same moment, and no end of observation is known. That is what the
   probability of no further event is learned and judged from. Changes the parts, which may be NULL, in place: call it
   before they are split or used. */
SMURF_API smurf_status smurf_split_observe(smurf_split *split, const smurf_moment *until, smurf_error *err);
/* 1, and the moment, if ends of observation were set by smurf_split_observe; else 0. */
SMURF_API int smurf_data_observed(const smurf_data *data, smurf_moment *until);

/* ---- What to train --------------------------------------------------------------------------------------- */

/* Settings of a model and its training, by name and as text: "width" = "64", "objective" = "mle", "seed" = "7". */
typedef struct smurf_settings smurf_settings;

/* Settings of a preset. "default" (also NULL) looks at train and chooses scale, noise, batch and rate; "paper-..." and
   "program-..." with stackoverflow, retweet, mimic or financial are the published ones; the name of a model, such as
   "thp", is the default with that model. train may be NULL: then nothing is chosen by looking at data. */
SMURF_API smurf_status smurf_settings_new(smurf_settings **out, const char *preset, const smurf_data *train,
                                          smurf_error *err);
SMURF_API void smurf_settings_free(smurf_settings *settings);
/* An unknown name or a value out of range is an error that changes nothing. */
SMURF_API smurf_status smurf_settings_set(smurf_settings *settings, const char *name, const char *value,
                                          smurf_error *err);

/* ---- Models ---------------------------------------------------------------------------------------------- */

/* Results of calibration on data that training has not seen. Measures are cross-fitted: each half of the data is judged
   by the map fitted on the other half. */
typedef struct smurf_calibration {
    size_t gaps, sequences;         /* used */
    int recalibrated;               /* 1: the law's levels are mapped */
    double cs_before, cs_after;     /* calibration score in %, over 0.50 .. 0.95, from the PIT */
    double crps_before, crps_after; /* in the data's unit */
    size_t conformal;               /* levels kept for conformal intervals, one per sequence */
    double cs_floor;                /* the cs of the true law on as many gaps, by chance alone */
    int misses;      /* 1: calibration did not work: the law still misses unseen gaps by more than chance explains */
    double adaptive; /* step by which levels follow the gaps that came; 0: they do not */
    double pinball_before, pinball_after; /* without and with it, where it was chosen; else 0 */
    double cs_adapted; /* cs of the levels that follow, by which `misses` is then decided; 0: not measured */
} smurf_calibration;

/* The naive laws that a model's own are pooled with: F = (1 - weight) F_model + weight F_naive, and likewise
   probabilities of types. They are chosen, with their weights, on data that training has not seen, and used only if
   they gain there by more than chance; a law also if that data selected the epoch, and so favours the model. */
typedef struct smurf_pool {
    const char *law;    /* "recent", "marginal", "last 100" or "same hour"; NULL: none */
    double weight;      /* 0 to 1 */
    double gain;        /* how much lower the CRPS is there, in %, cross-fitted; negative: higher */
    const char *types;  /* "Markov" or "recency"; NULL: none */
    double type_weight; /* 0 to 1 */
    double type_gain;   /* how much higher the mean log probability of the types is there, cross-fitted */
    size_t reach;       /* events that the naive laws look back at, whatever the model does; SIZE_MAX: all */
    double type_follow; /* rate at which weights of this pool of types and of naive ones follow what came; 0: fixed */
} smurf_pool;

/* A trained model: weights, time scale, types, settings. Using it does not change it. */
typedef struct smurf_model smurf_model;

/* Reads model.safetensors; every name, shape and length is checked. */
SMURF_API smurf_status smurf_model_load(smurf_model **out, const char *path, smurf_error *err);
SMURF_API smurf_status smurf_model_save(const smurf_model *model, const char *path, smurf_error *err);
/* The bytes of such a file in memory. Free *bytes with smurf_free. */
SMURF_API smurf_status smurf_model_save_memory(const smurf_model *model, void **bytes, size_t *size, smurf_error *err);
/* Reads such bytes, which may be freed afterwards. name stands for the file in messages; NULL: "memory". */
SMURF_API smurf_status smurf_model_load_memory(smurf_model **out, const void *bytes, size_t size, const char *name,
                                               smurf_error *err);
SMURF_API void smurf_model_free(smurf_model *model);
SMURF_API size_t smurf_model_parameters(const smurf_model *model);
SMURF_API const smurf_settings *smurf_model_settings(const smurf_model *model);
SMURF_API uint32_t smurf_model_types(const smurf_model *model);
SMURF_API const char *smurf_model_type_name(const smurf_model *model, uint32_t type);
/* Further columns that the model sees of each event, as for data sets. */
SMURF_API size_t smurf_model_columns(const smurf_model *model);
SMURF_API const char *smurf_model_column_name(const smurf_model *model, size_t column);
SMURF_API const char *smurf_model_column_word(const smurf_model *model, size_t column, size_t word);
/* Unit of time of the train data, "" where unknown. */
SMURF_API const char *smurf_model_unit(const smurf_model *model);
/* 1 if that data had times in ISO-8601. */
SMURF_API int smurf_model_is_calendar(const smurf_model *model);
/* How the train data was read; give it as `as` of smurf_read_config to read further files the same way. NULL: it was
   not read from a table, or the model predates this. */
SMURF_API const smurf_reading *smurf_model_reading(const smurf_model *model);
SMURF_API const smurf_calibration *smurf_model_calibration(const smurf_model *model);
/* NULL: the model is not pooled with naive laws. */
SMURF_API const smurf_pool *smurf_model_pool(const smurf_model *model);

/* How the program split its data: the text it gave to smurf_fit; NULL: none. */
SMURF_API const char *smurf_model_split(const smurf_model *model);
/* 1 if the model was trained on exactly these events, with types that it does not know merged; 0 if not; -1: out of
   memory. */
SMURF_API int smurf_model_trained_on(const smurf_model *model, const smurf_data *data);
/* A copy of data with its types and the words of its further columns numbered as in the model, which must be there; the
   caller frees it. Types that the model does not know
   become its type "other" or, if it has none, the number smurf_model_types(model): the model then uses the times of
   such events, and the learned embedding of hidden types if it has one; their types are not scored. A remark says how
   many there are. */
SMURF_API smurf_status smurf_model_match(const smurf_model *model, const smurf_data *data, smurf_data **out,
                                         smurf_error *err);

/* ---- Training -------------------------------------------------------------------------------------------- */

/* Results of one epoch. Losses are per gap. */
typedef struct smurf_epoch {
    size_t epoch;                /* from 1 */
    double train_loss, dev_loss; /* alpha * objective + type loss; dev NaN where there is no dev part */
    double dev_time_loss, dev_type_loss;
    double dev_accuracy; /* of types, at the points of the type loss */
    double rate;         /* of the last step */
    double seconds;
    double events_per_second; /* while training */
    int best;                 /* 1: the lowest dev loss so far */
} smurf_epoch;

/* One trial of the noise (setting sigma). Fixed. */
enum { SMURF_SIGMA_TRIALS = 5 };
typedef struct smurf_sigma_trial {
    double sigma, crps, cs; /* cs in %, from the PIT */
    int chosen;
} smurf_sigma_trial;

enum { SMURF_RECALIBRATE_GAPS = 1000 };
/* Where levels adapt, they begin to this many gaps before the first law that is asked for, or at the start of the
   sequence. */
enum { SMURF_ADAPTIVE_PAST = 20000 };
/* How a run starts, once the noise is chosen and before the first step. */
typedef struct smurf_fit_start {
    const smurf_settings *settings; /* of a resumed run: those it was started with */
    size_t epoch;                   /* the first to run, from 1 */
    const smurf_epoch *best;        /* of a resumed run: the best epoch so far; NULL: none */
    const smurf_sigma_trial *trial; /* (trials), or NULL: the noise was not chosen */
    size_t trials;
    const char *device; /* where steps run: "cpu" or "cuda" */
    const char *remark; /* why not where they were asked to; NULL: they do */
} smurf_fit_start;

typedef struct smurf_fit_config {
    size_t size;
    int recalibrate;         /* 1: set two thirds of dev aside to calibrate on; 0: no; -1: where dev has
                                SMURF_RECALIBRATE_GAPS gaps. A dev part that is too small is not divided. */
    int choose_sigma;        /* 1: choose the noise by short runs */
    const char *model_path;  /* the best model so far is kept here; NULL: nowhere */
    const char *resume_path; /* the state to resume from is kept here: before the first step, after each epoch, and when
                                stopped; NULL: nowhere */
    int resume;              /* 1: continue the run in resume_path, with the same data. Of the settings, only seed and
                                threads count. */
    /* Called on the calling thread. Return 0 to continue, anything else to stop; epoch: once that epoch is kept. */
    int (*start)(void *context, const smurf_fit_start *start);
    int (*epoch)(void *context, const smurf_epoch *epoch);
    void *context;
    smurf_progress_fn *progress;
    void *progress_context;
    const char *split;  /* how the data was split, in the program's own words, kept in the model; NULL: nothing */
    double save_every;  /* seconds; > 0: resume_path is also written within epochs, when the last one is this old */
    const char *device; /* where steps run: "cpu" (NULL), "cuda", or "auto": cuda where there is a GPU, the model is
                           supported and the run is long. A model that is not supported trains on the processor, and
                           smurf_fit_start says why. */
} smurf_fit_config;

/* Whether there is such a device to train on: "cpu", "cuda" or "auto". The message says what is missing. */
SMURF_API smurf_status smurf_device_check(const char *device, smurf_error *err);

SMURF_API void smurf_fit_config_init_sized(smurf_fit_config *config, size_t size);
#define smurf_fit_config_init(config) smurf_fit_config_init_sized((config), sizeof *(config))

/* Trains a model, start to finish: sets part of dev aside, chooses the noise if asked to, trains, keeps the epoch with
   the lowest dev loss, calibrates. dev may be NULL: then the last epoch is the best, and nothing is calibrated.
   config may be NULL. If a callback stops it, the status is SMURF_ERROR_CANCELLED and *out is the best model so far,
   not calibrated, or NULL before the end of the first epoch: the one error after which *out is set. */
SMURF_API smurf_status smurf_fit(smurf_model **out, const smurf_settings *settings, const smurf_data *train,
                                 const smurf_data *dev, const smurf_fit_config *config, smurf_error *err);

/* ---- Times and durations ------------------------------------------------------------------------------- */

/* Parses a number or an ISO-8601 time (seconds since 1970; UTC unless a zone is given). */
SMURF_API smurf_status smurf_moment_parse(smurf_moment *out, const char *text, smurf_error *err);
/* from + gap. Returns 0, with *out undefined, if that overflows or gap is not finite. */
SMURF_API int smurf_moment_after(smurf_moment *out, smurf_moment from, double gap);
/* to - from. */
SMURF_API double smurf_moment_gap(smurf_moment from, smurf_moment to);

/* A duration for people: "3.4 min", "160 ms", "30 d". gap is in `unit`, such as that of
   smurf_data_unit. If that is none of ns, us, ms, s, min, h, d, w and y, or a word such as "minutes", it is shown in
   `unit`. Returns out. */
enum { SMURF_DURATION_TEXT = 64 };
SMURF_API const char *smurf_duration_text(char out[SMURF_DURATION_TEXT], double gap, const char *unit);
/* The unit of that text, and in *size its length in `unit`: for numbers that share a unit. NULL and 1 if `unit` is not
   known. */
SMURF_API const char *smurf_duration_unit(double gap, const char *unit, double *size);
/* Parses "90s", "1.5h", "1h30m", "2d" into `unit`. A plain number is in `unit`. An error if text names a unit and
   `unit` is not known. */
SMURF_API smurf_status smurf_duration_parse(double *out, const char *text, const char *unit, smurf_error *err);

/* ---- Forecasts ------------------------------------------------------------------------------------------- */

/* A history that grows event by event, and the law of the next gap and type. Appending an event is cheap: the work for
   earlier ones is kept. The model is borrowed. Use it from one thread at a time.

   Example (compiled and run as a test: examples/forecast.c)

       smurf_forecast *f;
       double level[] = {0.05, 0.5, 0.95}, gap[3];
       if (smurf_model_load(&model, "model.safetensors", &err) || smurf_forecast_new(&f, model, 0, &err) ||
           smurf_forecast_append(f, 10.5, 1, &err) || smurf_forecast_append(f, 11.2, 0, &err) ||
           smurf_forecast_quantile(f, level, gap, 3, &err)) {
           puts(err.message);
           return 1;
       }
       printf("next event between %g and %g, median %g\n", 11.2 + gap[0], 11.2 + gap[2], 11.2 + gap[1]); */
typedef struct smurf_forecast smurf_forecast;

/* history: look back at this many events at most, which bounds memory; 0: all. Naive laws that the model is pooled with
   remember what they need anyway. */
SMURF_API smurf_status smurf_forecast_new(smurf_forecast **out, const smurf_model *model, size_t history,
                                          smurf_error *err);
SMURF_API void smurf_forecast_free(smurf_forecast *forecast);
/* Forgets the history. Later times count from `origin` on the user's clock, which matters only to models that see raw
   time, or the clock on the wall (setting wall-clock): for these it is UTC, in seconds since 1970. */
SMURF_API void smurf_forecast_clear(smurf_forecast *forecast, int64_t origin);
/* Appends an event. A time before the last one or not finite is an error that changes nothing, and so is a type above
   smurf_model_types, which stands for any type that the model does not know. Where the model's levels adapt
   (smurf_calibration), the gap moves them: that costs about as much as a question. */
SMURF_API smurf_status smurf_forecast_append(smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);
/* The same for a model that sees further columns: `further` has smurf_model_columns values, as in smurf_sequence, with
   the model's numbers of words. NULL, and smurf_forecast_append: all are missing. */
SMURF_API smurf_status smurf_forecast_append_with(smurf_forecast *forecast, double time, uint32_t type,
                                                  const float *further, smurf_error *err);
/* Replaces the history by the first `events` events of a sequence. */
SMURF_API smurf_status smurf_forecast_read(smurf_forecast *forecast, const smurf_sequence *sequence, size_t events,
                                           smurf_error *err);
/* Conditions answers on no event for `since` after the last one. The next event resets it. */
SMURF_API smurf_status smurf_forecast_silence(smurf_forecast *forecast, double since, smurf_error *err);
/* 0: answers use the law before it is pooled and recalibrated. */
SMURF_API void smurf_forecast_recalibrate(smurf_forecast *forecast, int on);
/* Frees the memory that answers need, about 150 KB, until the next question; the history stays. For programs that keep
   many forecasts. */
SMURF_API void smurf_forecast_rest(smurf_forecast *forecast);
SMURF_API size_t smurf_forecast_events(const smurf_forecast *forecast);

/* Saves the history, silence and recalibration setting as bytes, to go on in another process. Free *bytes with
   smurf_free. What is kept is what further events depend on. SMURF keeps keys and values: 8 * layers * heads *
   head-width bytes per event it looks back at, rounded up to 32 events. The other models keep the events, 16 bytes
   each. A model with a context keeps 12 more bytes per event of its current window, fewer than context + window. */
SMURF_API smurf_status smurf_forecast_save(const smurf_forecast *forecast, void **bytes, size_t *size,
                                           smurf_error *err);
/* Makes a forecast from such bytes, which may go afterwards. It answers as the saved one does, to the bit, now and
   after further events, on the same kind of machine. The model must be the same in weights, settings and calibration,
   for example loaded from the same file; another one is an SMURF_ERROR_ARGUMENT. Bytes that are damaged or of another
   version are an SMURF_ERROR_INPUT. */
SMURF_API smurf_status smurf_forecast_restore(smurf_forecast **out, const smurf_model *model, const void *bytes,
                                              size_t size, smurf_error *err);

/* For programs that keep a great many forecasts. Hands the memory that answers need to another forecast of the same
   model, which saves making it anew: lend it to the one that is asked next. What that one had goes back in exchange. */
SMURF_API void smurf_forecast_lend(smurf_forecast *from, smurf_forecast *to);
/* A small copy that has no history, only the law of the next event: it answers questions about that as the other does.
   What needs the history (further events, futures, saving) is an SMURF_ERROR_ARGUMENT there. */
SMURF_API smurf_status smurf_forecast_settle(smurf_forecast **out, const smurf_forecast *forecast, smurf_error *err);
/* The memory it takes beside that for answers, in bytes, to within a factor of two. */
SMURF_API size_t smurf_forecast_size(const smurf_forecast *forecast);

/* A question about the next event. Times are in the data's unit. Arrays are borrowed for the call. */
typedef struct smurf_question {
    size_t size;
    const double *level; /* (levels) of the intervals, above 0 and below 1 */
    size_t levels;
    int one_sided;        /* 1: intervals from 0 up; 0: central ones */
    int conformal;        /* 1: conformal intervals as well; not together with silence or now */
    const double *within; /* (horizons) the probability that it comes within each */
    size_t horizons;
    size_t top;              /* types to name, most probable first; 0: none, SIZE_MAX: all */
    double silence;          /* nothing has happened for this long; 0: as set by smurf_forecast_silence */
    const smurf_moment *now; /* nothing has happened until then, on the user's clock; NULL: not given */
    int64_t next;            /* also the time to the next event of this type, by drawing futures; -1: none */
    size_t paths, steps;     /* for next: futures to draw, and the most events of each */
    uint64_t seed;           /* for next */
    int threads;             /* for next; 0: all cores. Results do not depend on it. */
    int recalibrate;         /* 0: the law as trained; 1: as set by smurf_forecast_recalibrate */
    smurf_progress_fn *progress;
    void *progress_context;
    const smurf_moment *until; /* also the probability of no event from the last one until then; NULL: not asked */
} smurf_question;

/* Intervals of 50% and 90%, all types, nothing else. */
SMURF_API void smurf_question_init_sized(smurf_question *question, size_t size);
#define smurf_question_init(question) smurf_question_init_sized((question), sizeof *(question))

/* Fixed. */
typedef struct smurf_interval {
    double low, high;
} smurf_interval;

/* The answer. Times count from `from`: the last event, or now where there is silence. If the clock of the train data
   ticks, medians, intervals and probabilities are those of the gap in whole ticks, and intervals are closed: both ends
   are inside. If the model knows that sequences end, probabilities `within` include that, and the median and ends of
   intervals beyond 1 - `never` are INFINITY; mean and types are given that an event comes. Owned by the library, like
   everything it points to. */
typedef struct smurf_answer {
    size_t sequence;     /* in the data set (smurf_forecast_many); else 0 */
    size_t events;       /* of the history; with 0 the law is that of all gaps in training */
    smurf_moment last;   /* the last event; {0, 0} where there is none */
    smurf_moment from;   /* likewise */
    double median, mean; /* time to the next event */
    size_t levels;       /* as asked, as are horizons */
    size_t horizons;
    size_t types;                    /* types that are named */
    const smurf_interval *interval;  /* (levels) */
    const smurf_interval *conformal; /* (levels), or NULL: not asked. high is INFINITY where calibration had too few
                                        sequences */
    const double *within;            /* (horizons) probabilities */
    const uint32_t *type;            /* (types), the most probable first */
    const double *share;             /* (types) their probabilities */
    /* Time to the next event of the type asked for; NaN where none was, or the history is empty. INFINITY: it did not
       come within the futures drawn. */
    double next_seen; /* share of the futures in which it came */
    double next_median;
    const smurf_interval *next_interval; /* (levels), or NULL: not asked */
    const double *next_within;           /* (horizons), or NULL: not asked */
    /* From the last event to `until`; NaN where that was not asked, or the history is empty. */
    double silence;  /* how long that is; negative if the last event is later */
    double survival; /* the probability of no event for that long, whatever the silence asked about */
    double never;    /* the probability that no further event comes; NaN if the model does not say (setting `ending`)
                        or the history is empty */
} smurf_answer;

SMURF_API smurf_status smurf_forecast_ask(smurf_forecast *forecast, const smurf_question *question, smurf_answer **out,
                                          smurf_error *err);
SMURF_API void smurf_answer_free(smurf_answer *answer);

typedef struct smurf_many_config {
    size_t size;
    size_t history;         /* as in smurf_forecast_new */
    size_t every;           /* ask after every N-th event of a sequence; 0: at its end */
    const size_t *sequence; /* (sequences) which ones, in this order; NULL: all */
    size_t sequences;
    size_t *failed; /* receives the sequence that could not be answered, SIZE_MAX where there was none; may be NULL */
    int threads;    /* 0: all cores. Results do not depend on it. Replaces the question's. */
    smurf_progress_fn *progress;
    void *progress_context;
} smurf_many_config;

SMURF_API void smurf_many_config_init_sized(smurf_many_config *config, size_t size);
#define smurf_many_config_init(config) smurf_many_config_init_sized((config), sizeof *(config))

/* Receives each answer, in order, on the calling thread, soon after it is computed. The answer is valid during the
   call. Return 0 to continue, anything else to stop with SMURF_ERROR_CANCELLED. */
typedef int smurf_answer_fn(void *context, const smurf_answer *answer);

/* Asks the same question of many sequences, on several threads. Memory does not grow with the number of answers.
   Answers before an error have been delivered. config may be NULL. */
SMURF_API smurf_status smurf_forecast_many(const smurf_model *model, const smurf_data *data,
                                           const smurf_question *question, const smurf_many_config *config,
                                           smurf_answer_fn *answer, void *context, smurf_error *err);

/* All answers of smurf_forecast_many. */
typedef struct smurf_answers smurf_answers;

/* Keeps the answers instead of handing them out. */
SMURF_API smurf_status smurf_forecast_all(smurf_answers **out, const smurf_model *model, const smurf_data *data,
                                          const smurf_question *question, const smurf_many_config *config,
                                          smurf_error *err);
SMURF_API void smurf_answers_free(smurf_answers *answers);
SMURF_API size_t smurf_answers_count(const smurf_answers *answers);
/* NULL past the last. It belongs to the answers. */
SMURF_API const smurf_answer *smurf_answers_at(const smurf_answers *answers, size_t index);
/* The distance in bytes from a member of an answer to that of the next one, and from an element of an array that an
   answer points to, to that of the next one: for programs that read them as columns. */
SMURF_API size_t smurf_answers_stride(const smurf_answers *answers);

/* ---- Evaluation ------------------------------------------------------------------------------------------ */

enum { SMURF_LEVELS = 19 };
/* 0.05, 0.10, .. 0.95. */
extern SMURF_API const double smurf_levels[SMURF_LEVELS];

/* Quality of the laws of one predictor, over all scored gaps of a data set. Lengths, CRPS and the like are in the
   data's unit of time. NaN: does not apply. cs, cer, acc and ece are in percent. */
typedef struct smurf_metrics {
    size_t n, sequences;
    double cs; /* root mean square of coverage - level over 0.50 .. 0.95, where coverage counts gap < quantile, in % */
    double cs_all;   /* the same over all levels */
    double cs_pit;   /* the same as cs, from the PIT, which is drawn at random within a tick of the clock */
    double cs_floor; /* the cs expected of the true law, by chance */
    double cer;      /* |coverage - level| at 0.5, in % */
    double il;       /* mean of the median, as the length of [0, median] */
    double crps;
    double pinball;        /* mean pinball loss over the levels */
    double spread;         /* mean of E|X - X'|/2: sharpness */
    double log_likelihood; /* mean log density of the gaps */
    double ks, ks_p;      /* Kolmogorov-Smirnov distance of the PIT from uniform, and the probability of a larger one */
    double acc;           /* types right, time unknown, in % */
    double acc_draws;     /* types right by the mode of the types drawn at drawn gaps, in % */
    double acc_true_time; /* types right, time given, in % */
    double type_loss;     /* mean of -ln of the true type's probability, time unknown */
    double brier, ece;    /* of the types, time unknown */
    double coverage[SMURF_LEVELS]; /* shares of 1 */
    double interval_length[SMURF_LEVELS];
} smurf_metrics;

typedef struct smurf_eval_config {
    size_t size;
    int recalibrate;     /* 0: the law as it was trained, without its pool and its map of levels */
    const char *sampler; /* by name; NULL: the default */
    size_t draws;        /* of each gap, for the metrics as the paper defines them, up to 1e6; 0: none, or 100 where the
                            sampler takes steps */
    size_t steps;        /* of the sampler, up to 1e9; 0: the model's setting */
    double step;         /* its epsilon, from 1e-12 to 1000; 0: the model's setting */
    int denoise;         /* 1: Tweedie's step at the end */
    size_t bootstrap;    /* resamplings of sequences, for intervals, up to 1e6; 0: none */
    size_t examples;     /* laws to keep for pictures */
    int fast;            /* 1: leave out spread, which costs as much as the CRPS */
    uint64_t seed;
    int threads; /* 0: all cores. Results do not depend on it. */
    smurf_progress_fn *progress;
    void *progress_context;
    const char *device; /* where laws are measured and drawn from: "cpu" (NULL), "cuda", or "auto": cuda where there is
                           a GPU. What it has no kernels for is measured on the processor: smurf_evaluation_device. */
} smurf_eval_config;

SMURF_API void smurf_eval_config_init_sized(smurf_eval_config *config, size_t size);
#define smurf_eval_config_init(config) smurf_eval_config_init_sized((config), sizeof *(config))

/* Laws measured on a data set. It copies what it needs: model and data may be freed before it. */
typedef struct smurf_evaluation smurf_evaluation;

/* Measures a model's laws on the scored gaps of data. The naive laws to compare with come from train; NULL: none. */
SMURF_API smurf_status smurf_evaluate(smurf_evaluation **out, const smurf_model *model, const smurf_data *data,
                                      const smurf_data *train, const smurf_eval_config *config, smurf_error *err);
SMURF_API void smurf_evaluation_free(smurf_evaluation *evaluation);

/* One scored event: what an evaluation measures, for its gap alone. */
typedef struct smurf_scored {
    size_t sequence;    /* in the data set */
    size_t event;       /* in the sequence, from 0 */
    double gap;         /* since the event before */
    double pit;         /* the level of the gap in its law, drawn at random within a tick of the clock */
    double p;           /* 2 min(pit, 1 - pit): small if the gap is unusually short or long */
    double log_density; /* of the gap; the mean over events is log_likelihood of smurf_metrics */
    uint32_t type;      /* that occurred */
    uint32_t top;       /* the most probable one, time unknown */
    double type_share; /* probability of `type`, time unknown; the mean of -ln is type_loss of smurf_metrics. NaN if the
                          model does not know the type */
    double top_share;  /* probability of `top` */
} smurf_scored;

/* Receives each event, in the order of the data, on the calling thread. Return 0 to continue, anything else to stop
   with SMURF_ERROR_CANCELLED. */
typedef int smurf_scored_fn(void *context, const smurf_scored *event);

/* Measures a model's laws on the scored gaps of data as smurf_evaluate does, and hands out each. Of config, which may
   be NULL, recalibrate, seed, threads and progress count. Takes 60 bytes of memory per gap. */
SMURF_API smurf_status smurf_score(const smurf_model *model, const smurf_data *data, const smurf_eval_config *config,
                                   smurf_scored_fn *scored, void *context, smurf_error *err);
/* Writes them to an array instead, of as many elements as smurf_data_gaps. */
SMURF_API smurf_status smurf_score_all_sized(smurf_scored *out, size_t size, const smurf_model *model,
                                             const smurf_data *data, const smurf_eval_config *config, smurf_error *err);
#define smurf_score_all(out, model, data, config, err)                                                                 \
    smurf_score_all_sized(out, sizeof *(out), model, data, config, err)

typedef enum smurf_row {
    SMURF_ROW_MODEL,     /* the model, pooled and recalibrated where it has a pool and a map */
    SMURF_ROW_RAW,       /* the model before that */
    SMURF_ROW_SAMPLED,   /* by draws */
    SMURF_ROW_MARGINAL,  /* naive: quantiles of the train gaps */
    SMURF_ROW_RECENT,    /* naive: the same by the mean of the last 8 gaps */
    SMURF_ROW_SAME_HOUR, /* naive: the last 100 gaps that began in the same hour of the day; where times are dates */
    SMURF_ROW_LAST,      /* naive: the last 100 gaps; where times are dates */
    SMURF_ROW_FIXED,     /* the model before its levels adapt; where they do */
} smurf_row;
/* NULL if the row was not measured. low and high, unless NULL, receive the ends of 90% bootstrap intervals. */
SMURF_API const smurf_metrics *smurf_evaluation_row(const smurf_evaluation *evaluation, smurf_row row,
                                                    const smurf_metrics **low, const smurf_metrics **high);
/* Coverage of the intervals that users see: on ticks of the clock and closed, so that ties are inside. Shares of 1;
   NaN: not measured. */
enum { SMURF_CENTRAL = 9 };
typedef struct smurf_coverage {
    double tick;                       /* of the clock; 0: none */
    double upto[SMURF_LEVELS];         /* of [0, high end] */
    double central[SMURF_CENTRAL];     /* of central intervals of 10%, 20%, .. 90% */
    double central_pit[SMURF_CENTRAL]; /* the same from the PIT, which is drawn at random within a tick */
} smurf_coverage;
/* NULL if the row was not measured. */
SMURF_API const smurf_coverage *smurf_evaluation_coverage(const smurf_evaluation *evaluation, smurf_row row);
/* How well forecasts say that nothing follows an event before the end of observation: of all events of sequences whose
   end of observation is known and later. */
enum { SMURF_END_GROUPS = 10 };
typedef struct smurf_ends {
    size_t n, last;        /* events; of those, nothing followed */
    double share;          /* last / n */
    double forecast;       /* mean forecast of that */
    double brier;          /* mean squared distance of forecast and outcome */
    double brier_constant; /* that of always saying `share` */
    /* Calibration: the events sorted by their forecast, in groups of the same size; an empty group has NaN. */
    size_t group[SMURF_END_GROUPS];
    double group_forecast[SMURF_END_GROUPS]; /* means */
    double group_share[SMURF_END_GROUPS];    /* of events that nothing followed */
} smurf_ends;
/* NULL if no end of observation is known. */
SMURF_API const smurf_ends *smurf_evaluation_ends(const smurf_evaluation *evaluation);
/* Accuracy in percent of predicting the most frequent successor of the last type; NaN without train. */
SMURF_API double smurf_evaluation_markov(const smurf_evaluation *evaluation);
/* The same for the type that is most probable by how recently each occurred. */
SMURF_API double smurf_evaluation_recency(const smurf_evaluation *evaluation);
/* How much lower the model's CRPS is than that of the best naive row, in % of the latter (negative: higher). Fixed. */
typedef struct smurf_advantage {
    smurf_row row;    /* the naive row with the lowest CRPS */
    const char *name; /* "recent", "same hour", ...; belongs to the evaluation */
    double value;
    double low, high; /* its 90% interval, by a paired bootstrap over sequences, or over blocks of time where there are
                         few; NaN with too few gaps */
} smurf_advantage;
/* Returns 0, and NaN values, without naive rows. */
SMURF_API int smurf_evaluation_advantage(const smurf_evaluation *evaluation, smurf_advantage *out);
/* Mean gap of train in the data's unit; NaN without train. */
SMURF_API double smurf_evaluation_mean_gap(const smurf_evaluation *evaluation);
/* Where the laws of a model were measured, "cpu" or "cuda"; *remark, unless it is NULL: why not where they were asked
   to, NULL if they were. Differences between the two are rounding. */
SMURF_API const char *smurf_evaluation_device(const smurf_evaluation *evaluation, const char **remark);
/* Writes a page with figures and the table. figures: a directory that also receives each figure as SVG and PNG; NULL:
   none. PNG needs libcairo2, which is loaded on demand. */
SMURF_API smurf_status smurf_evaluation_report(const smurf_evaluation *evaluation, const char *path,
                                               const char *figures, smurf_error *err);

/* Whether such figures can be written: an SMURF_ERROR_UNSUPPORTED if libcairo2 is needed and missing. To be told before
   a long evaluation. */
SMURF_API smurf_status smurf_figures_check(smurf_error *err);

/* ==============================================================================================================
   2. More ways in and out

   Memory, arrays, streams, writing.
   ============================================================================================================ */

/* ---- Memory ---------------------------------------------------------------------------------------------- */

/* The same from memory; `name` stands for the file in messages. */
SMURF_API smurf_status smurf_data_read_memory(smurf_data **out, const void *bytes, size_t size, const char *name,
                                              const smurf_read_config *config, smurf_error *err);

/* ---- Arrays ---------------------------------------------------------------------------------------------- */

/* Events held in arrays of the program. Set the fields you have after smurf_arrays_init; the rest stays 0.
   Times are doubles (`time`) or whole ticks (`ticks`), as datetime64 of numpy has them: with places = 9 and unit "s",
   nanoseconds since 1970. Sequences lie end to end (`offset`), or rows are interleaved and say where they belong
   (`sequence`), or there is one sequence.

   Example (compiled and run as a test: examples/arrays.c)

       double time[] = {0.5, 1, 2.5, 0.25, 4};
       uint32_t type[] = {1, 0, 1, 0, 0};
       size_t offset[] = {0, 3, 5};
       smurf_arrays_init(&arrays);
       arrays.events = 5;
       arrays.time = time;
       arrays.type = type;
       arrays.sequences = 2;
       arrays.offset = offset;
       if (smurf_data_from_arrays(&data, &arrays, &err)) {
           puts(err.message);
           return 1;
       } */
typedef struct smurf_arrays {
    size_t size;
    size_t events;
    const double *time;               /* (events) on the user's clock; or */
    const int64_t *ticks;             /* (events) in units of 10^-places, INT64_MIN: missing */
    int places;                       /* 0 .. 18 */
    const uint32_t *type;             /* (events); NULL: all are of one type */
    uint32_t types;                   /* number of types; 0: as many as occur, or as there are names */
    const char *const *type_name;     /* (types); NULL: types are numbers */
    size_t sequences;                 /* 0: as many as there are ids, or one */
    const size_t *offset;             /* (sequences + 1) sequence i has events offset[i] .. offset[i + 1] - 1; or */
    const int64_t *sequence;          /* (events) an id for each event's sequence: any numbers */
    const char *const *sequence_name; /* (sequences), entries may be NULL. NULL: the ids, or none */
    const double *start, *end;        /* (sequences) of observation on the user's clock, NaN: unknown; or NULL */
    const int64_t *start_ticks, *end_ticks; /* the same in ticks, INT64_MIN: unknown; or NULL */
    const size_t *first;                    /* (sequences) first event to be scored; NULL: 1 */
    const char *unit;                       /* of time, such as "s"; NULL: unknown */
    int is_calendar;                        /* 1: times count seconds since 1970 */
    int sort;                               /* 1: sort events that are out of order rather than fail */
    const char *name;                       /* for smurf_data_source; NULL: "arrays" */
    smurf_free_fn *release; /* NULL: everything is copied. Else `time` and `type` are lent if possible */
    void *release_context;
    const char *timezone; /* IANA name of the zone that the dates were in, for hours and weekdays; NULL: UTC */
} smurf_arrays;

#define smurf_arrays_init(arrays) smurf_arrays_init_sized((arrays), sizeof *(arrays))
SMURF_API void smurf_arrays_init_sized(smurf_arrays *arrays, size_t size);

/* Makes a data set, with the same checks as for a file. With ids, sequences come in the order in which their ids first
   appear; sequence_name, start, end and first are in that order too. Messages count events and sequences from 0, as
   they are in the arrays ("event 17 of sequence 3: ...").

   If `release` is set, the data set uses `time` and `type` in place, without a copy, if nothing has to change:
   sequences by offset, times as doubles that start below 2^20, in order. release(release_context) is called exactly
   once, also after an error, when the arrays are no longer used: before this function returns or, where they are in
   use, by smurf_data_free. */
SMURF_API smurf_status smurf_data_from_arrays(smurf_data **out, const smurf_arrays *arrays, smurf_error *err);

/* ---- Streams --------------------------------------------------------------------------------------------- */

/* Events as they arrive: a pipe, a socket, a log that grows. CSV, TSV and JSON Lines come record by record, each as
   soon as its line is complete; other formats are read to their end first. Memory stays flat. Use it from one
   thread at a time.

   Example (compiled and run as a test: examples/stream.c)

       smurf_status status = smurf_stream_new(&stream, "-", NULL, &err);
       if (status) {
           puts(err.message);
           return 1;
       }
       while (!(status = smurf_stream_next(stream, 1, &piece, &err)) && piece) {
           const smurf_sequence *s = smurf_data_sequence(piece->data, 0);
           printf("%s at %g\n", s->name ? s->name : "-", (double)s->origin + s->time[s->length - 1]);
       }
       if (status) puts(err.message);
       smurf_stream_free(stream); */
typedef struct smurf_stream smurf_stream;

/* Reads up to `room` more bytes, waiting for at least one. Returns how many, 0 at the end, -1 on failure. */
typedef ptrdiff_t smurf_read_fn(void *context, void *bytes, size_t room);

/* From a path, "-" being standard input, or from a function; `name` stands for the file in messages. Texts of config
   (which may be NULL) must outlive the stream. */
SMURF_API smurf_status smurf_stream_new(smurf_stream **out, const char *path, const smurf_read_config *config,
                                        smurf_error *err);
SMURF_API smurf_status smurf_stream_new_reader(smurf_stream **out, smurf_read_fn *read, void *context, const char *name,
                                               const smurf_read_config *config, smurf_error *err);
SMURF_API void smurf_stream_free(smurf_stream *stream);

/* A piece of a stream. */
typedef struct smurf_piece {
    smurf_data *data; /* words of types are numbered anew in each piece: go by their names, as smurf_model_match does */
    int whole;        /* 1: finished sequences; 0: events of sequences that may go on, told apart by name */
    uint64_t line;    /* where the first record begins, from 1 */
} smurf_piece;

/* Waits for the next record and takes what else has arrived: up to `most` records (1: event by event; 0: all).
   *out belongs to the stream and is valid until the next call; NULL: the end. Order of time is checked within a piece
   only; smurf_forecast_append checks the rest. After an SMURF_ERROR_INPUT, err->line says where, and the next call
   continues after the bad record. */
SMURF_API smurf_status smurf_stream_next(smurf_stream *stream, size_t most, const smurf_piece **out, smurf_error *err);

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* Available formats, by index: the name ("jsonl") and the title ("JSON Lines"). NULL past the last. */
SMURF_API const char *smurf_format_name(size_t index);
SMURF_API const char *smurf_format_title(size_t index);
/* The name of the format that the suffix of a path stands for, ignoring ".gz"; NULL: none. */
SMURF_API const char *smurf_format_of_path(const char *path);

typedef struct smurf_write_config {
    size_t size;
    const char *format; /* by name; NULL: by the suffix of the path (also with .gz); standard output: jsonl */
    const char *key;    /* pickle: the name of the list of sequences; NULL: "train" */
    smurf_progress_fn *progress;
    void *progress_context;
} smurf_write_config;

SMURF_API void smurf_write_config_init_sized(smurf_write_config *config, size_t size);
#define smurf_write_config_init(config) smurf_write_config_init_sized((config), sizeof *(config))

/* Writes to a temporary file that is synced and renamed once complete. "-" and targets that are not regular files are
   written directly. */
SMURF_API smurf_status smurf_data_write(const smurf_data *data, const char *path, const smurf_write_config *config,
                                        smurf_error *err);

/* The same into memory. config: format NULL is JSON Lines; RMTPP text, which is two files, is not supported. Free
 *bytes with smurf_free. */
SMURF_API smurf_status smurf_data_write_memory(const smurf_data *data, void **bytes, size_t *size,
                                               const smurf_write_config *config, smurf_error *err);

/* ==============================================================================================================
   3. Details

   Settings, single questions to a forecast, futures, metric tables.
   ============================================================================================================ */

/* ---- More about settings --------------------------------------------------------------------------------- */

SMURF_API smurf_status smurf_settings_copy(smurf_settings **out, const smurf_settings *settings, smurf_error *err);
/* Writes the value as text into text (n bytes), truncated if longer. */
SMURF_API smurf_status smurf_settings_get(const smurf_settings *settings, const char *name, char *text, size_t n,
                                          smurf_error *err);
/* Checks that the settings are consistent. Training does so too. */
SMURF_API smurf_status smurf_settings_check(const smurf_settings *settings, smurf_error *err);
/* Names of the settings, with one line about each, and of the presets. NULL past the last. */
SMURF_API const char *smurf_setting_name(size_t index);
SMURF_API const char *smurf_setting_about(size_t index);
SMURF_API const char *smurf_preset_name(size_t index);

/* ---- Single questions ------------------------------------------------------------------------------------ */

/* Questions about the gap from the last event to the next, in the data's unit. With an empty history the law is that of
   all train gaps. Arrays have n elements. They are about the law itself, which is continuous, where smurf_forecast_ask
   gives times on ticks of the clock. If the model knows that sequences end (setting `ending`), no further event may
   come: the CDF at INFINITY is the probability that one does, and quantiles and draws may be INFINITY; mean and types
   are given that one comes. Levels that adapt can make quantiles and the mean INFINITY too. */
SMURF_API smurf_status smurf_forecast_quantile(smurf_forecast *forecast, const double *level, double *gap, size_t n,
                                               smurf_error *err);
SMURF_API smurf_status smurf_forecast_cdf(smurf_forecast *forecast, const double *gap, double *level, size_t n,
                                          smurf_error *err);
SMURF_API smurf_status smurf_forecast_density(smurf_forecast *forecast, const double *gap, double *density, size_t n,
                                              smurf_error *err);
SMURF_API smurf_status smurf_forecast_mean(smurf_forecast *forecast, double *gap, smurf_error *err);
/* Draws; a function of the seed. */
SMURF_API smurf_status smurf_forecast_sample(smurf_forecast *forecast, uint64_t seed, double *gap, size_t n,
                                             smurf_error *err);
/* Probabilities of the types, whenever the event comes: share has one element per type. */
SMURF_API smurf_status smurf_forecast_types(smurf_forecast *forecast, double *share, smurf_error *err);
/* The same, given that the event comes after `gap`. */
SMURF_API smurf_status smurf_forecast_types_at(smurf_forecast *forecast, double gap, double *share, smurf_error *err);
/* Conformal interval: the gap of a random event of a new sequence lies in [gap[0], gap[1]] with probability `level` at
   least, whether or not the law is right. The guarantee is marginal: it averages over calibration sets as well as over
   new sequences. Given one calibration set the coverage may be somewhat lower or higher, the more so the fewer
   sequences it had. sides 1: from 0 up, 2: both ends. gap[1] is infinite where calibration had too few sequences for
   the level. With silence: SMURF_ERROR_ARGUMENT. */
SMURF_API smurf_status smurf_forecast_conformal(smurf_forecast *forecast, double level, int sides, double gap[2],
                                                smurf_error *err);

/* ---- Futures --------------------------------------------------------------------------------------------- */

/* Futures many steps ahead, drawn event by event from the law. */
typedef struct smurf_futures smurf_futures;

typedef struct smurf_futures_config {
    size_t size;
    size_t paths;
    double until;    /* stop a path this long after the last event; INFINITY: by count alone */
    size_t events;   /* stop a path after this many events; 0: by time alone */
    int64_t stop_at; /* stop a path after an event of this type; -1: none */
    uint64_t seed;
    int threads; /* 0: all cores. Results do not depend on it. */
    smurf_progress_fn *progress;
    void *progress_context;
} smurf_futures_config;

SMURF_API void smurf_futures_config_init_sized(smurf_futures_config *config, size_t size);
#define smurf_futures_config_init(config) smurf_futures_config_init_sized((config), sizeof *(config))
/* The forecast is not changed. Silence applies to the first gap. Further columns of an event that is drawn are those of
   a past event of its type, one of the last 256, or of any type if there is none. Levels that adapt stay as they are
   after the history.
 */
SMURF_API smurf_status smurf_forecast_futures(smurf_forecast *forecast, const smurf_futures_config *config,
                                              smurf_futures **out, smurf_error *err);
SMURF_API void smurf_futures_free(smurf_futures *futures);
SMURF_API size_t smurf_futures_paths(const smurf_futures *futures);
/* Events of one path: times since the last event of the history. Returns how many. A path also ends where no further
   event comes. */
SMURF_API size_t smurf_futures_path(const smurf_futures *futures, size_t path, const double **time,
                                    const uint32_t **type);

/* ---- Watching -------------------------------------------------------------------------------------------- */

/* How surprising an event is. Fixed. */
typedef struct smurf_surprise {
    double gap; /* since the last event */
    double pit; /* the level of the gap in its law, drawn at random within a tick of the clock: uniform between 0 and
                   1 if the law is true */
    double type_level; /* the probability, at that time, of all types that are no more probable: if the law is true, at
                          most x with probability at most x; 1 if the model does not know the type */
    double type_share; /* the probability of the type at that time; NaN if the model does not know it */
} smurf_surprise;

/* How surprising an event would be as the next one; the history, which must not be empty, is not changed. Draws are a
   function of the seed and the number of events. Time and type are checked as in smurf_forecast_append. */
SMURF_API smurf_status smurf_forecast_surprise(smurf_forecast *forecast, double time, uint32_t type, uint64_t seed,
                                               smurf_surprise *out, smurf_error *err);

/* Kinds of alarms about a stream of events. */
typedef enum smurf_alarm {
    SMURF_ALARM_OVERDUE,     /* a silence is longer than is probable */
    SMURF_ALARM_EARLY,       /* an event came sooner than is probable */
    SMURF_ALARM_TYPE,        /* its type was improbable */
    SMURF_ALARM_RATE,        /* the events of one sequence have come faster, or more slowly, than forecast */
    SMURF_ALARM_CALIBRATION, /* the forecasts of all sequences together have lost their calibration */
} smurf_alarm;
enum { SMURF_ALARMS = 5 };
/* "overdue", "early", "type", "rate", "calibration". */
SMURF_API const char *smurf_alarm_name(smurf_alarm kind);

/* How calibration was lost. */
typedef enum smurf_finding {
    SMURF_FINDING_NONE,
    SMURF_FINDING_SHORT,  /* gaps are shorter than forecast */
    SMURF_FINDING_LONG,   /* longer */
    SMURF_FINDING_NARROW, /* forecasts are too narrow: more gaps are very short or very long */
    SMURF_FINDING_WIDE,   /* too wide */
} smurf_finding;

/* What alarms remember of a sequence. Starts as 0. Fixed. */
typedef struct smurf_track {
    double faster, slower; /* evidence of twice and half the rate */
    int direction;         /* of the last alarm: 1 faster, -1 slower */
    int quiet;             /* 1: an alarm was raised at `since`; for a day there is no other */
    smurf_moment since;
} smurf_track;

typedef struct smurf_alarms_config {
    size_t size;
    double per_day; /* alarms per day that a healthy stream raises, of all kinds and sequences together; default 1 */
    double day;     /* length of a day in the data's unit; must be given */
    int typed;      /* 0: none about types, for a model with one type; default 1 */
    int adapt;      /* 0: bars stay where the first days put them; default 1: they follow the alarms that come */
    double warm_up; /* raise none for that long, in the data's unit, a day at least: a few usual gaps, because the first
                       gaps to end are the short ones; default 0 */
} smurf_alarms_config;

SMURF_API void smurf_alarms_config_init_sized(smurf_alarms_config *config, size_t size);
#define smurf_alarms_config_init(config) smurf_alarms_config_init_sized((config), sizeof *(config))

/* When alarms are raised about a stream: often enough to make up the number per day, whether or not the model's law is
   right. While warming up, and for the first 100 gaps, there are none. No kind is raised more often than after every
   20th gap. */
typedef struct smurf_alarms smurf_alarms;
SMURF_API smurf_status smurf_alarms_new(smurf_alarms **out, const smurf_alarms_config *config, smurf_error *err);
SMURF_API void smurf_alarms_free(smurf_alarms *alarms);
/* Time has come to `now`, on the user's clock. Earlier moments are ignored. */
SMURF_API void smurf_alarms_pass(smurf_alarms *alarms, smurf_moment now);
/* The probability per gap at which a kind is raised; 0: not yet. A sequence is overdue when its silence has a lower
   probability than that of SMURF_ALARM_OVERDUE at its last event: raise it once, and tell smurf_alarms_overdue. */
SMURF_API double smurf_alarms_level(const smurf_alarms *alarms, smurf_alarm kind);
SMURF_API void smurf_alarms_overdue(smurf_alarms *alarms);
/* Takes an event that follows another of its sequence. Returns bits 1 << kind of the alarms that it raises. */
SMURF_API unsigned smurf_alarms_gap(smurf_alarms *alarms, smurf_track *track, const smurf_surprise *event,
                                    smurf_finding *finding);
/* As bytes, to go on in another process. Free *bytes with smurf_free. */
SMURF_API smurf_status smurf_alarms_save(const smurf_alarms *alarms, void **bytes, size_t *size, smurf_error *err);
SMURF_API smurf_status smurf_alarms_restore(smurf_alarms **out, const void *bytes, size_t size, smurf_error *err);

/* ---- Metrics --------------------------------------------------------------------------------------------- */

/* Description of a metric, for tables and files. */
typedef enum smurf_metric_unit {
    SMURF_METRIC_PLAIN,
    SMURF_METRIC_PERCENT,
    SMURF_METRIC_TIME, /* the data's unit of time */
} smurf_metric_unit;
typedef struct smurf_metric {
    const char *name, *head, *about; /* "cs_pit", "CSpit%", one line */
    smurf_metric_unit unit;
    int better;    /* 1: large values are, -1: small ones, 0: neither */
    int places;    /* decimals to show */
    size_t offset; /* of its double in smurf_metrics */
} smurf_metric;
/* All single numbers of smurf_metrics, in order; NULL past the last. */
SMURF_API const smurf_metric *smurf_metric_at(size_t index);
SMURF_API double smurf_metric_value(const smurf_metrics *metrics, const smurf_metric *metric);

/* Samplers for evaluation by draws, by index: name and one line about each. NULL past the last; the first is the
   default. */
SMURF_API const char *smurf_sampler_name(size_t index);
SMURF_API const char *smurf_sampler_about(size_t index);
/* 1: it draws in steps, so that steps, step and denoise of smurf_eval_config apply. NULL: the default. */
SMURF_API int smurf_sampler_has_steps(const char *name);

#ifdef __cplusplus
}
#endif

#endif
