/*
 * packed.c - packed files: a data set as it is in memory, mapped instead of read. doc/formats.md describes the layout.
 *
 *     header | times | types and further columns | sequences | texts
 *
 * Every part has a checksum. The reader verifies them, the order of times and the range of types in one pass, so that
 * the rest of the library can trust a mapped data set as it trusts a built one. Numbers are little-endian.
 */
#include "base/xxh64.h"
#include "data/format.h"
#include "data/reading.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN = 1, VERSION = 2, ORDER = 0x01020304 }; /* PLAIN: without further columns, as programs before them read */
enum { TIMES, TYPES, SEQUENCES, TEXTS, PARTS };
enum { CALENDAR = 1, NAMED = 2, READ = 4, GUESSED = 8 }; /* flags */
static const char magic[8] = "\x93smurf\r\n";
static const char *const part_name[PARTS] = {"times", "types or columns", "sequences", "names"};

struct header {
    char magic[8];
    uint32_t order, version;
    uint64_t bytes; /* of the file */
    uint64_t events, sequences, text_bytes;
    uint32_t types, flags, members, columns; /* members: of smurf_reading */
    uint64_t hash[PARTS];
    uint64_t own; /* checksum of the bytes above */
};
_Static_assert(sizeof(struct header) == 104, "the layout of the header");

struct record {
    int64_t origin;
    double start, end;
    uint64_t length, first, before;
    uint64_t name; /* where it begins in the texts; NO_NAME: none */
};
_Static_assert(sizeof(struct record) == 56, "the layout of a sequence");
#define NO_NAME UINT64_MAX

