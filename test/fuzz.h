/*
 * fuzz.h - what every data set that a reader hands out must hold, whatever the bytes were.
 *
 * For the fuzzers: each reads bytes, and passes what came out of it to fuzz_check.
 */
#ifndef SMURF_TEST_FUZZ_H
#define SMURF_TEST_FUZZ_H

#include "smurf_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_MUST(condition)                                                                                           \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline void fuzz_check_sequence(const smurf_sequence *s, uint32_t types)
{
    FUZZ_MUST(s->first <= s->length && (s->first >= 1 || s->length == 0));
    FUZZ_MUST(!isinf(s->start) && !isinf(s->end) && !(s->start > s->end));
    for (size_t i = 0; i < s->length; i++) {
        FUZZ_MUST(isfinite(s->time[i]) && s->type[i] < types);
        FUZZ_MUST(i == 0 || s->time[i - 1] <= s->time[i]);
    }
    if (s->length) FUZZ_MUST(!(s->start > s->time[0]) && !(s->end < s->time[s->length - 1]));
}

/* Checks the whole data set, and that a failure left no data set and a message of one line. Frees the data. */
static inline void fuzz_check(smurf_status status, smurf_data *data, const smurf_error *err)
{
    if (status) {
        FUZZ_MUST(!data && err->status == status && memchr(err->message, '\0', sizeof err->message));
        FUZZ_MUST(err->message[0] && status != SMURF_ERROR_ARGUMENT && status != SMURF_ERROR_CANCELLED);
        return;
    }
    size_t events = 0, gaps = 0;
    const double *time = NULL;
    const uint32_t *type = NULL;
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        fuzz_check_sequence(s, smurf_data_types(data));
        if (i) FUZZ_MUST(s->time == time && s->type == type); /* end to end */
        if (s->time) time = s->time + s->length, type = s->type + s->length;
        events += s->length;
        gaps += s->length - s->first;
    }
    FUZZ_MUST(events == smurf_data_events(data) && gaps == smurf_data_gaps(data));
    for (uint32_t k = 0; k < smurf_data_types(data); k++) {
        const char *name = smurf_data_type_name(data, k);
        FUZZ_MUST(!name == !smurf_data_type_name(data, 0));
    }
    for (size_t c = 0; c < smurf_data_columns(data); c++) {
        size_t words = 0;
        FUZZ_MUST(smurf_data_column_name(data, c));
        while (smurf_data_column_word(data, c, words)) words++;
        for (size_t i = 0; i < smurf_data_sequences(data); i++) {
            const smurf_sequence *s = smurf_data_sequence(data, i);
            FUZZ_MUST(s->columns == smurf_data_columns(data));
            for (size_t k = 0; k < s->length && words; k++) FUZZ_MUST(!(s->further[k * s->columns + c] > (float)words));
        }
    }
    smurf_data_free(data);
}

/* Reads bytes in one format, as they are, once more with events sorted and all types as words, and with all further
   columns. */
static inline void fuzz_read(const uint8_t *bytes, size_t size, const char *format)
{
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = format;
    for (int way = 0; way < 3; way++) {
        smurf_error err = {0};
        smurf_data *data = NULL;
        config.sort = config.types_are_words = way > 0;
        config.missing = way ? "keep" : NULL;
        config.features = way == 2 ? "auto" : NULL;
        smurf_status status = smurf_data_read_memory(&data, bytes, size, "fuzz", &config, &err);
        fuzz_check(status, data, &err);
    }
}

/* Checks a file of tensors as it is, and once more with the header reaching to the last '}', so that a change of its
   length does not hide all others. */
static inline void fuzz_tensors(const uint8_t *bytes, size_t size, void (*check)(const uint8_t *bytes, size_t size))
{
    check(bytes, size);
    uint64_t end = size;
    while (end > 8 && bytes[end - 1] != '}') end--;
    if (end <= 8) return;
    uint8_t *mended = malloc(size);
    FUZZ_MUST(mended);
    memcpy(mended, bytes, size);
    end -= 8;
    memcpy(mended, &end, 8);
    check(mended, size);
    free(mended);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
