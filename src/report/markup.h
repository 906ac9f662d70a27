/* markup.h - writes text and numbers into HTML and SVG; user-supplied names cannot become tags. */
#ifndef SMURF_REPORT_MARKUP_H
#define SMURF_REPORT_MARKUP_H

#include "data/sink.h"

/* Any bytes, as text or as an attribute value in double quotes. */
void smurf_markup_text(struct sink *sink, const char *text);
/* The same between two pieces of markup: "<td>", text, "</td>". */
void smurf_markup_between(struct sink *sink, const char *before, const char *text, const char *after);
/* Two decimals, with a point in any locale. x is finite and below 1e12. */
void smurf_markup_number(struct sink *sink, double x);
/* "#0072b2" */
void smurf_markup_hex(struct sink *sink, unsigned rgb);

#endif
