/* json_scan.c - see json_scan.h. */
#include "data/json_scan.h"

#include <string.h>

/* Longer numbers and names are mistakes; this is also how far the scanner looks ahead. */
enum { AHEAD = 512, STRING_LIMIT = 1 << 20 };

smurf_status smurf_json_blame(struct json *json, smurf_status status)
{
    if (json->field[0] && json->count)
        smurf_error_prefix(json->err, status, "%s, entry %zu: ", json->field, *json->count - json->before + 1);
    else if (json->field[0])
        smurf_error_prefix(json->err, status, "%s: ", json->field);
    return smurf_source_blame(json->source, status, json->err);
}

bool smurf_json_fail(struct json *json, const char *format, ...)
{
    if (json->status) return false;
    va_list args;
    va_start(args, format);
    json->status = smurf_failv(json->err, SMURF_ERROR_INPUT, format, args);
    va_end(args);
    smurf_json_blame(json, json->status);
    return false;
}

/* Ensures at least `want` unread bytes, unless the input ends. */
static bool need(struct json *json, size_t want)
{
    struct source *source = json->source;
    if (json->status) return false;
    if ((size_t)(source->end - source->p) >= want || source->eof) return true;
    if (json->lines && smurf_source_offset(source) - json->line_start > SOURCE_LINE_LIMIT)
        return smurf_json_fail(json, "line is longer than 1 GiB (cut the sequence into several)");
    if (!json->at_once) json->status = smurf_source_fill(source, want, json->err);
    /* No token spans lines: everything up to the end of the line is here. */
    while (json->at_once && !json->status && !source->eof) {
        size_t unread = (size_t)(source->end - source->p);
        if (unread >= want || memchr(source->p, '\n', unread)) break;
        json->status = smurf_source_fill(source, unread + 1, json->err);
    }
    return !json->status;
}

char smurf_json_peek(struct json *json)
{
    struct source *source = json->source;
    for (;;) {
        if (source->end - source->p < AHEAD && !need(json, AHEAD)) return 0;
        const char *p = source->p;
        while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') {
            if (*p++ == '\n') {
                source->line++;
                source->p = p;
                json->line_start = smurf_source_offset(source);
            }
        }
        source->p = p;
        if (p < source->end) {
            if (*p == '\0') return smurf_json_fail(json, "a NUL byte where JSON is expected"), '\0';
            return *p;
        }
        if (source->eof) return 0;
    }
}

static const char *describe(char c, char text[8])
{
    if (c == 0) return "the end of the file";
    text[0] = text[2] = '\'';
    text[1] = c;
    text[3] = '\0';
    return text;
}

bool smurf_json_take(struct json *json, char c)
{
    char found = smurf_json_peek(json), text[8];
    if (json->status) return false;
    if (found != c) return smurf_json_fail(json, "expected '%c' but found %s", c, describe(found, text));
    json->source->p++;
    return true;
}

bool smurf_json_more(struct json *json, char close, bool *first)
{
    char found = smurf_json_peek(json), text[8];
    if (json->status) return false;
    if (found == close) {
        json->source->p++;
        return false;
    }
    if (*first) {
        *first = false;
        return found ? true
                     : smurf_json_fail(json, "the file ends inside a value: it was cut off (fetch or write it again)");
    }
    if (found == 0)
        return smurf_json_fail(json, "the file ends inside a value: it was cut off (fetch or write it again)");
    if (found != ',') return smurf_json_fail(json, "expected ',' or '%c' but found %s", close, describe(found, text));
    json->source->p++;
    if (smurf_json_peek(json) == close) return smurf_json_fail(json, "trailing comma before '%c'", close);
    return !json->status;
}

/* JSON is stricter than smurf_decimal_scan: no leading + or zeros, digits on both sides of the point. */
static bool strict_number(const char *p, const char *end)
{
    if (*p == '-') p++;
    if (*p < '0' || *p > '9') return false;
    if (*p == '0' && p + 1 < end && p[1] >= '0' && p[1] <= '9') return false;
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end || *p != '.' || (p + 1 < end && p[1] >= '0' && p[1] <= '9');
}

bool smurf_json_number(struct json *json, struct decimal *d)
{
    char found = smurf_json_peek(json), text[8];
    if (json->status) return false;
    const char *p = json->source->p, *end = smurf_decimal_scan(d, p);
    if (!end || !strict_number(p, end)) {
        if (found == 'N' || found == 'n' || found == 'I' || found == '-')
            return smurf_json_fail(json, "expected a finite number but found '%.*s' (repair or remove the event)",
                                   (int)strspn(p, "-NnaInfityul"), p);
        return smurf_json_fail(json, "expected a number but found %s (repair or remove the event)",
                               describe(found, text));
    }
    if (end - p >= AHEAD) return smurf_json_fail(json, "a number of %d characters or more", AHEAD);
    json->source->p = end;
    return true;
}

static bool append(struct json *json, const char *text, size_t n)
{
    if (json->used + n + 1 > json->room && !smurf_grow(&json->scratch, &json->room, json->used + n + 1, 1)) {
        json->status = smurf_fail_memory(json->err);
        return false;
    }
    memcpy(json->scratch + json->used, text, n);
    json->used += n;
    return true;
}

