/*
 * preset.c - named presets: the published settings, and the default, chosen by inspecting the data.
 *
 * The published table has two columns, the paper's and its authors' program's, which differ in places.
 */
#include "data/data.h"
#include "model/config.h"
#include "model/model_class.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* One data set of the table: shape, then values that differ between the columns as {paper, program}. */
struct published {
    const char *name;
    size_t heads, layers, width, head_width, inner, batch;
    double rate[2];
    size_t epochs[2];
    double sigma[2], alpha, smoothing;
    double step[2]; /* Langevin: size and number of steps */
    size_t steps[2];
    smurf_scale_kind scale;
};

/* clang-format off */
static const struct published published[] = {
    {"stackoverflow", 4, 4, 64, 16, 256, 4, {1e-4, 1e-4}, {50, 60}, {0.1, 0.1}, 5, 0, {5e-2, 5e-3}, {1000, 2000}, SMURF_SCALE_NONE},
    {"retweet", 3, 3, 64, 16, 256, 16, {5e-3, 5e-4}, {50, 70}, {0.05, 0.1}, 5, 0.1, {1e-3, 3e-4}, {5000, 3000}, SMURF_SCALE_LOG},
    {"mimic", 3, 3, 64, 16, 256, 1, {1e-4, 1e-4}, {50, 70}, {0.1, 0.1}, 3, 0.1, {2e-2, 3e-2}, {1000, 300}, SMURF_SCALE_MEAN},
    {"financial", 6, 6, 128, 64, 2048, 1, {1e-4, 1e-4}, {50, 50}, {0.05, 0.01}, 5, 0.1, {5e-3, 1e-3}, {3000, 3000}, SMURF_SCALE_LOG},
};
/* clang-format on */
enum { PUBLISHED = sizeof published / sizeof *published };

static const char *const names[] = {"default",         "paper-stackoverflow", "paper-retweet",
                                    "paper-mimic",     "paper-financial",     "program-stackoverflow",
                                    "program-retweet", "program-mimic",       "program-financial"};
enum { NAMES = sizeof names / sizeof *names };

const char *smurf_preset_name(size_t index)
{
    if (index < NAMES) return names[index];
    const struct model_class *class;
    for (size_t i = 0, at = NAMES; (class = smurf_model_class_at_f32(i)); i++)
        if (class->preset && at++ == index) return class->name;
    return NULL;
}

/* The paper's objective is the full score; its program stops the gradient at lambda'/lambda. */
static void use_published(smurf_settings *c, const struct published *p, int program)
{
    strcpy(c->model, "smurf");
    c->heads = p->heads;
    c->layers = p->layers;
    c->width = p->width;
    c->head_width = p->head_width;
    c->inner = p->inner;
    c->relu = !program;
    c->dropout = 0.1;
    c->settle = 0;
    c->gap_feature = 0;
    c->counts = 0;
    c->wall_clock = CLOCK_OFF;
    c->raw_clock = 1;
    c->context = 0;
    c->window = 0;
    c->score = 0;
    c->scale = p->scale;
    strcpy(c->objective, "dsm");
    c->points = 100;
    memset(c->sigma, 0, sizeof c->sigma);
    c->sigma[0] = p->sigma[program];
    c->multiplicative = 0;
    c->stop_gradient = program;
    c->alpha = p->alpha;
    c->smoothing = p->smoothing;
    c->type_at_truth = 0;
    c->sampler_step = p->step[program];
    c->sampler_steps = p->steps[program];
    c->dither = 0;
    c->mask = 0;
    c->batch = p->batch;
    c->rate = p->rate[program];
    c->schedule = 1;
    c->cosine_epochs = 64;
    c->warmup = 0;
    c->clip = 0;
    c->average = 0;
    c->epochs = p->epochs[program];
    c->patience = 0;
    c->tail = 0;
    c->pool = 0;
    c->ending = 0;
    c->adaptive = 0;
}

/* ---- Looking at the data --------------------------------------------------------------------- */

/* A context, and the lengths that call for it. */
enum { CONTEXT = 128, LONG = 600, LONGEST = 4 * LONG };

struct look {
    double events, mean_length, mean_gap;
    size_t ends;            /* sequences whose end of observation is known */
    bool is_long;           /* calls for a context; mean_length is then that of the windows */
    size_t history, window; /* of data that was cut: fewest events of history, and where its windows begin; 0: whole */
};

static size_t divisor(size_t a, size_t b)
{
    for (size_t rest; b; a = b, b = rest) rest = a % b;
    return a;
}

/* Takes a sequence that was cut from a longer one into account. */
static void look_at_cut(struct look *l, const smurf_sequence *s)
{
    if (!s->before || s->first >= s->length) return;
    if (!l->history || s->first < l->history) l->history = s->first;
    l->window = divisor(l->window, s->before + s->first - 1);
}

