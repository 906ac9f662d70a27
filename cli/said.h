/* said.h - an answer as text, to be given again to the same question about the same events. */
#ifndef SAID_H
#define SAID_H

#include "show_forecast.h"

struct said;

/* Copies the text of an answer after so many events, of that revision (store.h). NULL: out of memory. Free with
   free(). */
struct said *said_new(const struct question *question, size_t events, size_t revision, const char *text, size_t size);
/* The text, if it answers this question after the same events; else NULL. A question about now is never the same. */
const char *said_text(const struct said *said, const struct question *question, size_t events, size_t revision,
                      size_t *size);
/* Its memory in bytes; 0 for NULL. */
size_t said_size(const struct said *said);

#endif
