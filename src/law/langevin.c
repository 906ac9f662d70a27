/*
 * langevin.c - t <- t + 1/2 eps psi(t) + sqrt(eps) z, and at the end t <- t + sigma^2 psi(t).
 *
 * The table of psi spans the range of the draws: the starts, the displacement by drift alone, and four standard
 * deviations of the noise of all steps. It depends on law and config only. Draws are processed WALK_LANES at a time,
 * padded to whole groups with draws that are discarded, so that each draw runs the same vector code for any n. The law
 * is evaluated in whole groups for the same reason.
 */
#include "law/langevin.h"

#include "base/random.h"
#include "law/walk.h"

#include <float.h>
#include <math.h>

/* The drift's path is followed in PIECES, each at most half the reach of the noise: DEVIATIONS of all steps
   together. */
enum { PIECES = 16, DEVIATIONS = 4 };

struct walk {
    const struct langevin *langevin;
    const struct sampler_config *config;
    const struct score_table *table;
    struct walk_step step;
    uint64_t stream;
    size_t steps;
};

static double into(const struct langevin *langevin, double t)
{
    return langevin->into ? langevin->into(t) : t;
}

/* ---- The table ----------------------------------------------------------------------------------------- */

/* Where drift alone carries y: to the left with sign -1, to the right with 1. */
static double drifted(const struct law *law, double y, double sign, double time, double reach)
{
    for (int i = 0; i < PIECES; i++) {
        double score;
        smurf_score_everywhere(law, &y, &score, 1);
        double move = sign * score * time / 2 / PIECES;
        if (!(move > 0)) break;
        y += sign * fmin(move, reach / 2);
    }
    return y;
}

static bool make_table(struct score_table *table, const struct langevin *langevin, const struct sampler_config *config)
{
    double a = into(langevin, config->start[0]), b = into(langevin, config->start[1]);
    double low = fmin(a, b), high = fmax(a, b), time = config->step * (double)config->steps;
    double reach = DEVIATIONS * sqrt(time), scale = high > low ? high - low : sqrt(time);
    low = drifted(langevin->walked, low, -1, time, reach) - reach;
    high = drifted(langevin->walked, high, 1, time, reach) + reach;
    double floor = into(langevin, langevin->floor);
    return smurf_score_table_init(table, langevin->walked, low < floor && floor < high ? floor : low, high, scale);
}

/* The smallest place, approximately, above which every place is above the floor. */
static float floor_place(const struct score_table *table, double floor)
{
    if (floor == -INFINITY) return -2 * WALK_FAR;
    float u = (float)fmax(fmin((floor - table->origin) / table->width, WALK_FAR), -WALK_FAR);
    for (float slack = 1e-7f; table->origin + table->width * (double)u <= floor && u < WALK_FAR; slack *= 2)
        u += slack * fmaxf(1, fabsf(u));
    return u;
}

/* ---- The walk ------------------------------------------------------------------------------------------- */

/* Steps the lanes for which the table defers to the law. */
static void step_directly(const struct walk *walk, size_t lanes, const float *z, float *u, const int32_t *direct)
{
    const struct score_table *table = walk->table;
    for (size_t from = 0; from < lanes; from += WALK_GROUP) {
        double y[WALK_GROUP];
        int32_t any = 0;
        for (size_t i = 0; i < WALK_GROUP; i++) {
            y[i] = table->origin + table->width * (double)u[from + i];
            any |= direct[from + i];
        }
        if (!any) continue;
        smurf_score_everywhere(walk->langevin->walked, y, y, WALK_GROUP);
        for (size_t i = 0; i < WALK_GROUP; i++) {
            double to =
                (double)u[from + i] + (double)walk->step.drift * y[i] + (double)(walk->step.noise * z[from + i]);
            if (!direct[from + i] || !isfinite(to)) continue;
            float place = (float)fmax(fmin(to, WALK_FAR), -WALK_FAR);
            if (place > walk->step.floor) u[from + i] = place;
        }
    }
}

/* Steps from .. to-1 of the places u, for draws from `first` on. */
static void walk_lanes(const struct walk *walk, uint32_t first, size_t lanes, size_t from, size_t to, float *u)
{
    float z[WALK_BLOCK][WALK_LANES];
    int32_t direct[WALK_LANES];
    for (size_t s = from; s < to; s++) {
        size_t j = s % WALK_BLOCK;
        if (j == 0 || s == from)
            smurf_walk_normals(walk->config->seed, walk->stream, first, (uint32_t)(s / WALK_BLOCK), lanes, z);
        if (smurf_walk_step(walk->table, &walk->step, lanes, z[j], u, direct))
            step_directly(walk, lanes, z[j], u, direct);
    }
}

