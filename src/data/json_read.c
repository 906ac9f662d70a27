/*
 * json_read.c - event data in JSON and JSON Lines.
 *
 * One grammar for both: values follow each other (JSON Lines) or are in arrays (JSON). An object is
 *   - a sequence, if its times are an array: {"time_since_start":[...], "type_event":[...]} as EasyTPP and
 *     Hugging Face ship them, or {"times":[...], "types":[...]};
 *   - an event, if its time is a number or a date: {"time":..., "type":..., "user":...}, grouped like the rows
 *     of a table; in an array of events without sequence names, the array is the sequence;
 *   - a shelf of arrays of sequences, at top level: {"dim_process":5, "train":[...]}.
 * doc/formats.md lists the fields.
 */
#include "data/columns.h"
#include "data/json.h"
#include "data/json_events.h"
#include "data/json_plain.h"
#include "data/json_scan.h"
#include "data/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scalar member of the current object; texts are in the scanner's scratch buffer. */
struct member {
    size_t key, key_n, text, text_n;
    bool null; /* the word null, not in quotes */
};

enum array_role { ARRAY_NONE, ARRAY_TIMES, ARRAY_TYPES, ARRAY_SINCE_LAST, ARRAY_NAMES };

struct reader {
    struct json json;
    struct plain plain; /* positioned at json's source while it takes elements */
    struct builder *builder;
    const smurf_read_config *config;
    struct rows rows;
    struct json_events events; /* what fields of single events mean */
    int calendar;
    size_t arrays; /* arrays of events seen, to number their sequences */
    bool has_sequences, has_rows;
    bool rows_named;   /* some row named its sequence */
    const char *shelf; /* name of the array of sequences read from a top-level object */
    bool on_shelf;     /* the current object has such arrays, empty or not */

    /* of the current object */
    struct member *member;
    size_t members, member_room;
    bool has[ARRAY_NAMES + 1];
    struct sequence_info info;
    double *since_last;
    size_t since_lasts, since_last_room;

    /* of the whole file */
    size_t disagree, disagree_sequences, disagree_line;
    size_t values; /* of a stream: sequences and errors so far */
};

/* ---- Members --------------------------------------------------------------------------------- */

static enum array_role array_role(const struct reader *r, const char *key, size_t n)
{
    static const struct {
        const char *name;
        enum array_role role;
    } known[] = {
        {"time_since_start", ARRAY_TIMES}, {"times", ARRAY_TIMES},      {"timestamps", ARRAY_TIMES},
        {"arrival_times", ARRAY_TIMES},    {"type_event", ARRAY_TYPES}, {"types", ARRAY_TYPES},
        {"event_types", ARRAY_TYPES},      {"marks", ARRAY_TYPES},      {"time_since_last_event", ARRAY_SINCE_LAST},
        {"time_delta", ARRAY_SINCE_LAST},  {"type_names", ARRAY_NAMES},
    };
    if (r->config->time_column && strcmp(r->config->time_column, key) == 0) return ARRAY_TIMES;
    if (r->config->type_column && strcmp(r->config->type_column, key) == 0) return ARRAY_TYPES;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, key, n) == 0) {
            if (known[i].role == ARRAY_TIMES && r->config->time_column) return ARRAY_NONE;
            if (known[i].role == ARRAY_TYPES && r->config->type_column) return ARRAY_NONE;
            return known[i].role;
        }
    return ARRAY_NONE;
}

static const struct member *find_member(const struct reader *r, const char *key)
{
    for (size_t i = 0; i < r->members; i++)
        if (strcmp(r->json.scratch + r->member[i].key, key) == 0) return &r->member[i];
    return NULL;
}

static const char *text_of(const struct reader *r, const struct member *m)
{
    return r->json.scratch + m->text;
}

