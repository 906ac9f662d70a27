/* serving.c - see serving.h. */
#include "http.h"

#include "alarm_log.h"
#include "live.h"
#include "pruning.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making ------------------------------------------------------------------------------------ */

/* There is one more, or one less. Only while there is one alone are events deleted that it does not need: requests that
   are answered by an old one may need others. */
static void count(struct service *v, int change)
{
    struct pruning pruning;
    pthread_mutex_lock(&v->counting);
    v->servings += (size_t)change;
    bool prunes = v->o->keep < SIZE_MAX && v->servings == 1 && v->serving &&
                  !pruning_init(&pruning, v->serving->model, v->o->keep);
    if (v->o->keep < SIZE_MAX) store_prune(v->store, prunes ? &pruning : NULL);
    pthread_mutex_unlock(&v->counting);
}

static void serving_free(struct service *v, struct serving *s)
{
    if (!s) return;
    alarm_log_free(s->alarms);
    standing_free(s->standing);
    types_free(s->types);
    smurf_model_free(s->model);
    free(s);
    count(v, -1);
}

/* Without alarms. Takes over the model. NULL: out of memory. */
static struct serving *serving_new(struct service *v, smurf_model *model)
{
    struct serving *s = calloc(1, sizeof *s);
    if (!s) {
        smurf_model_free(model);
        return NULL;
    }
    count(v, 1);
    s->model = model;
    s->users = 1;
    s->types = types_new(model);
    if (s->types) s->standing = standing_new(model, s->types, v->store, v->o);
    if (s->standing) return s;
    serving_free(v, s);
    return NULL;
}

int serving_begin(struct service *v, smurf_model *model)
{
    pthread_mutex_init(&v->lock, NULL);
    pthread_mutex_init(&v->reloading, NULL);
    pthread_mutex_init(&v->counting, NULL);
    v->serving = serving_new(v, model);
    count(v, 0);
    return v->serving ? 0 : report_failure("out of memory");
}

int serving_begin_alarms(struct service *v)
{
    struct serving *s = v->serving;
    if (!v->o->per_day) return 0;
    int status = alarm_log_new(&s->alarms, s->model, s->types, v->store, v->o, v->live);
    return status ? status : alarm_log_start(s->alarms);
}

void serving_end_alarms(struct service *v)
{
    if (v->serving && v->serving->alarms) alarm_log_stop(v->serving->alarms);
}

void serving_end(struct service *v)
{
    struct serving *s = v->serving;
    v->serving = NULL;
    serving_free(v, s);
    pthread_mutex_destroy(&v->lock);
    pthread_mutex_destroy(&v->counting);
    pthread_mutex_destroy(&v->reloading);
}

/* ---- Using ------------------------------------------------------------------------------------- */

struct serving *serving_take(struct service *v)
{
    pthread_mutex_lock(&v->lock);
    struct serving *s = v->serving;
    s->users++;
    pthread_mutex_unlock(&v->lock);
    return s;
}

void serving_drop(struct service *v, struct serving *s)
{
    if (!s) return;
    pthread_mutex_lock(&v->lock);
    bool last = --s->users == 0;
    pthread_mutex_unlock(&v->lock);
    if (last) serving_free(v, s);
}

/* ---- Another model ----------------------------------------------------------------------------- */

