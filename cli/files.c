/* files.c - see files.h. A file is identified by device and inode; one that does not exist yet by those of its folder
   and its name. */
#include "files.h"

#include "option.h"
#include "smurf_lab.h"
#include "terminal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    enum file_role role;
    const char *what, *path;
    dev_t device; /* of the file, or of its folder */
    ino_t inode;
    const char *name; /* within its folder; NULL: the file exists */
};

/* Never freed. */
static struct file *files;
static size_t count, room;

static const char *kept(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) out_of_memory();
    return copy;
}

/* ---- One file -------------------------------------------------------------------------------- */

static bool same(const struct file *a, const struct file *b)
{
    if (a->device != b->device || a->inode != b->inode || !a->name != !b->name) return false;
    return !a->name || strcmp(a->name, b->name) == 0;
}

static void add(struct file file)
{
    for (size_t i = 0; i < count; i++) {
        const struct file *other = &files[i], *written = file.role == FILE_WRITTEN ? &file : other;
        if ((file.role == FILE_READ && other->role == FILE_READ) || !same(&file, other)) continue;
        if (strcmp(file.what, other->what) == 0) continue; /* two names in one directory */
        const struct file *with = written == &file ? other : &file;
        usage_error("%s would overwrite '%s', which %s %s: name another file", written->what, with->path, with->what,
                    with->role == FILE_READ ? "reads" : "writes");
    }
    if (count == room) {
        room = room ? 2 * room : 16;
        files = realloc(files, room * sizeof *files);
        if (!files) out_of_memory();
    }
    file.what = kept(file.what), file.path = kept(file.path), file.name = kept(file.name);
    files[count++] = file;
}

/* A file that does not exist: where it would be created. Dangling links are followed. */
static void add_missing(struct file file, const char *path, int hops)
{
    char target[PATH_MAX], folder[PATH_MAX];
    struct stat about;
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    if (length + NAME_MAX >= PATH_MAX) return; /* writing reports the error */
    ssize_t n = hops ? readlink(path, target, sizeof target - 1) : -1;
    if (n > 0) {
        char next[2 * PATH_MAX];
        target[n] = '\0';
        snprintf(next, sizeof next, "%.*s%s", target[0] == '/' ? 0 : length, path, target);
        add_missing(file, next, hops - 1);
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", length, path);
    if (stat(length ? folder : ".", &about) != 0) return;
    file.device = about.st_dev;
    file.inode = about.st_ino;
    file.name = path + length;
    add(file);
}

/* ---- Directories ----------------------------------------------------------------------------- */

/* Whether a file in a directory is a part of a data set or its types, or, if figures are written, a figure. Other files
   are ignored. */
static bool concerned(enum file_role role, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (smurf_split_part(name) >= 0 || strncmp(name, "event-", 6) == 0) return true;
    return role == FILE_WRITTEN && dot && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0);
}

static void add_path(enum file_role role, const char *what, const char *path);

static void add_directory(enum file_role role, const char *what, const char *directory)
{
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[2 * PATH_MAX];
        if (!concerned(role, entry->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        add_path(role, what, path);
    }
    if (dir) closedir(dir);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* RMTPP text has its types in a second file: "event-x.txt" next to "time-x.txt". */
static void add_companion(enum file_role role, const char *what, const char *path)
{
    char beside[2 * PATH_MAX];
    const char *slash = strrchr(path, '/'), *time = NULL;
    for (const char *p = slash ? slash : path; (p = strstr(p, "time")); p++) time = p;
    if (!time || !strstr(time, ".txt")) return;
    snprintf(beside, sizeof beside, "%.*sevent%s", (int)(time - path), path, time + 4);
    if (access(beside, F_OK) == 0) add_path(role, what, beside);
}

static void add_path(enum file_role role, const char *what, const char *path)
{
    struct stat about;
    struct file file = {.role = role, .what = what, .path = path};
    bool standard = strcmp(path, "-") == 0;
    int found = standard ? fstat(role == FILE_READ ? STDIN_FILENO : STDOUT_FILENO, &about) : stat(path, &about);
    if (found != 0 && (standard || role == FILE_READ)) return; /* reading reports the error */
    if (found != 0 && errno == ELOOP) usage_error("%s '%s' is a symlink loop: name another file", what, path);
    if (found != 0) {
        add_missing(file, path, 40);
    } else if (S_ISDIR(about.st_mode)) {
        add_directory(role, what, path);
    } else if (S_ISREG(about.st_mode)) {
        file.device = about.st_dev;
        file.inode = about.st_ino;
        add(file);
    }
}

void files_add(enum file_role role, const char *what, const char *path)
{
    if (!path) return;
    add_path(role, what, path);
    if (strcmp(path, "-") != 0) add_companion(role, what, path);
}