/* The member that plays a role, by the ranking in columns.h; NULL if none. */
static const struct member *role_member(const struct reader *r, enum column_role role)
{
    const struct member *best = NULL;
    int best_rank = -1;
    for (size_t i = 0; i < r->members; i++) {
        const struct member *m = &r->member[i];
        int rank = smurf_column_rank(role, r->json.scratch + m->key, m->key_n, r->config);
        if (rank >= 0 && (!best || rank < best_rank)) best = m, best_rank = rank;
    }
    return best;
}

/* ---- Arrays of a sequence -------------------------------------------------------------------- */

/* Adds the location to an error from the builder or another part that does not know it; false if there was one. */
static bool check(struct reader *r, smurf_status status)
{
    if (status && !r->json.status) r->json.status = smurf_json_blame(&r->json, status);
    return !status;
}

/* A time in an array: a number, or a date in quotes. */
static bool take_time(struct reader *r, struct decimal *d)
{
    if (smurf_json_peek(&r->json) != '"' && r->calendar != 1) {
        r->calendar = 0;
        return smurf_json_number(&r->json, d);
    }
    size_t at, n, used = r->json.used;
    bool ok =
        smurf_json_peek(&r->json) == '"' ? smurf_json_string(&r->json, &at, &n) : smurf_json_literal(&r->json, &at, &n);
    r->json.used = used;
    return ok && check(r, smurf_column_time(d, r->json.scratch + at, n, &r->calendar, r->json.err));
}

_Static_assert((int)SOURCE_PAD >= (int)PLAIN_PAD, "a window ends as plain elements need it");

/* Positions the fast array reader where the scanner is. */
static struct plain *plain_here(struct reader *r)
{
    r->plain.p = r->json.source->p;
    r->plain.end = r->json.source->end;
    return &r->plain;
}

/* These take elements while they are plain and there is room. The caller handles the next element. */
static void take_plain_times(struct reader *r)
{
    struct builder *b = r->builder;
    if (r->calendar == 1 || b->times == b->time_room) return;
    b->times += smurf_plain_times(plain_here(r), b->time + b->times, b->time_room - b->times, r->info.origin);
    r->json.source->p = r->plain.p;
}

static void take_plain_types(struct reader *r)
{
    struct builder *b = r->builder;
    if (b->words || b->types == b->type_room) return;
    b->types += smurf_plain_types(plain_here(r), b->type + b->types, b->type_room - b->types, &b->type_max);
    r->json.source->p = r->plain.p;
}

static void take_plain_gaps(struct reader *r)
{
    if (r->since_lasts == r->since_last_room) return;
    r->since_lasts +=
        smurf_plain_times(plain_here(r), r->since_last + r->since_lasts, r->since_last_room - r->since_lasts, 0);
    r->json.source->p = r->plain.p;
}

static void take_times(struct reader *r)
{
    bool first = true, opened = true;
    struct decimal d;
    while (smurf_json_more(&r->json, ']', &first)) {
        double offset;
        if (!opened) take_plain_times(r);
        if (!take_time(r, &d)) return;
        if (opened && !smurf_decimal_origin(&d, &r->info.origin)) {
            smurf_json_fail(&r->json, "time %.*s is beyond 2^63 (use a coarser unit)", (int)d.length, d.text);
            return;
        }
        opened = false;
        if (!smurf_decimal_offset(&d, r->info.origin, &offset)) {
            smurf_json_fail(&r->json,
                            "time %.*s is 2^53 or more from its origin %lld: a double would lose steps of the clock "
                            "(use a coarser unit)",
                            (int)d.length, d.text, (long long)r->info.origin);
            return;
        }
        if (!check(r, smurf_builder_time(r->builder, offset, r->json.err))) return;
    }
}

static bool take_type(struct reader *r)
{
    struct json *json = &r->json;
    if (smurf_json_peek(json) == '"') {
        size_t at, n, used = json->used;
        if (!smurf_json_string(json, &at, &n)) return false;
        json->used = used;
        return check(r, smurf_builder_type_word(r->builder, json->scratch + at, n, json->err));
    }
    struct decimal d;
    if (!smurf_json_number(json, &d)) return false;
    if (d.integer && !d.negative && !d.cut && d.mantissa < TYPE_LIMIT)
        return check(r, smurf_builder_type(r->builder, (int64_t)d.mantissa, json->err));
    return check(r, smurf_builder_type_text(r->builder, d.text, d.length, json->err));
}

