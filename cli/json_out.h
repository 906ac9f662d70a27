/*
 * json_out.h - strings and numbers as JSON.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdio.h>

/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
void put_string(FILE *out, const char *text);
/* The shortest decimal that reads back as x; null where x is not finite. */
void put_number(FILE *out, double x);
/* Up to nine digits, for what was computed rather than given; null where x is not finite. */
void put_rounded(FILE *out, double x);

#endif
