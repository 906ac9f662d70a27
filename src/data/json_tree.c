/* json_tree.c - see json_tree.h. A recursive descent parser; NULL means failure, described in the parser. */
#include "data/json_tree.h"

#include "base/memory.h"
#include "data/number.h"
#include "data/sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *p, *end;
    const char *why; /* NULL: no error, or out of memory */
    bool no_memory;
};

static void *fail(struct parser *s, const char *why)
{
    if (!s->no_memory && !s->why) s->why = why;
    return NULL;
}

static void *out_of_memory(struct parser *s)
{
    s->no_memory = true;
    return NULL;
}

/* The next non-blank character; 0 at the end. */
static char peek(struct parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || *s->p == '\n')) s->p++;
    return s->p < s->end ? *s->p : '\0';
}

static bool take(struct parser *s, char c)
{
    if (peek(s) != c) return false;
    s->p++;
    return true;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Four hexadecimal digits before `end`; -1 if there are not. */
static int hex4(const char *p, const char *end)
{
    int value = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    return value;
}

static size_t put_utf8(char *out, unsigned code)
{
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 63));
    out[0] = (char)(lead[n] | code);
    return n;
}

/* The escape at *p, after its backslash. Returns the number of bytes written, 0 if it is invalid. */
static size_t unescape(const char **p, const char *end, char *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *known = **p ? strchr(names, **p) : NULL;
    if (known) {
        *out = values[known - names];
        (*p)++;
        return 1;
    }
    int code = **p == 'u' ? hex4(*p + 1, end) : -1;
    if (code <= 0) return 0;
    *p += 5;
    if (code >= 0xD800 && code < 0xDC00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int low = hex4(*p + 2, end);
        if (low < 0xDC00 || low >= 0xE000) return 0;
        *p += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
        return 0;
    }
    return put_utf8(out, (unsigned)code);
}

/* Unescapes [p, end) into out, which has room for as many bytes and a NUL. */
static bool copy_string(struct parser *s, const char *p, const char *end, char *out)
{
    char *to = out;
    while (p < end) {
        size_t n = 1;
        if (*p != '\\')
            *to = *p++;
        else if (p++, !(n = unescape(&p, end, to)))
            return fail(s, "an invalid escape in a string");
        to += n;
    }
    *to = '\0';
    return smurf_utf8_valid(out) || fail(s, "a string is not UTF-8");
}

/* The string at p, to be freed by the caller. */
static char *string(struct parser *s)
{
    if (!take(s, '"')) return fail(s, "a string is expected");
    const char *from = s->p, *p = from;
    for (; p < s->end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) return s->p = p, fail(s, "a control character in a string");
        if (*p == '\\' && p + 1 < s->end) p++;
    }
    if (p >= s->end) return s->p = s->end, fail(s, "the text ends inside a string");
    char *out = malloc((size_t)(p - from) + 1);
    if (!out) return out_of_memory(s);
    if (!copy_string(s, from, p, out)) {
        free(out);
        return NULL;
    }
    s->p = p + 1;
    return out;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static size_t digits(const char *p)
{
    size_t n = 0;
    while (p[n] >= '0' && p[n] <= '9') n++;
    return n;
}

/* The length of the number at the start of text, 0 if none. *whole: it has neither point nor exponent. */
static size_t number_length(const char *text, bool *whole)
{
    const char *p = text + (*text == '-');
    size_t n = digits(p);
    if (n == 0 || (*p == '0' && n > 1)) return 0;
    p += n;
    *whole = *p != '.' && *p != 'e' && *p != 'E';
    if (*p == '.') {
        if (!(n = digits(p + 1))) return 0;
        p += 1 + n;
    }
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '+' || p[1] == '-');
        if (!(n = digits(p))) return 0;
        p += n;
    }
    return (size_t)(p - text);
}

