/* config.c - settings by name: the table, parsing, writing, checking. To add one, add a field to config.h and a line
   here. */
#include "model/config.h"

#include "model/model_class.h"

#include "data/number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind {
    SETTING_COUNT,
    SETTING_NUMBER,
    SETTING_WORD,
    SETTING_CHOICE,
    SETTING_AUTO, /* a number, or the word auto, kept as SMURF_AUTO */
    SETTING_LIST,
    SETTING_SEED,
    SETTING_THREADS
};

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t at;           /* offset in the config */
    double low, high;    /* of numbers and counts */
    const char *choices; /* allowed words; for a choice, in the order of their numbers */
    const char *about;
};

#define AT(field)  offsetof(smurf_settings, field)
#define WORD(name) #name " "
/* clang-format off */
static const struct setting table[] = {
    {"model", SETTING_WORD, AT(model), 0, 0, MODELS(WORD), "model class, one of: " MODELS(WORD)},
    {"width", SETTING_COUNT, AT(width), 2, 4096, NULL, "encoder width, an even number"},
    {"heads", SETTING_COUNT, AT(heads), 1, 256, NULL, "attention heads"},
    {"head-width", SETTING_COUNT, AT(head_width), 1, 128, NULL, "width of an attention head"},
    {"layers", SETTING_COUNT, AT(layers), 1, 24, NULL, "encoder layers"},
    {"inner", SETTING_COUNT, AT(inner), 1, 65536, NULL, "width of the feed-forward layers"},
    {"activation", SETTING_CHOICE, AT(relu), 0, 0, "gelu relu", "activation of the feed-forward layers: gelu or relu"},
    {"dropout", SETTING_NUMBER, AT(dropout), 0, 0.95, NULL, "dropout rate in training"},
    {"settle", SETTING_NUMBER, AT(settle), 0, 1, NULL, "share of the epochs, at the end, that run without dropout"},
    {"gap-feature", SETTING_CHOICE, AT(gap_feature), 0, 0, "off on", "let the encoder see the gap before each event: on or off"},
    {"counts", SETTING_CHOICE, AT(counts), 0, 0, "off on", "let the model see decayed counts of the events on many time scales: on or off"},
    {"wall-clock", SETTING_CHOICE, AT(wall_clock), 0, 0, "off on season auto", "let the model see the time of day and the day of the week, where times are dates: on or off; season: from two years of data on, also the season; auto: on from two weeks and 2000 events on, where model and objective can use it"},
    {"clock", SETTING_CHOICE, AT(raw_clock), 0, 0, "since-first raw", "time the encoder sees: since-first or raw"},
    {"context", SETTING_COUNT, AT(context), 0, 1e9, NULL, "minimum events of look-back (long sequences are cut into windows); 0: all"},
    {"window", SETTING_COUNT, AT(window), 0, 1e9, NULL, "events that a window of a model with a context predicts; 0: twice the context"},
    {"head", SETTING_CHOICE, AT(score), 0, 0, "intensity score", "output of the head: intensity or score"},
    {"scale", SETTING_CHOICE, AT(scale), 0, 0, "none mean log", "time scale: none, mean or log"},
    {"objective", SETTING_WORD, AT(objective), 0, 0, OBJECTIVES(WORD), "training objective, one of: " OBJECTIVES(WORD)},
    {"points", SETTING_COUNT, AT(points), 1, 512, NULL, "perturbations per event (denoising score matching), or draws per integral (models with their own loss)"},
    {"nodes", SETTING_COUNT, AT(nodes), 2, 256, NULL, "quadrature nodes (likelihood)"},
    {"sigma", SETTING_LIST, AT(sigma), 1e-6, 1e3, NULL, "noise on the scaled axis (denoising score matching), comma-separated if several; auto: chosen on dev"},
    {"noise", SETTING_CHOICE, AT(multiplicative), 0, 0, "additive multiplicative", "kind of noise: additive or multiplicative"},
    {"gradient", SETTING_CHOICE, AT(stop_gradient), 0, 0, "full stop", "gradient of denoising score matching: full, or stop at lambda'/lambda"},
    {"alpha", SETTING_NUMBER, AT(alpha), 0, 1e6, NULL, "weight of the objective relative to the type loss"},
    {"smoothing", SETTING_NUMBER, AT(smoothing), 0, 0.99, NULL, "label smoothing of types"},
    {"type-loss", SETTING_CHOICE, AT(type_at_truth), 0, 0, "perturbed truth", "where the type loss is evaluated: perturbed gaps or truth"},
    {"sampler-steps", SETTING_COUNT, AT(sampler_steps), 1, 1e9, NULL, "steps of Langevin samplers, for evaluation by draws"},
    {"sampler-step", SETTING_NUMBER, AT(sampler_step), 1e-12, 1e3, NULL, "step size of Langevin samplers, on the scaled axis"},
    {"dither", SETTING_NUMBER, AT(dither), 0, 1e300, NULL, "tick within which gaps are spread in training; 0: none"},
    {"mask", SETTING_NUMBER, AT(mask), 0, 0.9, NULL, "share of input types hidden in training, so that unknown types have a meaning; 0: none"},
    {"batch", SETTING_COUNT, AT(batch), 1, 65536, NULL, "sequences per step"},
    {"rate", SETTING_NUMBER, AT(rate), 0, 10, NULL, "learning rate"},
    {"schedule", SETTING_CHOICE, AT(schedule), 0, 0, "constant cosine plateau", "learning rate schedule: constant, cosine or plateau"},
    {"cosine-epochs", SETTING_COUNT, AT(cosine_epochs), 0, 1e6, NULL, "epoch at which the cosine ends; 0: the last"},
    {"warmup", SETTING_COUNT, AT(warmup), 0, 1e9, NULL, "steps over which the learning rate rises from 0"},
    {"clip", SETTING_NUMBER, AT(clip), 0, 1e300, NULL, "maximum norm of the gradient; 0: none"},
    {"average", SETTING_NUMBER, AT(average), 0, 0.99999999, NULL, "decay of the weight average; 0: none"},
    {"epochs", SETTING_COUNT, AT(epochs), 1, 1e6, NULL, "maximum number of epochs"},
    {"patience", SETTING_COUNT, AT(patience), 0, 1e6, NULL, "stop after this many epochs without a better dev loss; 0: never"},
    {"seed", SETTING_SEED, AT(seed), 0, 0, NULL, "random seed"},
    {"threads", SETTING_THREADS, AT(threads), 0, 1e6, NULL, "threads to use; 0: all cores. Does not affect results"},
    {"tail", SETTING_CHOICE, AT(tail), 0, 0, "off on", "limit the probability beyond the longest train gap to what dev gaps support: on or off"},
    {"pool", SETTING_CHOICE, AT(pool), 0, 0, "off on", "mix laws with the best naive law, in the share that is best on calibration gaps: on or off"},
    {"ending", SETTING_CHOICE, AT(ending), 0, 0, "off on", "learn the probability that no further event comes, from sequences whose end of observation is known: on or off"},
    {"adaptive", SETTING_AUTO, AT(adaptive), 0, 0.5, NULL, "step by which interval levels adapt to the gaps that came; 0: none; auto: chosen on dev, or 0 if nothing is set aside to calibrate on"},
};
/* clang-format on */
enum { SETTINGS = sizeof table / sizeof *table };

