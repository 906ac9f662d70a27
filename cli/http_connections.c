/*
 * http_connections.c - the connections there are, for limits that libmicrohttpd does not have: a client that comes when
 * there are too many is told so, and one that sends its header or takes its answer a byte at a time is dropped.
 */
#include "http.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct client {
    int fd;
    bool beyond;
    enum client_phase phase;
    int64_t since; /* when the phase began: seconds of a steady clock */
    struct client *older, *newer;
};

struct clients {
    pthread_mutex_t lock;
    struct client *newest;
    size_t count, most;
    int64_t patience; /* seconds */
};

static int64_t steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

struct clients *clients_new(size_t most, unsigned timeout)
{
    struct clients *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->most = most;
    c->patience = 2 * (int64_t)timeout;
    return c;
}

void clients_free(struct clients *c)
{
    if (!c) return;
    while (c->newest) {
        struct client *older = c->newest->older;
        free(c->newest);
        c->newest = older;
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void begin(struct clients *c, struct MHD_Connection *connection, void **own)
{
    const union MHD_ConnectionInfo *info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct client *client = *own = calloc(1, sizeof *client);
    if (!client) return; /* out of memory: the connection has no limits of its own */
    *client = (struct client){.fd = info ? info->connect_fd : -1, .since = steady_seconds()};
    pthread_mutex_lock(&c->lock);
    client->older = c->newest;
    if (c->newest) c->newest->newer = client;
    c->newest = client;
    client->beyond = ++c->count > c->most;
    pthread_mutex_unlock(&c->lock);
}

/* Before the descriptor is closed: it is not shut down once it is another's. */
static void end(struct clients *c, void **own)
{
    struct client *client = *own;
    if (!client) return;
    pthread_mutex_lock(&c->lock);
    *(client->newer ? &client->newer->older : &c->newest) = client->older;
    if (client->older) client->older->newer = client->newer;
    c->count--;
    pthread_mutex_unlock(&c->lock);
    free(client);
    *own = NULL;
}

void clients_notify(void *clients, struct MHD_Connection *connection, void **own,
                    enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin(clients, connection, own);
    else
        end(clients, own);
}

struct client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void client_enters(struct clients *c, struct client *client, enum client_phase phase)
{
    if (!client) return;
    pthread_mutex_lock(&c->lock);
    client->phase = phase;
    client->since = steady_seconds();
    pthread_mutex_unlock(&c->lock);
}

bool client_is_beyond(const struct client *client)
{
    return client && client->beyond;
}

void clients_sweep(struct clients *c)
{
    int64_t now = steady_seconds();
    pthread_mutex_lock(&c->lock);
    for (struct client *client = c->newest; client; client = client->older)
        if (client->phase != CLIENT_WAITS && now - client->since > c->patience) shutdown(client->fd, SHUT_RDWR);
    pthread_mutex_unlock(&c->lock);
}

size_t clients_count(struct clients *c)
{
    pthread_mutex_lock(&c->lock);
    size_t count = c->count;
    pthread_mutex_unlock(&c->lock);
    return count;
}
