/*
 * result.h - stores the result of a cell in a file, without loss of precision.
 */
#ifndef RESULT_H
#define RESULT_H

#include "cell.h"

/* False if the file is missing or invalid. */
bool result_read(struct result *out, const char *path);
/* Atomic. False on failure, with errno set. */
bool result_write(const struct result *result, const char *path);

#endif
