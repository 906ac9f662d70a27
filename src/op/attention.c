/* Compiled twice, for float and for double: see op/op.h. */
/*
 * attention.c - see attention.h. One thread handles one (sequence, head), in a fixed order.
 *
 * The full weight matrix is never stored; tiles of it (tile.h) are computed, used and discarded. The forward pass
 * keeps, for each query row, the largest score so far, most, and sum_j exp(s_ij - most); when most grows, the sum and
 * out_i are rescaled by exp(old most - new most). At the end lse_i = most + ln sum. The backward pass recomputes the
 * weights from lse and, with delta_i = dout_i . out_i = sum_j p_ij dp_ij,
 *
 *     dp_ij = m_ij dout_i . v_j       ds_ij = p_ij (dp_ij - delta_i) / sqrt(width)
 *     dv_j = sum_i m_ij p_ij dout_i   dq_i = sum_j ds_ij k_j    dk_j = sum_i ds_ij q_i
 *
 * Element (i, h, j) of the mask m has the number (i*heads + h) * 2^STRIDE_BITS + j, where i is the number of the row
 * in the data set (op_row_id) and j counts rows of the sequence. Tiles begin at multiples of 8 columns, whatever their size.
 *
 * Built with -ffast-math, without which gcc does not call libmvec's vector exp. No infinity or NaN is produced here:
 * masked scores are a large negative number, and arguments of exp are clamped where weights become negligible.
 */
#include "op/attention.h"

#include "base/clones.h"
#include "op/dropout.h"
#include "op/tile.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    TILE = TILE_ROWS * TILE_COLUMNS,
    SCRATCH = (3 * TILE + 2 * TILE_ROWS + TILE_SCRATCH + 63) / 64 * 64,
    BAND = 16, /* mask rows generated together; small, because the unseen part is wasted */
    STRIDE_BITS = 24,
};

#if SMURF_REAL == 64
#define exponential exp
static const real lowest = -1e300, floor_of_exp = -700;
#else
#define exponential expf
static const real lowest = -1e30f, floor_of_exp = -80;
#endif

/* One head of one sequence: n rows of `width`, ld apart. */
struct head {
    const struct op_run *run;
    struct op_dropout dropout;
    size_t n, width, ld, heads;
    uint64_t element; /* of the mask: row 0, column 0 */
    real scale;
};

/* The bound, about 1e-35 (float) or 1e-304 (double), is negligible beside the largest weight of a row, 1. */
static real bounded_exp(real x)
{
    return exponential(x > floor_of_exp ? x : floor_of_exp);
}

static void fill(real *x, size_t from, size_t to, real value)
{
    for (size_t c = from; c < to; c++) x[c] = value;
}

/* Mask of the tile whose first row and column are i and j. */
static void make_mask(const struct head *head, const struct tile *tile, size_t i, size_t j, real *mask)
{
    uint64_t stride = (uint64_t)head->heads << STRIDE_BITS;
    for (size_t r = 0; r < tile->rows; r += BAND) {
        size_t rows = tile->rows - r < BAND ? tile->rows - r : BAND;
        size_t columns = tile_padded(tile_visible(tile, r + rows - 1));
        uint64_t first = head->element + (i + r) * stride + j;
        real *to = mask + r * TILE_COLUMNS;
        dropout_tile(head->run, head->dropout, first, stride, rows, columns, to, TILE_COLUMNS);
    }
}

/* s = exp(s - most), times mask (or NULL). Returns the sum before the mask. n is a multiple of the vector length, so
   that no scalar exp remains. */
static inline __attribute__((always_inline)) real weigh_row(real *restrict s, const real *restrict mask, size_t n,
                                                            real most)
{
    real sum = 0;
    if (mask) {
        for (size_t c = 0; c < n; c++) {
            real p = bounded_exp(s[c] - most);
            sum += p;
            s[c] = p * mask[c];
        }
    } else {
        for (size_t c = 0; c < n; c++) sum += s[c] = bounded_exp(s[c] - most);
    }
    return sum;
}

