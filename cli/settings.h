/*
 * settings.h - the settings of a training run, as commands handle them.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "smurf_lab.h"

#include <stdbool.h>

/* The settings of a preset, with seed and threads. A usage error where the preset is unknown. */
smurf_settings *settings_new(const char *preset, const smurf_data *train, uint64_t seed, int threads);
/* A setting that is a number; NaN for other kinds. */
double settings_number(const smurf_settings *settings, const char *name);
uint64_t settings_seed(const smurf_settings *settings);
void settings_set_threads(smurf_settings *settings, int threads);
/* Whether a setting has an option of its own that every command takes: --seed and --threads. */
bool setting_is_common(const char *name);

#endif
