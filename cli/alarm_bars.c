/* alarm_bars.c - see alarm_bars.h. */
#include "alarm_bars.h"

#include "json_out.h"
#include "modelfile.h"
#include "show_forecast.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>

/* The first gaps to end are the short ones: long enough for most to end, but not for ever. */
static double warm_up_of(const smurf_model *model, double day)
{
    enum { DAYS_MOST = 30 };
    const double level = 0.95;
    double gap = 0;
    smurf_forecast *f;
    if (smurf_forecast_new(&f, model, 0, NULL)) out_of_memory();
    if (smurf_forecast_quantile(f, &level, &gap, 1, NULL)) gap = 0; /* an old model: only a day */
    smurf_forecast_free(f);
    return fmin(gap, DAYS_MOST * day);
}

double alarm_day(const smurf_model *model, const char *day)
{
    smurf_error err;
    double length;
    if (day)
        length = parse_duration("day", day, model);
    else if (smurf_duration_parse(&length, "1d", model_unit(model), &err))
        usage_error(
            "the unit of the model's times is not known: give the length of a day in it, --day 1440 for minutes");
    if (!(length > 0)) usage_error("--day takes a time above 0");
    return length;
}

smurf_alarms *alarm_bars(const smurf_model *model, const char *per_day, const char *day, int fixed)
{
    smurf_alarms_config config;
    smurf_alarms *alarms;
    smurf_error err;
    smurf_alarms_config_init(&config);
    parse_numbers("alarms-per-day", per_day, 1e-6, 1e6, &config.per_day, 1);
    config.day = alarm_day(model, day);
    config.warm_up = warm_up_of(model, config.day);
    config.typed = smurf_model_types(model) > 1;
    config.adapt = !fixed;
    if (smurf_alarms_new(&alarms, &config, &err)) exit(report_error(&err));
    return alarms;
}

void alarm_json(FILE *out, const struct alarm *a, const char *type, int calendar)
{
    fputs("{\"alarm\":", out);
    put_string(out, smurf_alarm_name(a->kind));
    json_moment(out, "at", a->at, calendar);
    if (a->sequence) {
        fputs(",\"sequence\":", out);
        put_string(out, a->sequence);
    }
    if (type) {
        fputs(",\"type\":", out);
        put_string(out, type);
    }
    json_number(out, "p", a->p);
    if (!isnan(a->gap)) json_number(out, a->kind == SMURF_ALARM_OVERDUE ? "silence" : "gap", a->gap);
    fputs(",\"evidence\":", out);
    put_string(out, a->words);
    putc('}', out);
}