static uint64_t own_hash(const struct header *h)
{
    struct xxh64 hash;
    smurf_xxh64_init(&hash);
    smurf_xxh64_add(&hash, h, offsetof(struct header, own));
    return smurf_xxh64_value(&hash);
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Where the bytes of a part go: into a checksum first, then into the file. */
struct target {
    struct sink *sink; /* NULL: only the checksum */
    struct xxh64 hash;
    uint64_t bytes;
};

/* bytes may be NULL if n is 0. */
static void put(struct target *to, const void *bytes, size_t n)
{
    if (!n) return;
    to->bytes += n;
    if (to->sink)
        smurf_sink_bytes(to->sink, bytes, n);
    else
        smurf_xxh64_add(&to->hash, bytes, n);
}

static void put_text(struct target *to, const char *text)
{
    put(to, text, strlen(text) + 1);
}

/* A text that may be missing. */
static void put_member(struct target *to, const char *text)
{
    put(to, text ? "+" : "-", 1);
    put_text(to, text ? text : "");
}

/* Kind and name of each further column; of one of words how many, and the words. */
static void put_columns(struct target *to, const struct further *further)
{
    for (size_t i = 0; i < further->columns; i++) {
        const struct further_column *c = &further->column[i];
        char count[16];
        put(to, c->is_word ? "w" : "n", 1);
        put_text(to, c->name);
        if (!c->is_word) continue;
        snprintf(count, sizeof count, "%u", (unsigned)c->word.count);
        put_text(to, count);
        for (uint32_t k = 0; k < c->word.count; k++) put_text(to, c->word.name[k]);
    }
}

/* Unit, type names, members of the reading, further columns; then the names of sequences. Remarks are not kept: they
   are about the file that was read. */
static void put_texts(struct target *to, const smurf_data *data)
{
    smurf_reading reading = data->reading;
    put_text(to, data->unit);
    for (uint32_t k = 0; data->type_name && k < data->types; k++) put_text(to, data->type_name[k]);
    for (size_t i = 0; smurf_reading_member(i); i++) put_member(to, *smurf_reading_text(&reading, i));
    put_columns(to, &data->further);
}

static void put_names(struct target *to, const smurf_data *data)
{
    for (size_t i = 0; i < data->sequences; i++)
        if (data->sequence[i].name) put_text(to, data->sequence[i].name);
}

static void put_sequences(struct target *to, const smurf_data *data)
{
    struct target texts = {0};
    put_texts(&texts, data);
    uint64_t at = texts.bytes;
    for (size_t i = 0; i < data->sequences; i++) {
        const smurf_sequence *s = &data->sequence[i];
        const struct record r = {s->origin, s->start, s->end, s->length, s->first, s->before, s->name ? at : NO_NAME};
        put(to, &r, sizeof r);
        if (s->name) at += strlen(s->name) + 1;
    }
}

static void put_part(struct target *to, const smurf_data *data, int part)
{
    size_t bytes = data->events * sizeof *data->type;
    size_t further = data->events * data->further.columns * sizeof *data->further_value;
    switch (part) {
    case TIMES: put(to, data->time, data->events * sizeof *data->time); break;
    case TYPES:
        put(to, data->type, bytes);
        put(to, "\0\0\0\0\0\0\0", padded(bytes) - bytes);
        put(to, data->further_value, further);
        put(to, "\0\0\0\0\0\0\0", padded(further) - further);
        break;
    case SEQUENCES: put_sequences(to, data); break;
    default:
        put_texts(to, data);
        put_names(to, data);
        put(to, "", 1); /* the texts end in a NUL even if there are none */
    }
}

static smurf_status write_packed(struct sink *sink, const smurf_data *data, const smurf_write_config *config,
                                 smurf_error *err)
{
    (void)config, (void)err;
    struct header h = {.order = ORDER,
                       .version = data->further.columns ? VERSION : PLAIN,
                       .bytes = sizeof h,
                       .events = data->events,
                       .sequences = data->sequences,
                       .types = data->types,
                       .columns = (uint32_t)data->further.columns};
    memcpy(h.magic, magic, sizeof magic);
    h.flags = (data->calendar ? CALENDAR : 0u) | (data->type_name ? NAMED : 0u) |
              (data->reading.time_column ? READ : 0u) | (data->reading.guessed ? GUESSED : 0u);
    while (smurf_reading_member(h.members)) h.members++;
    for (int part = 0; part < PARTS; part++) {
        struct target to = {0};
        smurf_xxh64_init(&to.hash);
        put_part(&to, data, part);
        h.hash[part] = smurf_xxh64_value(&to.hash);
        h.bytes += to.bytes;
        if (part == TEXTS) h.text_bytes = to.bytes;
    }
    h.own = own_hash(&h);
    smurf_sink_bytes(sink, &h, sizeof h);
    for (int part = 0; part < PARTS; part++) put_part(&(struct target){.sink = sink}, data, part);
    return SMURF_OK;
}

/* ---- Reading: the header --------------------------------------------------------------------- */

static bool looks_packed(const char *head, size_t n)
{
    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

struct reader {
    struct source *source;
    struct builder *b;
    struct header h;
    const char *part[PARTS];
    size_t bytes[PARTS], types_bytes; /* types_bytes: without the columns behind them */
    const char *text;                 /* the next one */
    bool mapped;
};

static smurf_status damaged(const struct reader *r, const char *what, smurf_error *err)
{
    return smurf_fail_at(err, r->source->name, 0,
                         "the packed file is damaged: its %s changed (copy or convert it again)", what);
}

static smurf_status check_header(const struct reader *r, size_t size, smurf_error *err)
{
    const struct header *h = &r->h;
    const char *name = r->source->name;
    if (h->order == __builtin_bswap32(ORDER))
        return smurf_fail_at(err, name, 0,
                             "the packed file was written on a machine with the other byte order (convert it to JSON "
                             "Lines there)");
    if (h->order == ORDER && h->version > VERSION)
        return smurf_fail_at(err, name, 0,
                             "the packed file has version %u, this program reads version %d (use a newer smurf, or "
                             "convert the data again)",
                             h->version, VERSION);
    if (h->order != ORDER || h->version == 0 || h->own != own_hash(h)) return damaged(r, "header", err);
    if (h->bytes > size)
        return smurf_fail_at(err, name, 0,
                             "the packed file was cut off: it has %zu of its %" PRIu64 " bytes (copy it again)", size,
                             h->bytes);
    if (h->bytes < size)
        return smurf_fail_at(err, name, 0,
                             "the packed file has %zu bytes instead of %" PRIu64 ": something was appended (copy it "
                             "again)",
                             size, h->bytes);
    return SMURF_OK;
}

/* Finds the parts; the header is only trusted as far as it agrees with the size of the file. */
static smurf_status find_parts(struct reader *r, const char *file, smurf_error *err)
{
    const struct header *h = &r->h;
    uint64_t left = h->bytes - sizeof *h;
    if (h->events > left / 12 || h->sequences > left / sizeof(struct record) || h->text_bytes > left ||
        h->types > TYPE_LIMIT || h->columns > (h->version == PLAIN ? 0 : FURTHER_COLUMNS))
        return damaged(r, "header", err);
    r->types_bytes = padded((size_t)h->events * sizeof(uint32_t));
    const size_t bytes[PARTS] = {(size_t)h->events * sizeof(double),
                                 r->types_bytes + padded((size_t)h->events * h->columns * sizeof(float)),
                                 (size_t)h->sequences * sizeof(struct record), (size_t)h->text_bytes};
    const char *at = file + sizeof *h;
    for (int part = 0; part < PARTS; part++) {
        r->part[part] = at;
        r->bytes[part] = bytes[part];
        if (bytes[part] > left) return damaged(r, "header", err);
        at += bytes[part];
        left -= bytes[part];
    }
    if (left || h->text_bytes == 0) return damaged(r, "header", err);
    r->text = r->part[TEXTS];
    return SMURF_OK;
}

static smurf_status check_part(const struct reader *r, int part, smurf_error *err)
{
    enum { BLOCK = 1 << 26 };
    struct xxh64 hash;
    struct progress *progress = r->source->progress;
    smurf_xxh64_init(&hash);
    for (size_t at = 0, n; at < r->bytes[part]; at += n) {
        n = r->bytes[part] - at < BLOCK ? r->bytes[part] - at : BLOCK;
        smurf_xxh64_add(&hash, r->part[part] + at, n);
        smurf_status status =
            progress ? smurf_progress_tell(progress, (double)(r->part[part] - r->part[0]) + (double)at, err) : SMURF_OK;
        if (status) return status;
    }
    return smurf_xxh64_value(&hash) == r->h.hash[part] ? SMURF_OK : damaged(r, part_name[part], err);
}

/* ---- Reading: the contents ------------------------------------------------------------------- */

/* The next text; NULL past the last one. */
static const char *next_text(struct reader *r)
{
    const char *text = r->text, *end = r->part[TEXTS] + r->bytes[TEXTS];
    if (text == end) return NULL;
    r->text += strlen(text) + 1;
    return text;
}

static smurf_status take_reading(struct reader *r, smurf_error *err)
{
    smurf_reading *reading = &r->b->reading;
    for (uint32_t i = 0; i < r->h.members; i++) {
        const char *text = next_text(r);
        if (!text || (*text != '+' && *text != '-')) return damaged(r, part_name[TEXTS], err);
        if (*text == '-' || !smurf_reading_member(i)) continue;
        const char *copy = smurf_arena_text(&r->b->text, text + 1, strlen(text + 1));
        if (!copy) return smurf_fail_memory(err);
        *smurf_reading_text(reading, i) = copy;
    }
    reading->others = NULL; /* columns that are not in the file */
    reading->guessed = (r->h.flags & GUESSED) != 0;
    return (r->h.flags & READ) && !reading->time_column ? damaged(r, part_name[TEXTS], err) : SMURF_OK;
}

/* ---- Reading: further columns ---------------------------------------------------------------- */

static smurf_status take_words(struct reader *r, struct names *word, smurf_error *err)
{
    const char *text = next_text(r);
    unsigned long count = text && *text >= '0' && *text <= '9' ? strtoul(text, NULL, 10) : ULONG_MAX;
    if (count > FURTHER_WORDS_READ) return damaged(r, part_name[TEXTS], err);
    for (uint32_t k = 0; k < count; k++) {
        if (!(text = next_text(r))) return damaged(r, part_name[TEXTS], err);
        uint32_t found = smurf_names_intern(word, text, strlen(text));
        if (found == NAMES_FULL) return smurf_fail_memory(err);
        if (found != k) return damaged(r, part_name[TEXTS], err);
    }
    return SMURF_OK;
}

/* All columns of the file. */
static smurf_status take_columns(struct reader *r, struct further *out, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (uint32_t i = 0; i < r->h.columns && !status; i++) {
        const char *text = next_text(r);
        if (!text || (*text != 'w' && *text != 'n') || !text[1] || smurf_further_find(out, text + 1) < i)
            return damaged(r, part_name[TEXTS], err);
        status = smurf_further_add(out, text + 1, strlen(text + 1), *text == 'w', err);
        if (!status && *text == 'w') status = take_words(r, &out->column[i].word, err);
    }
    return status;
}

static smurf_status choose_one(const struct reader *r, const struct further *all, const struct further_entry *entry,
                               struct further *out, smurf_error *err)
{
    const char *name = r->source->name;
    int n = entry->n < 100 ? (int)entry->n : 100;
    size_t i = 0;
    while (i < all->columns &&
           (strlen(all->column[i].name) != entry->n || memcmp(all->column[i].name, entry->name, entry->n) != 0))
        i++;
    if (i == all->columns)
        return smurf_fail_at(err, name, 0,
                             "the packed file has no further column '%.*s', which --features names (name it when the "
                             "file is converted)",
                             n, entry->name);
    const struct further_column *c = &all->column[i];
    if (smurf_further_find(out, c->name) < out->columns)
        return smurf_fail_at(err, name, 0, "--features names '%.*s' twice (leave one out)", n, entry->name);
    if (entry->kind && (entry->kind == FURTHER_WORD) != c->is_word)
        return smurf_fail_at(err, name, 0,
                             "the packed file has '%.*s' as %s (say what it holds when the file is converted)", n,
                             entry->name, c->is_word ? "words" : "numbers");
    smurf_status status = smurf_further_add(out, c->name, entry->n, c->is_word, err);
    return status                                                            ? status
           : smurf_names_copy(&out->column[out->columns - 1].word, &c->word) ? SMURF_OK
                                                                             : smurf_fail_memory(err);
}

/* All of them, or those that are asked for. */
static smurf_status choose_columns(const struct reader *r, const struct further *all, const char *list,
                                   struct further *out, smurf_error *err)
{
    struct further_entry entry;
    smurf_status status = SMURF_OK;
    if (!list || strcmp(list, "auto") == 0) return smurf_further_copy(out, all, err);
    while (!status && smurf_further_next(&list, &entry)) status = choose_one(r, all, &entry, out, err);
    return status;
}

static bool is_value(const struct further_column *c, float value)
{
    if (isnan(value)) return true;
    return c->is_word ? value >= 0 && value <= (float)c->word.count && value == floorf(value) : isfinite(value);
}

static smurf_status take_values(struct reader *r, const struct further *all, smurf_error *err)
{
    const char *at = r->part[TYPES] + r->types_bytes;
    float row[FURTHER_COLUMNS], own[FURTHER_COLUMNS];
    struct further_map map;
    smurf_status status = smurf_further_map(&map, all, &r->b->further, r->source->name, err);
    if (status) return status;
    for (uint64_t i = 0; i < r->h.events && !status; i++, at += all->columns * sizeof *row) {
        memcpy(row, at, all->columns * sizeof *row);
        for (size_t k = 0; k < all->columns && !status; k++)
            if (!is_value(&all->column[k], row[k])) status = damaged(r, part_name[TYPES], err);
        if (status) break;
        smurf_further_translate(&map, row, own);
        status = smurf_builder_further(r->b, own, 1, err);
    }
    smurf_further_map_release(&map);
    return status;
}

/* Columns are copied: they can be renumbered. */
static smurf_status take_further(struct reader *r, const char *list, smurf_error *err)
{
    struct builder *b = r->b;
    struct further all = {0};
    smurf_status status = take_columns(r, &all, err);
    if (!status) status = choose_columns(r, &all, list, &b->further, err);
    if (!status && b->further.columns) status = take_values(r, &all, err);
    if (!status && r->h.columns && !(b->reading.features = smurf_further_list(&b->further, &b->text)))
        status = smurf_fail_memory(err);
    smurf_further_release(&all);
    return status;
}

/* ---- Reading: events ------------------------------------------------------------------------- */

/* Numbers the types as the builder does. *place: the builder's number of each of ours; NULL: the same, or words are
   made from numbers. The caller frees it. */
static smurf_status take_types(struct reader *r, uint32_t **place, smurf_error *err)
{
    struct builder *b = r->b;
    *place = NULL;
    if (!(r->h.flags & NAMED)) {
        if (!b->words) b->declared = r->h.types;
        return SMURF_OK;
    }
    bool same = true;
    *place = malloc(((size_t)r->h.types + 1) * sizeof **place);
    if (!*place) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < r->h.types; k++) {
        const char *name = next_text(r);
        if (!name) return damaged(r, part_name[TEXTS], err);
        smurf_status status = smurf_builder_word(b, name, strlen(name), &(*place)[k], err);
        if (status) return smurf_error_place(err, status, r->source->name, 0);
        same = same && (*place)[k] == k;
    }
    b->words = true;
    if (!same) return SMURF_OK;
    free(*place);
    *place = NULL;
    return SMURF_OK;
}

/* Copies types whose numbers change. */
static smurf_status renumber(struct reader *r, const uint32_t *place, const uint32_t *type, smurf_error *err)
{
    struct builder *b = r->b;
    for (uint64_t i = 0; i < r->h.events; i++) {
        smurf_status status = place ? smurf_builder_index(b, place[type[i]], err) : smurf_builder_type(b, type[i], err);
        if (status) return smurf_error_place(err, status, r->source->name, 0);
    }
    return SMURF_OK;
}

/* Uses the arrays of the file in place, except types that must be renumbered. */
static smurf_status take_events(struct reader *r, const uint32_t *place, smurf_error *err)
{
    struct builder *b = r->b;
    union {
        const char *in;
        void *out; /* the builder does not write to lent arrays */
    } time = {.in = r->part[TIMES]}, type = {.in = r->part[TYPES]};
    const uint32_t *t = type.out;
    uint32_t most = 0;
    b->outside = r->mapped;
    for (uint64_t i = 0; i < r->h.events; i++) most = t[i] > most ? t[i] : most;
    if (r->h.events && most >= r->h.types) return damaged(r, part_name[TYPES], err);
    if (place || (b->words && !(r->h.flags & NAMED))) {
        smurf_status status = renumber(r, place, t, err);
        if (status) return status;
    } else {
        b->type = type.out;
        b->lent_type = true;
        b->type_max = most;
    }
    b->time = time.out;
    b->lent_time = true;
    return SMURF_OK;
}

/* The builder sorts what is out of order, which a mapped file must not be. */
static bool in_order(const double *time, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(time[i]) || (i && time[i] < time[i - 1])) return false;
    return true;
}

