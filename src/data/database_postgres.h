/* database_postgres.h - the part of libpq's interface that database_postgres.c uses. */
#ifndef SMURF_DATA_DATABASE_POSTGRES_H
#define SMURF_DATA_DATABASE_POSTGRES_H

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;

#ifdef LIBPQ_FE_H
#define PG_CONN_STATUS   ConnStatusType
#define PG_RESULT_STATUS ExecStatusType
#define PG_OID           Oid
#else
#define PG_CONN_STATUS   int
#define PG_RESULT_STATUS int
#define PG_OID           unsigned
#endif

/* Name without its prefix, result, arguments. */
#define POSTGRES_FUNCTIONS(F)                                                                                          \
    F(cancel, int, PGcancel *, char *, int)                                                                            \
    F(clear, void, PGresult *)                                                                                         \
    F(connectdbParams, PGconn *, const char *const *, const char *const *, int)                                        \
    F(connectionNeedsPassword, int, const PGconn *)                                                                    \
    F(consumeInput, int, PGconn *)                                                                                     \
    F(errorMessage, char *, const PGconn *)                                                                            \
    F(finish, void, PGconn *)                                                                                          \
    F(fname, char *, const PGresult *, int)                                                                            \
    F(freeCancel, void, PGcancel *)                                                                                    \
    F(ftype, PG_OID, const PGresult *, int)                                                                            \
    F(getCancel, PGcancel *, PGconn *)                                                                                 \
    F(getResult, PGresult *, PGconn *)                                                                                 \
    F(getisnull, int, const PGresult *, int, int)                                                                      \
    F(getlength, int, const PGresult *, int, int)                                                                      \
    F(getvalue, char *, const PGresult *, int, int)                                                                    \
    F(isBusy, int, PGconn *)                                                                                           \
    F(nfields, int, const PGresult *)                                                                                  \
    F(ntuples, int, const PGresult *)                                                                                  \
    F(resultErrorField, char *, const PGresult *, int)                                                                 \
    F(resultStatus, PG_RESULT_STATUS, const PGresult *)                                                                \
    F(sendQueryParams, int, PGconn *, const char *, int, const PG_OID *, const char *const *, const int *,             \
      const int *, int)                                                                                                \
    F(socket, int, const PGconn *)                                                                                     \
    F(status, PG_CONN_STATUS, const PGconn *)

#ifndef LIBPQ_FE_H
enum { CONNECTION_OK = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };
enum { PG_DIAG_SQLSTATE = 'C', PG_DIAG_MESSAGE_PRIMARY = 'M', PG_DIAG_MESSAGE_HINT = 'H' };
#endif

#endif
