/* http_tls.h - the certificate and the key of a service. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

/* PEM texts; NULL: plain HTTP. */
struct tls {
    char *certificate, *key;
};

/* Reads both files; certificate NULL: none. Returns 0, or the exit status after reporting the error. */
int tls_read(struct tls *out, const char *certificate, const char *key);
void tls_release(struct tls *tls);

#endif