static void take_types(struct reader *r)
{
    bool first = true;
    while (smurf_json_more(&r->json, ']', &first)) {
        take_plain_types(r);
        if (!take_type(r)) return;
    }
}

static void take_since_last(struct reader *r)
{
    bool first = true;
    struct decimal d;
    while (smurf_json_more(&r->json, ']', &first)) {
        take_plain_gaps(r);
        if (!smurf_json_number(&r->json, &d)) return;
        if (!smurf_grow(&r->since_last, &r->since_last_room, r->since_lasts + 1, sizeof *r->since_last)) {
            check(r, smurf_fail_memory(r->json.err));
            return;
        }
        r->since_last[r->since_lasts++] = smurf_decimal_value(&d);
    }
}

/* Type names, in order; they must be the same wherever they are given. */
static void take_names(struct reader *r)
{
    bool first = true;
    uint32_t k = 0;
    size_t at, n, used = r->json.used;
    struct builder *b = r->builder;
    if (b->types && !b->inherited) {
        smurf_json_fail(&r->json,
                        "type_names must come before the first type_event (write them into the first object, before "
                        "its types)");
        return;
    }
    while (smurf_json_more(&r->json, ']', &first) && smurf_json_string(&r->json, &at, &n)) {
        uint32_t number = smurf_names_intern(&b->vocabulary, r->json.scratch + at, n);
        r->json.used = used;
        if (number == NAMES_FULL) {
            check(r, smurf_fail_memory(r->json.err));
            return;
        }
        if (number != k++) {
            smurf_json_fail(&r->json, "type_names must be distinct, and the same wherever they are given");
            return;
        }
    }
    b->words = b->inherited = b->vocabulary.count > 0;
}

static void take_array(struct reader *r, enum array_role role, size_t key)
{
    smurf_json_take(&r->json, '[');
    if (r->json.status) return;
    const size_t *const count[] = {[ARRAY_TIMES] = &r->builder->times,
                                   [ARRAY_TYPES] = &r->builder->types,
                                   [ARRAY_SINCE_LAST] = &r->since_lasts,
                                   [ARRAY_NAMES] = NULL};
    size_t shown = strnlen(r->json.scratch + key, sizeof r->json.field - 1);
    memcpy(r->json.field, r->json.scratch + key, shown);
    r->json.field[shown] = '\0';
    r->json.count = count[role];
    r->json.before = count[role] ? *count[role] : 0;
    if (r->has[role]) {
        smurf_json_fail(&r->json,
                        "%s appear twice in one object (remove one, or name the right one with --time or --type)",
                        role == ARRAY_TIMES   ? "times"
                        : role == ARRAY_TYPES ? "types"
                                              : "gaps or names");
        return;
    }
    r->has[role] = true;
    switch (role) {
    case ARRAY_TIMES: take_times(r); break;
    case ARRAY_TYPES: take_types(r); break;
    case ARRAY_SINCE_LAST: take_since_last(r); break;
    default: take_names(r); break;
    }
    r->json.field[0] = '\0';
}

/* ---- Sequences ------------------------------------------------------------------------------- */

/* Without times, the gaps are summed. With both, they are compared. */
static void use_since_last(struct reader *r)
{
    struct builder *b = r->builder;
    size_t n = b->times - b->closed;
    if (!r->has[ARRAY_SINCE_LAST]) return;
    if (!r->has[ARRAY_TIMES]) {
        double time = 0;
        for (size_t i = 0; i < r->since_lasts && !r->json.status; i++)
            check(r, smurf_builder_time(b, time += r->since_last[i], r->json.err));
        r->has[ARRAY_TIMES] = true;
        return;
    }
    if (r->since_lasts != n) {
        smurf_json_fail(&r->json, "%zu times but %zu entries of time_since_last_event", n, r->since_lasts);
        return;
    }
    size_t wrong = 0;
    for (size_t i = 1; i < n; i++) {
        double gap = b->time[b->closed + i] - b->time[b->closed + i - 1];
        wrong += !(fabs(gap - r->since_last[i]) <= 1e-6 * fmax(1, fabs(b->time[b->closed + i])));
    }
    if (wrong && r->disagree == 0) r->disagree_line = r->json.source->line;
    r->disagree += wrong;
    r->disagree_sequences += wrong > 0;
}

