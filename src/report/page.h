/* page.h - the parts of the HTML page: its table (table.c), and the whole page (html.c). claim.h has what it claims. */
#ifndef SMURF_REPORT_PAGE_H
#define SMURF_REPORT_PAGE_H

#include "data/sink.h"
#include "report/claim.h"

/* The table of metrics, with the findings of the claims, and the notes below it. */
void smurf_table_write(struct sink *sink, const struct evaluation *evaluation, const struct claim claim[CLAIMS]);

/* ' data-claim="NAME" data-finding="better"', which styles a claim and lets tests find it. */
void smurf_page_mark(struct sink *sink, enum claim_name name, const struct claim claim[CLAIMS]);

/* The frame of a page: everything up to the start of its body, with title and style; and its footer, with one more
   remark. */
void smurf_page_begin(struct sink *sink, const char *what, const char *title);
void smurf_page_end(struct sink *sink, const char *more);

/* figures: figure files were requested. */
void smurf_page_write(struct sink *sink, const struct evaluation *evaluation, bool figures);

#endif
