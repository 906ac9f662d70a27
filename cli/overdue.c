/* overdue.c - smurf overdue: the sequences that have been silent for longer than expected, most improbable first. */
#include "commands.h"
#include "modelfile.h"
#include "show_forecast.h"
#include "silent.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

struct overdue_options {
    struct dataset_options data;
    const char *part, *now, *format, *level;
    size_t top, history;
    int raw;
};

struct session {
    const struct overdue_options *o;
    const smurf_model *model;
    const smurf_data *data;
    enum show_format format;
    const char *unit;
    int calendar;
    double level;
    smurf_moment now;
    struct silent *row; /* (sequences) */
    size_t rows, asked; /* overdue; with events */
};

/* ---- Asking ---------------------------------------------------------------------------------- */

static int keep_overdue(void *context, const smurf_answer *a)
{
    struct session *s = context;
    if (!a->events) return 0;
    s->asked++;
    struct silent row = {a->sequence, a->events, a->last, a->silence, a->interval[0].high, a->survival};
    if (row.silence > row.expected) s->row[s->rows++] = row;
    return 0;
}

static const char *name_of(const struct session *s, size_t sequence, char text[24])
{
    return sequence_text(text, smurf_data_sequence(s->data, sequence), sequence);
}

static int ask(struct session *s)
{
    smurf_question q;
    smurf_many_config config;
    smurf_error err;
    size_t failed;
    char text[24];
    smurf_question_init(&q);
    q.level = &s->level;
    q.levels = 1;
    q.one_sided = 1;
    q.top = 0;
    q.until = &s->now;
    q.recalibrate = !s->o->raw;
    smurf_many_config_init(&config);
    config.history = s->o->history;
    config.failed = &failed;
    config.threads = common_threads();
    config.progress = terminal_progress;
    smurf_status status = smurf_forecast_many(s->model, s->data, &q, &config, keep_overdue, s, &err);
    terminal_clear();
    if (status) return failed == SIZE_MAX ? report_error(&err) : report_sequence(name_of(s, failed, text), &err);
    qsort(s->row, s->rows, sizeof *s->row, silent_order);
    return 0;
}

/* ---- Now ------------------------------------------------------------------------------------- */

static bool last_event(const smurf_sequence *seq, smurf_moment *out)
{
    return seq->length && smurf_moment_after(out, (smurf_moment){seq->origin, 0}, seq->time[seq->length - 1]);
}

