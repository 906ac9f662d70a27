/* show_comparison.c - see show_comparison.h. */
#include "show_comparison.h"

#include "json_out.h"
#include "show_metrics.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MOST = 16, CELL = 64 };

static const char *const mark_name[] = {"", "best", "near"};

const char *comparison_warning(const struct comparison *c)
{
    if (!c->bench->paper_protocol) return "";
    return "steps chosen on test by CS, as in the paper's experiments: results on new data will be worse";
}

/* ---- Text and Markdown ------------------------------------------------------------------------- */

static int put_value(char *out, size_t size, double x, int places)
{
    bool plain = fabs(x) < 1e6 && (fabs(x) >= 0.5 * pow(10, -places) || x == 0);
    return plain ? snprintf(out, size, "%.*f", places, x) : snprintf(out, size, "%.3g", x);
}

/* "1.23 ± 0.10"; returns its width in columns. */
static int format_cell(char text[CELL], const struct comparison *c, size_t row, size_t column, bool utf8)
{
    double sd, x = smurf_comparison_value(&c->values, row, column, &sd);
    int places = smurf_comparison_column(column)->places;
    if (!isfinite(x)) return snprintf(text, CELL, "-");
    int n = put_value(text, CELL, x, places);
    if (!isfinite(sd)) return n;
    n += snprintf(text + n, CELL - (size_t)n, utf8 ? " ± " : " +- ");
    n += put_value(text + n, CELL - (size_t)n, sd, places);
    return utf8 ? n - 1 : n;
}

static const char *dagger(const struct comparison *c, size_t row, bool utf8)
{
    if (!c->bench->paper_protocol || !c->row[row].drawn) return "";
    return utf8 ? "†" : "+";
}

/* Column widths over all rows. */
static void measure(const struct comparison *c, bool utf8, int width[COLUMNS_MOST], int *name)
{
    char text[CELL];
    *name = (int)strlen("naive: Markov");
    for (size_t r = 0; r < c->values.rows; r++) {
        int n = (int)strlen(c->values.row[r].name) + (dagger(c, r, utf8)[0] != 0);
        if (n > *name) *name = n;
    }
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        width[k] = (int)strlen(smurf_comparison_column(k)->head);
        for (size_t r = 0; r < c->values.rows; r++) {
            int n = format_cell(text, c, r, k, utf8);
            if (n > width[k]) width[k] = n;
        }
    }
}

static void text_row(FILE *out, const struct comparison *c, size_t row, const int *width, int name, bool bold,
                     bool utf8)
{
    static const char mark[] = {' ', '*', '~'};
    const char *sign = dagger(c, row, utf8);
    fprintf(out, "%s%s%*s", c->values.row[row].name, sign, name - (int)strlen(c->values.row[row].name) - (sign[0] != 0),
            "");
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        char text[CELL];
        int n = format_cell(text, c, row, k, utf8);
        smurf_mark m = smurf_comparison_mark(&c->values, row, k);
        bool thick = bold && m == SMURF_MARK_BEST;
        fprintf(out, "  %*s%s%s%s", width[k] - n, "", thick ? "\033[1m" : "", text, thick ? "\033[0m" : "");
        if (mark[m] != ' ' || smurf_comparison_column(k + 1)) fputc(mark[m], out);
    }
    fputc('\n', out);
}

static void put_title(FILE *out, const struct comparison *c)
{
    const smurf_metrics *m = &c->values.row[0].mean;
    fprintf(out, "%s, test: %zu gaps of %zu sequence%s; %zu seed%s; CRPS and IL in %s\n\n", c->data, m->n, m->sequences,
            m->sequences == 1 ? "" : "s", c->seeds, c->seeds == 1 ? "" : "s", c->unit);
}

static double floor_of(const struct comparison *c, const char *law)
{
    for (size_t r = 0; r < c->values.rows; r++)
        if (strcmp(c->row[r].law, law) == 0) return c->values.row[r].mean.cs_floor;
    return NAN;
}

/* How draws were made. */
static void put_drawing(FILE *out, const struct comparison *c)
{
    const struct bench *b = c->bench;
    if (!bench_draws(b)) return;
    fprintf(out, "drawn: %zu draws per gap by %s%s, ", b->draws, b->sampler,
            b->undenoised ? " without the final Tweedie step" : "");
    if (b->steps)
        fprintf(out, "%zu steps\n", b->steps);
    else
        fprintf(out, "steps chosen on %s\n", b->paper_protocol ? "test" : "dev");
}

