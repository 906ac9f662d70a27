/*
 * measure.c - see measure.h. Type probabilities with the time unknown are those of the whole law,
 *
 *     P(k) = integral over levels u of P(k | gap = quantile(u)),
 *
 * by Gauss-Legendre quadrature. With a clock tick, the log density is that of the tick: the mass within half a tick of
 * the gap, divided by the width. The rounded gap carries no more information, and a tie has no density on a log axis.
 */
#include "eval/measure.h"

#include "base/random.h"
#include "base/sort.h"
#include "eval/ends.h"
#include "eval/metrics.h"
#include "eval/naive.h"
#include "law/wrap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAPS_AT_ONCE = TYPE_NODES + 1 };

const double smurf_type_node[TYPE_NODES] = {
    0.0034357004074525577, 0.018014036361043095, 0.043882785874337082, 0.080441514088890609, 0.1268340467699246,
    0.18197315963674249,   0.24456649902458644,  0.31314695564229023,  0.38610707442917747,  0.46173673943325133,
    0.53826326056674867,   0.61389292557082253,  0.68685304435770977,  0.75543350097541362,  0.81802684036325757,
    0.8731659532300754,    0.91955848591110945,  0.95611721412566286,  0.98198596363895696,  0.99656429959254744};
static const double weight[TYPE_NODES] = {
    0.0088070035695766366, 0.020300714900193109, 0.031336024167054721, 0.041638370788352336, 0.050965059908620131,
    0.059097265980759123,  0.065844319224588263, 0.071048054659190937, 0.074586493236301829, 0.076376693565362891,
    0.076376693565362891,  0.074586493236301829, 0.071048054659190937, 0.065844319224588263, 0.059097265980759123,
    0.050965059908620131,  0.041638370788352336, 0.031336024167054721, 0.020300714900193109, 0.0088070035695766366};

/* The predictor of a naive row; NULL: not measured. */
static const struct predictor *naive_of(const struct evaluation_plan *plan, enum row row)
{
    const struct predictor *const naive[ROWS] = {[ROW_MARGINAL] = plan->marginal,
                                                 [ROW_RECENT] = plan->recent,
                                                 [ROW_SAME_HOUR] = plan->same_hour,
                                                 [ROW_LAST] = plan->last};
    return naive[row];
}

/* ---- Allocation ---------------------------------------------------------------------------------- */

bool smurf_measurer_init(struct measurer *m, const struct evaluation_plan *plan, const struct adaptation *adaptation,
                         size_t longest, struct stop *stop)
{
    const struct predictor *model = &plan->model;
    size_t types = model->class && model->class->types ? model->types : 0;
    bool ok = true;
    *m = (struct measurer){.plan = plan, .adaptation = adaptation};
    if (model->class) ok = (m->model = model->class->workspace_new(model->self, longest, stop));
    for (enum row r = ROW_MARGINAL; r < ROWS; r++) {
        const struct predictor *naive = naive_of(plan, r);
        if (naive) ok = (m->naive[r] = naive->class->workspace_new(naive->self, longest, stop)) && ok;
    }
    if (plan->recency) {
        ok = smurf_recent_types_init(&m->recent_types, plan->recency->types) && ok;
        ok = (m->recency = malloc(plan->recency->types * sizeof *m->recency)) && ok;
    }
    if (plan->draws) ok = (m->drawn = malloc(plan->draws * sizeof *m->drawn)) && ok;
    if (types == 0) return ok;
    m->types = malloc(GAPS_AT_ONCE * types * sizeof *m->types);
    m->share = malloc(types * sizeof *m->share);
    m->count = malloc(types * sizeof *m->count);
    return ok && m->types && m->share && m->count;
}

void smurf_measurer_release(struct measurer *m)
{
    const struct evaluation_plan *plan = m->plan;
    if (m->model) plan->model.class->workspace_free(m->model);
    for (enum row r = ROW_MARGINAL; r < ROWS; r++)
        if (m->naive[r]) naive_of(plan, r)->class->workspace_free(m->naive[r]);
    smurf_recent_types_release(&m->recent_types);
    free(m->recency);
    free(m->types);
    free(m->share);
    free(m->count);
    free(m->drawn);
}

