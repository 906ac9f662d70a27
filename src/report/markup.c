/* markup.c - see markup.h. */
#include "report/markup.h"

#include "report/words.h"

#include <math.h>
#include <string.h>

void smurf_markup_text(struct sink *sink, const char *text)
{
    char clean[1024];
    smurf_clean(clean, sizeof clean, text);
    for (const char *c = clean; *c; c++) switch (*c) {
        case '<': smurf_sink_text(sink, "&lt;"); break;
        case '>': smurf_sink_text(sink, "&gt;"); break;
        case '&': smurf_sink_text(sink, "&amp;"); break;
        case '"': smurf_sink_text(sink, "&quot;"); break;
        case '\'': smurf_sink_text(sink, "&#39;"); break;
        default: smurf_sink_char(sink, *c);
        }
}

void smurf_markup_between(struct sink *sink, const char *before, const char *text, const char *after)
{
    smurf_sink_text(sink, before);
    smurf_markup_text(sink, text);
    smurf_sink_text(sink, after);
}

void smurf_markup_number(struct sink *sink, double x)
{
    long long hundredths = llround(x * 100);
    if (hundredths < 0) smurf_sink_char(sink, '-');
    uint64_t n = (uint64_t)(hundredths < 0 ? -hundredths : hundredths);
    smurf_sink_unsigned(sink, n / 100);
    if (n % 100 == 0) return;
    smurf_sink_char(sink, '.');
    smurf_sink_char(sink, (char)('0' + n / 10 % 10));
    if (n % 10) smurf_sink_char(sink, (char)('0' + n % 10));
}

void smurf_markup_hex(struct sink *sink, unsigned rgb)
{
    static const char hex[] = "0123456789abcdef";
    smurf_sink_char(sink, '#');
    for (int shift = 20; shift >= 0; shift -= 4) smurf_sink_char(sink, hex[rgb >> shift & 15]);
}
