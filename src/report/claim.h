/*
 * claim.h - what a page claims about the model. Each claim is decided once, on the numbers as they are shown, by a test
 * against chance or against the best naive law; sentence, tile and table print that decision.
 *
 * A new claim is a name in `enum claim_name` and a line in the table of claim.c; its column is named in table.c.
 */
#ifndef SMURF_REPORT_CLAIM_H
#define SMURF_REPORT_CLAIM_H

#include "eval/evaluation.h"
#include "report/words.h"

/* In the order of the page. */
enum claim_name {
    CLAIM_INSIDE,     /* gaps inside the central 90% intervals, by the PIT */
    CLAIM_LEVELS,     /* calibration score */
    CLAIM_CRPS,       /* gain in CRPS over the best naive law */
    CLAIM_LIKELIHOOD, /* against the best naive law */
    CLAIM_TYPES,      /* accuracy of types, against the most frequent successor */
    CLAIMS,
};

enum finding {
    FINDING_NONE,   /* no test */
    FINDING_EVEN,   /* the difference is within chance */
    FINDING_BETTER, /* than the naive law */
    FINDING_WORSE,  /* than the naive law, or than chance explains */
};

struct claim {
    enum finding finding;
    double value;       /* as shown; NaN: not measured, there is no claim */
    double reference;   /* the nominal value, the limit of chance, or the value of the naive law */
    double difference;  /* value - reference, as shown; of the CRPS, the gain in % */
    double low, high;   /* chance alone gives values, or the 90% interval has differences, from low to high */
    const char *rival;  /* the naive law; NULL: none */
    struct label shown; /* the value */
    struct label word;  /* the finding: "3.4 points too few", "better than recent"; "" without a test */
    bool no_memory;     /* the test could not be done for lack of memory */
};

/* False: out of memory. */
bool smurf_claims_find(struct claim claim[CLAIMS], const struct evaluation *evaluation);

/* The name of the claim on the page, for tests; and of a finding. */
const char *smurf_claim_id(enum claim_name name);
const char *smurf_finding_id(enum finding finding);

/* The claim in a sentence; nothing if it was not measured or need not be said. */
void smurf_claim_say(struct words *words, enum claim_name name, const struct claim claim[CLAIMS],
                     const struct evaluation *evaluation);

/* A key number. */
struct tile {
    const char *what;
    struct words small; /* the finding and its reference */
};
/* False: the claim has no tile. Its number is claim->shown. */
bool smurf_claim_tile(struct tile *out, enum claim_name name, const struct claim claim[CLAIMS],
                      const struct evaluation *evaluation);

static inline bool is_naive(enum row row)
{
    return row >= ROW_MARGINAL && row <= ROW_LAST;
}
/* Gain in CRPS over the best naive law, in percent; NaN without. */
double smurf_gain(const struct evaluation *evaluation, enum row row);
/* Share of gaps inside the middle 90%, in percent: by the PIT if available, since it is not affected by clock ticks. */
double smurf_inside(const struct evaluation *evaluation, enum row row);
/* The metric that CLAIM_LEVELS tests: the calibration score that clock ticks do not distort. */
const smurf_metric *smurf_fair_cs(const struct evaluation *evaluation);

#endif
