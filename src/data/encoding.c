/* encoding.c - see encoding.h. */
#include "data/encoding.h"

#include <stdlib.h>

/* Length of the character at text; 0 if it is no UTF-8. */
static size_t length_of(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80) return 1;
    size_t length = p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] >= 0xA0)) return 0; /* too long, surrogates */
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] >= 0x90)) return 0;
    return length;
}

bool smurf_text_is_utf8(const char *text, size_t n)
{
    for (size_t i = 0, length; i < n; i += length)
        if (!(length = length_of((const unsigned char *)text + i, n - i))) return false;
    return true;
}

static char *put_character(char *p, unsigned c)
{
    if (c < 0x80) {
        *p++ = (char)c;
        return p;
    }
    if (c < 0x800) {
        *p++ = (char)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *p++ = (char)(0xE0 | c >> 12);
        } else {
            *p++ = (char)(0xF0 | c >> 18);
            *p++ = (char)(0x80 | (c >> 12 & 0x3F));
        }
        *p++ = (char)(0x80 | (c >> 6 & 0x3F));
    }
    *p++ = (char)(0x80 | (c & 0x3F));
    return p;
}

static unsigned unit_at(const unsigned char *p, bool big)
{
    return big ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
}

size_t smurf_text_decode_utf16(char *out, const unsigned char *text, size_t n, bool big, bool last, size_t *used)
{
    enum { UNKNOWN = 0xFFFD };
    char *p = out;
    size_t i = 0;
    for (; i + 1 < n; i += 2) {
        unsigned c = unit_at(text + i, big);
        if (c >= 0xD800 && c < 0xDC00) { /* the first half of a pair */
            if (i + 3 >= n && !last) break;
            unsigned d = i + 3 < n ? unit_at(text + i + 2, big) : 0;
            bool pair = d >= 0xDC00 && d < 0xE000;
            c = pair ? 0x10000 + ((c - 0xD800) << 10) + (d - 0xDC00) : UNKNOWN;
            if (pair) i += 2;
        } else if (c >= 0xDC00 && c < 0xE000) {
            c = UNKNOWN;
        }
        p = put_character(p, c);
    }
    if (last && i < n) p = put_character(p, UNKNOWN), i = n;
    *used = i;
    return (size_t)(p - out);
}

size_t smurf_text_decode(char *out, const char *text, size_t n)
{
    /* 0x80 to 0x9F; five of them are not assigned and stay what they are in Latin-1. */
    static const unsigned short high[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                            0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                            0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                            0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    char *p = out;
    for (size_t i = 0; i < n; i++) {
        unsigned c = (unsigned char)text[i];
        if (c >= 0x80 && c < 0xA0) c = high[c - 0x80];
        p = put_character(p, c);
    }
    return (size_t)(p - out);
}

uint32_t smurf_names_intern_utf8(struct names *names, const char *text, size_t n, bool *decoded)
{
    uint32_t known = smurf_names_find(names, text, n);
    if (known != NAMES_FULL) return known;
    if (smurf_text_is_utf8(text, n)) return smurf_names_intern(names, text, n);
    char *copy = malloc(3 * n);
    if (!copy) return NAMES_FULL;
    *decoded = true;
    known = smurf_names_intern(names, copy, smurf_text_decode(copy, text, n));
    free(copy);
    return known;
}
