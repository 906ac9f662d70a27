/* pairs.c - see pairs.h. Pairs are sorted as one number; runs of equal ones give the counts. */
#include "naive/pairs.h"

#include "base/error.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

void smurf_pairs_release(struct pairs *pairs)
{
    free(pairs->pair);
    free(pairs->common);
    *pairs = (struct pairs){0};
}

static bool is_table(const struct pair *pair, size_t n, uint32_t types)
{
    for (size_t i = 0; i < n; i++) {
        if (pair[i].from >= types || pair[i].to >= types || pair[i].count == 0 || pair[i].count > UINT64_C(1) << 53)
            return false;
        if (i &&
            !(pair[i].from > pair[i - 1].from || (pair[i].from == pair[i - 1].from && pair[i].to > pair[i - 1].to)))
            return false;
    }
    return n > 0 && n <= PAIRS_MOST;
}

smurf_status smurf_pairs_set(struct pairs *out, uint32_t types, const struct pair *pair, size_t n, bool *right,
                             smurf_error *err)
{
    *out = (struct pairs){0};
    *right = is_table(pair, n, types);
    if (!*right) return SMURF_OK;
    *out = (struct pairs){types, n, malloc(n * sizeof *pair), malloc(types * sizeof *out->common)};
    if (!out->pair || !out->common) {
        smurf_pairs_release(out);
        return smurf_fail_memory(err);
    }
    memcpy(out->pair, pair, n * sizeof *pair);
    double all = 0;
    for (uint32_t k = 0; k < types; k++) out->common[k] = 0.5;
    for (size_t i = 0; i < n; i++) out->common[pair[i].to] += (double)pair[i].count;
    for (uint32_t k = 0; k < types; k++) all += out->common[k];
    for (uint32_t k = 0; k < types; k++) out->common[k] /= all;
    return SMURF_OK;
}

/* ---- Fitting --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Counts n sorted numbers. Returns how many differ, of which the first PAIRS_MOST are written. */
static size_t count(const uint64_t *key, size_t n, struct pair *out)
{
    size_t made = 0;
    for (size_t i = 0, end; i < n; i = end, made++) {
        for (end = i; end < n && key[end] == key[i];) end++;
        if (made < PAIRS_MOST) out[made] = (struct pair){(uint32_t)(key[i] >> 32), (uint32_t)key[i], end - i};
    }
    return made;
}

smurf_status smurf_pairs_init(struct pairs *out, const smurf_data *train, smurf_error *err)
{
    size_t n = 0;
    uint64_t *key = malloc((smurf_data_gaps(train) + 1) * sizeof *key);
    struct pair *pair = malloc(PAIRS_MOST * sizeof *pair);
    smurf_status status = key && pair ? SMURF_OK : smurf_fail_memory(err);
    *out = (struct pairs){0};
    for (size_t s = 0; s < train->sequences && !status; s++) {
        const smurf_sequence *q = &train->sequence[s];
        for (size_t i = q->first; i < q->length; i++) key[n++] = (uint64_t)q->type[i - 1] << 32 | q->type[i];
    }
    if (!status) {
        bool right;
        qsort(key, n, sizeof *key, by_number);
        size_t made = count(key, n, pair);
        if (made && made <= PAIRS_MOST) status = smurf_pairs_set(out, train->types, pair, made, &right, err);
    }
    free(key);
    free(pair);
    return status;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

/* The first pair of a type, or of a later one. */
static size_t row_of(const struct pairs *p, uint32_t from)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->pair[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void smurf_pairs_shares(const struct pairs *p, uint32_t last, double *out)
{
    size_t from = row_of(p, last), to = from;
    double all = 0;
    for (; to < p->n && p->pair[to].from == last; to++) all += (double)p->pair[to].count;
    double different = (double)(to - from), rest = to > from ? different / (all + different) : 1;
    for (uint32_t k = 0; k < p->types; k++) out[k] = rest * p->common[k];
    for (size_t i = from; i < to; i++) out[p->pair[i].to] += (double)p->pair[i].count / (all + different);
}
