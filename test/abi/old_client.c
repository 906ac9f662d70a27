/*
 * old_client.c - a program compiled against an older, shorter header runs against today's library.
 *
 * Every struct of its own lies between guard bytes, which must be intact after every call; what lies behind a struct is
 * also no valid option, so that a library that reads beyond it fails.
 */
#include "old_smurf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 256, BYTE = 0xa5 };

static int number, failed;
static void report(int ok, const char *what)
{
    printf("%s %d - %s\n", ok ? "ok" : "not ok", ++number, what);
    failed |= !ok;
}

/* Zero bytes of `size` between guards. */
static void *guarded(size_t size)
{
    unsigned char *all = malloc(size + 2 * GUARD);
    if (!all) exit(1);
    memset(all, BYTE, size + 2 * GUARD);
    return memset(all + GUARD, 0, size);
}

static void intact(void *given, size_t size, const char *what)
{
    unsigned char *at = given;
    int ok = 1;
    for (int i = 0; i < GUARD; i++) ok &= at[-1 - i] == BYTE && at[size + (size_t)i] == BYTE;
    report(ok, what);
    free(at - GUARD);
}

static smurf_error err;
static void must(smurf_status status, const char *what)
{
    if (!status) return;
    printf("not ok %d - %s: %s\n", ++number, what, err.message);
    exit(1);
}

static smurf_data *simulated(void)
{
    smurf_process *process;
    smurf_data *data;
    smurf_simulate_config *config = guarded(sizeof *config);
    smurf_simulate_config_init(config);
    report(config->size == sizeof *config, "the size is the program's own");
    config->sequences = 12;
    config->until = 0;
    config->max_events = 10;
    must(smurf_process_new(&process, "poisson", 2, NULL, 0, &err), "process");
    must(smurf_process_simulate(&data, process, config, &err), "simulate");
    intact(config, sizeof *config, "smurf_simulate_config");
    report(smurf_data_sequences(data) == 12 && smurf_data_events(data) == 120, "the options it knows count");
    smurf_process_free(process);
    return data;
}

static void read_and_write(const char *path)
{
    const char *text = "who,when\na,1\na,2\nb,5\n";
    smurf_data *data;
    smurf_read_config *config = guarded(sizeof *config);
    smurf_read_config_init(config);
    config->sequence_column = "who";
    config->time_column = "when";
    must(smurf_data_read_memory(&data, text, strlen(text), "text", config, &err), "read");
    intact(config, sizeof *config, "smurf_read_config");
    report(smurf_data_sequences(data) == 2 && smurf_data_events(data) == 3, "a table is read");
    smurf_write_config *out = guarded(sizeof *out);
    smurf_write_config_init(out);
    out->format = "csv";
    must(smurf_data_write(data, path, out, &err), "write");
    intact(out, sizeof *out, "smurf_write_config");
    smurf_data_free(data);
}

static void from_arrays(void)
{
    static const double time[] = {1, 2.5, 4};
    static const uint32_t type[] = {0, 2, 1};
    smurf_data *data;
    smurf_arrays *arrays = guarded(sizeof *arrays);
    smurf_arrays_init(arrays);
    arrays->events = 3;
    arrays->time = time;
    arrays->type = type;
    must(smurf_data_from_arrays(&data, arrays, &err), "arrays");
    intact(arrays, sizeof *arrays, "smurf_arrays");
    report(smurf_data_sequences(data) == 1 && smurf_data_events(data) == 3, "arrays are one sequence");
    smurf_summary *summary = guarded(sizeof *summary);
    must(smurf_data_summarise(summary, data, NULL, &err), "summary");
    report(summary->types == 3 && summary->type_count[2] == 1, "arrays are described");
    smurf_summary_release(summary);
    report(!summary->type_count, "the description is released");
    intact(summary, sizeof *summary, "smurf_summary");
    smurf_data_free(data);
}

/* Hands out the text once. */
static ptrdiff_t read_once(void *context, void *bytes, size_t room)
{
    const char **text = context;
    size_t n = strlen(*text) < room ? strlen(*text) : room;
    memcpy(bytes, *text, n);
    *text += n;
    return (ptrdiff_t)n;
}

static void streamed(void)
{
    const char *text = "who,when\na,1\nb,5\n";
    smurf_stream *stream;
    const smurf_piece *piece;
    size_t pieces = 0;
    smurf_read_config *config = guarded(sizeof *config);
    smurf_read_config_init(config);
    config->sequence_column = "who";
    config->time_column = "when";
    must(smurf_stream_new_reader(&stream, read_once, &text, "text", config, &err), "stream");
    for (;; pieces++) {
        must(smurf_stream_next(stream, 1, &piece, &err), "next");
        if (!piece) break;
        report(smurf_data_events(piece->data) == 1, "an event is a piece");
    }
    report(pieces == 2, "a stream ends");
    smurf_stream_free(stream);
    intact(config, sizeof *config, "smurf_read_config of a stream");
}

