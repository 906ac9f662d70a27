/* markov.c - see markov.h. Pairs (type, next) are sorted as one number; runs of equal pairs give the counts. */
#include "eval/markov.h"

#include "base/error.h"
#include "data/data.h"

#include <stdlib.h>

static int by_pair(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t collect(const smurf_data *train, uint64_t *pair)
{
    size_t n = 0;
    for (size_t i = 0; i < train->sequences; i++) {
        const smurf_sequence *s = &train->sequence[i];
        for (size_t j = s->first; j < s->length; j++) pair[n++] = (uint64_t)s->type[j - 1] << 32 | s->type[j];
    }
    return n;
}

/* The most frequent lower half of the sorted pairs from .. to-1. */
static uint32_t most_frequent(const uint64_t *pair, size_t from, size_t to)
{
    uint32_t best = 0;
    size_t most = 0;
    for (size_t i = from, end; i < to; i = end) {
        for (end = i; end < to && (uint32_t)pair[end] == (uint32_t)pair[i];) end++;
        if (end - i > most) {
            most = end - i;
            best = (uint32_t)pair[i];
        }
    }
    return best;
}

static void count(struct markov *out, uint64_t *pair, size_t n)
{
    qsort(pair, n, sizeof *pair, by_pair);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && pair[end] >> 32 == pair[i] >> 32;) end++;
        out->next[pair[i] >> 32] = most_frequent(pair, i, end);
    }
}

smurf_status smurf_markov_init(struct markov *out, const smurf_data *train, smurf_error *err)
{
    *out = (struct markov){.types = train->types};
    size_t n = smurf_data_gaps(train);
    if (n == 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "'%s' has no gaps: it needs sequences of two events or more",
                          train->source);
    uint64_t *pair = malloc(n * sizeof *pair);
    out->next = malloc(train->types * sizeof *out->next);
    if (!pair || !out->next) {
        free(pair);
        smurf_markov_release(out);
        return smurf_fail_memory(err);
    }
    collect(train, pair);
    for (size_t i = 0; i < n; i++) pair[i] &= UINT32_MAX; /* first ignoring the previous type */
    qsort(pair, n, sizeof *pair, by_pair);
    out->common = most_frequent(pair, 0, n);
    for (uint32_t k = 0; k < out->types; k++) out->next[k] = out->common;
    collect(train, pair);
    count(out, pair, n);
    free(pair);
    return SMURF_OK;
}

void smurf_markov_release(struct markov *markov)
{
    free(markov->next);
    *markov = (struct markov){0};
}
