/* source.c - see source.h. The only file that reads file descriptors, decompresses gzip or sees UTF-16. */
#include "data/source.h"

#include "data/encoding.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if SMURF_HAVE_ZLIB
#include <zlib.h>
#endif

enum { WINDOW = 256 * 1024, PACKED = 64 * 1024 };

/* UTF-16 on its way. */
struct utf16 {
    bool big;
    unsigned char raw[PACKED]; /* not yet decoded */
    size_t raw_n;
    char text[3 * PACKED / 2 + 8]; /* decoded */
    size_t at, n;
};

struct source_input {
    int fd; /* -1: memory, read or pull */
    smurf_read_fn *read;
    source_pull *pull; /* of rows, with context released by `release` */
    smurf_free_fn *release;
    void *context;
    bool close_fd;
    const char *memory; /* unread bytes of memory */
    size_t memory_left;
    uint64_t raw; /* bytes taken from fd or memory */
    bool gzip;
    struct utf16 *utf16; /* owned; NULL: other text */
#if SMURF_HAVE_ZLIB
    z_stream unpack;
    bool unpacking, member_open; /* inflateInit done; inside a gzip member */
    unsigned char packed[PACKED];
#endif
};

/* ---- Raw bytes ------------------------------------------------------------------------------- */

static smurf_status directory_fail(const struct source *source, smurf_error *err)
{
    smurf_fail(err, SMURF_ERROR_IO, "'%s' is a directory, not a file of events", source->name);
    smurf_error_about(err, source->name, 0);
    return SMURF_ERROR_IO;
}

/* Reads up to `room` bytes into out; *got is 0 at the end. */
static smurf_status read_raw(struct source *source, void *out, size_t room, size_t *got, smurf_error *err)
{
    struct source_input *in = source->input;
    *got = 0;
    if (in->read) {
        ptrdiff_t n = in->read(in->context, out, room);
        if (n < 0 || (size_t)n > room) {
            smurf_fail(err, SMURF_ERROR_IO, "cannot read '%s': the caller's function failed", source->name);
            smurf_error_about(err, source->name, 0);
            return SMURF_ERROR_IO;
        }
        *got = (size_t)n;
    } else if (in->pull) {
        smurf_status status = in->pull(in->context, out, room, got, err);
        if (status) return status;
    } else if (in->fd < 0) {
        *got = room < in->memory_left ? room : in->memory_left;
        if (*got) memcpy(out, in->memory, *got);
        in->memory += *got;
        in->memory_left -= *got;
    } else {
        ssize_t n;
        while ((n = read(in->fd, out, room)) < 0 && errno == EINTR) {
            /* A signal may mean that the caller wants to stop: ask. */
            smurf_status status =
                source->progress ? smurf_progress_tell(source->progress, (double)in->raw, err) : SMURF_OK;
            if (status) return status;
        }
        if (n < 0 && errno == EISDIR) return directory_fail(source, err);
        if (n < 0) return smurf_fail_errno(err, "read", source->name, errno);
        *got = (size_t)n;
    }
    in->raw += *got;
    return source->progress ? smurf_progress_tell(source->progress, (double)in->raw, err) : SMURF_OK;
}

/* ---- Gzip ------------------------------------------------------------------------------------ */

#if SMURF_HAVE_ZLIB
static smurf_status gzip_fail(const struct source *source, smurf_error *err)
{
    const struct source_input *in = source->input;
    return smurf_fail_at(err, source->name, 0, "gzip data is damaged near byte %llu: %s (fetch or pack the file again)",
                         (unsigned long long)(in->raw - in->unpack.avail_in),
                         in->unpack.msg ? in->unpack.msg : "wrong format");
}