/* A whole number given by a member, or -1 if absent. */
static int64_t count_member(struct reader *r, const char *key)
{
    const struct member *m = find_member(r, key);
    struct decimal d;
    if (!m || m->null) return -1;
    const char *text = text_of(r, m);
    if (smurf_decimal_scan(&d, text) != text + m->text_n || d.negative || smurf_decimal_value(&d) > 1e15 ||
        smurf_decimal_value(&d) != floor(smurf_decimal_value(&d))) {
        smurf_json_fail(&r->json, "%s '%s' is not a whole number", key, text);
        return -1;
    }
    return (int64_t)smurf_decimal_value(&d);
}

static void read_declared(struct reader *r)
{
    struct builder *b = r->builder;
    int64_t declared = count_member(r, "dim_process");
    if (declared <= 0 || b->words) return;
    if (declared > TYPE_LIMIT)
        smurf_json_fail(&r->json, "dim_process %lld is beyond the limit of %d types", (long long)declared, TYPE_LIMIT);
    else if (b->declared && b->declared != (uint32_t)declared)
        smurf_json_fail(&r->json, "dim_process is %lld here and %u before", (long long)declared, b->declared);
    else
        b->declared = (uint32_t)declared;
}

/* Checks the types of this sequence against dim_process and reports the location. */
static void check_range(struct reader *r)
{
    const struct builder *b = r->builder;
    if (b->words || !b->declared || b->type_max < b->declared) return;
    for (size_t i = b->closed; i < b->types; i++)
        if (b->type[i] >= b->declared) {
            smurf_json_fail(&r->json, "event %zu: type %u is out of range: dim_process is %u, so types are 0 to %u",
                            i - b->closed + 1, b->type[i], b->declared, b->declared - 1);
            return;
        }
}

static bool read_offset(struct reader *r, const char *key, double *out)
{
    const struct member *m = find_member(r, key);
    struct decimal d;
    if (!m || m->null) return true;
    if (!check(r, smurf_column_time(&d, text_of(r, m), m->text_n, &r->calendar, r->json.err))) return false;
    return smurf_decimal_offset(&d, r->info.origin, out) ||
           smurf_json_fail(&r->json, "%s is too far from the events", key);
}

static void read_info(struct reader *r)
{
    int64_t first = count_member(r, "first_scored"), length = count_member(r, "seq_len");
    int64_t before = count_member(r, "events_before");
    size_t events = r->builder->times - r->builder->closed;
    if (first > 0) r->info.first = (size_t)first;
    if (before > 0) r->info.before = (size_t)before;
    if (length >= 0 && (size_t)length != events)
        smurf_json_fail(&r->json, "seq_len says %lld events, but there are %zu", (long long)length, events);
    if (!read_offset(r, "observation_start", &r->info.start) || !read_offset(r, "observation_end", &r->info.end))
        return;
    const struct member *name = role_member(r, COLUMN_SEQUENCE), *unit = find_member(r, "unit");
    if (name && !name->null) r->info.name = text_of(r, name);
    if (unit && !r->builder->unit) {
        r->builder->unit = smurf_arena_text(&r->builder->text, text_of(r, unit), unit->text_n);
        if (!r->builder->unit) check(r, smurf_fail_memory(r->json.err));
    }
}

/* A field named by the user must be present in every sequence. */
static bool check_wanted(struct reader *r, const char *wanted, bool found)
{
    return !wanted || found ||
           smurf_json_fail(&r->json, "there is no field '%s' in the object%s", wanted,
                           strchr(wanted, '.') ? " (fields of objects within objects are not read)" : "");
}

