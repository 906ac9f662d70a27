/* http_reply.c - answers: a body in memory, a status, and the headers that every answer has. */
#include "http.h"

#include "json_out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void open_body(struct reply *r)
{
    r->bytes = NULL;
    r->size = 0;
    r->out = open_memstream(&r->bytes, &r->size);
}

void reply_begin(struct reply *r)
{
    *r = (struct reply){.status = MHD_HTTP_OK, .type = "application/json"};
    open_body(r);
}

static void discard(struct reply *r)
{
    if (r->out) fclose(r->out);
    free(r->bytes);
}

static void put_member(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    if (text)
        put_string(out, text);
    else
        fputs("null", out);
}

void reply_error(struct reply *r, unsigned status, const char *field, const char *what_to_do, const char *format, ...)
{
    char message[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    discard(r);
    open_body(r);
    r->status = status;
    r->type = "application/json";
    if (status != MHD_HTTP_METHOD_NOT_ALLOWED) r->allow = NULL;
    if (!r->out) return;
    put_member(r->out, "{\"error\":{\"message\":", message);
    put_member(r->out, ",\"field\":", field);
    put_member(r->out, ",\"do\":", what_to_do);
    fputs("}}\n", r->out);
}

void reply_memory(struct reply *r)
{
    reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "try again later", "the service is out of memory");
}

void reply_ending(struct reply *r)
{
    reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again when it is back", "the service is ending");
}

void reply_broken_store(struct reply *r)
{
    reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "ask again in a while; check the store and its disk",
                "the store cannot be read");
}

void reply_library(struct reply *r, const smurf_error *err, const char *field, const char *what_to_do)
{
    if (err->status == SMURF_ERROR_MEMORY)
        reply_memory(r);
    else if (err->status == SMURF_ERROR_INPUT || err->status == SMURF_ERROR_ARGUMENT)
        reply_error(r, MHD_HTTP_BAD_REQUEST, field, what_to_do, "%s", err->message);
    else
        reply_error(r, MHD_HTTP_INTERNAL_SERVER_ERROR, NULL, NULL, "%s", err->message);
}

static void add_headers(struct MHD_Response *response, const struct reply *r, bool close)
{
    http.add_response_header(response, "Content-Type", r->type);
    http.add_response_header(response, "Content-Security-Policy",
                             r->policy ? r->policy : "default-src 'none'; frame-ancestors 'none'");
    http.add_response_header(response, "X-Content-Type-Options", "nosniff");
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    http.add_response_header(response, "Cache-Control", "no-store");
    if (r->allow) http.add_response_header(response, "Allow", r->allow);
    if (r->status == MHD_HTTP_UNAUTHORIZED) http.add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->status == MHD_HTTP_TOO_MANY_REQUESTS || r->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        http.add_response_header(response, "Retry-After", "1");
    if (close) http.add_response_header(response, "Connection", "close");
}

static enum MHD_Result send_response(struct reply *r, struct MHD_Response *response, struct MHD_Connection *connection,
                                     bool close)
{
    add_headers(response, r, close);
    enum MHD_Result result = http.queue_response(connection, r->status, response);
    http.destroy_response(response);
    return result;
}

enum MHD_Result reply_send(struct reply *r, struct MHD_Connection *connection, bool close)
{
    if (r->response) return send_response(r, r->response, connection, close);
    static char none[] =
        "{\"error\":{\"message\":\"the service is out of memory\",\"field\":null,\"do\":\"try again later\"}}\n";
    bool failed = !r->out || fflush(r->out) != 0 || ferror(r->out);
    if (r->out) fclose(r->out);
    r->out = NULL;
    if (failed) {
        free(r->bytes);
        r->bytes = NULL;
        r->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        r->type = "application/json";
    }
    struct MHD_Response *response =
        failed ? http.create_response_from_buffer(sizeof none - 1, none, MHD_RESPMEM_PERSISTENT)
               : http.create_response_from_buffer(r->size, r->bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(r->bytes);
        r->bytes = NULL;
        return MHD_NO;
    }
    r->bytes = NULL;
    return send_response(r, response, connection, close);
}
