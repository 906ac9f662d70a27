/*
 * parameter.h - processes and their parameters as words: "hawkes base=0.2 decay=1,2".
 */
#ifndef PARAMETER_H
#define PARAMETER_H

#include "smurf_lab.h"

enum { PARAMETERS_MOST = 8 };

/* "decay=1,2.5" into a parameter, which borrows the text; its values are the caller's to free. A usage error where it
   is none. */
smurf_parameter parse_parameter(char *text);
/* A process by name and parameters, with spaces between; a usage error where it is none. */
smurf_process *parse_process(const char *text, uint32_t types);

#endif
