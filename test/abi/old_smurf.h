/*
 * old_smurf.h - a part of smurf.h as an older program might have it: the option and result structs lack the fields at
 * their end. old_client.c is compiled against this and runs against today's library. It is never brought up to date
 * but where the binary interface breaks on purpose.
 */
#ifndef OLD_SMURF_H
#define OLD_SMURF_H

#include <stddef.h>
#include <stdint.h>

typedef int smurf_status; /* 0: done */
typedef struct smurf_error {
    smurf_status status;
    uint64_t line;
    char file[256];
    char message[1024];
    uint64_t reserved[8];
} smurf_error;

typedef struct smurf_data smurf_data;
typedef struct smurf_process smurf_process;
typedef struct smurf_settings smurf_settings;
typedef struct smurf_trainer smurf_trainer;
typedef struct smurf_model smurf_model;
typedef struct smurf_evaluation smurf_evaluation;
typedef struct smurf_forecast smurf_forecast;
typedef struct smurf_futures smurf_futures;
typedef struct smurf_stream smurf_stream;
typedef struct smurf_metrics smurf_metrics; /* handed out by pointer, as are the next two */
typedef struct smurf_fit_start smurf_fit_start;
typedef struct smurf_sigma_trial smurf_sigma_trial;
typedef struct smurf_parameter smurf_parameter;
typedef enum smurf_row { SMURF_ROW_MODEL } smurf_row;

typedef struct smurf_read_config {
    size_t size;
    const char *format;
    const char *sequence_column;
    const char *time_column;
} smurf_read_config;
void smurf_read_config_init_sized(smurf_read_config *config, size_t size);
#define smurf_read_config_init(config) smurf_read_config_init_sized((config), sizeof *(config))
smurf_status smurf_data_read_memory(smurf_data **out, const void *bytes, size_t size, const char *name,
                                    const smurf_read_config *config, smurf_error *err);
size_t smurf_data_sequences(const smurf_data *data);
size_t smurf_data_events(const smurf_data *data);
void smurf_data_free(smurf_data *data);

typedef struct smurf_arrays {
    size_t size;
    size_t events;
    const double *time;
    const int64_t *ticks;
    int places;
    const uint32_t *type;
} smurf_arrays;
void smurf_arrays_init_sized(smurf_arrays *arrays, size_t size);
#define smurf_arrays_init(arrays) smurf_arrays_init_sized((arrays), sizeof *(arrays))
smurf_status smurf_data_from_arrays(smurf_data **out, const smurf_arrays *arrays, smurf_error *err);

typedef ptrdiff_t smurf_read_fn(void *context, void *bytes, size_t room);
typedef struct smurf_piece { /* handed out by pointer */
    smurf_data *data;
} smurf_piece;
smurf_status smurf_stream_new_reader(smurf_stream **out, smurf_read_fn *read, void *context, const char *name,
                                     const smurf_read_config *config, smurf_error *err);
smurf_status smurf_stream_next(smurf_stream *stream, size_t most, const smurf_piece **out, smurf_error *err);
void smurf_stream_free(smurf_stream *stream);

typedef struct smurf_summary {
    size_t sequences, empty_sequences, events;
    size_t history;
    size_t scored;
    uint32_t types, types_seen;
    size_t *type_count;
} smurf_summary;
smurf_status smurf_data_summarise_sized(smurf_summary *out, size_t size, const smurf_data *data,
                                        const smurf_data *train, smurf_error *err);
#define smurf_data_summarise(out, data, train, err) smurf_data_summarise_sized(out, sizeof *(out), data, train, err)
void smurf_summary_release_sized(smurf_summary *summary, size_t size);
#define smurf_summary_release(summary) smurf_summary_release_sized((summary), sizeof *(summary))

typedef struct smurf_write_config {
    size_t size;
    const char *format;
} smurf_write_config;
void smurf_write_config_init_sized(smurf_write_config *config, size_t size);
#define smurf_write_config_init(config) smurf_write_config_init_sized((config), sizeof *(config))
smurf_status smurf_data_write(const smurf_data *data, const char *path, const smurf_write_config *config,
                              smurf_error *err);

smurf_status smurf_process_new(smurf_process **out, const char *name, uint32_t types, const smurf_parameter *parameter,
                               size_t parameters, smurf_error *err);
void smurf_process_free(smurf_process *process);
typedef struct smurf_simulate_config {
    size_t size;
    size_t sequences;
    double until;
    size_t max_events;
} smurf_simulate_config;
void smurf_simulate_config_init_sized(smurf_simulate_config *config, size_t size);
#define smurf_simulate_config_init(config) smurf_simulate_config_init_sized((config), sizeof *(config))
smurf_status smurf_process_simulate(smurf_data **out, const smurf_process *process, const smurf_simulate_config *config,
                                    smurf_error *err);

smurf_status smurf_settings_new(smurf_settings **out, const char *preset, const smurf_data *train, smurf_error *err);
smurf_status smurf_settings_set(smurf_settings *settings, const char *name, const char *value, smurf_error *err);
void smurf_settings_free(smurf_settings *settings);

