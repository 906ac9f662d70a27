/* stream.c - says what arrives on standard input, event by event.
   cc stream.c $(pkg-config --cflags --libs smurf) -o stream */
#include <smurf.h>
#include <stdio.h>

int main(void)
{
    smurf_error err;
    smurf_stream *stream;
    const smurf_piece *piece;
    smurf_status status = smurf_stream_new(&stream, "-", NULL, &err);
    if (status) {
        puts(err.message);
        return 1;
    }
    while (!(status = smurf_stream_next(stream, 1, &piece, &err)) && piece) {
        const smurf_sequence *s = smurf_data_sequence(piece->data, 0);
        printf("%s at %g\n", s->name ? s->name : "-", (double)s->origin + s->time[s->length - 1]);
    }
    if (status) puts(err.message);
    smurf_stream_free(stream);
    return status != SMURF_OK;
}
