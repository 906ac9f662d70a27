/* roles.c - see roles.h. */
#include "data/roles.h"

#include <string.h>

enum { USUAL = 10000, FEW = 50 };
/* Cells of a column of times that must be readable, and of a type or sequence that must not be empty. */
static const double readable_least = 0.95, filled_least = 0.5;

void smurf_candidate_init(struct candidate *c, const struct field *name, bool header, const struct sniff_column *seen,
                          size_t rows, bool partial)
{
    char note[TIME_NOTE];
    *c = (struct candidate){.name = name, .header = header, .seen = seen, .rows = rows, .partial = partial};
    if (!seen->no_time) c->readable = smurf_time_guess_best(&seen->time, &c->format, note);
}

static bool is_time(const struct candidate *c)
{
    return c->readable >= readable_least;
}

static bool is_number(const struct candidate *c)
{
    return strcmp(c->format.text, "number") == 0 || strncmp(c->format.text, "epoch", 5) == 0;
}

bool smurf_candidate_is_date(const struct candidate *c)
{
    return is_time(c) && !is_number(c) && (c->format.parts & TIME_DATE);
}

bool smurf_candidate_is_clock(const struct candidate *c)
{
    return is_time(c) && !is_number(c) && !(c->format.parts & TIME_DATE) && (c->format.parts & TIME_CLOCK);
}

static bool is_filled(const struct candidate *c)
{
    return (double)c->seen->cells >= filled_least * (double)c->rows;
}

static int strength_of(const struct candidate *c, enum column_role role)
{
    return c->header ? smurf_column_strength(role, c->name->text, c->name->n) : COLUMN_NO_NAME;
}

bool smurf_candidate_may_be_clock(const struct candidate *c)
{
    return smurf_candidate_is_clock(c) || (strength_of(c, COLUMN_TIME) >= COLUMN_NAMED && c->seen->cells &&
                                           c->seen->wholes == c->seen->cells && c->seen->largest < 240000);
}

/* Dates before numbers since 1970 before other numbers, which need a name that says so or, without a header, rise. A
   day of the usual name loses to a moment of a telling one: "date" to "started_at", but not to "updated_at". */
static int time_score(const struct candidate *c)
{
    int strength = strength_of(c, COLUMN_TIME);
    if (!is_time(c) || !is_filled(c)) return 0;
    if (smurf_candidate_is_clock(c)) return ROLE_SURE;
    bool day = smurf_candidate_is_date(c) && !(c->format.parts & TIME_CLOCK);
    if (strength >= COLUMN_USUAL_NAME) return day ? 5500 + 1000 * COLUMN_HINT + strength : USUAL + strength;
    if (smurf_candidate_is_date(c)) return (day ? 4000 : 5000) + 1000 * strength;
    if (strncmp(c->format.text, "epoch", 5) == 0) return 500 + 1000 * strength;
    if (c->header) return strength ? 200 + 100 * strength : 0;
    return c->seen->falls ? 0 : ROLE_SURE + (c->seen->repeats == 0) + (c->seen->indices < c->seen->numbers);
}

static bool is_date_like(const struct candidate *c)
{
    return smurf_candidate_is_date(c) || smurf_candidate_is_clock(c);
}

/* Values come back; in a few rows they need not. */
static bool repeats(const struct sniff_column *seen, double times)
{
    return (double)seen->cells >= times * (double)smurf_sniff_distinct(seen) && seen->repeats;
}

static int sequence_score(const struct candidate *c)
{
    const struct sniff_column *seen = c->seen;
    int strength = strength_of(c, COLUMN_SEQUENCE);
    if (c->no_sequence || !is_filled(c) || (seen->cells >= FEW && !seen->repeats)) return 0;
    if (strength >= COLUMN_USUAL_NAME) return smurf_sniff_distinct(seen) > 1 ? USUAL + strength : ROLE_SURE + strength;
    if (is_date_like(c) || seen->wholes < seen->numbers) return 0;
    if (smurf_sniff_distinct(seen) < 2) /* so far one long sequence */
        return c->partial && strength >= COLUMN_LIKELY ? ROLE_SURE + strength : 0;
    if (!c->header) return repeats(seen, 3) && smurf_sniff_distinct(seen) > FEW ? ROLE_SURE : 0;
    if (!repeats(seen, 1.5)) return 0;
    return strength >= COLUMN_LIKELY ? 1000 * strength : strength;
}

static int type_score(const struct candidate *c)
{
    const struct sniff_column *seen = c->seen;
    size_t distinct = smurf_sniff_distinct(seen);
    int strength = strength_of(c, COLUMN_TYPE);
    bool usual = strength >= COLUMN_USUAL_NAME, words = 2 * seen->numbers < seen->cells;
    if (!is_filled(c) || (seen->cells >= FEW && !seen->repeats)) return 0;
    if (distinct < 2) return usual && distinct ? ROLE_SURE : 0;
    if (usual) return USUAL + strength;
    if (is_date_like(c) || !repeats(seen, seen->cells < FEW ? 1 : 2)) return 0;
    if (strength >= COLUMN_LIKELY) return 1000 * strength;
    if (seen->flags == seen->cells || !repeats(seen, seen->cells < FEW ? 2 : 5) || distinct > 200) return 0;
    int few = 200 - (int)distinct;
    if (strength) return 1000 * strength + few;
    if (words) return 500 + few;
    return !c->header && seen->indices == seen->cells && distinct <= FEW ? ROLE_SURE + few : 0;
}

int smurf_role_score(enum column_role role, const struct candidate *c)
{
    if (c->further) return 0;
    switch (role) {
    case COLUMN_TIME: return time_score(c);
    case COLUMN_SEQUENCE: return sequence_score(c);
    case COLUMN_TYPE: return type_score(c);
    default: return 0;
    }
}
