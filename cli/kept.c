/* kept.c - see kept.h: a tree by name, and a list from the least to the most recently active sequence. */
#include "kept.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct kept *)left)->name, ((const struct kept *)right)->name);
}

static int by_number(const void *left, const void *right)
{
    size_t a = (*(struct kept *const *)left)->number, b = (*(struct kept *const *)right)->number;
    return a < b ? -1 : a > b;
}

/* ---- The list -------------------------------------------------------------------------------- */

static void unlink_kept(struct kept_set *set, struct kept *k)
{
    *(k->older ? &k->older->newer : &set->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &set->newest) = k->older;
}

static void link_newest(struct kept_set *set, struct kept *k)
{
    k->older = set->newest;
    k->newer = NULL;
    *(k->older ? &k->older->newer : &set->oldest) = k;
    set->newest = k;
}

/* ---- The set --------------------------------------------------------------------------------- */

void kept_free(struct kept *k)
{
    if (!k) return;
    smurf_forecast_free(k->forecast);
    free(k->own);
    free(k->name);
    free(k);
}

static struct kept *take_out(struct kept_set *set, struct kept *k)
{
    tdelete(k, &set->tree, by_name);
    unlink_kept(set, k);
    set->count--;
    return k;
}

void kept_drop(struct kept_set *set, struct kept *k)
{
    kept_free(take_out(set, k));
}

static struct kept *add(struct kept_set *set, const char *name, int64_t origin)
{
    struct kept *k = calloc(1, sizeof *k);
    if (k) k->name = strdup(name);
    if (k) k->forecast = set->spare;
    if (k) set->spare = NULL;
    if (!k || !k->name || (!k->forecast && smurf_forecast_new(&k->forecast, set->model, set->history, NULL)) ||
        !tsearch(k, &set->tree, by_name)) {
        kept_free(k);
        return NULL;
    }
    smurf_forecast_recalibrate(k->forecast, !set->raw);
    smurf_forecast_clear(k->forecast, origin);
    smurf_forecast_rest(k->forecast);
    k->origin = origin;
    k->number = set->arrived++;
    set->count++;
    link_newest(set, k);
    return k;
}

struct kept *kept_find(struct kept_set *set, const char *name, int64_t origin, struct kept **dropped)
{
    const struct kept key = {.name = (char *)name};
    struct kept *const *found = tfind(&key, &set->tree, by_name);
    *dropped = NULL;
    if (found) {
        unlink_kept(set, *found);
        link_newest(set, *found);
        return *found;
    }
    if (set->most && set->count >= set->most) *dropped = take_out(set, set->oldest);
    return add(set, name, origin);
}

struct kept **kept_list(const struct kept_set *set)
{
    struct kept **list = malloc((set->count + 1) * sizeof *list);
    size_t n = 0;
    for (struct kept *k = set->oldest; list && k; k = k->newer) list[n++] = k;
    if (list) qsort(list, n, sizeof *list, by_number);
    return list;
}

void kept_release(struct kept_set *set)
{
    while (set->count) kept_drop(set, set->oldest);
    smurf_forecast_free(set->spare);
    set->spare = NULL;
}
