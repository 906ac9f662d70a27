/*
 * time_format.h - how the times of a column are written: found from a sample, then used to read every cell.
 *
 * A format has a text form; it is stored in models and accepted by --time-format:
 *   number            numbers in the data's unit
 *   epoch-s, epoch-ms, epoch-us, epoch-ns
 *                     numbers since 1970, read as calendar seconds
 *   iso               ISO-8601: 2024-01-31T12:00:00.5+01:00, 2024-01-31 12:00, 20240131T120000Z, 20240131120000,
 *                     2024-01-31, 2024-031, 2024-W05-3
 *   excel             day numbers since 1899-12-30, to the millisecond; never guessed
 *   a pattern         as of strptime: %d/%m/%Y %H:%M. Conversions: %Y %y %m %d %e %b %B %h %j %H %I %M %S %p %z %Z %f
 * %s %a %A %T %F %D %R %n %t %%. Parts have one or two digits; a blank matches any run of blanks, also none. Two-digit
 * years 69 to 99 are 19xx. Rules for every pattern, so that it need not say them:
 *   - blanks and brackets around a cell, and a weekday name in front, are ignored;
 *   - a fraction and an offset may follow any clock time: 10:04:05,250 +0100;
 *   - parts of the clock may be missing at the end of a cell: a date alone is midnight;
 *   - 24:00:00 is the next midnight;
 *   - a cell that is ISO-8601 is accepted too.
 * A pattern without a year starts in 1970. The year changes where months jump between November or December and January
 * or February. "%b %d %H:%M:%S @2019" sets the year of the first cell. A pattern without a date starts on 1970-01-01;
 * the day changes where the clock jumps by more than 12 hours.
 */
#ifndef SMURF_DATA_TIME_FORMAT_H
#define SMURF_DATA_TIME_FORMAT_H

#include "data/calendar.h"
#include "data/time_zone.h"

enum { TIME_OPS = 40, TIME_TEXT = 64, TIME_NOTE = 160, TIME_CANDIDATES = 44 };

/* What a format reads. A column with a date and no clock can be joined with a column with a clock and no date. */
enum time_parts { TIME_YEAR = 1, TIME_DATE = 2, TIME_CLOCK = 4, TIME_OFFSET = 8, TIME_NUMBER = 16 };

enum time_kind {
    TIME_PATTERN,
    TIME_PLAIN,
    TIME_EPOCH_S,
    TIME_EPOCH_MS,
    TIME_EPOCH_US,
    TIME_EPOCH_NS,
    TIME_ISO,
    TIME_EXCEL
};

/* Plain data; may be copied. */
struct time_format {
    char text[TIME_TEXT];
    unsigned parts; /* enum time_parts */
    int kind;       /* enum time_kind */
    int year;       /* of the first cell, if the pattern has none */
    struct time_op {
        unsigned char code, argument;
    } op[TIME_OPS];
};

smurf_status smurf_time_format_parse(struct time_format *out, const char *text, smurf_error *err);

/* "day first" or "month first" for patterns with a numeric day and month before the year, otherwise "". */
const char *smurf_time_format_order(const struct time_format *format);

/* The parts of one cell, as a pattern found them. */
struct time_cell {
    struct calendar_time time; /* fraction and zoned; seconds by smurf_time_cell_seconds */
    int64_t epoch;
    int year, month, day, day_of_year, hour, minute, second, half, east;
    unsigned found;    /* which of them */
    char separator[3]; /* before the clock */
    char colon;
};

/* Scans a cell by a pattern alone, without a zone. */
bool smurf_time_cell_scan(struct time_cell *out, const struct time_format *format, const char *text, size_t n);
/* Seconds since 1970; local time unless an offset was found. False if there is no such time. */
bool smurf_time_cell_seconds(struct time_cell *cell);

/* What the cells seen so far allow. Plain data, nothing allocated. */
struct time_guess {
    uint64_t cells;  /* that are not empty */
    uint64_t live;   /* bit i: candidate i is still tried */
    char sample[32]; /* the first cell that two candidates read differently */
    struct time_tally {
        uint32_t read, back; /* cells read; those before the previous one */
        uint32_t iso;        /* cells that only ISO-8601 reads */
        int64_t last;        /* seconds */
        double way;          /* sum of the absolute gaps */
        unsigned found;      /* parts found in any cell */
        char separator[3];   /* between date and clock, in the first cell with a clock */
        char colon;
        int year, month, leap_year; /* without a year: of the last cell; the year of the first February 29, or 0 */
    } tally[TIME_CANDIDATES];
};

void smurf_time_guess_init(struct time_guess *guess);
/* Any cell, also an empty one. text[n] must be readable and not a digit. Returns whether some format reads it. */
bool smurf_time_guess_see(struct time_guess *guess, const char *text, size_t n);
/* The format that reads most of the cells seen. Returns the share of the non-empty cells that it reads, 0 if there is
   none. note: what stays ambiguous and the reading taken, "" if nothing. */
double smurf_time_guess_best(const struct time_guess *guess, struct time_format *out, char note[TIME_NOTE]);

/* Whether nearly all cells are numbers since 1970, but in several units. */
bool smurf_time_guess_mixed(const struct time_guess *guess);
bool smurf_time_is_epoch(const struct decimal *number, int shift);

/* A format, a zone, and what must be remembered from cell to cell. One per column, cells in order of the file. */
struct time_reader {
    struct time_format format;
    struct time_zone *zone;   /* NULL: UTC */
    int year, month;          /* without a year: of the last cell */
    int64_t day, clock;       /* without a date: likewise */
    int64_t last;             /* the last time read with the zone */
    bool started, descending; /* whether there is a last time; whether times go back */
    int64_t from, until;      /* the zone's offset is constant here */
    int offset;
};

/* zone: IANA name of the zone of times without an offset; NULL: UTC. */
smurf_status smurf_time_reader_init(struct time_reader *reader, const struct time_format *format, const char *zone,
                                    smurf_error *err);
void smurf_time_reader_release(struct time_reader *reader);

/* False if the cell has another form. text[n] must be readable and not a digit. out->calendar: a date, in seconds since
   1970. */
bool smurf_time_read(struct time_reader *reader, struct decimal *out, const char *text, size_t n);

#endif
