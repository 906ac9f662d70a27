/*
 * fingerprint.h - hashes of data and settings, to recognise work that is already done.
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include "smurf_lab.h"

enum { FINGERPRINT_TEXT = 17 };
typedef uint64_t fingerprint;

/* Start with 0. Each returns `before` extended by the new value. */
fingerprint fingerprint_number(fingerprint before, uint64_t number);
fingerprint fingerprint_text(fingerprint before, const char *text);
/* Covers events, what is scored, observation windows and the unit; not names. data may be NULL. */
fingerprint fingerprint_data(fingerprint before, const smurf_data *data);
/* 16 hex digits. */
void fingerprint_write(char text[FINGERPRINT_TEXT], fingerprint value);

#endif
