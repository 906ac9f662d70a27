/* fingerprint.c - see fingerprint.h. Numbers are mixed in with the finaliser of MurmurHash3. */
#include "fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

fingerprint fingerprint_number(fingerprint before, uint64_t number)
{
    uint64_t x = before * 0x9e3779b97f4a7c15u + number + 1;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

fingerprint fingerprint_text(fingerprint before, const char *text)
{
    for (const char *c = text; *c; c++) before = fingerprint_number(before, (unsigned char)*c);
    return fingerprint_number(before, 256);
}

static fingerprint add_double(fingerprint before, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return fingerprint_number(before, x == 0 ? 0 : bits);
}

fingerprint fingerprint_data(fingerprint before, const smurf_data *data)
{
    size_t sequences = data ? smurf_data_sequences(data) : 0;
    before = fingerprint_number(before, sequences);
    if (!data) return before;
    before = fingerprint_number(before, smurf_data_types(data));
    before = fingerprint_text(before, smurf_data_unit(data));
    for (size_t i = 0; i < sequences; i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        before = fingerprint_number(before, s->length);
        before = fingerprint_number(before, s->first);
        before = fingerprint_number(before, (uint64_t)s->origin);
        before = add_double(add_double(before, s->start), s->end);
        for (size_t k = 0; k < s->length; k++) before = fingerprint_number(add_double(before, s->time[k]), s->type[k]);
        for (size_t k = 0; s->further && k < s->length * s->columns; k++)
            before = add_double(before, isnan(s->further[k]) ? 0.5 : (double)s->further[k]);
    }
    return before;
}

void fingerprint_write(char text[FINGERPRINT_TEXT], fingerprint value)
{
    snprintf(text, FINGERPRINT_TEXT, "%016llx", (unsigned long long)value);
}