void smurf_settings_init(smurf_settings *c)
{
    *c = (smurf_settings){.model = "smurf",
                          .width = 64,
                          .heads = 4,
                          .head_width = 16,
                          .layers = 2,
                          .inner = 256,
                          .dropout = 0.1,
                          .gap_feature = 1,
                          .scale = SMURF_SCALE_LOG,
                          .objective = "mle",
                          .points = 100,
                          .nodes = 24,
                          .sigma = {0.1},
                          .alpha = 1,
                          .type_at_truth = 1,
                          .sampler_steps = 1000,
                          .sampler_step = 5e-3,
                          .batch = 8,
                          .rate = 1e-3,
                          .schedule = 1,
                          .epochs = 30,
                          .patience = 6,
                          .seed = 1};
}

smurf_status smurf_settings_new(smurf_settings **out, const char *preset, const smurf_data *train, smurf_error *err)
{
    smurf_settings settings;
    *out = NULL;
    smurf_settings_init(&settings);
    smurf_status status = smurf_settings_preset(&settings, preset ? preset : "default", train, err);
    return status ? status : smurf_settings_copy(out, &settings, err);
}

smurf_status smurf_settings_copy(smurf_settings **out, const smurf_settings *settings, smurf_error *err)
{
    *out = malloc(sizeof **out);
    if (!*out) return smurf_fail_memory(err);
    **out = *settings;
    return SMURF_OK;
}

void smurf_settings_free(smurf_settings *settings)
{
    free(settings);
}

void smurf_loss_config(struct loss_config *out, const smurf_settings *c, double low, double high)
{
    *out = (struct loss_config){.alpha = c->alpha,
                                .smoothing = c->smoothing,
                                .points = c->points,
                                .objective = {.class = smurf_objective_named_f32(c->objective),
                                              .param = c->score ? PARAM_SCORE : PARAM_INTENSITY,
                                              .low = low,
                                              .log_axis = c->scale == SMURF_SCALE_LOG},
                                .type_at_truth = c->type_at_truth != 0,
                                .high = high};
    out->likelihood = out->objective;
    out->likelihood.class = smurf_objective_named_f32("mle");
    out->likelihood.class->prepare(c, &out->likelihood);
    out->objective.class->prepare(c, &out->objective);
}