static void close_sequence(struct reader *r)
{
    struct builder *b = r->builder;
    if (r->has_rows) {
        smurf_json_fail(&r->json, "an object with arrays among objects with single events (use one kind in a file)");
        return;
    }
    r->has_sequences = true;
    use_since_last(r);
    if (r->json.status) return;
    if (!check_wanted(r, r->config->time_column, r->has[ARRAY_TIMES]) ||
        !check_wanted(r, r->config->type_column, r->has[ARRAY_TYPES]) ||
        (r->config->sequence_column && !check_wanted(r, r->config->sequence_column, role_member(r, COLUMN_SEQUENCE))))
        return;
    if (!r->has[ARRAY_TIMES]) {
        smurf_json_fail(&r->json,
                        "no times in the object (name their field with --time NAME, or the list that holds the "
                        "events with --key NAME; fields of objects within objects are not read)");
        return;
    }
    if (!r->has[ARRAY_TYPES]) /* one type only */
        while (b->types < b->times && !r->json.status) check(r, smurf_builder_type(b, 0, r->json.err));
    read_declared(r);
    check_range(r);
    read_info(r);
    if (!r->json.status) check(r, smurf_builder_close(b, &r->info, r->json.err));
}

/* ---- Events one by one ----------------------------------------------------------------------- */

/* The observation window of the event's sequence, if the event gives it. */
static void push_window(struct reader *r)
{
    static const char *const key[2] = {"observation_start", "observation_end"};
    struct decimal d[2], *found[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const struct member *m = find_member(r, key[i]);
        if (!m || m->null) continue;
        if (!check(r, smurf_column_time(&d[i], text_of(r, m), m->text_n, &r->calendar, r->json.err))) return;
        found[i] = &d[i];
    }
    int64_t first = count_member(r, "first_scored"), before = count_member(r, "events_before");
    if (!r->json.status)
        check(r, smurf_rows_window(&r->rows, found[0], found[1], first > 0 ? (size_t)first : 0,
                                   before > 0 ? (size_t)before : 0, r->json.err));
}

static struct field value_of(const void *context, const char *key)
{
    const struct member *m = find_member(context, key);
    if (!m || m->null) return (struct field){"", 0};
    return (struct field){text_of(context, m), m->text_n};
}

/* Starts an event; false if sequences came before. */
static bool begin_row(struct reader *r)
{
    if (r->has_sequences)
        return smurf_json_fail(&r->json,
                               "an object with a single event among objects with arrays (use one kind in a file)");
    if (!r->rows.builder) smurf_rows_init(&r->rows, r->builder, true);
    r->has_rows = true;
    read_declared(r);
    return !r->json.status;
}

/* An event whose fields are known. */
static void push_event(struct reader *r)
{
    char number[24];
    struct table *t = &r->events.table;
    if (!begin_row(r)) return;
    snprintf(number, sizeof number, "%zu", r->arrays);
    r->rows_named = r->rows_named || r->events.key[COLUMN_SEQUENCE];
    smurf_status status = smurf_json_events_push(&r->events, &r->rows, value_of, r, number, r->json.err);
    r->calendar = t->calendar;
    if (!status) return;
    struct field time = value_of(r, r->events.part[0]);
    status = smurf_json_blame(&r->json, status);
    r->json.status = smurf_table_pardon(t, status, time.text, time.n, r->json.err);
}

/* An event whose fields have the usual names. */
static void push_row(struct reader *r, const struct member *time)
{
    if (!begin_row(r)) return;
    const struct member *sequence = role_member(r, COLUMN_SEQUENCE), *type = role_member(r, COLUMN_TYPE);
    char number[24];
    const char *name = number;
    size_t name_n = 0;
    if (sequence)
        name = text_of(r, sequence), name_n = sequence->text_n, r->rows_named = true;
    else
        name_n = (size_t)snprintf(number, sizeof number, "%zu", r->arrays);
    if ((r->config->type_column && !type) || (r->config->sequence_column && !sequence)) {
        smurf_json_fail(&r->json, "there is no field '%s' in the object",
                        type ? r->config->sequence_column : r->config->type_column);
        return;
    }
    struct decimal d;
    if (!check(r, smurf_column_time(&d, text_of(r, time), time->text_n, &r->calendar, r->json.err))) return;
    if (check(r, smurf_rows_push(&r->rows, name, name_n, &d, type ? text_of(r, type) : "0", type ? type->text_n : 1,
                                 r->json.err)))
        push_window(r);
}