/* Turns scores s into weights relative to the running maximum; rescales out (rows x width, ld apart) to it. */
OP_CLONES static void weigh_tile(const struct tile *tile, real *s, const real *mask, real *most, real *sum, real *out,
                                 size_t ld)
{
    for (size_t r = 0; r < tile->rows; r++, s += TILE_COLUMNS, out += ld) {
        size_t n = tile_visible(tile, r), whole = tile_padded(n);
        real top = most[r];
        fill(s, n, whole, lowest);
        for (size_t c = 0; c < whole; c++) top = s[c] > top ? s[c] : top;
        if (sum[r] > 0 && top > most[r]) {
            real shrink = bounded_exp(most[r] - top);
            for (size_t d = 0; d < tile->width; d++) out[d] *= shrink;
            sum[r] *= shrink;
        }
        sum[r] += weigh_row(s, mask ? mask + r * TILE_COLUMNS : NULL, whole, top);
        most[r] = top;
        fill(s, n, tile->columns, 0);
    }
}

/* The tile of `rows` queries from row i, and the keys from row j on that they see. */
static struct tile tile_at(const struct head *head, size_t i, size_t rows, size_t j)
{
    size_t columns = i + rows - j;
    return (struct tile){rows, columns < TILE_COLUMNS ? columns : TILE_COLUMNS, i - j + 1, head->width};
}

/* Computes rows i .. i+rows-1 of out and lse. */
static void forward_rows(const struct head *head, const real *q, const real *k, const real *v, real *out, real *lse,
                         size_t i, size_t rows, real *scratch)
{
    size_t width = head->width, ld = head->ld;
    real *s = scratch, *most = s + 3 * TILE, *sum = most + TILE_ROWS, *more = sum + TILE_ROWS;
    real *mask = head->dropout.rate > 0 ? s + TILE : NULL;
    q += i * ld, out += i * ld, lse += i * head->heads;
    for (size_t r = 0; r < rows; r++) {
        most[r] = lowest, sum[r] = 0;
        fill(out + r * ld, 0, width, 0);
    }
    for (size_t j = 0; j < i + rows; j += TILE_COLUMNS) {
        struct tile tile = tile_at(head, i, rows, j);
        tile_scores(&tile, head->scale, q, k + j * ld, ld, s, more);
        if (mask) make_mask(head, &tile, i, j, mask);
        weigh_tile(&tile, s, mask, most, sum, out, ld);
        tile_rows(&tile, 1, s, v + j * ld, out, ld, more);
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t d = 0; d < width; d++) out[r * ld + d] /= sum[r];
        lse[r * head->heads] = most[r] + (real)log((double)sum[r]);
    }
}

/* Turns scores s into masked weights, and dp = dout . v into unscaled ds. */
OP_CLONES static void weigh_back(const struct tile *tile, real *restrict s, real *restrict dp,
                                 const real *restrict mask, const real *lse, const real *delta, size_t heads)
{
    for (size_t r = 0; r < tile->rows; r++, s += TILE_COLUMNS, dp += TILE_COLUMNS) {
        size_t n = tile_visible(tile, r), whole = tile_padded(n);
        real level = lse[r * heads], mean = delta[r * heads];
        fill(s, n, whole, lowest);
        fill(dp, n, whole, 0);
        if (mask) {
            const real *factor = mask + r * TILE_COLUMNS;
            for (size_t c = 0; c < whole; c++) {
                real p = bounded_exp(s[c] - level);
                dp[c] = p * (factor[c] * dp[c] - mean);
                s[c] = p * factor[c];
            }
        } else {
            for (size_t c = 0; c < whole; c++) {
                s[c] = bounded_exp(s[c] - level);
                dp[c] = s[c] * (dp[c] - mean);
            }
        }
        fill(s, n, tile->columns, 0);
        fill(dp, n, tile->columns, 0);
    }
}

/* Gradients of one head; rows of dq, dk, dv are `ld` apart. */
struct gradient {
    real *dq, *dk, *dv;
};

/* Computes dq of rows i .. i+rows-1, and adds their share of dk and dv. */
static void backward_rows(const struct head *head, const real *q, const real *k, const real *v, const real *lse,
                          const real *dout, const real *delta, struct gradient to, size_t i, size_t rows, real *scratch)
{
    size_t ld = head->ld;
    real *s = scratch, *ds = s + TILE, *more = s + 3 * TILE;
    real *mask = head->dropout.rate > 0 ? s + 2 * TILE : NULL;
    q += i * ld, dout += i * ld, to.dq += i * ld, lse += i * head->heads, delta += i * head->heads;
    for (size_t j = 0; j < i + rows; j += TILE_COLUMNS) {
        struct tile tile = tile_at(head, i, rows, j);
        tile_scores(&tile, head->scale, q, k + j * ld, ld, s, more);
        tile_scores(&tile, 1, dout, v + j * ld, ld, ds, more);
        if (mask) make_mask(head, &tile, i, j, mask);
        weigh_back(&tile, s, ds, mask, lse, delta, head->heads);
        tile_columns(&tile, 1, s, dout, to.dv + j * ld, ld, more);
        tile_columns(&tile, head->scale, ds, q, to.dk + j * ld, ld, more);
        tile_rows(&tile, head->scale, ds, k + j * ld, to.dq, ld, more);
    }
}