/* ---- By name --------------------------------------------------------------------------------- */

const char *smurf_setting_name(size_t index)
{
    return index < SETTINGS ? table[index].name : NULL;
}

const char *smurf_setting_about(size_t index)
{
    return index < SETTINGS ? table[index].about : NULL;
}

bool smurf_setting_is_of_run(size_t index)
{
    return table[index].kind == SETTING_SEED || table[index].kind == SETTING_THREADS;
}

static const struct setting *find(const char *name, smurf_error *err)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    smurf_fail(err, SMURF_ERROR_ARGUMENT, "unknown setting '%s'", name);
    return NULL;
}

/* Index of a word in a list, or -1. */
static int choice(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (int i = 0; *words; i++) {
        size_t length = strcspn(words, " ");
        if (length == n && strncmp(words, word, n) == 0) return i;
        words += length + (words[length] == ' ');
    }
    return -1;
}

static smurf_status wrong(const struct setting *s, const char *value, smurf_error *err)
{
    if (s->choices) {
        int n = (int)strlen(s->choices);
        while (n > 0 && s->choices[n - 1] == ' ') n--;
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s '%s' is not one of: %.*s", s->name, value, n, s->choices);
    }
    bool whole = s->kind != SETTING_NUMBER && s->kind != SETTING_LIST && s->kind != SETTING_AUTO;
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s '%s' is not %sa %s from %g to %g", s->name, value,
                      s->kind == SETTING_AUTO ? "auto or " : "", whole ? "whole number" : "number", s->low, s->high);
}

/* Independent of the locale, as files must be. */
static bool parse_number(const struct setting *s, const char *text, const char **end, double *out)
{
    struct decimal decimal;
    *end = smurf_decimal_scan(&decimal, text);
    if (!*end) return false;
    *out = smurf_decimal_value(&decimal);
    return *out >= s->low && *out <= s->high;
}

static smurf_status set_seed(const struct setting *s, uint64_t *seed, const char *value, smurf_error *err)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s '%s' is not a whole number from 0 to 2^64 - 1", s->name,
                          value);
    *seed = number;
    return SMURF_OK;
}

static smurf_status set_list(const struct setting *s, double *list, const char *value, smurf_error *err)
{
    double values[SMURF_SIGMAS] = {0};
    const char *p = value, *end;
    for (int i = 0; i < SMURF_SIGMAS; i++) {
        if (!parse_number(s, p, &end, &values[i]) || (*end && *end != ',')) return wrong(s, value, err);
        if (!*end) {
            memcpy(list, values, sizeof values);
            return SMURF_OK;
        }
        p = end + 1;
    }
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%s takes at most %d values", s->name, SMURF_SIGMAS);
}

smurf_status smurf_settings_set(smurf_settings *config, const char *name, const char *value, smurf_error *err)
{
    const struct setting *s = find(name, err);
    if (!s) return SMURF_ERROR_ARGUMENT;
    char *field = (char *)config + s->at;
    const char *end;
    double number;
    int word = s->choices ? choice(s->choices, value) : 0;
    if (word < 0) return wrong(s, value, err);
    switch (s->kind) {
    case SETTING_SEED: return set_seed(s, &config->seed, value, err);
    case SETTING_LIST: return set_list(s, (double *)(void *)field, value, err);
    case SETTING_WORD: strcpy(field, value); return SMURF_OK;
    case SETTING_CHOICE: memcpy(field, &word, sizeof word); return SMURF_OK;
    case SETTING_AUTO:
        number = SMURF_AUTO;
        if (strcmp(value, "auto") != 0 && (!parse_number(s, value, &end, &number) || *end)) return wrong(s, value, err);
        memcpy(field, &number, sizeof number);
        return SMURF_OK;
    default:
        if (!parse_number(s, value, &end, &number) || *end) return wrong(s, value, err);
        if (s->kind == SETTING_NUMBER) {
            memcpy(field, &number, sizeof number);
        } else {
            if (number != floor(number)) return wrong(s, value, err);
            size_t count = (size_t)number;
            if (s->kind == SETTING_THREADS)
                config->threads = (int)number;
            else
                memcpy(field, &count, sizeof count);
        }
        return SMURF_OK;
    }
}

/* Appends to a text of n bytes, of which *used are taken; truncates. */
static void append(char *text, size_t n, size_t *used, const char *more, size_t length)
{
    for (size_t i = 0; i < length && *used + 1 < n; i++) text[(*used)++] = more[i];
    if (n) text[*used] = '\0';
}

