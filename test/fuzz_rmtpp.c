/* fuzz_rmtpp.c - two texts, times and types, with the first byte 0xFF between them. */
#include "data/rmtpp.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *cut = size ? memchr(bytes, 0xFF, size) : NULL;
    size_t before = cut ? (size_t)(cut - bytes) : size, after = cut ? size - before - 1 : 0;
    smurf_error err = {0};
    smurf_data *data = NULL;
    struct builder builder = {.name = "fuzz"};
    struct source times, events;
    smurf_status status = smurf_source_open_memory(&times, bytes, before, "times", &err);
    if (!status) {
        status = smurf_source_open_memory(&events, bytes + size - after, after, "events", &err);
        if (!status) {
            status = smurf_rmtpp_read_pair(&times, &events, &builder, &err);
            smurf_source_close(&events);
        }
        smurf_source_close(&times);
    }
    if (!status) status = smurf_builder_finish(&builder, &data, &err);
    smurf_builder_release(&builder);
    fuzz_check(status, data, &err);
    return 0;
}
