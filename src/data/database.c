/* database.c - see database.h. Chooses the table; writes rows as CSV. */
#include "data/database.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Which database ---------------------------------------------------------------------------- */

static bool is_sqlite(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic];
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    if (fd >= 0) close(fd);
    return is;
}

const struct database_class *smurf_database_of(const char *path)
{
    if (smurf_address_is(path)) return &smurf_database_postgres;
    return is_sqlite(path) ? &smurf_database_sqlite : NULL;
}

/* ---- Rows as CSV ------------------------------------------------------------------------------- */

/* What a source of rows takes them from. */
struct feed {
    struct database *db; /* owned */
    const char *name;    /* of the database, for messages; borrowed */
    char *table, *query; /* owned; one is NULL */
    uint64_t rows;       /* so far */
    bool ended;
    char *text; /* owned: rows not yet taken */
    size_t at, n, room;
};

static void release(void *context)
{
    struct feed *f = context;
    if (f->db) f->db->class->close(f->db);
    free(f->table);
    free(f->query);
    free(f->text);
    free(f);
}

static smurf_status add(struct feed *f, const char *text, size_t n, smurf_error *err)
{
    if (!smurf_grow(&f->text, &f->room, f->n + n, 1)) return smurf_fail_memory(err);
    if (n) memcpy(f->text + f->n, text, n);
    f->n += n;
    return SMURF_OK;
}

static smurf_status add_quoted(struct feed *f, const char *text, size_t n, smurf_error *err)
{
    smurf_status status = add(f, "\"", 1, err);
    for (const char *end = text + n; text < end && !status;) {
        const char *quote = memchr(text, '"', (size_t)(end - text));
        status = add(f, text, (size_t)((quote ? quote + 1 : end) - text), err);
        if (quote && !status) status = add(f, "\"", 1, err);
        text = quote ? quote + 1 : end;
    }
    return status ? status : add(f, "\"", 1, err);
}

static bool is_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r') return false;
    return true;
}

/* A row of a single empty cell needs its quotes, lest the line is empty. */
static smurf_status add_cell(struct feed *f, const struct field *cell, smurf_error *err)
{
    if (is_plain(cell->text, cell->n) && (cell->n || f->db->columns > 1)) return add(f, cell->text, cell->n, err);
    return add_quoted(f, cell->text, cell->n, err);
}

/* Names are in quotes: one may begin with '#'. */
static smurf_status add_names(struct feed *f, smurf_error *err)
{
    struct database *db = f->db;
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < db->columns && !status; i++) {
        const char *name = db->class->column(db, i);
        if (i) status = add(f, ",", 1, err);
        if (!status) status = name ? add_quoted(f, name, strlen(name), err) : smurf_fail_memory(err);
    }
    return status ? status : add(f, "\n", 1, err);
}

static smurf_status no_rows(const struct feed *f, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_INPUT, "%s%.200s%s has no rows (expected one row per event)",
                      f->table ? "the table '" : "the query", f->table ? f->table : "", f->table ? "'" : "");
}

static smurf_status add_row(struct feed *f, smurf_error *err)
{
    struct database *db = f->db;
    bool row = false;
    struct field cell;
    smurf_status status = db->class->step(db, &row, err);
    f->ended = !row;
    if (!status && !row && !f->rows) status = no_rows(f, err);
    if (status || !row) return status;
    f->rows++;
    for (size_t i = 0; i < db->columns && !status; i++) {
        if (i) status = add(f, ",", 1, err);
        if (!status) status = db->class->cell(db, i, &cell, err);
        if (!status) status = add_cell(f, &cell, err);
    }
    if (!status) status = add(f, "\n", 1, err);
    return smurf_error_place(err, status, f->name, f->rows);
}

static smurf_status pull(void *context, char *out, size_t room, size_t *got, smurf_error *err)
{
    enum { PIECE = 1 << 16 };
    struct feed *f = context;
    smurf_status status = SMURF_OK;
    if (f->at == f->n) f->at = f->n = 0;
    while (!f->at && f->n < PIECE && !f->ended && !status) {
        status = add_row(f, err);
        if (f->ended) status = smurf_error_place(err, status, f->name, 0);
    }
    *got = f->n - f->at < room ? f->n - f->at : room;
    memcpy(out, f->text + f->at, *got);
    f->at += *got;
    return status;
}

smurf_status smurf_database_bytes(struct database *db, size_t i, smurf_error *err)
{
    const char *name = db->class->column(db, i);
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "column '%.60s' holds bytes rather than text (leave it out: --query 'SELECT ...' with the other "
                      "columns)",
                      name ? name : "");
}

/* ---- Which table ------------------------------------------------------------------------------- */

enum { NAMES_SHOWN = 300 };

struct tables {
    struct arena text;
    struct table_name {
        const char *name, *full, *sql;
    } * table;
    size_t count, room;
};

static smurf_status take_table(struct tables *t, struct database *db, smurf_error *err)
{
    struct table_name name;
    const char **part[] = {&name.name, &name.full, &name.sql};
    struct field cell;
    for (size_t i = 0; i < 3; i++) {
        smurf_status status = db->class->cell(db, i, &cell, err);
        if (status) return status;
        if (!(*part[i] = smurf_arena_text(&t->text, cell.text, cell.n))) return smurf_fail_memory(err);
    }
    if (!smurf_grow(&t->table, &t->room, t->count + 1, sizeof *t->table)) return smurf_fail_memory(err);
    t->table[t->count++] = name;
    return SMURF_OK;
}

