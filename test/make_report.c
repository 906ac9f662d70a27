/*
 * make_report.c - writes reports of evaluations made by hand, for tests that look at pages:
 *
 *     make_report FOLDER [nice|tiny|many|hostile]
 *
 * leaves report.html and figures/ in FOLDER.
 */
#include "report/report.h"
#include "report_case.h"

static struct report_case *make(const char *what)
{
    if (strcmp(what, "tiny") == 0) return case_new(172, 1, NULL, 0);
    if (strcmp(what, "many") == 0) return case_new(20000, 10000, NULL, 0);
    if (strcmp(what, "hostile") == 0) {
        struct report_case *c = case_new(400, 7, case_hostile, 7);
        struct evaluation *e = &c->evaluation;
        snprintf(e->unit, sizeof e->unit, "<b>&\"s");
        snprintf(e->data_about, sizeof e->data_about, "%s", case_hostile[0]);
        snprintf(e->example[0].title, sizeof e->example[0].title, "%s", case_hostile[6]);
        e->row[ROW_RAW].name = "<i>raw";
        return c;
    }
    return strcmp(what, "nice") == 0 ? case_new(95907, 15, case_badges, 15) : NULL;
}

int main(int argc, char **argv)
{
    char page[4096], figures[4096];
    smurf_error err = {0};
    struct report_case *c = argc > 1 && argc < 4 ? make(argc > 2 ? argv[2] : "nice") : NULL;
    if (!c) {
        fprintf(stderr, "use: make_report FOLDER [nice|tiny|many|hostile]\n");
        return 2;
    }
    snprintf(page, sizeof page, "%s/report.html", argv[1]);
    snprintf(figures, sizeof figures, "%s/figures", argv[1]);
    smurf_status status = smurf_report_write(&c->evaluation, page, figures, &err);
    if (status) fprintf(stderr, "make_report: %s\n", err.message);
    case_free(c);
    return status != SMURF_OK;
}
