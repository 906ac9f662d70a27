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

/* ---- Words of a name -------------------------------------------------------------------------- */

/* Blank-separated words that make a name suggest a role. */
static const char *const telling[COLUMN_ROLES] = {
    [COLUMN_SEQUENCE] = "account asset bike bus car card case claim client computer contract customer device "
                        "driver employee engine entity equipment guest host hostname household incident invoice "
                        "loan machine member meter node order passenger patient person player plane policy "
                        "sensor seq sequence serial series session ship student subject subscriber ticket trace "
                        "train truck uid unit user vehicle vin visitor",
    [COLUMN_TIME] = "begin clock created date datetime epoch logged occurred start started time timestamp ts when",
    [COLUMN_TYPE] = "action activity alarm alert category class command error event kind label level mark method "
                    "operation outcome phase priority program rating reason result severity shape stage status step "
                    "task type verb",
};
/* Words that say little beside a telling one. */
static const char filler[] = "code hash id ids idx index key name no nr num number ref uuid №";
/* The same of times only. */
static const char time_filler[] = "at gmt local on utc";
/* Times of something else than the event. */
static const char late[] = "birth closed due end expires expiry finish finished last modified resolved stop to until "
                           "updated";
/* Names of standards, without separators. */
static const struct {
    enum column_role role;
    const char *name;
} standards[] = {{COLUMN_SEQUENCE, "caseconceptname"}, {COLUMN_TIME, "timetimestamp"}, {COLUMN_TYPE, "conceptname"}};

enum { WORDS_MOST = 12, WORD_MOST = 24 };
struct words {
    char word[WORDS_MOST][WORD_MOST];
    int count;
    char joined[WORDS_MOST * WORD_MOST];
};

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Splits at anything but letters, at digits, and before a capital that follows a small letter. */
static void split_words(struct words *w, const char *name, size_t n)
{
    size_t length = 0, joined = 0;
    w->count = 0;
    for (size_t i = 0; i < n && w->count < WORDS_MOST; i++) {
        bool letter = is_lower(name[i]) || is_upper(name[i]) || (name[i] & 0x80);
        bool starts = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
        if (length && (!letter || starts)) w->word[w->count++][length] = '\0', length = 0;
        if (!letter || w->count == WORDS_MOST || length == WORD_MOST - 1) continue;
        char c = is_upper(name[i]) ? (char)(name[i] + 32) : name[i];
        w->word[w->count][length++] = c;
        w->joined[joined++] = c;
    }
    if (length) w->word[w->count++][length] = '\0';
    w->joined[joined] = '\0';
}

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    return false;
}

/* A telling word, also with "id" and the like attached: "machineid". */
static bool tells(enum column_role role, const char *word)
{
    if (in_list(telling[role], word)) return true;
    size_t n = strlen(word);
    char stem[WORD_MOST];
    if (n < 4 || role == COLUMN_TIME) return false;
    snprintf(stem, sizeof stem, "%.*s", (int)(n - 2), word);
    return in_list("id no nr", word + n - 2) && in_list(telling[role], stem);
}

int smurf_column_strength(enum column_role role, const char *name, size_t n)
{
    static const smurf_read_config none = {0};
    int rank = smurf_column_rank(role, name, n, &none);
    if (rank >= 0) return COLUMN_USUAL_NAME + MOST_NAMES - rank;
    if (!telling[role]) return COLUMN_NO_NAME;
    struct words w;
    split_words(&w, name, n);
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++)
        if (standards[i].role == role && strcmp(standards[i].name, w.joined) == 0) return COLUMN_STANDARD;
    int told = 0, other = 0, fillers = 0;
    bool last = false, wrong = false;
    for (int i = 0; i < w.count; i++) {
        bool here = tells(role, w.word[i]),
             fill = !here && (in_list(filler, w.word[i]) || (role == COLUMN_TIME && in_list(time_filler, w.word[i])));
        told += here;
        fillers += fill;
        other += !here && !fill;
        if (!fill) last = here;
        wrong = wrong || (role == COLUMN_TIME && in_list(late, w.word[i]));
    }
    if (role == COLUMN_SEQUENCE && !told) return w.count > 1 && fillers && in_list("id uuid", w.word[w.count - 1]);
    if (!told) return COLUMN_NO_NAME;
    if (wrong) return COLUMN_HINT;
    if (!other) return COLUMN_NAMED;
    return last && (role != COLUMN_SEQUENCE || fillers) ? COLUMN_LIKELY : COLUMN_HINT;
}

/* ---- Times ------------------------------------------------------------------------------------ */

static bool is_non_finite(const char *text, size_t n)
{
    if (n && (*text == '-' || *text == '+')) text++, n--;
    return (n == 3 && (!strncasecmp(text, "nan", 3) || !strncasecmp(text, "inf", 3))) ||
           (n == 8 && !strncasecmp(text, "infinity", 8));
}

bool smurf_column_has_comma(const char *text, size_t n)
{
    bool comma = false;
    for (size_t i = 0; i < n; i++) {
        if (!strchr("0123456789.,+-", text[i]) || !text[i]) return false;
        comma = comma || text[i] == ',';
    }
    return comma;
}

smurf_status smurf_column_time(struct decimal *out, const char *text, size_t n, int *calendar, smurf_error *err)
{
    int shown = n < 60 ? (int)n : 60;
    if (n == 0) return smurf_fail(err, SMURF_ERROR_INPUT, "the time is empty (fill it in or remove the event)");
    if (!smurf_decimal_scan_time(out, text, n)) {
        if (is_non_finite(text, n))
            return smurf_fail(err, SMURF_ERROR_INPUT, "time '%.*s' is not finite (repair or remove the event)", shown,
                              text);
        if (smurf_column_has_comma(text, n))
            return smurf_fail(
                err, SMURF_ERROR_INPUT,
                "time '%.*s' is a number with a comma (write a point before decimals, and nothing between "
                "thousands)",
                shown, text);
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "time '%.*s' is neither a number nor an ISO-8601 time such as 2024-01-31T12:00:00Z "
                          "(write it like that; of a table, --time-format says how times are written)",
                          shown, text);
    }
    if (*calendar < 0) *calendar = out->calendar;
    if (*calendar != out->calendar)
        return smurf_fail(err, SMURF_ERROR_INPUT, "time '%.*s': %s (use one kind of time in a file)", shown, text,
                          out->calendar ? "a date, but earlier times are numbers"
                                        : "a number, but earlier times are dates");
    return SMURF_OK;
}
