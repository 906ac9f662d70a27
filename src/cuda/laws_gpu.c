/* laws_gpu.c - see laws_gpu.h. Turns the library's structs into those of the kernels, and their reasons into errors. */
#include "cuda/laws_gpu.h"

#include "base/error.h"
#include "cuda/laws_card.h"
#include "cuda/laws_plan.h"
#include "law/exact_table.h"

#include <stdlib.h>

_Static_assert(sizeof(struct panel_maps) == sizeof(struct panel_rules), "the kernels' maps are those of exact_rules.c");
_Static_assert((int)PANEL_CELLS_LEAST == (int)PANEL_GRIDS && (int)PANEL_CELLS_MOST == (int)PANEL_GRID,
               "so are their sizes");
_Static_assert((int)MAP_CELLS + 1 == (int)RECALIBRATION_KNOTS, "the kernels' map is that of recalibrate.c");
_Static_assert((int)LEVELS_MOST == (int)LAWS_LEVELS_MOST, "the kernels have room for all levels");

struct laws_gpu {
    struct laws_card *card;
};

static smurf_status card_failed(const char *text, smurf_error *err)
{
    return smurf_fail(err, SMURF_ERROR_MEMORY, "%s", text);
}

smurf_status smurf_laws_gpu_new(struct laws_gpu **out, smurf_error *err)
{
    char text[CARD_TEXT];
    struct laws_gpu *gpu = calloc(1, sizeof *gpu);
    struct panel_rules *rules = malloc(sizeof *rules);
    *out = NULL;
    if (!gpu || !rules) {
        free(gpu), free(rules);
        return smurf_fail_memory(err);
    }
    smurf_panel_rules(rules);
    gpu->card = laws_card_new(rules, sizeof *rules, text);
    free(rules);
    if (gpu->card) {
        *out = gpu;
        return SMURF_OK;
    }
    free(gpu);
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "%s", text);
}

void smurf_laws_gpu_free(struct laws_gpu *gpu)
{
    if (!gpu) return;
    laws_card_free(gpu->card);
    free(gpu);
}

const char *smurf_laws_gpu_name(const struct laws_gpu *gpu)
{
    return laws_card_name(gpu->card);
}

double smurf_laws_gpu_milliseconds(const struct laws_gpu *gpu)
{
    return laws_card_milliseconds(gpu->card);
}

size_t smurf_laws_gpu_large(const struct laws_gpu *gpu)
{
    return laws_card_large(gpu->card);
}

static struct card_rows card_rows(const struct laws_rows *rows)
{
    return (struct card_rows){rows->row, rows->stride, rows->count, (int)rows->width, rows->w, rows->c};
}

static smurf_status check_width(const struct laws_rows *rows, smurf_error *err)
{
    if (rows->width <= LAWS_WIDTH_MOST) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "the GPU has laws of up to %d units, not %zu", LAWS_WIDTH_MOST,
                      rows->width);
}

smurf_status smurf_laws_gpu_draw(struct laws_gpu *gpu, const struct laws_rows *rows,
                                 const struct sampler_class *sampler, const struct sampler_config *config,
                                 const uint64_t *stream, double *out, size_t n, smurf_error *err)
{
    bool mirror = sampler == &smurf_sampler_mirror, reject = sampler == &smurf_sampler_reject;
    struct walk_plan plan;
    struct cells_range range;
    char text[CARD_TEXT];
    if (!mirror && !reject && sampler != &smurf_sampler_langevin)
        return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "the GPU has no sampler '%s'", sampler->name);
    if (!(config->step > 0) || !isfinite(config->step) || !config->steps || config->every > config->steps)
        return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "the GPU takes steps of a positive, finite size only");
    smurf_status status = check_width(rows, err);
    if (status || n == 0 || rows->count == 0) return status;
    laws_walk_plan(&plan, &range, config, mirror, reject);
    struct card_rows card = card_rows(rows);
    bool good = laws_card_walk(gpu->card, &card, &plan, &range, rows->is_score, mirror, stream, n, out, text);
    return good ? SMURF_OK : card_failed(text, err);
}

smurf_status smurf_laws_gpu_answer(struct laws_gpu *gpu, const struct laws_rows *rows,
                                   const struct laws_wrapping *wrapping, const double *gap, double tick,
                                   const double *level, size_t levels, const struct laws_answers *out, smurf_error *err)
{
    struct answers_plan plan;
    struct answers_tables tables;
    char text[CARD_TEXT];
    if (rows->is_score)
        return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "the GPU has no exact laws of heads that are scores");
    if (levels > LAWS_LEVELS_MOST)
        return smurf_fail(err, SMURF_ERROR_UNSUPPORTED, "the GPU answers %d levels at once, not %zu", LAWS_LEVELS_MOST,
                          levels);
    smurf_status status = check_width(rows, err);
    if (status || rows->count == 0) return status;
    laws_answers_plan(&plan, &tables, rows, wrapping, tick, level, levels);
    struct card_rows card = card_rows(rows);
    struct card_answers answers = {out->mass, out->density, out->crps, out->spread, out->quantile};
    bool good = laws_card_answer(gpu->card, &card, &plan, gap, &answers, text);
    return good ? SMURF_OK : card_failed(text, err);
}
