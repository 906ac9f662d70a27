/*
 * http_server.c - connections: from bytes to requests, within limits.
 *
 * libmicrohttpd reads and writes in a pool of threads, and calls take_request() when the header of a request is there,
 * for each part of its body, and once it is complete. What can be refused is refused before its body is read.
 */
#include "http.h"

#include "http_tls.h"
#include "live.h"
#include "option.h"
#include "terminal.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    POOL = 16,
    HEADER_BYTES = 32 << 10, /* memory of a connection */
    SURPLUS = 64,            /* connections that are told that there are too many */
    BODIES_AT_ONCE = 32,     /* of the longest there may be */
    MUCH_TOO_LARGE = 4,      /* times the longest: read to its end, so that the client hears of it */
    BACKLOG = 128,
    DRAIN_MS = 4000,
    FILES = 64, /* open ones beside connections */
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
        reply_ending(&q->reply);
        return false;
    }
    if (client_is_beyond(q->client)) {
        reply_error(&q->reply, MHD_HTTP_SERVICE_UNAVAILABLE, NULL,
                    "try again later, or keep connections open and share them", "there are more than %zu connections",
                    v->o->connections);
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
    q->answered = true;
    if (digit < sizeof q->service->answers / sizeof *q->service->answers) q->service->answers[digit]++;
    /* A stream has no end. */
    if (!q->reply.response) client_enters(q->service->clients, q->client, CLIENT_IS_TOLD);
    return reply_send(&q->reply, q->connection, close || q->service->draining);
}

static void compute(struct request *q)
{
    struct service *v = q->service;
    v->busy++;
    q->serving = serving_take(v);
    q->route->answer(q);
    serving_drop(v, q->serving);
    q->serving = NULL;
    v->busy--;
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
        q->client = client_of(connection);
        client_enters(v->clients, q->client, CLIENT_WAITS);
        v->running++;
        reply_begin(&q->reply);
        if (!q->reply.out) return answer(q, true); /* out of memory */
        if (admit(q)) return MHD_YES;
        bool has_body = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
        return answer(q, has_body || client_is_beyond(q->client));
    }
    if (q->answered) return MHD_NO; /* a server that is being stopped takes no answers, and asks again */
    if (*size) {
        bool more = take_body(q, bytes, *size);
        *size = 0;
        return more ? MHD_YES : MHD_NO;
    }
    if (body_is_there(q)) compute(q);
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
    client_enters(v->clients, q->client, CLIENT_ASKS);
    if (q->room) {
        free(q->body);
        v->bodies -= q->room;
    }
    if (q->reply.out) fclose(q->reply.out);
    free(q->reply.bytes);
    free(q);
    v->running--;
}

static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return query_unescape(text);
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

/* What libmicrohttpd says while it starts; empty: nothing. */
struct trouble {
    char words[200];
    atomic_bool over;
};

static void note_trouble(void *context, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static void note_trouble(void *context, const char *format, va_list args)
{
    struct trouble *t = context;
    if (t->over || t->words[0]) return;
    vsnprintf(t->words, sizeof t->words, format, args);
    t->words[strcspn(t->words, "\n")] = '\0';
}

static struct MHD_Daemon *start(struct service *v, int fd, const struct tls *tls, struct trouble *trouble)
{
    unsigned connections = (unsigned)v->o->connections + SURPLUS;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME;
    static char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    struct MHD_OptionItem secure[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, tls->certificate},
                                      {MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key},
                                      {MHD_OPTION_HTTPS_PRIORITIES, 0, versions},
                                      {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    if (tls->key) flags |= MHD_USE_TLS;
    return http.start_daemon(flags, 0, NULL, NULL, take_request, v, MHD_OPTION_EXTERNAL_LOGGER, note_trouble, trouble,
                             MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)POOL,
                             MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                             (size_t)HEADER_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)v->o->timeout,
                             MHD_OPTION_NOTIFY_CONNECTION, clients_notify, v->clients, MHD_OPTION_NOTIFY_COMPLETED,
                             end_request, v, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_ARRAY,
                             tls->key ? secure : plain, MHD_OPTION_END);
}

/* As many files as there may be connections. */
static void raise_files(const struct service *v)
{
    struct rlimit files;
    rlim_t wanted = v->o->connections + SURPLUS + FILES;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted) return;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* What has begun is answered, within some seconds. What takes longer is given up with the process: everything that was
   acknowledged is stored. */
static void drain(struct service *v, struct MHD_Daemon *daemon)
{
    const struct timespec pause = {0, 10000000};
    v->draining = true;
    live_end(v->live);
    int fd = http.quiesce_daemon(daemon);
    for (int ms = 0; v->running && ms < DRAIN_MS; ms += 10) nanosleep(&pause, NULL);
    if (v->busy) {
        report_failure("%zu requests that take too long are given up", (size_t)v->busy);
        fflush(NULL);
        _exit(0);
    }
    http.stop_daemon(daemon);
    if (fd >= 0) close(fd);
}

static volatile sig_atomic_t reload_asked;

static void ask_reload(int unused)
{
    (void)unused;
    reload_asked = 1;
}

/* Until it is told to stop. */
static void wait_for_signals(struct service *v)
{
    const struct sigaction reload = {.sa_handler = ask_reload};
    const struct timespec second = {1, 0};
    sigaction(SIGHUP, &reload, NULL);
    while (!terminal_stopped()) {
        smurf_error err;
        ppoll(NULL, 0, &second, &v->signals);
        clients_sweep(v->clients);
        if (reload_asked) {
            reload_asked = 0;
            serving_reload(v, &err);
        }
    }
    pthread_sigmask(SIG_SETMASK, &v->signals, NULL);
}

static int serve(struct service *v, int fd, int port, const struct tls *tls)
{
    struct trouble trouble = {{0}, false};
    const char *listen = v->o->listen;
    raise_files(v);
    struct MHD_Daemon *daemon = start(v, fd, tls, &trouble);
    trouble.over = true;
    if (!daemon) {
        close(fd);
        if (tls->key)
            return report_failure("HTTPS cannot be served with %s and %s: %s (is it the key of this certificate?)",
                                  v->o->tls_cert, v->o->tls_key, trouble.words);
        return report_failure("the server cannot be started: %s", trouble.words[0] ? trouble.words : strerror(errno));
    }
    printf("listening on %s://%.*s:%d\n", tls->key ? "https" : "http", (int)(strrchr(listen, ':') - listen), listen,
           port);
    int status = finish_output();
    if (!status) wait_for_signals(v);
    drain(v, daemon);
    return status;
}

int server_run(struct service *v)
{
    struct tls tls = {0};
    int port, fd = -1, status;
    struct addrinfo *address = parse_address(v->o->listen);
    bool loopback = is_loopback(address->ai_addr);
    if (!loopback && !v->o->token_file && !v->o->no_auth)
        usage_error("--listen %s can be reached by others: give --token-file FILE, or --no-auth to answer anybody",
                    v->o->listen);
    v->clients = clients_new(v->o->connections, (unsigned)v->o->timeout);
    status = v->clients ? guard_new(&v->guard, v->o, loopback) : report_failure("out of memory");
    if (!status) status = tls_read(&tls, v->o->tls_cert, v->o->tls_key);
    if (!status) fd = listen_at(address, v->o->listen, &port);
    freeaddrinfo(address);
    if (!status) status = fd < 0 ? 1 : serve(v, fd, port, &tls);
    tls_release(&tls);
    guard_free(v->guard);
    clients_free(v->clients);
    return status;
}
