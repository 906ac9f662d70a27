/* choose.c - see choose.h. */
#include "data/choose.h"

#include "data/roles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct choose {
    const struct choosing *table;
    struct choice *choice;
    struct candidate *candidate; /* (columns), NULL without a sample */
    size_t columns;              /* candidates */
    bool joined;                 /* the time's parts were found, not named */
    char note[TIME_NOTE];
    smurf_error *err;
};

/* ---- By name ---------------------------------------------------------------------------------- */

enum { LIST = 256 };

/* The names of the columns: "a, b, c". */
static const char *list_columns(char list[LIST], const struct choosing *t)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < t->columns && used < LIST; i++)
        used += (size_t)snprintf(list + used, LIST - used, "%s%.*s", i ? ", " : "", FIELD_SHOWN(t->name[i]));
    if (used >= LIST) memcpy(list + LIST - 4, "...", 4);
    return list;
}

static smurf_status missing_column(const struct choosing *t, const char *wanted, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_INPUT, "there is no column '%s' in the %s (it has %s)", wanted,
                      t->header ? "header" : "file", list_columns((char[LIST]){0}, t));
}

static smurf_status same_name(const struct choosing *t, size_t i, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_INPUT, "two columns are called '%.*s' (rename one)", FIELD_SHOWN(t->name[i]));
}

/* The column of this name, -1 if there is none; -2 if there are several: *second is the later one. */
static ptrdiff_t find_name(const struct choosing *t, const char *text, size_t n, size_t *second)
{
    ptrdiff_t found = -1;
    for (size_t i = 0; i < t->columns; i++) {
        if (t->name[i].n != n || memcmp(t->name[i].text, text, n) != 0) continue;
        if (found >= 0) {
            *second = i;
            return -2;
        }
        found = (ptrdiff_t)i;
    }
    return found;
}

/* Finds the columns that `names` lists, separated by commas unless one column has that very name. *found is false if
   one is missing. */
static smurf_status find_names(const struct choosing *t, const char *names, ptrdiff_t *part, size_t *parts, bool *found,
                               smurf_error *err)
{
    size_t second = 0;
    ptrdiff_t whole = find_name(t, names, strlen(names), &second);
    *found = true;
    *parts = 1;
    if (whole == -2) return same_name(t, second, err);
    part[0] = whole;
    if (whole >= 0) return SMURF_OK;
    *parts = 0;
    for (const char *p = names; *found; p++) {
        size_t n = strcspn(p, ",");
        ptrdiff_t column = *parts < CHOICE_PARTS ? find_name(t, p, n, &second) : -1;
        if (column == -2) return same_name(t, second, err);
        *found = column >= 0;
        if (*found) part[(*parts)++] = column;
        p += n;
        if (!*p) break;
    }
    return SMURF_OK;
}

/* Takes the named columns for a role; "" is none. */
static smurf_status take_names(struct choose *c, enum column_role role, const char *names, bool *found)
{
    ptrdiff_t part[CHOICE_PARTS];
    size_t parts;
    *found = true;
    if (!*names && role != COLUMN_TIME) return SMURF_OK;
    smurf_status status = find_names(c->table, names, part, &parts, found, c->err);
    if (status || !*found) return status;
    if (role != COLUMN_TIME && parts > 1) {
        *found = false;
        return SMURF_OK;
    }
    c->choice->column[role] = part[0];
    if (role == COLUMN_TIME) {
        memcpy(c->choice->part, part, sizeof part);
        c->choice->parts = parts;
    }
    return SMURF_OK;
}

/* By the usual names alone: for windows, and where there is no sample. */
static smurf_status take_usual(struct choose *c, enum column_role role)
{
    const struct choosing *t = c->table;
    static const smurf_read_config none = {0};
    int best = -1;
    for (size_t i = 0; i < t->columns && t->header; i++) {
        int rank = smurf_column_rank(role, t->name[i].text, t->name[i].n, &none);
        if (rank >= 0 && rank == best) return same_name(t, i, c->err);
        if (rank >= 0 && (best < 0 || rank < best)) best = rank, c->choice->column[role] = (ptrdiff_t)i;
    }
    if (role == COLUMN_TIME && best >= 0) {
        c->choice->part[0] = c->choice->column[role];
        c->choice->parts = 1;
    }
    return SMURF_OK;
}

