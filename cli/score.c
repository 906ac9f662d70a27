/* score.c - smurf score: how surprising each event was, as CSV or JSON Lines: what eval measures, event by event. */
#include "commands.h"
#include "json_out.h"
#include "modelfile.h"
#include "show_forecast.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct score_options {
    struct dataset_options data;
    const char *part, *format;
    size_t top;
    double below;
    int raw;
};

struct session {
    const struct score_options *o;
    const smurf_model *model;
    const smurf_data *data;
    enum show_format format;
    int calendar;
    bool any;           /* the header was shown */
    smurf_scored *kept; /* --top: (room) those seen so far */
    size_t count, room;
};

/* ---- Showing --------------------------------------------------------------------------------- */

static void header(struct session *s)
{
    if (!s->any && s->format == SHOW_CSV)
        puts("sequence,event,at,type,gap,pit,p,log_density,type_p,predicted,predicted_p");
    s->any = true;
}

static void show_csv(const struct session *s, const smurf_scored *e, const smurf_sequence *seq, const char *at)
{
    char text[24];
    put_csv_text(stdout, sequence_text(text, seq, e->sequence));
    printf(",%zu,%s,", e->event, at);
    put_csv_text(stdout, type_text(text, s->model, e->type));
    csv_number(stdout, e->gap);
    csv_number(stdout, e->pit);
    csv_number(stdout, e->p);
    csv_number(stdout, e->log_density);
    csv_number(stdout, e->type_share);
    putchar(',');
    put_csv_text(stdout, type_text(text, s->model, e->top));
    csv_number(stdout, e->top_share);
    putchar('\n');
}

static void show_jsonl(const struct session *s, const smurf_scored *e, const smurf_sequence *seq, smurf_moment at)
{
    char text[24];
    fputs("{\"sequence\":", stdout);
    put_string(stdout, sequence_text(text, seq, e->sequence));
    printf(",\"event\":%zu", e->event);
    json_moment(stdout, "at", at, s->calendar);
    fputs(",\"type\":", stdout);
    put_string(stdout, type_text(text, s->model, e->type));
    json_number(stdout, "gap", e->gap);
    json_number(stdout, "pit", e->pit);
    json_number(stdout, "p", e->p);
    json_number(stdout, "log_density", e->log_density);
    json_number(stdout, "type_p", e->type_share);
    fputs(",\"predicted\":", stdout);
    put_string(stdout, type_text(text, s->model, e->top));
    json_number(stdout, "predicted_p", e->top_share);
    puts("}");
}

static void show(struct session *s, const smurf_scored *e)
{
    const smurf_sequence *seq = smurf_data_sequence(s->data, e->sequence);
    smurf_moment at, origin = {seq->origin, 0};
    char text[MOMENT_TEXT];
    if (!smurf_moment_after(&at, origin, seq->time[e->event])) at = origin;
    header(s);
    if (s->format == SHOW_CSV)
        show_csv(s, e, seq, moment_text(text, at, s->calendar));
    else
        show_jsonl(s, e, seq, at);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Keeps an event for --top, or shows it at once. */
static int take(void *context, const smurf_scored *e)
{
    struct session *s = context;
    if (!(e->p <= s->o->below)) return 0;
    if (!s->o->top) {
        show(s, e);
        return terminal_stopped() || ferror(stdout);
    }
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->kept = realloc(s->kept, s->room * sizeof *s->kept);
        if (!s->kept) out_of_memory();
    }
    s->kept[s->count++] = *e;
    return 0;
}

/* The least probable first; else in the order of the data. */
static int surprising_first(const void *left, const void *right)
{
    const smurf_scored *a = left, *b = right;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    if (a->sequence != b->sequence) return a->sequence < b->sequence ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static int score(struct session *s)
{
    smurf_eval_config config;
    smurf_error err;
    smurf_eval_config_init(&config);
    config.recalibrate = !s->o->raw;
    config.seed = common.seed;
    config.threads = common_threads();
    config.progress = terminal_progress;
    report_misses(s->model);
    if (!s->o->raw) modelfile_tell_cut(s->model, s->data);
    smurf_status status = smurf_score(s->model, s->data, &config, take, s, &err);
    terminal_clear();
    if (status && ferror(stdout)) return finish_output();
    if (status) return report_error(&err);
    header(s);
    if (s->count) qsort(s->kept, s->count, sizeof *s->kept, surprising_first);
    for (size_t i = 0; i < s->count && i < s->o->top && !ferror(stdout); i++) show(s, &s->kept[i]);
    return 0;
}

int command_score(int argc, char **argv)
{
    struct score_options o = {.data = {.history = NOT_GIVEN}, .format = "csv", .below = 1};
    /* clang-format off */
    const struct option options[] = {
        {0, "top", OPTION_COUNT, &o.top, "N", "only the N most surprising events, in that order"},
        {0, "below", OPTION_NUMBER, &o.below, "P", "only events with a p-value of at most P"},
        {0, "no-recalibrate", OPTION_FLAG, &o.raw, NULL, "use the law as trained, without recalibration"},
        {0, "format", OPTION_TEXT, &o.format, "FORMAT", "csv or jsonl (default: csv)"},
        {0, "part", OPTION_TEXT, &o.part, "NAME", "which part to score: train, dev or test (default: test)"},
        DATASET_OPTIONS(o.data),
        {0, NULL, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    const struct usage usage = {
        .command = "score",
        .arguments = "MODEL DATA",
        .summary = "Scores each event: how unusual its time was, and how probable its type.",
        .about = "One line per scored event of the part that smurf eval measures. event counts from 0 in its\n"
                 "sequence; gap is in the data's unit. pit is the level of the gap in the law forecast for it,\n"
                 "drawn at random within a tick of the clock (--seed); p = 2 min(pit, 1 - pit) is small if the\n"
                 "event came unusually early or late. log_density is that of the gap, type_p the probability of\n"
                 "its type with the time unknown; predicted is the most probable type. Their means over events\n"
                 "are the log-likelihood, type loss and accuracy of smurf eval.",
        .example = "  smurf simulate hawkes --sequences 60 -o demo/\n"
                   "  smurf train demo/ -o model.safetensors --epochs 2\n"
                   "  smurf score model.safetensors demo/ --top 10",
        .options = options,
        .least = 2,
        .most = 2,
        .inputs = 2,
    };
    parse_options(&usage, argc, argv);
    struct session s = {.o = &o, .format = show_format_named(o.format)};
    if (s.format == SHOW_TABLE) usage_error("--format takes csv or jsonl, not 'table'");
    if (!(o.below > 0 && o.below <= 1)) usage_error("--below takes a probability above 0, up to 1");
    smurf_model *model;
    smurf_split split;
    int status = modelfile_load(&model, &split, argv, &o.data);
    if (status) return status;
    s.model = model;
    s.data = modelfile_part(&split, o.part).data;
    s.calendar = smurf_model_is_calendar(model);
    status = score(&s);
    free(s.kept);
    smurf_split_release(&split);
    smurf_model_free(model);
    return status;
}
