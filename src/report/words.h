/*
 * words.h - numbers and names as people read them, free of the locale.
 *
 *     struct words w = {0};
 *     smurf_words_add(&w, "%s%% of %s gaps", smurf_fixed(89.7, 1).text, smurf_count(95907).text);
 *
 * Labels are handed out by value and live to the end of the expression they stand in.
 */
#ifndef SMURF_REPORT_WORDS_H
#define SMURF_REPORT_WORDS_H

#include "smurf_lab.h"

struct label {
    char text[64];
};

/* "12,345". */
struct label smurf_count(size_t n);
/* With so many places after the point; "–" for what is not finite, powers of ten past 15 digits. */
struct label smurf_fixed(double x, int places);
/* With so many significant digits: "0.0123", "4,560", "1.23×10⁹"; "–" for what is not finite. */
struct label smurf_significant(double x, int digits);
/* "10⁻³"; 1 for 0. */
struct label smurf_power_of_ten(int exponent);

/* A sentence that grows; what does not fit is cut off. */
struct words {
    char text[1024];
    size_t used;
};
/* Formats with %s, %d and %zu only: others would ask the locale. */
void smurf_words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes text as valid UTF-8 without control characters into out (size bytes, at least 8): bytes that are no UTF-8 are
   taken for Latin-1, control characters become spaces, what does not fit is cut off. */
void smurf_clean(char *out, size_t size, const char *text);
/* About how wide clean text of a font size of 1 is: on the safe side for the fonts there are. */
double smurf_text_width(const char *text);
/* The same as smurf_clean, cut to a width with "…" where needed. */
void smurf_clean_to_width(char *out, size_t size, const char *text, double width);

#endif