/* The lines below the table. */
static void put_notes(FILE *out, const struct comparison *c, const char *best, const char *sign)
{
    fprintf(out, "%s best in column", best);
    fputs(c->seeds > 1 ? "; ~ within the larger of the two standard deviations over seeds\n" : "\n", out);
    fprintf(out, "noise floor of CS: %.2f%%", floor_of(c, "recent"));
    if (isfinite(floor_of(c, "recalibrated"))) fprintf(out, ", recalibrated %.2f%%", floor_of(c, "recalibrated"));
    fputs("; skill: gain in CRPS over naive: recent; compare IL only where CER is small\n", out);
    put_drawing(out, c);
    if (c->of_other_code)
        fprintf(out, "%zu of %zu cells were produced by a different version of the source code\n", c->of_other_code,
                c->cells);
    if (comparison_warning(c)[0]) fprintf(out, "%s %s\n", sign, comparison_warning(c));
}

/* A law of types alone; acc NaN: none. */
static void text_types_row(FILE *out, const char *what, double acc, const int *width, int name)
{
    if (!isfinite(acc)) return;
    fprintf(out, "%-*s", name, what);
    for (int k = 0; k < 4; k++) fprintf(out, "  %*s ", width[k], "");
    fprintf(out, "  %*.2f\n", width[4], acc);
}

void show_comparison_text(FILE *out, const struct comparison *c, bool bold, bool utf8)
{
    int width[COLUMNS_MOST], name;
    measure(c, utf8, width, &name);
    put_title(out, c);
    fprintf(out, "%*s", name, "");
    for (size_t k = 0; smurf_comparison_column(k); k++)
        fprintf(out, "  %*s%s", width[k], smurf_comparison_column(k)->head, smurf_comparison_column(k + 1) ? " " : "");
    fputc('\n', out);
    for (size_t r = 0; r < c->values.rows; r++) text_row(out, c, r, width, name, bold, utf8);
    text_types_row(out, "naive: Markov", c->values.markov, width, name);
    text_types_row(out, "naive: recency", c->values.recency, width, name);
    fputc('\n', out);
    put_notes(out, c, "*", utf8 ? "†" : "+");
}

void show_comparison_markdown(FILE *out, const struct comparison *c)
{
    size_t columns = 0;
    put_title(out, c);
    fputs("| model |", out);
    for (; smurf_comparison_column(columns); columns++) fprintf(out, " %s |", smurf_comparison_column(columns)->head);
    fputs("\n|---|", out);
    for (size_t k = 0; k < columns; k++) fputs("--:|", out);
    fputc('\n', out);
    for (size_t r = 0; r < c->values.rows; r++) {
        fprintf(out, "| %s%s |", c->values.row[r].name, dagger(c, r, true));
        for (size_t k = 0; k < columns; k++) {
            char text[CELL];
            smurf_mark m = smurf_comparison_mark(&c->values, r, k);
            format_cell(text, c, r, k, true);
            fprintf(out, m == SMURF_MARK_BEST ? " **%s** |" : m == SMURF_MARK_NEAR ? " %s ~ |" : " %s |", text);
        }
        fputc('\n', out);
    }
    if (isfinite(c->values.markov)) fprintf(out, "| naive: Markov | | | | | %.2f | | | |\n", c->values.markov);
    if (isfinite(c->values.recency)) fprintf(out, "| naive: recency | | | | | %.2f | | | |\n", c->values.recency);
    fputc('\n', out);
    put_notes(out, c, "**bold**:", "†");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_number(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x)) put_number(out, x);
}