static void append_number(char *text, size_t n, size_t *used, double x)
{
    char digits[NUMBER_TEXT];
    if (isfinite(x))
        append(text, n, used, digits, smurf_number_write(digits, x));
    else
        append(text, n, used, "nan", 3);
}

/* The word of a choice, or the number if it has none. */
static void write_choice(const struct setting *s, int number, char *text, size_t n)
{
    const char *word = s->choices;
    for (int i = 0; i < number && *word; i++) {
        word += strcspn(word, " ");
        word += *word == ' ';
    }
    if (number < 0 || !*word)
        snprintf(text, n, "%d", number);
    else
        snprintf(text, n, "%.*s", (int)strcspn(word, " "), word);
}

smurf_status smurf_settings_get(const smurf_settings *config, const char *name, char *text, size_t n, smurf_error *err)
{
    const struct setting *s = find(name, err);
    if (!s) return SMURF_ERROR_ARGUMENT;
    const char *field = (const char *)config + s->at;
    double number[SMURF_SIGMAS];
    size_t count, used = 0;
    int flag;
    switch (s->kind) {
    case SETTING_SEED: snprintf(text, n, "%llu", (unsigned long long)config->seed); break;
    case SETTING_THREADS: snprintf(text, n, "%d", config->threads); break;
    case SETTING_WORD: snprintf(text, n, "%.*s", (int)sizeof config->objective, field); break;
    case SETTING_AUTO:
    case SETTING_NUMBER:
        memcpy(number, field, sizeof *number);
        if (s->kind == SETTING_AUTO && number[0] == SMURF_AUTO)
            append(text, n, &used, "auto", 4);
        else
            append_number(text, n, &used, number[0]);
        break;
    case SETTING_LIST:
        memcpy(number, field, sizeof number);
        for (int i = 0; i < SMURF_SIGMAS && (number[i] != 0 || i == 0); i++) {
            append(text, n, &used, ",", i > 0);
            append_number(text, n, &used, number[i]);
        }
        break;
    case SETTING_CHOICE:
        memcpy(&flag, field, sizeof flag);
        write_choice(s, flag, text, n);
        break;
    default: memcpy(&count, field, sizeof count); snprintf(text, n, "%zu", count);
    }
    return SMURF_OK;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Checks that model, scale, objective and head are compatible. */
static smurf_status check_model(const smurf_settings *c, smurf_error *err)
{
    const struct model_class *model = smurf_model_class_named_f32(c->model);
    const struct objective_class *objective = smurf_objective_named_f32(c->objective);
    smurf_settings usual;
    smurf_settings_init(&usual);
    bool clock = c->wall_clock == CLOCK_ON || c->wall_clock == CLOCK_SEASON;
    if (!(model->scales & 1u << c->scale))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "model %s needs scale mean, as in preset %s", c->model, c->model);
    if (!model->objectives && strcmp(c->objective, usual.objective) != 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "model %s has its own loss: omit objective %s", c->model,
                          c->objective);
    if (c->counts && !model->counts)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "model %s cannot see counts: set counts off, as in preset %s",
                          c->model, c->model);
    if (clock && !model->clock)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "model %s cannot see the clock on the wall: set wall-clock off, as in preset %s", c->model,
                          c->model);
    if (clock && c->score)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "wall-clock needs an intensity: omit head=score, or set "
                          "wall-clock off");
    if (clock && !objective->clocked)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "objective %s cannot learn what the clock does: choose another one, or set wall-clock off",
                          c->objective);
    if (objective->intensity && c->score)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "objective %s needs an intensity: omit head=score", c->objective);
    if (c->ending && !model->never)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "model %s does not learn whether a further event comes: set ending to off", c->model);
    return objective->check ? objective->check(c, err) : SMURF_OK;
}

smurf_status smurf_settings_check(const smurf_settings *given, smurf_error *err)
{
    smurf_settings c = *given, again = c;
    for (size_t i = 0; i < SETTINGS; i++) { /* a value is in range if its text reads back */
        char text[512];
        smurf_status status = smurf_settings_get(&c, table[i].name, text, sizeof text, err);
        if (!status) status = smurf_settings_set(&again, table[i].name, text, err);
        if (status) return status;
    }
    if (c.width % 2) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "width is %zu: give an even number", c.width);
    if (c.window && !c.context)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "window %zu needs a context: set it to the events of look-back",
                          c.window);
    smurf_status status = check_model(&c, err);
    if (status) return status;
    if (!(c.rate > 0)) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "rate is %g: give a number above 0", c.rate);
    return SMURF_OK;
}
