/*
 * csv.h - CSV: what the class in csv_read.c needs from csv_write.c.
 */
#ifndef SMURF_DATA_CSV_H
#define SMURF_DATA_CSV_H

#include "data/format.h"

format_write smurf_csv_write, smurf_tsv_write;

#endif
