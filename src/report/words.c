/* words.c - see words.h. */
#include "report/words.h"

#include "data/sink.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Numbers ----------------------------------------------------------------------------------- */

static void append(struct label *label, const char *text)
{
    size_t used = strlen(label->text);
    snprintf(label->text + used, sizeof label->text - used, "%s", text);
}

static void append_grouped(struct label *label, uint64_t n)
{
    char digits[24], *at = digits + sizeof digits;
    char out[32], *to = out;
    size_t count = 0;
    do *--at = (char)('0' + n % 10), count++;
    while (n /= 10);
    for (; count; count--) {
        *to++ = *at++;
        if (count > 1 && count % 3 == 1) *to++ = ',';
    }
    *to = '\0';
    append(label, out);
}

struct label smurf_count(size_t n)
{
    struct label label = {""};
    append_grouped(&label, n);
    return label;
}

struct label smurf_power_of_ten(int exponent)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    struct label label = {"10"};
    char digits[16];
    if (exponent == 0) return (struct label){"1"};
    if (exponent < 0) append(&label, "⁻");
    snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    for (const char *d = digits; *d; d++) append(&label, raised[*d - '0']);
    return label;
}

/* |x| < 9e15 / 10^places */
static void append_fixed(struct label *label, double x, int places)
{
    uint64_t scale = 1;
    for (int i = 0; i < places; i++) scale *= 10;
    uint64_t whole = (uint64_t)llround(fabs(x) * (double)scale);
    if (x < 0 && whole) append(label, "−");
    append_grouped(label, whole / scale);
    if (!places) return;
    char digits[24] = {'.'};
    uint64_t rest = whole % scale;
    for (int i = places; i > 0; i--, rest /= 10) digits[i] = (char)('0' + rest % 10);
    digits[places + 1] = '\0';
    append(label, digits);
}

struct label smurf_fixed(double x, int places)
{
    struct label label = {""};
    if (!isfinite(x)) return (struct label){"–"};
    if (fabs(x) * pow(10, places) >= 9e15) return smurf_significant(x, 3);
    append_fixed(&label, x, places);
    return label;
}

struct label smurf_significant(double x, int digits)
{
    struct label label = {""};
    if (!isfinite(x)) return (struct label){"–"};
    if (x == 0) return (struct label){"0"};
    int exponent = (int)floor(log10(fabs(x)));
    double mantissa = fabs(x) / pow(10, exponent);
    if (!isfinite(mantissa)) mantissa = 0; /* subnormal */
    if (llround(mantissa * pow(10, digits - 1)) >= llround(pow(10, digits))) exponent++, mantissa /= 10;
    if (exponent >= -3 && exponent < 6) {
        append_fixed(&label, x, digits - 1 > exponent ? digits - 1 - exponent : 0);
        return label;
    }
    append_fixed(&label, copysign(mantissa, x), digits - 1);
    append(&label, "×");
    append(&label, smurf_power_of_ten(exponent).text);
    return label;
}

struct label smurf_duration(double gap, const char *unit)
{
    struct label label;
    double size;
    if (!isfinite(gap)) return (struct label){"–"};
    if (smurf_duration_unit(gap, unit, &size)) {
        smurf_duration_text(label.text, gap, unit);
        return label;
    }
    label = smurf_significant(gap, 3);
    if (*unit) append(&label, " ");
    append(&label, unit);
    return label;
}

void smurf_words_add(struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(words->text + words->used, sizeof words->text - words->used, format, args);
    va_end(args);
    if (n > 0) words->used += (size_t)n;
    if (words->used >= sizeof words->text) words->used = sizeof words->text - 1;
}

/* ---- Names ------------------------------------------------------------------------------------- */

/* Noncharacters and the C1 controls: XML 1.0 and HTML allow neither. */
static bool is_forbidden(const unsigned char *c, size_t n)
{
    if (n == 2) return c[0] == 0xc2 && c[1] < 0xa0;
    if (n == 3)
        return c[0] == 0xef && ((c[1] == 0xbf && c[2] >= 0xbe) || (c[1] == 0xb7 && c[2] >= 0x90 && c[2] <= 0xaf));
    return n == 4 && (c[1] & 0x0f) == 0x0f && c[2] == 0xbf && c[3] >= 0xbe;
}

void smurf_clean(char *out, size_t size, const char *text)
{
    char *to = out;
    for (size_t n; *text && (size_t)(to - out) + 5 < size; text += n) {
        unsigned char c = (unsigned char)*text;
        n = smurf_utf8_length(text);
        if (n == 0) {
            n = 1;
            if (c < 0xa0) {
                *to++ = ' ';
                continue;
            }
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 63));
        } else if (c < 0x20 || c == 0x7f || is_forbidden((const unsigned char *)text, n)) {
            *to++ = ' ';
        } else {
            memcpy(to, text, n);
            to += n;
        }
    }
    *to = '\0';
}

static double character_width(const char *text, size_t n)
{
    unsigned char c = (unsigned char)*text;
    if (n >= 3) return c >= 0xe3 ? 1.05 : 0.75; /* CJK characters and pictographs are square */
    if (n == 2) return c == 0xc2 ? 0.5 : 0.68;
    if (strchr(" iljtfr.,:;'|!I()[]-", c)) return 0.39;
    if (strchr("mwMW@%&", c)) return 0.95;
    if (c >= 'A' && c <= 'Z') return 0.71;
    return 0.62;
}

double smurf_text_width(const char *text)
{
    double width = 0;
    for (size_t n; *text; text += n) {
        n = smurf_utf8_length(text);
        n = n ? n : 1;
        width += character_width(text, n);
    }
    return width;
}

void smurf_clean_to_width(char *out, size_t size, const char *text, double width)
{
    smurf_clean(out, size, text);
    if (smurf_text_width(out) <= width) return;
    double used = 0.9; /* the ellipsis */
    size_t at = 0;
    for (size_t n; out[at]; at += n) {
        n = smurf_utf8_length(out + at);
        used += character_width(out + at, n);
        if (used > width || at + n + 4 > size) break;
    }
    while (at && out[at - 1] == ' ') at--;
    memcpy(out + at, "…", sizeof "…");
}