void smurf_measurer_read(struct measurer *m, const smurf_sequence *sequence)
{
    const struct evaluation_plan *plan = m->plan;
    m->sequence = sequence;
    if (m->model) plan->model.class->read(plan->model.self, m->model, sequence);
    for (enum row r = ROW_MARGINAL; r < ROWS; r++)
        if (m->naive[r]) naive_of(plan, r)->class->read(naive_of(plan, r)->self, m->naive[r], sequence);
    m->recent_types.n = 0;
    m->listed = 0;
}

/* ---- Time ---------------------------------------------------------------------------------------- */

/* Rounds a quantile to a float on the same side of the gap: coverage counts gap < quantile, and with a clock tick gaps
   often equal the quantile. */
static float narrow(double quantile, double gap)
{
    float f = (float)quantile;
    if ((double)f > gap && !(quantile > gap)) return nextafterf(f, -INFINITY);
    if (!((double)f > gap) && quantile > gap) return nextafterf(f, INFINITY);
    return f;
}

/* Smaller masses are differences of nearly equal numbers: the density is more accurate. */
static const double mass_least = 1e-6;

static double log_density(const struct dist *dist, double gap, double tick)
{
    double density = NAN;
    if (tick > 0) {
        double low = gap - tick / 2, high = gap + tick / 2;
        if (low < 0) low = 0;
        double mass = smurf_dist_cdf(dist, high) - (low > 0 ? smurf_dist_cdf(dist, low) : 0);
        if (mass >= mass_least) density = mass / (high - low);
    }
    if (isnan(density)) density = smurf_dist_density(dist, gap);
    return log(density < DBL_MIN ? DBL_MIN : density);
}

/* spread: that of the distribution, NaN if unknown. */
static void measure_times(const struct measurer *m, const struct row_values *row, const struct dist *dist, size_t i,
                          double gap, double spread)
{
    struct random random;
    double quantile[SMURF_LEVELS];
    smurf_random_init(&random, m->plan->seed, measure_stream(STREAM_PIT, i));
    double mass[2];
    smurf_ticks_mass(dist, gap, m->plan->tick, mass);
    row->pit[i] = mass[0] + smurf_random_uniform(&random) * (mass[1] - mass[0]);
    if (row->mass) memcpy(row->mass + 2 * i, mass, sizeof mass);
    if (row->log_density) row->log_density[i] = log_density(dist, gap, m->plan->tick);
    if (row->spread) row->spread[i] = isnan(spread) ? smurf_dist_spread(dist) : spread;
    if (m->plan->brief) return;
    row->crps[i] = smurf_dist_crps(dist, gap);
    dist->class->quantile(dist->self, smurf_levels, quantile, SMURF_LEVELS);
    for (size_t l = 0; l < SMURF_LEVELS; l++) row->quantile[i * SMURF_LEVELS + l] = narrow(quantile[l], gap);
}

/* The same from what is known. */
static void take_times(const struct measurer *m, const struct row_values *row, const struct told_row *told, size_t i,
                       double gap)
{
    struct random random;
    const double *mass = told->mass + 2 * i, *quantile = told->quantile + i * TOLD_LEVELS, density = told->density[i];
    smurf_random_init(&random, m->plan->seed, measure_stream(STREAM_PIT, i));
    row->pit[i] = mass[0] + smurf_random_uniform(&random) * (mass[1] - mass[0]);
    if (row->mass) memcpy(row->mass + 2 * i, mass, 2 * sizeof *mass);
    if (row->log_density) row->log_density[i] = log(density < DBL_MIN ? DBL_MIN : density);
    if (row->spread) row->spread[i] = told->spread[i];
    if (m->plan->brief) return;
    row->crps[i] = told->crps[i];
    for (size_t l = 0; l < SMURF_LEVELS; l++) row->quantile[i * SMURF_LEVELS + l] = narrow(quantile[l], gap);
}

/* ---- Types --------------------------------------------------------------------------------------- */

