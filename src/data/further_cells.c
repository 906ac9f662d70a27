/* further_cells.c - see further_cells.h. */
#include "data/further_cells.h"

#include "data/encoding.h"
#include "data/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* False: it is none that a float can hold. */
static bool read_number(const struct field *cell, float *out)
{
    char text[64]; /* a cell may be followed by a digit */
    struct decimal d;
    if (cell->n >= sizeof text) return false;
    memcpy(text, cell->text, cell->n);
    text[cell->n] = '\0';
    if (smurf_decimal_scan(&d, text) != text + cell->n) return false;
    double value = smurf_decimal_value(&d);
    *out = (float)value;
    return fabs(value) <= FLT_MAX;
}

static smurf_status read_word(struct builder *b, struct further_column *column, const struct field *cell, float *out,
                              smurf_error *err)
{
    uint32_t word;
    if (memchr(cell->text, '\0', cell->n))
        return smurf_fail(err, SMURF_ERROR_INPUT, "a NUL byte in the column '%.100s' (is the file damaged?)",
                          column->name);
    word = smurf_names_intern_utf8(&column->word, cell->text, cell->n, &b->decoded);
    if (word == NAMES_FULL) return smurf_fail_memory(err);
    if (word >= FURTHER_WORDS_READ)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "the column '%.100s' has more than %d different words: it cannot be one of --features",
                          column->name, FURTHER_WORDS_READ);
    *out = (float)word;
    return SMURF_OK;
}

smurf_status smurf_further_cells(struct further_cells *cells, struct builder *b, const struct field *cell,
                                 smurf_error *err)
{
    float row[FURTHER_COLUMNS];
    smurf_status status = SMURF_OK;
    cells->rows++;
    for (size_t i = 0; i < b->further.columns && !status; i++) {
        struct further_column *column = &b->further.column[i];
        row[i] = NAN;
        if (!cell[i].n) continue;
        if (column->is_word)
            status = read_word(b, column, &cell[i], &row[i], err);
        else if (!read_number(&cell[i], &row[i]))
            row[i] = NAN, cells->wrong[i]++;
    }
    return status ? status : smurf_builder_further(b, row, 1, err);
}

smurf_status smurf_further_cells_finish(const struct further_cells *cells, struct builder *b, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    for (size_t i = 0; i < b->further.columns && !status; i++)
        if (cells->wrong[i])
            status = smurf_builder_remark(b, err,
                                          "%zu of %zu cells of '%s' are not numbers and count as missing "
                                          "(--features '%s=word' reads words)",
                                          cells->wrong[i], cells->rows, b->further.column[i].name,
                                          b->further.column[i].name);
    return status;
}
