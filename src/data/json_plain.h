/*
 * json_plain.h - a fast path for arrays of numbers: elements as printers write them, within a window.
 *
 * A plain element has no sign, no exponent and up to 18 digits, and is followed by a comma and the same number of
 * blanks, zero or one, as the elements before. Each function takes elements until one is not plain, is out of range, or
 * is the last one in the window, and leaves that one to the scanner, which reports errors.
 */
#ifndef SMURF_DATA_JSON_PLAIN_H
#define SMURF_DATA_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAIN_PAD = 64 };

struct plain {
    const char *p;   /* the next element */
    const char *end; /* of the text; PLAIN_PAD zero bytes after it are readable, as in a source */
    bool blank;      /* a blank follows commas here; kept from one array to the next */
};

/* Writes up to `room` times minus origin to out, as smurf_decimal_offset gives them; returns how many. */
size_t smurf_plain_times(struct plain *in, double *out, size_t room, int64_t origin);
/* Writes up to `room` types of up to 7 digits to out and raises *max to the largest; returns how many. */
size_t smurf_plain_types(struct plain *in, uint32_t *out, size_t room, uint32_t *max);

#endif