/* ---- Objects and arrays ---------------------------------------------------------------------- */

static void read_array(struct reader *r, int depth);

static bool is_shelf(const struct reader *r, const char *key)
{
    static const char *const known[] = {"train", "dev", "test", "valid", "validation", "devtest", "data", "sequences"};
    if (r->config->key) return strcmp(r->config->key, key) == 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], key) == 0) return true;
    return false;
}

/* A shelf, and not a field of an event that is called like one. */
static bool is_list(const struct reader *r, const char *key)
{
    if (!is_shelf(r, key)) return false;
    if (r->events.sniffed) return r->events.listed;
    return !r->events.known || smurf_json_holds_objects(r->json.source);
}

/* Forgets the members seen so far. */
static void clear_object(struct reader *r)
{
    r->json.used = r->members = r->since_lasts = 0;
    memset(r->has, 0, sizeof r->has);
    r->info = (struct sequence_info){.start = NAN, .end = NAN};
}

/* {"train": [...]}: reads the sequences in it. Their members replace those read so far. */
static void read_shelf(struct reader *r, size_t key)
{
    size_t before = r->builder->sequences, rows = r->has_rows ? r->rows.sequences : 0;
    char name[32];
    snprintf(name, sizeof name, "%s", r->json.scratch + key);
    read_declared(r);
    read_array(r, 1);
    clear_object(r);
    r->on_shelf = true;
    bool filled = r->builder->sequences > before || (r->has_rows && r->rows.sequences > rows);
    if (filled && r->shelf)
        smurf_json_fail(&r->json, "several lists of sequences, '%s' and '%s' (choose one with --key NAME)", r->shelf,
                        name);
    else if (filled)
        r->shelf = smurf_arena_text(&r->builder->text, name, strlen(name));
}

static void read_member(struct reader *r, bool top)
{
    struct json *json = &r->json;
    struct member m = {0};
    if (!smurf_json_string(json, &m.key, &m.key_n) || !smurf_json_take(json, ':')) return;
    char c = smurf_json_peek(json);
    if (c == '[') {
        enum array_role role = array_role(r, json->scratch + m.key, m.key_n);
        if (role != ARRAY_NONE)
            take_array(r, role, m.key);
        else if (top && is_list(r, json->scratch + m.key))
            read_shelf(r, m.key);
        else
            smurf_json_skip(json);
        return;
    }
    if (c == '{') {
        smurf_json_skip(json);
        return;
    }
    bool ok = c == '"' ? smurf_json_string(json, &m.text, &m.text_n) : smurf_json_literal(json, &m.text, &m.text_n);
    if (!ok) return;
    m.null = c != '"' && strcmp(json->scratch + m.text, "null") == 0;
    if (!smurf_grow(&r->member, &r->member_room, r->members + 1, sizeof *r->member))
        check(r, smurf_fail_memory(json->err));
    else
        r->member[r->members++] = m;
}

static void read_object(struct reader *r, bool top)
{
    struct json *json = &r->json;
    bool first = true;
    clear_object(r);
    r->on_shelf = false;
    smurf_json_take(json, '{');
    if (json->status) return;
    while (smurf_json_more(json, '}', &first)) read_member(r, top);
    if (json->status) return;
    if (r->on_shelf) {
        read_declared(r);
        return;
    }
    bool sequence = r->has[ARRAY_TIMES] || r->has[ARRAY_SINCE_LAST];
    if (!sequence && r->events.known && (r->events.sniffed || find_member(r, r->events.part[0]))) {
        push_event(r);
        return;
    }
    const struct member *time = sequence ? NULL : role_member(r, COLUMN_TIME);
    if (time)
        push_row(r, time);
    else if (!sequence && top && r->config->key)
        smurf_json_fail(json, "there is no list '%s' in it (choose another --key)", r->config->key);
    else
        close_sequence(r);
}

