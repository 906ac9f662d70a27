/*
 * rmtpp.h - the two files of RMTPP text; see rmtpp.c.
 */
#ifndef SMURF_DATA_RMTPP_H
#define SMURF_DATA_RMTPP_H

#include "data/format.h"

/* The path of the types for that of the times ("time-train.txt": "event-train.txt"), freed by the caller; NULL if the
   name has no "time". Fails only if out of memory. */
smurf_status smurf_rmtpp_companion(char **out, const char *path, smurf_error *err);

/* Reads both, line by line. */
smurf_status smurf_rmtpp_read_pair(struct source *times, struct source *events, struct builder *builder,
                                   smurf_error *err);

#endif
