/* service.c - starts what a service consists of, and ends it. */
#include "http.h"

#include "live.h"
#include "pruning.h"
#include "terminal.h"

#include <string.h>
#include <time.h>

/* Signals are left to this thread, which waits for them: see server_run(). */
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

static int run(struct service *v, smurf_model *model)
{
    const struct serve_options *o = v->o;
    struct pruning pruning;
    struct store_options store = {
        .address = o->store, .calendar = v->calendar, .most = o->sequences, .late = strcmp(o->late, "insert") == 0};
    const char *why = o->keep < SIZE_MAX ? pruning_init(&pruning, model, o->keep) : NULL;
    int status = why ? report_failure("--keep-events deletes nothing: the model needs all events, for %s", why)
                     : store_open(&v->store, &store);
    if (status) {
        smurf_model_free(model);
        return status;
    }
    status = serving_begin(v, model);
    if (!status) status = live_new(&v->live, v);
    if (!status) status = serving_begin_alarms(v);
    if (!status && o->store)
        report_done("%zu events of %zu sequences are stored in %s", store_events(v->store), store_sequences(v->store),
                    o->store);
    else if (!status)
        report_done("events are kept in memory only, and are gone when the service ends (--store FILE keeps them)");
    if (!status) status = server_run(v);
    serving_end_alarms(v);
    live_free(v->live);
    serving_end(v);
    return status;
}

int service_run(const struct serve_options *options, smurf_model *model)
{
    struct service v = {.o = options, .calendar = smurf_model_is_calendar(model)};
    int status = load_libraries();
    if (status) {
        smurf_model_free(model);
        return status;
    }
    block_signals(&v);
    report_misses(model);
    v.started = time(NULL);
    status = run(&v, model);
    store_close(v.store);
    return status;
}

const char *service_feature(void)
{
    return " serve";
}
