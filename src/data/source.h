/*
 * source.h - bytes of a file, standard input or memory, decompressed, through one growing window.
 *
 * A reader looks at [p, end) and advances p. When it needs more it calls smurf_source_fill, which keeps the unread
 * bytes and may move the window. SOURCE_PAD zero bytes always follow end, so a scanner may look ahead without checks.
 * Memory use is the size of the window, whatever the size of the input.
 */
#ifndef SMURF_DATA_SOURCE_H
#define SMURF_DATA_SOURCE_H

#include "base/progress.h"

#include <stdbool.h>

enum { SOURCE_PAD = 64 };
/* The longest line or record allowed. */
#define SOURCE_LINE_LIMIT ((size_t)1 << 30)

struct source {
    const char *name;           /* for messages; borrowed */
    bool from_path;             /* name is the path of a file, which may have companion files */
    const char *p, *end;        /* unread bytes */
    size_t line;                /* of p, from 1; maintained by the reader */
    bool eof;                   /* no input after end */
    struct progress *progress;  /* updated as bytes arrive; may be NULL */
    struct source_input *input; /* owned */
    char *window;               /* owned */
    size_t capacity;
    uint64_t before; /* bytes of (decompressed) input before the window's start */
    bool lasting;    /* memory that outlives what is made of it, which may use it in place */
    bool rows; /* a table, separated by commas: the names of its columns, which count as line 0, and one row a line */
};

/* path "-" is standard input. A directory, or a file that cannot be opened, is an error. */
smurf_status smurf_source_open(struct source *source, const char *path, struct progress *progress, smurf_error *err);
/* bytes are borrowed until the source is closed; they may be gzip. */
smurf_status smurf_source_open_memory(struct source *source, const void *bytes, size_t size, const char *name,
                                      smurf_error *err);
/* Reads through a caller's function; see smurf_read_fn. */
smurf_status smurf_source_open_reader(struct source *source, smurf_read_fn *read, void *context, const char *name,
                                      struct progress *progress, smurf_error *err);
/* Rows of a table, written as CSV by `pull`: up to `room` more bytes, *got is 0 at the end. The source takes over
   context and releases it, also after a failure here. */
typedef smurf_status source_pull(void *context, char *out, size_t room, size_t *got, smurf_error *err);
smurf_status smurf_source_open_rows(struct source *source, source_pull *pull, smurf_free_fn *release, void *context,
                                    const char *name, struct progress *progress, smurf_error *err);
/* Their context; NULL: another source. */
const void *smurf_source_rows(const struct source *source);
void smurf_source_close(struct source *source);

/* Reads until at least `want` bytes are unread, or the input ends (eof, fewer bytes). */
smurf_status smurf_source_fill(struct source *source, size_t want, smurf_error *err);

/* Skips the byte order mark of UTF-8. */
smurf_status smurf_source_skip_mark(struct source *source, smurf_error *err);

/* Reads up to n bytes from the middle of the file, without moving; *out is owned by the caller and padded. *got is 0
   unless the input is a regular file, not compressed, of which there is more than the window. */
smurf_status smurf_source_middle(const struct source *source, size_t n, char **out, size_t *got, smurf_error *err);

/* A whole input: mapped if it is a file that is not compressed, in place if it is lasting memory, else read. 8-byte
   aligned, as is lasting memory. */
struct whole {
    const char *p;
    size_t n;
    bool mapped, lent;
};
/* What is unread; for inputs of which nothing was taken yet. The caller releases *out, after the source was closed if
   need be. */
smurf_status smurf_source_whole(struct whole **out, struct source *source, smurf_error *err);
/* A smurf_free_fn of a struct whole, which may be NULL. */
void smurf_whole_release(void *whole);

/* The position of p in the (decompressed) input, in bytes. */
uint64_t smurf_source_offset(const struct source *source);

/* Fails with SMURF_ERROR_INPUT and "name:line: ..." */
smurf_status smurf_source_fail(const struct source *source, smurf_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prepends "name:line: " to the message of an SMURF_ERROR_INPUT from elsewhere; returns status. */
smurf_status smurf_source_blame(const struct source *source, smurf_status status, smurf_error *err);

#endif
