/*
 * alarms.c - bars for alarms about a stream of events, so that a healthy stream raises as many as were asked for.
 *
 * Under the true law each gap has a PIT u, uniform and independent of the past, and its type a level v, which is at
 * most x with probability at most x. Each kind of alarm has a bar b: it is raised once per e^b gaps of a healthy
 * stream; about types less often, where there are few improbable ones.
 *
 *     overdue      1 - F(silence) falls to e^-b: the caller asks for the quantile and tells when it has passed
 *     early, type  u, or v, is at most e^-b
 *                  the level of a type that the model does not know is how often there have been such
 *     rate         (R_2 + R_1/2) / 2 reaches e^b / 1.55 for one sequence; with e = -ln(1-u) ~ Exp(1) per gap,
 *                  R_r <- (1 + R_r) r e^-(r-1)e, the Shiryaev-Roberts statistic of a rate r times the expected one
 *     calibration  the mean of four such statistics over all gaps reaches e^b / 1.19, with the likelihood ratios
 *                  1 +- 0.4 P_1(u), 1 +- 0.4 P_2(u), P_1 and P_2 the normalised Legendre polynomials on 0 to 1
 *
 * R_n - n is a martingale, so the mean number of gaps to an alarm is the mean of R when the bar is crossed: 1.55 and
 * 1.19 times the bar, by simulation (the overshoot). Every sequence has statistics of its own, and still a gap costs
 * e^-b alarms, however many sequences there are.
 *
 * A bar starts from the gaps per day seen while warming up. A learned law is not the true one: so the bar falls by
 * PACE for each alarm that was to be expected, and rises by PACE for each that came. Over any period the number of
 * alarms is then that asked for, up to the change of the bar / PACE, whatever the law.
 */
#include "base/error.h"
#include "base/sized.h"
#include "base/xxh64.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RATE_OVERSHOOT        1.55
#define CALIBRATION_OVERSHOOT 1.19
#define PACE                  0.1
#define TILT                  0.4
#define LEVEL_MOST            0.05 /* the most frequent that alarms can be, per gap */

enum { RATIOS = 4, WARM_GAPS = 100 };

/* All that is saved, without padding. */
struct state {
    char magic[8];
    uint64_t size, checksum;
    double per_day, day, warm_days;
    uint64_t typed, fixed, warm, begun;
    smurf_moment first, last; /* of the stream */
    double gaps;              /* seen while warming up */
    double events, unknown;   /* gaps seen; of these, ended by a type that the model does not know */
    double bar[SMURF_ALARMS];
    double ratio[RATIOS];
};

struct smurf_alarms {
    struct state s;
};

static const char magic[8] = "smurfala";

/* ---- Life ------------------------------------------------------------------------------------ */

static smurf_alarms_config defaults(void)
{
    return (smurf_alarms_config){.size = sizeof(smurf_alarms_config), .per_day = 1, .typed = 1, .adapt = 1};
}

void smurf_alarms_config_init_sized(smurf_alarms_config *config, size_t size)
{
    const smurf_alarms_config own = defaults();
    smurf_sized_init(config, size, &own, sizeof own);
}

smurf_status smurf_alarms_new(smurf_alarms **out, const smurf_alarms_config *given, smurf_error *err)
{
    smurf_alarms_config c = defaults();
    *out = NULL;
    smurf_status status = smurf_sized_take(&c, sizeof c, given, "smurf_alarms_config", err);
    if (status) return status;
    if (!(c.per_day > 0 && c.per_day <= 1e6))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "%g alarms per day are not possible: give a number above 0",
                          c.per_day);
    if (!(c.day > 0) || !isfinite(c.day))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "alarms per day need the length of a day in the unit of the data");
    if (!(c.warm_up >= 0) || !isfinite(c.warm_up))
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "warming up takes a time of 0 or more, not %g", c.warm_up);
    smurf_alarms *a = calloc(1, sizeof *a);
    if (!a) return smurf_fail_memory(err);
    a->s = (struct state){.per_day = c.per_day,
                          .day = c.day,
                          .warm_days = fmax(1, c.warm_up / c.day),
                          .typed = c.typed != 0,
                          .fixed = !c.adapt};
    *out = a;
    return SMURF_OK;
}

void smurf_alarms_free(smurf_alarms *alarms)
{
    free(alarms);
}

/* ---- Bars ------------------------------------------------------------------------------------ */

static bool is_used(const smurf_alarms *a, smurf_alarm kind)
{
    return kind != SMURF_ALARM_TYPE || a->s.typed;
}

/* Alarms of one kind per day. */
static double budget(const smurf_alarms *a)
{
    return a->s.per_day / (SMURF_ALARMS - !a->s.typed);
}

static double lowest(void)
{
    return -log(LEVEL_MOST);
}

double smurf_alarms_level(const smurf_alarms *a, smurf_alarm kind)
{
    return a->s.warm && is_used(a, kind) ? exp(-a->s.bar[kind]) : 0;
}

static void set_bars(smurf_alarms *a, double days)
{
    double bar = log(a->s.gaps / days / budget(a));
    for (int k = 0; k < SMURF_ALARMS; k++) a->s.bar[k] = fmax(bar, lowest());
    a->s.warm = 1;
}

void smurf_alarms_pass(smurf_alarms *a, smurf_moment now)
{
    struct state *s = &a->s;
    if (!s->begun) s->first = s->last = now;
    s->begun = 1;
    double days = smurf_moment_gap(s->last, now) / s->day;
    if (!(days > 0)) return;
    s->last = now;
    double all = smurf_moment_gap(s->first, now) / s->day;
    if (!s->warm && all >= s->warm_days && s->gaps >= WARM_GAPS) {
        set_bars(a, all);
    } else if (s->warm && !s->fixed) {
        for (int k = 0; k < SMURF_ALARMS; k++) s->bar[k] = fmax(s->bar[k] - PACE * budget(a) * days, lowest());
    }
}

