/* http_each.c - goes through all stored sequences, a page at a time, so that the store is free in between. */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 1000 };

struct page {
    struct {
        char *name;
        struct store_sequence about;
    } row[PAGE];
    size_t count;
    bool no_memory;
};

static int take(void *context, const char *name, const struct store_sequence *sequence)
{
    struct page *p = context;
    char *copy = strdup(name);
    if (!copy) return (p->no_memory = true);
    p->row[p->count].name = copy;
    p->row[p->count++].about = *sequence;
    return 0;
}

bool each_sequence(struct request *q, sequence_visit *visit, void *context)
{
    char *after = NULL;
    bool good = true, more = true;
    struct page *p = calloc(1, sizeof *p);
    if (!p) reply_memory(&q->reply);
    while (p && good && more) {
        p->count = 0;
        int found = store_list(q->service->store, "", after ? after : "", PAGE, take, p);
        good = found >= 0 && !p->no_memory;
        if (found < 0) reply_broken_store(&q->reply);
        if (p->no_memory) reply_memory(&q->reply);
        more = p->count == PAGE;
        for (size_t i = 0; good && i < p->count; i++) {
            good = visit(context, p->row[i].name, &p->row[i].about);
            if (!good || !q->service->draining) continue;
            reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again when it is back",
                        "the service is ending");
            good = false;
        }
        free(after);
        after = more ? p->row[--p->count].name : NULL;
        while (p->count) free(p->row[--p->count].name);
    }
    free(after);
    good = good && p;
    free(p);
    return good;
}

struct latest {
    smurf_moment at;
    bool any;
};

static bool take_latest(void *context, const char *name, const struct store_sequence *sequence)
{
    struct latest *l = context;
    (void)name;
    if (!l->any || smurf_moment_gap(l->at, sequence->last) > 0) l->at = sequence->last;
    l->any = true;
    return true;
}

bool present(struct request *q, smurf_moment *out)
{
    struct latest latest = {0};
    if (q->service->calendar) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        *out = (smurf_moment){now.tv_sec, (double)now.tv_nsec / 1e9};
        return true;
    }
    if (!each_sequence(q, take_latest, &latest)) return false;
    *out = latest.at;
    return true;
}