/* Like read_raw, decompressed. A file may hold several consecutive gzip members. */
static smurf_status read_gzip(struct source *source, void *out, size_t room, size_t *got, smurf_error *err)
{
    struct source_input *in = source->input;
    z_stream *z = &in->unpack;
    z->next_out = out;
    z->avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
    uInt asked = z->avail_out;
    while (z->avail_out == asked) {
        if (z->avail_in == 0) {
            size_t packed;
            smurf_status status = read_raw(source, in->packed, sizeof in->packed, &packed, err);
            if (status) return status;
            if (packed == 0) {
                if (!in->member_open) break;
                return smurf_fail_at(
                    err, source->name, 0,
                    "gzip data ends too early, after %llu bytes (the file was cut off: fetch it again)",
                    (unsigned long long)in->raw);
            }
            z->next_in = in->packed;
            z->avail_in = (uInt)packed;
        }
        if (!in->member_open) {
            if (inflateReset(z) != Z_OK) return gzip_fail(source, err);
            in->member_open = true;
        }
        int result = inflate(z, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            in->member_open = false;
        else if (result == Z_MEM_ERROR)
            return smurf_fail_memory(err);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return gzip_fail(source, err);
    }
    *got = asked - z->avail_out;
    return SMURF_OK;
}

/* The bytes read so far turned out to be gzip: they become the first compressed bytes. */
static smurf_status start_gzip(struct source *source, smurf_error *err)
{
    struct source_input *in = source->input;
    size_t n = (size_t)(source->end - source->p);
    if (inflateInit2(&in->unpack, 15 + 16) != Z_OK) return smurf_fail_memory(err);
    in->unpacking = in->member_open = in->gzip = true;
    memcpy(in->packed, source->p, n);
    in->unpack.next_in = in->packed;
    in->unpack.avail_in = (uInt)n;
    source->p = source->end = source->window;
    source->eof = false;
    memset(source->window, 0, SOURCE_PAD);
    return SMURF_OK;
}
#else
static smurf_status read_gzip(struct source *source, void *out, size_t room, size_t *got, smurf_error *err)
{
    (void)out, (void)room, (void)got;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "'%s' is gzip, which this build cannot read (gunzip it first)",
                      source->name);
}

static smurf_status start_gzip(struct source *source, smurf_error *err)
{
    return read_gzip(source, NULL, 0, NULL, err);
}
#endif

/* ---- UTF-16 ---------------------------------------------------------------------------------- */

static smurf_status read_bytes(struct source *source, void *out, size_t room, size_t *got, smurf_error *err)
{
    return source->input->gzip ? read_gzip(source, out, room, got, err) : read_raw(source, out, room, got, err);
}

/* Like read_bytes, decoded to UTF-8. */
static smurf_status read_utf16(struct source *source, void *out, size_t room, size_t *got, smurf_error *err)
{
    struct utf16 *u = source->input->utf16;
    for (bool last = false; u->at == u->n && !last;) {
        size_t more = 0, used;
        smurf_status status = SMURF_OK;
        if (u->raw_n < 4) status = read_bytes(source, u->raw + u->raw_n, sizeof u->raw - u->raw_n, &more, err);
        if (status) return status;
        last = u->raw_n < 4 && more == 0;
        u->raw_n += more;
        u->at = 0;
        u->n = smurf_text_decode_utf16(u->text, u->raw, u->raw_n, u->big, last, &used);
        u->raw_n -= used;
        memmove(u->raw, u->raw + used, u->raw_n);
    }
    *got = u->n - u->at < room ? u->n - u->at : room;
    memcpy(out, u->text + u->at, *got);
    u->at += *got;
    return SMURF_OK;
}

/* The bytes read so far begin with the byte order mark of UTF-16. */
static smurf_status start_utf16(struct source *source, smurf_error *err)
{
    struct utf16 *u = source->input->utf16 = calloc(1, sizeof *u);
    if (!u) return smurf_fail_memory(err);
    u->big = *source->p == '\xFE';
    u->raw_n = (size_t)(source->end - source->p) - 2;
    memcpy(u->raw, source->p + 2, u->raw_n);
    source->p = source->end = source->window;
    source->eof = false;
    memset(source->window, 0, SOURCE_PAD);
    return SMURF_OK;
}

/* ---- The window ------------------------------------------------------------------------------ */

/* Makes room for `want` unread bytes and the pad, moving the unread bytes to the start. */
static smurf_status make_room(struct source *source, size_t want, smurf_error *err)
{
    size_t unread = (size_t)(source->end - source->p);
    source->before += (uint64_t)(source->p - source->window);
    if (source->p != source->window) memmove(source->window, source->p, unread);
    if (want + SOURCE_PAD > source->capacity) {
        size_t capacity = 2 * source->capacity > want + SOURCE_PAD ? 2 * source->capacity : want + SOURCE_PAD;
        char *window = realloc(source->window, capacity);
        if (!window) return smurf_fail_memory(err);
        source->window = window;
        source->capacity = capacity;
    }
    source->p = source->window;
    source->end = source->window + unread;
    return SMURF_OK;
}

