/* stream.c - see stream.h. */
#include "stream.h"

#include "terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read at a time; a line longer than LINE_MOST is refused. */
enum { BLOCK = 1 << 16, LINE_MOST = 1 << 28 };

struct stream {
    const struct dataset_options *options;
    stream_fn *take;
    void *context;
    char *text; /* the header of a table, then lines, whole but for the last */
    size_t n, room;
    size_t header; /* bytes of it; 0: none yet */
    bool known;    /* whether it is a table */
    bool table;
};

static int make_room(struct stream *s)
{
    if (s->room - s->n >= BLOCK) return 0;
    size_t room = 2 * s->room + BLOCK;
    if (room > LINE_MOST) return report_failure("standard input has a line of more than %d bytes", LINE_MOST / 2);
    char *text = realloc(s->text, room);
    if (!text) return report_failure("out of memory");
    s->text = text;
    s->room = room;
    return 0;
}

/* The first character that is no blank tells a table from JSON. */
static void look(struct stream *s)
{
    size_t i = 0;
    while (i < s->n && strchr(" \t\r\n", s->text[i])) i++;
    if (i == s->n) return;
    s->known = true;
    s->table = s->text[i] != '{' && s->text[i] != '[';
}

/* Hands over the whole lines up to `end`; what comes after moves to the front. */
static int hand_over(struct stream *s, size_t end)
{
    smurf_read_config config;
    smurf_data *piece;
    smurf_error err;
    dataset_read_config(&config, s->options);
    config.progress = NULL;
    if (!config.format) config.format = s->table ? SMURF_FORMAT_AUTO : SMURF_FORMAT_JSONL;
    if (smurf_data_read_memory(&piece, s->text, end, "standard input", &config, &err)) return report_error(&err);
    int status = s->take(s->context, piece, s->table);
    smurf_data_free(piece);
    memmove(s->text + s->header, s->text + end, s->n - end);
    s->n -= end - s->header;
    return status;
}

/* The last newline before `n`, counted from after the header; 0: there is none. */
static size_t last_line_end(const struct stream *s)
{
    for (size_t i = s->n; i > s->header; i--)
        if (s->text[i - 1] == '\n') return i;
    return 0;
}

static int work_off(struct stream *s, bool at_end)
{
    if (!s->known) look(s);
    if (!s->known) return 0;
    if (s->table && !s->header) {
        const char *newline = memchr(s->text, '\n', s->n);
        if (!newline) return at_end ? hand_over(s, s->n) : 0;
        s->header = (size_t)(newline - s->text) + 1;
    }
    size_t end = at_end ? s->n : last_line_end(s);
    return end > s->header ? hand_over(s, end) : 0;
}

int stream_input(const struct dataset_options *options, stream_fn *take, void *context)
{
    struct stream s = {.options = options, .take = take, .context = context};
    int status = 0;
    for (ssize_t n = 1; n > 0 && !status;) {
        status = make_room(&s);
        if (status) break;
        n = read(STDIN_FILENO, s.text + s.n, BLOCK);
        if (n < 0 && errno == EINTR && !terminal_stopped()) {
            n = 1;
            continue;
        }
        if (n < 0) {
            status = terminal_stopped() ? 1 : report_failure("cannot read standard input: %s", strerror(errno));
            break;
        }
        s.n += (size_t)n;
        status = work_off(&s, n == 0);
        if (!status && terminal_stopped()) status = 1;
    }
    free(s.text);
    return status;
}
