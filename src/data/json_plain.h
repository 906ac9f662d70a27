/*
 * json_plain.h - the common case of arrays of numbers, fast: elements as printers write them, in the middle of a
 * window.
 *
 * A plain element has no sign and no exponent, up to 18 digits, and behind it a comma and as many blanks, one or none,
 * as the elements before. Each function takes elements until one is not plain, is beyond what is allowed, or has no
 * other behind it here, and leaves that one to the scanner, which knows what to say.
 */
#ifndef SMURF_DATA_JSON_PLAIN_H
#define SMURF_DATA_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAIN_PAD = 64 };

struct plain {
    const char *p;   /* the element that comes next */
    const char *end; /* of the text; PLAIN_PAD bytes behind it can be read and are zero, as a source has them */
    bool blank;      /* what stands behind commas here; kept from one array to the next */
};

/* Up to `room` times less origin to out, as smurf_decimal_offset gives them; returns how many. */
size_t smurf_plain_times(struct plain *in, double *out, size_t room, int64_t origin);
/* Up to `room` types of up to 7 digits to out, and the largest to *max if it is larger; returns how many. */
size_t smurf_plain_types(struct plain *in, uint32_t *out, size_t room, uint32_t *max);

#endif