static uint32_t largest(const double *share, uint32_t types)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < types; k++)
        if (share[k] > share[best]) best = k;
    return best;
}

/* Fills m->share with the probabilities of the types, time unknown, and the last row of m->types with those at `gap`.
   node (TYPE_NODES): the law's quantiles at smurf_type_node. */
static const double *average_types(struct measurer *m, const double *node, size_t row, double gap)
{
    const struct predictor *model = &m->plan->model;
    uint32_t types = model->types;
    double at[GAPS_AT_ONCE];
    memcpy(at, node, TYPE_NODES * sizeof *at);
    at[TYPE_NODES] = gap;
    model->class->types(model->self, m->model, row, at, m->types, GAPS_AT_ONCE);
    memset(m->share, 0, types * sizeof *m->share);
    for (size_t g = 0; g < TYPE_NODES; g++)
        for (uint32_t k = 0; k < types; k++) m->share[k] += weight[g] * m->types[g * types + k];
    return m->types + (size_t)TYPE_NODES * types;
}

static double squared_distance(const double *share, uint32_t types, uint32_t truth)
{
    double sum = truth < types ? 0 : 1;
    for (uint32_t k = 0; k < types; k++) {
        double d = share[k] - (k == truth);
        sum += d * d;
    }
    return sum;
}

static void measure_types(struct measurer *m, const struct row_values *out, const double *node, size_t i, size_t event)
{
    uint32_t types = m->plan->model.types, truth = m->sequence->type[event];
    double gap = m->sequence->time[event] - m->sequence->time[event - 1];
    const double *at_gap = average_types(m, node, event - 1, gap);
    uint32_t top = largest(m->share, types);
    out->top[i] = top;
    out->top_share[i] = (float)m->share[top];
    out->true_share[i] = truth < types ? (float)m->share[truth] : 0;
    out->brier[i] = (float)squared_distance(m->share, types, truth);
    out->top_at[i] = largest(at_gap, types);
}

/* ---- Draws --------------------------------------------------------------------------------------- */

static uint32_t draw_type(const double *share, uint32_t types, double u)
{
    double total = 0;
    uint32_t chosen = 0;
    for (uint32_t k = 0; k < types; k++) total += share[k];
    u *= total;
    for (uint32_t k = 0; k < types && u >= 0; k++) {
        if (share[k] > 0) chosen = k;
        u -= share[k];
    }
    return chosen;
}

/* The mode of the types drawn at the drawn gaps, one per gap. */
static uint32_t mode_of_types(struct measurer *m, size_t i, size_t row)
{
    const struct predictor *model = &m->plan->model;
    uint32_t types = model->types, best = 0;
    struct random random;
    smurf_random_init(&random, m->plan->seed, measure_stream(STREAM_TYPES, i));
    memset(m->count, 0, types * sizeof *m->count);
    for (size_t d = 0; d < m->plan->draws; d += GAPS_AT_ONCE) {
        size_t n = m->plan->draws - d < GAPS_AT_ONCE ? m->plan->draws - d : GAPS_AT_ONCE;
        model->class->types(model->self, m->model, row, m->drawn + d, m->types, n);
        for (size_t g = 0; g < n; g++)
            m->count[draw_type(m->types + g * types, types, smurf_random_uniform(&random))]++;
    }
    for (uint32_t k = 1; k < types; k++)
        if (m->count[k] > m->count[best]) best = k;
    return best;
}

static void measure_draws(struct measurer *m, const struct row_values *out, const struct dist *dist, size_t i,
                          size_t row, double gap)
{
    const struct evaluation_plan *plan = m->plan;
    if (plan->draw) {
        m->no_memory |= !plan->draw(plan->draw_context, &plan->model, m->model, row, i, m->drawn, plan->draws);
        if (m->no_memory) return;
    } else {
        struct random random;
        smurf_random_init(&random, plan->seed, measure_stream(STREAM_DRAWS, i));
        for (size_t d = 0; d < plan->draws; d++) m->drawn[d] = smurf_random_uniform(&random);
        smurf_sort(m->drawn, plan->draws);
        smurf_dist_draw(dist, m->drawn, m->drawn, plan->draws);
    }
    smurf_sort(m->drawn, plan->draws);
    struct empirical empirical;
    struct dist drawn = smurf_empirical(&empirical, m->drawn, plan->draws);
    measure_times(m, out, &drawn, i, gap, smurf_sorted_spread(m->drawn, plan->draws));
    if (m->types) out->top_draws[i] = mode_of_types(m, i, row);
}

