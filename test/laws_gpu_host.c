/* laws_gpu_host.c - laws_gpu.h by one lane on the host, for tests of what uses a GPU where there is none. */
#include "cuda/laws_plan.h"
#include "cuda/rooms_lanes.h"

#include "base/error.h"
#include "law/exact_table.h"

#include <stdlib.h>

struct laws_gpu {
    struct panel_rules rules;
    size_t large;
};

smurf_status smurf_laws_gpu_new(struct laws_gpu **out, smurf_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return smurf_fail_memory(err);
    smurf_panel_rules(&(*out)->rules);
    return SMURF_OK;
}

void smurf_laws_gpu_free(struct laws_gpu *gpu)
{
    free(gpu);
}

const char *smurf_laws_gpu_name(const struct laws_gpu *gpu)
{
    (void)gpu;
    return "one lane";
}

double smurf_laws_gpu_milliseconds(const struct laws_gpu *gpu)
{
    (void)gpu;
    return 0;
}

size_t smurf_laws_gpu_large(const struct laws_gpu *gpu)
{
    return gpu->large;
}

smurf_status smurf_laws_gpu_draw(struct laws_gpu *gpu, const struct laws_rows *rows,
                                 const struct sampler_class *sampler, const struct sampler_config *config,
                                 const uint64_t *stream, double *out, size_t n, smurf_error *err)
{
    bool mirror = sampler == &smurf_sampler_mirror;
    struct walk_plan plan;
    struct cells_range range;
    char *memory = malloc(cells_bytes((int)rows->width, CELLS_FINE));
    float *cubic = malloc(4 * (CELLS_FINE + 2) * sizeof *cubic);
    (void)gpu;
    if (!memory || !cubic) return free(memory), free(cubic), smurf_fail_memory(err);
    laws_walk_plan(&plan, &range, config, mirror, sampler == &smurf_sampler_reject);
    for (size_t i = 0; i < rows->count; i++) {
        char *front = memory;
        struct units units = {.width = (int)rows->width, .is_score = rows->is_score, .mirror = mirror};
        struct cells_table table;
        units.unit = ROOM_TAKE(front, struct unit, units.width);
        struct cells_room room = cells_room_of(&front, CELLS_FINE);
        const float *a = rows->row + i * rows->stride;
        units_set(&units, a, a + rows->width, rows->w, rows->c);
        cells_make_for(&table, &room, &units, &range, cubic);
        struct walk_law walk = walk_law_of(&table, &plan, mirror);
        size_t looks = plan.steps / plan.every;
        for (size_t draw = 0; draw < n; draw++)
            walk_draw(&plan, &walk, &units, cubic, stream[i], (uint32_t)draw, out + i * looks * n + draw, n);
    }
    free(memory);
    free(cubic);
    return SMURF_OK;
}

smurf_status smurf_laws_gpu_answer(struct laws_gpu *gpu, const struct laws_rows *rows,
                                   const struct laws_wrapping *wrapping, const double *gap, double tick,
                                   const double *level, size_t levels, const struct laws_answers *out, smurf_error *err)
{
    struct answers_plan plan;
    struct answers_tables tables;
    double spread;
    laws_answers_plan(&plan, &tables, rows, wrapping, tick, level, levels);
    plan.map = (const struct panel_maps *)(const void *)&gpu->rules;
    char *memory = malloc(law_bytes(plan.width, true, true));
    if (!memory) return smurf_fail_memory(err);
    for (size_t i = 0; i < rows->count; i++) {
        struct answer answer = {out->mass + 2 * i, out->density + i, out->crps ? out->crps + i : NULL,
                                out->spread ? out->spread + i : &spread, out->quantile + i * levels};
        const float *a = rows->row + i * rows->stride;
        if (!law_answer(&plan, memory, false, a, gap[i], &answer)) {
            gpu->large++;
            law_answer(&plan, memory, true, a, gap[i], &answer);
        }
    }
    free(memory);
    return SMURF_OK;
}
