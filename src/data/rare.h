/*
 * rare.h - types with few events become one type, "other".
 *
 * A model cannot learn a type from a handful of events, and every type costs a row of weights. Done once all parts of a
 * data set are read; the first part, train, decides. "other" also stands for types that a model does not know
 * (model/match.c).
 */
#ifndef SMURF_DATA_RARE_H
#define SMURF_DATA_RARE_H

#include "base/error.h"
#include "data/data.h"

#define OTHER_NAME "other"

/* With this many types or fewer, all are kept. */
enum { RARE_TYPES_KEPT = 1000 };

/* part: (n) data sets with the same types; NULL for none. Types with fewer than `least` events in part[0] are merged,
   and a remark says so. Numbered types become words. Nothing changes if part[0] has few types, or none is rare. */
smurf_status smurf_rare_merge(smurf_data *const part[], size_t n, size_t least, smurf_error *err);

/* The number of the type named "other"; the number of types if there is none. */
uint32_t smurf_other_type(const char *const *type_name, uint32_t types);

#endif
