/*
 * settings.h - helpers for the settings of a training run.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "smurf_lab.h"

#include <stdbool.h>

/* The settings of a preset, with seed and threads. A usage error if the preset is unknown. */
smurf_settings *settings_new(const char *preset, const smurf_data *train, uint64_t seed, int threads);
/* A numeric setting; NaN for other kinds. */
double settings_number(const smurf_settings *settings, const char *name);
/* Whether a setting is "on". */
bool settings_is_on(const smurf_settings *settings, const char *name);
uint64_t settings_seed(const smurf_settings *settings);
void settings_set_threads(smurf_settings *settings, int threads);
/* Whether every command has an option for the setting: --seed and --threads. */
bool setting_is_common(const char *name);

#endif
