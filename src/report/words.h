/*
 * words.h - human-readable numbers and names, independent of the locale.
 *
 *     struct words w = {0};
 *     smurf_words_add(&w, "%s%% of %s gaps", smurf_fixed(89.7, 1).text, smurf_count(95907).text);
 *
 * Labels are returned by value and live until the end of the enclosing expression.
 */
#ifndef SMURF_REPORT_WORDS_H
#define SMURF_REPORT_WORDS_H

#include "smurf_lab.h"

#include <stdbool.h>

struct label {
    char text[64];
};

/* "12,345". */
struct label smurf_count(size_t n);
/* With this many decimals; "–" if not finite, powers of ten beyond 15 digits. */
struct label smurf_fixed(double x, int places);
/* With this many significant digits: "0.0123", "4,560", "1.23×10⁹"; "–" if not finite. */
struct label smurf_significant(double x, int digits);
/* A duration: "3.4 min"; "–" if not finite. With an unknown unit three digits, and the unit if there is one. */
struct label smurf_duration(double gap, const char *unit);
/* "10⁻³"; 1 for 0. */
struct label smurf_power_of_ten(int exponent);

/* A growing sentence; text that does not fit is truncated. */
struct words {
    char text[1024];
    size_t used;
    bool no_memory; /* set by who finds the words: something may be missing */
};
/* Formats with %s, %d and %zu only: others depend on the locale. */
void smurf_words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes text as valid UTF-8 without control characters into out (size bytes, at least 8): invalid bytes are read as
   Latin-1, control characters become spaces, text that does not fit is truncated. */
void smurf_clean(char *out, size_t size, const char *text);
/* Approximate width of clean text at font size 1; errs on the wide side for common fonts. */
double smurf_text_width(const char *text);
/* Like smurf_clean, truncated to a width with "…" if needed. */
void smurf_clean_to_width(char *out, size_t size, const char *text, double width);

#endif