/* ---- By score --------------------------------------------------------------------------------- */

static bool is_taken(const struct choice *choice, size_t i)
{
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (choice->column[role] == (ptrdiff_t)i) return true;
    for (size_t k = 0; k < choice->parts; k++)
        if (choice->part[k] == (ptrdiff_t)i) return true;
    return false;
}

static ptrdiff_t best_of(const struct choose *c, enum column_role role, int least, int *score)
{
    ptrdiff_t best = -1;
    *score = 0;
    for (size_t i = 0; i < c->columns; i++) {
        int fit = is_taken(c->choice, i) ? 0 : smurf_role_score(role, &c->candidate[i]);
        if (fit >= least && fit > *score) *score = fit, best = (ptrdiff_t)i;
    }
    return best;
}

/* A second column of the very same name, which later files could not tell apart, or of one that differs in case and
   fits as well. */
static smurf_status check_same_name(const struct choose *c, enum column_role role)
{
    const struct choosing *t = c->table;
    ptrdiff_t taken = c->choice->column[role];
    for (size_t i = 0; taken >= 0 && i < c->columns && t->header; i++) {
        const struct field *a = &t->name[i], *b = &t->name[taken];
        if (i == (size_t)taken || a->n != b->n || strncasecmp(a->text, b->text, a->n) != 0) continue;
        if (memcmp(a->text, b->text, a->n) == 0 || smurf_role_score(role, &c->candidate[i]) >= ROLE_SURE)
            return same_name(t, i > (size_t)taken ? i : (size_t)taken, c->err);
    }
    return SMURF_OK;
}

static smurf_status take_best(struct choose *c, enum column_role role)
{
    int score;
    if (!c->candidate) return take_usual(c, role);
    ptrdiff_t best = best_of(c, role, ROLE_SURE, &score);
    c->choice->column[role] = best;
    return check_same_name(c, role);
}

/* ---- Times in several columns ------------------------------------------------------------------ */

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

enum part_of_date { PART_DATE, PART_MONTH, PART_DAY, PART_YEAR };

/* The names of the parts are listed with commas. */
static bool can_be_listed(const struct candidate *c)
{
    return !memchr(c->name->text, ',', c->name->n);
}

static bool is_part(const struct candidate *c, enum part_of_date part)
{
    const struct sniff_column *seen = c->seen;
    if (!seen->cells || 20 * seen->cells < 19 * c->rows || !can_be_listed(c)) return false;
    switch (part) {
    case PART_DATE: return smurf_candidate_is_date(c) && !(c->format.parts & TIME_CLOCK);
    case PART_MONTH: return seen->months == seen->cells;
    case PART_DAY: return seen->days == seen->cells;
    default:
        return c->header && c->name->n == 4 && strncasecmp(c->name->text, "year", 4) == 0 &&
               seen->indices == seen->cells;
    }
}

/* The column nearest to `from` that holds such a part. */
static ptrdiff_t nearest(const struct choose *c, size_t from, enum part_of_date part)
{
    ptrdiff_t best = -1;
    for (size_t i = 0; i < c->columns; i++)
        if (i != from && is_part(&c->candidate[i], part) &&
            (best < 0 || distance(i, from) < distance((size_t)best, from)))
            best = (ptrdiff_t)i;
    return best;
}

/* A clock needs a date, whole or as month and day (and year) near it. */
static void find_parts(struct choose *c, size_t clock)
{
    ptrdiff_t *part = c->choice->part;
    size_t *n = &c->choice->parts;
    ptrdiff_t date = nearest(c, clock, PART_DATE), month = nearest(c, clock, PART_MONTH);
    *n = 0;
    if (date >= 0) {
        part[(*n)++] = date;
    } else if (month >= 0) {
        ptrdiff_t day = nearest(c, (size_t)month, PART_DAY), year = nearest(c, (size_t)month, PART_YEAR);
        if (day < 0 || distance((size_t)day, (size_t)month) > 2) return;
        if (year >= 0) { /* 10 Dec 2015 06:55:46 */
            part[(*n)++] = day;
            part[(*n)++] = month;
            part[(*n)++] = year;
        } else {
            part[(*n)++] = month;
            part[(*n)++] = day;
        }
    } else {
        return;
    }
    part[(*n)++] = (ptrdiff_t)clock;
}

