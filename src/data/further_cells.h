/*
 * further_cells.h - cells of a table as values of its further columns. Used by table.c.
 */
#ifndef SMURF_DATA_FURTHER_CELLS_H
#define SMURF_DATA_FURTHER_CELLS_H

#include "data/builder.h"
#include "data/field.h"

/* Cells that are no number, in columns of numbers. */
struct further_cells {
    size_t rows, wrong[FURTHER_COLUMNS];
};

/* Adds one row of cells to the builder, which has the columns. An empty cell is missing, and so is what is no number in
   a column of numbers. */
smurf_status smurf_further_cells(struct further_cells *cells, struct builder *b, const struct field *cell,
                                 smurf_error *err);
/* Records remarks about columns with many such cells. */
smurf_status smurf_further_cells_finish(const struct further_cells *cells, struct builder *b, smurf_error *err);

#endif
