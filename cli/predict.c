/*
 * predict.c - smurf predict: forecasts the next event of each sequence.
 *
 * A file or directory is read whole. Standard input is processed as it arrives: for a table the history of each
 * sequence is kept (kept.h), so that an additional event is cheap; each line of JSON is a complete sequence.
 */
#include "commands.h"
#include "duration.h"
#include "kept.h"
#include "modelfile.h"
#include "settings.h"
#include "show_forecast.h"
#include "show_summary.h"
#include "stream.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

struct predict_options {
    struct dataset_options data;
    const char *part, *levels, *horizons, *silence, *now, *type, *format;
    int one_sided, conformal, raw;
    size_t every, history, sequences, top, paths, steps;
};

/* ---- One forecast ---------------------------------------------------------------------------- */

struct session {
    const smurf_model *model;
    struct question q;
    const struct predict_options *o;
    bool any;             /* the header was shown */
    struct kept_set kept; /* sequences of a table */
    bool told;            /* warned that some are not kept */
    bool told_unknown;    /* warned of a type that the model does not know */
    struct stream stream;
    size_t unnamed; /* whole sequences so far, for numbering */
};

static void show_header(struct session *s)
{
    if (!s->any) show_forecast_header(stdout, &s->q);
    s->any = true;
}

/* Whether the last event, at origin + last, is after --now. */
static bool is_after_now(const struct question *q, int64_t origin, double last)
{
    smurf_moment moment;
    return q->now && smurf_moment_after(&moment, (smurf_moment){origin, 0}, last) &&
           smurf_moment_gap(moment, q->now_moment) < 0;
}

static int report_late(const struct session *s, const char *sequence)
{
    return report_failure("sequence '%s' has an event after --now %s: cut the data there, or omit --now", sequence,
                          s->q.now);
}

static int answer(struct session *s, smurf_forecast *f, const char *sequence, int64_t origin, double last)
{
    smurf_answer *a;
    smurf_error err;
    if (smurf_forecast_events(f) && is_after_now(&s->q, origin, last)) return report_late(s, sequence);
    if (smurf_forecast_ask(f, &s->q.ask, &a, &err)) return report_sequence(sequence, &err);
    show_header(s);
    show_forecast(stdout, &s->q, sequence, a);
    smurf_answer_free(a);
    return 0;
}

static int stopped(void)
{
    return report_failure("stopped while forecasting");
}

/* ---- Whole sequences --------------------------------------------------------------------------- */

struct whole {
    struct session *session;
    const smurf_data *data;
    size_t number; /* of the first sequence, used if it has no name */
};

static const char *whole_name(const struct whole *w, size_t sequence, char text[24])
{
    return sequence_text(text, smurf_data_sequence(w->data, sequence), w->number + sequence);
}

static int show_whole(void *context, const smurf_answer *a)
{
    const struct whole *w = context;
    char text[24];
    show_header(w->session);
    show_forecast(stdout, &w->session->q, whole_name(w, a->sequence, text), a);
    return terminal_stopped();
}

static int check_stopped(void *context, const smurf_progress *progress)
{
    (void)context, (void)progress;
    return terminal_stopped();
}

static int report_whole(const struct whole *w, size_t failed, const smurf_error *err)
{
    char text[24];
    if (failed == SIZE_MAX) return report_error(err);
    const smurf_sequence *seq = smurf_data_sequence(w->data, failed);
    size_t every = w->session->o->every, asked = every ? seq->length / every * every : seq->length;
    bool late = asked && is_after_now(&w->session->q, seq->origin, seq->time[asked - 1]);
    return late ? report_late(w->session, whole_name(w, failed, text))
                : report_sequence(whole_name(w, failed, text), err);
}