smurf_status smurf_choice_join(const struct choice *choice, const struct field *cell, size_t n, char **room,
                               size_t *room_n, struct field *out, smurf_error *err)
{
    size_t need = 1;
    for (size_t k = 0; k < choice->parts; k++)
        if ((size_t)choice->part[k] < n) need += cell[choice->part[k]].n + 1;
    if (!smurf_grow(room, room_n, need, 1)) return smurf_fail_memory(err);
    char *p = *room;
    for (size_t k = 0; k < choice->parts; k++) {
        if ((size_t)choice->part[k] >= n || !cell[choice->part[k]].n) continue;
        if (p > *room) *p++ = ' ';
        memcpy(p, cell[choice->part[k]].text, cell[choice->part[k]].n);
        p += cell[choice->part[k]].n;
    }
    *p = '\0';
    *out = (struct field){*room, (size_t)(p - *room)};
    return SMURF_OK;
}

/* ---- Sequences --------------------------------------------------------------------------------- */

/* The sample once more, for one column: how often its values come back, and whether time passes in between. */
struct returns {
    const struct choice *choice; /* of the time */
    size_t column;
    struct names value, time;
    uint32_t *last; /* (value.count) its last time */
    size_t room;
    size_t cells, later; /* cells; those whose value came before, at another time */
    char *joined;
    size_t joined_room;
};

static smurf_status see_return(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    struct returns *r = to;
    struct field time;
    if (r->column >= n || !cell[r->column].n) return SMURF_OK;
    smurf_status status = smurf_choice_join(r->choice, cell, n, &r->joined, &r->joined_room, &time, err);
    if (status || !time.n) return status;
    uint32_t known = r->value.count, value = smurf_names_intern(&r->value, cell[r->column].text, cell[r->column].n);
    uint32_t when = smurf_names_intern(&r->time, time.text, time.n);
    if (value == NAMES_FULL || when == NAMES_FULL || !smurf_grow(&r->last, &r->room, value + 1u, sizeof *r->last))
        return smurf_fail_memory(err);
    r->cells++;
    r->later += value < known && r->last[value] != when;
    r->last[value] = when;
    return SMURF_OK;
}

/* An id that hardly repeats, or only at one time, as the lines of an invoice do, names no sequences. In a part of a
   file values may come back later. */
static smurf_status check_sequence(struct choose *c, size_t column)
{
    enum { ENOUGH = 50 };
    struct candidate *candidate = &c->candidate[column];
    struct returns r = {.choice = c->choice, .column = column};
    if (candidate->seen->cells < ENOUGH || !r.choice->parts) return SMURF_OK;
    smurf_status status = c->table->rows->each(c->table->rows->context, see_return, &r, c->err);
    if (!status && r.time.count > 1) {
        const struct field *name = candidate->name;
        bool usual =
            candidate->header && smurf_column_strength(COLUMN_SEQUENCE, name->text, name->n) >= COLUMN_USUAL_NAME;
        double least = c->table->partial ? 1.01 : usual ? 1.1 : 1.5;
        candidate->no_sequence = r.value.count > 1 && (!r.later || (double)r.cells < least * (double)r.value.count);
    }
    smurf_names_release(&r.value);
    smurf_names_release(&r.time);
    free(r.last);
    free(r.joined);
    return status;
}

static smurf_status find_sequence(struct choose *c)
{
    for (;;) {
        smurf_status status = take_best(c, COLUMN_SEQUENCE);
        ptrdiff_t column = c->choice->column[COLUMN_SEQUENCE];
        if (status || !c->candidate || column < 0) return status;
        status = check_sequence(c, (size_t)column);
        if (status || !c->candidate[column].no_sequence) return status;
        c->choice->column[COLUMN_SEQUENCE] = -1;
    }
}

/* ---- The format of times ----------------------------------------------------------------------- */

/* The sample once more, for its times only. */
struct second_look {
    const struct choice *choice;
    struct time_guess guess;
    struct time_reader *reader; /* NULL: none to try */
    size_t cells, read;
    char *room;
    size_t room_n;
};

