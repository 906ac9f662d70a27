/*
 * http_server.c - connections: from bytes to requests, within limits.
 *
 * libmicrohttpd reads and writes in a pool of threads, and calls take_request() when the header of a request is there,
 * for each part of its body, and once it is complete. What can be refused is refused before its body is read.
 */
#include "http.h"

#include "option.h"
#include "terminal.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    POOL = 16,
    HEADER_BYTES = 32 << 10, /* memory of a connection */
    BODIES_AT_ONCE = 32,     /* of the longest there may be */
    MUCH_TOO_LARGE = 4,      /* times the longest: read to its end, so that the client hears of it */
    BACKLOG = 128,
    DRAIN_MS = 4000,
};

static int64_t steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static size_t body_most(const struct service *v)
{
    return v->o->body_mb << 20;
}

/* ---- Bodies ------------------------------------------------------------------------------------ */

/* Parts beyond the limit are counted, not kept. False: the client sends without end, or too slowly. */
static bool take_body(struct request *q, const char *bytes, size_t size)
{
    struct service *v = q->service;
    size_t most = body_most(v);
    if (steady_seconds() - q->started > 2 * (int64_t)v->o->timeout) return false;
    q->too_large = q->too_large || size > most - q->size;
    if (q->too_large || q->no_room) {
        q->thrown_away += size;
        return q->thrown_away < MUCH_TOO_LARGE * most;
    }
    if (q->size + size + 1 > q->room) {
        size_t room = 2 * (q->size + size) + 1;
        char *more = v->bodies + room > BODIES_AT_ONCE * most ? NULL : realloc(q->body, room);
        if (!more) {
            q->no_room = true;
            return true;
        }
        v->bodies += room - q->room;
        q->body = more;
        q->room = room;
    }
    memcpy(q->body + q->size, bytes, size);
    q->size += size;
    q->body[q->size] = '\0';
    return true;
}

static bool body_is_there(struct request *q)
{
    static char empty[1] = "";
    if (q->too_large)
        reply_error(&q->reply, MHD_HTTP_CONTENT_TOO_LARGE, NULL, "send the events in several requests",
                    "the body is longer than %zu MB", q->service->o->body_mb);
    else if (q->no_room)
        reply_memory(&q->reply);
    if (q->too_large || q->no_room) return false;
    if (!q->body) q->body = empty;
    return true;
}

/* ---- Requests ---------------------------------------------------------------------------------- */

static bool admit(struct request *q)
{
    struct service *v = q->service;
    const char *length = http.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Content-Length");
    bool found = route_find(q);
    if (v->draining) {
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again when it is back",
                    "the service is ending");
        return false;
    }
    if (!guard_admits(v->guard, q) || !found || !query_names(q)) return false;
    unsigned long long said = length ? strtoull(length, NULL, 10) : 0;
    q->too_large = said > body_most(v);
    return said <= MUCH_TOO_LARGE * body_most(v) || body_is_there(q);
}

static enum MHD_Result answer(struct request *q, bool close)
{
    unsigned digit = q->reply.status / 100;
    if (digit < sizeof q->service->answers / sizeof *q->service->answers) q->service->answers[digit]++;
    return reply_send(&q->reply, q->connection, close || q->service->draining);
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *bytes, size_t *size,
                                    void **own)
{
    struct service *v = context;
    struct request *q = *own;
    (void)version;
    if (!q) {
        q = *own = calloc(1, sizeof *q);
        if (!q) return MHD_NO;
        *q = (struct request){.service = v, .connection = connection, .method = method, .path = url};
        q->started = steady_seconds();
        v->running++;
        reply_begin(&q->reply);
        if (!q->reply.out) return answer(q, true); /* out of memory */
        return admit(q) ? MHD_YES : answer(q, strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0);
    }
    if (*size) {
        bool more = take_body(q, bytes, *size);
        *size = 0;
        return more ? MHD_YES : MHD_NO;
    }
    if (body_is_there(q)) q->route->answer(q);
    return answer(q, q->too_large);
}

