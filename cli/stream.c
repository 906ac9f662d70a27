/*
 * stream.c - see stream.h. What the input is, is told by its first characters, or by --from; a piece ends where a
 * record does: a row whose quotes are closed, a line behind a whole value of JSON.
 */
#include "stream.h"

#include "terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read at a time; a record longer than half of RECORD_MOST is refused. */
enum { BLOCK = 1 << 16, RECORD_MOST = 1 << 28 };

enum kind {
    UNKNOWN,
    WHOLE,  /* taken at its end: gzip, pickle, RMTPP text, an array of JSON */
    TABLE,  /* a header, then an event a row */
    VALUES, /* values of JSON, of which the first has not come yet */
    LINES,  /* of JSON, a sequence each */
    ROWS,   /* of JSON, an event each */
};

struct stream {
    const struct dataset_options *options;
    stream_fn *take;
    void *context;
    char *text; /* the header of a table, then records, whole but for the last */
    size_t n, room;
    size_t header;               /* bytes of it; 0: none yet */
    size_t header_lines, passed; /* lines of the header; lines that were handed over, without it */
    enum kind kind;
    size_t scanned, cut;          /* bytes that were searched; where the last whole record of them ends */
    char delimiter;               /* of a table; 0: not known yet */
    bool quoted, escaped, begins; /* inside quotes; after a backslash, or a quote inside quotes; at a field's start */
    size_t depth;                 /* of JSON */
    bool has_times;               /* the first value has a list of times */
    size_t names_from, names_to;  /* where its list of names of types is; 0: none */
};

static int make_room(struct stream *s)
{
    if (s->room - s->n >= BLOCK) return 0;
    size_t room = 2 * s->room + BLOCK;
    if (room > RECORD_MOST && s->kind != WHOLE)
        return report_failure("standard input has a line of more than %d bytes (is a closing quote missing?)",
                              RECORD_MOST / 2);
    char *text = realloc(s->text, room);
    if (!text) return report_failure("out of memory");
    s->text = text;
    s->room = room;
    return 0;
}

/* ---- What it is ------------------------------------------------------------------------------ */

static enum kind kind_named(const char *format)
{
    if (!format) return UNKNOWN;
    if (strcmp(format, "csv") == 0 || strcmp(format, "tsv") == 0) return TABLE;
    return strcmp(format, "jsonl") == 0 ? VALUES : WHOLE;
}

/* The first character that is no blank tells. */
static void look(struct stream *s)
{
    size_t i = s->n >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < s->n && strchr(" \t\r\n", s->text[i]) && s->text[i]) i++;
    if (i == s->n) return;
    unsigned char c = (unsigned char)s->text[i];
    if (c == '{')
        s->kind = VALUES;
    else if (c == 0x1f || c == 0x80 || c == '[' || c == '(' || strchr("0123456789.-", c))
        s->kind = WHOLE;
    else
        s->kind = TABLE;
}

/* The name of the list that opens at `at`, or "". */
static const char *list_name(const struct stream *s, size_t at, char out[64])
{
    size_t end = at;
    out[0] = '\0';
    while (end > 0 && strchr(" \t\r\n:", s->text[end - 1])) end--;
    if (end < 2 || s->text[end - 1] != '"') return out;
    size_t from = --end;
    while (from > 0 && s->text[from - 1] != '"') from--;
    if (end - from < 64) snprintf(out, 64, "%.*s", (int)(end - from), s->text + from);
    return out;
}

/* A list in the first value: one of times makes it a sequence; names of types hold for what follows, too. */
static void look_at_list(struct stream *s, size_t at)
{
    char text[64];
    const char *name = list_name(s, at, text), *time = s->options->time;
    if (strstr(name, "time") || (time && strcmp(name, time) == 0)) s->has_times = true;
    if (strcmp(name, "type_names") == 0 && !s->names_to) s->names_from = at;
}

/* ---- Where records end ----------------------------------------------------------------------- */

/* Values of JSON end on a line end outside all braces. The first tells sequences from events: its times are a list. */
static void scan_json(struct stream *s)
{
    for (; s->scanned < s->n; s->scanned++) {
        char c = s->text[s->scanned];
        if (s->quoted) {
            s->quoted = s->escaped || c != '"';
            s->escaped = !s->escaped && c == '\\';
        } else if (c == '"') {
            s->quoted = true;
        } else if (c == '{' || c == '[') {
            if (s->kind == VALUES && s->depth == 1 && c == '[') look_at_list(s, s->scanned);
            if (s->kind == VALUES && s->depth == 2 && c == '{') s->has_times = true; /* lists of sequences */
            s->depth++;
        } else if ((c == '}' || c == ']') && s->depth > 0) {
            s->depth--;
            if (s->kind == VALUES && s->depth == 1 && s->names_from && !s->names_to) s->names_to = s->scanned + 1;
            if (s->kind == VALUES && s->depth == 0) s->kind = s->has_times ? LINES : ROWS;
        } else if (c == '\n' && s->depth == 0) {
            s->cut = s->scanned + 1;
        }
    }
}

/* As the reader does: quotes open a field at its start, blanks aside, and are doubled inside. */
static void scan_table(struct stream *s)
{
    for (; s->scanned < s->n; s->scanned++) {
        char c = s->text[s->scanned];
        if (s->quoted && !s->escaped) {
            s->escaped = c == '"';
            continue;
        }
        if (s->escaped && c == '"') {
            s->escaped = false;
            continue;
        }
        s->quoted = s->escaped = false;
        if (c == '\n') {
            s->cut = s->scanned + 1;
            if (!s->header) return;
        }
        if (c == '"' && s->begins)
            s->quoted = true;
        else if (c != ' ')
            s->begins = c == '\n' || (s->delimiter ? c == s->delimiter : c && strchr(",\t;|", c) != NULL);
    }
}

