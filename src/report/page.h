/* page.h - the parts of the HTML page: its words on top (verdict.c), its table (table.c), and all of it (html.c). */
#ifndef SMURF_REPORT_PAGE_H
#define SMURF_REPORT_PAGE_H

#include "eval/evaluation.h"
#include "report/words.h"
#include "data/sink.h"

/* What the numbers come to, in plain words. */
void smurf_verdict(struct words *words, const struct evaluation *evaluation);

/* Four numbers for those in a hurry. */
struct tile {
    const char *what;
    struct label value;
    struct words against; /* what to compare it with */
};
enum { TILES = 4 };
/* Returns how many there are. */
size_t smurf_verdict_tiles(struct tile tile[TILES], const struct evaluation *evaluation);

/* The table of metrics and the notes below it. */
void smurf_table_write(struct sink *sink, const struct evaluation *evaluation);

/* What stands around any page: up to the first words of its body, with title and style; and its footer, with one more
   remark. */
void smurf_page_begin(struct sink *sink, const char *what, const char *title);
void smurf_page_end(struct sink *sink, const char *more);

/* figures: files of the figures were asked for. */
void smurf_page_write(struct sink *sink, const struct evaluation *evaluation, bool figures);

/* CRPS of the better of the naive laws, and its row; NaN and ROWS without. */
double smurf_best_naive(const struct evaluation *evaluation, enum row *row);

#endif
