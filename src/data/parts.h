/*
 * parts.h - several files of one format as one data set: what one file with the contents of all, one after the other,
 * would be.
 *
 * In a group of processes (base/ranks.h) each parses its share. What it parsed travels as a packed file, and the events
 * are kept outside of memory.
 */
#ifndef SMURF_DATA_PARTS_H
#define SMURF_DATA_PARTS_H

#include "data/data.h"

/* Reads n files in this order, all with the columns of the first. types_of: as for smurf_format_read_path. In a group,
   all must call it with the same. */
smurf_status smurf_parts_read(smurf_data **out, char *const *path, size_t n, const smurf_data *types_of,
                              const smurf_read_config *config, smurf_error *err);
/* Fails if two parts of a data set differ in their clock. A part without events has none; one without a unit matches
   any. */
smurf_status smurf_parts_check_clock(const smurf_data *first, const smurf_data *part, smurf_error *err);

#endif
