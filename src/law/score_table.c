/* score_table.c - see score_table.h. */
#include "law/score_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 256, FAR = 10, GHOSTS = 4 };

/* Workspace for building a table. Nodes are the ends of cells; four more lie beyond either end, for slopes. */
struct grid {
    float coefficient[4 * (SCORE_TABLE_FINE + 2)];
    double value[SCORE_TABLE_FINE + 1 + 2 * GHOSTS]; /* psi at the nodes, from node -GHOSTS */
    bool open[SCORE_TABLE_FINE];                     /* cells that have not met the bound, and whose parent has not */
    bool missed[SCORE_TABLE_FINE / 2 + 2];           /* scratch */
};

static const float nowhere[8] = {SCORE_TABLE_DIRECT, 0, 0, 0, SCORE_TABLE_DIRECT, 0, 0, 0};

void smurf_score_everywhere(const struct law *law, const double *gap, double *out, size_t n)
{
    if (law->class->score) {
        law->class->score(law->self, gap, out, n);
        return;
    }
    double slope[PIECE];
    for (size_t from = 0; from < n; from += PIECE) {
        size_t m = n - from < PIECE ? n - from : PIECE;
        law->class->slope(law->self, gap + from, slope, m);
        law->class->intensity(law->self, gap + from, out + from, m);
        for (size_t i = 0; i < m; i++) out[from + i] = slope[i] / out[from + i] - out[from + i];
    }
}

static double allowed(double score, double scale)
{
    return fmax(fabs(score), 1 / scale);
}

/* Nodes whose score is to be evaluated, in batches. */
struct questions {
    const struct score_table *table;
    const struct law *law;
    size_t count;
    long node[PIECE];
};

static void ask_now(struct questions *questions)
{
    const struct score_table *table = questions->table;
    double x[PIECE], left = table->origin + table->width, *value = ((struct grid *)table->memory)->value + GHOSTS;
    for (size_t i = 0; i < questions->count; i++) x[i] = left + table->width * (double)questions->node[i];
    smurf_score_everywhere(questions->law, x, x, questions->count);
    for (size_t i = 0; i < questions->count; i++) value[questions->node[i]] = x[i];
    questions->count = 0;
}

static void ask(struct questions *questions, long node)
{
    questions->node[questions->count++] = node;
    if (questions->count == PIECE) ask_now(questions);
}

/* The derivative at node *p times the distance to the next node; nodes lie `stride` elements apart. */
static double slope(const double *p, long stride)
{
    return (p[-2 * stride] - 8 * p[-stride] + 8 * p[stride] - p[2 * stride]) / 12;
}

/* The cubic of the cell from *p to *(p + stride), at its midpoint. */
static double middle(const double *p, long stride)
{
    return (p[0] + p[stride]) / 2 + (slope(p, stride) - slope(p + stride, stride)) / 8;
}

/* Doubles the cells: node i becomes 2 i, from -2 to cells + 2. New nodes are evaluated by the law in open cells and
   beyond the ends, and lie on the cubic elsewhere. */
static void halve(struct score_table *table, const struct law *law)
{
    struct grid *grid = table->memory;
    double *node = grid->value + GHOSTS;
    long cells = (long)table->cells;
    for (long i = cells + 2; i > 0; i--) node[2 * i] = node[i];
    node[-4] = node[-2];
    node[-2] = node[-1];
    table->origin += table->width / 2;
    table->width /= 2;
    table->cells *= 2;
    struct questions questions = {.table = table, .law = law};
    for (long k = -2; k < cells + 2; k++) {
        if (k < 0 || k >= cells || grid->open[k])
            ask(&questions, 2 * k + 1);
        else
            node[2 * k + 1] = middle(node + 2 * k, 2);
    }
    ask_now(&questions);
}

/* Compares the cubics of the open cells before the last halving with the scores at their midpoints. Closes cells that
   are within the bound and whose neighbours are, too: an error that changes sign is 0 in between. True if none is left
   open. */
