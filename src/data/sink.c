/* sink.c - see sink.h. The only file that creates, compresses or renames event files. */
#include "data/sink.h"

#include "base/memory.h"
#include "data/number.h"

#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if SMURF_HAVE_ZLIB
#include <zlib.h>
#endif

enum { BUFFER = 64 * 1024, PACKED = 64 * 1024 };

struct sink_output {
    int fd;
    bool standard;   /* not closed by us */
    char *path;      /* for messages and the rename */
    char *temporary; /* NULL: written directly */
    bool gzip;
    bool settled;
    bool in_memory;
    char *bytes; /* output so far, in memory */
    size_t n, room;
#if SMURF_HAVE_ZLIB
    z_stream pack;
    unsigned char packed[PACKED];
#endif
};

static void fail_errno(struct sink *sink, const char *doing, int code)
{
    if (!sink->status) sink->status = smurf_fail_errno(&sink->error, doing, sink->output->path, code);
}

static void write_memory(struct sink *sink, const void *bytes, size_t n)
{
    struct sink_output *out = sink->output;
    if (!smurf_grow(&out->bytes, &out->room, out->n + n, 1)) {
        sink->status = smurf_fail_memory(&sink->error);
        return;
    }
    memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

static void write_raw(struct sink *sink, const void *bytes, size_t n)
{
    const char *p = bytes;
    if (sink->output->in_memory) {
        if (n && !sink->status) write_memory(sink, bytes, n);
        return;
    }
    while (n && !sink->status) {
        ssize_t wrote = write(sink->output->fd, p, n);
        if (wrote < 0 && errno != EINTR) fail_errno(sink, "write", errno);
        if (wrote > 0) p += wrote, n -= (size_t)wrote;
    }
}

#if SMURF_HAVE_ZLIB
static void write_gzip(struct sink *sink, const void *bytes, size_t n, int flush)
{
    z_stream *z = &sink->output->pack;
    union {
        const void *in;
        Bytef *out; /* zlib does not write through next_in */
    } p = {.in = bytes};
    z->next_in = p.out;
    z->avail_in = (uInt)n;
    do {
        z->next_out = sink->output->packed;
        z->avail_out = PACKED;
        deflate(z, flush);
        write_raw(sink, sink->output->packed, PACKED - z->avail_out);
    } while (z->avail_out == 0 && !sink->status);
}
#endif

static void flush(struct sink *sink)
{
    if (!sink->status) {
#if SMURF_HAVE_ZLIB
        if (sink->output->gzip)
            write_gzip(sink, sink->buffer, sink->used, Z_NO_FLUSH);
        else
#endif
            write_raw(sink, sink->buffer, sink->used);
    }
    sink->used = 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The file a path resolves to; links are followed even if they dangle. Freed by the caller. */
static char *follow(const char *path)
{
    char *target = strdup(path), to[PATH_MAX];
    for (int hops = 0; target && hops < 40; hops++) {
        ssize_t n = readlink(target, to, sizeof to - 1);
        if (n < 0) break;
        to[n] = '\0';
        char *slash = strrchr(target, '/'), *next = NULL;
        int folder = to[0] == '/' || !slash ? 0 : (int)(slash - target) + 1;
        if (asprintf(&next, "%.*s%s", folder, target, to) < 0) next = NULL;
        free(target);
        target = next;
    }
    return target;
}

/* The descriptor that "-", /dev/stdout or /dev/fd/N stands for; -1 if the path is none of these. Files the shell opened
   are written to, never replaced: they may already have other content. */
static int open_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    int fd, n = 0;
    return sscanf(path, "/dev/fd/%9d%n", &fd, &n) == 1 && n && !path[n] ? fd : -1;
}

/* Whether a temporary file was left by a dead writer. Writers hold a lock on theirs, which also works across hosts; the
   process id covers the moment before the lock is taken. Process ids are reused, so after some minutes only the lock
   counts. */
static bool is_stale(const char *temporary, long pid)
{
    enum { MINUTES = 10 };
    struct stat about;
    int fd = open(temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool gone = pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
    bool stale = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                 (gone || time(NULL) - about.st_mtime > MINUTES * 60);
    close(fd);
    return stale;
}

/* Removes files left next to the target by killed writers of the same target. */
static void remove_stale(const char *target)
{
    const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
    int folder = (int)(base - target);
    char *name = folder ? strndup(target, (size_t)folder) : strdup(".");
    DIR *dir = name ? opendir(name) : NULL;
    size_t n = strlen(base);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        long pid;
        int number, end = 0;
        char *path;
        if (strncmp(entry->d_name, base, n) != 0 ||
            sscanf(entry->d_name + n, ".tmp-%10ld-%2d%n", &pid, &number, &end) != 2 || entry->d_name[n + (size_t)end] ||
            asprintf(&path, "%.*s%s", folder, target, entry->d_name) < 0)
            continue;
        if (is_stale(path, pid)) unlink(path);
        free(path);
    }
    if (dir) closedir(dir);
    free(name);
}

/* A regular or missing file gets a temporary file next to it; anything else is opened directly. Links are followed, so
   the target is replaced and not the link. */
static smurf_status open_output(struct sink_output *out, const char *path, smurf_error *err)
{
    struct stat about;
    bool exists = stat(path, &about) == 0;
    if (!exists && errno == ELOOP) return smurf_fail_errno(err, "write", path, errno);
    if (exists && S_ISDIR(about.st_mode))
        return smurf_fail(err, SMURF_ERROR_IO, "cannot write '%s': it is a directory", path);
    if (exists && !S_ISREG(about.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? smurf_fail_errno(err, "write", path, errno) : SMURF_OK;
    }
    char *target = exists ? realpath(path, NULL) : follow(path);
    if (!target) return smurf_fail_memory(err);
    free(out->path);
    out->path = target;
    remove_stale(target);
    for (int i = 0; i < 100; i++) {
        if (asprintf(&out->temporary, "%s.tmp-%ld-%d", target, (long)getpid(), i) < 0) {
            out->temporary = NULL;
            return smurf_fail_memory(err);
        }
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? about.st_mode & 0777 : 0666);
        if (out->fd >= 0) {
            (void)!flock(out->fd, LOCK_EX | LOCK_NB);                 /* if the file system has locks; see is_stale */
            if (exists) (void)!fchmod(out->fd, about.st_mode & 0777); /* as before, whatever the umask */
            return SMURF_OK;
        }
        free(out->temporary);
        out->temporary = NULL;
        if (errno != EEXIST) break;
    }
    return smurf_fail_errno(err, "write", path, errno);
}

static void close_output(struct sink *sink)
{
    struct sink_output *out = sink->output;
    if (!out) return;
    if (out->fd >= 0 && !out->standard) close(out->fd);
#if SMURF_HAVE_ZLIB
    if (out->gzip) deflateEnd(&out->pack);
#endif
    if (out->temporary) unlink(out->temporary);
    free(out->temporary);
    free(out->bytes);
    free(out->path);
    free(out);
    free(sink->buffer);
    sink->output = NULL;
    sink->buffer = NULL;
}

smurf_status smurf_sink_open(struct sink *sink, const char *path, bool gzip, smurf_error *err)
{
    int given = open_descriptor(path);
    *sink = (struct sink){.buffer = malloc(BUFFER), .output = calloc(1, sizeof *sink->output)};
    smurf_status status = SMURF_OK;
    if (sink->output) {
        sink->output->fd = given;
        sink->output->standard = given >= 0;
        sink->output->path = strdup(given == STDOUT_FILENO ? "standard output" : path);
    }
    if (!sink->buffer || !sink->output || !sink->output->path)
        status = smurf_fail_memory(err);
    else if (given < 0)
        status = open_output(sink->output, path, err);
#if SMURF_HAVE_ZLIB
    if (!status && gzip) {
        if (deflateInit2(&sink->output->pack, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
            sink->output->gzip = true;
        else
            status = smurf_fail_memory(err);
    }
#else
    if (!status && gzip)
        status = smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "this build cannot write gzip: drop the .gz from '%s'", path);
#endif
    if (status) close_output(sink);
    return status;
}

smurf_status smurf_sink_open_memory(struct sink *sink, smurf_error *err)
{
    *sink = (struct sink){.buffer = malloc(BUFFER), .output = calloc(1, sizeof *sink->output)};
    if (sink->output) {
        sink->output->fd = -1;
        sink->output->in_memory = true;
    }
    if (sink->buffer && sink->output) return SMURF_OK;
    free(sink->buffer);
    free(sink->output);
    return smurf_fail_memory(err);
}

/* ---- Writing --------------------------------------------------------------------------------- */

void smurf_sink_bytes(struct sink *sink, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > BUFFER - sink->used) {
        size_t part = BUFFER - sink->used;
        memcpy(sink->buffer + sink->used, p, part);
        sink->used = BUFFER;
        flush(sink);
        p += part, n -= part;
    }
    memcpy(sink->buffer + sink->used, p, n);
    sink->used += n;
}

void smurf_sink_text(struct sink *sink, const char *text)
{
    smurf_sink_bytes(sink, text, strlen(text));
}

void smurf_sink_char(struct sink *sink, char c)
{
    smurf_sink_bytes(sink, &c, 1);
}

void smurf_sink_unsigned(struct sink *sink, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    smurf_sink_bytes(sink, digits + at, sizeof digits - at);
}

void smurf_sink_time(struct sink *sink, int64_t origin, double offset)
{
    char text[NUMBER_TEXT];
    smurf_sink_bytes(sink, text, smurf_number_write_time(text, origin, offset));
}

void smurf_sink_calendar(struct sink *sink, int64_t origin, double offset, char quote)
{
    char text[NUMBER_TEXT];
    size_t n = smurf_number_write_calendar(text, origin, offset);
    if (quote) smurf_sink_char(sink, quote);
    smurf_sink_bytes(sink, text, n);
    if (quote) smurf_sink_char(sink, quote);
}

size_t smurf_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    bool wrong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
                 (c[0] == 0xf4 && c[1] > 0x8f); /* overlong, a surrogate, or beyond Unicode */
    return n > 2 && wrong ? 0 : n;
}