static void read_array(struct reader *r, int depth)
{
    struct json *json = &r->json;
    bool first = true, numbered = false;
    if (depth > JSON_DEPTH) {
        smurf_json_fail(json, "values nested more than %d deep", JSON_DEPTH);
        return;
    }
    smurf_json_take(json, '[');
    if (json->status) return;
    while (smurf_json_more(json, ']', &first)) {
        char c = smurf_json_peek(json);
        if (c == '[') {
            read_array(r, depth + 1);
        } else if (c == '{') {
            if (!numbered) r->arrays++;
            numbered = true;
            read_object(r, false);
        } else {
            smurf_json_fail(json, "expected an array of objects such as {\"time\": 1.5, \"type\": \"login\"}");
        }
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reads one value of the file; c is its first character. */
static void read_value(struct reader *r, char c)
{
    if (c == '[') {
        r->json.lines = false;
        read_array(r, 1);
    } else if (c == '{') {
        read_object(r, true);
    } else {
        char text[2] = {c, 0};
        smurf_json_fail(
            &r->json, "expected '{' or '[' but found '%s' (write objects such as {\"time\": 1.5, \"type\": \"login\"})",
            text);
    }
}

/* Closes the sequences of single events, if any. */
static void finish_rows(struct reader *r)
{
    r->builder->calendar = r->calendar == 1;
    if (r->json.status || !r->rows.builder) return;
    r->rows.named = r->rows_named;
    check(r, smurf_rows_finish(&r->rows, r->json.err));
}

static void fail_empty(struct reader *r)
{
    r->json.status = smurf_fail_at(r->json.err, r->json.source->name, 0, "there are no sequences in it%s",
                                   r->config->key ? " under that --key" : "");
}

static void remark_disagreement(struct reader *r)
{
    if (!r->json.status && r->disagree)
        check(r, smurf_builder_remark(r->builder, r->json.err,
                                      "time_since_last_event disagrees with time_since_start at %zu events of %zu "
                                      "sequences, first on line %zu; time_since_start was used",
                                      r->disagree, r->disagree_sequences, r->disagree_line));
}

static enum json_array array_kind(const void *context, const char *key, size_t n)
{
    if (array_role(context, key, n) != ARRAY_NONE) return JSON_ARRAY_SEQUENCE;
    return is_shelf(context, key) ? JSON_ARRAY_LIST : JSON_ARRAY_FIELD;
}

static void release(struct reader *r)
{
    smurf_json_events_release(&r->events);
    smurf_rows_release(&r->rows);
    free(r->member);
    free(r->since_last);
    free(r->json.scratch);
}

static smurf_status read_json(struct source *source, struct builder *builder, const smurf_read_config *config,
                              smurf_error *err)
{
    struct reader r = {
        .json = {.source = source, .err = err, .lines = true}, .builder = builder, .config = config, .calendar = -1};
    smurf_error own = {0};
    if (!err) r.json.err = err = &own;
    r.json.status = smurf_source_skip_mark(source, err);
    if (!r.json.status)
        r.json.status = smurf_json_events_sniff(&r.events, source, config, builder, array_kind, &r, err);
    for (char c; (c = smurf_json_peek(&r.json)) && !r.json.status;) read_value(&r, c);
    if (!r.json.status && r.events.known)
        r.json.status = smurf_table_finish(&r.events.table, builder, source->name, err);
    finish_rows(&r);
    if (!r.json.status && builder->sequences == 0) fail_empty(&r);
    remark_disagreement(&r);
    release(&r);
    return r.json.status;
}

/* ---- Streams --------------------------------------------------------------------------------- */

static smurf_status open_stream(void **state, struct source *source, const smurf_read_config *config, smurf_error *err)
{
    struct reader *r = *state = malloc(sizeof *r);
    if (!r) return smurf_fail_memory(err);
    *r = (struct reader){
        .json = {.source = source, .err = err, .lines = true, .at_once = true}, .config = config, .calendar = -1};
    smurf_status status = smurf_source_skip_mark(source, err);
    if (!status) status = smurf_json_events_as(&r->events, config, err);
    if (status) release(r);
    if (status) free(r);
    return status;
}

/* After a bad value: skips to the next line. */
static void skip_line(struct json *json)
{
    struct source *source = json->source;
    const char *end;
    while (!(end = memchr(source->p, '\n', (size_t)(source->end - source->p))) && !source->eof) {
        source->p = source->end;
        if (smurf_source_fill(source, 1, NULL)) return;
    }
    source->line += end != NULL;
    source->p = end ? end + 1 : source->end;
    json->line_start = smurf_source_offset(source);
}

/* One value at a time: only reading the next would tell whether it is complete. */
static smurf_status read_stream(void *state, struct builder *builder, size_t most, size_t *records, uint64_t *line,
                                bool *whole, smurf_error *err)
{
    struct reader *r = state;
    (void)most;
    *records = 0;
    r->builder = builder;
    r->json.err = err;
    r->json.status = SMURF_OK;
    r->rows_named = false;
    r->shelf = NULL;
    r->disagree = r->disagree_sequences = 0;
    for (char c; !builder->sequences && !r->json.status && (c = smurf_json_peek(&r->json));) {
        *line = r->json.source->line;
        read_value(r, c);
        finish_rows(r);
    }
    *whole = !r->rows.builder;
    *records = builder->sequences;
    if (!r->json.status && !*records && !r->values++) fail_empty(r);
    r->values += *records + (r->json.status != SMURF_OK);
    remark_disagreement(r);
    smurf_rows_release(&r->rows);
    if (r->json.status == SMURF_ERROR_INPUT) {
        r->json.field[0] = '\0';
        skip_line(&r->json);
    }
    return r->json.status;
}

static void close_stream(void *state)
{
    release(state);
    free(state);
}

static const struct format_stream stream = {open_stream, read_stream, close_stream};

/* ---- Classes --------------------------------------------------------------------------------- */

/* Does the text begin with this bracket, and go on as no table does? Rows begin with [10/Oct/2000:13:55:36 -0700], with
   [Thu Oct 11 2000], with [    0.000000], or with {3F2504E0-4F89-...}. */
static bool begins(const char *head, size_t n, char bracket)
{
    size_t i = n >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, digits = 0;
    while (i < n && memchr(" \t\r\n", head[i], 4)) i++;
    if (i == n || head[i++] != bracket) return false;
    while (i + digits < n && head[i + digits] && strchr("0123456789abcdefABCDEF", head[i + digits])) digits++;
    if (digits && i + digits < n && memchr("/-:", head[i + digits], 3)) return false;
    size_t to = i;
    while (to < n && memchr(" .0123456789", head[to], 12)) to++;
    if (to > i && to < n && head[to] == ']') return false;
    return i == n || head[i] < 'A' || head[i] > 'Z' || bracket == '{';
}

static bool looks_jsonl(const char *head, size_t n)
{
    return begins(head, n, '{');
}

static bool looks_json(const char *head, size_t n)
{
    return begins(head, n, '[');
}

const struct format_class smurf_format_jsonl = {.name = "jsonl",
                                                .title = "JSON Lines",
                                                .suffix = ".jsonl",
                                                .other_suffix = ".ndjson",
                                                .looks = looks_jsonl,
                                                .read = read_json,
                                                .write = smurf_jsonl_write,
                                                .stream = &stream};

const struct format_class smurf_format_json = {.name = "json",
                                               .title = "JSON",
                                               .suffix = ".json",
                                               .looks = looks_json,
                                               .read = read_json,
                                               .write = smurf_json_write};
