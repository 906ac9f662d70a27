/*
 * fail_malloc.c - runs a command again and again, each time with another allocation failing.
 *
 * Preloaded (LD_PRELOAD) into the command; soak_alloc.py drives it. Instead of main it serves requests: for every line
 * "K SECONDS" on standard input it forks a child that runs main with its K-th allocation failing (0: none), with
 * standard output and error in the files `out` and `err` of the current directory, killed after SECONDS. The answer is
 * "STATUS COUNT": the wait status and how many allocations the child made. Forking spares the loading of libraries.
 *
 * Counted are the allocations of the command itself, of jansson and zlib, and those that libc makes (strdup, fopen,
 * ...). Others, such as libgomp, end the process when memory runs out: that is out of our hands.
 * Needs glibc, whose __libc_malloc is the real one, and a command that has started no threads before main.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

/* ---- Which call fails ------------------------------------------------------------------------ */

enum { RANGES_MOST = 32 };
static struct {
    uintptr_t from, to;
} counted[RANGES_MOST];
static int ranges;
static unsigned long fail_at;
static atomic_ulong *calls; /* shared with the parent; NULL until main starts */

static int fails(const void *caller)
{
    if (!calls) return 0;
    uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < ranges; i++)
        if (at >= counted[i].from && at < counted[i].to) {
            if (atomic_fetch_add(calls, 1) + 1 != fail_at) return 0;
            errno = ENOMEM;
            return 1;
        }
    return 0;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t n)
{
    return FAILS ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return FAILS ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return FAILS ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = FAILS ? NULL : __libc_memalign(align, n);
    if (p) *out = p;
    return p ? 0 : ENOMEM;
}

/* ---- Serving --------------------------------------------------------------------------------- */

typedef int main_function(int argc, char **argv, char **environ);
static main_function *command;

static int add_ranges(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    const char *name = info->dlpi_name;
    if (*name && !strstr(name, "/libc.so") && !strstr(name, "/libjansson") && !strstr(name, "/libz.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum && ranges < RANGES_MOST; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            counted[ranges].from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            counted[ranges].to = counted[ranges].from + info->dlpi_phdr[i].p_memsz;
            ranges++;
        }
    return 0;
}

static void put_file(int fd, const char *path, int flags)
{
    int file = open(path, flags, 0666);
    if (file < 0 || dup2(file, fd) < 0) _exit(99);
    close(file);
}

static int run(unsigned seconds, int argc, char **argv, char **environment)
{
    put_file(0, "/dev/null", O_RDONLY);
    put_file(1, "out", O_WRONLY | O_CREAT | O_TRUNC);
    put_file(2, "err", O_WRONLY | O_CREAT | O_TRUNC);
    alarm(seconds);
    return command(argc, argv, environment);
}

static int serve(int argc, char **argv, char **environment)
{
    static char line[64];
    unsigned seconds;
    atomic_ulong *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 99;
    dl_iterate_phdr(add_ranges, NULL);
    unsetenv("LD_PRELOAD");
    for (;;) {
        size_t n = 0;
        while (n + 1 < sizeof line && read(0, line + n, 1) == 1 && line[n] != '\n') n++;
        line[n] = '\0';
        if (sscanf(line, "%lu %u", &fail_at, &seconds) != 2) return 0;
        atomic_store(shared, 0);
        pid_t child = fork();
        if (child == 0) {
            calls = shared;
            return run(seconds, argc, argv, environment);
        }
        int status = 0;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        dprintf(1, "%d %lu\n", child > 0 ? status : -1, atomic_load(shared));
    }
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    start_function *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    command = main;
    return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
