/*
 * roles.h - how well a column fits a role, by name and content. Used by choose.c.
 */
#ifndef SMURF_DATA_ROLES_H
#define SMURF_DATA_ROLES_H

#include "data/columns.h"
#include "data/sniff.h"

/* A column as candidate. */
struct candidate {
    const struct field *name;
    bool header; /* the name comes from the file */
    const struct sniff_column *seen;
    size_t rows;
    bool partial;     /* there are more rows than these */
    bool no_sequence; /* its values hardly repeat, or only at the same time */
    bool further;     /* named as a further column: it fits no role */
    double readable;  /* share of its cells that are times */
    struct time_format format;
};

void smurf_candidate_init(struct candidate *c, const struct field *name, bool header, const struct sniff_column *seen,
                          size_t rows, bool partial);
/* 0: unfit; below ROLE_SURE only worth a mention. */
enum { ROLE_SURE = 100 };
int smurf_role_score(enum column_role role, const struct candidate *candidate);

/* Does the column hold dates or clock times? */
bool smurf_candidate_is_date(const struct candidate *candidate);
bool smurf_candidate_is_clock(const struct candidate *candidate);
/* Does it hold clock times, or numbers such as 102617, which are clock times if they make sense beside a date? */
bool smurf_candidate_may_be_clock(const struct candidate *candidate);

#endif
