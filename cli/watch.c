/* watch.c - smurf watch: alarms about a stream of events, as many per day as were asked for. */
#include "alarm_bars.h"
#include "commands.h"
#include "fingerprint.h"
#include "modelfile.h"
#include "show_forecast.h"
#include "stream.h"
#include "terminal.h"
#include "watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct watch_options {
    struct dataset_options data;
    const char *part, *per_day, *day, *now, *state, *format;
    size_t sequences, history;
    int fixed, raw;
};

struct session {
    const struct watch_options *o;
    const smurf_model *model;
    enum show_format format;
    int calendar;
    struct watched watched;
    struct stream stream;
    bool any, told_unknown;
    size_t events, alarms;
    time_t saved;
};

/* ---- Showing ----------------------------------------------------------------------------------- */

enum { KIND_WIDTH = 11 };

static void header(struct session *s)
{
    if (!s->any && s->format == SHOW_CSV) puts("at,alarm,sequence,type,p,gap,expected,evidence");
    if (!s->any && s->format == SHOW_TABLE)
        printf("%-*s %-*s %-*s evidence\n", DATE_WIDTH, "at", KIND_WIDTH, "alarm", SHOW_NAME_WIDTH, "sequence");
    s->any = true;
}

static void show_csv(const struct session *s, const struct alarm *a, const char *type)
{
    char at[MOMENT_TEXT];
    printf("%s,%s,", moment_text(at, a->at, s->calendar), smurf_alarm_name(a->kind));
    put_csv_text(stdout, a->sequence ? a->sequence : "");
    putchar(',');
    put_csv_text(stdout, type ? type : "");
    csv_number(stdout, a->p);
    csv_number(stdout, a->gap);
    csv_number(stdout, a->expected);
    putchar(',');
    put_csv_text(stdout, a->words);
    putchar('\n');
}

static void show(void *context, const struct alarm *a)
{
    struct session *s = context;
    char text[MOMENT_TEXT], name[24];
    const char *type = a->type < 0 ? NULL : type_text(name, s->model, a->type);
    s->alarms++;
    header(s);
    if (s->format == SHOW_JSONL) alarm_json(stdout, a, type, s->calendar), putchar('\n');
    if (s->format == SHOW_CSV) show_csv(s, a, type);
    if (s->format != SHOW_TABLE) return;
    printf("%-*s %-*s ", DATE_WIDTH, s->calendar ? date_text(text, a->at, true) : moment_text(text, a->at, 0),
           KIND_WIDTH, smurf_alarm_name(a->kind));
    put_name(stdout, a->sequence ? a->sequence : "(all)", SHOW_NAME_WIDTH);
    printf(" %s\n", a->words);
}

/* ---- State ------------------------------------------------------------------------------------- */

enum { SAVE_SECONDS = 60 };

static int save(struct session *s)
{
    smurf_error err;
    s->saved = time(NULL);
    return s->o->state && watched_save(&s->watched, s->o->state, &err) ? report_error(&err) : 0;
}

static int save_if_old(struct session *s)
{
    return s->o->state && time(NULL) - s->saved >= SAVE_SECONDS ? save(s) : 0;
}

static int load(struct session *s)
{
    smurf_error err;
    if (!s->o->state || access(s->o->state, F_OK) != 0) return 0;
    return watched_load(&s->watched, s->o->state, &err) ? report_error(&err) : 0;
}

/* ---- Events ------------------------------------------------------------------------------------ */

static int late(struct session *s, const char *sequence, const smurf_error *err)
{
    char message[sizeof err->message];
    snprintf(message, sizeof message, "sequence '%.200s': %.700s", sequence, err->message);
    return stream_leave_out(&s->stream, message);
}

static int take_event(struct session *s, const char *name, const smurf_sequence *seq, size_t i)
{
    smurf_error err;
    const float *further = seq->further ? seq->further + i * seq->columns : NULL;
    smurf_status status = watched_event(&s->watched, name, seq->origin, seq->time[i], seq->type[i], further, &err);
    if (status == SMURF_ERROR_ARGUMENT) return late(s, name, &err);
    if (status) return report_sequence(name, &err);
    s->events++;
    return terminal_stopped() ? report_failure("stopped while watching%s", s->o->state ? "; the state is saved" : "")
                              : 0;
}

/* One event of a data set, in the order of time. */
struct place {
    double at; /* from the first origin */
    size_t sequence, event;
};