/* ---- A gap --------------------------------------------------------------------------------------- */

static void measure_naive(const struct measurer *m, const struct row_values *out, const struct predictor *naive,
                          void *workspace, size_t i, size_t row, double gap)
{
    struct dist dist = naive->class->dist(naive->self, workspace, row, 0);
    measure_times(m, out, &dist, i, gap, smurf_naive_spread(&dist));
}

/* The model's law with its levels adapted, from the one without; its types follow, too. */
static struct dist adapt(struct measurer *m, struct dist dist, size_t event)
{
    if (!m->adaptation) return dist;
    size_t sequence = (size_t)(m->sequence - m->plan->test->sequence);
    const struct followed *state = smurf_adaptation_at(&m->cursor, m->adaptation, sequence, event);
    const struct predictor *model = &m->plan->model;
    if (m->adaptation->shares) model->class->follow(m->model, &state->types);
    return smurf_adapted(&m->adapted, dist, &state->levels);
}

static void measure_model(struct measurer *m, const struct evaluation *e, size_t i, size_t event, double gap)
{
    const struct evaluation_plan *plan = m->plan;
    const struct predictor *model = &plan->model;
    struct dist fixed = model->class->dist(model->self, m->model, event - 1, 0), dist = adapt(m, fixed, event);
    bool open = m->adaptation && smurf_adaptive_is_open(&m->cursor.state.levels);
    measure_times(m, &e->row[ROW_MODEL], &dist, i, gap, open ? INFINITY : smurf_naive_spread(&dist));
    if (e->end_after) e->end_after[i] = smurf_ends_forecast(model, m->model, m->sequence, event - 1, &dist);
    if (m->types) {
        double node[TYPE_NODES];
        dist.class->quantile(dist.self, smurf_type_node, node, TYPE_NODES);
        measure_types(m, &e->row[ROW_MODEL], node, i, event);
    }
    if (plan->draws) measure_draws(m, &e->row[ROW_SAMPLED], &dist, i, event - 1, gap);
    if (e->row[ROW_FIXED].name) measure_times(m, &e->row[ROW_FIXED], &fixed, i, gap, smurf_naive_spread(&fixed));
    if (!plan->has_map) return;
    dist = model->class->dist(model->self, m->model, event - 1, 1);
    measure_times(m, &e->row[ROW_RAW], &dist, i, gap, smurf_naive_spread(&dist));
}

/* Asks the law for what is not known. */
static void measure_told(struct measurer *m, const struct evaluation *e, size_t i, size_t event, double gap)
{
    const struct evaluation_plan *plan = m->plan;
    const struct predictor *model = &plan->model;
    const struct told *told = plan->told;
    struct dist dist = {0};
    take_times(m, &e->row[ROW_MODEL], &told->model, i, gap);
    if (plan->has_map) take_times(m, &e->row[ROW_RAW], &told->raw, i, gap);
    if (m->types) measure_types(m, &e->row[ROW_MODEL], told->model.quantile + i * TOLD_LEVELS + SMURF_LEVELS, i, event);
    if (e->end_after || (plan->draws && !plan->draw)) dist = model->class->dist(model->self, m->model, event - 1, 0);
    if (e->end_after) e->end_after[i] = smurf_ends_forecast(model, m->model, m->sequence, event - 1, &dist);
    if (plan->draws) measure_draws(m, &e->row[ROW_SAMPLED], &dist, i, event - 1, gap);
}