static int hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *at = memchr(digits, p[i] | 32, 16);
        if (!at || p[i] < '0') return -1; /* a control character with that bit set looks like a digit */
        value = 16 * value + (int)(at - digits);
    }
    return value;
}

/* Appends a code point as UTF-8. */
static bool append_code(struct json *json, unsigned code)
{
    char out[4];
    size_t n = 0;
    if (code < 0x80) {
        out[n++] = (char)code;
    } else if (code < 0x800) {
        out[n++] = (char)(0xC0 | code >> 6);
        out[n++] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        out[n++] = (char)(0xE0 | code >> 12);
        out[n++] = (char)(0x80 | (code >> 6 & 63));
        out[n++] = (char)(0x80 | (code & 63));
    } else {
        out[n++] = (char)(0xF0 | code >> 18);
        out[n++] = (char)(0x80 | (code >> 12 & 63));
        out[n++] = (char)(0x80 | (code >> 6 & 63));
        out[n++] = (char)(0x80 | (code & 63));
    }
    return append(json, out, n);
}

/* The escape at p, after its backslash; at least 12 bytes or the pad are readable. */
static bool take_escape(struct json *json)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *p = json->source->p;
    const char *known = *p ? strchr(names, *p) : NULL;
    if (known) {
        json->source->p++;
        return append(json, &values[known - names], 1);
    }
    int code = *p == 'u' ? hex4(p + 1) : -1;
    if (code < 0) return smurf_json_fail(json, "an unknown escape '\\%c' in a string", *p);
    json->source->p += 5;
    if (code >= 0xD800 && code < 0xDC00 && p[5] == '\\' && p[6] == 'u') {
        int low = hex4(p + 7);
        if (low >= 0xDC00 && low < 0xE000) {
            json->source->p += 6;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;
    if (code == 0) code = 0xFFFD; /* names end at a NUL */
    return append_code(json, (unsigned)code);
}

bool smurf_json_string(struct json *json, size_t *at, size_t *n)
{
    if (!smurf_json_take(json, '"')) return false;
    struct source *source = json->source;
    *at = json->used;
    for (;;) {
        if (source->end - source->p < 16 && !need(json, AHEAD)) return false;
        const char *p = source->p;
        while (p < source->end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
        if (!append(json, source->p, (size_t)(p - source->p))) return false;
        source->p = p;
        if (json->used - *at > STRING_LIMIT) return smurf_json_fail(json, "a string longer than 1 MiB");
        if (p == source->end) {
            if (source->eof)
                return smurf_json_fail(json, "the file ends inside a string: it was cut off (fetch or write it again)");
        } else if (*p == '"') {
            break;
        } else if (*p != '\\') {
            return smurf_json_fail(json, "a line break or control character inside a string");
        } else {
            if (source->end - source->p < 16 && !need(json, AHEAD)) return false;
            source->p++;
            if (!take_escape(json)) return false;
        }
    }
    source->p++;
    *n = json->used - *at;
    return append(json, "", 1);
}

bool smurf_json_literal(struct json *json, size_t *at, size_t *n)
{
    char found = smurf_json_peek(json);
    if (json->status) return false;
    struct decimal d;
    *at = json->used;
    if (found == '-' || (found >= '0' && found <= '9')) {
        if (!smurf_json_number(json, &d)) return false;
        *n = d.length;
        return append(json, d.text, d.length) && append(json, "", 1);
    }
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        *n = strlen(words[i]);
        if (strncmp(json->source->p, words[i], *n) != 0) continue;
        json->source->p += *n;
        return append(json, words[i], *n) && append(json, "", 1);
    }
    return smurf_json_number(json, &d) &&
           smurf_json_fail(json, "expected a value"); /* smurf_json_number reports what was found */
}

/* Takes one scalar, or opens one bracket. */
static bool skip_scalar(struct json *json)
{
    size_t at, n, used = json->used;
    bool ok = smurf_json_peek(json) == '"' ? smurf_json_string(json, &at, &n) : smurf_json_literal(json, &at, &n);
    json->used = used;
    return ok;
}

bool smurf_json_skip(struct json *json)
{
    char close[JSON_DEPTH];
    bool first[JSON_DEPTH];
    int depth = 0;
    do {
        if (depth && !smurf_json_more(json, close[depth - 1], &first[depth - 1])) {
            depth--;
            continue;
        }
        if (depth && close[depth - 1] == '}' && !(skip_scalar(json) && smurf_json_take(json, ':'))) return false;
        char c = smurf_json_peek(json);
        if (c == '[' || c == '{') {
            if (depth == JSON_DEPTH) return smurf_json_fail(json, "values nested more than %d deep", JSON_DEPTH);
            json->source->p++;
            close[depth] = c == '[' ? ']' : '}';
            first[depth++] = true;
        } else if (!skip_scalar(json)) {
            return false;
        }
    } while (depth && !json->status);
    return !json->status;
}
