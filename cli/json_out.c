/* json_out.c - see json_out.h. */
#include "json_out.h"

#include <math.h>
#include <stdlib.h>

/* Length in bytes of the UTF-8 character at text; 0 if it is not valid UTF-8. */
static int character_length(const unsigned char *text)
{
    unsigned char c = text[0];
    int n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return n;
}

void put_string(FILE *out, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    putc('"', out);
    while (*c) {
        int n = character_length(c);
        if (n == 0) {
            fputs("\\ufffd", out);
            n = 1;
        } else if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fwrite(c, 1, (size_t)n, out);
        }
        c += n;
    }
    putc('"', out);
}

void put_number(FILE *out, double x)
{
    char text[40];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    fputs(text, out);
}

void put_rounded(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fputs("null", out);
}
