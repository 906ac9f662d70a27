/*
 * fingerprint.h - numbers that tell data and settings apart, so that work done before is known again.
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include "smurf_lab.h"

enum { FINGERPRINT_TEXT = 17 };
typedef uint64_t fingerprint;

/* Start with 0. Each returns the fingerprint of what went before and this. */
fingerprint fingerprint_number(fingerprint before, uint64_t number);
fingerprint fingerprint_text(fingerprint before, const char *text);
/* Every event, what is scored of them, when they were observed; not names. data may be NULL. */
fingerprint fingerprint_data(fingerprint before, const smurf_data *data);
/* 16 digits. */
void fingerprint_write(char text[FINGERPRINT_TEXT], fingerprint value);

#endif
