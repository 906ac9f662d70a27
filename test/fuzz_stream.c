/* fuzz_stream.c - any bytes as a stream, in chunks of any size: what can be read whole comes the same bit by bit. */
#include "fuzz.h"
#include "stream_case.h"

/* Reads all of it; going on after errors comes to an end. Returns the status of the first error. */
static smurf_status read_pieces(const uint8_t *bytes, size_t size, size_t chunk, size_t most, const char *format,
                                const smurf_data *whole)
{
    struct arriving arriving = {.text = (const char *)bytes, .size = size, .chunk = chunk};
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = format;
    config.as = whole ? smurf_data_reading(whole) : NULL;
    config.types_are_words = whole && smurf_data_type_name(whole, 0);
    smurf_stream *stream;
    smurf_error err;
    smurf_status first = smurf_stream_new_reader(&stream, arriving_read, &arriving, "fuzz", &config, &err);
    if (first) return first;
    size_t *at = calloc(whole ? smurf_data_sequences(whole) : 1, sizeof *at), finished = 0, errors = 0;
    for (;;) {
        const smurf_piece *piece;
        smurf_status status = smurf_stream_next(stream, most, &piece, &err);
        if (status) {
            FUZZ_MUST(!piece && err.status == status && err.message[0]);
            if (!first) first = status;
            FUZZ_MUST(++errors <= size + 4);
            continue;
        }
        if (!piece) break;
        for (size_t i = 0; i < smurf_data_sequences(piece->data); i++)
            fuzz_check_sequence(smurf_data_sequence(piece->data, i), smurf_data_types(piece->data));
        FUZZ_MUST(smurf_data_sequences(piece->data) && piece->line >= 1);
        if (whole && !first) FUZZ_MUST(take_piece(whole, at, &finished, piece));
    }
    if (whole && !first) FUZZ_MUST(all_taken(whole, at));
    free(at);
    smurf_stream_free(stream);
    return first;
}

/* The first byte chooses the format, the second the size of chunks. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const formats[] = {NULL, "csv", "jsonl", "tsv"};
    if (size < 2) return 0;
    const char *format = formats[bytes[0] % 4];
    size_t chunk = bytes[1] ? bytes[1] : 4096;
    bytes += 2;
    size -= 2;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = format;
    config.sort = 0;
    config.missing = "fail";
    smurf_data *whole;
    smurf_status status = smurf_data_read_memory(&whole, bytes, size, "fuzz", &config, NULL);
    for (size_t most = 0; most < 3; most++) {
        smurf_status got = read_pieces(bytes, size, chunk, most, format, whole);
        if (!status) FUZZ_MUST(!got);
    }
    smurf_data_free(whole);
    return 0;
}