static int whole_data(struct session *s, const smurf_data *data)
{
    struct whole w = {s, data, s->unnamed};
    size_t failed;
    smurf_many_config config;
    smurf_error err;
    if (!s->any) s->q.name_width = show_name_width(data);
    smurf_many_config_init(&config);
    config.history = s->o->history;
    config.every = s->o->every;
    config.failed = &failed;
    config.threads = s->q.ask.threads;
    config.progress = check_stopped;
    smurf_status status = smurf_forecast_many(s->model, data, &s->q.ask, &config, show_whole, &w, &err);
    s->unnamed += smurf_data_sequences(data);
    return status ? report_whole(&w, failed, &err) : 0;
}

/* ---- Streamed sequences ------------------------------------------------------------------------- */

/* With more sequences than this, idle ones release the memory that forecasting takes. */
enum { AWAKE_MOST = 64 };

/* Shows the forecast of a dropped sequence, unless --every has done so. */
static int let_go(struct session *s, struct kept *k)
{
    if (!k) return 0;
    if (!s->told)
        report_warning("more than %zu sequences: the least recently active one is %sdropped (--sequences N keeps "
                       "more)",
                       s->kept.most, s->o->every ? "" : "forecast and ");
    s->told = true;
    int status = s->o->every ? 0 : answer(s, k->forecast, k->name, k->origin, k->last);
    kept_free(k);
    return status;
}

static int report_late_event(struct session *s, const struct kept *k, const smurf_error *err)
{
    char message[sizeof err->message];
    snprintf(message, sizeof message, "standard input, sequence '%.200s': %.700s", k->name, err->message);
    return stream_leave_out(&s->stream, message);
}

/* Appends new events; forecasts after them if --every asks for it. */
static int continue_sequence(struct session *s, const smurf_sequence *seq, size_t number)
{
    char text[24];
    struct kept *dropped, *k = kept_find(&s->kept, sequence_text(text, seq, number), seq->origin, &dropped);
    int status = let_go(s, dropped);
    if (!k) out_of_memory();
    if (status) return status;
    double shift = (double)(seq->origin - k->origin);
    for (size_t i = 0; i < seq->length; i++) {
        smurf_error err;
        double time = seq->time[i] + shift;
        const float *further = seq->further ? seq->further + i * seq->columns : NULL;
        if (smurf_forecast_append_with(k->forecast, time, seq->type[i], further, &err)) {
            bool late = smurf_forecast_events(k->forecast) && time < k->last;
            status = late ? report_late_event(s, k, &err) : report_sequence(k->name, &err);
            if (status) return status;
            continue;
        }
        k->last = time;
        if (!s->o->every || smurf_forecast_events(k->forecast) % s->o->every) continue;
        status = answer(s, k->forecast, k->name, k->origin, k->last);
        if (s->kept.count > AWAKE_MOST) smurf_forecast_rest(k->forecast);
        if (status) return status;
        if (terminal_stopped()) return stopped();
    }
    return 0;
}

static int take_piece(void *context, smurf_data *piece, int table)
{
    struct session *s = context;
    smurf_data *data;
    smurf_error err;
    if (smurf_model_match(s->model, piece, &data, &err)) return report_error(&err);
    if (!s->told_unknown) s->told_unknown = modelfile_unknown(piece, data);
    int status = table ? 0 : whole_data(s, data);
    for (size_t i = 0; table && !status && i < smurf_data_sequences(data); i++)
        status = continue_sequence(s, smurf_data_sequence(data, i), i);
    smurf_data_free(data);
    return status ? status : finish_output(); /* stop reading once output fails */
}

/* Forecasts for every sequence of a table, in the order of a file. */
static int answer_kept(struct session *s)
{
    struct kept **list = kept_list(&s->kept);
    int status = 0;
    if (!list) out_of_memory();
    for (size_t i = 0; !status && i < s->kept.count && !s->o->every; i++) {
        const struct kept *k = list[i];
        status = answer(s, k->forecast, k->name, k->origin, k->last);
        smurf_forecast_rest(k->forecast);
        if (!status && terminal_stopped()) status = stopped();
    }
    free(list);
    return status;
}

