/* duration.c - see duration.h. */
#include "duration.h"

#include "option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *model_unit(const smurf_model *model)
{
    return smurf_model_is_calendar(model) ? "s" : smurf_model_unit(model);
}

bool unit_is_known(const char *unit)
{
    double size;
    return smurf_duration_unit(1, unit, &size) != NULL;
}

const char *gap_text(char out[SMURF_DURATION_TEXT], double x, const char *unit)
{
    int before = x > 0 && isfinite(x) ? (int)floor(log10(x)) + 1 : 1; /* digits before the point */
    if (!isfinite(x) || unit_is_known(unit)) return smurf_duration_text(out, x, unit);
    if (x == 0 || (x >= 1e-3 && x < 1e9))
        snprintf(out, SMURF_DURATION_TEXT, "%.*f", before < 4 ? 4 - before : 0, x);
    else
        snprintf(out, SMURF_DURATION_TEXT, "%.3g", x);
    return out;
}

static int is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

double parse_duration(const char *option, const char *text, const smurf_model *model)
{
    smurf_error err;
    double x;
    if (smurf_duration_parse(&x, text, model_unit(model), &err)) usage_error("--%s: %s", option, err.message);
    return x;
}

size_t parse_durations(const char *option, const char *text, const smurf_model *model, double *out,
                       char (*label)[DURATION_LABEL], size_t most)
{
    const char *unit = model_unit(model);
    for (size_t n = 0;; n++) {
        char word[128];
        size_t length = strcspn(text, ",");
        if (n == most) usage_error("--%s takes up to %zu durations", option, most);
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        out[n] = parse_duration(option, word, model);
        if (!is_number(word))
            snprintf(label[n], DURATION_LABEL, "%.*s", DURATION_LABEL - 1, word);
        else
            snprintf(label[n], DURATION_LABEL, "%.9g%s%.8s", out[n], *unit ? " " : "", unit);
        if (!text[length]) return n + 1;
        text += length + 1;
    }
}

smurf_moment parse_now(const char *text, const smurf_model *model)
{
    smurf_error err;
    smurf_moment moment;
    int calendar = smurf_model_is_calendar(model);
    if (strcmp(text, "now") == 0) {
        struct timespec now;
        if (!calendar) usage_error("--now now needs a model of times with dates, but this model's times are numbers");
        clock_gettime(CLOCK_REALTIME, &now);
        return (smurf_moment){now.tv_sec, (double)now.tv_nsec / 1e9};
    }
    if (is_number(text) && calendar)
        usage_error("--now %s is a number, but the model's times are dates such as 2024-01-31T12:00", text);
    if (!is_number(text) && !calendar)
        usage_error("--now '%s' is not a number, but the model's times are numbers", text);
    if (smurf_moment_parse(&moment, text, &err)) usage_error("--now: %s", err.message);
    return moment;
}
