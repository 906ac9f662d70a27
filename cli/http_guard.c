/*
 * http_guard.c - who may ask: holders of the token, programs rather than pages of other sites, and nobody too often.
 *
 * A page in a browser on this machine could otherwise post events to a service on the loopback address, or read from it
 * under a name of its own. So a request that says which page it comes from (Origin) is refused unless that is the
 * service's own page, and without a token the service answers only to names of this machine (Host).
 */
#include "http.h"

#include "terminal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 4096, BUCKETS = 4096 };

/* Clients are told apart by their address; those that share a bucket share its rate. */
struct bucket {
    double left, at;
};

struct guard {
    char token[TOKEN_MOST + 2]; /* empty: none */
    size_t length;
    bool local; /* only names of this machine */
    double rate;
    pthread_mutex_t lock;
    struct bucket bucket[BUCKETS];
};

/* ---- Tokens ------------------------------------------------------------------------------------ */

static int read_token(struct guard *g, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return report_failure("%s: %s", path, strerror(errno));
    size_t n = fread(g->token, 1, TOKEN_MOST + 1, file);
    fclose(file);
    while (n && strchr(" \t\r\n", g->token[n - 1])) n--;
    g->token[n] = '\0';
    g->length = n;
    if (n < TOKEN_LEAST || n > TOKEN_MOST || strlen(g->token) != n || strpbrk(g->token, " \t\r\n"))
        return report_failure("%s: a token is one word of %d to %d characters: head -c 24 /dev/urandom | base64", path,
                              TOKEN_LEAST, TOKEN_MOST);
    return 0;
}

/* Takes as long whatever the two have in common. */
static bool same_token(const struct guard *g, const char *given)
{
    size_t n = strlen(given);
    volatile unsigned char odd = n != g->length;
    for (size_t i = 0; i < g->length; i++) odd |= (unsigned char)(g->token[i] ^ (i < n ? given[i] : 0));
    return odd == 0;
}

static bool has_token(const struct guard *g, struct MHD_Connection *connection)
{
    static const char scheme[] = "Bearer ";
    const char *given = http.lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    return given && strncasecmp(given, scheme, sizeof scheme - 1) == 0 && same_token(g, given + sizeof scheme - 1);
}

/* ---- Pages of other sites ---------------------------------------------------------------------- */

static bool is_local_name(const char *host)
{
    static const char *const name[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);
        if (strncasecmp(host, name[i], n) == 0 && (!host[n] || host[n] == ':')) return true;
    }
    return false;
}

/* Whether the page is of the host that is asked: "http://localhost:8420" and "localhost:8420". With a proxy in front,
   https may be all that it knows. */
static bool is_own_page(const char *origin, const char *host)
{
    static const char *const scheme[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        size_t n = strlen(scheme[i]);
        if (strncasecmp(origin, scheme[i], n) == 0) return host && *host && strcasecmp(origin + n, host) == 0;
    }
    return false;
}

/* ---- Rates ------------------------------------------------------------------------------------- */

static struct bucket *bucket_of(struct guard *g, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    uint64_t hash = 0;
    const unsigned char *bytes = NULL;
    size_t n = 0;
    if (info && info->client_addr && info->client_addr->sa_family == AF_INET) {
        bytes = (const unsigned char *)&((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr;
        n = 4;
    } else if (info && info->client_addr && info->client_addr->sa_family == AF_INET6) {
        bytes = (const unsigned char *)&((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr;
        n = 8; /* the network: a client has many addresses in it */
    }
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return &g->bucket[(hash ^ hash >> 32) % BUCKETS];
}

/* A bucket holds what may be asked in a second, and is refilled as time passes. */
static bool is_too_often(struct guard *g, struct MHD_Connection *connection)
{
    struct timespec t;
    if (!(g->rate > 0)) return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    pthread_mutex_lock(&g->lock);
    struct bucket *b = bucket_of(g, connection);
    double left = b->at > 0 ? b->left + (now - b->at) * g->rate : g->rate;
    if (left > g->rate) left = g->rate;
    bool often = left < 1;
    *b = (struct bucket){often ? left : left - 1, now};
    pthread_mutex_unlock(&g->lock);
    return often;
}

/* ---- All of it --------------------------------------------------------------------------------- */

int guard_new(struct guard **out, const struct serve_options *o, bool loopback)
{
    struct guard *g = *out = calloc(1, sizeof *g);
    if (!g) out_of_memory();
    pthread_mutex_init(&g->lock, NULL);
    g->rate = (double)o->rate;
    g->local = loopback && !o->token_file && !o->no_auth;
    return o->token_file ? read_token(g, o->token_file) : 0;
}

void guard_free(struct guard *g)
{
    if (g) pthread_mutex_destroy(&g->lock);
    free(g);
}

bool guard_admits(struct guard *g, struct request *q)
{
    const char *host = http.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Host");
    const char *origin = http.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Origin");
    if (is_too_often(g, q->connection)) {
        reply_error(&q->reply, MHD_HTTP_TOO_MANY_REQUESTS, NULL, "wait a second; send several events in one request",
                    "more than %g requests in a second", g->rate);
        return false;
    }
    if (origin && is_own_page(origin, host)) origin = NULL;
    if (origin || (g->local && host && !is_local_name(host))) {
        reply_error(&q->reply, MHD_HTTP_FORBIDDEN, origin ? "Origin" : "Host",
                    origin ? "ask from a program, not from a page of a browser"
                           : "use the name localhost, or start the service with --token-file",
                    "the request comes from a page of another site, or is for another name");
        return false;
    }
    if (!g->length || (q->route && q->route->open) || has_token(g, q->connection)) return true;
    reply_error(&q->reply, MHD_HTTP_UNAUTHORIZED, "Authorization", "send Authorization: Bearer TOKEN",
                "the token is missing or wrong");
    return false;
}
