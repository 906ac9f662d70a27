/* markup.h - text and numbers into HTML and SVG: nothing a user named can become a tag. */
#ifndef SMURF_REPORT_MARKUP_H
#define SMURF_REPORT_MARKUP_H

#include "data/sink.h"

/* Any bytes, as text or as the value of an attribute in double quotes. */
void smurf_markup_text(struct sink *sink, const char *text);
/* To a hundredth, with a point whatever the locale. x is finite and below 1e12. */
void smurf_markup_number(struct sink *sink, double x);
/* "#0072b2" */
void smurf_markup_hex(struct sink *sink, unsigned rgb);

#endif
