/* further.c - see further.h. */
#include "data/further.h"

#include "base/hash.h"
#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void smurf_further_release(struct further *f)
{
    for (size_t i = 0; i < f->columns; i++) {
        free(f->column[i].name);
        smurf_names_release(&f->column[i].word);
    }
    free(f->column);
    *f = (struct further){0};
}

smurf_status smurf_further_add(struct further *f, const char *name, size_t n, bool is_word, smurf_error *err)
{
    char *copy = strndup(name, n);
    if (!copy || !smurf_grow(&f->column, &f->room, f->columns + 1, sizeof *f->column)) {
        free(copy);
        return smurf_fail_memory(err);
    }
    f->column[f->columns++] = (struct further_column){.name = copy, .is_word = is_word};
    return SMURF_OK;
}

smurf_status smurf_further_copy(struct further *to, const struct further *from, smurf_error *err)
{
    *to = (struct further){0};
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < from->columns && !status; i++) {
        const struct further_column *c = &from->column[i];
        status = smurf_further_add(to, c->name, strlen(c->name), c->is_word, err);
        if (!status && !smurf_names_copy(&to->column[i].word, &c->word)) status = smurf_fail_memory(err);
    }
    if (status) smurf_further_release(to);
    return status;
}

size_t smurf_further_find(const struct further *f, const char *name)
{
    size_t i = 0;
    while (i < f->columns && strcmp(f->column[i].name, name) != 0) i++;
    return i;
}

static bool same_words(const struct names *a, const struct names *b)
{
    if (a->count != b->count) return false;
    for (uint32_t k = 0; k < a->count; k++)
        if (a->length[k] != b->length[k] || memcmp(a->name[k], b->name[k], a->length[k]) != 0) return false;
    return true;
}

bool smurf_further_same(const struct further *a, const struct further *b)
{
    if (a->columns != b->columns) return false;
    for (size_t i = 0; i < a->columns; i++) {
        const struct further_column *x = &a->column[i], *y = &b->column[i];
        if (strcmp(x->name, y->name) != 0 || x->is_word != y->is_word || !same_words(&x->word, &y->word)) return false;
    }
    return true;
}

