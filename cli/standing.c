/*
 * standing.c - see standing.h. Sequences are dealt to shards by a hash of their names; a shard is used by one thread at
 * a time.
 */
#include "http.h"

#include "fingerprint.h"
#include "kept.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SHARDS = 16,
    KEPT_MOST = 1000, /* forecasts of a shard */
    AWAKE_MOST = 16,  /* with more, those at rest release the memory that answers take */
    PORTION = 10000,  /* events that are read at a time, so that the store is not kept from others */
};

struct shard {
    pthread_mutex_t lock;
    struct kept_set kept;
};

struct standing {
    struct store *store;
    const struct types *types;
    uint32_t types_known;
    uint32_t unknown; /* the number of a type that the model does not know */
    struct shard shard[SHARDS];
};

/* Of a kept sequence, in kept.own. */
struct read_so_far {
    size_t events;
    uint32_t type; /* of the last one */
};

struct standing *standing_new(const smurf_model *model, const struct types *types, struct store *store, size_t history,
                              int raw)
{
    struct standing *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->store = store;
    s->types = types;
    s->types_known = smurf_model_types(model);
    s->unknown = types_find(types, "other");
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&s->shard[i].lock, NULL);
        s->shard[i].kept = (struct kept_set){.model = model, .history = history, .raw = raw, .most = KEPT_MOST};
    }
    return s;
}

void standing_free(struct standing *s)
{
    for (int i = 0; s && i < SHARDS; i++) {
        kept_release(&s->shard[i].kept);
        pthread_mutex_destroy(&s->shard[i].lock);
    }
    free(s);
}

struct catching_up {
    const struct standing *standing;
    struct kept *kept;
    struct read_so_far *so_far;
    size_t left;
    smurf_status status;
    smurf_error *err;
};

static int append(void *context, smurf_moment at, const char *type)
{
    struct catching_up *c = context;
    uint32_t known = types_find(c->standing->types, type);
    if (known == c->standing->types_known) known = c->standing->unknown;
    double time = (double)(at.whole - c->kept->origin) + at.fraction;
    c->status = smurf_forecast_append(c->kept->forecast, time, known, c->err);
    if (c->status) return 1;
    c->so_far->events++;
    c->so_far->type = known;
    return --c->left == 0;
}

static enum standing_outcome catch_up(struct standing *s, struct kept *k, const struct store_sequence *q,
                                      smurf_error *err)
{
    struct catching_up c = {.standing = s, .kept = k, .so_far = k->own, .err = err};
    while (c.so_far->events < q->events) {
        c.left = PORTION;
        int found = store_read(s->store, q->number, c.so_far->events, append, &c);
        if (c.status) return STANDING_FAILED;
        if (found <= 0) return STANDING_STORE;
    }
    return STANDING_DONE;
}

static struct kept *find(struct shard *shard, const char *name, int64_t origin)
{
    struct kept *dropped, *k = kept_find(&shard->kept, name, origin, &dropped);
    kept_free(dropped);
    if (k && !k->own) k->own = calloc(1, sizeof(struct read_so_far));
    return k && k->own ? k : NULL;
}

enum standing_outcome standing_ask(struct standing *s, const char *name, const smurf_question *question,
                                   smurf_answer **out, uint32_t *type, smurf_error *err)
{
    struct shard *shard = &s->shard[fingerprint_text(0, name) % SHARDS];
    struct store_sequence q;
    pthread_mutex_lock(&shard->lock);
    int found = store_find(s->store, name, &q);
    enum standing_outcome outcome = found > 0 ? STANDING_DONE : found < 0 ? STANDING_STORE : STANDING_NONE;
    struct kept *k = found > 0 ? find(shard, name, q.origin) : NULL;
    if (found > 0 && !k) {
        *err = (smurf_error){.status = SMURF_ERROR_MEMORY, .message = "out of memory"};
        outcome = STANDING_FAILED;
    }
    if (outcome == STANDING_DONE) outcome = catch_up(s, k, &q, err);
    if (outcome == STANDING_DONE && smurf_forecast_ask(k->forecast, question, out, err)) outcome = STANDING_FAILED;
    if (outcome == STANDING_DONE) *type = ((struct read_so_far *)k->own)->type;
    if (k && shard->kept.count > AWAKE_MOST) smurf_forecast_rest(k->forecast);
    pthread_mutex_unlock(&shard->lock);
    return outcome;
}
