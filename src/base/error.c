/* error.c - see error.h. Touches nothing but the caller's smurf_error. */
#include "base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

smurf_status smurf_failv(smurf_error *err, smurf_status status, const char *format, va_list args)
{
    if (!err) return status;
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, args);
    for (char *c = err->message; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    return status;
}

smurf_status smurf_fail(smurf_error *err, smurf_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    smurf_failv(err, status, format, args);
    va_end(args);
    return status;
}

smurf_status smurf_fail_errno(smurf_error *err, const char *doing, const char *path, int code)
{
    char room[128], why[128];
    snprintf(why, sizeof why, "%s", strerror_r(code, room, sizeof room)); /* GNU's, which returns the text */
    why[0] = (char)tolower((unsigned char)why[0]);
    return smurf_fail(err, SMURF_ERROR_IO, "cannot %s '%.800s': %s", doing, path, why);
}

smurf_status smurf_fail_memory(smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_MEMORY, "out of memory");
}

char *smurf_list_names(char out[LIST_TEXT], const char *(*name)(size_t index), const char *last)
{
    out[0] = '\0';
    for (size_t i = 0, n = 0; name(i) && n < LIST_TEXT; i++) {
        bool is_last = last && i > 0 && !name(i + 1);
        n += (size_t)snprintf(out + n, LIST_TEXT - n, "%s%s%s%s", i == 0 || is_last ? "" : ", ", is_last ? " " : "",
                              is_last ? last : "", is_last ? " " : "");
        if (n < LIST_TEXT) n += (size_t)snprintf(out + n, LIST_TEXT - n, "%s", name(i));
    }
    return out;
}
