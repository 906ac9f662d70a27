/*
 * terminal.h - messages and progress on standard error, signals, and what the terminal can show.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "smurf_lab.h"

#include <stdarg.h>

/* Call first. Opens standard descriptors that are closed. Ctrl-C, SIGTERM and SIGHUP then make progress callbacks ask
   for a stop; a second signal kills, and so does work that has not asked after two seconds. */
void terminal_init(void);

/* Whether such a signal came. The caller then ends, in its own time. */
int terminal_stopped(void);

/* A progress callback: draws a line on standard error, if that is a terminal and --quiet is not given. */
int terminal_progress(void *unused, const smurf_progress *progress);
/* A progress line of one's own, cut to the width of the terminal; nothing is drawn where terminal_progress would not.
 */
void terminal_line(const char *text);
/* For a worker process: Ctrl-C is left to its parent, SIGTERM and SIGHUP ask for a stop however often they come. */
void terminal_work(void);
/* Wipes the progress line, if there is one. */
void terminal_clear(void);

/* One line on standard error; control characters, of file names perhaps, become '?'. */
void put_line(const char *before, const char *format, va_list args);
/* "smurf: message" on standard error; returns 1, the exit status. */
int report_error(const smurf_error *err);
/* The same for what the command itself finds wrong. */
int report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "smurf: out of memory", and the end with status 1. For the command's own small allocations. */
_Noreturn void out_of_memory(void);
/* "smurf: warning: ..." unless --quiet. */
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Warns where the model's calibration did not work. */
void report_misses(const smurf_model *model);

/* Flushes standard output; 0, or 1, the exit status, after saying that it could not be written. */
int finish_output(void);
/* What was done, for the user to see: "wrote ...", unless --quiet. */
void report_done(const char *format, ...) __attribute__((format(printf, 1, 2)));

int terminal_width(void); /* of standard output; 80 where it is no terminal */
int terminal_utf8(void);

#endif
