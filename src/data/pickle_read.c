/*
 * pickle_read.c - pickled data sets as published for point process models (NHP, THP, SAHP, EasyTPP).
 *
 *     {'dim_process': K, 'train': [sequence, ...], 'dev': [], ...}      one split is read
 *     [sequence, ...]
 *     {'time_since_start': [[t, ...], ...], 'type_event': [[k, ...], ...], 'dim_process': K or [K, ...]}
 *
 * where a sequence is a list of events {'time_since_start': t, 'time_since_last_event': dt, 'type_event': k} or a
 * dictionary of lists {'time_since_start': [t, ...], 'type_event': [k, ...]}. Any list may be a tuple or a numpy array.
 * Also reads the other fields that smurf_pickle_write writes: 'type_names', 'unit', 'calendar', and per sequence
 * 'sequence' (its name), 'observation_start', 'observation_end', 'first_scored', 'events_before'.
 *
 * The walk has a fixed depth, so lists that contain themselves are harmless.
 */
#include "data/pickle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum field { TIME, GAP, TYPE, FIELDS };
enum { ALIASES = 3 };

static const char *const usual[FIELDS][ALIASES] = {
    [TIME] = {"time_since_start", "times", "time"},
    [GAP] = {"time_since_last_event", "time_delta"},
    [TYPE] = {"type_event", "types", "type"},
};

static const char *const splits[] = {"train", "dev", "devtest", "test", "valid", "validation"};

/* Disagreements between time_since_last_event and time_since_start. */
struct dispute {
    size_t events, sequences;
    size_t sequence, event; /* the first, from 1 */
    size_t latest;          /* sequence of the last one */
};

struct walk {
    struct pickle_tree *tree;
    struct builder *builder;
    const char *field_name[FIELDS]; /* for messages */
    uint32_t key[FIELDS][ALIASES];  /* PICKLE_NO_KEY: not in this file */
    bool untyped;                   /* no event in this file has a type: there is only one type */
    const char *name_key;           /* key of the sequence name */
    struct dispute dispute;
    smurf_error *err;
};

/* A sequence, in either layout. */
struct events {
    bool columns;
    bool has[FIELDS]; /* columns: is it present? */
    struct pickle_value column[FIELDS];
    struct pickle_value list;  /* otherwise: a list of dictionaries */
    struct pickle_value about; /* dictionary with the sequence's other properties ... */
    size_t index;              /* ... or with lists of them, indexed by this */
    size_t count;
};

/* The clock of one sequence. */
struct clock {
    bool running; /* the first time has been seen */
    int64_t origin;
    double last;             /* relative to origin */
    struct pickle_value sum; /* of the gaps, if there are no times */
};