typedef struct smurf_epoch {
    size_t epoch;
    double train_loss, dev_loss;
} smurf_epoch;
smurf_status smurf_trainer_new(smurf_trainer **out, const smurf_settings *settings, const smurf_data *train,
                               const smurf_data *dev, smurf_error *err);
smurf_status smurf_trainer_epoch_sized(smurf_trainer *trainer, smurf_epoch *out, size_t size, smurf_error *err);
#define smurf_trainer_epoch(trainer, out, err) smurf_trainer_epoch_sized(trainer, out, sizeof *(out), err)
int smurf_trainer_best_sized(const smurf_trainer *trainer, smurf_epoch *out, size_t size);
#define smurf_trainer_best(trainer, out) smurf_trainer_best_sized(trainer, out, sizeof *(out))
smurf_status smurf_trainer_model(const smurf_trainer *trainer, smurf_model **out, smurf_error *err);
void smurf_trainer_free(smurf_trainer *trainer);
typedef struct smurf_fit_config {
    size_t size;
    int recalibrate;
    int choose_sigma;
    const char *model_path;
    const char *resume_path;
    int resume;
    int (*start)(void *context, const smurf_fit_start *start);
    int (*epoch)(void *context, const smurf_epoch *epoch);
    void *context;
} smurf_fit_config;
void smurf_fit_config_init_sized(smurf_fit_config *config, size_t size);
#define smurf_fit_config_init(config) smurf_fit_config_init_sized((config), sizeof *(config))
smurf_status smurf_fit(smurf_model **out, const smurf_settings *settings, const smurf_data *train,
                       const smurf_data *dev, const smurf_fit_config *config, smurf_error *err);
void smurf_model_free(smurf_model *model);

typedef struct smurf_eval_config {
    size_t size;
    int recalibrate;
    const char *sampler;
    size_t draws;
} smurf_eval_config;
void smurf_eval_config_init_sized(smurf_eval_config *config, size_t size);
#define smurf_eval_config_init(config) smurf_eval_config_init_sized((config), sizeof *(config))
smurf_status smurf_evaluate(smurf_evaluation **out, const smurf_model *model, const smurf_data *data,
                            const smurf_data *train, const smurf_eval_config *config, smurf_error *err);
const smurf_metrics *smurf_evaluation_row(const smurf_evaluation *evaluation, smurf_row row, const smurf_metrics **low,
                                          const smurf_metrics **high);
void smurf_evaluation_free(smurf_evaluation *evaluation);

smurf_status smurf_forecast_new(smurf_forecast **out, const smurf_model *model, size_t history, smurf_error *err);
smurf_status smurf_forecast_append(smurf_forecast *forecast, double time, uint32_t type, smurf_error *err);
void smurf_forecast_free(smurf_forecast *forecast);

typedef struct smurf_question {
    size_t size;
    const double *level;
    size_t levels;
    int one_sided;
    int conformal;
} smurf_question;
void smurf_question_init_sized(smurf_question *question, size_t size);
#define smurf_question_init(question) smurf_question_init_sized((question), sizeof *(question))
typedef struct smurf_moment {
    int64_t whole;
    double fraction;
} smurf_moment;
typedef struct smurf_interval {
    double low, high;
} smurf_interval;
typedef struct smurf_answer { /* handed out by pointer */
    size_t sequence;
    size_t events;
    smurf_moment last;
    smurf_moment from;
    double median, mean;
    size_t levels;
    size_t horizons;
    size_t types;
    const smurf_interval *interval;
} smurf_answer;
smurf_status smurf_forecast_ask(smurf_forecast *forecast, const smurf_question *question, smurf_answer **out,
                                smurf_error *err);
void smurf_answer_free(smurf_answer *answer);
typedef struct smurf_many_config {
    size_t size;
    size_t history;
    size_t every;
} smurf_many_config;
void smurf_many_config_init_sized(smurf_many_config *config, size_t size);
#define smurf_many_config_init(config) smurf_many_config_init_sized((config), sizeof *(config))
typedef int smurf_answer_fn(void *context, const smurf_answer *answer);
smurf_status smurf_forecast_many(const smurf_model *model, const smurf_data *data, const smurf_question *question,
                                 const smurf_many_config *config, smurf_answer_fn *answer, void *context,
                                 smurf_error *err);

typedef struct smurf_futures_config {
    size_t size;
    size_t paths;
    double until;
    size_t events;
} smurf_futures_config;
void smurf_futures_config_init_sized(smurf_futures_config *config, size_t size);
#define smurf_futures_config_init(config) smurf_futures_config_init_sized((config), sizeof *(config))
smurf_status smurf_forecast_futures(smurf_forecast *forecast, const smurf_futures_config *config, smurf_futures **out,
                                    smurf_error *err);
size_t smurf_futures_paths(const smurf_futures *futures);
void smurf_futures_free(smurf_futures *futures);

#endif
