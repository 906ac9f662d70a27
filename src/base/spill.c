/* spill.c - see spill.h. */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEAST = 1 << 20 };

static const char *folder(void)
{
    const char *name = getenv("TMPDIR");
    return name && *name ? name : "/var/tmp";
}

static smurf_status failed(int code, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_IO,
                      "cannot keep data in a temporary file in '%.300s': %s (set TMPDIR to a folder with room)", folder(),
                      strerror(code));
}

static int open_unnamed(void)
{
    char path[512];
    int fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || snprintf(path, sizeof path, "%s/smurf-XXXXXX", folder()) >= (int)sizeof path) return fd;
    fd = mkostemp(path, O_CLOEXEC); /* not every file system has files without a name */
    if (fd >= 0) unlink(path);
    return fd;
}

smurf_status smurf_spill_grow(struct spill *s, size_t bytes, smurf_error *err)
{
    if (bytes <= s->bytes) return SMURF_OK;
    size_t more = s->bytes + s->bytes / 2 + LEAST;
    if (bytes < more) bytes = more;
    if (!s->file) {
        int fd = open_unnamed();
        if (fd < 0) return failed(errno, err);
        s->file = fd + 1;
    }
    int code = posix_fallocate(s->file - 1, (off_t)s->bytes, (off_t)(bytes - s->bytes));
    if (code) return failed(code, err);
    void *p = s->p ? mremap(s->p, s->bytes, bytes, MREMAP_MAYMOVE)
                   : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file - 1, 0);
    if (p == MAP_FAILED) return failed(errno, err);
    s->p = p;
    s->bytes = bytes;
    return SMURF_OK;
}

void smurf_spill_release(struct spill *s)
{
    if (s->p) munmap(s->p, s->bytes);
    if (s->file) close(s->file - 1);
    *s = (struct spill){0};
}