/* The most probable type by recency, before event `event`. Asking in order is fastest. */
static uint32_t recency_top(struct measurer *m, size_t event)
{
    if (m->listed > event) m->recent_types.n = 0, m->listed = 0;
    for (; m->listed < event; m->listed++) smurf_recent_types_push(&m->recent_types, m->sequence->type[m->listed]);
    smurf_recency_shares(m->plan->recency, &m->recent_types, m->recency);
    return largest(m->recency, m->plan->recency->types);
}

void smurf_measurer_gap(struct measurer *m, const struct evaluation *e, size_t i, size_t event)
{
    const struct evaluation_plan *plan = m->plan;
    double gap = m->sequence->time[event] - m->sequence->time[event - 1];
    e->gap[i] = gap;
    e->type[i] = m->sequence->type[event];
    if (m->model && plan->told)
        measure_told(m, e, i, event, gap);
    else if (m->model)
        measure_model(m, e, i, event, gap);
    for (enum row r = ROW_MARGINAL; r < ROWS; r++)
        if (m->naive[r]) measure_naive(m, &e->row[r], naive_of(plan, r), m->naive[r], i, event - 1, gap);
    if (plan->markov) e->markov_right[i] = smurf_markov_next(plan->markov, m->sequence->type[event - 1]) == e->type[i];
    if (m->recency) e->recency_right[i] = recency_top(m, event) == e->type[i];
}

/* ---- An example ---------------------------------------------------------------------------------- */

static void example_types(struct measurer *m, struct example *out, const struct dist *dist, size_t row)
{
    uint32_t types = m->plan->model.types;
    double node[TYPE_NODES];
    dist->class->quantile(dist->self, smurf_type_node, node, TYPE_NODES);
    average_types(m, node, row, out->truth);
    for (out->types = 0; out->types < EXAMPLE_TYPES && out->types < types; out->types++) {
        uint32_t top = largest(m->share, types);
        out->type[out->types] = top;
        out->share[out->types] = m->share[top];
        m->share[top] = -1; /* done */
    }
}

/* Points that show a law on linear and on log axes, from the 0.2% quantile to `end`: one half by mass, a quarter evenly
   spaced, a quarter evenly spaced by ratio. */
static void spread_points(const struct dist *dist, double end, double x[EXAMPLE_POINTS])
{
    enum { HALF = EXAMPLE_POINTS / 2, QUARTER = EXAMPLE_POINTS / 4 };
    double first = smurf_dist_quantile(dist, 0.002);
    if (!(first > 1e-9 * end)) first = 1e-9 * end;
    if (!(first < end)) first = 0.5 * end;
    for (size_t p = 0; p < HALF; p++) x[p] = 0.002 + 0.988 * ((double)p + 0.5) / HALF;
    dist->class->quantile(dist->self, x, x, HALF);
    for (size_t p = 0; p < HALF; p++) x[p] = isfinite(x[p]) ? fmin(x[p], end) : end;
    for (size_t p = 0; p < QUARTER; p++) {
        double t = (double)p / (QUARTER - 1);
        x[HALF + p] = end * t;
        x[HALF + QUARTER + p] = first * pow(end / first, t);
    }
    smurf_sort(x, EXAMPLE_POINTS);
}

void smurf_measurer_example(struct measurer *m, struct example *out, size_t event)
{
    const struct predictor *model = &m->plan->model;
    struct dist dist = adapt(m, model->class->dist(model->self, m->model, event - 1, 0), event);
    out->truth = m->sequence->time[event] - m->sequence->time[event - 1];
    out->true_type = m->sequence->type[event];
    dist.class->quantile(dist.self, smurf_levels, out->quantile, SMURF_LEVELS);
    double end = smurf_dist_quantile(&dist, 0.99);
    if (!isfinite(end)) end = out->truth;
    end = fmax(end, 1.1 * out->truth);
    if (!(end > 0)) end = 1;
    out->points = EXAMPLE_POINTS;
    spread_points(&dist, end, out->x);
    dist.class->density(dist.self, out->x, out->density, EXAMPLE_POINTS);
    dist.class->cdf(dist.self, out->x, out->cdf, EXAMPLE_POINTS);
    out->types = 0;
    if (m->types) example_types(m, out, &dist, event - 1);
}