static bool is_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r\n", p[i]) || !p[i]) return false;
    return true;
}

/* The header is the first record that is not empty; empty ones before it count as part of it. */
static void scan_header(struct stream *s)
{
    static const char candidate[] = "\t,;|";
    while (!s->header) {
        size_t before = s->cut;
        scan_table(s);
        if (s->cut == before) return;
        s->scanned = s->cut;
        s->begins = true;
        if (is_blank(s->text + before, s->cut - before)) continue;
        s->header = s->cut;
        for (const char *c = candidate; *c && !s->delimiter; c++)
            if (memchr(s->text + before, *c, s->cut - before)) s->delimiter = *c;
        if (!s->delimiter) s->delimiter = ',';
        for (size_t i = 0; i < s->header; i++) s->header_lines += s->text[i] == '\n';
    }
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Lines are counted from where the piece begins; the user counts them from the beginning. */
static int report_at_line(const struct stream *s, const smurf_error *err)
{
    if (err->line <= s->header_lines) return report_error(err);
    int place = snprintf(NULL, 0, "%s:%" PRIu64, err->file, err->line);
    uint64_t line = err->line + s->passed - (s->kind == LINES ? s->header_lines : 0); /* there the header is ours */
    return report_failure("%s:%" PRIu64 "%s", err->file, line, err->message + place);
}

/* Names of types stand in the first of lines of JSON: for the pieces that follow, an empty sequence with these names is
   the header. */
static char *header_of_names(const struct stream *s)
{
    static const char form[] = "{\"type_names\":%.*s,\"%s\":[],\"%s\":[]}\n";
    const char *time = s->options->time ? s->options->time : "times", *type = s->options->type;
    size_t list = s->names_to - s->names_from, n = list + strlen(time) + (type ? strlen(type) : 5) + sizeof form;
    char *text = malloc(n);
    if (text) snprintf(text, n, form, (int)list, s->text + s->names_from, time, type ? type : "types");
    return text;
}

/* Puts it before what has not been handed over. */
static int put_header(struct stream *s, char *text)
{
    size_t n = strlen(text);
    char *grown = realloc(s->text, s->room + n);
    if (grown) {
        s->text = grown;
        s->room += n;
        memmove(s->text + n, s->text, s->n);
        memcpy(s->text, text, n);
        s->n += n;
        s->scanned += n;
        s->cut = s->header = n;
        s->header_lines = 1;
    }
    free(text);
    return grown ? 0 : report_failure("out of memory");
}

/* Hands over the records up to `end`; what comes after moves to the front. */
static int hand_over(struct stream *s, size_t end)
{
    smurf_read_config config;
    smurf_data *piece;
    smurf_error err;
    dataset_read_config(&config, s->options);
    config.progress = NULL;
    if (!config.format && (s->kind == LINES || s->kind == ROWS)) config.format = "jsonl";
    if (smurf_data_read_memory(&piece, s->text, end, "standard input", &config, &err)) return report_at_line(s, &err);
    int status = s->take(s->context, piece, s->kind == TABLE || s->kind == ROWS, s->kind == LINES && s->header ? 1 : 0);
    smurf_data_free(piece);
    for (size_t i = s->header; i < end; i++) s->passed += s->text[i] == '\n';
    char *names = s->kind == LINES && !s->header && s->names_to ? header_of_names(s) : NULL;
    memmove(s->text + s->header, s->text + end, s->n - end);
    s->n -= end - s->header;
    s->scanned -= end - s->header;
    s->cut = s->header;
    if (names && put_header(s, names) && !status) status = 1;
    return status;
}

static int work_off(struct stream *s, bool at_end)
{
    if (s->kind == UNKNOWN) look(s);
    if (s->kind == TABLE && !s->header) scan_header(s);
    if (s->kind == TABLE && s->header) scan_table(s);
    if (s->kind >= VALUES) scan_json(s);
    if (at_end) {
        s->scanned = s->n;
        bool none = s->passed == 0; /* then the reader says what is missing */
        return none || !is_blank(s->text + s->header, s->n - s->header) ? hand_over(s, s->n) : 0;
    }
    if (s->kind == UNKNOWN || s->kind == WHOLE || s->cut <= s->header) return 0;
    /* Empty lines alone are no piece. */
    return is_blank(s->text + s->header, s->cut - s->header) ? 0 : hand_over(s, s->cut);
}

int stream_input(const struct dataset_options *options, stream_fn *take, void *context)
{
    struct stream s = {
        .options = options, .take = take, .context = context, .begins = true, .kind = kind_named(options->from)};
    int status = 0;
    for (ssize_t n = 1; n > 0 && !status;) {
        status = make_room(&s);
        if (status) break;
        n = read(STDIN_FILENO, s.text + s.n, BLOCK);
        if (n < 0 && errno == EINTR && !terminal_stopped()) {
            n = 1;
            continue;
        }
        if (n < 0 && !terminal_stopped()) {
            status = report_failure("cannot read standard input: %s", strerror(errno));
            break;
        }
        if (n > 0) s.n += (size_t)n;
        if (n >= 0) status = work_off(&s, n == 0);
        if (!status && terminal_stopped()) status = report_failure("stopped while reading standard input");
    }
    free(s.text);
    return status;
}
