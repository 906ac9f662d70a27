/*
 * model_notes.c - contents of a model file besides weights and settings: quantiles and tick of the train gaps, training
 * history, calibration, and the bound on the tail of the laws. All members are optional when read.
 *
 * The bound: of n train and m dev gaps, k of dev are longer than the longest train gap. At most the larger of k/m and
 * the upper end of the one-sided 95% Wilson interval for k of n + m lies beyond it; the excess has the mean of those of
 * the k gaps and of the longest train gap over the second longest, which is that of an exponential tail; at least a
 * tenth of the longest train gap.
 */
#include "base/memory.h"
#include "base/sort.h"
#include "data/data.h"
#include "data/sink.h"
#include "model/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SAMPLE: gaps that the quantiles are taken from, if there are more. */
enum { SAMPLE = 1 << 23, HISTORY_MOST = 1000000, CONFORMAL_MOST = 10000000 };

void smurf_model_notes_release(struct model_notes *n)
{
    free(n->history);
    free(n->conformal);
    free(n->split);
    smurf_pool_free(n->pool);
    *n = (struct model_notes){0};
}

/* ---- Fitting --------------------------------------------------------------------------------- */

smurf_status smurf_model_notes_fit(struct model_notes *notes, const smurf_data *train, smurf_error *err)
{
    size_t n = 0, seen = 0, every = 1 + smurf_data_gaps(train) / SAMPLE;
    double *gap = malloc((smurf_data_gaps(train) / every + 1) * sizeof *gap);
    if (!gap) return smurf_fail_memory(err);
    for (size_t s = 0; s < train->sequences; s++)
        for (size_t i = train->sequence[s].first; i < train->sequence[s].length; i++)
            if (++seen % every == 0) gap[n++] = train->sequence[s].time[i] - train->sequence[s].time[i - 1];
    smurf_sort(gap, n);
    notes->has_marginal = n > 0;
    for (size_t k = 0; n && k < MARGINAL_LEVELS; k++) {
        double at = (double)k / (MARGINAL_LEVELS - 1) * (double)(n - 1);
        size_t below = (size_t)at < n - 1 ? (size_t)at : n - 1, above = below + 1 < n ? below + 1 : below;
        notes->marginal[k] = gap[below] + (at - (double)below) * (gap[above] - gap[below]);
    }
    free(gap);
    notes->tick = smurf_data_tick(train);
    smurf_recalibration_identity(&notes->map);
    return isnan(notes->tick) ? smurf_fail_memory(err) : SMURF_OK;
}

/* Counts the scored gaps of a data set, and calls `see` with each. */
static size_t each_gap(const smurf_data *data, void (*see)(void *context, double gap), void *context)
{
    size_t n = 0;
    for (size_t s = 0; data && s < data->sequences; s++)
        for (size_t i = data->sequence[s].first; i < data->sequence[s].length; i++, n++)
            see(context, data->sequence[s].time[i] - data->sequence[s].time[i - 1]);
    return n;
}

struct longest {
    double first, second;
};

static void see_train(void *context, double gap)
{
    struct longest *l = context;
    if (gap > l->second) l->second = gap;
    if (gap > l->first) {
        l->second = l->first;
        l->first = gap;
    }
}

struct beyond {
    double from, excess; /* sum of what exceeds `from` */
    size_t count;
};

static void see_dev(void *context, double gap)
{
    struct beyond *b = context;
    if (!(gap > b->from)) return;
    b->excess += gap - b->from;
    b->count++;
}

/* The upper end of the one-sided 95% Wilson interval for a share of which k of n were seen. */
static double wilson_upper(double k, double n)
{
    const double z = 1.6448536269514722;
    double share = k / n, half = z * z / (2 * n);
    return (share + half + z * sqrt(share * (1 - share) / n + half / (2 * n))) / (1 + 2 * half);
}

