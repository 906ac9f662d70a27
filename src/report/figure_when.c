/*
 * figure_when.c - do the intervals hold at any time? Coverage of the central 90% intervals by hour of the day and by
 * weekday in which a gap began, and over the period.
 *
 * Whether the coverage s_b of B groups of n_b gaps differs: sum_b n_b (s_b - s)^2 / (s (1 - s)) is chi-square with B -
 * 1 degrees of freedom if it does not; s is the coverage of all.
 */
#include "report/figure.h"
#include "report/noise.h"

#include "data/calendar.h"
#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 350, HEIGHT = 300 };
enum { HOURS = 24, DAYS = 7, PERIODS = 20, GROUPS = 24, GAPS_LEAST = 20, PERIOD_GAPS = 150 };
static const double rare = 0.01; /* level of the test of each panel */

enum view { BY_HOUR, BY_WEEKDAY, BY_PERIOD, VIEWS };

struct group {
    size_t n, inside;
    double from, to; /* on the axis */
};
struct groups {
    size_t count, n, inside;
    struct group group[GROUPS];
};

static bool is_probability(double u)
{
    return u >= 0 && u <= 1;
}

/* Whether gap i has a time; without dates, its number is the time. */
static bool is_dated(const struct evaluation *e, size_t i)
{
    return is_probability(e->row[ROW_MODEL].pit[i]) && (!e->began || fabs(e->began[i]) < 1e12);
}

static double time_of(const struct evaluation *e, size_t i)
{
    return e->began ? e->began[i] : (double)i;
}

static void add(struct groups *out, size_t group, double pit)
{
    bool inside = pit >= 0.05 && pit <= 0.95;
    out->group[group].n++;
    out->group[group].inside += inside;
    out->n++;
    out->inside += inside;
}

/* ---- Groups --------------------------------------------------------------------------------------- */

static void group_by_clock(struct groups *out, const struct evaluation *e, enum view view)
{
    out->count = view == BY_HOUR ? HOURS : DAYS;
    for (size_t g = 0; g < out->count; g++) out->group[g] = (struct group){.from = (double)g, .to = (double)(g + 1)};
    for (size_t i = 0; i < e->n; i++) {
        if (!is_dated(e, i)) continue;
        double day = floor(e->began[i] / 86400), second = e->began[i] - 86400 * day;
        size_t group = view == BY_HOUR ? (size_t)(second / 3600) : (size_t)smurf_calendar_weekday((int64_t)day);
        add(out, group < out->count ? group : out->count - 1, e->row[ROW_MODEL].pit[i]);
    }
}

struct dated {
    double time, pit;
};

