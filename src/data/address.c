/*
 * address.c - addresses of databases, and how they are shown: without passwords.
 *
 *     postgresql://user:password@host:port/database?key=value&key=value
 */
#include "data/database.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What follows the scheme; NULL: no address. */
static const char *behind_scheme(const char *path)
{
    static const char *const scheme[] = {"postgresql://", "postgres://"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++)
        if (strncmp(path, scheme[i], strlen(scheme[i])) == 0) return path + strlen(scheme[i]);
    return NULL;
}

bool smurf_address_is(const char *path)
{
    return behind_scheme(path) != NULL;
}

/* The part before the host has the only '@', and nothing that begins a later part. */
bool smurf_address_is_clear(const char *address)
{
    const char *p = behind_scheme(address), *at = p ? strchr(p, '@') : NULL;
    return p && (!at || (!strchr(at + 1, '@') && strcspn(p, "/?#") > (size_t)(at - p)));
}

/* Is this "key=value" of a query a secret? A key with an escape may be one. */
static bool is_secret(const char *p, size_t n)
{
    static const char *const part[] = {"password", "secret", "%"};
    const char *equals = memchr(p, '=', n);
    size_t key = equals ? (size_t)(equals - p) : n;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (size_t k = 0; k + strlen(part[i]) <= key; k++)
            if (strncasecmp(p + k, part[i], strlen(part[i])) == 0) return true;
    return false;
}

static char *put(char *out, const char *text, size_t n)
{
    memcpy(out, text, n);
    return out + n;
}

/* The pairs of a query that are no secrets. */
static char *put_query(char *out, const char *p)
{
    char mark = '?';
    for (bool last = false; !last; p++) {
        size_t n = strcspn(p, "&");
        if (!is_secret(p, n)) {
            *out++ = mark;
            out = put(out, p, n);
            mark = '&';
        }
        p += n;
        last = !*p;
    }
    return out;
}

char *smurf_path_shown(char *shown, const char *path)
{
    const char *p = behind_scheme(path);
    if (!p) return strcpy(shown, path);
    char *out = put(shown, path, (size_t)(p - path));
    const char *at = strchr(p, '@');
    if (!smurf_address_is_clear(path)) {
        strcpy(out, "*");
        return shown;
    }
    if (at) {
        out = put(out, p, strcspn(p, ":@"));
        p = at;
    }
    size_t n = strcspn(p, "?");
    out = put(out, p, n);
    if (p[n]) out = put_query(out, p + n + 1);
    *out = '\0';
    return shown;
}