static int by_time(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    if (a->sequence != b->sequence) return a->sequence < b->sequence ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* All events of a data set, those of all sequences in the order of time. */
static int take_data(struct session *s, const smurf_data *data)
{
    size_t n = 0, sequences = smurf_data_sequences(data);
    struct place *place = malloc((smurf_data_events(data) + 1) * sizeof *place);
    int status = 0;
    char text[24];
    if (!place) out_of_memory();
    for (size_t q = 0; q < sequences; q++) {
        const smurf_sequence *seq = smurf_data_sequence(data, q);
        double shift = (double)(seq->origin - smurf_data_sequence(data, 0)->origin);
        for (size_t i = 0; i < seq->length; i++) place[n++] = (struct place){shift + seq->time[i], q, i};
    }
    qsort(place, n, sizeof *place, by_time);
    for (size_t i = 0; i < n && !status; i++) {
        const smurf_sequence *seq = smurf_data_sequence(data, place[i].sequence);
        status = take_event(s, sequence_text(text, seq, place[i].sequence), seq, place[i].event);
    }
    free(place);
    return status ? status : finish_output();
}

static int take_piece(void *context, smurf_data *piece, int table)
{
    struct session *s = context;
    smurf_data *data;
    smurf_error err;
    (void)table;
    if (smurf_model_match(s->model, piece, &data, &err)) return report_error(&err);
    if (!s->told_unknown) s->told_unknown = modelfile_unknown(piece, data);
    int status = take_data(s, data);
    smurf_data_free(data);
    return status ? status : save_if_old(s);
}

/* ---- Running ----------------------------------------------------------------------------------- */

/* The present, or the moment that was given: what is silent until then. */
static int pass_until_now(struct session *s)
{
    if (!s->o->now) return 0;
    smurf_moment now = parse_now(s->o->now, s->model);
    if (s->watched.begun && smurf_moment_gap(s->watched.now, now) < 0)
        return report_failure("there is an event after --now %s: cut the data there, or omit --now", s->o->now);
    watched_pass(&s->watched, now);
    return 0;
}

static void tell(const struct session *s)
{
    size_t n = s->watched.kept.count;
    if (smurf_alarms_level(s->watched.alarms, SMURF_ALARM_OVERDUE) > 0)
        report_done("%zu event%s of %zu sequence%s: %zu alarm%s", s->events, s->events == 1 ? "" : "s", n,
                    n == 1 ? "" : "s", s->alarms, s->alarms == 1 ? "" : "s");
    else
        report_done(
            "%zu event%s of %zu sequence%s: no alarms yet; a day, 100 gaps and the usual length of a gap have to "
            "pass first",
            s->events, s->events == 1 ? "" : "s", n, n == 1 ? "" : "s");
}

static int watch(struct session *s, char **argv, struct dataset_options *data)
{
    smurf_split split = {0};
    smurf_data *own;
    int status = load(s);
    s->saved = time(NULL);
    if (!status && strcmp(argv[1], "-") == 0) {
        status = stream_input(&s->stream, data, take_piece, s);
    } else if (!status) {
        status = modelfile_read(s->model, &split, &own, argv[1], data, s->o->part);
        s->stream.strict = data->strict;
        if (!status) status = take_data(s, own);
    }
    if (!status) status = pass_until_now(s);
    if (!status || terminal_stopped()) {
        int saved = save(s);
        if (!status) status = saved;
    }
    if (!status) header(s);
    if (!status) tell(s);
    smurf_split_release(&split);
    return status;
}

/* What a state depends on beside the model. */
static uint64_t options_of(const struct watch_options *o)
{
    fingerprint f = fingerprint_text(fingerprint_text(0, o->per_day), o->day ? o->day : "");
    return fingerprint_number(fingerprint_number(f, o->history), (o->fixed ? 2u : 0u) + (o->raw ? 1u : 0u));
}

int command_watch(int argc, char **argv)
{
    struct watch_options o = {.data = {.history = NOT_GIVEN}, .per_day = "1", .format = "table", .sequences = 10000};
    /* clang-format off */
    const struct option options[] = {
        {0, "alarms-per-day", OPTION_TEXT, &o.per_day, "N", "alarms that a healthy stream raises in a day, of all kinds and sequences together (default: 1)"},
        {0, "state", OPTION_OUTPUT, &o.state, "FILE", "go on from the state in FILE, if it is there, and keep it there"},
        {0, "now", OPTION_TEXT, &o.now, "TIME", "no further event has occurred up to TIME; 'now': the present (default: the last event)"},
        {0, "no-adapt", OPTION_FLAG, &o.fixed, NULL, "do not adjust to the number of alarms that have come"},
        {0, "day", OPTION_TEXT, &o.day, "TIME", "length of a day, for times whose unit is not known"},
        {0, "sequences", OPTION_COUNT, &o.sequences, "N", "sequences to keep; the least recently active are dropped; 0: all (default: 10000)"},
        {0, "history", OPTION_COUNT, &o.history, "N", "use only the last N events, which bounds memory (default: all)"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "format", OPTION_TEXT, &o.format, "FORMAT", "table, csv or jsonl (default: table)"},
        {0, "part", OPTION_TEXT, &o.part, "NAME", "of a directory: train, dev or test (default: test)"},
        DATASET_READ_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "watch",
        .arguments = "MODEL DATA",
        .summary =
            "Raises alarms about a stream of events: overdue, early, of an odd type, a changed rate, lost calibration.",
        .about = "DATA is a file, a directory that holds a test part, or '-' for standard input, whose events\n"
                 "are taken as they arrive, in the order of time. A sequence is overdue when it has been silent for\n"
                 "improbably long; an event is early if it came improbably soon, and of an odd type if its type was\n"
                 "improbable. A rate alarm says that one sequence has become about twice or half as fast as\n"
                 "forecast, a calibration alarm that the forecasts of all sequences together no longer fit. How\n"
                 "improbable is set so that a healthy stream raises --alarms-per-day, and adjusted to the alarms\n"
                 "that come. No alarms are raised until a day, 100 gaps and the usual length of a gap have passed.\n"
                 "A rate alarm is not repeated for a day.",
        .example = "  smurf simulate hawkes --sequences 60 --until 100 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf watch model.safetensors demo/test.jsonl --day 10",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    smurf_model *model;
    int status = modelfile_open(&model, argv);
    if (status) return status;
    struct session s = {.o = &o, .model = model, .format = show_format_named(o.format)};
    struct dataset_options data = o.data;
    modelfile_types(model, &data);
    s.calendar = smurf_model_is_calendar(model);
    s.watched = (struct watched){.model = model,
                                 .alarms = alarm_bars(model, o.per_day, o.day, o.fixed),
                                 .seed = common.seed,
                                 .raise = show,
                                 .context = &s};
    s.watched.options = options_of(&o);
    s.watched.kept = (struct kept_set){.model = model, .history = o.history, .raw = o.raw, .most = o.sequences};
    report_misses(model);
    status = watch(&s, argv, &data);
    watched_release(&s.watched);
    smurf_model_free(model);
    return status;
}
