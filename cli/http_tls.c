/* http_tls.c - the certificate and the key of a service, read when it starts. */
#include "http_tls.h"

#include "loaded.h"
#include "terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEM_MOST = 1 << 20 };

/* A text file that holds `what`; NULL after reporting the error. */
static char *read_pem(const char *path, const char *what, const char *name)
{
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(PEM_MOST + 1) : NULL;
    size_t n = text ? fread(text, 1, PEM_MOST, file) : 0;
    bool read = text && !ferror(file);
    if (!read) report_failure("%s: %s", path, strerror(errno));
    if (file) fclose(file);
    if (read) text[n] = '\0';
    if (read && n < PEM_MOST && strstr(text, what)) return text;
    if (read)
        report_failure("%s: this is no %s in PEM format (it has no line '-----BEGIN ...%s-----')", path, name, what);
    free(text);
    return NULL;
}

int tls_read(struct tls *out, const char *certificate, const char *key)
{
    *out = (struct tls){0};
    if (!certificate) return 0;
    if (http.is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return report_failure("the libmicrohttpd of this machine has no TLS: install one that has it, or leave out "
                              "--tls-cert and put a proxy in front");
    out->certificate = read_pem(certificate, "CERTIFICATE", "certificate");
    if (out->certificate) out->key = read_pem(key, "PRIVATE KEY", "private key");
    if (out->key) return 0;
    tls_release(out);
    return 1;
}

void tls_release(struct tls *tls)
{
    if (tls->key) explicit_bzero(tls->key, strlen(tls->key));
    free(tls->certificate);
    free(tls->key);
    *tls = (struct tls){0};
}
