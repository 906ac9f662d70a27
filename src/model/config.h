/*
 * config.h - settings of a model and its training, one line each: how they are read, written and checked.
 */
#ifndef SMURF_MODEL_CONFIG_H
#define SMURF_MODEL_CONFIG_H

#include "base/error.h"

/* A copy of a caller's config, which may be shorter than ours. */
smurf_train_config smurf_train_config_copy(const smurf_train_config *given);

#endif
