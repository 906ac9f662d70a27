/* store_postgres_watch.c - what is watched, in a store in PostgreSQL. */
#include "store_postgres.h"

#include <stdlib.h>
#include <string.h>

static struct pg_side *writer(void *own)
{
    return &((struct pg_store *)own)->write;
}

static enum store_outcome ask(void *own, const char *text, struct pg_parameters *p, PGresult **out, char *words)
{
    enum store_outcome outcome = pg_ask(writer(own), text, p, out);
    if (outcome) memcpy(words, writer(own)->words, STORE_WORDS);
    return outcome;
}

enum store_outcome pg_watch_claim(void *own, const char *token, char *words)
{
    struct pg_parameters p = {0};
    pg_put_text(&p, token);
    return ask(own,
               "INSERT INTO smurf_watch(one, token, event, alarms) VALUES(1, $1, 0, 0)"
               " ON CONFLICT(one) DO UPDATE SET token = $1",
               &p, NULL, words);
}

enum store_outcome pg_watch_is_mine(void *own, const char *token, bool *mine, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    pg_put_text(&p, token);
    enum store_outcome outcome = ask(own, "SELECT 1 FROM smurf_watch WHERE token = $1", &p, &r, words);
    if (outcome) return outcome;
    *mine = pg.ntuples(r) == 1;
    pg.clear(r);
    return STORE_DONE;
}

/* The state alone is read as bytes. */
static enum store_outcome load_state(void *own, struct store_watch *out)
{
    PGresult *r;
    enum store_outcome outcome =
        pg_take_bytes(writer(own), "SELECT state FROM smurf_watch WHERE state IS NOT NULL", &r);
    if (outcome) return outcome;
    if (pg.ntuples(r)) {
        out->size = (size_t)pg.getlength(r, 0, 0);
        out->state = malloc(out->size + 1);
        if (out->state) memcpy(out->state, pg.getvalue(r, 0, 0), out->size);
        if (!out->state) outcome = STORE_MEMORY;
    }
    pg.clear(r);
    return outcome;
}

enum store_outcome pg_watch_load(void *own, struct store_watch *out, size_t last, store_alarm_fn *alarm,
                                 store_pass_fn *pass, void *context, char *words)
{
    struct pg_parameters p = {0};
    PGresult *r;
    enum store_outcome outcome = load_state(own, out);
    if (!outcome) outcome = pg_run(writer(own), "SELECT event, alarms FROM smurf_watch", &r);
    if (outcome) return outcome;
    out->event = (size_t)pg_number_at(r, 0, 0);
    out->alarms = (size_t)pg_number_at(r, 0, 1);
    pg.clear(r);
    pg_put_number(&p, (int64_t)last);
    outcome = ask(own,
                  "SELECT number, text FROM smurf_alarm WHERE number > (SELECT alarms FROM smurf_watch) - $1::bigint"
                  " AND number <= (SELECT alarms FROM smurf_watch) ORDER BY number",
                  &p, &r, words);
    if (outcome) return outcome;
    for (int i = 0; i < pg.ntuples(r) && !outcome; i++)
        if (alarm(context, (size_t)pg_number_at(r, i, 0), pg.getvalue(r, i, 1))) outcome = STORE_MEMORY;
    pg.clear(r);
    if (!outcome) outcome = pg_run(writer(own), "SELECT event, whole, fraction FROM smurf_pass ORDER BY number", &r);
    if (outcome) return outcome;
    for (int i = 0; i < pg.ntuples(r) && !outcome; i++)
        if (pass(context, (size_t)pg_number_at(r, i, 0), pg_moment_at(r, i, 1))) outcome = STORE_MEMORY;
    pg.clear(r);
    return outcome;
}

enum store_outcome pg_watch_save(void *own, const struct store_watch *watch, size_t first, const char *const *alarm,
                                 size_t n, char *words)
{
    struct pg_parameters p = {0};
    pg_put_number(&p, (int64_t)watch->event);
    pg_put_number(&p, (int64_t)watch->alarms);
    enum store_outcome outcome =
        pg_give_bytes(writer(own),
                      watch->state ? "UPDATE smurf_watch SET event = $1::bigint, alarms = $2::bigint, state = $3::bytea"
                                   : "UPDATE smurf_watch SET event = $1::bigint, alarms = $2::bigint, state = NULL",
                      &p, watch->state, watch->size);
    for (size_t i = 0; i < n && !outcome; i++) {
        pg_put_number(&p, (int64_t)(first + i));
        pg_put_text(&p, alarm[i]);
        outcome = ask(own, "INSERT INTO smurf_alarm VALUES($1::bigint, $2) ON CONFLICT(number) DO UPDATE SET text = $2",
                      &p, NULL, words);
    }
    return outcome ? outcome : pg_run(writer(own), "DELETE FROM smurf_pass", NULL);
}

enum store_outcome pg_watch_pass(void *own, size_t event, smurf_moment moment, char *words)
{
    struct pg_parameters p = {0};
    pg_put_number(&p, (int64_t)event);
    pg_put_moment(&p, moment);
    return ask(own,
               "INSERT INTO smurf_pass(event, whole, fraction) VALUES($1::bigint, $2::bigint, $3::double precision)",
               &p, NULL, words);
}
