/* fuzz_time_format.c - lines of text: the first is a format, the others are cells. */
#include "data/time_format.h"
#include "fuzz.h"

enum { CELLS = 200, CELL = 128 };

/* The cells from bytes on, by a format. A time that was read is one that a data set can hold or refuse. */
static void read_cells(const struct time_format *format, const char *zone, const char *bytes, const char *end)
{
    struct time_reader reader;
    if (smurf_time_reader_init(&reader, format, zone, NULL)) return;
    for (int i = 0; i < CELLS && bytes < end; i++) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        struct decimal d;
        if (!stop) break; /* text[n] must be readable */
        if (smurf_time_read(&reader, &d, bytes, (size_t)(stop - bytes))) {
            int64_t origin;
            double offset;
            FUZZ_MUST(!isnan(smurf_decimal_value(&d)));
            FUZZ_MUST(!d.calendar || (d.exponent <= 0 && d.exponent >= -18 && !d.cut));
            if (smurf_decimal_origin(&d, &origin) && smurf_decimal_offset(&d, origin, &offset))
                FUZZ_MUST(isfinite(offset));
        }
        bytes = stop + 1;
    }
    smurf_time_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *end = bytes + size, *line = size ? memchr(bytes, '\n', size) : NULL;
    if (!line) return 0;
    char text[CELL];
    snprintf(text, sizeof text, "%.*s", (int)(line - bytes < CELL ? line - bytes : CELL - 1), bytes);
    struct time_format format, again;
    smurf_error err = {0};
    if (smurf_time_format_parse(&format, text, &err)) {
        FUZZ_MUST(err.status == SMURF_ERROR_INPUT && err.message[0]);
    } else {
        FUZZ_MUST(strcmp(format.text, text) == 0);
        read_cells(&format, NULL, line + 1, end);
        read_cells(&format, "Europe/Berlin", line + 1, end);
    }
    struct time_guess guess;
    char note[TIME_NOTE];
    smurf_time_guess_init(&guess);
    for (const char *p = line + 1, *stop; p < end && (stop = memchr(p, '\n', (size_t)(end - p))); p = stop + 1)
        smurf_time_guess_see(&guess, p, (size_t)(stop - p));
    double share = smurf_time_guess_best(&guess, &format, note);
    FUZZ_MUST(share >= 0 && share <= 1 && memchr(note, '\0', sizeof note));
    if (share > 0) {
        FUZZ_MUST(smurf_time_format_parse(&again, format.text, NULL) == SMURF_OK);
        read_cells(&again, NULL, line + 1, end);
    }
    return 0;
}
