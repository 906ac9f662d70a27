/* parts.c - see parts.h. */
#include "data/parts.h"

#include "base/ranks.h"
#include "data/format.h"
#include "data/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMARKS_MOST = 20 };

/* Data sets being joined. */
struct joined {
    struct builder b;
    char *const *path;
    smurf_read_config config;
    smurf_data *first;  /* that has events, or just the first; owned */
    struct names names; /* of sequences, where the parts are tables */
    uint32_t *name_of;  /* (names) the part that has it */
    size_t name_room, parts, remarks;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- Whether a part fits --------------------------------------------------------------------- */

smurf_status smurf_parts_check_clock(const smurf_data *first, const smurf_data *part, smurf_error *err)
{
    if (first->events && part->events && first->calendar != part->calendar)
        return smurf_fail(
            err, SMURF_ERROR_INPUT, "times are %s in '%.300s' but %s in '%.300s' (write all parts with one clock)",
            first->calendar ? "dates" : "numbers", first->source, part->calendar ? "dates" : "numbers", part->source);
    if (*first->unit && *part->unit && strcmp(first->unit, part->unit) != 0)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the unit of time is '%.50s' in '%.300s' but '%.50s' in '%.300s' (write all parts in one "
                          "unit)",
                          first->unit, first->source, part->unit, part->source);
    return SMURF_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static smurf_status check_fit(const struct joined *j, const smurf_data *part, smurf_error *err)
{
    const smurf_data *first = j->first;
    if (smurf_reading_lacks_year(&part->reading))
        return smurf_fail_at(err, part->source, 0,
                             "times without a year cannot be read from several files (join them to one)");
    smurf_status status = smurf_parts_check_clock(first, part, err);
    if (status || !first->events || !part->events) return status;
    if (!same_text(first->reading.format, part->reading.format))
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%.300s' and '%.300s' differ in format (write all parts in one)",
                          first->source, part->source);
    if (!first->type_name != !part->type_name)
        return smurf_fail(err, SMURF_ERROR_INPUT, "types are %s in '%.300s' but %s in '%.300s' (use --types words)",
                          first->type_name ? "words" : "numbers", first->source, part->type_name ? "words" : "numbers",
                          part->source);
    return SMURF_OK;
}

/* In one table, all rows with a name are one sequence. In two, that would have to be put together again. */
static smurf_status check_names(struct joined *j, const smurf_data *part, smurf_error *err)
{
    if (!part->reading.time_column) return SMURF_OK;
    uint32_t known = j->names.count;
    for (size_t i = 0; i < part->sequences; i++) {
        const char *name = part->sequence[i].name;
        if (!name && j->parts > 0)
            return smurf_fail_at(err, part->source, 0,
                                 "without a sequence column, '%s' and this file are one sequence, which must be in one "
                                 "file (join the files, or name the column with --sequence)",
                                 base_of(j->path[0]));
        uint32_t number = name ? smurf_names_intern(&j->names, name, strlen(name)) : 0;
        if (number == NAMES_FULL || !smurf_grow(&j->name_of, &j->name_room, (size_t)number + 1, sizeof *j->name_of))
            return smurf_fail_memory(err);
        if (name && number < known)
            return smurf_fail_at(err, part->source, 0,
                                 "the sequence '%.100s' is also in '%s': a sequence must be in one file (write all its "
                                 "events to one part, or join the files)",
                                 name, base_of(j->path[j->name_of[number]]));
        if (name) j->name_of[number] = (uint32_t)j->parts;
    }
    return SMURF_OK;
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* What the data set takes from its first part; columns, and how they are read, are then those of all. */
static smurf_status begin(struct joined *j, const smurf_data *part, smurf_error *err)
{
    struct builder *b = &j->b;
    b->outside = part->outside || smurf_ranks()->count > 1;
    smurf_status status = smurf_further_copy(&b->further, &part->further, err);
    if (!status && (part->reading.time_column || part->reading.timezone))
        status = smurf_reading_copy(&b->reading, &part->reading, &b->text, err);
    if (status || !b->reading.time_column) return status;
    j->config.as = &b->reading;
    if (j->config.features) j->config.features = b->reading.features; /* "auto" is decided */
    return SMURF_OK;
}

/* The new number of each type of the part; NULL: the same. */
static smurf_status take_types(struct joined *j, const smurf_data *part, uint32_t **place, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    *place = NULL;
    if (!part->type_name) {
        if (part->types > j->b.declared) j->b.declared = part->types;
        return SMURF_OK;
    }
    if (!(*place = malloc(((size_t)part->types + 1) * sizeof **place))) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < part->types && !status; k++)
        status = smurf_builder_word(&j->b, part->type_name[k], strlen(part->type_name[k]), &(*place)[k], err);
    return status;
}

static bool add_words(struct names *to, const struct names *from)
{
    for (uint32_t k = 0; k < from->count; k++)
        if (smurf_names_intern(to, from->name[k], from->length[k]) == NAMES_FULL) return false;
    return true;
}

/* Numbers the words of the part's further columns as the data set does, which gets those that are new. */
static smurf_status take_further(struct joined *j, smurf_data *part, smurf_error *err)
{
    struct further *all = &j->b.further;
    for (size_t i = 0; i < all->columns; i++) {
        size_t at = smurf_further_find(&part->further, all->column[i].name);
        if (at < part->further.columns && !add_words(&all->column[i].word, &part->further.column[at].word))
            return smurf_fail_memory(err);
    }
    return smurf_further_adopt(part, all, err);
}

static smurf_status take_sequence(struct builder *b, const smurf_sequence *s, const uint32_t *place, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < s->length && !status; i++) {
        status = smurf_builder_time(b, s->time[i], err);
        if (!status) status = smurf_builder_index(b, place ? place[s->type[i]] : s->type[i], err);
    }
    const struct sequence_info info = {s->origin, s->start, s->end, s->first, s->name, s->before};
    if (!status) status = smurf_builder_further(b, s->further, s->length, err);
    return status ? status : smurf_builder_close(b, &info, err);
}

