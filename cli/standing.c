/*
 * standing.c - see standing.h. Sequences are dealt to shards by a hash of their names; a shard is used by one thread at
 * a time.
 *
 * The memory that answers need is large and takes long to make. Each shard has it once and lends it to the forecast
 * that is asked. The last answer of each is kept as text, for those who ask the same again.
 */
#include "http.h"

#include "fingerprint.h"
#include "kept.h"
#include "pruning.h"
#include "said.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SHARDS = 16,
    SPARE_MOST = 1 << 16, /* bytes */
    PORTION = 10000,      /* events that are read at a time, so that the store is not kept from others */
    CHANGES_MOST = 100,   /* of a sequence while it is read */
};

/* Of a kept sequence, in kept.own. */
struct own {
    size_t events;   /* of the sequence, read so far */
    size_t revision; /* that they are of */
    uint32_t type;   /* of the last one */
    size_t size;
    struct said *said; /* NULL: nothing yet */
    bool whole;        /* has its history, and is in the list of those that have */
    struct kept *older, *newer;
};

struct shard {
    pthread_mutex_t lock;
    struct kept_set kept;
    smurf_forecast *lender;       /* of memory for answers */
    struct kept *oldest, *newest; /* with their history, by the last time that they were asked */
    size_t whole, size;
};

struct standing {
    struct store *store;
    const struct types *types;
    uint32_t types_known;
    uint32_t unknown; /* the number of a type that the model does not know */
    struct pruning needs;
    const char *needs_all; /* why; NULL: not */
    size_t room;           /* bytes of a shard */
    struct shard shard[SHARDS];
};

/* ---- Memory ------------------------------------------------------------------------------------ */

static void unlink_whole(struct shard *shard, struct kept *k)
{
    struct own *own = k->own;
    if (!own->whole) return;
    *(own->older ? &((struct own *)own->older->own)->newer : &shard->oldest) = own->newer;
    *(own->newer ? &((struct own *)own->newer->own)->older : &shard->newest) = own->older;
    own->whole = false;
    shard->whole--;
}

static void link_whole(struct shard *shard, struct kept *k)
{
    struct own *own = k->own;
    own->older = shard->newest;
    own->newer = NULL;
    *(own->older ? &((struct own *)own->older->own)->newer : &shard->oldest) = k;
    shard->newest = k;
    own->whole = true;
    shard->whole++;
}

static void measure(struct shard *shard, struct kept *k)
{
    struct own *own = k->own;
    size_t size = smurf_forecast_size(k->forecast) + sizeof *k + sizeof *own + said_size(own->said);
    shard->size += size - own->size;
    own->size = size;
}

static void drop(struct shard *shard, struct kept *k)
{
    struct own *own = k->own;
    unlink_whole(shard, k);
    shard->size -= own->size;
    free(own->said);
    kept_drop(&shard->kept, k);
}

/* Keeps the law alone. The next sequence takes over the memory of this one, which else is left in pieces. */
static void settle(struct shard *shard, struct kept *k)
{
    smurf_forecast *small;
    if (smurf_forecast_settle(&small, k->forecast, NULL)) {
        drop(shard, k);
        return;
    }
    bool good = smurf_forecast_size(k->forecast) < SPARE_MOST;
    smurf_forecast_free(good ? shard->kept.spare : k->forecast);
    if (good) shard->kept.spare = k->forecast;
    k->forecast = small;
    unlink_whole(shard, k);
    measure(shard, k);
}

/* Histories go first. */
static void make_room(struct standing *s, struct shard *shard)
{
    while (shard->size > s->room && shard->oldest) settle(shard, shard->oldest);
    while (shard->size > s->room && shard->kept.count) drop(shard, shard->kept.oldest);
}

/* ---- All of them ------------------------------------------------------------------------------- */

struct standing *standing_new(const smurf_model *model, const struct types *types, struct store *store,
                              const struct serve_options *o)
{
    struct standing *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->store = store;
    s->types = types;
    s->types_known = smurf_model_types(model);
    s->unknown = types_find(types, "other");
    s->needs_all = pruning_init(&s->needs, model, 0);
    s->room = (o->memory_mb << 20) / SHARDS;
    bool made = true;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &s->shard[i];
        pthread_mutex_init(&shard->lock, NULL);
        shard->kept = (struct kept_set){.model = model, .history = o->history, .raw = o->raw};
        made = made && !smurf_forecast_new(&shard->lender, model, 0, NULL);
    }
    if (made) return s;
    standing_free(s);
    return NULL;
}

