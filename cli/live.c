/* live.c - see live.h: the messages, their listeners, and GET /v1/stream. */
#include "live.h"

#include "http.h"
#include "terminal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 1000, LISTENERS_MOST = 100, BLOCK = 4096 };

struct message {
    char *text;
    size_t size;
};

struct listener {
    struct live *live;
    struct MHD_Connection *connection;
    struct message greeting;
    size_t next, sent; /* the message to send, and what has been sent of it */
    bool greeted, waits;
    struct listener *before, *after;
};

struct live {
    struct service *service;
    pthread_t thread;
    pthread_mutex_t lock;
    struct message ring[MESSAGES]; /* message n is ring[n % MESSAGES] */
    size_t count;
    struct listener *first;
    size_t listeners;
    bool ended;
    size_t before; /* events that were stored when it began */
};

/* ---- Messages ---------------------------------------------------------------------------------- */

/* "event: KIND", "data: TEXT" and an empty line. */
static struct message compose(const char *kind, const char *text)
{
    struct message m = {0};
    FILE *out = open_memstream(&m.text, &m.size);
    if (!out) return m;
    fprintf(out, "event: %s\ndata: ", kind);
    for (; *text; text++) putc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    fputs("\n\n", out);
    if (fclose(out) == 0) return m;
    free(m.text);
    return (struct message){0};
}

/* A suspended connection stays until it is resumed, which happens under the lock only. */
static void wake(struct live *live)
{
    for (struct listener *l = live->first; l; l = l->after) {
        if (!l->waits) continue;
        l->waits = false;
        http.resume_connection(l->connection);
    }
}

/* Takes the text, which may be NULL: out of memory, so that nobody is told. */
static void add(struct live *live, struct message m)
{
    pthread_mutex_lock(&live->lock);
    if (m.text && live->listeners && !live->ended) {
        struct message *place = &live->ring[live->count++ % MESSAGES];
        free(place->text);
        *place = m;
        m.text = NULL;
        wake(live);
    }
    pthread_mutex_unlock(&live->lock);
    free(m.text);
}

void live_tell(struct live *live, const char *kind, const char *text)
{
    if (live_listeners(live)) add(live, compose(kind, text));
}

void live_beat(struct live *live)
{
    static const char comment[] = ":\n\n";
    if (live_listeners(live)) add(live, (struct message){strdup(comment), sizeof comment - 1});
}

size_t live_listeners(struct live *live)
{
    pthread_mutex_lock(&live->lock);
    size_t n = live->listeners;
    pthread_mutex_unlock(&live->lock);
    return n;
}

/* ---- Listeners --------------------------------------------------------------------------------- */

/* Copies what fits of one message. True: that was all of it. */
static bool copy(struct listener *l, const struct message *m, char *to, size_t room, size_t *used)
{
    size_t n = m->size - l->sent;
    if (n > room - *used) n = room - *used;
    memcpy(to + *used, m->text + l->sent, n);
    *used += n;
    l->sent += n;
    if (l->sent < m->size) return false;
    l->sent = 0;
    return true;
}

/* Called by libmicrohttpd when there is room to send. With nothing to send the connection is suspended until wake(). */
static ssize_t send_messages(void *context, uint64_t position, char *to, size_t room)
{
    struct listener *l = context;
    struct live *live = l->live;
    size_t used = 0;
    ssize_t answer = 0;
    (void)position;
    pthread_mutex_lock(&live->lock);
    if (!l->greeted) l->greeted = copy(l, &l->greeting, to, room, &used);
    while (l->greeted && used < room && l->next < live->count && live->count - l->next <= MESSAGES)
        if (copy(l, &live->ring[l->next % MESSAGES], to, room, &used)) l->next++;
    if (live->ended)
        answer = MHD_CONTENT_READER_END_OF_STREAM;
    else if (live->count - l->next > MESSAGES)
        answer = MHD_CONTENT_READER_END_WITH_ERROR; /* too slow */
    else
        answer = (ssize_t)used;
    if (answer == 0) {
        l->waits = true;
        http.suspend_connection(l->connection);
    }
    pthread_mutex_unlock(&live->lock);
    return answer;
}

static void forget(void *context)
{
    struct listener *l = context;
    struct live *live = l->live;
    pthread_mutex_lock(&live->lock);
    *(l->before ? &l->before->after : &live->first) = l->after;
    if (l->after) l->after->before = l->before;
    live->listeners--;
    pthread_mutex_unlock(&live->lock);
    free(l->greeting.text);
    free(l);
}

/* False: there are too many. */
static bool admit(struct live *live, struct listener *l)
{
    pthread_mutex_lock(&live->lock);
    bool room = live->listeners < LISTENERS_MOST && !live->ended;
    if (room) {
        l->next = live->count;
        l->after = live->first;
        if (l->after) l->after->before = l;
        live->first = l;
        live->listeners++;
    }
    pthread_mutex_unlock(&live->lock);
    return room;
}

void answer_stream(struct request *q)
{
    static const char greeting[] = "retry: 2000\n:\n\n";
    struct live *live = q->service->live;
    struct listener *l = calloc(1, sizeof *l);
    if (l) *l = (struct listener){.live = live, .connection = q->connection};
    if (l) l->greeting = (struct message){strdup(greeting), sizeof greeting - 1};
    if (!l || !l->greeting.text) {
        free(l);
        reply_memory(&q->reply);
        return;
    }
    if (!admit(live, l)) {
        free(l->greeting.text);
        free(l);
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "close another one, or ask again in a while",
                    "there are %d listeners, and no more are accepted", LISTENERS_MOST);
        return;
    }
    q->reply.response = http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_messages, l, forget);
    q->reply.type = "text/event-stream; charset=utf-8";
    if (q->reply.response) return;
    forget(l);
    reply_memory(&q->reply);
}

/* ---- All of it --------------------------------------------------------------------------------- */

struct service *live_service(struct live *live)
{
    return live->service;
}

size_t live_before(const struct live *live)
{
    return live->before;
}

bool live_ended(struct live *live)
{
    pthread_mutex_lock(&live->lock);
    bool ended = live->ended;
    pthread_mutex_unlock(&live->lock);
    return ended;
}

int live_new(struct live **out, struct service *service)
{
    struct live *live = *out = calloc(1, sizeof *live);
    if (!live) out_of_memory();
    live->service = service;
    live->before = store_events(service->store); /* not in the thread, which may begin when others have come */
    pthread_mutex_init(&live->lock, NULL);
    if (pthread_create(&live->thread, NULL, live_follow, live) == 0) return 0;
    pthread_mutex_destroy(&live->lock);
    free(live);
    *out = NULL;
    return report_failure("a thread cannot be started");
}

void live_end(struct live *live)
{
    pthread_mutex_lock(&live->lock);
    live->ended = true;
    wake(live);
    pthread_mutex_unlock(&live->lock);
}

void live_free(struct live *live)
{
    if (!live) return;
    live_end(live);
    store_wake(live->service->store);
    pthread_join(live->thread, NULL);
    for (size_t i = 0; i < MESSAGES; i++) free(live->ring[i].text);
    pthread_mutex_destroy(&live->lock);
    free(live);
}
