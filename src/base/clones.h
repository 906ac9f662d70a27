/*
 * clones.h - hot loops compiled for several generations of x86-64, chosen when the program starts.
 *
 * OP_CLONES before a static function makes one copy for AVX-512, one for AVX2 with FMA and one for any
 * x86-64; helpers that it calls must be inlined into it to be copied along. Static, because copied functions
 * with external linkage would be exported whatever their visibility; without parallel regions of OpenMP, whose bodies are
 * not copied. The levels are those of the x86-64 psABI: named processors ("haswell") would match that maker's
 * models only. Empty where the compiler or the C library cannot do it, and under sanitizers, whose runtime is
 * not yet up when the choice is made. A file that defines OP_CLONES first, as nothing, is compiled once, as its flags
 * say.
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
