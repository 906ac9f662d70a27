/* stream.c - see stream.h. */
#include "stream.h"

#include "terminal.h"

#include <string.h>

static int stop_when_asked(void *context, const smurf_progress *progress)
{
    (void)context, (void)progress;
    return terminal_stopped();
}

/* Nothing can be read at all: that is no matter of single records. */
enum { BAD_MOST = 100 };

static bool is_strict(const smurf_read_config *config)
{
    const char *missing = config->missing ? config->missing : config->as ? config->as->missing : NULL;
    return !config->sort || (missing && strcmp(missing, "fail") == 0);
}

static void tell(struct stream *s, const char *message)
{
    if (!s->told) report_warning("%s; such records are left out (--strict stops at them)", message);
    s->told = true;
}

int stream_leave_out(struct stream *s, const char *message)
{
    if (s->strict) return report_failure("%s", message);
    tell(s, message);
    return 0;
}

static int pass_over(struct stream *s, const smurf_error *err)
{
    if (err->status != SMURF_ERROR_INPUT || s->strict) return report_error(err);
    if (!s->bad++) s->first = *err;
    if (s->taken) tell(s, err->message);
    return s->taken || s->bad < BAD_MOST ? 0 : report_error(&s->first);
}

int stream_input(struct stream *s, const struct dataset_options *options, stream_fn *take, void *context)
{
    smurf_read_config config;
    smurf_stream *stream;
    smurf_error err;
    dataset_read_config(&config, options);
    config.progress = stop_when_asked;
    if (smurf_stream_new(&stream, "-", &config, &err)) return report_error(&err);
    *s = (struct stream){.strict = is_strict(&config)};
    int status = 0;
    for (const smurf_piece *piece; !status;) {
        if (smurf_stream_next(stream, 0, &piece, &err)) {
            status = pass_over(s, &err);
            continue;
        }
        if (!piece) break;
        if (s->bad) tell(s, s->first.message);
        s->taken = true;
        status = take(context, piece->data, !piece->whole);
    }
    if (!status && s->bad && !s->taken) status = report_error(&s->first);
    smurf_stream_free(stream);
    return status;
}