static int by_time(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Periods with as many gaps each. False: out of memory. */
static bool group_by_period(struct groups *out, const struct evaluation *e)
{
    struct dated *gap = malloc((e->n ? e->n : 1) * sizeof *gap);
    size_t n = 0;
    if (!gap) return false;
    for (size_t i = 0; i < e->n; i++)
        if (is_dated(e, i)) gap[n++] = (struct dated){time_of(e, i), e->row[ROW_MODEL].pit[i]};
    if (e->began) qsort(gap, n, sizeof *gap, by_time);
    out->count = n / PERIOD_GAPS < PERIODS ? n / PERIOD_GAPS : PERIODS;
    for (size_t g = 0; g < out->count; g++) {
        size_t from = g * n / out->count, to = (g + 1) * n / out->count;
        out->group[g] = (struct group){.from = gap[from].time, .to = gap[to < n ? to : n - 1].time};
        for (size_t i = from; i < to; i++) add(out, g, gap[i].pit);
    }
    free(gap);
    return true;
}

/* Whether there are two groups to compare. */
static bool can_compare(const struct groups *groups)
{
    size_t shown = 0;
    for (size_t g = 0; g < groups->count; g++) shown += groups->group[g].n >= GAPS_LEAST;
    return shown >= 2;
}

/* False: nothing to show. */
static bool make_groups(struct groups *out, const struct evaluation *e, enum view view, bool *no_memory)
{
    *out = (struct groups){0};
    if (!is_measured(e, ROW_MODEL) || !e->row[ROW_MODEL].pit) return false;
    if (view != BY_PERIOD) {
        if (!e->began || (view == BY_WEEKDAY && e->no_week)) return false;
        group_by_clock(out, e, view);
        return can_compare(out);
    }
    if (!e->began && e->sequences != 1) return false;
    if (!group_by_period(out, e)) *no_memory = true;
    return out->count >= 2 && out->group[out->count - 1].to > out->group[0].from;
}

/* The views that can be drawn, in order. One that cannot be told for lack of memory counts: whoever draws it tries
   again. */
static size_t views(enum view view[VIEWS], const struct evaluation *e)
{
    struct groups groups;
    size_t n = 0;
    for (enum view v = 0; v < VIEWS; v++) {
        bool no_memory = false;
        if (make_groups(&groups, e, v, &no_memory) || no_memory) view[n++] = v;
    }
    return n;
}

static size_t panels(const struct evaluation *e)
{
    enum view view[VIEWS];
    return views(view, e);
}

/* ---- Drawing -------------------------------------------------------------------------------------- */

static void write_moment(struct label *out, double began, double span)
{
    char text[NUMBER_TEXT];
    size_t n = smurf_number_write_calendar(text, (int64_t)began, 0);
    text[n] = '\0';
    bool usual = n > 15 && text[10] == 'T';
    if (!usual)
        *out = smurf_significant(began, 4);
    else if (span > 4 * 86400.0)
        snprintf(out->text, sizeof out->text, "%.10s", text);
    else
        snprintf(out->text, sizeof out->text, "%.5s %.5s", text + 5, text + 11);
}

/* Returns the number of ticks. */
static size_t make_ticks(struct tick tick[GROUPS], const struct evaluation *e, const struct groups *groups,
                         enum view view)
{
    static const char *const day[DAYS] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    double from = groups->group[0].from, span = groups->group[groups->count - 1].to - from;
    size_t n = view == BY_HOUR ? 5 : view == BY_WEEKDAY ? DAYS : e->began ? 3 : 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i;
        tick[i].at = view == BY_HOUR ? 6 * x : view == BY_WEEKDAY ? x + 0.5 : from + span * (x + 0.5) / 3;
        if (view == BY_HOUR)
            snprintf(tick[i].label.text, sizeof tick[i].label.text, "%zu:00", 6 * i);
        else if (view == BY_WEEKDAY)
            snprintf(tick[i].label.text, sizeof tick[i].label.text, "%s", day[i]);
        else
            write_moment(&tick[i].label, tick[i].at, span);
    }
    return n;
}

static double share(const struct group *group)
{
    return (double)group->inside / (double)group->n;
}

/* The lowest value on the axis, in percent. */
static double bottom(const struct groups *groups)
{
    double low = 80;
    for (size_t g = 0; g < groups->count; g++)
        if (groups->group[g].n >= GAPS_LEAST) low = fmin(low, 100 * share(&groups->group[g]) - 2);
    return fmax(0, low);
}

static void draw_group(struct chart *chart, const struct group *group)
{
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.55}, dot = {.fill = COLOUR_MODEL};
    if (group->n < GAPS_LEAST) return;
    struct span span = smurf_binomial_span(group->n, 0.9);
    smurf_chart_bar(chart, group->from, group->to, fmax(100 * span.low, chart->y.low), 100 * span.high, &band);
    smurf_chart_dot(chart, (group->from + group->to) / 2, 100 * share(group), 3.5, &dot);
}

