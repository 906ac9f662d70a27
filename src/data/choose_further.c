/*
 * choose_further.c - which columns of a table are further columns: those that the caller names, those of an earlier
 * reading, or, with "auto", all that are free and hold numbers or a few words.
 *
 * A list of names is as in smurf_read_config: "amount,region=word". An earlier reading says what each one holds.
 */
#include "data/choose.h"

#include "data/roles.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* "auto": at most so many columns, and so many different words in one, in one of AUTO_FILLED rows at least; values that
   tell a counter. */
enum { AUTO_MOST = FURTHER_COLUMNS, AUTO_WORDS = 50, AUTO_FILLED = 20, COUNTER = 50 };

/* ---- What columns hold ------------------------------------------------------------------------- */

static bool is_taken(const struct choice *choice, size_t i)
{
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (choice->column[role] == (ptrdiff_t)i) return true;
    for (size_t k = 0; k < choice->parts; k++)
        if (choice->part[k] == (ptrdiff_t)i) return true;
    for (size_t k = 0; k < choice->further; k++)
        if (choice->further_column[k] == i) return true;
    return false;
}

static bool is_time(const struct candidate *c)
{
    return smurf_candidate_is_date(c) || smurf_candidate_is_clock(c) ||
           (c->readable >= 0.95 && strncmp(c->format.text, "epoch", 5) == 0);
}

static bool are_numbers(const struct sniff_column *seen, double share)
{
    return seen->cells && (double)seen->numbers >= share * (double)seen->cells;
}

static bool name_has(const struct candidate *c, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; c->header && i + n <= c->name->n; i++)
        if (strncasecmp(c->name->text + i, word, n) == 0) return true;
    return false;
}

/* Whole numbers that are no amounts: an "id" or a code by name, or numbers that only rise or never come back. */
static bool are_codes(const struct candidate *c)
{
    const struct sniff_column *seen = c->seen;
    if (seen->wholes < seen->cells) return false;
    if (c->header && smurf_column_strength(COLUMN_SEQUENCE, c->name->text, c->name->n) > COLUMN_NO_NAME) return true;
    if (name_has(c, "code") || name_has(c, "zip")) return true;
    return !seen->repeats || (!seen->falls && smurf_sniff_distinct(seen) > COUNTER);
}

static bool can_be_listed(const struct field *name)
{
    return name->n && !memchr(name->text, ',', name->n) && !memchr(name->text, '=', name->n);
}

/* Another column of the same name; later files could not tell them apart. `columns`: there is none. */
static size_t namesake(const struct choosing *t, size_t column)
{
    const struct field *name = &t->name[column];
    size_t i = 0;
    while (i < t->columns && (i == column || t->name[i].n != name->n || memcmp(t->name[i].text, name->text, name->n)))
        i++;
    return i;
}

/* Whether "auto" takes a free column, and as what. */
static enum further_kind usable(const struct choosing *t, const struct candidate *candidate, size_t column)
{
    const struct candidate *c = &candidate[column];
    const struct sniff_column *seen = c->seen;
    size_t distinct = smurf_sniff_distinct(seen);
    if (namesake(t, column) < t->columns) return FURTHER_OPEN;
    if (AUTO_FILLED * seen->cells < c->rows || distinct < 2 || !can_be_listed(c->name) || is_time(c))
        return FURTHER_OPEN;
    if (are_numbers(seen, 0.8) && !are_codes(c)) return FURTHER_NUMBER;
    if (c->header && smurf_column_strength(COLUMN_SEQUENCE, c->name->text, c->name->n) >= COLUMN_LIKELY)
        return FURTHER_OPEN;
    return distinct <= AUTO_WORDS && seen->repeats ? FURTHER_WORD : FURTHER_OPEN;
}

/* ---- The list ---------------------------------------------------------------------------------- */

static smurf_status add(struct choice *choice, size_t column, enum further_kind kind, smurf_error *err)
{
    if (choice->further == FURTHER_COLUMNS)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "more than %d further columns (name fewer with --features)",
                          FURTHER_COLUMNS);
    choice->further_column[choice->further] = column;
    choice->further_is_word[choice->further++] = kind == FURTHER_WORD;
    return SMURF_OK;
}

