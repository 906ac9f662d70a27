/*
 * encoding.h - text that is not UTF-8: UTF-16 if a byte order mark says so, otherwise Windows-1252, of which Latin-1 is
 * a part.
 */
#ifndef SMURF_DATA_ENCODING_H
#define SMURF_DATA_ENCODING_H

#include "data/names.h"

bool smurf_text_is_utf8(const char *text, size_t n);
/* Decodes Windows-1252 to UTF-8; out has room for 3 n bytes. Returns the length. */
size_t smurf_text_decode(char *out, const char *text, size_t n);

/* Decodes UTF-16 without its byte order mark to UTF-8; out has room for 3 n / 2 + 3 bytes. *used is how much of the
   text was taken: all of it if it is the last, otherwise up to the last whole character. What is no character becomes
   U+FFFD. Returns the length. */
size_t smurf_text_decode_utf16(char *out, const unsigned char *text, size_t n, bool big, bool last, size_t *used);

/* smurf_names_intern of the text as UTF-8; *decoded is set to true if it had to be decoded. */
uint32_t smurf_names_intern_utf8(struct names *names, const char *text, size_t n, bool *decoded);

#endif
