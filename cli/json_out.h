/*
 * json_out.h - writes JSON strings and numbers.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdio.h>

/* A JSON string; invalid UTF-8 becomes U+FFFD. */
void put_string(FILE *out, const char *text);
/* The shortest decimal that reads back as x; null if x is not finite. */
void put_number(FILE *out, double x);
/* Up to nine digits, for computed values; null if x is not finite. */
void put_rounded(FILE *out, double x);

#endif