uint64_t smurf_further_hash(const smurf_data *data)
{
    const struct further *f = &data->further;
    uint64_t h = f->columns ? HASH_START : 0;
    for (size_t i = 0; i < f->columns; i++) {
        const struct further_column *c = &f->column[i];
        h = smurf_hash(smurf_hash_bytes(h, c->name, strlen(c->name)), c->is_word);
        for (uint32_t k = 0; k < c->word.count; k++) h = smurf_hash_bytes(h, c->word.name[k], c->word.length[k]);
    }
    return f->columns
               ? smurf_hash_bytes(h, data->further_value, data->events * f->columns * sizeof *data->further_value)
               : 0;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static const char *const kind_name[] = {[FURTHER_NUMBER] = "=number", [FURTHER_WORD] = "=word"};

bool smurf_further_next(const char **list, struct further_entry *out)
{
    if (!*list || !**list) return false;
    *out = (struct further_entry){.name = *list, .n = strcspn(*list, ",")};
    *list += out->n + ((*list)[out->n] == ',');
    for (enum further_kind kind = FURTHER_NUMBER; kind <= FURTHER_WORD && !out->kind; kind++) {
        size_t n = strlen(kind_name[kind]);
        if (out->n <= n || memcmp(out->name + out->n - n, kind_name[kind], n) != 0) continue;
        out->n -= n;
        out->kind = kind;
    }
    return true;
}

const char *smurf_further_list(const struct further *f, struct arena *arena)
{
    size_t n = 1;
    for (size_t i = 0; i < f->columns; i++) n += strlen(f->column[i].name) + sizeof "=number,";
    char *text = smurf_arena_alloc(arena, n), *p = text;
    if (!text) return NULL;
    *p = '\0';
    for (size_t i = 0; i < f->columns; i++) {
        p = stpcpy(stpcpy(p, i ? "," : ""), f->column[i].name);
        p = stpcpy(p, kind_name[f->column[i].is_word ? FURTHER_WORD : FURTHER_NUMBER]);
    }
    return text;
}

/* ---- Translation ----------------------------------------------------------------------------- */

void smurf_further_map_release(struct further_map *map)
{
    for (size_t i = 0; map->word && i < map->columns; i++) free(map->word[i]);
    free(map->word);
    free(map->from);
    *map = (struct further_map){0};
}

static const char *kind_of(const struct further_column *c)
{
    return c->is_word ? "words" : "numbers";
}

/* Words that the target does not know become its `other`, as does the source's own. */
static uint32_t *map_words(const struct names *from, const struct names *to)
{
    uint32_t *out = malloc((from->count + (size_t)1) * sizeof *out);
    for (uint32_t k = 0; out && k <= from->count; k++) {
        uint32_t found = k < from->count ? smurf_names_find(to, from->name[k], from->length[k]) : NAMES_FULL;
        out[k] = found == NAMES_FULL ? to->count : found;
    }
    return out;
}

static smurf_status map_column(struct further_map *map, size_t i, const struct further *from,
                               const struct further_column *to, const char *source, smurf_error *err)
{
    size_t at = smurf_further_find(from, to->name);
    if (at == from->columns)
        return smurf_fail_at(
            err, source, 0,
            "it has no further column '%.100s', which the train data has (name it with --features; only "
            "tables, packed files and JSON with one object per event have such columns)",
            to->name);
    const struct further_column *have = &from->column[at];
    if (have->is_word != to->is_word)
        return smurf_fail_at(err, source, 0,
                             "the column '%.100s' holds %s, but in the train data %s (--features '%.100s=%s')",
                             to->name, kind_of(have), kind_of(to), to->name, to->is_word ? "word" : "number");
    map->from[i] = at;
    if (to->is_word && !(map->word[i] = map_words(&have->word, &to->word))) return smurf_fail_memory(err);
    return SMURF_OK;
}

smurf_status smurf_further_map(struct further_map *map, const struct further *from, const struct further *to,
                               const char *source, smurf_error *err)
{
    *map = (struct further_map){.columns = to->columns};
    map->from = calloc(to->columns + 1, sizeof *map->from);
    map->word = calloc(to->columns + 1, sizeof *map->word);
    smurf_status status = map->from && map->word ? SMURF_OK : smurf_fail_memory(err);
    for (size_t i = 0; i < to->columns && !status; i++) status = map_column(map, i, from, &to->column[i], source, err);
    if (status) smurf_further_map_release(map);
    return status;
}

void smurf_further_translate(const struct further_map *map, const float *in, float *out)
{
    for (size_t i = 0; i < map->columns; i++) {
        float value = in ? in[map->from[i]] : NAN;
        out[i] = map->word[i] && !isnan(value) ? (float)map->word[i][(size_t)value] : value;
    }
}

/* ---- Vocabularies ---------------------------------------------------------------------------- */

/* Renumbers the words of the columns of a data set as `as` has them. */
smurf_status smurf_further_adopt(smurf_data *data, const struct further *as, smurf_error *err)
{
    struct further_map map;
    struct further copy;
    size_t n = data->further.columns;
    if (smurf_further_same(&data->further, as)) return SMURF_OK;
    smurf_status status = smurf_further_map(&map, &data->further, as, data->source, err);
    if (status) return status;
    float *value = NULL;
    size_t bytes = data->events * as->columns * sizeof *value;
    status = smurf_further_copy(&copy, as, err);
    if (!status && !(value = malloc(bytes ? bytes : 1))) {
        smurf_further_release(&copy);
        status = smurf_fail_memory(err);
    }
    for (size_t i = 0; i < data->events && !status; i++)
        smurf_further_translate(&map, n ? data->further_value + i * n : NULL, value + i * as->columns);
    smurf_further_map_release(&map);
    if (status) return status;
    smurf_further_release(&data->further);
    free(data->further_value);
    data->further = copy;
    data->further_value = value;
    smurf_data_place_further(data);
    return SMURF_OK;
}

struct tally {
    size_t events;
    uint32_t word;
};

/* Most frequent first; then in order of arrival. */
static int by_events(const void *left, const void *right)
{
    const struct tally *a = left, *b = right;
    if (a->events != b->events) return a->events > b->events ? -1 : 1;
    return a->word < b->word ? -1 : a->word > b->word;
}

static int by_word(const void *left, const void *right)
{
    const struct tally *a = left, *b = right;
    return a->word < b->word ? -1 : a->word > b->word;
}

/* Copies the words of a column that stay named, in their old order. */
static smurf_status keep_words(const smurf_data *data, size_t column, size_t least, struct names *out, smurf_error *err)
{
    const struct names *word = &data->further.column[column].word;
    struct tally *tally = calloc(word->count + (size_t)1, sizeof *tally);
    size_t kept = 0;
    if (!tally) return smurf_fail_memory(err);
    for (uint32_t k = 0; k < word->count; k++) tally[k].word = k;
    for (size_t i = 0; i < data->events; i++) {
        float value = data->further_value[i * data->further.columns + column];
        if (!isnan(value) && value < (float)word->count) tally[(size_t)value].events++;
    }
    qsort(tally, word->count, sizeof *tally, by_events);
    while (kept < word->count && kept < FURTHER_WORDS && tally[kept].events >= least) kept++;
    qsort(tally, kept, sizeof *tally, by_word);
    bool done = true;
    for (size_t k = 0; k < kept && done; k++)
        done = smurf_names_intern(out, word->name[tally[k].word], word->length[tally[k].word]) == k;
    free(tally);
    return done ? SMURF_OK : smurf_fail_memory(err);
}

smurf_status smurf_further_merge(smurf_data *data, size_t least, smurf_error *err)
{
    struct further kept = {0};
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < data->further.columns && !status; i++) {
        const struct further_column *c = &data->further.column[i];
        status = smurf_further_add(&kept, c->name, strlen(c->name), c->is_word, err);
        if (!status && c->is_word) status = keep_words(data, i, least, &kept.column[i].word, err);
    }
    if (!status && kept.columns) status = smurf_further_adopt(data, &kept, err);
    smurf_further_release(&kept);
    return status;
}

/* ---- Public ---------------------------------------------------------------------------------- */

size_t smurf_data_columns(const smurf_data *data)
{
    return data->further.columns;
}

const char *smurf_data_column_name(const smurf_data *data, size_t column)
{
    return column < data->further.columns ? data->further.column[column].name : NULL;
}

const char *smurf_data_column_word(const smurf_data *data, size_t column, size_t word)
{
    if (column >= data->further.columns) return NULL;
    const struct names *words = &data->further.column[column].word;
    return word < words->count ? words->name[word] : NULL;
}