void standing_free(struct standing *s)
{
    for (int i = 0; s && i < SHARDS; i++) {
        while (s->shard[i].kept.count) drop(&s->shard[i], s->shard[i].kept.oldest);
        kept_release(&s->shard[i].kept);
        smurf_forecast_free(s->shard[i].lender);
        pthread_mutex_destroy(&s->shard[i].lock);
    }
    free(s);
}

/* ---- Catching up ------------------------------------------------------------------------------- */

struct catching_up {
    const struct standing *standing;
    struct kept *kept;
    struct own *own;
    smurf_status status;
    smurf_error *err;
};

static int append(void *context, smurf_moment at, const char *type)
{
    struct catching_up *c = context;
    uint32_t known = types_find(c->standing->types, type);
    if (known == c->standing->types_known) known = c->standing->unknown;
    double time = (double)(at.whole - c->kept->origin) + at.fraction;
    const smurf_sequence cut = {
        .time = &time, .type = &known, .length = 1, .origin = c->kept->origin, .before = c->own->events};
    bool in_the_middle = cut.before && !smurf_forecast_events(c->kept->forecast);
    c->status = in_the_middle ? smurf_forecast_read(c->kept->forecast, &cut, 1, c->err)
                              : smurf_forecast_append(c->kept->forecast, time, known, c->err);
    if (c->status) return 1;
    c->own->events++;
    c->own->type = known;
    return 0;
}

bool standing_suffices(const struct standing *s, const struct store_sequence *q)
{
    return !q->first || (!s->needs_all && q->first <= pruning_needed(&s->needs, q->events));
}

static bool is_there(const struct standing *s, const struct store_sequence *q, smurf_error *err)
{
    if (standing_suffices(s, q)) return true;
    *err = (smurf_error){
        .status = SMURF_ERROR_UNSUPPORTED,
        .message = "events that the model needs are pruned (start the service with the model that it had before)"};
    return false;
}

/* Reads what has come. Where the sequence was changed in between, from the start again; find() has dropped those that
   cannot. */
static enum standing_outcome catch_up(struct standing *s, struct kept *k, struct store_sequence *q, smurf_error *err)
{
    struct catching_up c = {.standing = s, .kept = k, .own = k->own, .err = err};
    int found = 1;
    for (int i = 0; i < CHANGES_MOST && found > 0; found = store_find(s->store, k->name, q), i++) {
        if (!is_there(s, q, err)) return STANDING_FAILED;
        if (c.own->revision != q->revision || c.own->events < q->first) {
            smurf_forecast_clear(k->forecast, k->origin);
            c.own->events = q->first;
            c.own->revision = q->revision;
        }
        for (int more = 1; more > 0 && c.own->events < q->events;) {
            more = store_read(s->store, q, c.own->events, PORTION, append, &c);
            if (c.status) return STANDING_FAILED;
            if (more < 0) return STANDING_STORE;
        }
        if (c.own->events >= q->events) return STANDING_DONE;
    }
    return STANDING_STORE;
}

/* ---- Asking ------------------------------------------------------------------------------------ */

/* A new one, unless it is there and can go on from its events. `whole`: it must have its history. */
static struct kept *find(struct shard *shard, const char *name, const struct store_sequence *q, bool whole)
{
    struct kept *dropped, *k = kept_find(&shard->kept, name, q->origin, &dropped);
    struct own *own = k ? k->own : NULL;
    if (own && !own->whole && (whole || own->events < q->events || own->revision != q->revision)) {
        drop(shard, k);
        k = kept_find(&shard->kept, name, q->origin, &dropped);
    }
    if (!k) return NULL;
    if (k->own) {
        if (((struct own *)k->own)->whole) unlink_whole(shard, k), link_whole(shard, k);
        return k;
    }
    k->own = calloc(1, sizeof(struct own));
    if (k->own) {
        link_whole(shard, k);
        return k;
    }
    kept_drop(&shard->kept, k);
    return NULL;
}

/* Finds the sequence's forecast and brings it up to date; NULL, and why. It has the memory for answers. */
static struct kept *bring_up(struct standing *s, struct shard *shard, const char *name, bool whole,
                             enum standing_outcome *outcome, smurf_error *err)
{
    struct store_sequence q;
    int found = store_find(s->store, name, &q);
    *outcome = found > 0 ? STANDING_DONE : found < 0 ? STANDING_STORE : STANDING_NONE;
    if (found <= 0) return NULL;
    struct kept *k = find(shard, name, &q, whole);
    if (!k) {
        *err = (smurf_error){.status = SMURF_ERROR_MEMORY, .message = "out of memory"};
        *outcome = STANDING_FAILED;
        return NULL;
    }
    smurf_forecast_lend(shard->lender, k->forecast);
    *outcome = catch_up(s, k, &q, err);
    return k;
}

