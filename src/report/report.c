/* report.c - see report.h. The page is written after the figures: it never mentions missing files. */
#include "report/report.h"

#include "base/error.h"
#include "report/figure.h"
#include "report/page.h"
#include "report/readable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static smurf_status open_file(struct sink *sink, const char *folder, const char *name, const char *suffix,
                              smurf_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%s", folder, name, suffix) < 0) return smurf_fail_memory(err);
    smurf_status status = smurf_sink_open(sink, path, false, err);
    free(path);
    return status;
}

static smurf_status write_svg(const struct figure *figure, const struct evaluation *evaluation, const char *folder,
                              smurf_error *err)
{
    double width, height;
    struct sink sink;
    struct svg svg;
    smurf_status status = open_file(&sink, folder, figure->name, "svg", err);
    if (status) return status;
    smurf_figure_size(figure, evaluation, &width, &height);
    smurf_figure_draw(figure, smurf_svg_open(&svg, &sink, width, height, figure->title, false), evaluation);
    smurf_svg_close(&svg);
    return smurf_sink_commit(&sink, err);
}

static smurf_status write_png(const struct figure *figure, const struct evaluation *evaluation, const char *folder,
                              smurf_error *err)
{
    double width, height;
    struct sink sink;
    struct png *png;
    struct canvas *canvas;
    smurf_figure_size(figure, evaluation, &width, &height);
    smurf_status status = smurf_png_open(&png, &canvas, width, height, err);
    if (status) return status;
    smurf_figure_draw(figure, canvas, evaluation);
    status = open_file(&sink, folder, figure->name, "png", err);
    if (!status) {
        status = smurf_png_write(png, &sink, err);
        if (status)
            smurf_sink_abandon(&sink);
        else
            status = smurf_sink_commit(&sink, err);
    }
    smurf_png_free(png);
    return status;
}

static smurf_status write_figures(const struct evaluation *evaluation, const char *folder, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return smurf_fail_errno(err, "make the folder", folder, errno);
    for (size_t i = 0; smurf_figure(i) && !status; i++) {
        if (!smurf_figure(i)->panels(evaluation)) continue;
        if (smurf_png_available()) status = write_png(smurf_figure(i), evaluation, folder, err);
        if (!status) status = write_svg(smurf_figure(i), evaluation, folder, err);
    }
    return status;
}

smurf_status smurf_figures_check(smurf_error *err)
{
    struct png *png;
    struct canvas *canvas;
    if (!smurf_png_available()) return SMURF_OK; /* figures are SVG only */
    smurf_status status = smurf_png_open(&png, &canvas, 1, 1, err);
    if (!status) smurf_png_free(png);
    return status;
}

smurf_status smurf_report_write(const struct evaluation *evaluation, const char *path, const char *figures,
                                smurf_error *err)
{
    struct sink sink;
    smurf_status status = figures ? smurf_figures_check(err) : SMURF_OK;
    struct evaluation *shown = smurf_evaluation_readable(evaluation);
    if (!status && !shown) status = smurf_fail_memory(err);
    if (!status && figures) status = write_figures(shown, figures, err);
    if (!status) status = smurf_sink_open(&sink, path, false, err);
    if (!status) {
        smurf_page_write(&sink, shown, figures != NULL);
        status = smurf_sink_commit(&sink, err);
    }
    free(shown);
    return status;
}

smurf_status smurf_evaluation_report(const smurf_evaluation *evaluation, const char *path, const char *figures,
                                     smurf_error *err)
{
    return smurf_report_write(&evaluation->values, path, figures, err);
}
