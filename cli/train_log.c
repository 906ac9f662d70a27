/* train_log.c - see train_log.h. */
#include "train_log.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

FILE *train_log_open(const char *path, bool resume)
{
    FILE *log = fopen(path, resume ? "r+" : "w");
    return log || !resume || errno == ENOMEM ? log : fopen(path, "a");
}

static void log_number(FILE *log, const char *name, double x)
{
    if (isfinite(x))
        fprintf(log, ",\"%s\":%.10g", name, x);
    else
        fprintf(log, ",\"%s\":null", name);
}

void train_log_rewind(FILE *log, size_t epoch)
{
    char line[4096];
    size_t found;
    long at = ftell(log);
    if (at < 0) return; /* a pipe */
    for (; fgets(line, sizeof line, log); at = ftell(log)) {
        bool ends = strchr(line, '\n') || strlen(line) + 1 == sizeof line;
        if (!ends || (sscanf(line, "{\"epoch\":%zu", &found) == 1 && found >= epoch)) break;
    }
    if (fseek(log, at, SEEK_SET) == 0 && ftruncate(fileno(log), at) != 0) fseek(log, 0, SEEK_END);
}

bool train_log_epoch(FILE *log, const smurf_epoch *e)
{
    if (!log) return true;
    fprintf(log, "{\"epoch\":%zu", e->epoch);
    log_number(log, "train_loss", e->train_loss);
    log_number(log, "dev_loss", e->dev_loss);
    log_number(log, "dev_time_loss", e->dev_time_loss);
    log_number(log, "dev_type_loss", e->dev_type_loss);
    log_number(log, "dev_accuracy", e->dev_accuracy);
    log_number(log, "rate", e->rate);
    log_number(log, "seconds", e->seconds);
    log_number(log, "events_per_second", e->events_per_second);
    fprintf(log, ",\"best\":%s}\n", e->best ? "true" : "false");
    return fflush(log) == 0 && !ferror(log);
}
