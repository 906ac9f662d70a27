/* fuzz_sqlite.c - any bytes behind the magic ones, read as an SQLite file: whatever SQLite makes of them, there are
   events or an error. */
#include "fuzz.h"

#include <unistd.h>

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

/* A view may have rows without end. */
static int enough(void *context, const smurf_progress *progress)
{
    (void)progress;
    return ++*(int *)context > 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char magic[16] = "SQLite format 3";
    if (size < sizeof magic) return 0;
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/smurf-fuzz-%ld.db", (long)getpid());
        atexit(remove_file);
    }
    FILE *file = fopen(path, "wb");
    size_t rest = size - sizeof magic;
    FUZZ_MUST(file && fwrite(magic, 1, sizeof magic, file) == sizeof magic);
    FUZZ_MUST(fwrite(bytes + sizeof magic, 1, rest, file) == rest && fclose(file) == 0);
    int calls = 0;
    smurf_error err = {0};
    smurf_data *data = NULL;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.progress = enough;
    config.progress_context = &calls;
    smurf_status status = smurf_data_read(&data, path, &config, &err);
    if (status != SMURF_ERROR_CANCELLED) fuzz_check(status, data, &err);
    return 0;
}