static void draw(struct canvas *canvas, const struct evaluation *e, size_t panel)
{
    const struct style band = {.fill = COLOUR_BAND, .opacity = 0.55}, nominal = {.line = COLOUR_MUTED, .width = 1};
    enum view view[VIEWS];
    struct groups groups;
    struct tick tick[GROUPS];
    if (panel >= views(view, e) || !make_groups(&groups, e, view[panel], &canvas->no_memory)) return;
    struct words label = {0};
    smurf_words_add(&label,
                    view[panel] == BY_HOUR      ? "hour of the day (%s)"
                    : view[panel] == BY_WEEKDAY ? "weekday (%s)"
                    : e->began                  ? "date (%s)"
                                                : "number of the gap",
                    e->zone);
    const struct key key[2] = {{e->row[ROW_MODEL].name, {.fill = COLOUR_MODEL}, KEY_DOT},
                               {"chance, 95%", band, KEY_BOX}};
    struct chart_plan plan = {.width = WIDTH, .height = HEIGHT, .key = key, .keys = 2};
    double from = groups.group[0].from, to = groups.group[groups.count - 1].to;
    plan.x = (struct axis){.label = label.text, .low = from, .high = to, .tick = tick};
    plan.x.ticks = make_ticks(tick, e, &groups, view[panel]);
    plan.y =
        (struct axis){.label = "gaps inside 90% intervals (%)", .low = bottom(&groups), .high = 100, .round = true};
    struct chart chart;
    smurf_chart_open(&chart, canvas, &plan);
    for (size_t g = 0; g < groups.count; g++) draw_group(&chart, &groups.group[g]);
    const double ends[2] = {from, to}, flat[2] = {90, 90};
    smurf_chart_line(&chart, ends, flat, 2, &nominal);
    smurf_chart_close(&chart);
}

/* ---- The finding ---------------------------------------------------------------------------------- */

/* The probability of differences as large, without cause; and the group farthest off, in standard deviations. */
static double test_groups(const struct groups *groups, size_t *farthest)
{
    double s = (double)groups->inside / (double)groups->n, sum = 0, most = 0;
    size_t used = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct group *group = &groups->group[g];
        if (group->n < GAPS_LEAST) continue;
        double d = (share(group) - s) * (share(group) - s) * (double)group->n / (s * (1 - s));
        if (d > most) most = d, *farthest = g;
        sum += d;
        used++;
    }
    return used > 1 && s > 0 && s < 1 ? smurf_chi_square_tail(sum, used - 1) : 1;
}

static void say_group(struct words *words, const struct evaluation *e, const struct groups *groups, enum view view,
                      size_t g)
{
    static const char *const day[DAYS] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    const struct group *group = &groups->group[g];
    struct label from, to;
    write_moment(&from, group->from, group->to - group->from);
    write_moment(&to, group->to, group->to - group->from);
    smurf_words_add(words, "Coverage depends on the %s: of the %s gaps that began ",
                    view == BY_HOUR      ? "hour"
                    : view == BY_WEEKDAY ? "weekday"
                                         : "period",
                    smurf_count(group->n).text);
    if (view == BY_HOUR)
        smurf_words_add(words, "between %zu:00 and %zu:00", g, g + 1);
    else if (view == BY_WEEKDAY)
        smurf_words_add(words, "on a %s", day[g]);
    else if (e->began)
        smurf_words_add(words, "from %s to %s", from.text, to.text);
    else
        smurf_words_add(words, "in part %zu of %zu of the log", g + 1, groups->count);
    smurf_words_add(words, ", 90%% intervals contained %s%%. ", smurf_fixed(100 * share(group), 1).text);
}

static void finding(struct words *words, const struct evaluation *e)
{
    enum view view[VIEWS];
    struct groups groups;
    size_t n = views(view, e);
    for (size_t v = 0; v < n; v++) {
        size_t g = 0;
        if (make_groups(&groups, e, view[v], &words->no_memory) && test_groups(&groups, &g) < rare)
            say_group(words, e, &groups, view[v], g);
    }
    if (!words->used) smurf_words_add(words, "Coverage does not change with time by more than chance explains. ");
}

const struct figure smurf_figure_when = {
    .name = "when",
    .title = "Do the intervals hold at any time?",
    .caption =
        "The share of gaps inside the central 90% intervals, by the time at which the gap began. Grey bars: the range "
        "of chance around 90%; a small group has a wide range. Groups of fewer than 20 gaps are left out. A slope "
        "over the dates: the log has changed since training.",
    .width = WIDTH,
    .height = HEIGHT,
    .columns = 3,
    .panels = panels,
    .draw = draw,
    .finding = finding,
};
