/* stream.c - see stream.h. */
#include "stream.h"

#include "terminal.h"

static int stop_when_asked(void *context, const smurf_progress *progress)
{
    (void)context, (void)progress;
    return terminal_stopped();
}

int stream_input(const struct dataset_options *options, stream_fn *take, void *context)
{
    smurf_read_config config;
    smurf_stream *stream;
    smurf_error err;
    dataset_read_config(&config, options);
    config.progress = stop_when_asked;
    if (smurf_stream_new(&stream, "-", &config, &err)) return report_error(&err);
    int status = 0;
    for (const smurf_piece *piece; !status;) {
        if (smurf_stream_next(stream, 0, &piece, &err))
            status = report_error(&err);
        else if (!piece)
            break;
        else
            status = take(context, piece->data, !piece->whole);
    }
    smurf_stream_free(stream);
    return status;
}
