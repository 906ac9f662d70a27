/* error.c - see error.h. Touches only the caller's smurf_error. */
#include "base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Control characters in quoted input would break the line. */
static void make_plain(char *text)
{
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
}

/* A long name keeps its tail, which says more than its head. */
void smurf_error_about(smurf_error *err, const char *file, uint64_t line)
{
    size_t n = strlen(file), room = sizeof err->file - 1;
    if (!err) return;
    snprintf(err->file, sizeof err->file, "%s", n > room ? file + n - room : file);
    err->line = line;
}

smurf_status smurf_failv(smurf_error *err, smurf_status status, const char *format, va_list args)
{
    if (!err) return status;
    memset(err, 0, offsetof(smurf_error, message));
    memset(err->reserved, 0, sizeof err->reserved);
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, args);
    make_plain(err->message);
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
    snprintf(why, sizeof why, "%s", strerror_r(code, room, sizeof room)); /* GNU version: returns the text */
    why[0] = (char)tolower((unsigned char)why[0]);
    smurf_fail(err, SMURF_ERROR_IO, "cannot %s '%.800s': %s", doing, path, why);
    smurf_error_about(err, path, 0);
    return SMURF_ERROR_IO;
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

smurf_status smurf_fail_at(smurf_error *err, const char *file, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    smurf_failv(err, SMURF_ERROR_INPUT, format, args);
    va_end(args);
    return smurf_error_place(err, SMURF_ERROR_INPUT, file, line);
}

smurf_status smurf_error_prefix(smurf_error *err, smurf_status status, const char *format, ...)
{
    if (status != SMURF_ERROR_INPUT || !err) return status;
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof message) snprintf(message + n, sizeof message - (size_t)n, "%s", err->message);
    memcpy(err->message, message, sizeof message);
    make_plain(err->message);
    return status;
}

smurf_status smurf_error_place(smurf_error *err, smurf_status status, const char *file, uint64_t line)
{
    if (status != SMURF_ERROR_INPUT || !err) return status;
    smurf_error_about(err, file, line);
    if (line) return smurf_error_prefix(err, status, "%.500s:%" PRIu64 ": ", file, line);
    return smurf_error_prefix(err, status, "%.500s: ", file);
}
