/*
 * parameter.h - parses processes and their parameters: "hawkes base=0.2 decay=1,2".
 */
#ifndef PARAMETER_H
#define PARAMETER_H

#include "smurf_lab.h"

enum { PARAMETERS_MOST = 8 };

/* Parses "decay=1,2.5". The parameter borrows the text; the caller frees its values. A usage error if invalid. */
smurf_parameter parse_parameter(char *text);
/* Parses a name and parameters, separated by spaces. A usage error if invalid. */
smurf_process *parse_process(const char *text, uint32_t types);

#endif
