/* parameter.c - see parameter.h. */
#include "parameter.h"

#include "option.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

smurf_parameter parse_parameter(char *text)
{
    char *equals = strchr(text, '=');
    if (!equals) usage_error("'%s' is not a parameter: write NAME=VALUE or NAME=VALUE,VALUE,...", text);
    *equals = '\0';
    size_t count = 1;
    for (char *p = equals + 1; *p; p++) count += *p == ',';
    double *values = malloc(count * sizeof *values);
    if (!values) out_of_memory();
    char *p = equals + 1, *end;
    for (size_t i = 0; i < count; i++, p = end + 1) {
        values[i] = strtod(p, &end);
        if (end == p || (*end && *end != ',')) usage_error("parameter '%s': '%s' is not a number", text, p);
    }
    return (smurf_parameter){text, values, count};
}

/* The next word, terminated in place; advances *text. NULL at the end. */
static char *next_word(char **text)
{
    *text += strspn(*text, " \t");
    if (!**text) return NULL;
    char *word = *text;
    *text += strcspn(*text, " \t");
    if (**text) *(*text)++ = '\0';
    return word;
}

smurf_process *parse_process(const char *text, uint32_t types)
{
    smurf_parameter parameter[PARAMETERS_MOST];
    smurf_process *process;
    smurf_error err;
    size_t n = 0;
    char *copy = strdup(text), *rest = copy;
    if (!copy) out_of_memory();
    char *name = next_word(&rest);
    if (!name) usage_error("--process takes a process name and parameters, such as \"hawkes base=0.2\"");
    for (char *word; (word = next_word(&rest)) && n < PARAMETERS_MOST;) parameter[n++] = parse_parameter(word);
    smurf_status status = smurf_process_new(&process, name, types, parameter, n, &err);
    if (status == SMURF_ERROR_MEMORY) out_of_memory();
    if (status) usage_error("--process: %s", err.message);
    for (size_t i = 0; i < n; i++) free((void *)parameter[i].values);
    free(copy);
    return process;
}
