/* further_view.c - see further_view.h. */
#include "model/further_view.h"

#include "base/hash.h"
#include "base/sort.h"
#include "data/data.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)FURTHER_COLUMNS <= (int)FURTHER_MOST, "a layout has room for all columns");

/* A column of numbers with a larger skewness than this is seen on a log axis, if that lowers it. */
static const double skewed = 2;

void smurf_further_view_free(struct further_view *view)
{
    if (!view) return;
    smurf_further_release(&view->further);
    free(view->number);
    free(view);
}

static smurf_status allocate(struct further_view **out, const struct further *further, smurf_error *err)
{
    struct further_view *v = *out = calloc(1, sizeof *v);
    if (!v) return smurf_fail_memory(err);
    smurf_status status = smurf_further_copy(&v->further, further, err);
    if (!status && !(v->number = calloc(further->columns + 1, sizeof *v->number))) status = smurf_fail_memory(err);
    for (size_t i = 0; i < further->columns && !status; i++) v->number[i] = (struct further_number){false, 1, 0, 1};
    if (!status) return SMURF_OK;
    smurf_further_view_free(v);
    *out = NULL;
    return status;
}

smurf_status smurf_further_view_copy(struct further_view **out, const struct further_view *from, smurf_error *err)
{
    *out = NULL;
    if (!from) return SMURF_OK;
    smurf_status status = allocate(out, &from->further, err);
    if (!status) memcpy((*out)->number, from->number, from->further.columns * sizeof *from->number);
    return status;
}

/* ---- Fitting --------------------------------------------------------------------------------- */

static double on_axis(const struct further_number *n, double x)
{
    return n->log ? asinh(x / n->unit) : x;
}

/* Mean and standard deviation on the axis; returns the skewness. Of equal values the mean is exactly theirs, and their
   standard deviation is taken as 1: training then sees 0 only, learns nothing of the column, and ignores it. */
static double measure(struct further_number *n, const double *x, size_t count)
{
    double first = on_axis(n, x[0]), mean = first, square = 0, cube = 0;
    for (size_t i = 0; i < count; i++) mean += (on_axis(n, x[i]) - first) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double e = on_axis(n, x[i]) - mean;
        square += e * e / (double)count;
        cube += e * e * e / (double)count;
    }
    n->mean = mean;
    n->sd = square > 0 ? sqrt(square) : 1;
    return square > 0 ? cube / (n->sd * n->sd * n->sd) : 0;
}

/* size (count): room. The unit of the log axis is the median size of the values that are not 0. */
static void fit_number(struct further_number *n, double *x, double *size, size_t count)
{
    size_t sizes = 0;
    if (!count) return;
    double skewness = fabs(measure(n, x, count));
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0) size[sizes++] = fabs(x[i]);
    if (!(skewness > skewed) || !sizes) return;
    smurf_sort(size, sizes);
    struct further_number other = {.log = true, .unit = size[sizes / 2]};
    if (fabs(measure(&other, x, count)) < skewness) *n = other;
}

smurf_status smurf_further_view_fit(struct further_view **out, const smurf_data *train, smurf_error *err)
{
    *out = NULL;
    size_t columns = train->further.columns;
    if (!columns) return SMURF_OK;
    smurf_status status = allocate(out, &train->further, err);
    if (status) return status;
    double *x = malloc((train->events + 1) * sizeof *x), *size = malloc((train->events + 1) * sizeof *size);
    if (!x || !size) status = smurf_fail_memory(err);
    for (size_t c = 0; c < columns && !status; c++) {
        size_t n = 0;
        if (train->further.column[c].is_word) continue;
        for (size_t i = 0; i < train->events; i++)
            if (isfinite(train->further_value[i * columns + c])) x[n++] = train->further_value[i * columns + c];
        fit_number(&(*out)->number[c], x, size, n);
    }
    free(x);
    free(size);
    if (status) smurf_further_view_free(*out), *out = NULL;
    return status;
}

/* ---- Use ------------------------------------------------------------------------------------- */

struct further_layout smurf_further_view_layout(const struct further_view *v)
{
    struct further_layout out = {0};
    if (!v) return out;
    out.columns = v->further.columns;
    for (size_t i = 0; i < out.columns; i++) {
        const struct further_column *c = &v->further.column[i];
        out.first[i] = (uint32_t)out.rows;
        out.is_word[i] = c->is_word;
        out.rows += c->is_word ? c->word.count + (size_t)2 : 2;
    }
    return out;
}

static float see_word(const struct names *word, float raw)
{
    if (isnan(raw)) return (float)(word->count + 1);
    return raw >= 0 && raw < (float)word->count ? floorf(raw) : (float)word->count;
}

void smurf_further_view_see(const struct further_view *v, const float *raw, float *out)
{
    for (size_t i = 0; i < v->further.columns; i++) {
        const struct further_column *c = &v->further.column[i];
        float x = raw ? raw[i] : NAN;
        if (c->is_word)
            out[i] = see_word(&c->word, x);
        else if (!isfinite(x))
            out[i] = NAN;
        else
            out[i] = (float)fmin(
                fmax((on_axis(&v->number[i], (double)x) - v->number[i].mean) / v->number[i].sd, -FURTHER_LIMIT),
                FURTHER_LIMIT);
    }
}