static struct look look_at(const smurf_data *train)
{
    double gaps = 0, span = 0;
    size_t in_long = 0, longest = 0, windows = 0, most = 2 * CONTEXT;
    struct look l = {.events = (double)train->events};
    for (size_t i = 0; i < train->sequences; i++) {
        const smurf_sequence *s = &train->sequence[i];
        if (s->length > LONG) in_long += s->length;
        if (s->length > longest) longest = s->length;
        windows += s->length > most ? (s->length + most - 1) / most : 1;
        look_at_cut(&l, s);
        l.ends += s->length && !isnan(s->end);
        if (s->length < 2) continue;
        gaps += (double)(s->length - 1);
        span += s->time[s->length - 1] - s->time[0];
    }
    l.is_long = in_long > train->events / 2 || longest > LONGEST;
    size_t pieces = l.is_long ? windows : train->sequences;
    l.mean_length = l.events / (double)(pieces ? pieces : 1);
    l.mean_gap = gaps > 0 ? span / gaps : 0;
    return l;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* The windows of the data, if they begin at regular places; else a context that their history covers. */
static void use_cut(smurf_settings *c, const struct look *l)
{
    bool regular = l->window >= l->history / 2 && l->window <= LONGEST;
    c->context = regular ? l->history : (l->history + 1) / 3;
    c->window = regular ? l->window : 0;
    if (!c->context) c->context = 1;
}

/* Rules and reasons:
   - likelihood on log time with the gap feature: gaps of real logs span decades;
   - decayed counts: bursts and habits on scales that single gaps do not show, and types that repeat;
   - dithering if the tick is at least a thousandth of the mean gap: the law must not learn the clock's resolution;
   - one width for all; 2 layers, 3 from 100,000 events on; below 5,000, where the model could memorise the data, 1
   layer and more dropout;
   - an average of the weights over the last hundreds of steps (thousands from 5,000 events on): reduces noise;
   - from 5,000 events on, no dropout in the last fifth of the epochs: the final law uses none;
   - a fiftieth of the events per step, within 32 to 600: enough steps for small data, representative batches for large;
   - sequences are cut into windows with a look-back of 128 if most events are in sequences of more than 600, or if one
   sequence has more than 2,400: attention costs the square of the length, and a step is as large as its longest
   sequence. So a long sequence among short ones costs no more than its events;
   - windows that the data was cut into become those of the model, so that it fits the whole sequences too;
   - one input type in a hundred is hidden, so that types that training did not see have an embedding;
   - laws claim no more beyond the longest train gap than dev supports;
   - they are pooled with a naive law where held-out gaps gain by it;
   - if it is known until when several sequences were observed, it is learned whether a further event comes;
   - the clock on the wall where there are dates of two weeks: most of what people do has its hours;
   - one log, cut in time, drifts: its levels follow the gaps that came, by a step chosen on dev;
   - about 6 million events in total, within 10 to 200 epochs: minutes on two cores. */
static smurf_status use_look(smurf_settings *c, const smurf_data *train, smurf_error *err)
{
    struct look l = look_at(train);
    double tick = smurf_data_tick(train), step = clamp(l.events / 50, 32, 600);
    if (isnan(tick)) return smurf_fail_memory(err);
    c->context = l.is_long ? CONTEXT : 0;
    if (l.history) use_cut(c, &l);
    c->layers = l.events < 5000 ? 1 : l.events < 100000 ? 2 : 3;
    c->dropout = l.events < 5000 ? 0.5 : 0.1;
    c->average = l.events < 5000 ? 0.99 : 0.999;
    c->settle = l.events < 5000 ? 0 : 0.2;
    c->dither = tick > 0 && tick >= 1e-3 * l.mean_gap ? tick : 0;
    c->batch = (size_t)clamp(floor(step / (l.mean_length > 0 ? l.mean_length : 1) + 0.5), 1, 64);
    c->counts = 1;
    c->mask = 0.01;
    c->tail = 1;
    c->pool = 1;
    c->ending = l.ends > 1;
    c->adaptive = train->sequences == 1 ? SMURF_AUTO : 0;
    c->wall_clock = CLOCK_AUTO;
    c->warmup = 100;
    c->epochs = (size_t)clamp(6e6 / (l.events > 0 ? l.events : 1), 10, 200);
    c->patience = c->epochs / 6 > 5 ? c->epochs / 6 : 5;
    return SMURF_OK;
}

smurf_status smurf_settings_preset(smurf_settings *config, const char *name, const smurf_data *train, smurf_error *err)
{
    smurf_settings c = *config;
    const char *dash = strchr(name, '-');
    bool program = strncmp(name, "program-", 8) == 0, known = false;
    const struct model_class *class = smurf_model_class_named_f32(name);
    if (strcmp(name, "default") == 0 || (class && class->preset)) {
        uint64_t seed = c.seed;
        int threads = c.threads;
        smurf_settings_init(&c);
        c.seed = seed;
        c.threads = threads;
        smurf_status status = train ? use_look(&c, train, err) : SMURF_OK;
        if (status) return status;
        if (class) {
            strcpy(c.model, class->name);
            class->preset(&c);
        }
        known = true;
    }
    for (size_t i = 0; dash && (program || strncmp(name, "paper-", 6) == 0) && i < PUBLISHED; i++)
        if (strcmp(dash + 1, published[i].name) == 0) {
            use_published(&c, &published[i], program);
            known = true;
        }
    if (!known)
        return smurf_fail(
            err, SMURF_ERROR_ARGUMENT,
            "unknown preset '%s': use default, the name of a model, or paper- or program- followed by stackoverflow, "
            "retweet, mimic or financial",
            name);
    *config = c;
    return SMURF_OK;
}
