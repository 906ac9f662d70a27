/* reading.c - see reading.h. */
#include "data/reading.h"

#include <string.h>

static const struct {
    const char *name;
    size_t at;
} member[] = {
    {"format", offsetof(smurf_reading, format)},
    {"time_column", offsetof(smurf_reading, time_column)},
    {"time_format", offsetof(smurf_reading, time_format)},
    {"timezone", offsetof(smurf_reading, timezone)},
    {"sequence_column", offsetof(smurf_reading, sequence_column)},
    {"type_column", offsetof(smurf_reading, type_column)},
    {"missing", offsetof(smurf_reading, missing)},
    {"delimiter", offsetof(smurf_reading, delimiter)},
    {"header", offsetof(smurf_reading, header)},
    {"text", offsetof(smurf_reading, text)},
    {"table", offsetof(smurf_reading, table)},
    {"query", offsetof(smurf_reading, query)},
    {"features", offsetof(smurf_reading, features)},
};

const char *smurf_reading_member(size_t i)
{
    return i < sizeof member / sizeof *member ? member[i].name : NULL;
}

const char **smurf_reading_text(smurf_reading *r, size_t i)
{
    return (const char **)(void *)((char *)r + member[i].at);
}

bool smurf_reading_lacks_year(const smurf_reading *r)
{
    const char *format = r->time_format;
    if (!format || !strchr(format, '%') || strchr(format, '@')) return false;
    for (const char *p = format; (p = strchr(p, '%')) && p[1]; p += 2)
        if (strchr("YyFDs", p[1])) return false;
    return true;
}

smurf_status smurf_reading_copy(smurf_reading *to, const smurf_reading *from, struct arena *arena, smurf_error *err)
{
    *to = *from;
    for (size_t i = 0; smurf_reading_member(i); i++) {
        const char **text = smurf_reading_text(to, i);
        if (*text && !(*text = smurf_arena_text(arena, *text, strlen(*text)))) return smurf_fail_memory(err);
    }
    if (to->others && !(to->others = smurf_arena_text(arena, to->others, strlen(to->others))))
        return smurf_fail_memory(err);
    return SMURF_OK;
}
