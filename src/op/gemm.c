/* Compiled twice, for float and for double: see op/op.h. */
/*
 * gemm.c - see gemm.h. Built with -ffp-contract=fast, so that multiply-adds are fused.
 *
 * b is taken in panels a few vectors wide and DEPTH deep. Panels that are transposed, at the edge or awkward for the
 * cache are copied. Each panel is multiplied with tiles of rows of a, whose sums stay in registers.
 *
 * A level is a set of tiles for one kind of processor; the best one that the processor can run is chosen at run time.
 * Tiles are sized so that sums, a row of the panel and one element of a fill the registers: 32 of 64 bytes with
 * AVX-512, 16 of 32 bytes with AVX2, 16 or 32 of 16 bytes elsewhere.
 */
#include "op/gemm.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define LEVELS_OF_X86 1
#define TARGET_avx512 __attribute__((target("arch=x86-64-v4")))
#define TARGET_avx2   __attribute__((target("arch=x86-64-v3")))
#else
#define LEVELS_OF_X86 0
#endif
#define TARGET_plain
#define UNROLL _Pragma("GCC unroll 16")

enum {
    DEPTH = 256,
    ROWS_MOST = 12,
    BYTES_MOST = 256, /* of a row of a panel */
    COLUMNS_MOST = BYTES_MOST / (int)sizeof(real),
};

/* c (rows x columns) = alpha a b + beta c. Element (i, e) of a is a[i*row + e*step]; rows of b are ldb apart. */
typedef void tile_fn(size_t k, real alpha, const real *a, size_t row, size_t step, const real *b, size_t ldb, real beta,
                     real *c, size_t ldc);

struct shape {
    size_t columns;
    struct {
        size_t rows; /* from most to 1 */
        tile_fn *multiply;
    } tile[3];
};

struct gemm_level {
    const char *name;
    const struct shape *shape; /* (shapes), from the widest to the narrowest */
    size_t shapes;
    /* out (k x columns) = transpose of b (n x k), padded with 0. */
    void (*transpose)(real *out, size_t columns, const real *b, size_t ldb, size_t n, size_t k);
};

/* ---- Tiles ----------------------------------------------------------------------------------- */

#define TILE(LEVEL, BYTES, ROWS, VECTORS)                                                                              \
    TARGET_##LEVEL static void LEVEL##_tile_##ROWS##x##VECTORS(size_t k, real alpha, const real *a, size_t row,        \
                                                               size_t step, const real *b, size_t ldb, real beta,      \
                                                               real *c, size_t ldc)                                    \
    {                                                                                                                  \
        typedef real vector __attribute__((vector_size(BYTES)));                                                       \
        typedef real loose __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));                      \
        const size_t lanes = BYTES / sizeof(real);                                                                     \
        vector t[ROWS][VECTORS] = {0};                                                                                 \
        for (size_t e = 0; e < k; e++) {                                                                               \
            vector f[VECTORS];                                                                                         \
            UNROLL for (size_t v = 0; v < VECTORS; v++) f[v] = *(const loose *)(b + e * ldb + v * lanes);              \
            UNROLL for (size_t i = 0; i < ROWS; i++) UNROLL for (size_t v = 0; v < VECTORS; v++) t[i][v] +=            \
                a[i * row + e * step] * f[v];                                                                          \
        }                                                                                                              \
        UNROLL for (size_t i = 0; i < ROWS; i++) UNROLL for (size_t v = 0; v < VECTORS; v++)                           \
        {                                                                                                              \
            loose *to = (loose *)(c + i * ldc + v * lanes);                                                            \
            vector sum = alpha * t[i][v];                                                                              \
            if (beta != 0) sum += beta * *to;                                                                          \
            *to = sum;                                                                                                 \
        }                                                                                                              \
    }
