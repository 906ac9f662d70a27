/*
 * database.h - a table or a query of a database, as rows of text.
 *
 * An SQLite file is recognised by its content, a PostgreSQL database by its address. database.c chooses the table and
 * writes its rows as CSV into a source, so columns and times are found, and rows read, as those of files. What differs
 * between databases is in database_sqlite.c and database_postgres.c, which load the library of theirs on demand.
 */
#ifndef SMURF_DATA_DATABASE_H
#define SMURF_DATA_DATABASE_H

#include "data/builder.h"
#include "data/field.h"
#include "data/source.h"

/* An open connection, which only reads. */
struct database {
    const struct database_class *class;
    struct progress *progress; /* told now and then while a query runs */
    size_t columns;            /* of the query */
};

/* Messages carry no location, but those of `open` name the database. */
struct database_class {
    const char *name; /* as the format of a smurf_reading */
    const char *list; /* the query for all tables: name, full name, quoted for SQL */
    /* After a failure there is nothing to close. name: for messages. */
    smurf_status (*open)(struct database **out, const char *path, const char *name, struct progress *progress,
                         smurf_error *err);
    /* Starts a query, which must be one that only reads, in place of the one before. */
    smurf_status (*select)(struct database *database, const char *sql, smurf_error *err);
    const char *(*column)(struct database *database, size_t i);
    /* The next row; *row is false after the last. */
    smurf_status (*step)(struct database *database, bool *row, smurf_error *err);
    /* A cell of the row as text, valid until the next call; NULL is empty. Bytes that are no text are an error. */
    smurf_status (*cell)(struct database *database, size_t i, struct field *out, smurf_error *err);
    void (*close)(struct database *database);
};
extern const struct database_class smurf_database_sqlite, smurf_database_postgres;

/* What reads the path; NULL: it is no database. */
const struct database_class *smurf_database_of(const char *path);
/* Opens a source of the rows that config asks for. name: the path without its password. */
smurf_status smurf_database_source(struct source *source, const struct database_class *class, const char *path,
                                   const char *name, const smurf_read_config *config, smurf_error *err);
/* Records in the builder which table or query a source of rows has. */
smurf_status smurf_database_note(struct builder *builder, const struct source *source, smurf_error *err);

/* The error for a cell of bytes. */
smurf_status smurf_database_bytes(struct database *database, size_t i, smurf_error *err);

/* Is this the address of a PostgreSQL database? */
bool smurf_address_is(const char *path);
/* Is it clear where its password begins and ends? */
bool smurf_address_is_clear(const char *address);

#endif