static smurf_status take_remark(struct joined *j, const char *text, smurf_error *err)
{
    if (j->remarks++ >= REMARKS_MOST) return SMURF_OK;
    return smurf_builder_remark(&j->b, err, "%s: %s", base_of(j->path[j->parts]), text);
}

static smurf_status take_part(struct joined *j, smurf_data *part, smurf_error *err)
{
    uint32_t *place = NULL;
    struct builder *b = &j->b;
    smurf_status status = check_fit(j, part, err);
    if (!status) status = check_names(j, part, err);
    if (!status && j->parts == 0) status = begin(j, part, err);
    if (!status) status = take_further(j, part, err);
    if (!status) status = take_types(j, part, &place, err);
    if (!status && !b->unit && *part->unit && !(b->unit = smurf_arena_text(&b->text, part->unit, strlen(part->unit))))
        status = smurf_fail_memory(err);
    b->calendar = b->calendar || (part->events && part->calendar);
    for (size_t i = 0; i < part->sequences && !status; i++)
        status = smurf_error_place(err, take_sequence(b, &part->sequence[i], place, err), part->source, 0);
    for (size_t i = 0; part->remark && part->remark[i] && !status; i++) status = take_remark(j, part->remark[i], err);
    free(place);
    return status;
}

/* Adds the next part. */
static smurf_status add(struct joined *j, smurf_data *part, smurf_error *err)
{
    smurf_data *old = j->first;
    bool first = !old || (!old->events && part->events);
    if (!old) j->first = part;
    smurf_status status = take_part(j, part, err);
    j->first = first ? part : old;
    smurf_data_free(first ? old : part);
    j->parts++;
    return status;
}

