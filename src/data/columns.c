/* columns.c - see columns.h. */
#include "data/columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Best first. "id" is omitted on purpose: in a log it numbers events, not sequences. */
enum { MOST_NAMES = 26 };
static const char *const usual[COLUMN_ROLES][MOST_NAMES + 1] = {
    [COLUMN_SEQUENCE] = {"sequence",   "sequence_id", "seq",        "seq_id",  "seq_idx",    "case",        "case_id",
                         "entity",     "entity_id",   "user",       "user_id", "customer",   "customer_id", "patient",
                         "patient_id", "device",      "device_id",  "machine", "machine_id", "host",        "session",
                         "session_id", "account",     "account_id", "series",  "stream"},
    [COLUMN_TIME] = {"time", "t", "timestamp", "time_since_start", "event_time", "datetime", "date", "ts",
                     "occurred_at", "created_at"},
    [COLUMN_TYPE] = {"type", "event_type", "type_event", "event", "mark", "label", "kind", "category", "activity",
                     "action", "k", "event_name"},
    [COLUMN_START] = {"observation_start"},
    [COLUMN_END] = {"observation_end"},
    [COLUMN_FIRST] = {"first_scored"},
    [COLUMN_BEFORE] = {"events_before"},
};

const char *smurf_column_usual(enum column_role role, char text[COLUMN_USUAL])
{
    int n = snprintf(text, COLUMN_USUAL, "%s", usual[role][0]);
    for (int i = 1; usual[role][i] && n < COLUMN_USUAL; i++)
        n += snprintf(text + n, (size_t)(COLUMN_USUAL - n), ", %s", usual[role][i]);
    return text;
}

const char *smurf_column_wanted(enum column_role role, const smurf_read_config *config)
{
    switch (role) {
    case COLUMN_SEQUENCE: return config->sequence_column;
    case COLUMN_TIME: return config->time_column;
    case COLUMN_TYPE: return config->type_column;
    default: return NULL;
    }
}

int smurf_column_rank(enum column_role role, const char *name, size_t n, const smurf_read_config *config)
{
    const char *wanted = smurf_column_wanted(role, config);
    if (wanted) return strlen(wanted) == n && memcmp(wanted, name, n) == 0 ? 0 : -1;
    const char *const *known = usual[role];
    for (int rank = 0; n && known[rank]; rank++) {
        if ((known[rank][0] ^ name[0]) & ~0x20)
            continue; /* first letters differ, ignoring case: a quick test, this is called often */
        if (strlen(known[rank]) == n && strncasecmp(known[rank], name, n) == 0) return rank;
    }
    return -1;
}

static bool is_non_finite(const char *text, size_t n)
{
    if (n && (*text == '-' || *text == '+')) text++, n--;
    return (n == 3 && (!strncasecmp(text, "nan", 3) || !strncasecmp(text, "inf", 3))) ||
           (n == 8 && !strncasecmp(text, "infinity", 8));
}

smurf_status smurf_column_time(struct decimal *out, const char *text, size_t n, int *calendar, smurf_error *err)
{
    int shown = n < 60 ? (int)n : 60;
    if (n == 0) return smurf_fail(err, SMURF_ERROR_INPUT, "the time is empty (fill it in or remove the event)");
    if (!smurf_decimal_scan_time(out, text, n)) {
        if (is_non_finite(text, n))
            return smurf_fail(err, SMURF_ERROR_INPUT, "time '%.*s' is not finite (repair or remove the event)", shown,
                              text);
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "time '%.*s' is neither a number nor an ISO-8601 time such as 2024-01-31T12:00:00Z", shown,
                          text);
    }
    if (*calendar < 0) *calendar = out->calendar;
    if (*calendar != out->calendar)
        return smurf_fail(err, SMURF_ERROR_INPUT, "time '%.*s': %s (use one kind of time in a file)", shown, text,
                          out->calendar ? "a date, but earlier times are numbers"
                                        : "a number, but earlier times are dates");
    return SMURF_OK;
}