void smurf_model_notes_tail(struct model_notes *notes, const smurf_data *train, const smurf_data *dev)
{
    struct longest longest = {0, 0};
    size_t n = each_gap(train, see_train, &longest);
    struct beyond beyond = {longest.first, 0, 0};
    size_t m = each_gap(dev, see_dev, &beyond);
    notes->tail = (struct tail){0};
    if (!(longest.first > 0)) return;
    double k = (double)beyond.count, seen = m ? k / (double)m : 0;
    double mean = (longest.first - longest.second + beyond.excess) / (1 + k);
    double least = fmax(notes->tick, 0.1 * longest.first); /* the longest gaps may be ties */
    notes->tail.from = longest.first + notes->tick / 2;
    notes->tail.share = fmin(fmax(wilson_upper(k, (double)(n + m)), seen), 0.5);
    notes->tail.mean = fmax(mean, least);
}

smurf_status smurf_model_notes_add(struct model_notes *notes, const smurf_epoch *epoch, smurf_error *err)
{
    smurf_epoch *longer = realloc(notes->history, (notes->epochs + 1) * sizeof *longer);
    if (!longer) return smurf_fail_memory(err);
    notes->history = longer;
    notes->history[notes->epochs++] = *epoch;
    return SMURF_OK;
}

smurf_status smurf_model_notes_split(struct model_notes *notes, const char *split, smurf_error *err)
{
    if (!smurf_utf8_valid(split)) return smurf_fail(err, SMURF_ERROR_ARGUMENT, "the text about the split is not UTF-8");
    char *copy = strdup(split);
    if (!copy) return smurf_fail_memory(err);
    free(notes->split);
    notes->split = copy;
    return SMURF_OK;
}

/* ---- To JSON --------------------------------------------------------------------------------- */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* n numbers, `stride` bytes apart. */
static json_t *column(const void *first, size_t n, size_t stride)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        double x;
        memcpy(&x, (const char *)first + i * stride, sizeof x);
        if (json_array_append_new(out, number(x))) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *numbers(const double *x, size_t n)
{
    return column(x, n, sizeof *x);
}

json_t *smurf_json_numbers(const double *x, size_t n)
{
    return numbers(x, n);
}

/* One array per quantity: shorter than one object per epoch. No times, so that the same run gives the same file. */
static json_t *history_to_json(const struct model_notes *n)
{
    const smurf_epoch *h = n->history;
    return json_pack("{s:o, s:o, s:o}", "train_loss", column(&h->train_loss, n->epochs, sizeof *h), "dev_loss",
                     column(&h->dev_loss, n->epochs, sizeof *h), "dev_accuracy",
                     column(&h->dev_accuracy, n->epochs, sizeof *h));
}

static json_t *calibration_to_json(const struct model_notes *n)
{
    const smurf_calibration *c = &n->calibration;
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "gaps", (json_int_t)c->gaps, "sequences",
                     (json_int_t)c->sequences, "map",
                     c->recalibrated ? numbers(n->map.level, RECALIBRATION_KNOTS) : json_null(), "cs_before",
                     number(c->cs_before), "cs_after", number(c->cs_after), "crps_before", number(c->crps_before),
                     "crps_after", number(c->crps_after), "conformal", numbers(n->conformal, c->conformal));
}

static json_t *adaptive_to_json(const smurf_calibration *c)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "gamma", c->adaptive, "pinball_before", c->pinball_before, "pinball_after",
                     c->pinball_after, "cs", c->cs_adapted);
}

bool smurf_model_notes_to_json(const struct model_notes *n, json_t *object)
{
    bool done = json_object_set_new(object, "tick", number(n->tick)) == 0;
    if (n->has_marginal) done &= json_object_set_new(object, "marginal", numbers(n->marginal, MARGINAL_LEVELS)) == 0;
    if (n->tail.from > 0)
        done &= json_object_set_new(object, "tail",
                                    json_pack("{s:f, s:f, s:f}", "from", n->tail.from, "share", n->tail.share, "mean",
                                              n->tail.mean)) == 0;
    if (n->pool) done &= json_object_set_new(object, "pool", smurf_model_pool_to_json(n->pool)) == 0;
    if (n->split) done &= json_object_set_new(object, "split", json_string(n->split)) == 0;
    if (n->epochs) done &= json_object_set_new(object, "history", history_to_json(n)) == 0;
    if (n->calibration.gaps) done &= json_object_set_new(object, "calibration", calibration_to_json(n)) == 0;
    if (n->calibration.adaptive > 0 || n->calibration.pinball_before > 0)
        done &= json_object_set_new(object, "adaptive", adaptive_to_json(&n->calibration)) == 0;
    return done;
}

