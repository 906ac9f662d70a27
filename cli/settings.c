/* settings.c - see settings.h. */
#include "settings.h"

#include "option.h"
#include "terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void settings_set_threads(smurf_settings *settings, int threads)
{
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    smurf_settings_set(settings, "threads", text, NULL);
}

smurf_settings *settings_new(const char *preset, const smurf_data *train, uint64_t seed, int threads)
{
    smurf_settings *settings;
    smurf_error err;
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    smurf_status status = smurf_settings_new(&settings, preset, train, &err);
    if (status == SMURF_ERROR_MEMORY) out_of_memory();
    if (status) usage_error("%s", err.message);
    smurf_settings_set(settings, "seed", text, NULL);
    settings_set_threads(settings, threads);
    return settings;
}

double settings_number(const smurf_settings *settings, const char *name)
{
    char text[64], *end;
    if (smurf_settings_get(settings, name, text, sizeof text, NULL)) return NAN;
    double value = strtod(text, &end);
    return *end ? NAN : value;
}

bool settings_is_on(const smurf_settings *settings, const char *name)
{
    char text[8];
    return !smurf_settings_get(settings, name, text, sizeof text, NULL) && strcmp(text, "on") == 0;
}

uint64_t settings_seed(const smurf_settings *settings)
{
    char text[32] = "";
    smurf_settings_get(settings, "seed", text, sizeof text, NULL);
    return strtoull(text, NULL, 10);
}

bool setting_is_common(const char *name)
{
    return strcmp(name, "seed") == 0 || strcmp(name, "threads") == 0;
}