static json_t *number(struct parser *s)
{
    char text[128]; /* NUL-terminated, which the text need not be */
    size_t room = (size_t)(s->end - s->p) < sizeof text - 1 ? (size_t)(s->end - s->p) : sizeof text - 1;
    bool whole = false;
    struct decimal d;
    memcpy(text, s->p, room);
    text[room] = '\0';
    size_t n = number_length(text, &whole);
    if (n == 0) return fail(s, "expected a value");
    if (n == sizeof text - 1 || !smurf_decimal_scan(&d, text)) return fail(s, "a number that is too long");
    s->p += n;
    if (!whole) {
        double x = smurf_decimal_value(&d);
        return isfinite(x) ? json_real(x) : fail(s, "a number that is too large");
    }
    errno = 0;
    long long integer = strtoll(text, NULL, 10);
    return errno ? fail(s, "a number that is too large") : json_integer(integer);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static json_t *value(struct parser *s, int depth);

static json_t *array(struct parser *s, int depth)
{
    json_t *out = json_array();
    if (!out || take(s, ']')) return out;
    do {
        json_t *item = value(s, depth);
        if (!item || json_array_append_new(out, item)) return json_decref(out), item ? out_of_memory(s) : NULL;
    } while (take(s, ','));
    if (take(s, ']')) return out;
    json_decref(out);
    return fail(s, "expected ',' or ']'");
}

/* Adds one member; false on failure. */
static bool member(struct parser *s, json_t *object, int depth)
{
    char *key = string(s);
    json_t *item = NULL;
    if (key && json_object_get(object, key))
        fail(s, "a duplicate key");
    else if (key && !take(s, ':'))
        fail(s, "expected ':'");
    else if (key)
        item = value(s, depth);
    bool good = item && json_object_set_new_nocheck(object, key, item) == 0;
    if (item && !good) out_of_memory(s);
    free(key);
    return good;
}

static json_t *object(struct parser *s, int depth)
{
    json_t *out = json_object();
    if (!out || take(s, '}')) return out;
    do {
        if (!member(s, out, depth)) return json_decref(out), NULL;
    } while (take(s, ','));
    if (take(s, '}')) return out;
    json_decref(out);
    return fail(s, "expected ',' or '}'");
}

static bool word(struct parser *s, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0) return false;
    s->p += n;
    return true;
}

static json_t *value(struct parser *s, int depth)
{
    char c = peek(s);
    json_t *out = NULL;
    if (depth == JSON_TREE_DEPTH) return fail(s, "too many levels");
    if (c == '{' || c == '[') {
        s->p++;
        out = c == '{' ? object(s, depth + 1) : array(s, depth + 1);
    } else if (c == '"') {
        char *text = string(s);
        out = text ? json_string_nocheck(text) : NULL;
        free(text);
    } else if (word(s, "null")) {
        out = json_null();
    } else if (word(s, "true")) {
        out = json_true();
    } else {
        out = word(s, "false") ? json_false() : number(s);
    }
    return out || s->why ? out : out_of_memory(s);
}

smurf_status smurf_json_tree(json_t **out, const char *text, size_t n, struct json_fault *fault)
{
    struct parser s = {.p = text, .end = text + n};
    *out = value(&s, 0);
    if (*out && peek(&s) == '\0' && s.p == s.end) return SMURF_OK;
    json_decref(*out);
    if (*out) s.why = "trailing data after the value";
    *out = NULL;
    *fault = (struct json_fault){s.why, (size_t)(s.p - text)};
    return s.no_memory ? SMURF_ERROR_MEMORY : SMURF_ERROR_INPUT;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t n, room;
    bool failed; /* jansson does not check every call */
};

static int add(const char *bytes, size_t n, void *context)
{
    struct text *t = context;
    if (!t->failed) t->failed = !smurf_grow(&t->bytes, &t->room, t->n + n + 1, 1);
    if (t->failed) return -1;
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
    return 0;
}

char *smurf_json_text(const json_t *json)
{
    struct text t = {0};
    if (json && json_dump_callback(json, add, &t, JSON_COMPACT) == 0 && !t.failed) return t.bytes;
    free(t.bytes);
    return NULL;
}