smurf_status smurf_source_fill(struct source *source, size_t want, smurf_error *err)
{
    if (source->eof || (size_t)(source->end - source->p) >= want) return SMURF_OK;
    smurf_status status = make_room(source, want, err);
    while (!status && !source->eof && (size_t)(source->end - source->p) < want) {
        char *end = source->window + (source->end - source->window);
        size_t got = 0, unread = (size_t)(end - source->p);
        size_t room = source->capacity - SOURCE_PAD - (size_t)(end - source->window);
        /* A window that once grew is not filled again: small ones stay in cache. */
        if (want <= WINDOW && room > WINDOW - unread) room = WINDOW - unread;
        status =
            source->input->utf16 ? read_utf16(source, end, room, &got, err) : read_bytes(source, end, room, &got, err);
        source->end = end + got;
        source->eof = got == 0;
    }
    memset(source->window + (source->end - source->window), 0, SOURCE_PAD);
    return status;
}

smurf_status smurf_source_skip_mark(struct source *source, smurf_error *err)
{
    smurf_status status = smurf_source_fill(source, 3, err);
    if (!status && source->end - source->p >= 3 && memcmp(source->p, "\xEF\xBB\xBF", 3) == 0) source->p += 3;
    return status;
}

smurf_status smurf_source_middle(const struct source *source, size_t n, char **out, size_t *got, smurf_error *err)
{
    struct stat about;
    const struct source_input *in = source->input;
    *out = NULL;
    *got = 0;
    if (source->eof || in->fd < 0 || in->gzip || in->utf16 || fstat(in->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return SMURF_OK;
    if (!(*out = malloc(n + SOURCE_PAD))) return smurf_fail_memory(err);
    ssize_t taken = pread(in->fd, *out, n, about.st_size / 2);
    if (taken > 0) *got = (size_t)taken;
    memset(*out + *got, 0, SOURCE_PAD);
    return SMURF_OK;
}

/* ---- Whole inputs ---------------------------------------------------------------------------- */

static bool map_file(struct whole *whole, const struct source *source)
{
    struct stat about;
    const struct source_input *in = source->input;
    if (!source->from_path || in->fd < 0 || in->gzip || fstat(in->fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size == 0 || smurf_source_offset(source) != 0)
        return false;
    void *p = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, in->fd, 0);
    if (p == MAP_FAILED) return false;
    *whole = (struct whole){.p = p, .n = (size_t)about.st_size, .mapped = true};
    return true;
}

static bool lend_memory(struct whole *whole, const struct source *source)
{
    const struct source_input *in = source->input;
    size_t taken = (size_t)(source->end - source->p);
    if (!source->lasting || !in->memory || in->gzip || in->utf16 || smurf_source_offset(source) != 0) return false;
    *whole = (struct whole){.p = in->memory - taken, .n = taken + in->memory_left, .lent = true};
    return true;
}

static smurf_status read_all(struct whole *whole, struct source *source, smurf_error *err)
{
    for (size_t want = WINDOW; !source->eof; want *= 2) {
        smurf_status status = smurf_source_fill(source, want, err);
        if (status) return status;
    }
    char *copy = malloc((size_t)(source->end - source->p) + 1);
    if (!copy) return smurf_fail_memory(err);
    memcpy(copy, source->p, (size_t)(source->end - source->p));
    *whole = (struct whole){.p = copy, .n = (size_t)(source->end - source->p)};
    return SMURF_OK;
}

smurf_status smurf_source_whole(struct whole **out, struct source *source, smurf_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return smurf_fail_memory(err);
    if (map_file(*out, source) || lend_memory(*out, source)) return SMURF_OK;
    smurf_status status = read_all(*out, source, err);
    if (!status) return SMURF_OK;
    free(*out);
    *out = NULL;
    return status;
}

void smurf_whole_release(void *context)
{
    struct whole *whole = context;
    union {
        const char *in;
        void *out;
    } p = {.in = whole ? whole->p : NULL};
    if (whole && whole->mapped)
        munmap(p.out, whole->n);
    else if (whole && !whole->lent)
        free(p.out);
    free(whole);
}

uint64_t smurf_source_offset(const struct source *source)
{
    return source->before + (uint64_t)(source->p - source->window);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool begins_with(const struct source *source, const char two[2])
{
    return source->end - source->p >= 2 && memcmp(source->p, two, 2) == 0;
}

/* Takes over fd (or memory) and detects gzip and UTF-16. */
static smurf_status start(struct source *source, const struct source_input *from, smurf_error *err)
{
    source->line = 1;
    source->input = calloc(1, sizeof *source->input);
    source->window = malloc(WINDOW + SOURCE_PAD);
    if (source->input) *source->input = *from;
    if (!source->input && from->close_fd) close(from->fd); /* nobody else knows it */
    if (!source->input || !source->window) return smurf_fail_memory(err);
    source->p = source->end = source->window;
    memset(source->window, 0, SOURCE_PAD);
    source->capacity = PACKED + SOURCE_PAD; /* the first bytes must fit the buffer of gzip or UTF-16 */
    smurf_status status = smurf_source_fill(source, 2, err);
    if (!status && begins_with(source, "\x1f\x8b")) {
        status = start_gzip(source, err);
        if (!status) status = smurf_source_fill(source, 2, err);
    }
    if (!status && (begins_with(source, "\xFF\xFE") || begins_with(source, "\xFE\xFF")))
        status = start_utf16(source, err);
    source->capacity = WINDOW + SOURCE_PAD;
    return status;
}

smurf_status smurf_source_open(struct source *source, const char *path, struct progress *progress, smurf_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    *source = (struct source){.name = standard ? "standard input" : path, .from_path = !standard, .progress = progress};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return smurf_fail_errno(err, "open", path, errno);
    struct stat about;
    if (fstat(fd, &about) == 0) {
        if (S_ISDIR(about.st_mode)) {
            if (!standard) close(fd);
            return directory_fail(source, err);
        }
        if (progress) progress->state.total = S_ISREG(about.st_mode) ? (double)about.st_size : 0;
    }
    smurf_status status = start(source, &(struct source_input){.fd = fd, .close_fd = !standard}, err);
    if (status) smurf_source_close(source);
    return status;
}

smurf_status smurf_source_open_memory(struct source *source, const void *bytes, size_t size, const char *name,
                                      smurf_error *err)
{
    *source = (struct source){.name = name};
    smurf_status status = start(source, &(struct source_input){.fd = -1, .memory = bytes, .memory_left = size}, err);
    if (status) smurf_source_close(source);
    return status;
}

smurf_status smurf_source_open_reader(struct source *source, smurf_read_fn *read, void *context, const char *name,
                                      struct progress *progress, smurf_error *err)
{
    *source = (struct source){.name = name, .progress = progress};
    smurf_status status = start(source, &(struct source_input){.fd = -1, .read = read, .context = context}, err);
    if (status) smurf_source_close(source);
    return status;
}

smurf_status smurf_source_open_rows(struct source *source, source_pull *pull, smurf_free_fn *release, void *context,
                                    const char *name, struct progress *progress, smurf_error *err)
{
    const struct source_input input = {.fd = -1, .pull = pull, .release = release, .context = context};
    *source = (struct source){.name = name, .rows = true, .progress = progress};
    smurf_status status = start(source, &input, err);
    source->line = 0;
    if (!status) return SMURF_OK;
    if (!source->input) release(context);
    smurf_source_close(source);
    return status;
}

const void *smurf_source_rows(const struct source *source)
{
    return source->rows ? source->input->context : NULL;
}

void smurf_source_close(struct source *source)
{
    if (source->input) {
        if (source->input->release) source->input->release(source->input->context);
#if SMURF_HAVE_ZLIB
        if (source->input->unpacking) inflateEnd(&source->input->unpack);
#endif
        if (source->input->close_fd) close(source->input->fd);
    }
    if (source->input) free(source->input->utf16);
    free(source->input);
    free(source->window);
    *source = (struct source){.name = source->name};
}

/* ---- Errors ---------------------------------------------------------------------------------- */

smurf_status smurf_source_fail(const struct source *source, smurf_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    smurf_failv(err, SMURF_ERROR_INPUT, format, args);
    va_end(args);
    return smurf_source_blame(source, SMURF_ERROR_INPUT, err);
}

smurf_status smurf_source_blame(const struct source *source, smurf_status status, smurf_error *err)
{
    return smurf_error_place(err, status, source->name, source->line);
}