static int predict_stream(struct session *s, struct dataset_options *data)
{
    s->kept = (struct kept_set){.model = s->model, .history = s->o->history, .raw = s->o->raw, .most = s->o->sequences};
    int status = stream_input(&s->stream, data, take_piece, s);
    if (!status) status = answer_kept(s);
    kept_release(&s->kept);
    return status;
}

/* ---- The question ------------------------------------------------------------------------------ */

static int64_t type_number(const smurf_model *model, const char *word)
{
    uint32_t types = smurf_model_types(model);
    for (uint32_t k = 0; k < types; k++) {
        const char *name = smurf_model_type_name(model, k);
        if (name && strcmp(name, word) == 0) return k;
    }
    char *end;
    long number = strtol(word, &end, 10);
    if (!smurf_model_type_name(model, 0) && *word && !*end && number >= 0 && number < (long)types) return number;
    usage_error("--next '%s' is not a type the model knows", word);
}

/* --now or --silence. */
static void set_now(struct question *q, const struct predict_options *o)
{
    if (o->now && o->silence) usage_error("--now and --silence are mutually exclusive");
    if ((o->now || o->silence) && o->conformal)
        usage_error("--conformal cannot be combined with --%s: conformal intervals hold on average over all gaps",
                    o->now ? "now" : "silence");
    if (o->silence) q->ask.silence = parse_duration("silence", o->silence, q->model);
    if (!o->now) return;
    q->now = o->now;
    q->now_moment = parse_now(o->now, q->model);
    q->ask.now = &q->now_moment;
}

static void set_question(struct session *s)
{
    const struct predict_options *o = s->o;
    struct question *q = &s->q;
    smurf_question *ask = &q->ask;
    smurf_question_init(ask);
    q->model = s->model;
    q->format = show_format_named(o->format);
    q->name_width = SHOW_NAME_WIDTH;
    ask->level = q->level;
    ask->levels = parse_numbers("interval", o->levels, 1e-9, 1 - 1e-9, q->level, LEVELS_MOST);
    ask->one_sided = o->one_sided;
    ask->conformal = o->conformal;
    ask->within = q->horizon;
    if (o->horizons)
        ask->horizons = parse_durations("within", o->horizons, s->model, q->horizon, q->within_label, HORIZONS_MOST);
    if (o->top > TOP_MOST) usage_error("--top takes up to %d types", TOP_MOST);
    ask->top = o->top;
    ask->next = o->type ? type_number(s->model, o->type) : -1;
    if (o->type) modelfile_tell_drawn(s->model);
    if (o->paths == 0 || o->paths > 1000000000) usage_error("--paths takes a number from 1 to 1000000000");
    if (o->steps == 0) usage_error("--steps takes a number above 0");
    ask->paths = o->paths;
    ask->steps = o->steps;
    ask->seed = common.seed;
    ask->threads = common_threads();
    ask->recalibrate = !o->raw;
    ask->progress = terminal_progress;
    set_now(q, o);
    q->unit = model_unit(s->model);
    q->calendar = smurf_model_is_calendar(s->model);
    q->ending = settings_is_on(smurf_model_settings(s->model), "ending");
    if (ask->conformal && smurf_model_calibration(s->model)->conformal == 0)
        report_warning("the model was not calibrated: conformal intervals are infinite (train it with "
                       "--recalibrate on)");
    else if (ask->conformal && smurf_model_calibration(s->model)->sequences == 1)
        report_warning("the model was calibrated on one sequence: conformal intervals need many, and are infinite");
    report_misses(s->model);
}

