/*
 * count_malloc.h - counts the allocations of the whole program while `counting` is set, for one file of a test.
 *
 * CAN_COUNT is defined where it works: with glibc, and without a sanitizer, which has its own malloc.
 */
#ifndef SMURF_TEST_COUNT_MALLOC_H
#define SMURF_TEST_COUNT_MALLOC_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

static atomic_bool counting;
static atomic_size_t allocations;
static atomic_size_t of_openmp __attribute__((unused)); /* of these, made by gcc's OpenMP runtime for itself */

#if defined(__GLIBC__) && !defined(SANITIZED)
#define CAN_COUNT 1
/* In front of glibc's own, for every library of the program. */
#define IN_FRONT __attribute__((visibility("default")))
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *old, size_t n);
void *__libc_memalign(size_t align, size_t n);

static void count(const void *caller)
{
    Dl_info about;
    if (!atomic_load_explicit(&counting, memory_order_relaxed)) return;
    atomic_fetch_add(&allocations, 1);
    if (dladdr(caller, &about) && strstr(about.dli_fname, "libgomp")) atomic_fetch_add(&of_openmp, 1);
}
#define COUNT() count(__builtin_return_address(0))

IN_FRONT void *malloc(size_t n)
{
    COUNT();
    return __libc_malloc(n);
}

IN_FRONT void *calloc(size_t items, size_t n)
{
    COUNT();
    return __libc_calloc(items, n);
}

IN_FRONT void *realloc(void *old, size_t n)
{
    COUNT();
    return __libc_realloc(old, n);
}

IN_FRONT void *aligned_alloc(size_t align, size_t n)
{
    COUNT();
    return __libc_memalign(align, n);
}

IN_FRONT void *memalign(size_t align, size_t n);
IN_FRONT void *memalign(size_t align, size_t n)
{
    COUNT();
    return __libc_memalign(align, n);
}

IN_FRONT int posix_memalign(void **out, size_t align, size_t n)
{
    COUNT();
    *out = __libc_memalign(align, n);
    return *out ? 0 : ENOMEM;
}
#endif

#endif
