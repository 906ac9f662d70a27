/*
 * report.h - writes an evaluation as a web page, and as figures for papers.
 *
 * figure.h lists the figures, chart.h draws axes, canvas.h hides SVG and PNG; page.h has the parts of the page.
 */
#ifndef SMURF_REPORT_REPORT_H
#define SMURF_REPORT_REPORT_H

#include "eval/evaluation.h"

/* Writes the page to path ("-": standard output), atomically. figures: a folder, created if missing, that receives
   every figure as NAME.svg and NAME.png; NULL: none. A build without cairo (see smurf_features) writes no NAME.png, and
   the page says so; if cairo is missing only at run time, this fails. */
smurf_status smurf_report_write(const struct evaluation *evaluation, const char *path, const char *figures,
                                smurf_error *err);

#endif
