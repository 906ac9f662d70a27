/*
 * watched_state.c - what is watched, in a file.
 *
 *     "smurfwat" version | number of sequences, next number, whether begun, options, now | alarms | for each
 *     sequence: name, numbers, forecast
 *
 * or, where histories can be read again (watched.recall), an empty forecast after the alarms, which tells the model,
 * and for each sequence the number of its events instead of its forecast,
 *
 * and a checksum at the end. Blocks are preceded by their length. Numbers are in the machine's own format.
 */
#include "watched_own.h"

#include "fingerprint.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 2, WITHOUT_HISTORIES = 1 << 16 /* added to it */, BLOCK_MOST = 1 << 30 };
static const char magic[8] = "smurfwat";

struct numbers {
    int64_t origin;
    double last;
    uint64_t number;
    struct own own;
};

static smurf_status fail(smurf_error *err, smurf_status status, const char *path, const char *why)
{
    *err = (smurf_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s: %s", path, why);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct writer {
    FILE *file;
    fingerprint sum;
    bool failed;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) w->sum = fingerprint_number(w->sum, ((const unsigned char *)bytes)[i]);
    w->failed = w->failed || fwrite(bytes, 1, n, w->file) != n;
}

static void put_block(struct writer *w, const void *bytes, size_t n)
{
    uint64_t size = n;
    put(w, &size, sizeof size);
    put(w, bytes, n);
}

static smurf_status put_forecast(struct writer *w, const smurf_forecast *f, smurf_error *err)
{
    void *bytes;
    size_t size;
    smurf_status status = smurf_forecast_save(f, &bytes, &size, err);
    if (!status) put_block(w, bytes, size);
    smurf_free(bytes);
    return status;
}

static smurf_status put_empty(struct writer *w, const smurf_model *model, smurf_error *err)
{
    smurf_forecast *f;
    smurf_status status = smurf_forecast_new(&f, model, 0, err);
    if (!status) status = put_forecast(w, f, err);
    smurf_forecast_free(f);
    return status;
}

static smurf_status put_sequence(struct writer *w, const struct kept *k, bool histories, smurf_error *err)
{
    struct numbers n;
    memset(&n, 0, sizeof n); /* padding is written too */
    n.origin = k->origin;
    n.last = k->last;
    n.number = k->number;
    memcpy(&n.own, k->own, sizeof n.own);
    put_block(w, k->name, strlen(k->name));
    put_block(w, &n, sizeof n);
    if (histories) return put_forecast(w, k->forecast, err);
    uint64_t events = k->away ? k->away : smurf_forecast_events(k->forecast) + k->before;
    put_block(w, &events, sizeof events);
    return SMURF_OK;
}

static smurf_status put_all(struct writer *w, const struct watched *s, smurf_error *err)
{
    uint64_t head[] = {VERSION + (s->recall ? WITHOUT_HISTORIES : 0), s->kept.count, s->kept.arrived, s->begun,
                       s->options};
    void *bytes;
    size_t size;
    put(w, magic, sizeof magic);
    put(w, head, sizeof head);
    put(w, &s->now, sizeof s->now);
    smurf_status status = smurf_alarms_save(s->alarms, &bytes, &size, err);
    if (!status) put_block(w, bytes, size);
    smurf_free(bytes);
    if (!status && s->recall) status = put_empty(w, s->model, err);
    for (const struct kept *k = s->kept.oldest; k && !status; k = k->newer)
        status = put_sequence(w, k, !s->recall, err);
    fingerprint sum = w->sum;
    put(w, &sum, sizeof sum);
    return status;
}

smurf_status watched_write(const struct watched *s, FILE *file, smurf_error *err)
{
    struct writer w = {.file = file};
    smurf_status status = put_all(&w, s, err);
    return status || !w.failed ? status : fail(err, SMURF_ERROR_IO, "the state", strerror(errno));
}

smurf_status watched_save(const struct watched *s, const char *path, smurf_error *err)
{
    char *beside;
    if (asprintf(&beside, "%s.part", path) < 0) out_of_memory();
    FILE *file = fopen(beside, "wb");
    smurf_status status = file ? watched_write(s, file, err) : SMURF_OK;
    bool good = file && !status && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file && fclose(file) != 0) good = false;
    good = good && rename(beside, path) == 0;
    if (!good && !status) status = fail(err, SMURF_ERROR_IO, path, strerror(errno));
    if (!good) unlink(beside);
    free(beside);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct reader {
    FILE *file;
    fingerprint sum;
    bool other_options;
};

static bool get(struct reader *r, void *bytes, size_t n)
{
    if (fread(bytes, 1, n, r->file) != n) return false;
    for (size_t i = 0; i < n; i++) r->sum = fingerprint_number(r->sum, ((const unsigned char *)bytes)[i]);
    return true;
}

