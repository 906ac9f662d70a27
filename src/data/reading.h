/*
 * reading.h - copies of smurf_reading, and its members one by one.
 */
#ifndef SMURF_DATA_READING_H
#define SMURF_DATA_READING_H

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>

/* The name of a member, as in model files; NULL past the last. */
const char *smurf_reading_member(size_t index);
/* Where the member's text is. */
const char **smurf_reading_text(smurf_reading *reading, size_t index);
/* Copies all texts into the arena. */
smurf_status smurf_reading_copy(smurf_reading *to, const smurf_reading *from, struct arena *arena, smurf_error *err);

/* Whether the times were read by a pattern without a year: they start in 1970 (time_format.h), so their hours are
   right, but their weekdays are not. */
bool smurf_reading_lacks_year(const smurf_reading *reading);

#endif