void smurf_choose_reserve(const struct choosing *t, struct candidate *candidate, size_t candidates)
{
    struct further_entry entry;
    for (const char *list = t->config->features; smurf_further_next(&list, &entry);)
        for (size_t i = 0; i < candidates; i++)
            if (t->name[i].n == entry.n && memcmp(t->name[i].text, entry.name, entry.n) == 0)
                candidate[i].further = true;
}

static smurf_status take_one(struct choice *choice, const struct choosing *t, const struct candidate *candidate,
                             size_t candidates, const struct further_entry *entry, smurf_error *err)
{
    const char *name = entry->name;
    enum further_kind kind = entry->kind;
    size_t i = 0, n = entry->n;
    while (i < t->columns && (t->name[i].n != n || memcmp(t->name[i].text, name, n) != 0)) i++;
    if (i == t->columns)
        return smurf_fail(err, SMURF_ERROR_INPUT, "there is no column '%.*s'%s", n < 60 ? (int)n : 60, name,
                          t->config->features ? ", which --features names"
                                              : ": the train data has it as a further one (--features)");
    if (namesake(t, i) < t->columns)
        return smurf_fail(err, SMURF_ERROR_INPUT, "two columns are called '%.*s' (rename one)",
                          FIELD_SHOWN(t->name[i]));
    if (is_taken(choice, i))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "the column '%.*s' cannot be a further one: it is the time, the sequence, the type or named "
                          "twice (leave it out of --features)",
                          FIELD_SHOWN(t->name[i]));
    if (kind == FURTHER_OPEN && !t->sniff)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "a stream does not tell what the column '%.*s' holds: write --features '%.*s=number' or "
                          "'%.*s=word'",
                          FIELD_SHOWN(t->name[i]), FIELD_SHOWN(t->name[i]), FIELD_SHOWN(t->name[i]));
    if (kind == FURTHER_OPEN && i < candidates && candidate[i].seen->cells &&
        candidate[i].seen->commas == candidate[i].seen->cells)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the column '%.*s' holds numbers with a comma, such as %s (write a point before decimals; "
                          "--features '%.*s=word' reads words)",
                          FIELD_SHOWN(t->name[i]), candidate[i].seen->example, FIELD_SHOWN(t->name[i]));
    if (kind == FURTHER_OPEN)
        kind = i < candidates && are_numbers(candidate[i].seen, 0.8) ? FURTHER_NUMBER : FURTHER_WORD;
    return add(choice, i, kind, err);
}

/* Notes the columns that are free and usable. */
static void note_others(struct choice *choice, const struct choosing *t, const struct candidate *candidate,
                        size_t candidates)
{
    size_t used = 0;
    for (size_t i = 0; i < candidates && used < sizeof choice->others; i++) {
        if (is_taken(choice, i) || usable(t, candidate, i) == FURTHER_OPEN) continue;
        used += (size_t)snprintf(choice->others + used, sizeof choice->others - used, "%s%.*s", used ? ", " : "",
                                 FIELD_SHOWN(*candidate[i].name));
    }
    if (used >= sizeof choice->others) memcpy(choice->others + sizeof choice->others - 4, "...", 4);
}

smurf_status smurf_choose_further(struct choice *choice, const struct choosing *t, const struct candidate *candidate,
                                  size_t candidates, smurf_error *err)
{
    const smurf_reading *as = t->config->as;
    const char *list = t->config->features ? t->config->features : as ? as->features : NULL;
    smurf_status status = SMURF_OK;
    if (list && strcmp(list, "auto") == 0) {
        if (!t->sniff)
            return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                              "--features auto needs a file, not a stream: name the columns");
        for (size_t i = 0; i < candidates && choice->further < AUTO_MOST && !status; i++) {
            enum further_kind kind = is_taken(choice, i) ? FURTHER_OPEN : usable(t, candidate, i);
            if (kind != FURTHER_OPEN) status = add(choice, i, kind, err);
        }
    } else {
        struct further_entry entry;
        while (!status && smurf_further_next(&list, &entry))
            status = take_one(choice, t, candidate, candidates, &entry, err);
    }
    if (!status) note_others(choice, t, candidate, candidates);
    return status;
}
