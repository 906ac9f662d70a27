/*
 * clones.h - hot loops compiled for several x86-64 levels; the copy to run is chosen at program start.
 *
 * OP_CLONES before a static function makes one copy for AVX-512, one for AVX2 with FMA and one for any x86-64. Helpers
 * are copied only if they are inlined. The function must be static, because clones with external linkage are exported
 * whatever their visibility, and must not contain OpenMP parallel regions, whose bodies are not cloned. The levels are
 * those of the x86-64 psABI: a processor name ("haswell") would match that vendor's models only. Empty if the compiler
 * or the C library does not support it, and under sanitizers, whose runtime is not initialised when the choice is made.
 * A file that defines OP_CLONES as empty before including this is compiled once, with its own flags.
 */
#ifndef SMURF_BASE_CLONES_H
#define SMURF_BASE_CLONES_H

#include <stdint.h> /* defines __GLIBC__ */

#if defined(OP_CLONES)
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OP_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OP_CLONES
#endif

#endif
