/* service.c - starts what a service consists of, and ends it. */
#include "http.h"

#include "alarm_log.h"
#include "terminal.h"

#include <time.h>

/* Signals that ask to stop are left to this thread, which waits for them: see server_run(). */
static void block_signals(struct service *v)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &stop, &v->signals);
}

static int run(struct service *v)
{
    const struct serve_options *o = v->o;
    int status = store_open(&v->store, o->store, v->calendar, o->sequences);
    if (status) return status;
    v->standing = standing_new(v->model, v->types, v->store, o->history, o->raw);
    if (!v->standing) out_of_memory();
    if (o->per_day) status = alarm_log_new(&v->alarms, v->model, v->types, v->store, o);
    if (!status && o->store)
        report_done("%zu events of %zu sequences are stored in %s", store_events(v->store), store_sequences(v->store),
                    o->store);
    else if (!status)
        report_done("events are kept in memory only, and are gone when the service ends (--store FILE keeps them)");
    if (!status) status = server_run(v);
    alarm_log_free(v->alarms);
    standing_free(v->standing);
    return status;
}

int service_run(const struct serve_options *options, smurf_model *model)
{
    struct service v = {.o = options, .model = model, .calendar = smurf_model_is_calendar(model)};
    int status = load_libraries();
    if (status) return status;
    block_signals(&v);
    report_misses(model);
    v.started = time(NULL);
    v.types = types_new(model);
    if (!v.types) out_of_memory();
    status = run(&v);
    store_close(v.store);
    types_free(v.types);
    return status;
}

const char *service_feature(void)
{
    return " serve";
}