/* ---- A group --------------------------------------------------------------------------------- */

/* What a process tells of its part before the bytes travel: those of a packed file, then its remarks. */
struct parcel {
    uint64_t packed, remarks; /* bytes; 0: it has none */
    smurf_error error;
};

/* A part for each process. */
struct round {
    struct parcel *parcel; /* (ranks) */
    size_t *bytes;         /* (ranks) */
    struct spill all;      /* of all ranks, in order */
    smurf_data *own;
    void *packed;
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void round_release(struct round *r)
{
    free(r->parcel), free(r->bytes), free(r->packed);
    smurf_spill_release(&r->all);
    smurf_data_free(r->own);
}

static void pack_own(struct round *r, struct parcel *parcel, const char *path, const smurf_data *types_of,
                     const smurf_read_config *config)
{
    smurf_write_config packed;
    size_t size = 0;
    smurf_write_config_init(&packed);
    packed.format = smurf_format_packed.name;
    smurf_status status = smurf_format_read_path(&r->own, path, types_of, config, &parcel->error);
    if (!status) status = smurf_data_write_memory(r->own, &r->packed, &size, &packed, &parcel->error);
    parcel->error.status = status;
    parcel->packed = size;
    for (size_t i = 0; !status && r->own->remark && r->own->remark[i]; i++)
        parcel->remarks += strlen(r->own->remark[i]) + 1;
}

/* All fail with the error of the earliest part that failed. */
static smurf_status tell(struct round *r, smurf_error *err)
{
    size_t ranks = (size_t)smurf_ranks()->count;
    for (size_t q = 0; q < ranks; q++) r->bytes[q] = sizeof *r->parcel;
    smurf_ranks_gather(RANKS_OTHER, r->parcel, r->bytes);
    for (size_t q = 0; q < ranks; q++) {
        if (r->parcel[q].error.status == SMURF_OK) continue;
        if (err) *err = r->parcel[q].error;
        return r->parcel[q].error.status;
    }
    return SMURF_OK;
}

static smurf_status send(struct round *r, smurf_error *err)
{
    size_t ranks = (size_t)smurf_ranks()->count, rank = (size_t)smurf_ranks()->rank, total = 0, at = 0;
    for (size_t q = 0; q < ranks; q++) {
        if (q == rank) at = total;
        total += r->bytes[q] = padded(r->parcel[q].packed) + padded(r->parcel[q].remarks);
    }
    smurf_status status = smurf_spill_grow(&r->all, total, err);
    if (status) return status;
    char *own = (char *)r->all.p + at, *remark = own + padded(r->parcel[rank].packed);
    if (r->packed) memcpy(own, r->packed, r->parcel[rank].packed);
    for (size_t i = 0; r->own && r->own->remark && r->own->remark[i]; i++)
        remark = stpcpy(remark, r->own->remark[i]) + 1;
    free(r->packed);
    r->packed = NULL;
    smurf_ranks_gather(RANKS_OTHER, r->all.p, r->bytes);
    return SMURF_OK;
}

static smurf_status unpack_remarks(smurf_data *data, const char *text, size_t bytes, smurf_error *err)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < bytes; i++) n += !text[i];
    if (!(data->remark = calloc(n + 1, sizeof *data->remark))) return smurf_fail_memory(err);
    for (size_t i = 0; i < n; i++, at += strlen(text + at) + 1)
        if (!(data->remark[i] = smurf_arena_text(&data->text, text + at, strlen(text + at))))
            return smurf_fail_memory(err);
    return SMURF_OK;
}