bool smurf_utf8_valid(const char *text)
{
    size_t n = 1;
    for (; *text && n; text += n) n = smurf_utf8_length(text);
    return n > 0;
}

void smurf_sink_json(struct sink *sink, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    smurf_sink_char(sink, '"');
    for (size_t n; *text; text += n) {
        unsigned char c = (unsigned char)*text;
        n = smurf_utf8_length(text);
        if (n != 1) { /* JSON is UTF-8; other bytes are taken as Latin-1 */
            char latin1[] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 63))};
            smurf_sink_bytes(sink, n ? text : latin1, n ? n : 2);
            n = n ? n : 1;
            continue;
        }
        if (c == '"' || c == '\\') {
            char escaped[] = {'\\', (char)c};
            smurf_sink_bytes(sink, escaped, 2);
        } else if (c < 0x20) {
            char escaped[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            smurf_sink_bytes(sink, escaped, 6);
        } else {
            smurf_sink_char(sink, (char)c);
        }
    }
    smurf_sink_char(sink, '"');
}

/* ---- Closing --------------------------------------------------------------------------------- */

smurf_status smurf_sink_settle(struct sink *sink, smurf_error *err)
{
    struct sink_output *out = sink->output;
    if (!out->settled) {
        out->settled = true;
        flush(sink);
#if SMURF_HAVE_ZLIB
        if (out->gzip && !sink->status) write_gzip(sink, NULL, 0, Z_FINISH);
#endif
        if (out->temporary && !sink->status && fsync(out->fd) != 0) fail_errno(sink, "write", errno);
    }
    if (sink->status && err) *err = sink->error;
    return sink->status;
}

/* A rename survives a power failure only once its directory is on disk too. Some file systems cannot sync a directory;
   the new file is complete and in place either way, so that is not a failure. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free(folder);
}

smurf_status smurf_sink_commit(struct sink *sink, smurf_error *err)
{
    struct sink_output *out = sink->output;
    smurf_sink_settle(sink, NULL);
    if (out->temporary && !sink->status) {
        if (rename(out->temporary, out->path) != 0) fail_errno(sink, "write", errno);
        if (!sink->status) {
            sync_folder(out->path);
            free(out->temporary);
            out->temporary = NULL;
        }
    }
    smurf_status status = sink->status;
    if (status && err) *err = sink->error;
    close_output(sink);
    return status;
}

smurf_status smurf_sink_take(struct sink *sink, void **out, size_t *size, smurf_error *err)
{
    smurf_status status = smurf_sink_settle(sink, err);
    *out = status ? NULL : sink->output->bytes;
    *size = status ? 0 : sink->output->n;
    if (!status) sink->output->bytes = NULL;
    close_output(sink);
    return status;
}

void smurf_sink_abandon(struct sink *sink)
{
    close_output(sink);
}