static smurf_status look_again(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    struct second_look *look = to;
    struct field time = {"", 0};
    struct decimal d;
    smurf_status status = smurf_choice_join(look->choice, cell, n, &look->room, &look->room_n, &time, err);
    if (status || !time.n) return status;
    smurf_time_guess_see(&look->guess, time.text, time.n);
    look->cells++;
    look->read += look->reader && smurf_time_read(look->reader, &d, time.text, time.n);
    return SMURF_OK;
}

/* Guesses the format of the chosen column or columns. An earlier reading's format stays if it reads as much. */
static smurf_status guess_format(struct choose *c, const char *earlier, double *share)
{
    struct choice *choice = c->choice;
    const struct choosing *t = c->table;
    *share = 0;
    if (!c->candidate) return SMURF_OK;
    struct second_look look = {.choice = choice};
    struct time_format known;
    struct time_reader reader;
    smurf_status status = SMURF_OK;
    bool has = earlier && !smurf_time_format_parse(&known, earlier, NULL);
    if (has) status = smurf_time_reader_init(&reader, &known, t->config->timezone, c->err);
    if (status) return status;
    if (has) look.reader = &reader;
    smurf_time_guess_init(&look.guess);
    status = t->rows->each(t->rows->context, look_again, &look, c->err);
    free(look.room);
    if (has) smurf_time_reader_release(&reader);
    if (status) return status;
    *share = smurf_time_guess_best(&look.guess, &choice->format, c->note);
    choice->has_format = *share > 0;
    choice->mixed = !t->config->unit && smurf_time_guess_mixed(&look.guess);
    if (choice->mixed)
        return smurf_fail(c->err, SMURF_ERROR_INPUT,
                          "times in '%.*s' are since 1970 in several units, such as seconds and milliseconds (use one "
                          "unit, or --time-format number if they are plain numbers)",
                          FIELD_SHOWN(t->name[choice->part[0]]));
    if (has && (double)look.read >= 0.95 * *share * (double)look.cells) {
        choice->format = known;
        choice->has_format = true;
        c->note[0] = '\0';
    } else if (has && t->builder) {
        return smurf_builder_remark(t->builder, c->err, "times are not written as in training ('%s'): read as '%s'",
                                    earlier, choice->format.text);
    }
    return SMURF_OK;
}

static ptrdiff_t first_column(const struct choose *c, bool fits(const struct candidate *candidate))
{
    for (size_t i = 0; i < c->columns; i++)
        if (fits(&c->candidate[i]) && can_be_listed(&c->candidate[i])) return (ptrdiff_t)i;
    return -1;
}

/* Takes the best column; a clock alone is joined with its date. */
static smurf_status find_time(struct choose *c)
{
    struct choice *choice = c->choice;
    double share;
    int score = 0;
    if (!c->candidate) return take_usual(c, COLUMN_TIME);
    ptrdiff_t best = best_of(c, COLUMN_TIME, 1, &score), clock = first_column(c, smurf_candidate_is_clock);
    if (clock < 0) clock = first_column(c, smurf_candidate_may_be_clock);
    bool complete =
        best >= 0 && smurf_candidate_is_date(&c->candidate[best]) && (c->candidate[best].format.parts & TIME_CLOCK);
    if (clock >= 0 && !complete) {
        find_parts(c, (size_t)clock);
        if (choice->parts) {
            smurf_status status = guess_format(c, NULL, &share);
            if (status) return status;
            if (share >= 0.95 && (choice->format.parts & TIME_DATE)) {
                choice->column[COLUMN_TIME] = choice->part[0];
                c->joined = true;
                return SMURF_OK;
            }
        }
    }
    choice->parts = 0;
    if (best < 0) { /* a name at least: reading says what is wrong with it */
        for (size_t i = 0; i < c->columns && c->table->header; i++) {
            int strength = smurf_column_strength(COLUMN_TIME, c->table->name[i].text, c->table->name[i].n);
            if (strength >= COLUMN_LIKELY && strength > score) score = strength, best = (ptrdiff_t)i;
        }
    }
    choice->column[COLUMN_TIME] = best;
    choice->part[0] = best;
    choice->parts = best >= 0;
    return check_same_name(c, COLUMN_TIME);
}