static int predict(const struct predict_options *o, smurf_model *model, char **argv)
{
    struct session s = {.model = model, .o = o};
    struct dataset_options data = o->data;
    smurf_split split = {0};
    set_question(&s);
    modelfile_types(model, &data);
    int status;
    if (strcmp(argv[1], "-") == 0) {
        status = predict_stream(&s, &data);
    } else {
        smurf_data *own;
        status = modelfile_read(model, &split, &own, argv[1], &data, o->part);
        if (!status && !o->raw) modelfile_past(model, own, 0);
        if (!status) status = whole_data(&s, own);
    }
    if (!status && s.q.format == SHOW_CSV) show_header(&s);
    terminal_clear();
    smurf_split_release(&split);
    return status;
}

int command_predict(int argc, char **argv)
{
    struct predict_options o = {.data = {.history = NOT_GIVEN},
                                .levels = "0.5,0.9",
                                .format = "table",
                                .sequences = 10000,
                                .top = 3,
                                .paths = 500,
                                .steps = 200};
    /* clang-format off */
    const struct option options[] = {
        {0, "interval", OPTION_TEXT, &o.levels, "LEVELS", "interval levels, comma-separated (default: 0.5,0.9)"},
        {0, "one-sided", OPTION_FLAG, &o.one_sided, NULL, "intervals that start at 0 instead of central ones"},
        {0, "conformal", OPTION_FLAG, &o.conformal, NULL, "also intervals that hold even if the model is wrong"},
        {0, "within", OPTION_TEXT, &o.horizons, "TIMES", "probability of an event within each of these times, such as 1h,2d; without a unit, in the data's"},
        {0, "now", OPTION_TEXT, &o.now, "TIME", "no event has occurred up to TIME: forecast from there; 'now': the present"},
        {0, "silence", OPTION_TEXT, &o.silence, "TIME", "no event has occurred for TIME, such as 3h, after the last one"},
        {0, "next", OPTION_TEXT, &o.type, "TYPE", "also the time to the next event of TYPE, by sampling futures"},
        {0, "paths", OPTION_COUNT, &o.paths, "N", "futures to sample for --next (default: 500)"},
        {0, "steps", OPTION_COUNT, &o.steps, "N", "maximum events to look ahead for --next (default: 200)"},
        {0, "top", OPTION_COUNT, &o.top, "N", "number of most probable types to show (default: 3)"},
        {0, "every", OPTION_COUNT, &o.every, "N", "forecast after every N-th event, not only the last"},
        {0, "history", OPTION_COUNT, &o.history, "N", "use only the last N events, which bounds memory (default: all)"},
        {0, "sequences", OPTION_COUNT, &o.sequences, "N", "standard input: sequences to keep; the least recently active are dropped; 0: all (default: 10000)"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "format", OPTION_TEXT, &o.format, "FORMAT", "table, csv or jsonl (default: table)"},
        {0, "part", OPTION_TEXT, &o.part, "NAME", "of a directory: train, dev or test (default: test)"},
        DATASET_READ_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "predict",
        .arguments = "MODEL DATA",
        .summary = "Forecasts the next event of each sequence: when it comes and of what type, with intervals.",
        .about = "DATA is a file, a directory that holds a test part, or '-' for standard input, which is\n"
                 "processed as it arrives: JSON Lines one sequence per line, tables one event per line (with\n"
                 "--every 1 a forecast follows each event). Times are in the data's unit, counted from the last\n"
                 "event or from --now. A sequence without events gets the law of all gaps in training. Intervals\n"
                 "are calibrated. --conformal intervals are guaranteed for a random event of a new sequence, on\n"
                 "average over calibration sets; they are infinite if calibration had too few sequences for the\n"
                 "level. A warning is shown if calibration failed. If the model knows that sequences end, 'never 58%'\n"
                 "is the probability that no further event comes; an interval that includes this ends in 'never'.\n"
                 "Types and the mean assume that an event comes.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf predict model.safetensors demo/ --within 1,5",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    smurf_model *model;
    int status = modelfile_open(&model, argv);
    if (status) return status;
    status = predict(&o, model, argv);
    smurf_model_free(model);
    return status;
}