/* (sequence, head) number `item`; *at is its first row. */
static struct head head_of(const struct op_run *run, const struct op_rows *rows, size_t heads, size_t width,
                           struct op_dropout dropout, size_t item, size_t *at)
{
    size_t sequence = item / heads;
    *at = rows->offset[sequence];
    return (struct head){.run = run,
                         .dropout = dropout,
                         .n = rows->offset[sequence + 1] - *at,
                         .width = width,
                         .ld = heads * width,
                         .heads = heads,
                         .element = (op_row_id(rows, sequence, 0) * heads + item % heads) << STRIDE_BITS,
                         .scale = (real)(1 / sqrt((double)width))};
}

/* The calling thread's part of the scratch. */
static real *own_scratch(real *scratch)
{
#ifdef _OPENMP
    return scratch + (size_t)omp_get_thread_num() * SCRATCH;
#else
    return scratch;
#endif
}

/* Whether to stop early. Checked periodically: inside long sequences, and between many short ones. */
static bool leaves(const struct op_run *run, size_t item, size_t row)
{
    return (row || item % 64 == 0) && op_stopped(run);
}

size_t attention_scratch(size_t heads, size_t width, int threads)
{
    (void)heads, (void)width;
    return (size_t)threads * SCRATCH;
}

void attention_forward(const struct op_run *run, const struct op_rows *rows, size_t heads, size_t width,
                       struct op_dropout dropout, const real *q, const real *k, const real *v, real *out, real *lse,
                       real *scratch)
{
    const size_t items = rows->sequences * heads;
    atomic_size_t left = items;
#pragma omp parallel num_threads(run->threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (size_t item = 0; item < items; item++) {
            size_t at, h = item % heads;
            struct head head = head_of(run, rows, heads, width, dropout, item, &at);
            size_t from = at * head.ld + h * width;
            for (size_t i = 0; i < head.n && !leaves(run, item, i); i += TILE_ROWS)
                forward_rows(&head, q + from, k + from, v + from, out + from, lse + at * heads + h, i,
                             head.n - i < TILE_ROWS ? head.n - i : TILE_ROWS, own_scratch(scratch));
            atomic_fetch_sub(&left, 1);
        }
        if (rows->offset[rows->sequences] >= OP_LONG) smurf_stop_linger(run->stop, &left);
    }
}

/* delta = dout . out of each row; zeroes dq, dk and dv, which tiles add to. */
static void begin_backward(const struct head *head, const real *out, const real *dout, struct gradient to, real *delta)
{
    for (size_t i = 0; i < head->n; i++) {
        size_t at = i * head->ld;
        real sum = 0;
        for (size_t d = 0; d < head->width; d++) sum += out[at + d] * dout[at + d];
        delta[i * head->heads] = sum;
        fill(to.dq + at, 0, head->width, 0);
        fill(to.dk + at, 0, head->width, 0);
        fill(to.dv + at, 0, head->width, 0);
    }
}

void attention_backward(const struct op_run *run, const struct op_rows *rows, size_t heads, size_t width,
                        struct op_dropout dropout, const real *q, const real *k, const real *v, const real *out,
                        const real *lse, const real *dout, real *dq, real *dk, real *dv, real *delta, real *scratch)
{
    const size_t items = rows->sequences * heads;
    atomic_size_t left = items;
#pragma omp parallel num_threads(run->threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (size_t item = 0; item < items; item++) {
            size_t at, h = item % heads;
            struct head head = head_of(run, rows, heads, width, dropout, item, &at);
            size_t from = at * head.ld + h * width, row = at * heads + h;
            struct gradient to = {dq + from, dk + from, dv + from};
            begin_backward(&head, out + from, dout + from, to, delta + row);
            for (size_t i = 0; i < head.n && !leaves(run, item, i); i += TILE_ROWS)
                backward_rows(&head, q + from, k + from, v + from, lse + row, dout + from, delta + row, to, i,
                              head.n - i < TILE_ROWS ? head.n - i : TILE_ROWS, own_scratch(scratch));
            atomic_fetch_sub(&left, 1);
        }
        if (rows->offset[rows->sequences] >= OP_LONG) smurf_stop_linger(run->stop, &left);
    }
}
