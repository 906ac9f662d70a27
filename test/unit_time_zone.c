/* unit_time_zone.c - offsets of all zones against the C library's, and names that are none. */
#include "data/time_zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char *const zones[] = {
    "Europe/Berlin",       "Europe/Dublin",
    "Europe/Moscow",       "America/New_York",
    "America/Los_Angeles", "America/Sao_Paulo",
    "America/St_Johns",    "America/Nuuk",
    "America/Caracas",     "Africa/Cairo",
    "Africa/Casablanca",   "Asia/Tokyo",
    "Asia/Kolkata",        "Asia/Kathmandu",
    "Asia/Tehran",         "Asia/Jerusalem",
    "Asia/Gaza",           "Australia/Sydney",
    "Australia/Eucla",     "Australia/Lord_Howe",
    "Pacific/Apia",        "Pacific/Auckland",
    "Pacific/Chatham",     "Antarctica/Troll",
    "Etc/GMT+5",           "UTC",
};
enum { ZONES = sizeof zones / sizeof *zones };

static struct time_zone *open_zone(const char *name)
{
    struct time_zone *zone;
    smurf_error err;
    if (smurf_time_zone_open(&zone, name, &err)) fail_msg("%s", err.message);
    return zone;
}

/* Every five days, from 1900 to 2200, and the seconds around each change. */
static void offsets_agree_with_the_c_library(void **state)
{
    (void)state;
    for (size_t z = 0; z < ZONES; z++) {
        struct time_zone *zone = open_zone(zones[z]);
        setenv("TZ", zones[z], 1);
        tzset();
        for (int64_t t = INT64_C(-2208988800); t < INT64_C(7258118400); t += 5 * 86400) {
            int64_t from, until;
            int offset = smurf_time_zone_span(zone, t, &from, &until);
            assert_true(from <= t && t < until);
            const int64_t near[] = {t, from, from > INT64_MIN ? from - 1 : t, until, until - 1};
            for (int i = 0; i < 5; i++) {
                if (near[i] < -INT64_C(4000000000) || near[i] > INT64_C(8000000000)) continue;
                time_t at = (time_t)near[i];
                struct tm tm;
                localtime_r(&at, &tm);
                if (i == 0) assert_int_equal(offset, tm.tm_gmtoff);
                if (smurf_time_zone_offset(zone, near[i]) != tm.tm_gmtoff)
                    fail_msg("%s at %lld: %d, not %ld", zones[z], (long long)near[i],
                             smurf_time_zone_offset(zone, near[i]), (long)tm.tm_gmtoff);
            }
        }
        smurf_time_zone_free(zone);
    }
    unsetenv("TZ");
}

/* Local time and back: one reading is the time itself; of two, both have the same local time; skipped times are the
   change. */
static void local_times_come_back(void **state)
{
    (void)state;
    size_t twice = 0, skipped = 0;
    for (size_t z = 0; z < ZONES; z++) {
        struct time_zone *zone = open_zone(zones[z]);
        for (int64_t t = INT64_C(1262304000); t < INT64_C(1388534400); t += 900) {
            int64_t utc[2] = {0, 0};
            int ways = smurf_time_zone_utc(zone, t + smurf_time_zone_offset(zone, t), utc);
            assert_true(utc[0] == t || (ways == 2 && utc[1] == t && utc[0] < utc[1]));
            twice += ways == 2;
            ways = smurf_time_zone_utc(zone, t, utc);
            if (utc[0] + smurf_time_zone_offset(zone, utc[0]) == t) continue;
            int64_t from, until;
            smurf_time_zone_span(zone, utc[0], &from, &until);
            assert_true(ways == 1 && from == utc[0] && utc[0] + smurf_time_zone_offset(zone, utc[0]) > t);
            skipped++;
        }
        smurf_time_zone_free(zone);
    }
    assert_true(twice > 500 && skipped > 200);
}

static void no_zone_is_utc(void **state)
{
    (void)state;
    int64_t utc[2];
    assert_int_equal(smurf_time_zone_offset(NULL, 12345), 0);
    assert_int_equal(smurf_time_zone_utc(NULL, 12345, utc), 1);
    assert_int_equal(utc[0], 12345);
}

static void unknown_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"europe/berlin", "did you mean Europe/Berlin?"},
        {"Berlin", "did you mean Europe/Berlin?"},
        {"New York", "did you mean America/New_York"},
        {"Mars/Olympus", "use an IANA name, such as Europe/Berlin or UTC"},
        {"", "use an IANA name"},
        {"../../etc/passwd", "unknown time zone"},
        {"/etc/localtime", "unknown time zone"},
        {"Europe/../Europe/Berlin", "unknown time zone"},
        {"Europe", "unknown time zone"},
        {"Europe//Berlin", "unknown time zone"},
        {"zone.tab", "unknown time zone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct time_zone *zone;
        smurf_error err = {0};
        assert_int_equal(smurf_time_zone_open(&zone, cases[i].name, &err), SMURF_ERROR_INPUT);
        assert_null(zone);
        if (!strstr(err.message, cases[i].message)) fail_msg("'%s': %s", cases[i].name, err.message);
    }
}

/* Files in $TZDIR: every cut and every changed byte of a zone is refused or gives a zone that answers. */
static void damaged_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/smurf-zone-XXXXXX", path[64];
    unsigned char bytes[8192];
    FILE *file = fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_non_null(mkdtemp(folder));
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Damaged", folder);
    for (size_t i = 0; i < n; i += 7)
        for (int cut = 0; cut < 2; cut++) {
            unsigned char kept = bytes[i];
            bytes[i] = (unsigned char)(bytes[i] ^ 0xa5);
            assert_non_null(file = fopen(path, "wb"));
            assert_int_equal(fwrite(bytes, 1, cut ? i : n, file), cut ? i : n);
            fclose(file);
            bytes[i] = kept;
            struct time_zone *zone;
            int64_t utc[2];
            smurf_status status = smurf_time_zone_open(&zone, "Damaged", NULL);
            assert_true(status == SMURF_OK ? !cut : status == SMURF_ERROR_INPUT && !zone);
            for (int64_t t = -INT64_C(5000000000); zone && t < INT64_C(9000000000); t += 777777777)
                assert_true(smurf_time_zone_utc(zone, t, utc) >= 1);
            smurf_time_zone_free(zone);
        }
    unsetenv("TZDIR");
    remove(path);
    remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_agree_with_the_c_library),
        cmocka_unit_test(local_times_come_back),
        cmocka_unit_test(no_zone_is_utc),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