/* The part of another process. Its events stay in the bytes. */
static smurf_status unpack(smurf_data **out, const struct parcel *parcel, const char *bytes, const char *path,
                           smurf_error *err)
{
    struct source source;
    smurf_read_config config;
    *out = NULL;
    smurf_read_config_init(&config);
    config.format = smurf_format_packed.name;
    smurf_status status = smurf_source_open_memory(&source, bytes, parcel->packed, path, err);
    if (status) return status;
    source.lasting = true;
    status = smurf_format_read_source(out, &source, NULL, &config, err);
    smurf_source_close(&source);
    if (!status) status = unpack_remarks(*out, bytes + padded(parcel->packed), parcel->remarks, err);
    if (!status) return SMURF_OK;
    smurf_data_free(*out);
    *out = NULL;
    return status;
}

static smurf_status add_all(struct joined *j, struct round *r, size_t from, size_t to, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    const char *at = r->all.p;
    for (size_t q = 0; q < to - from && !status; at += r->bytes[q++]) {
        smurf_data *part = r->own;
        if (q == (size_t)smurf_ranks()->rank)
            r->own = NULL;
        else
            status = unpack(&part, &r->parcel[q], at, j->path[from + q], err);
        if (!status) status = add(j, part, err);
    }
    return status;
}

/* Rank r reads the part from + r, for all. */
static smurf_status read_round(struct joined *j, size_t from, size_t to, const smurf_data *types_of, smurf_error *err)
{
    const struct ranks *group = smurf_ranks();
    struct round r = {0};
    size_t own = from + (size_t)group->rank;
    r.parcel = calloc((size_t)group->count, sizeof *r.parcel);
    r.bytes = calloc((size_t)group->count, sizeof *r.bytes);
    smurf_status status = r.parcel && r.bytes ? SMURF_OK : smurf_fail_memory(err);
    if (!status && own < to) pack_own(&r, &r.parcel[group->rank], j->path[own], types_of, &j->config);
    if (!status) status = tell(&r, err);
    if (!status) status = send(&r, err);
    if (!status) status = add_all(j, &r, from, to, err);
    round_release(&r);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Packed files have no further columns: where there may be some, each process reads all parts. */
static bool is_shared(const smurf_read_config *config)
{
    bool further = (config->features && *config->features) || (config->as && config->as->features);
    return smurf_ranks()->count > 1 && !further;
}

/* The first part comes alone: how it is read decides how the others are. */
static smurf_status read_all(struct joined *j, size_t n, const smurf_data *types_of, smurf_error *err)
{
    bool shared = is_shared(&j->config);
    smurf_status status = SMURF_OK;
    for (size_t from = 0, to; from < n && !status; from = to) {
        to = from && shared ? from + (size_t)smurf_ranks()->count : from + 1;
        if (to > n) to = n;
        if (shared) {
            status = read_round(j, from, to, types_of, err);
        } else {
            smurf_data *part;
            status = smurf_format_read_path(&part, j->path[from], types_of, &j->config, err);
            if (!status) status = add(j, part, err);
        }
    }
    return status;
}

/* "data/train (5 files)" for data/train-000.csv and so on. */
static char *name_of(const char *path, size_t n)
{
    char *name;
    const char *base = base_of(path);
    int length = (int)(base - path + (ptrdiff_t)strcspn(base, "-"));
    return asprintf(&name, "%.*s (%zu files)", length, path, n) < 0 ? NULL : name;
}

smurf_status smurf_parts_read(smurf_data **out, char *const *path, size_t n, const smurf_data *types_of,
                              const smurf_read_config *config, smurf_error *err)
{
    struct joined j = {.path = path, .config = *config};
    char *name = name_of(path[0], n);
    *out = NULL;
    j.b.name = name;
    smurf_status status = name ? read_all(&j, n, types_of, err) : smurf_fail_memory(err);
    if (!status && j.remarks > REMARKS_MOST)
        status = smurf_builder_remark(&j.b, err, "%zu more remarks on its files", j.remarks - REMARKS_MOST);
    if (!status) status = smurf_builder_finish(&j.b, out, err);
    smurf_builder_release(&j.b);
    smurf_names_release(&j.names);
    free(j.name_of);
    smurf_data_free(j.first);
    free(name);
    return status;
}