/* --now, or the last event of all sequences. No event may be later. */
static int find_now(struct session *s)
{
    smurf_moment last;
    bool given = s->o->now != NULL, any = given;
    char text[24];
    if (given) s->now = parse_now(s->o->now, s->model);
    for (size_t i = 0; i < smurf_data_sequences(s->data); i++) {
        if (!last_event(smurf_data_sequence(s->data, i), &last)) continue;
        bool later = any && smurf_moment_gap(s->now, last) > 0;
        if (given && later)
            return report_failure("sequence '%s' has an event after --now %s: cut the data there, or omit --now",
                                  name_of(s, i, text), s->o->now);
        if (!any || later) s->now = last;
        any = true;
    }
    return 0;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static const char *last_type(const struct session *s, const struct silent *r, char text[24])
{
    const smurf_sequence *seq = smurf_data_sequence(s->data, r->sequence);
    return type_text(text, s->model, seq->type[seq->length - 1]);
}

static size_t shown(const struct session *s)
{
    return s->o->top && s->o->top < s->rows ? s->o->top : s->rows;
}

static const char *when_text(const struct session *s, char out[MOMENT_TEXT], smurf_moment moment)
{
    return s->calendar ? date_text(out, moment, moment.whole % 60 != 0) : moment_text(out, moment, 0);
}

/* Widths of columns. */
enum { GAP = 10, EXPECTED = 16, TYPE_MOST = 24 };

static int type_width(const struct session *s)
{
    int most = 4;
    for (size_t i = 0; i < shown(s); i++) {
        char text[24];
        int n = name_columns(last_type(s, &s->row[i], text));
        if (n > most) most = n < TYPE_MOST ? n : TYPE_MOST;
    }
    return most;
}

static void table_title(const struct session *s)
{
    char text[MOMENT_TEXT];
    printf("%zu of %zu sequence%s %s been silent for longer than expected at %s%s", s->rows, s->asked,
           s->asked == 1 ? "" : "s", s->rows == 1 || s->asked == 1 ? "has" : "have",
           s->asked ? when_text(s, text, s->now) : "-", s->calendar ? " UTC" : "");
    if (*s->unit && !unit_is_known(s->unit)) printf("; times in %s", s->unit);
    if (shown(s) < s->rows) printf("; the first %zu (--top 0 shows all)", shown(s));
    putchar('\n');
}

static void show_table(const struct session *s)
{
    char text[MOMENT_TEXT], name[24];
    int width = show_name_width(s->data), types = type_width(s);
    table_title(s);
    if (!s->rows) return;
    printf("%-*s %-*s %-*s", width, "sequence", DATE_WIDTH, "last event", types, "type");
    put_right(stdout, "silent for", GAP);
    snprintf(text, sizeof text, "expected (%.6g%%)", 100 * s->level);
    put_right(stdout, text, EXPECTED);
    puts(" probability");
    for (size_t i = 0; i < shown(s); i++) {
        const struct silent *r = &s->row[i];
        char gap[SMURF_DURATION_TEXT], p[32] = "<1e-9";
        put_name(stdout, name_of(s, r->sequence, name), width);
        printf(" %-*s ", DATE_WIDTH, when_text(s, text, r->last));
        put_name(stdout, last_type(s, r, name), types);
        put_right(stdout, gap_text(gap, r->silence, s->unit), GAP);
        put_right(stdout, gap_text(gap, r->expected, s->unit), EXPECTED);
        if (r->p >= 1e-9) snprintf(p, sizeof p, "%.2g", r->p);
        printf(" %11s\n", p);
    }
}

static void show_csv(const struct session *s)
{
    char text[MOMENT_TEXT], name[24];
    smurf_moment at;
    puts("sequence,events,last,type,now,silence,level,expected,expected_at,p");
    for (size_t i = 0; i < shown(s); i++) {
        const struct silent *r = &s->row[i];
        put_csv_text(stdout, name_of(s, r->sequence, name));
        printf(",%zu,%s,", r->events, moment_text(text, r->last, s->calendar));
        put_csv_text(stdout, last_type(s, r, name));
        printf(",%s", moment_text(text, s->now, s->calendar));
        csv_number(stdout, r->silence);
        csv_number(stdout, s->level);
        csv_number(stdout, r->expected);
        printf(",%s", moment_of(&at, r->last, r->expected, s->calendar) ? moment_text(text, at, s->calendar) : "");
        csv_number(stdout, r->p);
        putchar('\n');
    }
}

static void show_jsonl(const struct session *s)
{
    char name[24], type[24];
    for (size_t i = 0; i < shown(s); i++) {
        const struct silent *r = &s->row[i];
        silent_json(stdout, r, name_of(s, r->sequence, name), last_type(s, r, type), s->now, s->level, s->calendar);
        putchar('\n');
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

static int overdue(struct session *s)
{
    int status = find_now(s);
    s->row = calloc(smurf_data_sequences(s->data) + 1, sizeof *s->row);
    if (!s->row) out_of_memory();
    if (!status) status = ask(s);
    if (!status && s->format == SHOW_TABLE) show_table(s);
    if (!status && s->format == SHOW_CSV) show_csv(s);
    if (!status && s->format == SHOW_JSONL) show_jsonl(s);
    free(s->row);
    return status;
}

int command_overdue(int argc, char **argv)
{
    struct overdue_options o = {.data = {.history = NOT_GIVEN}, .format = "table", .level = "0.9", .top = 20};
    /* clang-format off */
    const struct option options[] = {
        {0, "now", OPTION_TEXT, &o.now, "TIME", "no event has occurred up to TIME; 'now': the present (default: the last event of DATA)"},
        {0, "level", OPTION_TEXT, &o.level, "P", "an event is expected by the time that it precedes with this probability (default: 0.9)"},
        {0, "top", OPTION_COUNT, &o.top, "N", "show the N most improbable; 0: all (default: 20)"},
        {0, "history", OPTION_COUNT, &o.history, "N", "use only the last N events (default: all)"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "format", OPTION_TEXT, &o.format, "FORMAT", "table, csv or jsonl (default: table)"},
        {0, "part", OPTION_TEXT, &o.part, "NAME", "of a directory: train, dev or test (default: test)"},
        DATASET_READ_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "overdue",
        .arguments = "MODEL DATA",
        .summary = "Lists the sequences that have been silent for longer than expected, most improbable first.",
        .about = "A sequence is overdue if no event has occurred for longer than the quantile of --level of\n"
                 "its next gap. The probability is that of a silence at least as long, given its history.\n"
                 "A sequence that has probably ended is not overdue, if the model knows that sequences end (setting\n"
                 "ending of smurf train); otherwise it is.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf overdue model.safetensors demo/ --now 200 --top 5",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    struct session s = {.o = &o, .format = show_format_named(o.format)};
    parse_numbers("level", o.level, 1e-9, 1 - 1e-9, &s.level, 1);
    smurf_model *model;
    smurf_split split = {0};
    smurf_data *data;
    int status = modelfile_open(&model, argv);
    if (status) return status;
    s.model = model;
    s.unit = model_unit(model);
    s.calendar = smurf_model_is_calendar(model);
    report_misses(model);
    status = modelfile_read(model, &split, &data, argv[1], &o.data, o.part);
    s.data = data;
    if (!status) status = overdue(&s);
    smurf_split_release(&split);
    smurf_model_free(model);
    return status;
}