static smurf_status take_sequences(struct reader *r, smurf_error *err)
{
    struct builder *b = r->b;
    uint64_t left = r->h.events;
    for (uint64_t i = 0; i < r->h.sequences; i++) {
        struct record s;
        memcpy(&s, r->part[SEQUENCES] + i * sizeof s, sizeof s);
        bool named = s.name != NO_NAME;
        if (s.length > left || (named && s.name >= r->h.text_bytes)) return damaged(r, part_name[SEQUENCES], err);
        left -= s.length;
        if (!in_order(b->time + b->closed, (size_t)s.length)) return damaged(r, part_name[TIMES], err);
        b->times = b->types = b->closed + (size_t)s.length;
        const struct sequence_info info = {
            s.origin, s.start, s.end, (size_t)s.first, named ? r->part[TEXTS] + s.name : NULL, (size_t)s.before};
        smurf_status status = smurf_builder_close(b, &info, err);
        if (status) return smurf_error_place(err, status, r->source->name, 0);
    }
    return left ? damaged(r, part_name[SEQUENCES], err) : SMURF_OK;
}

static smurf_status take(struct reader *r, const char *features, smurf_error *err)
{
    uint32_t *place = NULL;
    if (r->part[TEXTS][r->bytes[TEXTS] - 1] != '\0') return damaged(r, part_name[TEXTS], err);
    const char *unit = next_text(r);
    r->b->calendar = (r->h.flags & CALENDAR) != 0;
    if (r->b->calendar && (!unit || strcmp(unit, "s") != 0)) return damaged(r, part_name[TEXTS], err);
    if (!r->b->unit && unit && *unit) {
        r->b->unit = smurf_arena_text(&r->b->text, unit, strlen(unit));
        if (!r->b->unit) return smurf_fail_memory(err);
    }
    smurf_status status = take_types(r, &place, err);
    if (!status) status = take_reading(r, err);
    if (!status) status = take_further(r, features, err);
    if (!status) status = take_events(r, place, err);
    if (!status) status = take_sequences(r, err);
    free(place);
    return status;
}

static smurf_status read_packed(struct source *source, struct builder *b, const smurf_read_config *config,
                                smurf_error *err)
{
    struct reader r = {.source = source, .b = b};
    struct whole *whole;
    smurf_status status = smurf_source_whole(&whole, source, err);
    if (status) return status;
    /* The data set owns the file from now on, whatever happens. */
    b->release = smurf_whole_release;
    b->release_context = whole;
    r.mapped = whole->mapped;
    if (whole->n < sizeof r.h)
        return smurf_fail_at(err, source->name, 0, "the packed file was cut off: it has %zu bytes (copy it again)",
                             whole->n);
    memcpy(&r.h, whole->p, sizeof r.h);
    status = check_header(&r, whole->n, err);
    if (!status) status = find_parts(&r, whole->p, err);
    for (int part = 0; part < PARTS && !status; part++) status = check_part(&r, part, err);
    return status ? status : take(&r, config->features, err);
}

const struct format_class smurf_format_packed = {.name = "packed",
                                                 .title = "packed",
                                                 .suffix = ".smurf",
                                                 .looks = looks_packed,
                                                 .read = read_packed,
                                                 .write = write_packed,
                                                 .further = true};
