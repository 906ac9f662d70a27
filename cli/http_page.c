/*
 * http_page.c - files that are part of the program: those of the page at / (cli/page), and the description of the
 * addresses (cli/openapi.json). The page uses the same addresses as everybody else, so its files need no token. They
 * may load each other, ask this service, and nothing else.
 */
#include "http.h"
#include "page_files.h"

#include <string.h>

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
                             "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* The file of this name, in the answer; false if there is none. */
static bool put_file(struct request *q, const char *name)
{
    for (size_t i = 0; i < sizeof page_file / sizeof *page_file; i++) {
        const struct page_file *f = &page_file[i];
        if (strcmp(name, f->name) != 0) continue;
        q->reply.type = f->type;
        fwrite(f->bytes, 1, f->size, q->reply.out);
        return true;
    }
    return false;
}

void answer_openapi(struct request *q)
{
    put_file(q, "openapi.json");
}

void answer_page(struct request *q)
{
    if (put_file(q, strcmp(q->path, "/") == 0 ? "index.html" : q->rest))
        q->reply.policy = policy;
    else
        reply_error(&q->reply, MHD_HTTP_NOT_FOUND, NULL, "the page is at /", "there is nothing at '%.200s'", q->path);
}