static smurf_status list_tables(struct tables *t, struct database *db, smurf_error *err)
{
    bool row = true;
    smurf_status status = db->class->select(db, db->class->list, err);
    while (!status && row) {
        status = db->class->step(db, &row, err);
        if (!status && row) status = take_table(t, db, err);
    }
    return status;
}

static void release_tables(struct tables *t)
{
    smurf_arena_release(&t->text);
    free(t->table);
}

/* "a, b and c", cut off where it gets long. */
static const char *show_tables(char out[NAMES_SHOWN], const struct tables *t)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < t->count && used < NAMES_SHOWN; i++)
        used += (size_t)snprintf(out + used, NAMES_SHOWN - used, "%s%s",
                                 i == 0              ? ""
                                 : i == t->count - 1 ? " and "
                                                     : ", ",
                                 t->table[i].name);
    if (used >= NAMES_SHOWN) memcpy(out + NAMES_SHOWN - 4, "...", 4);
    return out;
}

/* As it is written or, if there is none, with other capitals. */
static const struct table_name *find_table(const struct tables *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->table[i].name, name) == 0 || strcmp(t->table[i].full, name) == 0) return &t->table[i];
    for (size_t i = 0; i < t->count; i++)
        if (strcasecmp(t->table[i].name, name) == 0 || strcasecmp(t->table[i].full, name) == 0) return &t->table[i];
    return NULL;
}

/* The table that was asked for, else that of an earlier reading, else the only one. */
static smurf_status choose_table(const struct table_name **out, const struct tables *t, const smurf_read_config *config,
                                 smurf_error *err)
{
    char names[NAMES_SHOWN];
    const char *earlier = config->as ? config->as->table : NULL;
    if (t->count == 0)
        return smurf_fail(err, SMURF_ERROR_INPUT, "the database has no tables that can be read%s",
                          config->table ? " (is it the right one?)" : "");
    *out = config->table ? find_table(t, config->table) : earlier ? find_table(t, earlier) : NULL;
    if (*out) return SMURF_OK;
    if (config->table)
        return smurf_fail(err, SMURF_ERROR_INPUT, "there is no table '%.100s' (there %s %s)", config->table,
                          t->count == 1 ? "is only" : "are", show_tables(names, t));
    if (t->count > 1)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the database has %zu tables: name one with --table, or give a --query (there are %s)",
                          t->count, show_tables(names, t));
    *out = &t->table[0];
    return SMURF_OK;
}

static smurf_status select_table(struct feed *f, const smurf_read_config *config, smurf_error *err)
{
    struct tables tables = {0};
    const struct table_name *table;
    char *sql = NULL;
    smurf_status status = list_tables(&tables, f->db, err);
    if (!status) status = choose_table(&table, &tables, config, err);
    if (!status && (asprintf(&sql, "SELECT * FROM %s", table->sql) < 0 || !(f->table = strdup(table->name)))) {
        status = smurf_fail_memory(err);
    }
    if (!status) status = f->db->class->select(f->db, sql, err);
    free(sql);
    release_tables(&tables);
    return status;
}

static smurf_status select_query(struct feed *f, const char *query, smurf_error *err)
{
    if (!(f->query = strdup(query))) return smurf_fail_memory(err);
    smurf_status status = f->db->class->select(f->db, query, err);
    if (!status && !f->db->columns)
        status = smurf_fail(err, SMURF_ERROR_INPUT, "the query returns no columns (--query takes one SELECT)");
    return status;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

static smurf_status check_config(const char *name, const smurf_read_config *config, smurf_error *err)
{
    const smurf_reading *as = config->as;
    if (config->format)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "'%.300s' is a database, which has no format: leave --from out",
                          name);
    if (config->table && config->query)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a table and a query exclude each other: give one of them");
    if (as && as->query && !config->table && !config->query)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT,
                          "train data came from a query, and queries of model files are not run unasked: give --table "
                          "or --query again (it was: %.300s)",
                          as->query);
    return SMURF_OK;
}

smurf_status smurf_database_source(struct source *source, const struct database_class *class, const char *path,
                                   const char *name, const smurf_read_config *config, smurf_error *err)
{
    struct feed *f = NULL;
    smurf_status status = check_config(name, config, err);
    if (status) return status;
    if (!(f = calloc(1, sizeof *f))) return smurf_fail_memory(err);
    f->name = name;
    status = class->open(&f->db, path, name, source->progress, err);
    if (!status) {
        status = config->query ? select_query(f, config->query, err) : select_table(f, config, err);
        if (!status) status = add_names(f, err);
        status = smurf_error_place(err, status, name, 0);
    }
    if (!status) return smurf_source_open_rows(source, pull, release, f, name, source->progress, err);
    release(f);
    return status;
}

smurf_status smurf_database_note(struct builder *b, const struct source *source, smurf_error *err)
{
    const struct feed *f = smurf_source_rows(source);
    if (!f) return SMURF_OK;
    const char *text = f->table ? f->table : f->query, *copy = smurf_arena_text(&b->text, text, strlen(text));
    if (!copy) return smurf_fail_memory(err);
    *(f->table ? &b->reading.table : &b->reading.query) = copy;
    b->reading.format = f->db->class->name;
    return SMURF_OK;
}