static bool is_epoch(const struct time_format *format)
{
    return strncmp(format->text, "epoch", 5) == 0;
}

static smurf_status settle_format(struct choose *c, bool as_before)
{
    const smurf_read_config *config = c->table->config;
    struct choice *choice = c->choice;
    double share;
    if (config->time_format) {
        choice->has_format = true;
        return smurf_time_format_parse(&choice->format, config->time_format, c->err);
    }
    const char *earlier = as_before && config->as ? config->as->time_format : NULL;
    if (!c->candidate) {
        choice->has_format = earlier != NULL;
        return earlier ? smurf_time_format_parse(&choice->format, earlier, c->err) : SMURF_OK;
    }
    smurf_status status = c->joined ? SMURF_OK : guess_format(c, earlier, &share);
    if (!status && choice->has_format && config->unit && is_epoch(&choice->format)) {
        c->note[0] = '\0';
        status = smurf_time_format_parse(&choice->format, "number", c->err);
    }
    return status;
}

/* ---- Types ------------------------------------------------------------------------------------- */

/* Numbers that are no indices are names. So are codes such as 404 and 500, where the name of the column is not one that
   always meant indices. */
static bool types_are_words(const struct choose *c)
{
    ptrdiff_t column = c->choice->column[COLUMN_TYPE];
    if (column < 0 || !c->candidate || (size_t)column >= c->columns) return false;
    const struct sniff_column *seen = c->candidate[column].seen;
    const struct field *name = &c->table->name[column];
    if (seen->numbers != seen->cells || !seen->cells) return false;
    if (seen->indices < seen->numbers) return true;
    bool usual = c->table->config->type_column ||
                 (c->table->header && smurf_column_strength(COLUMN_TYPE, name->text, name->n) >= COLUMN_USUAL_NAME);
    return !usual && seen->largest >= 2.0 * (double)smurf_sniff_distinct(seen) + 8;
}

/* ---- The sentence ------------------------------------------------------------------------------ */

struct sentence {
    char *text;
    size_t used;
};

static void say(struct sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (s->used < CHOICE_TEXT - 1) {
        int n = vsnprintf(s->text + s->used, CHOICE_TEXT - s->used, format, args);
        s->used += n > 0 ? (size_t)n : 0;
        if (s->used >= CHOICE_TEXT) s->used = CHOICE_TEXT - 1;
    }
    va_end(args);
}

/* Up to two other columns that could have been meant. */
static void say_others(struct sentence *s, const struct choose *c, enum column_role role, const char *option)
{
    struct choice rest = *c->choice;
    struct choose others = *c;
    others.choice = &rest;
    size_t extra = 0;
    for (int score; extra < 2 && rest.parts < CHOICE_PARTS; extra++) {
        ptrdiff_t other = best_of(&others, role, role == COLUMN_TIME ? ROLE_SURE + 1 : 1, &score);
        if (other < 0) break;
        rest.part[rest.parts++] = other;
        say(s, "%s'%.*s'",
            extra                         ? " or "
            : s->text[s->used - 1] == '(' ? "or "
                                          : "; or ",
            FIELD_SHOWN(c->table->name[other]));
    }
    if (extra) say(s, ": --%s NAME", option);
}

static void say_time(struct sentence *s, const struct choose *c)
{
    const struct choice *choice = c->choice;
    say(s, "time ");
    for (size_t k = 0; k < choice->parts; k++)
        say(s, "%s'%.*s'", k ? ", " : "", FIELD_SHOWN(c->table->name[choice->part[k]]));
    say(s, " (");
    for (size_t k = 0; k < choice->parts; k++)
        if ((size_t)choice->part[k] < c->columns)
            say(s, "%s%s", k ? " " : "", c->candidate[choice->part[k]].seen->example);
    const char *order = choice->has_format ? smurf_time_format_order(&choice->format) : "";
    if (*order) say(s, ", %s", order);
    if (choice->has_format && is_epoch(&choice->format)) say(s, ", %s", choice->format.text);
    if (c->note[0]) say(s, "; %s", c->note);
    if (c->table->config->timezone) say(s, ", %s", c->table->config->timezone);
    say_others(s, c, COLUMN_TIME, "time");
    say(s, ")");
}