static void raised(smurf_alarms *a, smurf_alarm kind)
{
    if (!a->s.fixed) a->s.bar[kind] += PACE;
}

void smurf_alarms_overdue(smurf_alarms *a)
{
    raised(a, SMURF_ALARM_OVERDUE);
}

/* ---- A gap ------------------------------------------------------------------------------------- */

/* Whether a statistic reaches the bar of its kind. */
static bool reaches(const smurf_alarms *a, smurf_alarm kind, double statistic, double overshoot)
{
    return a->s.warm && statistic * overshoot >= exp(a->s.bar[kind]);
}

static bool rate_changes(const smurf_alarms *a, smurf_track *t, double pit)
{
    double e = -log1p(-fmin(pit, 1 - 1e-12));
    if (t->quiet && smurf_moment_gap(t->since, a->s.last) < a->s.day) return false;
    t->quiet = 0;
    t->faster = (1 + t->faster) * 2 * exp(-e);
    t->slower = (1 + t->slower) * 0.5 * exp(e / 2);
    if (!reaches(a, SMURF_ALARM_RATE, (t->faster + t->slower) / 2, RATE_OVERSHOOT)) return false;
    t->direction = t->faster > t->slower ? 1 : -1;
    t->faster = t->slower = 0;
    t->quiet = 1;
    t->since = a->s.last;
    return true;
}

/* Returns which ratio is the largest, from 1, if it is time for an alarm; else 0. */
static int calibration_lost(smurf_alarms *a, double u)
{
    double one = sqrt(3) * (2 * u - 1), two = sqrt(5) * (6 * u * u - 6 * u + 1), sum = 0;
    const double factor[RATIOS] = {1 - TILT * one, 1 + TILT * one, 1 + TILT * two, 1 - TILT * two};
    int most = 0;
    for (int k = 0; k < RATIOS; k++) {
        a->s.ratio[k] = (1 + a->s.ratio[k]) * factor[k];
        sum += a->s.ratio[k];
        if (a->s.ratio[k] > a->s.ratio[most]) most = k;
    }
    if (!reaches(a, SMURF_ALARM_CALIBRATION, sum / RATIOS, CALIBRATION_OVERSHOOT)) return 0;
    memset(a->s.ratio, 0, sizeof a->s.ratio);
    return most + 1;
}

static double type_level(struct state *s, const smurf_surprise *event)
{
    double level = isnan(event->type_share) ? (s->unknown + 0.5) / (s->events + 1) : event->type_level;
    s->events++;
    s->unknown += isnan(event->type_share);
    return level;
}

unsigned smurf_alarms_gap(smurf_alarms *a, smurf_track *track, const smurf_surprise *event, smurf_finding *finding)
{
    unsigned found = 0;
    double pit = fmin(fmax(event->pit, 0), 1);
    if (!a->s.warm) a->s.gaps++;
    *finding = 0;
    if (pit <= smurf_alarms_level(a, SMURF_ALARM_EARLY)) found |= 1u << SMURF_ALARM_EARLY;
    if (type_level(&a->s, event) <= smurf_alarms_level(a, SMURF_ALARM_TYPE)) found |= 1u << SMURF_ALARM_TYPE;
    if (rate_changes(a, track, pit)) found |= 1u << SMURF_ALARM_RATE;
    int lost = calibration_lost(a, pit);
    if (lost) found |= 1u << SMURF_ALARM_CALIBRATION, *finding = (smurf_finding)lost;
    for (int k = 0; k < SMURF_ALARMS; k++)
        if (found & 1u << k) raised(a, (smurf_alarm)k);
    return found;
}

/* ---- Names ------------------------------------------------------------------------------------- */

const char *smurf_alarm_name(smurf_alarm kind)
{
    static const char *const name[] = {"overdue", "early", "type", "rate", "calibration"};
    return (unsigned)kind < SMURF_ALARMS ? name[kind] : NULL;
}

/* ---- Bytes ------------------------------------------------------------------------------------- */

static uint64_t checksum(struct state s)
{
    struct xxh64 hash;
    s.checksum = 0;
    smurf_xxh64_init(&hash);
    smurf_xxh64_add(&hash, &s, sizeof s);
    return smurf_xxh64_value(&hash);
}

smurf_status smurf_alarms_save(const smurf_alarms *a, void **bytes, size_t *size, smurf_error *err)
{
    struct state *s = malloc(sizeof *s);
    *bytes = s;
    *size = 0;
    if (!s) return smurf_fail_memory(err);
    *s = a->s;
    memcpy(s->magic, magic, sizeof magic);
    s->size = *size = sizeof *s;
    s->checksum = checksum(*s);
    return SMURF_OK;
}

smurf_status smurf_alarms_restore(smurf_alarms **out, const void *bytes, size_t size, smurf_error *err)
{
    struct state s;
    *out = NULL;
    if (size == sizeof s) memcpy(&s, bytes, sizeof s);
    if (size != sizeof s || memcmp(s.magic, magic, sizeof magic) != 0 || s.size != size || s.checksum != checksum(s))
        return smurf_fail(err, SMURF_ERROR_INPUT, "the saved alarms are damaged, or of another version: start anew");
    smurf_alarms *a = malloc(sizeof *a);
    if (!a) return smurf_fail_memory(err);
    a->s = s;
    *out = a;
    return SMURF_OK;
}