#define TILES(LEVEL, BYTES, MOST, SOME, VECTORS)                                                                       \
    TILE(LEVEL, BYTES, MOST, VECTORS)                                                                                  \
    TILE(LEVEL, BYTES, SOME, VECTORS)                                                                                  \
    TILE(LEVEL, BYTES, 1, VECTORS)
#define SHAPE(LEVEL, BYTES, MOST, SOME, VECTORS)                                                                       \
    {                                                                                                                  \
        VECTORS *(BYTES / sizeof(real)),                                                                               \
        {                                                                                                              \
            {MOST, LEVEL##_tile_##MOST##x##VECTORS}, {SOME, LEVEL##_tile_##SOME##x##VECTORS},                          \
            {                                                                                                          \
                1, LEVEL##_tile_1x##VECTORS                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

/* ---- Transposes ------------------------------------------------------------------------------ */

/* The first and second half of two rows interleaved. */
#define FIRST_2   0, 2
#define SECOND_2  1, 3
#define FIRST_4   0, 4, 1, 5
#define SECOND_4  2, 6, 3, 7
#define FIRST_8   0, 8, 1, 9, 2, 10, 3, 11
#define SECOND_8  4, 12, 5, 13, 6, 14, 7, 15
#define FIRST_16  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SECOND_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

/* Transposes by blocks of LANES x LANES: interleaving row i with row i + LANES/2, log2(LANES) times, makes row i
   column i. */
#define TRANSPOSE(LEVEL, BYTES, LANES)                                                                                 \
    TARGET_##LEVEL static inline void LEVEL##_transpose_block(real *out, size_t columns, const real *b, size_t ldb)    \
    {                                                                                                                  \
        typedef real vector __attribute__((vector_size(BYTES)));                                                       \
        typedef real loose __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));                      \
        vector r[LANES], s[LANES];                                                                                     \
        UNROLL for (size_t i = 0; i < LANES; i++) r[i] = *(const loose *)(b + i * ldb);                                \
        UNROLL for (size_t left = LANES; left > 1; left /= 2)                                                          \
        {                                                                                                              \
            UNROLL for (size_t i = 0; i < LANES / 2; i++)                                                              \
            {                                                                                                          \
                s[2 * i] = __builtin_shufflevector(r[i], r[i + LANES / 2], FIRST_##LANES);                             \
                s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + LANES / 2], SECOND_##LANES);                        \
            }                                                                                                          \
            UNROLL for (size_t i = 0; i < LANES; i++) r[i] = s[i];                                                     \
        }                                                                                                              \
        UNROLL for (size_t i = 0; i < LANES; i++) * (loose *)(out + i * columns) = r[i];                               \
    }                                                                                                                  \
    TARGET_##LEVEL static void LEVEL##_transpose(real *out, size_t columns, const real *b, size_t ldb, size_t n,       \
                                                 size_t k)                                                             \
    {                                                                                                                  \
        size_t rows = n / LANES * LANES, whole = k / LANES * LANES;                                                    \
        for (size_t j = 0; j < rows; j += LANES)                                                                       \
            for (size_t e = 0; e < whole; e += LANES)                                                                  \
                LEVEL##_transpose_block(out + e * columns + j, columns, b + j * ldb + e, ldb);                         \
        for (size_t e = whole; e < k; e++)                                                                             \
            for (size_t j = 0; j < rows; j++) out[e * columns + j] = b[j * ldb + e];                                   \
        for (size_t e = 0; e < k; e++)                                                                                 \
            for (size_t j = rows; j < columns; j++) out[e * columns + j] = j < n ? b[j * ldb + e] : 0;                 \
    }

/* ---- Levels ---------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define DEFINE(LEVEL, NAME)                                                                                            \
    static const struct gemm_level LEVEL##_level = {NAME, LEVEL##_shape, COUNT(LEVEL##_shape), LEVEL##_transpose};

#if LEVELS_OF_X86
TILES(avx512, 64, 6, 3, 4)
TILES(avx512, 64, 12, 4, 2)
TILES(avx512, 64, 12, 4, 1)
static const struct shape avx512_shape[] = {SHAPE(avx512, 64, 6, 3, 4), SHAPE(avx512, 64, 12, 4, 2),
                                            SHAPE(avx512, 64, 12, 4, 1)};
TILES(avx2, 32, 6, 3, 2)
TILES(avx2, 32, 12, 4, 1)
static const struct shape avx2_shape[] = {SHAPE(avx2, 32, 6, 3, 2), SHAPE(avx2, 32, 12, 4, 1)};
#if SMURF_REAL == 64
TRANSPOSE(avx512, 64, 8)
TRANSPOSE(avx2, 32, 4)
#else
TRANSPOSE(avx512, 64, 16)
TRANSPOSE(avx2, 32, 8)
#endif
DEFINE(avx512, "avx512")
DEFINE(avx2, "avx2")
#endif

TILES(plain, 16, 6, 3, 2)
TILES(plain, 16, 12, 4, 1)
static const struct shape plain_shape[] = {SHAPE(plain, 16, 6, 3, 2), SHAPE(plain, 16, 12, 4, 1)};
#if SMURF_REAL == 64
TRANSPOSE(plain, 16, 2)
#else
TRANSPOSE(plain, 16, 4)
#endif
#if defined(__aarch64__)
DEFINE(plain, "neon")
#else
DEFINE(plain, "plain")
#endif

const struct gemm_level *gemm_level(size_t index, const char **name)
{
    const struct gemm_level *level[4] = {NULL};
    size_t n = 0;
#if LEVELS_OF_X86
    if (__builtin_cpu_supports("x86-64-v4")) level[n++] = &avx512_level;
    if (__builtin_cpu_supports("x86-64-v3")) level[n++] = &avx2_level;
#endif
    level[n++] = &plain_level;
    if (index >= n) return NULL;
    if (name) *name = level[index]->name;
    return level[index];
}

/* ---- Products -------------------------------------------------------------------------------- */

static void copy_rows(real *out, size_t columns, const real *b, size_t ldb, size_t n, size_t k)
{
    for (size_t e = 0; e < k; e++) {
        memcpy(out + e * columns, b + e * ldb, n * sizeof *out);
        memset(out + e * columns + n, 0, (columns - n) * sizeof *out);
    }
}

/* The right-hand factor of a tile, and what it is multiplied by. */
struct panel {
    const struct shape *shape;
    const real *b;
    size_t ldb, columns, k; /* columns that exist, at most those of the shape */
    real alpha, beta;
};

/* A tile at the right edge goes through a copy: its last columns do not exist. */
static void multiply_edge(const struct panel *p, tile_fn *multiply, size_t rows, const real *a, size_t row, size_t step,
                          real *c, size_t ldc)
{
    real edge[ROWS_MOST * COLUMNS_MOST] __attribute__((aligned(64)));
    for (size_t r = 0; r < rows && p->beta != 0; r++)
        memcpy(edge + r * COLUMNS_MOST, c + r * ldc, p->columns * sizeof *c);
    multiply(p->k, p->alpha, a, row, step, p->b, p->ldb, p->beta, edge, COLUMNS_MOST);
    for (size_t r = 0; r < rows; r++) memcpy(c + r * ldc, edge + r * COLUMNS_MOST, p->columns * sizeof *c);
}

static void multiply_rows(const struct panel *p, size_t m, const real *a, size_t row, size_t step, real *c, size_t ldc)
{
    size_t t = 0;
    for (size_t i = 0, rows; i < m; i += rows) {
        while (p->shape->tile[t].rows > m - i) t++;
        rows = p->shape->tile[t].rows;
        tile_fn *multiply = p->shape->tile[t].multiply;
        if (p->columns == p->shape->columns)
            multiply(p->k, p->alpha, a + i * row, row, step, p->b, p->ldb, p->beta, c + i * ldc, ldc);
        else
            multiply_edge(p, multiply, rows, a + i * row, row, step, c + i * ldc, ldc);
    }
}

/* Rows this far apart, in reals, share a few cache lines' places. */
static bool is_awkward(size_t ld)
{
    return ld * sizeof(real) % 2048 == 0;
}

/* A product of few columns, computed as its transpose: vectors run along the rows of c instead. */
static void multiply_narrow(const struct gemm_level *level, const struct panel *asked, size_t m, size_t n,
                            const real *a, size_t lda, int ta, const real *b, size_t row, size_t step, real *c,
                            size_t ldc)
{
    real room[DEPTH * COLUMNS_MOST] __attribute__((aligned(64)));
    real part[ROWS_MOST * COLUMNS_MOST] __attribute__((aligned(64)));
    struct panel p = *asked;
    p.shape = level->shape;
    p.columns = p.ldb = p.shape->columns;
    p.b = room;
    for (size_t i = 0, rows; i < m; i += rows) {
        rows = p.columns < m - i ? p.columns : m - i;
        if (ta)
            copy_rows(room, p.columns, a + i, lda, rows, p.k);
        else
            level->transpose(room, p.columns, a + i * lda, lda, rows, p.k);
        for (size_t r = 0; r < rows && p.beta != 0; r++)
            for (size_t j = 0; j < n; j++) part[j * COLUMNS_MOST + r] = c[(i + r) * ldc + j];
        multiply_rows(&p, n, b, row, step, part, COLUMNS_MOST);
        for (size_t r = 0; r < rows; r++)
            for (size_t j = 0; j < n; j++) c[(i + r) * ldc + j] = part[j * COLUMNS_MOST + r];
    }
}

static void multiply_panels(const struct gemm_level *level, struct panel *p, size_t m, size_t n, const real *a,
                            size_t row, size_t step, const real *b, size_t ldb, int tb, real *c, size_t ldc)
{
    real room[DEPTH * COLUMNS_MOST] __attribute__((aligned(64)));
    const struct shape *last = level->shape + level->shapes - 1;
    for (size_t j = 0; j < n; j += p->columns) {
        p->shape = level->shape;
        while (p->shape < last && p->shape->columns > n - j) p->shape++;
        p->columns = p->shape->columns < n - j ? p->shape->columns : n - j;
        const real *corner = tb ? b + j * ldb : b + j;
        p->b = room;
        p->ldb = p->shape->columns;
        if (tb)
            level->transpose(room, p->ldb, corner, ldb, p->columns, p->k);
        else if (p->columns < p->ldb || is_awkward(ldb))
            copy_rows(room, p->ldb, corner, ldb, p->columns, p->k);
        else
            p->b = corner, p->ldb = ldb;
        multiply_rows(p, m, a, row, step, c + j, ldc);
    }
}

void gemm_with(const struct gemm_level *level, int ta, int tb, size_t m, size_t n, size_t k, real alpha, const real *a,
               size_t lda, const real *b, size_t ldb, real beta, real *c, size_t ldc)
{
    size_t from = 0, narrow = level->shape[level->shapes - 1].columns / 2;
    do {
        struct panel p = {.k = k - from < DEPTH ? k - from : DEPTH, .alpha = alpha, .beta = from ? 1 : beta};
        const real *left = ta ? a + from * lda : a + from, *right = tb ? b + from : b + from * ldb;
        if (n <= narrow && n < m)
            multiply_narrow(level, &p, m, n, left, lda, ta, right, tb ? ldb : 1, tb ? 1 : ldb, c, ldc);
        else
            multiply_panels(level, &p, m, n, left, ta ? 1 : lda, ta ? lda : 1, right, ldb, tb, c, ldc);
        from += p.k;
    } while (from < k);
}

void gemm(int ta, int tb, size_t m, size_t n, size_t k, real alpha, const real *a, size_t lda, const real *b,
          size_t ldb, real beta, real *c, size_t ldc)
{
    gemm_with(gemm_level(0, NULL), ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