static void say_values(struct sentence *s, const struct choose *c, enum column_role role, const char *word,
                       const char *none)
{
    ptrdiff_t column = c->choice->column[role];
    if (column < 0) {
        say(s, ", %s", none);
        struct sentence others = {s->text, s->used};
        say(&others, " (");
        size_t before = others.used;
        say_others(&others, c, role, word);
        if (others.used == before)
            say(s, " (--%s NAME)", word);
        else
            s->used = others.used, say(s, ")");
        return;
    }
    const struct field *name = &c->table->name[column];
    say(s, ", %s '%.*s'", word, FIELD_SHOWN(*name));
    if ((size_t)column >= c->columns) return;
    const struct sniff_column *seen = c->candidate[column].seen;
    size_t distinct = smurf_sniff_distinct(seen);
    say(s, " (%s%zu value%s",
        seen->beyond        ? "more than "
        : c->table->partial ? "at least "
                            : "",
        seen->beyond ? distinct - 1 : distinct, distinct == 1 ? "" : "s");
    say_others(s, c, role, word);
    say(s, ")");
}

static void write_sentence(const struct choose *c)
{
    struct sentence s = {c->choice->text, 0};
    if (!c->candidate) return;
    say_time(&s, c);
    say_values(&s, c, COLUMN_SEQUENCE, "sequence", "no sequence column: one log");
    say_values(&s, c, COLUMN_TYPE, "type", "no type column: one type");
    if (!c->table->header) say(&s, "; no header: columns are numbered");
    for (size_t i = 0; i < s.used; i++)
        if ((unsigned char)s.text[i] < ' ' || s.text[i] == 0x7F) s.text[i] = ' ';
}

/* ---- All roles --------------------------------------------------------------------------------- */

static const char *earlier_name(const smurf_reading *as, enum column_role role)
{
    const char *name = role == COLUMN_TIME   ? as->time_column
                       : role == COLUMN_TYPE ? as->type_column
                                             : as->sequence_column;
    return name ? name : "";
}

/* Takes all columns of an earlier reading that the caller does not name, or none if one is missing. */
static smurf_status take_earlier(struct choose *c, bool *done)
{
    static const enum column_role role[] = {COLUMN_TIME, COLUMN_SEQUENCE, COLUMN_TYPE};
    const smurf_reading *as = c->table->config->as;
    struct choice before = *c->choice;
    const char *missing = NULL;
    *done = as && as->time_column;
    for (int i = 0; i < 3 && *done && !missing; i++) {
        bool found;
        if (smurf_column_wanted(role[i], c->table->config)) continue;
        smurf_status status = take_names(c, role[i], earlier_name(as, role[i]), &found);
        if (status) return status;
        if (!found) missing = earlier_name(as, role[i]);
    }
    if (!missing) return SMURF_OK;
    *c->choice = before;
    *done = false;
    if (!c->table->builder) return SMURF_OK;
    return smurf_builder_remark(c->table->builder, c->err,
                                "there is no column '%s', which training used: columns were chosen anew", missing);
}

static smurf_status choose_roles(struct choose *c, bool *as_before)
{
    /* The type last: what is left over. */
    static const enum column_role order[] = {COLUMN_TIME, COLUMN_SEQUENCE, COLUMN_TYPE};
    const smurf_read_config *config = c->table->config;
    smurf_status status = SMURF_OK;
    for (int role = COLUMN_START; role < COLUMN_ROLES && !status; role++)
        status = take_usual(c, (enum column_role)role);
    for (int i = 0; i < 3 && !status; i++) {
        const char *wanted = smurf_column_wanted(order[i], config);
        bool found = true;
        if (wanted) status = take_names(c, order[i], wanted, &found);
        if (!status && !found) status = missing_column(c->table, wanted, c->err);
    }
    if (!status) status = take_earlier(c, as_before);
    if (status || *as_before) return status;
    if (!config->time_column) status = find_time(c);
    if (!status && !config->sequence_column) status = find_sequence(c);
    if (!status && !config->type_column) status = take_best(c, COLUMN_TYPE);
    return status;
}

