/*
 * make_report.c - writes reports of evaluations made by hand, for tests that look at pages:
 *
 *     make_report FOLDER [nice|bad|tiny|many|hostile]
 *
 * leaves report.html and figures/ in FOLDER.
 */
#include "report/report.h"
#include "report_case.h"

/* Too narrow and too late, and worse than the naive laws in everything. */
static struct report_case *make_bad(void)
{
    struct report_case *c = case_new(5000, 3, case_badges, 3);
    struct evaluation *e = &c->evaluation;
    struct row_values *model = &e->row[ROW_MODEL];
    free(model->pit);
    free(model->crps);
    free(model->log_density);
    smurf_metrics types = model->metrics;
    case_add_row(e, ROW_MODEL, "smurf", 0.6, -0.65, 1, 0.6);
    case_compare(e);
    double right = 0, n = (double)e->n;
    for (size_t i = 0; i < e->n; i++) {
        if (i % 5 == 0) model->top[i] = (e->type[i] + 1) % e->types;
        right += model->top[i] == e->type[i];
    }
    model->metrics.acc = 100 * right / n;
    model->metrics.acc_true_time = types.acc_true_time;
    case_add_dates(c);
    return c;
}

static struct report_case *make(const char *what)
{
    if (strcmp(what, "bad") == 0) return make_bad();
    if (strcmp(what, "tiny") == 0) return case_new(172, 1, NULL, 0);
    if (strcmp(what, "many") == 0) return case_new(20000, 10000, NULL, 0);
    if (strcmp(what, "hostile") == 0) {
        struct report_case *c = case_new(400, 7, case_hostile, 7);
        struct evaluation *e = &c->evaluation;
        snprintf(e->unit, sizeof e->unit, "<b>&\"s");
        snprintf(e->data_about, sizeof e->data_about, "%s", case_hostile[0]);
        snprintf(e->example[0].title, sizeof e->example[0].title, "%s", case_hostile[6]);
        e->row[ROW_RAW].name = "<i>raw";
        case_add_dates(c);
        snprintf(e->zone, sizeof e->zone, "<i>&\"");
        return c;
    }
    if (strcmp(what, "nice") != 0) return NULL;
    struct report_case *c = case_new(95907, 15, case_badges, 15);
    case_add_dates(c);
    return c;
}

int main(int argc, char **argv)
{
    char page[4096], figures[4096];
    smurf_error err = {0};
    struct report_case *c = argc > 1 && argc < 4 ? make(argc > 2 ? argv[2] : "nice") : NULL;
    if (!c) {
        fprintf(stderr, "use: make_report FOLDER [nice|bad|tiny|many|hostile]\n");
        return 2;
    }
    snprintf(page, sizeof page, "%s/report.html", argv[1]);
    snprintf(figures, sizeof figures, "%s/figures", argv[1]);
    smurf_status status = smurf_report_write(&c->evaluation, page, figures, &err);
    if (status) fprintf(stderr, "make_report: %s\n", err.message);
    case_free(c);
    return status != SMURF_OK;
}
