/*
 * encoding.h - text that is not UTF-8 is taken to be Windows-1252, of which Latin-1 is a part.
 */
#ifndef SMURF_DATA_ENCODING_H
#define SMURF_DATA_ENCODING_H

#include "data/names.h"

bool smurf_text_is_utf8(const char *text, size_t n);
/* Decodes Windows-1252 to UTF-8; out has room for 3 n bytes. Returns the length. */
size_t smurf_text_decode(char *out, const char *text, size_t n);

/* smurf_names_intern of the text as UTF-8; *decoded is set to true if it had to be decoded. */
uint32_t smurf_names_intern_utf8(struct names *names, const char *text, size_t n, bool *decoded);

#endif