static void end_request(void *context, struct MHD_Connection *connection, void **own,
                        enum MHD_RequestTerminationCode code)
{
    struct service *v = context;
    struct request *q = *own;
    (void)connection, (void)code;
    *own = NULL;
    if (!q) return;
    if (q->room) {
        free(q->body);
        v->bodies -= q->room;
    }
    if (q->reply.out) fclose(q->reply.out);
    free(q->reply.bytes);
    free(q);
    v->running--;
}

/* A NUL would cut a name short: it becomes a byte that no name has. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    for (char *p = text; (p = strstr(p, "%00")); p += 3) p[1] = p[2] = 'F';
    return http.http_unescape(text);
}

/* ---- Listening --------------------------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET ? ntohl(four->sin_addr.s_addr) >> 24 == 127
                                         : address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* "127.0.0.1:8420" or "[::1]:8420". */
static struct addrinfo *parse_address(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    char host[64];
    const char *colon = strrchr(text, ':');
    struct addrinfo *found = NULL;
    size_t n = colon ? (size_t)(colon - text) : 0;
    bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
    if (brackets) text++, n -= 2;
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : -1;
    bool good = n && n < sizeof host && colon[1] >= '0' && colon[1] <= '9' && !*end && port <= 65535;
    if (good) snprintf(host, sizeof host, "%.*s", (int)n, text);
    if (!good || (!brackets && strchr(host, ':')) || getaddrinfo(host, colon + 1, &hints, &found) != 0)
        usage_error("--listen takes an address and a port, such as 127.0.0.1:8420 or [::1]:8420, not '%s'", text);
    return found;
}

static int listen_at(const struct addrinfo *a, const char *text, int *port)
{
    const int on = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && a->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &size) != 0) {
        report_failure("cannot listen at %s: %s", text, strerror(errno));
        if (fd >= 0) close(fd);
        return -1;
    }
    const struct sockaddr_in *four = (const void *)&bound;
    const struct sockaddr_in6 *six = (const void *)&bound;
    *port = ntohs(bound.ss_family == AF_INET ? four->sin_port : six->sin6_port);
    return fd;
}

/* ---- Running ----------------------------------------------------------------------------------- */

static struct MHD_Daemon *start(struct service *v, int fd)
{
    unsigned connections = (unsigned)v->o->connections;
    return http.start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, take_request, v,
                             MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)POOL,
                             MHD_OPTION_CONNECTION_LIMIT, connections < POOL ? (unsigned)POOL : connections,
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
                             (unsigned)v->o->timeout, MHD_OPTION_NOTIFY_COMPLETED, end_request, v,
                             MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
}

/* What has begun is answered, within some seconds. */
static void drain(struct service *v, struct MHD_Daemon *daemon)
{
    const struct timespec pause = {0, 10000000};
    v->draining = true;
    int fd = http.quiesce_daemon(daemon);
    for (int ms = 0; v->running && ms < DRAIN_MS; ms += 10) nanosleep(&pause, NULL);
    http.stop_daemon(daemon);
    if (fd >= 0) close(fd);
}

static int serve(struct service *v, int fd, int port, const char *listen)
{
    struct MHD_Daemon *daemon = start(v, fd);
    if (!daemon) {
        close(fd);
        return report_failure("the server cannot be started: %s", strerror(errno));
    }
    printf("listening on http://%.*s:%d\n", (int)(strrchr(listen, ':') - listen), listen, port);
    int status = finish_output();
    while (!status && !terminal_stopped()) ppoll(NULL, 0, NULL, &v->signals);
    pthread_sigmask(SIG_SETMASK, &v->signals, NULL);
    drain(v, daemon);
    return status;
}

int server_run(struct service *v)
{
    int port, status;
    struct addrinfo *address = parse_address(v->o->listen);
    bool loopback = is_loopback(address->ai_addr);
    if (!loopback && !v->o->token_file && !v->o->no_auth)
        usage_error("--listen %s can be reached by others: give --token-file FILE, or --no-auth to answer anybody",
                    v->o->listen);
    status = guard_new(&v->guard, v->o, loopback);
    int fd = status ? -1 : listen_at(address, v->o->listen, &port);
    freeaddrinfo(address);
    status = fd < 0 ? 1 : serve(v, fd, port, v->o->listen);
    guard_free(v->guard);
    return status;
}
