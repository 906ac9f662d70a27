/* page.h - the parts of the HTML page: its summary (verdict.c), its table (table.c), and the whole page (html.c). */
#ifndef SMURF_REPORT_PAGE_H
#define SMURF_REPORT_PAGE_H

#include "eval/evaluation.h"
#include "report/words.h"
#include "data/sink.h"

/* The results in plain words. */
void smurf_verdict(struct words *words, const struct evaluation *evaluation);

/* Four key numbers. */
struct tile {
    const char *what;
    struct label value;
    struct words against; /* the reference value */
};
enum { TILES = 4 };
/* Returns the number of tiles. */
size_t smurf_verdict_tiles(struct tile tile[TILES], const struct evaluation *evaluation);

/* The table of metrics and the notes below it. */
void smurf_table_write(struct sink *sink, const struct evaluation *evaluation);

/* The frame of a page: everything up to the start of its body, with title and style; and its footer, with one more
   remark. */
void smurf_page_begin(struct sink *sink, const char *what, const char *title);
void smurf_page_end(struct sink *sink, const char *more);

/* figures: figure files were requested. */
void smurf_page_write(struct sink *sink, const struct evaluation *evaluation, bool figures);

/* CRPS of the better naive law, and its row; NaN and ROWS without. */
double smurf_best_naive(const struct evaluation *evaluation, enum row *row);

#endif
