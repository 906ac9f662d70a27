/*
 * store_postgres.h - a store in PostgreSQL: shared by store_postgres.c, which opens and reads, and
 * store_postgres_write.c, which writes; and the part of libpq's interface that they use. libpq is loaded when such a
 * store is opened, and building needs no header of it.
 */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "store_class.h"

#include <stdio.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef void pg_notice(void *context, const char *notice);
enum { PG_CONNECTION_OK = 0, PG_COMMAND_OK = 1, PG_TUPLES_OK = 2 };
enum { PG_SQLSTATE = 'C', PG_MESSAGE_PRIMARY = 'M' };

/* Name without its prefix, result, arguments. */
#define PG_FUNCTIONS(F)                                                                                                \
    F(clear, void, PGresult *)                                                                                         \
    F(connectdbParams, PGconn *, const char *const *, const char *const *, int)                                        \
    F(connectionNeedsPassword, int, const PGconn *)                                                                    \
    F(errorMessage, char *, const PGconn *)                                                                            \
    F(exec, PGresult *, PGconn *, const char *)                                                                        \
    F(execParams, PGresult *, PGconn *, const char *, int, const unsigned *, const char *const *, const int *,         \
      const int *, int)                                                                                                \
    F(finish, void, PGconn *)                                                                                          \
    F(getisnull, int, const PGresult *, int, int)                                                                      \
    F(getlength, int, const PGresult *, int, int)                                                                      \
    F(getvalue, char *, const PGresult *, int, int)                                                                    \
    F(ntuples, int, const PGresult *)                                                                                  \
    F(resultErrorField, char *, const PGresult *, int)                                                                 \
    F(resultStatus, int, const PGresult *)                                                                             \
    F(setNoticeProcessor, pg_notice *, PGconn *, pg_notice *, void *)                                                  \
    F(status, int, const PGconn *)

#define PG_MEMBER(name, result, ...) result (*name)(__VA_ARGS__);
struct pg_functions {
    PG_FUNCTIONS(PG_MEMBER)
};
extern struct pg_functions pg;

enum { PG_PARAMETERS = 9 };

/* The parameters of a statement, as text: single values, or arrays of as many values as there are rows. */
struct pg_parameters {
    FILE *out[PG_PARAMETERS];
    char *text[PG_PARAMETERS];
    size_t size[PG_PARAMETERS];
    int count;
    bool failed;
};

/* A connection. */
struct pg_side {
    const char *address;
    PGconn *connection;
    char words[STORE_WORDS]; /* the reason of the last failure */
    char state[6];           /* and the server's code for it */
    bool lost;               /* the server has ended the connection */
};

struct pg_store {
    struct pg_side write, read;
    int64_t transaction; /* the number of the one that writes */
};

/* Starts the next parameter, to be written to the file that is returned; NULL: out of memory. */
FILE *pg_next(struct pg_parameters *parameters);
void pg_put_number(struct pg_parameters *parameters, int64_t number);
void pg_put_text(struct pg_parameters *parameters, const char *text);
void pg_put_moment(struct pg_parameters *parameters, smurf_moment moment); /* two parameters */
void pg_release(struct pg_parameters *parameters);

bool pg_is_connected(const struct pg_side *side);
/* Connects again where the connection is lost. */
enum store_outcome pg_connect(struct pg_side *side);
/* Runs statements without parameters; the result of the last one. */
enum store_outcome pg_run(struct pg_side *side, const char *text, PGresult **out);
/* Runs one and frees the parameters. out NULL: the result is not needed. */
enum store_outcome pg_ask(struct pg_side *side, const char *text, struct pg_parameters *parameters, PGresult **out);
/* The same, with a last parameter of bytes. */
enum store_outcome pg_give_bytes(struct pg_side *side, const char *text, struct pg_parameters *parameters,
                                 const void *bytes, size_t size);
/* Without parameters, and the result is bytes. */
enum store_outcome pg_take_bytes(struct pg_side *side, const char *text, PGresult **out);
int64_t pg_number_at(const PGresult *result, int row, int column);
smurf_moment pg_moment_at(const PGresult *result, int row, int column);
/* number, origin, events, first, revision, whole, fraction from a column on. */
void pg_sequence_at(const PGresult *result, int row, int column, struct store_sequence *out);
#define PG_SEQUENCE "s.number, s.origin, s.events, s.first, s.revision, s.whole, s.fraction"

/* store_postgres_write.c: the functions of the class that write. */
enum store_outcome pg_begin(void *own, struct store_counts *counts, char *words);
enum store_outcome pg_commit(void *own, const struct store_counts *counts, char *words);
void pg_rollback(void *own);
enum store_outcome pg_find_all(void *own, struct plan_sequence *sequence, size_t count, char *words);
enum store_outcome pg_find_ids(void *own, struct plan_event *const *event, size_t count, char *words);
enum store_outcome pg_find_place(void *own, int64_t sequence, smurf_moment at, size_t *n, char *words);
enum store_outcome pg_shift(void *own, int64_t sequence, size_t n, char *words);
enum store_outcome pg_add_events(void *own, struct plan_event *const *event, size_t count, char *words);
enum store_outcome pg_put_sequences(void *own, struct plan_sequence *const *sequence, size_t count, char *words);
enum store_outcome pg_find_unseen(void *own, int64_t sequence, size_t *n, char *words);
enum store_outcome pg_prune(void *own, int64_t sequence, size_t first, char *words);

/* store_postgres_watch.c */
enum store_outcome pg_watch_claim(void *own, const char *token, char *words);
enum store_outcome pg_watch_load(void *own, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                 store_pass_fn *pass, void *context, char *words);
enum store_outcome pg_watch_is_mine(void *own, const char *token, bool *mine, char *words);
enum store_outcome pg_watch_save(void *own, const struct store_watch *watch, size_t first, const char *const *alarm,
                                 size_t count, char *words);
enum store_outcome pg_watch_pass(void *own, size_t event, smurf_moment moment, char *words);

#endif