static bool refuse(smurf_error *err, smurf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(smurf_error *err, smurf_status status, const char *format, ...)
{
    va_list args;
    *err = (smurf_error){.status = status};
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

enum { PAGE = 1000 };

struct suffices {
    const struct standing *standing;
    size_t count;
    char last[EVENT_NAME_MOST + 1];
    bool good;
};

static int check_sequence(void *context, const char *name, const struct store_sequence *sequence)
{
    struct suffices *s = context;
    s->good = standing_suffices(s->standing, sequence);
    s->count++;
    snprintf(s->last, sizeof s->last, "%s", name);
    return !s->good;
}

/* Whether the events that are kept are enough, of all sequences. */
static bool suffice(struct service *v, const struct standing *standing, smurf_error *err)
{
    struct suffices s = {.standing = standing, .count = PAGE, .good = true};
    char after[sizeof s.last];
    while (s.good && s.count == PAGE) {
        s.count = 0;
        memcpy(after, s.last, sizeof after);
        if (store_list(v->store, "", after, PAGE, check_sequence, &s) < 0)
            return refuse(err, SMURF_ERROR_IO, "the store cannot be read");
    }
    return s.good || refuse(err, SMURF_ERROR_INPUT, "it needs events of '%.200s' that are pruned", s.last);
}

/* Whether the new model knows all that the events may be, and needs none of those that are deleted. It may know more
   types. */
static bool fits(struct service *v, const struct serving *old, const struct serving *next, smurf_error *err)
{
    const smurf_model *model = next->model;
    struct pruning pruning;
    const char *why = v->o->keep < SIZE_MAX ? pruning_init(&pruning, model, v->o->keep) : NULL;
    const char *unit = model_unit(model), *before = model_unit(old->model);
    if (smurf_model_is_calendar(model) != smurf_model_is_calendar(old->model))
        return refuse(err, SMURF_ERROR_INPUT, "its times are %s, but those of the model in use are %s",
                      smurf_model_is_calendar(model) ? "dates" : "numbers",
                      smurf_model_is_calendar(model) ? "numbers" : "dates");
    if (smurf_model_columns(model))
        return refuse(err, SMURF_ERROR_INPUT,
                      "it sees further columns, such as '%.100s', which the service does not take",
                      smurf_model_column_name(model, 0));
    if (strcmp(unit, before) != 0)
        return refuse(err, SMURF_ERROR_INPUT, "its unit of time is '%s', but that of the model in use is '%s'", unit,
                      before);
    for (uint32_t k = 0; k < smurf_model_types(old->model); k++) {
        char number[24];
        const char *name = type_text(number, old->model, k);
        if (types_find(next->types, name) == smurf_model_types(model))
            return refuse(err, SMURF_ERROR_INPUT, "it does not know the type '%.200s' of the model in use", name);
    }
    if (why) return refuse(err, SMURF_ERROR_INPUT, "with --keep-events, it must not need all events, for %s", why);
    return suffice(v, next->standing, err);
}

/* Alarms are found anew, as after a start with the new model. */
static bool follow(struct service *v, const struct serving *old, struct serving *next, smurf_error *err)
{
    if (!old->alarms) return true;
    alarm_log_stop(old->alarms);
    if (!alarm_log_new(&next->alarms, next->model, next->types, v->store, v->o, v->live) &&
        !alarm_log_start(next->alarms))
        return true;
    alarm_log_start(old->alarms);
    return refuse(err, SMURF_ERROR_MEMORY, "its alarms cannot be followed");
}

static bool reload(struct service *v, smurf_error *err)
{
    smurf_model *model;
    struct serving *old = v->serving;
    if (smurf_model_load(&model, v->o->model, err)) return false;
    struct serving *next = serving_new(v, model);
    if (!next) return refuse(err, SMURF_ERROR_MEMORY, "out of memory");
    if (!fits(v, old, next, err) || !follow(v, old, next, err)) {
        serving_free(v, next);
        return false;
    }
    pthread_mutex_lock(&v->lock);
    v->serving = next;
    pthread_mutex_unlock(&v->lock);
    serving_drop(v, old);
    report_misses(next->model);
    return true;
}

bool serving_reload(struct service *v, smurf_error *err)
{
    pthread_mutex_lock(&v->reloading);
    bool done = reload(v, err);
    if (done) v->reloads++;
    if (done) live_tell(v->live, "model", "{\"reloaded\":true}");
    pthread_mutex_unlock(&v->reloading);
    if (done)
        report_done("the model in %s is used from now on", v->o->model);
    else
        report_failure("the model in %s is not used, the old one stays: %s", v->o->model, err->message);
    return done;
}