static smurf_status wrong(struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static smurf_status wrong(struct walk *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    smurf_status status = smurf_failv(w->err, SMURF_ERROR_INPUT, format, args);
    va_end(args);
    return status;
}

/* ---- Looking things up ----------------------------------------------------------------------- */

/* The last item of a dictionary with this key, since Python keeps the last duplicate. Adds the search to the charged
   work; callers check it with smurf_pickle_charge. */
static bool find(const struct walk *w, struct pickle_value dict, uint32_t key, struct pickle_value *out)
{
    if (key == PICKLE_NO_KEY || smurf_pickle_kind(w->tree, dict) != PICKLE_DICT) return false;
    size_t count = smurf_pickle_count(w->tree, dict);
    w->tree->charged += count;
    for (size_t i = count; i-- > 0;) {
        *out = smurf_pickle_item(w->tree, dict, i);
        if (out->key == key) return true;
    }
    return false;
}

static uint32_t key_named(const struct walk *w, const char *name)
{
    return smurf_names_find(&w->tree->keys, name, strlen(name));
}

static bool find_named(const struct walk *w, struct pickle_value dict, const char *name, struct pickle_value *out)
{
    return find(w, dict, key_named(w, name), out);
}

static bool find_field(const struct walk *w, struct pickle_value dict, enum field field, struct pickle_value *out)
{
    for (int i = 0; i < ALIASES; i++)
        if (find(w, dict, w->key[field][i], out)) return true;
    return false;
}

static void find_keys(struct walk *w, const smurf_read_config *config)
{
    const char *wanted[FIELDS] = {[TIME] = config->time_column, [TYPE] = config->type_column};
    for (int f = 0; f < FIELDS; f++) {
        w->field_name[f] = wanted[f] ? wanted[f] : usual[f][0];
        for (int i = 0; i < ALIASES; i++) {
            const char *name = wanted[f] ? wanted[f] : usual[f][i];
            w->key[f][i] = name ? key_named(w, name) : PICKLE_NO_KEY;
        }
    }
    w->untyped = !config->type_column;
    for (int i = 0; i < ALIASES; i++) w->untyped &= w->key[TYPE][i] == PICKLE_NO_KEY;
    w->name_key = config->sequence_column ? config->sequence_column : "sequence";
}

/* A number, or an array with one element. */
static bool get_number(const struct walk *w, struct pickle_value value, struct pickle_value *out)
{
    if (smurf_pickle_kind(w->tree, value) == PICKLE_ARRAY && smurf_pickle_count(w->tree, value) == 1)
        value = smurf_pickle_item(w->tree, value, 0);
    *out = value;
    return value.kind == PICKLE_INT || value.kind == PICKLE_FLOAT;
}

static double as_double(struct pickle_value number)
{
    return number.kind == PICKLE_INT ? (double)number.integer : number.real;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* number = *whole + *fraction exactly, 0 <= fraction < 1. False beyond 2^63. */
static bool split_number(struct pickle_value number, int64_t *whole, double *fraction)
{
    *fraction = 0;
    *whole = number.integer;
    if (number.kind == PICKLE_INT) return true;
    double down = floor(number.real);
    if (!(down >= -0x1p63 && down < 0x1p63)) return false;
    *whole = (int64_t)down;
    *fraction = number.real - down;
    return true;
}

/* The time relative to the origin, which the first time of a sequence sets; see smurf_sequence. */
static smurf_status tell_time(struct walk *w, struct clock *clock, struct pickle_value number, double *out)
{
    double time = as_double(number), fraction;
    int64_t whole, steps;
    if (!isfinite(time)) return wrong(w, "the time is not finite (repair or remove the event)");
    if (!split_number(number, &whole, &fraction)) return wrong(w, "time %g is beyond 2^63", time);
    if (!clock->running) clock->origin = whole >= 1 << 20 || whole < -(1 << 20) ? whole : 0;
    clock->running = true;
    if (__builtin_sub_overflow(whole, clock->origin, &steps) || steps >= INT64_C(1) << 53 ||
        steps <= -(INT64_C(1) << 53))
        return wrong(w, "time %g is too far from the first time of its sequence to keep whole steps (2^53)", time);
    *out = clock->origin == 0 ? time : (double)steps + fraction;
    return SMURF_OK;
}

/* sum += gap, exactly if both are integers. */
static smurf_status add_gap(struct walk *w, struct clock *clock, struct pickle_value gap)
{
    struct pickle_value *sum = &clock->sum;
    if (!clock->running) {
        *sum = gap;
    } else if (sum->kind == PICKLE_INT && gap.kind == PICKLE_INT) {
        if (__builtin_add_overflow(sum->integer, gap.integer, &sum->integer))
            return wrong(w, "the sum of '%s' is beyond 2^63", w->field_name[GAP]);
    } else {
        sum->real = as_double(*sum) + as_double(gap);
        sum->kind = PICKLE_FLOAT;
    }
    return SMURF_OK;
}

/* float32 times carry seven digits: gaps computed before rounding differ by less than 1e-6 of the time. The first gap
   of a sequence has no agreed meaning. */
static void compare_gap(struct walk *w, const struct clock *clock, double time, double gap, size_t event)
{
    struct dispute *d = &w->dispute;
    double difference = fabs(time - clock->last - gap);
    if (difference <= 1e-6 * fmax(1, fabs(time))) return;
    size_t sequence = w->builder->sequences + 1;
    if (d->events++ == 0) d->sequence = sequence, d->event = event + 1;
    if (d->latest != sequence) d->sequences++;
    d->latest = sequence;
}

/* ---- Fields of the whole file ----------------------------------------------------------------- */

/* 'unit', 'calendar' and 'type_names'; types are then numbers that index type_names. */
static smurf_status read_shared(struct walk *w, struct pickle_value dict)
{
    struct builder *b = w->builder;
    struct pickle_value value;
    size_t n;
    if (!b->unit && find_named(w, dict, "unit", &value) && value.kind == PICKLE_TEXT) {
        const char *text = smurf_pickle_text(w->tree, value, &n);
        if (!(b->unit = smurf_arena_text(&b->text, text, n))) return smurf_fail_memory(w->err);
    }
    if (find_named(w, dict, "calendar", &value) && value.kind == PICKLE_INT) b->calendar = value.integer != 0;
    if (!find_named(w, dict, "type_names", &value) || smurf_pickle_count(w->tree, value) == 0) return SMURF_OK;
    bool list = smurf_pickle_is_list(w->tree, value);
    for (size_t i = 0; i < smurf_pickle_count(w->tree, value); i++) {
        struct pickle_value name = smurf_pickle_item(w->tree, value, i);
        if (!list || name.kind != PICKLE_TEXT || i >= TYPE_LIMIT)
            return wrong(w, "'type_names' is not a list of texts");
        const char *text = smurf_pickle_text(w->tree, name, &n);
        uint32_t number = smurf_names_intern(&b->vocabulary, text, n);
        if (number == NAMES_FULL) return smurf_fail_memory(w->err);
        if (number != i)
            return wrong(w, "'type_names' must be distinct, and the same in all files of a data set: '%.*s' is not",
                         n < 80 ? (int)n : 80, text);
    }
    b->words = b->inherited = true;
    return SMURF_OK;
}

static smurf_status read_types_declared(struct walk *w, struct pickle_value dict)
{
    struct pickle_value value, number;
    if (!find_named(w, dict, "dim_process", &value) || value.kind == PICKLE_NONE) return SMURF_OK;
    bool many = smurf_pickle_is_list(w->tree, value);
    size_t count = many ? smurf_pickle_count(w->tree, value) : 1;
    smurf_status status = smurf_pickle_charge(w->tree, count, w->err);
    for (size_t i = 0; i < count && !status; i++) {
        bool is = get_number(w, many ? smurf_pickle_item(w->tree, value, i) : value, &number);
        double types = is ? as_double(number) : 0;
        if (!(types >= 1 && types <= TYPE_LIMIT) || types != floor(types))
            return wrong(w, "'dim_process' must be a number of types between 1 and %d", TYPE_LIMIT);
        if (types > w->builder->declared) w->builder->declared = (uint32_t)types;
    }
    return status;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static smurf_status read_type(struct walk *w, struct pickle_value value)
{
    struct pickle_value number;
    size_t n;
    if (value.kind == PICKLE_TEXT) {
        const char *text = smurf_pickle_text(w->tree, value, &n);
        return smurf_builder_type_word(w->builder, text, n, w->err);
    }
    if (!get_number(w, value, &number)) return wrong(w, "'%s' is neither a number nor a text", w->field_name[TYPE]);
    double type = as_double(number);
    if (type != floor(type)) return wrong(w, "type %g is not a whole number", type);
    uint32_t types = w->builder->words ? 0 : w->builder->declared;
    if (types && type >= types)
        return wrong(w, "type %.0f is out of range: there are %u types, from 0 to %u", type, types, types - 1);
    if (fabs(type) >= 0x1p63) return wrong(w, "type %g is beyond 2^63", type);
    return smurf_builder_type(w->builder, number.kind == PICKLE_INT ? number.integer : (int64_t)type, w->err);
}

static bool cell(const struct walk *w, const struct events *e, size_t i, enum field field, struct pickle_value *out)
{
    if (!e->columns) return find_field(w, smurf_pickle_item(w->tree, e->list, i), field, out);
    if (e->has[field]) *out = smurf_pickle_item(w->tree, e->column[field], i);
    return e->has[field];
}

static smurf_status read_time(struct walk *w, const struct events *e, size_t i, struct clock *clock)
{
    struct pickle_value value, time, gap;
    bool timed = cell(w, e, i, TIME, &value);
    if (timed && !get_number(w, value, &time)) return wrong(w, "'%s' is not a number", w->field_name[TIME]);
    bool gapped = cell(w, e, i, GAP, &value) && get_number(w, value, &gap);
    if (!timed && !gapped)
        return wrong(w, "an event has neither '%s' nor '%s' (use --time NAME if it has another name)",
                     w->field_name[TIME], w->field_name[GAP]);
    if (!timed) {
        smurf_status status = add_gap(w, clock, gap);
        if (status) return status;
        time = clock->sum;
    }
    bool first = !clock->running;
    double now = 0;
    smurf_status status = tell_time(w, clock, time, &now);
    if (status) return status;
    if (timed && gapped && !first) compare_gap(w, clock, now, as_double(gap), i);
    clock->last = now;
    return smurf_builder_time(w->builder, now, w->err);
}

static smurf_status read_event(struct walk *w, const struct events *e, size_t i, struct clock *clock)
{
    struct pickle_value type;
    smurf_status status = smurf_pickle_charge(w->tree, 4, w->err);
    if (!status) status = read_time(w, e, i, clock);
    if (status) return status;
    if (w->untyped) return smurf_builder_type(w->builder, 0, w->err);
    if (!cell(w, e, i, TYPE, &type))
        return wrong(w, "an event has no '%s' (use --type NAME if it has another name)", w->field_name[TYPE]);
    return read_type(w, type);
}

/* A property of a sequence other than its events; false if absent or None. */
static bool find_about(const struct walk *w, const struct events *e, const char *name, struct pickle_value *out)
{
    if (!find_named(w, e->about, name, out)) return false;
    if (smurf_pickle_is_list(w->tree, *out)) {
        if (e->index >= smurf_pickle_count(w->tree, *out)) return false;
        *out = smurf_pickle_item(w->tree, *out, e->index);
    }
    return out->kind != PICKLE_NONE;
}

static smurf_status close_sequence(struct walk *w, const struct events *e, struct clock *clock)
{
    static const char *const window[] = {"observation_start", "observation_end"};
    struct sequence_info info = {0};
    double *moment[] = {&info.start, &info.end};
    struct pickle_value value;
    char number[24];
    size_t n;
    for (int i = 0; i < 2; i++) {
        *moment[i] = (double)NAN;
        if (!find_about(w, e, window[i], &value) || !get_number(w, value, &value)) continue;
        smurf_status status = tell_time(w, clock, value, moment[i]);
        if (status) return smurf_error_prefix(w->err, status, "'%s': ", window[i]);
    }
    info.origin = clock->origin;
    if (find_about(w, e, "first_scored", &value) && value.kind == PICKLE_INT && value.integer > 0)
        info.first = (size_t)value.integer;
    if (find_about(w, e, "events_before", &value) && value.kind == PICKLE_INT && value.integer > 0 &&
        value.integer <= (int64_t)1e15)
        info.before = (size_t)value.integer;
    if (find_about(w, e, w->name_key, &value)) {
        snprintf(number, sizeof number, "%lld", (long long)value.integer);
        if (value.kind == PICKLE_INT) info.name = number;
        if (value.kind == PICKLE_TEXT) info.name = smurf_pickle_text(w->tree, value, &n);
    }
    return smurf_builder_close(w->builder, &info, w->err);
}

static smurf_status read_sequence(struct walk *w, const struct events *e)
{
    struct clock clock = {0};
    smurf_status status = smurf_pickle_charge(w->tree, 1, w->err);
    if (status) return status;
    for (size_t i = 0; i < e->count; i++) {
        status = read_event(w, e, i, &clock);
        if (status) return smurf_error_prefix(w->err, status, "event %zu: ", i + 1);
    }
    return close_sequence(w, e, &clock);
}

/* Sets the columns of a sequence and checks that they have the same length. */
static smurf_status set_columns(struct walk *w, struct events *e)
{
    bool known = false;
    e->columns = true;
    for (int f = 0; f < FIELDS; f++) {
        if (!e->has[f]) continue;
        if (!smurf_pickle_is_list(w->tree, e->column[f])) return wrong(w, "'%s' is not a list", w->field_name[f]);
        size_t count = smurf_pickle_count(w->tree, e->column[f]);
        if (known && count != e->count)
            return wrong(w, "'%s' has %zu entries, but the field before it has %zu", w->field_name[f], count, e->count);
        e->count = count;
        known = true;
    }
    return SMURF_OK;
}

/* Sequence i of a list. `about` describes a list of events; a dictionary describes itself. */
static smurf_status read_any_sequence(struct walk *w, struct pickle_value value, struct pickle_value about, size_t i)
{
    struct events e = {.about = about, .index = i};
    if (smurf_pickle_is_list(w->tree, value)) {
        e.list = value;
        e.count = smurf_pickle_count(w->tree, value);
        return read_sequence(w, &e);
    }
    if (smurf_pickle_kind(w->tree, value) != PICKLE_DICT)
        return wrong(w, "is neither a list of events nor a dictionary of lists");
    e.about = value;
    smurf_status status = w->builder->sequences == 0 ? read_shared(w, value) : SMURF_OK;
    if (!status) status = read_types_declared(w, value);
    for (int f = 0; f < FIELDS; f++) e.has[f] = find_field(w, value, (enum field)f, &e.column[f]);
    if (!status && !e.has[TIME] && !e.has[GAP])
        return wrong(w, "has neither '%s' nor '%s'", w->field_name[TIME], w->field_name[GAP]);
    if (!status) status = set_columns(w, &e);
    return status ? status : read_sequence(w, &e);
}

/* ---- Sets of sequences ----------------------------------------------------------------------- */

static smurf_status blame_sequence(struct walk *w, smurf_status status, size_t i)
{
    return status ? smurf_error_prefix(w->err, status, "sequence %zu: ", i + 1) : status;
}

static bool is_set_of_columns(const struct walk *w, struct pickle_value value)
{
    struct pickle_value column;
    return (find_field(w, value, TIME, &column) || find_field(w, value, GAP, &column)) &&
           smurf_pickle_is_list(w->tree, column);
}

/* A dictionary of lists: one sequence, or one list per sequence. */
static smurf_status read_columns(struct walk *w, struct pickle_value dict)
{
    struct events whole = {.about = dict};
    smurf_status status = read_types_declared(w, dict);
    for (int f = 0; f < FIELDS; f++) whole.has[f] = find_field(w, dict, (enum field)f, &whole.column[f]);
    if (!status) status = set_columns(w, &whole);
    if (status || whole.count == 0) return status;
    struct pickle_value first = smurf_pickle_item(w->tree, whole.column[whole.has[TIME] ? TIME : GAP], 0);
    if (!smurf_pickle_is_list(w->tree, first)) return read_sequence(w, &whole);

    for (size_t i = 0; i < whole.count && !status; i++) {
        struct events e = whole;
        e.index = i;
        for (int f = 0; f < FIELDS; f++)
            if (e.has[f]) e.column[f] = smurf_pickle_item(w->tree, whole.column[f], i);
        status = set_columns(w, &e);
        if (!status) status = read_sequence(w, &e);
        status = blame_sequence(w, status, i);
    }
    return status;
}

static smurf_status read_set(struct walk *w, struct pickle_value set, struct pickle_value about)
{
    if (is_set_of_columns(w, set)) return read_columns(w, set);
    if (!smurf_pickle_is_list(w->tree, set)) return wrong(w, "there is no list of sequences");
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < smurf_pickle_count(w->tree, set) && !status; i++)
        status = blame_sequence(w, read_any_sequence(w, smurf_pickle_item(w->tree, set, i), about, i), i);
    return status;
}

/* Does this look like a set of sequences, judging by the first? */
static bool is_set(const struct walk *w, struct pickle_value value)
{
    if (is_set_of_columns(w, value)) return true;
    if (!smurf_pickle_is_list(w->tree, value) || smurf_pickle_count(w->tree, value) == 0) return false;
    struct pickle_value first = smurf_pickle_item(w->tree, value, 0);
    return smurf_pickle_is_list(w->tree, first) || is_set_of_columns(w, first);
}

static bool is_split_name(const char *name)
{
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (strcmp(name, splits[i]) == 0) return true;
    return false;
}

/* Appends "'name' (n), " to a list of names if there is room. */
static void list_name(char list[256], const char *name, size_t sequences)
{
    size_t used = strlen(list);
    snprintf(list + used, 256 - used, "%s'%.40s' (%zu)", used ? ", " : "", name, sequences);
}

/* Chooses the set of sequences in a dictionary: the one asked for, or the only one. Sets with the usual split names
   take precedence. */
static smurf_status choose_set(struct walk *w, struct pickle_value dict, const char *key, struct pickle_value *out)
{
    char names[256] = "";
    size_t found = 0;
    bool usual_found = false;
    for (size_t i = 0; i < smurf_pickle_count(w->tree, dict); i++) {
        struct pickle_value item = smurf_pickle_item(w->tree, dict, i);
        smurf_status status = smurf_pickle_charge(w->tree, 1, w->err);
        if (status) return status;
        if (item.key == PICKLE_NO_KEY) continue;
        const char *name = w->tree->keys.name[item.key];
        bool is_usual = is_split_name(name);
        size_t count = smurf_pickle_count(w->tree, item);
        if (!is_set(w, item) || (usual_found && !is_usual)) continue;
        if (is_usual && !usual_found) usual_found = true, found = 0, names[0] = '\0';
        if (found++ < 8) list_name(names, name, count);
        *out = item;
    }
    if (key) {
        if (find_named(w, dict, key, out)) return SMURF_OK;
        return wrong(w, "there is no '%s'; lists of sequences: %s", key, found ? names : "none");
    }
    if (found == 1) return SMURF_OK;
    if (found > 1) return wrong(w, "there are several lists of sequences, %s: choose one with --key NAME", names);
    return wrong(w, "there are no sequences under 'train', 'dev', 'test' or another key");
}

/* ---- The file -------------------------------------------------------------------------------- */

static smurf_status read_root(struct walk *w, const char *key)
{
    struct pickle_value root = w->tree->root, set = root;
    if (smurf_pickle_kind(w->tree, root) != PICKLE_DICT) {
        if (key) return wrong(w, "there is no '%s': the file is not a dictionary (leave --key out)", key);
        return read_set(w, root, root);
    }
    smurf_status status = read_shared(w, root);
    if (!status) status = read_types_declared(w, root);
    if (!status && (key || !is_set_of_columns(w, root))) status = choose_set(w, root, key, &set);
    return status ? status : read_set(w, set, root);
}

static smurf_status remark(struct walk *w, struct source *source)
{
    const struct dispute *d = &w->dispute;
    smurf_status status = SMURF_OK;
    if (d->events)
        status = smurf_builder_remark(w->builder, w->err,
                                      "'%s' disagrees with the differences of '%s' at %zu event%s of %zu "
                                      "sequence%s (first: sequence %zu, event %zu); '%s' was used",
                                      w->field_name[GAP], w->field_name[TIME], d->events, d->events == 1 ? "" : "s",
                                      d->sequences, d->sequences == 1 ? "" : "s", d->sequence, d->event,
                                      w->field_name[TIME]);
    if (!status) status = smurf_source_fill(source, 1, w->err);
    if (!status && source->p < source->end)
        status =
            smurf_builder_remark(w->builder, w->err, "data after the end of the pickle, at byte %llu, was not read",
                                 (unsigned long long)smurf_source_offset(source));
    return status;
}

static smurf_status read_pickle(struct source *source, struct builder *builder, const smurf_read_config *config,
                                smurf_error *err)
{
    struct pickle_tree tree = {0};
    struct walk w = {.tree = &tree, .builder = builder, .err = err};
    smurf_status status = smurf_pickle_load(&tree, source, err);
    if (!status) {
        find_keys(&w, config);
        status = read_root(&w, config->key);
        if (!status && builder->sequences == 0) status = wrong(&w, "there are no sequences in it");
        status = smurf_error_place(err, status, source->name, 0);
    }
    if (!status) status = remark(&w, source);
    smurf_pickle_release(&tree);
    return status;
}

/* Protocols 2 to 5 start with a version. Older pickles start with a dictionary or a list that is memoized at once:
   "(dp0\n", "(lp1\n", "}q\0", "]q\1", after "(" if in a tuple; or with the name of a callable. */
static bool looks(const char *head, size_t n)
{
    static const char *const calls[] = {"ccollections\nOrderedDict\n", "cnumpy.core.multiarray\n_reconstruct\n",
                                        "cnumpy._core.multiarray\n_reconstruct\n"};
    while (n > 1 && head[0] == '(' && memchr("(]}", head[1], 3)) head++, n--;
    if (n < 3) return false;
    if (head[0] == '\x80') return head[1] >= 2 && head[1] <= 5;
    if (head[0] == '}' || head[0] == ']') return head[1] == 'q' && (unsigned char)head[2] < '\t';
    if (head[0] == '(' && (head[1] == 'd' || head[1] == 'l'))
        return n >= 5 && head[2] == 'p' && head[3] >= '0' && head[3] <= '9' && head[4] == '\n';
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (n >= strlen(calls[i]) && memcmp(head, calls[i], strlen(calls[i])) == 0) return true;
    return false;
}

const struct format_class smurf_format_pickle = {.name = "pickle",
                                                 .title = "pickle",
                                                 .suffix = ".pkl",
                                                 .other_suffix = ".pickle",
                                                 .looks = looks,
                                                 .read = read_pickle,
                                                 .write = smurf_pickle_write};
