/*
 * time_op.h - operations of a compiled time format, for time_format.c and time_guess.c.
 */
#ifndef SMURF_DATA_TIME_OP_H
#define SMURF_DATA_TIME_OP_H

enum time_op_code {
    OP_END,
    OP_LITERAL,
    OP_BLANK,
    OP_YEAR,
    OP_YEAR_2,
    OP_MONTH,
    OP_MONTH_NAME,
    OP_DAY,
    OP_DAY_OF_YEAR,
    OP_WEEKDAY,
    OP_HOUR,
    OP_HOUR_12,
    OP_MINUTE,
    OP_SECOND,
    OP_FRACTION,
    OP_HALF,
    OP_OFFSET,
    OP_EPOCH,
    OP_CLOCK, /* "%~": any clock time, or none; only in candidates */
};
#define OP_BIT(code) (1u << (code))
#define OP_DATES                                                                                                       \
    (OP_BIT(OP_YEAR) | OP_BIT(OP_YEAR_2) | OP_BIT(OP_MONTH) | OP_BIT(OP_MONTH_NAME) | OP_BIT(OP_DAY) |                 \
     OP_BIT(OP_DAY_OF_YEAR))
#define OP_CLOCKS (OP_BIT(OP_HOUR) | OP_BIT(OP_HOUR_12) | OP_BIT(OP_MINUTE) | OP_BIT(OP_SECOND) | OP_BIT(OP_CLOCK))

/* Adjusts the year where months jump between November or December and January or February; *last is the month of the
   cell before, 0 at first. */
void smurf_time_follow_year(int *year, int *last, int month);

#endif