static void start(const struct walk *walk, uint32_t first, size_t lanes, double *t)
{
    const double *range = walk->config->start;
    for (size_t i = 0; i < lanes; i++) {
        uint32_t word[4];
        smurf_philox(word, walk->config->seed, walk->stream, (uint64_t)(first + (uint32_t)i) << 32);
        t[i] = range[0] + (range[1] - range[0]) * smurf_random_unit((uint64_t)word[1] << 32 | word[0]);
        if (t[i] <= walk->langevin->floor) t[i] = nextafter(walk->langevin->floor, INFINITY);
    }
}

/* From t (lanes) to places on the table's axis, and back. */
static void place(const struct walk *walk, size_t lanes, const double *t, float *u)
{
    const struct score_table *table = walk->table;
    for (size_t i = 0; i < lanes; i++) {
        double at = (into(walk->langevin, t[i]) - table->origin) / table->width;
        u[i] = (float)fmax(fmin(at, WALK_FAR), -WALK_FAR);
        if (u[i] <= walk->step.floor) u[i] = nextafterf(walk->step.floor, INFINITY);
    }
}

static void unplace(const struct walk *walk, size_t lanes, const float *u, double *t)
{
    const struct langevin *langevin = walk->langevin;
    for (size_t i = 0; i < lanes; i++) {
        double y = walk->table->origin + walk->table->width * (double)u[i];
        t[i] = langevin->back ? fmin(fmax(langevin->back(y), DBL_MIN), DBL_MAX) : y;
    }
}

static void denoise(const struct walk *walk, size_t lanes, double *t)
{
    double sigma = walk->config->denoise, score[WALK_GROUP];
    if (!(sigma > 0)) return;
    for (size_t from = 0; from < lanes; from += WALK_GROUP) {
        smurf_score_everywhere(walk->langevin->law, t + from, score, WALK_GROUP);
        for (size_t i = 0; i < WALK_GROUP; i++) {
            double to = t[from + i] + sigma * sigma * score[i];
            if (isfinite(to) && to > walk->langevin->floor) t[from + i] = to;
        }
    }
}

/* The walk of up to WALK_LANES draws; looks (looks x n) are taken at equal distances, the last at the end. */
static void draw_lot(const struct walk *walk, size_t first, size_t m, size_t looks, double *out, size_t n)
{
    double t[WALK_LANES];
    float u[WALK_LANES];
    size_t lanes = (m + WALK_GROUP - 1) / WALK_GROUP * WALK_GROUP, stride = walk->steps / looks;
    start(walk, (uint32_t)first, lanes, t);
    if (walk->steps) place(walk, lanes, t, u);
    for (size_t k = 0; k < looks; k++) {
        if (walk->steps == 0) {
            start(walk, (uint32_t)first, lanes, t);
        } else {
            walk_lanes(walk, (uint32_t)first, lanes, k * stride, k + 1 < looks ? (k + 1) * stride : walk->steps, u);
            unplace(walk, lanes, u, t);
        }
        denoise(walk, lanes, t);
        for (size_t i = 0; i < m; i++) out[k * n + first + i] = t[i];
    }
}

static void draw_lots(const struct walk *walk, double *out, size_t n)
{
    size_t every = walk->config->every, looks = every ? walk->config->steps / every : 1;
    for (size_t from = 0; from < n; from += WALK_LANES)
        draw_lot(walk, from, n - from < WALK_LANES ? n - from : WALK_LANES, looks, out, n);
}

bool smurf_langevin_draw(const struct langevin *langevin, const struct sampler_config *config, uint64_t stream,
                         double *out, size_t n)
{
    struct walk walk = {.langevin = langevin, .config = config, .stream = stream};
    struct score_table table;
    if (config->step > 0 && isfinite(config->step)) walk.steps = config->steps;
    if (walk.steps == 0) {
        draw_lots(&walk, out, n);
        return true;
    }
    if (!make_table(&table, langevin, config)) return false;
    walk.table = &table;
    walk.step.drift = (float)fmin(config->step / (2 * table.width), WALK_FAR);
    walk.step.noise = (float)fmin(sqrt(config->step) / table.width, WALK_FAR);
    walk.step.floor = floor_place(&table, into(langevin, langevin->floor));
    draw_lots(&walk, out, n);
    smurf_score_table_release(&table);
    return true;
}

static bool draw(const struct law *law, const struct sampler_config *config, uint64_t stream, double *out, size_t n)
{
    struct langevin langevin = {.law = law, .walked = law, .floor = -INFINITY};
    return smurf_langevin_draw(&langevin, config, stream, out, n);
}

const struct sampler_class smurf_sampler_langevin = {"langevin", "Langevin steps along the score", NULL, draw};