/* ---- Judging calibration ----------------------------------------------------------------------- */

/* Each half is judged by the other half's map, which is as noisy as the half is small: var = q (1 - q) (1/n + 1/n), and
   without a map q (1 - q) / n. Levels are correlated, so three times the floor is rare by chance; gaps of a sequence
   are dependent, and a miss below 1% is harmless. Levels that follow the gaps are judged as they were shown. */
void smurf_calibration_judge(smurf_calibration *c)
{
    double sum = 0, n = (double)c->gaps;
    double cs = c->cs_adapted > 0 ? c->cs_adapted : c->recalibrated ? c->cs_after : c->cs_before;
    int levels = 0;
    for (int k = 10; k < 20; k++, levels++) sum += k / 20.0 * (1 - k / 20.0);
    c->cs_floor = 100 * sqrt(sum / levels * (c->recalibrated ? 2 : 1) / n);
    c->misses = isfinite(cs) && cs > fmax(1, 3 * c->cs_floor);
}

/* ---- From JSON ------------------------------------------------------------------------------- */

static double number_at(const json_t *array, size_t i)
{
    const json_t *x = json_array_get(array, i);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

/* NaN if missing. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *x = json_object_get(object, key);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

/* n non-decreasing numbers from 0 to most. */
static bool rising(const json_t *array, double *out, size_t n, double most)
{
    if (json_array_size(array) != n) return false;
    for (size_t i = 0; i < n; i++) {
        out[i] = number_at(array, i);
        if (!(out[i] >= (i ? out[i - 1] : 0) && out[i] <= most)) return false;
    }
    return true;
}

bool smurf_json_rising(const json_t *array, double *out, size_t n, double most)
{
    return rising(array, out, n, most);
}

/* Allocates room for the epochs or levels of an array, and limits its length. */
static smurf_status room_for(void *out, const json_t *array, size_t most, size_t size, bool *right, smurf_error *err)
{
    size_t count = json_array_size(array);
    if (!(*right = count <= most)) return SMURF_OK;
    void *room = calloc(count + 1, size);
    memcpy(out, &room, sizeof room);
    return room ? SMURF_OK : smurf_fail_memory(err);
}

static smurf_status history_from_json(struct model_notes *n, const json_t *json, bool *right, smurf_error *err)
{
    const json_t *train = json_object_get(json, "train_loss"), *dev = json_object_get(json, "dev_loss");
    const json_t *accuracy = json_object_get(json, "dev_accuracy");
    smurf_status status = room_for(&n->history, train, HISTORY_MOST, sizeof *n->history, right, err);
    if (status || !*right) return status;
    double best = INFINITY;
    for (n->epochs = 0; n->epochs < json_array_size(train); n->epochs++) {
        smurf_epoch *e = &n->history[n->epochs];
        *e = (smurf_epoch){.epoch = n->epochs + 1,
                           .train_loss = number_at(train, n->epochs),
                           .dev_loss = number_at(dev, n->epochs),
                           .dev_accuracy = number_at(accuracy, n->epochs),
                           .dev_time_loss = NAN,
                           .dev_type_loss = NAN,
                           .rate = NAN,
                           .seconds = NAN,
                           .events_per_second = NAN};
        e->best = e->dev_loss < best;
        if (e->best) best = e->dev_loss;
    }
    return SMURF_OK;
}

static smurf_status calibration_from_json(struct model_notes *n, const json_t *json, bool *right, smurf_error *err)
{
    smurf_calibration *c = &n->calibration;
    const json_t *map = json_object_get(json, "map"), *conformal = json_object_get(json, "conformal");
    json_int_t gaps = json_integer_value(json_object_get(json, "gaps"));
    json_int_t sequences = json_integer_value(json_object_get(json, "sequences"));
    double level[RECALIBRATION_KNOTS];
    size_t count = json_array_size(conformal);
    *c = (smurf_calibration){.cs_before = number_of(json, "cs_before"),
                             .cs_after = number_of(json, "cs_after"),
                             .crps_before = number_of(json, "crps_before"),
                             .crps_after = number_of(json, "crps_after")};
    *right = gaps >= 1 && sequences >= 1;
    if (*right && map && !json_is_null(map)) {
        *right = rising(map, level, RECALIBRATION_KNOTS, 1) && smurf_recalibration_set(&n->map, level);
        c->recalibrated = 1;
    }
    if (!*right) return SMURF_OK;
    smurf_status status = room_for(&n->conformal, conformal, CONFORMAL_MOST, sizeof *n->conformal, right, err);
    if (status || !*right || !(*right = rising(conformal, n->conformal, count, 1))) return status;
    c->gaps = (size_t)gaps;
    c->sequences = (size_t)sequences;
    c->conformal = count;
    smurf_calibration_judge(c);
    return SMURF_OK;
}

static bool tail_from_json(struct tail *out, const json_t *json)
{
    *out = (struct tail){number_of(json, "from"), number_of(json, "share"), number_of(json, "mean")};
    return out->from > 0 && out->from <= MODEL_TIME_MOST && out->share >= 0 && out->share <= 1 && out->mean > 0 &&
           out->mean <= MODEL_TIME_MOST;
}

static bool adaptive_from_json(smurf_calibration *out, const json_t *json)
{
    out->adaptive = number_of(json, "gamma");
    out->pinball_before = number_of(json, "pinball_before");
    out->pinball_after = number_of(json, "pinball_after");
    if (json_object_get(json, "cs")) out->cs_adapted = number_of(json, "cs");
    if (out->gaps) smurf_calibration_judge(out);
    return out->adaptive >= 0 && out->adaptive <= 1 && isfinite(out->pinball_before) && isfinite(out->pinball_after) &&
           out->cs_adapted >= 0 && isfinite(out->cs_adapted);
}

smurf_status smurf_model_notes_from_json(struct model_notes *n, const json_t *object, const char **wrong,
                                         smurf_error *err)
{
    const json_t *marginal = json_object_get(object, "marginal"), *history = json_object_get(object, "history");
    const json_t *calibration = json_object_get(object, "calibration"), *tick = json_object_get(object, "tick");
    const json_t *split = json_object_get(object, "split"), *tail = json_object_get(object, "tail");
    const json_t *adaptive = json_object_get(object, "adaptive");
    smurf_status status = SMURF_OK;
    bool right = true;
    *n = (struct model_notes){.tick = tick ? json_number_value(tick) : 0};
    smurf_recalibration_identity(&n->map);
    n->has_marginal = marginal != NULL;
    *wrong = NULL;
    if (tick && !(json_is_number(tick) && n->tick >= 0 && n->tick <= MODEL_TIME_MOST)) *wrong = "tick";
    if (marginal && !rising(marginal, n->marginal, MARGINAL_LEVELS, MODEL_TIME_MOST)) *wrong = "marginal";
    if (tail && !tail_from_json(&n->tail, tail)) *wrong = "tail";
    if (split && !json_is_string(split)) *wrong = "split";
    if (json_is_string(split)) status = smurf_model_notes_split(n, json_string_value(split), err);
    if (history && !status) status = history_from_json(n, history, &right, err);
    if (!right) *wrong = "history";
    if (calibration && right && !status) status = calibration_from_json(n, calibration, &right, err);
    if (!right && !*wrong) *wrong = "calibration";
    if (adaptive && !adaptive_from_json(&n->calibration, adaptive)) *wrong = "adaptive";
    return status;
}