static bool is_guess(const struct choose *c)
{
    const struct choosing *t = c->table;
    const struct choice *choice = c->choice;
    if (!t->header || choice->parts > 1 || c->note[0]) return true;
    if (!t->config->time_format && choice->has_format && strcmp(choice->format.text, "number") != 0 &&
        strcmp(choice->format.text, "iso") != 0)
        return true;
    for (int role = 0; role < COLUMN_START; role++) {
        ptrdiff_t i = choice->column[role];
        if (i < 0 || smurf_column_wanted((enum column_role)role, t->config)) continue;
        if (smurf_column_strength((enum column_role)role, t->name[i].text, t->name[i].n) < COLUMN_USUAL_NAME)
            return true;
    }
    return false;
}

/* ", and write ... if it is 'NAME'", or nothing: a column of numbers with commas may be what was meant. */
static void hint_at_commas(const struct choose *c, char *out, size_t room)
{
    *out = '\0';
    for (size_t i = 0; i < c->columns; i++) {
        const struct sniff_column *seen = c->candidate[i].seen;
        if (seen->cells == 0 || seen->commas < seen->cells) continue;
        snprintf(out, room, "; if it is '%.*s', write its numbers with a point, not as in %s",
                 FIELD_SHOWN(c->table->name[i]), seen->example);
        return;
    }
}

static smurf_status no_time(const struct choose *c)
{
    char commas[200];
    hint_at_commas(c, commas, sizeof commas);
    if (!c->table->header)
        return smurf_fail(
            c->err, SMURF_ERROR_INPUT,
            "no header and no column of times (name it by its number, such as --time 1, and say how times "
            "are written with --time-format%s)",
            commas);
    return smurf_fail(c->err, SMURF_ERROR_INPUT,
                      "no column of times among %s (name it with --time NAME, and say how times are written with "
                      "--time-format%s)",
                      list_columns((char[LIST]){0}, c->table), commas);
}

smurf_status smurf_choose(struct choice *out, const struct choosing *table, smurf_error *err)
{
    struct choose c = {.table = table, .choice = out, .err = err};
    bool as_before = false;
    *out = (struct choice){0};
    for (int role = 0; role < COLUMN_ROLES; role++) out->column[role] = -1;
    for (size_t i = 0; i < table->columns; i++)
        if (memchr(table->name[i].text, '\0', table->name[i].n))
            return smurf_fail(err, SMURF_ERROR_INPUT, "a NUL byte in the name of column %zu (is the file damaged?)",
                              i + 1);
    if (table->sniff && table->sniff->rows) {
        c.columns = table->sniff->columns < table->columns ? table->sniff->columns : table->columns;
        c.candidate = malloc((c.columns + 1) * sizeof *c.candidate);
        if (!c.candidate) return smurf_fail_memory(err);
        for (size_t i = 0; i < c.columns; i++)
            smurf_candidate_init(&c.candidate[i], &table->name[i], table->header, &table->sniff->column[i],
                                 table->sniff->rows, table->partial);
    }
    smurf_choose_reserve(table, c.candidate, c.columns);
    smurf_status status = choose_roles(&c, &as_before);
    if (!status && out->column[COLUMN_TIME] < 0) status = no_time(&c);
    if (!status) status = settle_format(&c, as_before);
    if (!status) status = smurf_choose_further(out, table, c.candidate, c.columns, err);
    if (!status) out->words = types_are_words(&c);
    out->guessed = !status && c.candidate && !as_before && is_guess(&c);
    if (!status) write_sentence(&c);
    free(c.candidate);
    return status;
}

const char *smurf_choice_names(const struct choice *choice, enum column_role role, const struct field *name,
                               struct arena *arena)
{
    const ptrdiff_t *column = role == COLUMN_TIME ? choice->part : &choice->column[role];
    size_t count = role == COLUMN_TIME ? choice->parts : 1, n = 0;
    for (size_t k = 0; k < count; k++) n += name[column[k]].n + 1;
    char *text = smurf_arena_alloc(arena, n + 1), *p = text;
    if (!text) return NULL;
    for (size_t k = 0; k < count; k++) {
        if (k) *p++ = ',';
        memcpy(p, name[column[k]].text, name[column[k]].n);
        p += name[column[k]].n;
    }
    *p = '\0';
    return text;
}