static void put_back(struct standing *s, struct shard *shard, struct kept *k)
{
    if (!k) return;
    smurf_forecast_lend(k->forecast, shard->lender);
    measure(shard, k);
    make_room(s, shard);
}

enum standing_outcome standing_ask(struct standing *s, const char *name, const smurf_question *question,
                                   smurf_answer **out, uint32_t *type, smurf_error *err)
{
    struct shard *shard = &s->shard[fingerprint_text(0, name) % SHARDS];
    enum standing_outcome outcome;
    pthread_mutex_lock(&shard->lock);
    struct kept *k = bring_up(s, shard, name, false, &outcome, err);
    if (outcome == STANDING_DONE && smurf_forecast_ask(k->forecast, question, out, err)) outcome = STANDING_FAILED;
    if (outcome == STANDING_DONE) {
        const struct own *own = k->own;
        *type = own->type;
        (*out)->events = own->events;
    }
    put_back(s, shard, k);
    pthread_mutex_unlock(&shard->lock);
    return outcome;
}

/* The answer as text, and kept for the next one who asks. */
static smurf_status put_answer(struct kept *k, const struct question *question, FILE *out, smurf_error *err)
{
    struct own *own = k->own;
    smurf_answer *answer;
    char *text = NULL;
    size_t size = 0;
    smurf_status status = smurf_forecast_ask(k->forecast, &question->ask, &answer, err);
    if (status) return status;
    FILE *copy = question->ask.now ? NULL : open_memstream(&text, &size);
    answer->events = own->events;
    show_forecast(copy ? copy : out, question, k->name, answer);
    smurf_answer_free(answer);
    if (copy && fclose(copy) == 0) {
        fwrite(text, 1, size, out);
        free(own->said);
        own->said = said_new(question, own->events, own->revision, text, size);
    } else if (copy) {
        *err = (smurf_error){.status = SMURF_ERROR_MEMORY, .message = "out of memory"};
        status = SMURF_ERROR_MEMORY;
    }
    free(text);
    return status;
}

enum standing_outcome standing_show(struct standing *s, const char *name, const struct question *question, FILE *out,
                                    smurf_error *err)
{
    struct shard *shard = &s->shard[fingerprint_text(0, name) % SHARDS];
    enum standing_outcome outcome;
    size_t size;
    pthread_mutex_lock(&shard->lock);
    struct kept *k = bring_up(s, shard, name, false, &outcome, err);
    const struct own *own = k ? k->own : NULL;
    const char *text =
        outcome == STANDING_DONE ? said_text(own->said, question, own->events, own->revision, &size) : NULL;
    if (text)
        fwrite(text, 1, size, out);
    else if (outcome == STANDING_DONE && put_answer(k, question, out, err))
        outcome = STANDING_FAILED;
    put_back(s, shard, k);
    pthread_mutex_unlock(&shard->lock);
    return outcome;
}

enum standing_outcome standing_copy(struct standing *s, const char *name, smurf_forecast **out, size_t *events,
                                    smurf_error *err)
{
    struct shard *shard = &s->shard[fingerprint_text(0, name) % SHARDS];
    enum standing_outcome outcome;
    void *bytes = NULL;
    size_t size = 0;
    pthread_mutex_lock(&shard->lock);
    struct kept *k = bring_up(s, shard, name, true, &outcome, err);
    if (outcome == STANDING_DONE && smurf_forecast_save(k->forecast, &bytes, &size, err)) outcome = STANDING_FAILED;
    if (outcome == STANDING_DONE) *events = ((struct own *)k->own)->events;
    put_back(s, shard, k);
    pthread_mutex_unlock(&shard->lock);
    if (outcome == STANDING_DONE && smurf_forecast_restore(out, shard->kept.model, bytes, size, err))
        outcome = STANDING_FAILED;
    smurf_free(bytes);
    return outcome;
}

struct standing_figures standing_figures(struct standing *s)
{
    struct standing_figures f = {0};
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &s->shard[i];
        pthread_mutex_lock(&shard->lock);
        f.kept += shard->kept.count;
        f.whole += shard->whole;
        f.bytes += shard->size;
        pthread_mutex_unlock(&shard->lock);
    }
    return f;
}