static int count_epoch(void *context, const smurf_epoch *epoch)
{
    *(size_t *)context += epoch->epoch;
    return 0;
}

static void fitted(const smurf_settings *settings, const smurf_data *data)
{
    size_t sum = 0;
    smurf_model *model;
    smurf_fit_config *config = guarded(sizeof *config);
    smurf_fit_config_init(config);
    config->epoch = count_epoch;
    config->context = &sum;
    must(smurf_fit(&model, settings, data, data, config, &err), "fit");
    intact(config, sizeof *config, "smurf_fit_config");
    report(sum == 3, "two epochs are reported");
    smurf_model_free(model);
}

static smurf_model *trained(const smurf_data *data)
{
    const char *const small[][2] = {{"width", "8"}, {"heads", "2"}, {"layers", "1"}, {"inner", "8"}, {"epochs", "2"}};
    smurf_settings *settings;
    smurf_trainer *trainer;
    smurf_model *model;
    smurf_epoch *epoch = guarded(sizeof *epoch), *best = guarded(sizeof *best);
    must(smurf_settings_new(&settings, NULL, data, &err), "settings");
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        must(smurf_settings_set(settings, small[i][0], small[i][1], &err), small[i][0]);
    must(smurf_trainer_new(&trainer, settings, data, data, &err), "trainer");
    must(smurf_trainer_epoch(trainer, epoch, &err), "epoch");
    report(epoch->epoch == 1 && epoch->dev_loss < 1e9, "the results it knows are given");
    intact(epoch, sizeof *epoch, "smurf_epoch");
    report(smurf_trainer_best(trainer, best) && best->epoch == 1, "the best epoch");
    intact(best, sizeof *best, "smurf_epoch of the best");
    must(smurf_trainer_model(trainer, &model, &err), "model");
    smurf_trainer_free(trainer);
    fitted(settings, data);
    smurf_settings_free(settings);
    return model;
}

static void evaluated(const smurf_model *model, const smurf_data *data)
{
    smurf_evaluation *evaluation;
    smurf_eval_config *config = guarded(sizeof *config);
    smurf_eval_config_init(config);
    must(smurf_evaluate(&evaluation, model, data, NULL, config, &err), "evaluate");
    intact(config, sizeof *config, "smurf_eval_config");
    report(smurf_evaluation_row(evaluation, SMURF_ROW_MODEL, NULL, NULL) != NULL, "a model is measured");
    smurf_evaluation_free(evaluation);
}

static void foreseen(const smurf_model *model)
{
    smurf_forecast *forecast;
    smurf_futures *futures;
    smurf_futures_config *config = guarded(sizeof *config);
    must(smurf_forecast_new(&forecast, model, 0, &err), "forecast");
    must(smurf_forecast_append(forecast, 1, 0, &err), "append");
    smurf_futures_config_init(config);
    config->paths = 7;
    config->events = 3;
    must(smurf_forecast_futures(forecast, config, &futures, &err), "futures");
    intact(config, sizeof *config, "smurf_futures_config");
    report(smurf_futures_paths(futures) == 7, "futures are drawn");
    smurf_futures_free(futures);
    smurf_forecast_free(forecast);
}

static int count_answer(void *context, const smurf_answer *answer)
{
    size_t *seen = context;
    report(answer->sequence == *seen / 2 && answer->events == 5 + 5 * (*seen % 2), "answers come in order");
    report(answer->levels == 1 && answer->interval[0].low == 0 && answer->interval[0].high > answer->median,
           "an answer is as asked");
    ++*seen;
    return 0;
}

static void asked(const smurf_model *model, const smurf_data *data)
{
    static const double level[] = {0.8};
    size_t seen = 0;
    smurf_forecast *forecast;
    smurf_answer *answer;
    smurf_question *question = guarded(sizeof *question);
    smurf_many_config *config = guarded(sizeof *config);
    smurf_question_init(question);
    report(question->levels == 2, "a question has its defaults");
    question->level = level;
    question->levels = 1;
    question->one_sided = 1;
    must(smurf_forecast_new(&forecast, model, 0, &err), "forecast");
    must(smurf_forecast_append(forecast, 1, 0, &err), "append");
    must(smurf_forecast_ask(forecast, question, &answer, &err), "ask");
    report(answer->events == 1 && answer->last.whole == 1 && answer->types == 2, "the next event is foretold");
    smurf_answer_free(answer);
    smurf_forecast_free(forecast);
    smurf_many_config_init(config);
    config->every = 5;
    must(smurf_forecast_many(model, data, question, config, count_answer, &seen, &err), "many");
    report(seen == 24, "every fifth event of each sequence is asked about");
    intact(question, sizeof *question, "smurf_question");
    intact(config, sizeof *config, "smurf_many_config");
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    smurf_data *data = simulated();
    read_and_write(argv[1]);
    from_arrays();
    streamed();
    smurf_model *model = trained(data);
    evaluated(model, data);
    foreseen(model);
    asked(model, data);
    smurf_model_free(model);
    smurf_data_free(data);
    printf("1..%d\n", number);
    return failed;
}