/* Always quoted: model names may contain commas. */
static void csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void show_comparison_csv(FILE *out, const struct comparison *c)
{
    fputs("model,law,runs,n,sequences,unit,steps_chosen_on", out);
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        const char *name = smurf_comparison_column(k)->name;
        fprintf(out, ",%s,%s_sd,%s_mark", name, name, name);
    }
    fputs(",cs_pit,cs_floor\n", out);
    for (size_t r = 0; r < c->values.rows; r++) {
        const smurf_compared *v = &c->values.row[r];
        csv_text(out, c->row[r].model);
        fputc(',', out);
        csv_text(out, c->row[r].law);
        fprintf(out, ",%zu,%zu,%zu,", v->runs, v->mean.n, v->mean.sequences);
        csv_text(out, c->unit);
        fprintf(out, ",%s", !c->row[r].drawn || c->bench->steps ? "" : c->bench->paper_protocol ? "test" : "dev");
        for (size_t k = 0; smurf_comparison_column(k); k++) {
            double sd, x = smurf_comparison_value(&c->values, r, k, &sd);
            csv_number(out, x);
            csv_number(out, sd);
            fprintf(out, ",%s", mark_name[smurf_comparison_mark(&c->values, r, k)]);
        }
        csv_number(out, v->mean.cs_pit);
        csv_number(out, v->mean.cs_floor);
        fputc('\n', out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_list(FILE *out, const char *name, const double *x, double per)
{
    fprintf(out, ",\n   \"%s\": [", name);
    for (int k = 0; k < SMURF_LEVELS; k++) {
        fputs(k ? ", " : "", out);
        put_number(out, x[k] / per);
    }
    fputc(']', out);
}

/* All metrics; `comma` precedes the first. */
static void json_metrics(FILE *out, const smurf_metrics *m, double per, const char *comma)
{
    const smurf_metric *metric;
    for (size_t k = 0; (metric = smurf_metric_at(k)); k++) {
        fprintf(out, "%s\"%s\": ", k ? ", " : comma, metric->name);
        put_number(out, metric_value(m, metric, per));
    }
}

static void json_marks(FILE *out, const struct comparison *c, size_t row)
{
    size_t n = 0;
    fputs(",\n   \"marks\": {", out);
    for (size_t k = 0; smurf_comparison_column(k); k++) {
        smurf_mark m = smurf_comparison_mark(&c->values, row, k);
        if (m) fprintf(out, "%s\"%s\": \"%s\"", n++ ? ", " : "", smurf_comparison_column(k)->name, mark_name[m]);
    }
    fputc('}', out);
}

/* The scores by which the steps were chosen. */
static void json_walk(FILE *out, const struct walk *walk)
{
    if (walk->looks == 0) return;
    fprintf(out, ", \"walk_every\": %zu, \"walk_cs\": [", walk->every);
    for (size_t k = 0; k < walk->looks; k++) {
        fputs(k ? ", " : "", out);
        put_number(out, walk->cs[k]);
    }
    fputc(']', out);
}

/* The single runs. */
static void json_runs(FILE *out, const struct comparison *c, size_t row)
{
    fputs(",\n   \"each\": [", out);
    for (size_t i = 0; i < c->values.row[row].runs; i++) {
        const struct cell *cell = c->row[row].cell[i];
        fprintf(out, "%s\n    {\"fingerprint\": \"%s\"", i ? "," : "", cell->key);
        if (cell->kind == CELL_MODEL) fprintf(out, ", \"seed\": %llu", (unsigned long long)cell->seed);
        if (c->row[row].drawn) fprintf(out, ", \"steps\": %zu", cell->result.steps);
        if (c->row[row].drawn) json_walk(out, &cell->result.walk);
        json_metrics(out, &c->row[row].run[i]->metrics, c->per, ", ");
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_row(FILE *out, const struct comparison *c, size_t row)
{
    const smurf_compared *v = &c->values.row[row];
    double sd, skill = smurf_comparison_value(&c->values, row, 7, &sd);
    fputs("\n  {\"model\": ", out);
    put_string(out, c->row[row].model);
    fputs(", \"law\": ", out);
    put_string(out, c->row[row].law);
    fprintf(out, ", \"runs\": %zu, \"steps_chosen_on\": ", v->runs);
    put_string(out, !c->row[row].drawn || c->bench->steps ? "" : c->bench->paper_protocol ? "test" : "dev");
    fputs(",\n   \"mean\": {", out);
    json_metrics(out, &v->mean, 1, "");
    fputs(", \"skill\": ", out);
    put_number(out, skill);
    fputs("},\n   \"sd\": {", out);
    json_metrics(out, &v->sd, 1, "");
    fputs(", \"skill\": ", out);
    put_number(out, sd);
    fputc('}', out);
    json_marks(out, c, row);
    json_list(out, "coverage", v->mean.coverage, 1);
    json_list(out, "coverage_sd", v->sd.coverage, 1);
    json_list(out, "interval_length", v->mean.interval_length, 1);
    json_list(out, "interval_length_sd", v->sd.interval_length, 1);
    json_runs(out, c, row);
    fputc('}', out);
}

void show_comparison_json(FILE *out, const struct comparison *c)
{
    const smurf_metrics *m = &c->values.row[0].mean;
    fputs("{\"data\": ", out);
    put_string(out, c->data);
    fprintf(out, ", \"part\": \"test\", \"n\": %zu, \"sequences\": %zu, \"unit\": ", m->n, m->sequences);
    put_string(out, c->unit);
    fputs(", \"mean_gap\": ", out);
    put_number(out, c->mean_gap);
    fprintf(out, ",\n \"seeds\": %zu, \"version\": \"%s\", \"sampler\": ", c->seeds, smurf_version());
    put_string(out, c->bench->sampler);
    fprintf(out, ", \"cells\": %zu, \"cells_of_other_code\": %zu", c->cells, c->of_other_code);
    fprintf(out, ", \"draws\": %zu, \"denoised\": %s, \"paper_protocol\": %s, \"acc_markov\": ",
            bench_draws(c->bench) ? c->bench->draws : 0, c->bench->undenoised ? "false" : "true",
            c->bench->paper_protocol ? "true" : "false");
    put_number(out, c->values.markov);
    fputs(", \"acc_recency\": ", out);
    put_number(out, c->values.recency);
    fputs(",\n \"levels\": [", out);
    for (int k = 0; k < SMURF_LEVELS; k++) fprintf(out, "%s%.2f", k ? ", " : "", smurf_levels[k]);
    fputs("],\n \"rows\": [", out);
    for (size_t r = 0; r < c->values.rows; r++) {
        fputs(r ? "," : "", out);
        json_row(out, c, r);
    }
    fputs("]}\n", out);
}