static bool check(struct score_table *table, double scale)
{
    struct grid *grid = table->memory;
    size_t cells = table->cells / 2;
    bool good = true;
    for (size_t k = 0; k < cells; k++) {
        const double *p = grid->value + GHOSTS + 2 * k;
        double miss = grid->open[k] ? fabs(middle(p, 2) - p[1]) / allowed(p[1], scale) : 0;
        grid->missed[k + 1] = !(miss <= SCORE_TABLE_BOUND); /* also if NaN */
        if (!grid->missed[k + 1]) table->error = fmax(table->error, miss);
    }
    grid->missed[0] = grid->missed[cells + 1] = false;
    for (size_t k = cells; k-- > 0;) {
        bool open = grid->open[k] && (grid->missed[k] || grid->missed[k + 1] || grid->missed[k + 2]);
        grid->open[2 * k] = grid->open[2 * k + 1] = open;
        good = good && !open;
    }
    return good;
}

static void put(float *c, double c0, double c1, double c2, double c3)
{
    c[0] = (float)c0, c[1] = (float)c1, c[2] = (float)c2, c[3] = (float)c3;
}

/* The cubics of all cells. Cells left open, and cells with values that do not fit a float, defer to the law. */
static void cubics(struct score_table *table)
{
    struct grid *grid = table->memory;
    for (size_t k = 0; k < table->cells; k++) {
        const double *p = grid->value + GHOSTS + k;
        double d0 = slope(p, 1), d1 = slope(p + 1, 1), rise = p[1] - p[0];
        double size = fmax(fmax(fabs(p[0]), fabs(p[1])), fmax(fabs(d0), fabs(d1)));
        bool finite = isfinite(p[0] + p[1] + d0 + d1) && size < SCORE_TABLE_MOST;
        float *c = grid->coefficient + 4 * (k + 1);
        if (finite && !grid->open[k])
            put(c, p[0], d0, 3 * rise - 2 * d0 - d1, d0 + d1 - 2 * rise);
        else
            put(c, SCORE_TABLE_DIRECT, 0, 0, 0), table->direct++;
    }
}

/* The score beyond an end, if it is constant up to 2^FAR lengths of the table away. */
static double beyond(const struct score_table *table, const struct law *law, double end, double step, double scale)
{
    double x[FAR + 2] = {end};
    for (int i = 0; i <= FAR; i++) x[i + 1] = end + step * (double)table->cells * (double)(1 << i);
    smurf_score_everywhere(law, x, x, FAR + 2);
    for (int i = 0; i < FAR + 2; i++)
        if (!(fabs(x[i] - x[0]) <= SCORE_TABLE_BOUND * allowed(x[0], scale))) return SCORE_TABLE_DIRECT;
    return fabs(x[0]) < SCORE_TABLE_MOST ? x[0] : SCORE_TABLE_DIRECT;
}

bool smurf_score_table_init(struct score_table *table, const struct law *law, double from, double to, double scale)
{
    *table = (struct score_table){.origin = isfinite(from) ? from : 0, .width = 1, .coefficient = nowhere};
    double width = (to - from) / SCORE_TABLE_COARSE;
    if (!(isfinite(width) && width > 1e-9 * (fabs(from) + fabs(to)))) return true;
    struct grid *grid = malloc(sizeof *grid);
    if (!grid) return false;
    table->memory = grid;
    table->coefficient = grid->coefficient;
    table->origin = from - width;
    table->width = width;
    table->cells = SCORE_TABLE_COARSE;
    memset(grid->open, true, SCORE_TABLE_COARSE * sizeof *grid->open);
    struct questions questions = {.table = table, .law = law};
    for (long i = -2; i <= SCORE_TABLE_COARSE + 2; i++) ask(&questions, i);
    ask_now(&questions);
    do halve(table, law);
    while (!check(table, scale) && table->cells < SCORE_TABLE_FINE);
    cubics(table);
    put(grid->coefficient, beyond(table, law, from, -table->width, scale), 0, 0, 0);
    put(grid->coefficient + 4 * (table->cells + 1), beyond(table, law, to, table->width, scale), 0, 0, 0);
    return true;
}

void smurf_score_table_release(struct score_table *table)
{
    free(table->memory);
    *table = (struct score_table){.width = 1, .coefficient = nowhere};
}

double smurf_score_table_at(const struct score_table *table, double x)
{
    double u = fmin(fmax((x - table->origin) / table->width, 0), (double)table->cells + 1.5), k = floor(u), f = u - k;
    const float *c = table->coefficient + 4 * (size_t)k;
    return c[0] == SCORE_TABLE_DIRECT ? NAN : c[0] + f * (c[1] + f * ((double)c[2] + f * c[3]));
}
