/*
 * result.h - what a cell of a comparison came to, as a file that gives the same numbers back.
 */
#ifndef RESULT_H
#define RESULT_H

#include "cell.h"

/* False where there is none, or none that can be read. */
bool result_read(struct result *out, const char *path);
/* Whole or not at all; false: errno tells why. */
bool result_write(const struct result *result, const char *path);

#endif