/* A block, followed by a NUL; NULL if there is none. Read piece by piece: a wrong length takes no memory. */
static char *get_block(struct reader *r, size_t *size)
{
    enum { PIECE = 1 << 16 };
    uint64_t n;
    char *bytes = NULL;
    if (!get(r, &n, sizeof n) || n > BLOCK_MOST) return NULL;
    *size = (size_t)n;
    for (size_t at = 0;;) {
        size_t piece = *size - at < PIECE ? *size - at : PIECE;
        char *more = realloc(bytes, at + piece + 1);
        if (!more) out_of_memory();
        bytes = more;
        if (!get(r, bytes + at, piece)) return free(bytes), NULL;
        at += piece;
        bytes[at] = '\0';
        if (at == *size) return bytes;
    }
}

/* The forecast of a block, or the number of events to be read again. */
static bool take_history(struct watched *s, struct kept *k, const char *bytes, size_t size, smurf_error *err)
{
    smurf_forecast *forecast;
    uint64_t events;
    if (s->recall) {
        if (size != sizeof events) return false;
        memcpy(&events, bytes, sizeof events);
        k->away = (size_t)events;
        return true;
    }
    if (smurf_forecast_restore(&forecast, s->model, bytes, size, err)) return false;
    smurf_forecast_free(k->forecast);
    k->forecast = forecast;
    smurf_forecast_rest(forecast);
    return true;
}

static bool get_sequence(struct reader *r, struct watched *s, smurf_error *err)
{
    size_t name_size, size, history_size;
    struct numbers n;
    struct kept *dropped, *k = NULL;
    char *name = get_block(r, &name_size), *numbers = name ? get_block(r, &size) : NULL;
    char *history = numbers && size == sizeof n ? get_block(r, &history_size) : NULL;
    bool good = history && strlen(name) == name_size;
    if (good) {
        memcpy(&n, numbers, sizeof n);
        k = kept_find(&s->kept, name, n.origin, &dropped);
        kept_free(dropped);
        if (!k || k->own || !(k->own = malloc(sizeof n.own))) out_of_memory();
        k->last = n.last;
        k->number = n.number;
        memcpy(k->own, &n.own, sizeof n.own);
        own_of(k)->waits = 0;
        good = take_history(s, k, history, history_size, err);
        if (good && n.own.waits) watched_put_back(s, k);
    }
    free(name), free(numbers), free(history);
    return good;
}

/* Fails for another model. */
static bool get_empty(struct reader *r, const smurf_model *model, smurf_error *err)
{
    size_t size;
    smurf_forecast *f = NULL;
    char *bytes = get_block(r, &size);
    bool good = bytes && !smurf_forecast_restore(&f, model, bytes, size, err);
    free(bytes);
    smurf_forecast_free(f);
    return good;
}

static bool get_all(struct reader *r, struct watched *s, smurf_error *err)
{
    char start[sizeof magic];
    uint64_t head[5];
    size_t size;
    if (!get(r, start, sizeof start) || memcmp(start, magic, sizeof magic) != 0) return false;
    if (!get(r, head, sizeof head) || head[0] != VERSION + (s->recall ? WITHOUT_HISTORIES : 0u) ||
        !get(r, &s->now, sizeof s->now))
        return false;
    r->other_options = head[4] != s->options;
    if (r->other_options) return false;
    char *bytes = get_block(r, &size);
    smurf_alarms *alarms = NULL;
    bool good = bytes && !smurf_alarms_restore(&alarms, bytes, size, err);
    free(bytes);
    if (!good) return false;
    smurf_alarms_free(s->alarms);
    s->alarms = alarms;
    s->begun = head[3] != 0;
    if (s->recall && !get_empty(r, s->model, err)) return false;
    s->kept.most = 0; /* as many as there were */
    for (uint64_t i = 0; i < head[1]; i++)
        if (!get_sequence(r, s, err)) return false;
    s->kept.arrived = head[2];
    fingerprint sum = r->sum, stored;
    return get(r, &stored, sizeof stored) && stored == sum && fgetc(r->file) == EOF;
}

smurf_status watched_read(struct watched *s, FILE *file, const char *path, smurf_error *err)
{
    struct reader r = {.file = file};
    size_t most = s->kept.most;
    err->message[0] = '\0';
    bool good = get_all(&r, s, err);
    s->kept.most = most;
    if (good) return SMURF_OK;
    if (r.other_options)
        return fail(err, SMURF_ERROR_INPUT, path,
                    "the state was begun with other options (--alarms-per-day, --day, --no-adapt, --history, "
                    "--no-recalibrate): give those, or remove the file to start anew");
    if (*err->message && err->status == SMURF_ERROR_ARGUMENT)
        return fail(err, SMURF_ERROR_INPUT, path,
                    "the state is that of another model: remove the file to start anew, or give that model");
    return fail(err, SMURF_ERROR_INPUT, path,
                "this is not a state of smurf watch, or it is damaged: remove the file to start anew");
}

smurf_status watched_load(struct watched *s, const char *path, smurf_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return fail(err, SMURF_ERROR_IO, path, strerror(errno));
    smurf_status status = watched_read(s, file, path, err);
    fclose(file);
    return status;
}