void smurf_further_view_check(const struct further_view *v, float *seen, size_t rows)
{
    for (size_t i = 0; i < rows * v->further.columns; i++) {
        const struct further_column *c = &v->further.column[i % v->further.columns];
        float most = (float)(c->word.count + 1);
        if (c->is_word && !(seen[i] >= 0 && seen[i] <= most && seen[i] == floorf(seen[i]))) seen[i] = most;
        if (!c->is_word && !(fabsf(seen[i]) <= (float)FURTHER_LIMIT)) seen[i] = NAN;
    }
}

smurf_status smurf_further_view_fits(const struct further_view *v, const smurf_data *data, smurf_error *err)
{
    if (!v || !data) return SMURF_OK;
    for (size_t i = 0; i < v->further.columns; i++)
        if (smurf_further_find(&data->further, v->further.column[i].name) == data->further.columns)
            return smurf_fail_at(
                err, data->source, 0,
                "it has no further column '%.100s', which the train data has (name it with --features; "
                "only tables, packed files and JSON with one object per event have such columns)",
                v->further.column[i].name);
    if (smurf_further_same(&v->further, &data->further)) return SMURF_OK;
    return smurf_fail_at(
        err, data->source, 0,
        "its further columns are not those of the train data, or not in their order (smurf_model_match "
        "makes them so)");
}

/* ---- Stored ---------------------------------------------------------------------------------- */

uint64_t smurf_further_view_hash(const struct further_view *v, uint64_t h)
{
    for (size_t i = 0; v && i < v->further.columns; i++) {
        const struct further_column *c = &v->further.column[i];
        const struct further_number *n = &v->number[i];
        const double number[] = {c->is_word, n->log, n->unit, n->mean, n->sd};
        h = smurf_hash_bytes(h, c->name, strlen(c->name) + 1);
        h = smurf_hash_bytes(h, number, sizeof number);
        for (uint32_t k = 0; k < c->word.count; k++) h = smurf_hash_bytes(h, c->word.name[k], c->word.length[k] + 1u);
    }
    return h;
}

static json_t *column_to_json(const struct further_column *c, const struct further_number *n)
{
    if (!c->is_word)
        return json_pack("{s:s, s:b, s:f, s:f, s:f}", "number", c->name, "log", n->log, "unit", n->unit, "mean",
                         n->mean, "sd", n->sd);
    json_t *words = json_array();
    for (uint32_t k = 0; words && k < c->word.count; k++)
        if (json_array_append_new(words, json_string(c->word.name[k]))) {
            json_decref(words);
            return NULL;
        }
    return words ? json_pack("{s:s, s:o}", "word", c->name, "words", words) : NULL;
}

json_t *smurf_further_view_to_json(const struct further_view *v)
{
    json_t *out = json_array();
    for (size_t i = 0; out && i < v->further.columns; i++)
        if (json_array_append_new(out, column_to_json(&v->further.column[i], &v->number[i]))) {
            json_decref(out);
            return NULL;
        }
    return out;
}

static bool number_from_json(struct further_number *n, const json_t *json)
{
    const json_t *log = json_object_get(json, "log"), *mean = json_object_get(json, "mean");
    *n = (struct further_number){json_is_true(log), json_number_value(json_object_get(json, "unit")),
                                 json_number_value(mean), json_number_value(json_object_get(json, "sd"))};
    return json_is_boolean(log) && json_is_number(mean) && n->unit > 0 && isfinite(n->unit) && isfinite(n->mean) &&
           n->sd > 0 && isfinite(n->sd);
}

/* The vocabulary of a column; false: invalid. */
static bool words_from_json(struct names *out, const json_t *words, bool *memory)
{
    size_t n = json_array_size(words);
    bool right = json_is_array(words) && n <= FURTHER_WORDS_READ;
    for (size_t k = 0; k < n && right && *memory; k++) {
        const char *word = json_string_value(json_array_get(words, k));
        uint32_t found = word ? smurf_names_intern(out, word, strlen(word)) : 0;
        *memory = found != NAMES_FULL;
        right = word && found == k;
    }
    return right || !*memory;
}

smurf_status smurf_further_view_from_json(struct further_view **out, const json_t *json, bool *right, smurf_error *err)
{
    struct further further = {0};
    size_t n = json_array_size(json);
    bool memory = true;
    smurf_status status = SMURF_OK;
    *out = NULL;
    *right = json_is_array(json) && n >= 1 && n <= FURTHER_COLUMNS;
    for (size_t i = 0; i < n && *right && !status; i++) {
        const json_t *c = json_array_get(json, i);
        const char *number = json_string_value(json_object_get(c, "number"));
        const char *word = json_string_value(json_object_get(c, "word")), *name = number ? number : word;
        *right = name != NULL && !(number && word) && smurf_further_find(&further, name) == further.columns;
        if (*right) status = smurf_further_add(&further, name, strlen(name), !number, err);
        if (!status && *right && !number)
            *right = words_from_json(&further.column[i].word, json_object_get(c, "words"), &memory);
        if (!memory) status = smurf_fail_memory(err);
    }
    if (!status && *right) status = allocate(out, &further, err);
    for (size_t i = 0; i < n && *right && !status; i++)
        if (!further.column[i].is_word) *right = number_from_json(&(*out)->number[i], json_array_get(json, i));
    smurf_further_release(&further);
    if (status || !*right) smurf_further_view_free(*out), *out = NULL;
    return status;
}
