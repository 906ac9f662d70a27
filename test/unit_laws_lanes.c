/*
 * unit_laws_lanes.c - the formulas of the kernels of laws, run on the host, against the processor's code: score tables,
 * walks, exact laws and what is asked of them, in rooms of both sizes. Compiled twice: for one lane, and for the 32
 * lanes of lanes_test.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "laws_case.h"

#include "cuda/laws_plan.h"
#include "cuda/rooms_lanes.h"
#include "law/exact_table.h"
#include "law/langevin.h"

enum { LAWS = LANES > 1 ? 6 : 48, WALKED = LANES > 1 ? 3 : 12, DRAWS = 32, ROOM_GUARD = 4096 };

/* ---- Lanes ---------------------------------------------------------------------------------------------------------
 */

#ifndef LANES_TEST
static void lanes_run(void (*run)(void *), void *argument, bool down)
{
    (void)down;
    run(argument);
}
#endif

/* ---- Exact laws -------------------------------------------------------------------------------------------------- */

struct question {
    const struct answers_plan *plan;
    char *room;
    const float *row;
    double gap, *out; /* (ANSWER_VALUES) */
    bool large, answered;
};

static void ask(void *argument)
{
    struct question *q = argument;
    struct answer answers = {q->out, q->out + 2, q->out + 3, q->out + 4, q->out + 5};
    bool answered = law_answer(q->plan, q->room, q->large, q->row, q->gap, &answers);
    if (lane_id() == 0) q->answered = answered;
}

/* False: it needs the large room. The rooms are poisoned: nothing may be read before it is written; and nothing may be
   written beyond their ends. */
static bool lanes_answer(struct question *q, bool large, bool down, double *out)
{
    size_t size = law_bytes(q->plan->width, large, q->plan->sigma > 0);
    memset(q->room, 0xa5, size + ROOM_GUARD);
    memset(out, 0x7b, ANSWER_VALUES * sizeof *out);
    q->large = large;
    q->out = out;
    lanes_run(ask, q, down);
    for (size_t i = 0; i < ROOM_GUARD; i++) assert_int_equal((unsigned char)q->room[size + i], 0xa5);
    return q->answered;
}

static void answers_are_those_of_the_processor(void **state)
{
    (void)state;
    char *room = laws_room(law_bytes(128, true, true) + ROOM_GUARD);
    struct panel_rules *rules = laws_room(sizeof *rules);
    struct exact exact;
    assert_int_equal(smurf_exact_init(&exact, NULL), SMURF_OK);
    smurf_panel_rules(rules);
    for (size_t k = 0; k < LAWS_CASES; k++) {
        struct laws laws;
        struct answers_plan plan;
        struct answers_tables tables;
        int large = 0;
        double most = 0;
        if (laws_cases[k].is_score) continue;
        laws_make(&laws, &laws_cases[k], LAWS, 5 + k);
        laws_answers_plan(&plan, &tables, &laws.rows, &laws.wrapping, laws.is->tick, laws.level, CASE_LEVELS);
        plan.map = (const struct panel_maps *)(const void *)rules;
        for (size_t i = 0; i < LAWS; i++) {
            double want[ANSWER_VALUES], got[ANSWER_VALUES], small[ANSWER_VALUES];
            const float *row = laws.row + i * laws.rows.stride;
            struct question q = {.plan = &plan, .room = room, .row = row, .gap = laws.gap[i]};
            int worst;
            laws_reference(&laws, &exact, i, want);
            assert_true(lanes_answer(&q, true, false, got));
            double miss = laws_difference(&laws, got, want, &worst);
            if (!(miss < 1))
                fail_msg("%s, law %zu, value %d: %.12g instead of %.12g (%g)", laws.is->name, i, worst, got[worst],
                         want[worst], miss);
            most = fmax(most, miss);
            if (!lanes_answer(&q, false, i % 2, small))
                large++;
            else
                assert_memory_equal(small, got, sizeof got);
        }
        print_message("# %s: off by %.2g of the limit, %d of %d laws large\n", laws.is->name, most, large, LAWS);
        assert_true(laws.is->steepness > 4 || laws.is->c > 100 || large == 0);
        laws_release(&laws);
    }
    smurf_exact_release(&exact);
    free(rules);
    free(room);
}

/* ---- Score tables and walks ----------------------------------------------------------------------------------------
 */

struct cells {
    char *room;
    float cubic[4 * (CELLS_FINE + 2)];
    const struct laws *laws;
    const float *row;
    bool mirror, made;
    int most;
    double from, to;
    const struct cells_range *range; /* NULL: from, to */
    const struct walk_plan *plan;    /* NULL: no draws */
    uint64_t stream;
    double *out; /* (looks x DRAWS) */
    struct cells_table table;
};

/* Makes a table, and draws. */
static void make(void *argument)
{
    struct cells *c = argument;
    char *front = c->room;
    struct units units = {.width = (int)c->laws->rows.width, .is_score = c->laws->is->is_score, .mirror = c->mirror};
    struct cells_table table;
    units.unit = ROOM_TAKE(front, struct unit, units.width);
    struct cells_room room = cells_room_of(&front, c->most);
    units_set(&units, c->row, c->row + units.width, c->laws->rows.w, c->laws->rows.c);
    bool made = c->range ? cells_make_for(&table, &room, &units, c->range, c->cubic)
                         : cells_make(&table, &room, &units, c->from, c->to, 3, c->cubic);
    if (lane_id() == 0) {
        c->made = made;
        c->table = table;
    }
    if (!c->plan) return;
    struct walk_law walk = walk_law_of(&table, c->plan, c->mirror);
    for (uint32_t draw = (uint32_t)lane_id(); draw < DRAWS; draw += LANES)
        walk_draw(c->plan, &walk, &units, c->cubic, c->stream, draw, c->out + draw, DRAWS);
}

static struct cells *cells_new(void)
{
    struct cells *cells = laws_room(sizeof *cells);
    cells->room = laws_room(cells_bytes(128, CELLS_FINE) + ROOM_GUARD);
    return cells;
}

static void cells_free(struct cells *cells)
{
    free(cells->room);
    free(cells);
}

static bool run_cells(struct cells *cells, int most, bool down)
{
    cells->most = most;
    size_t size = cells_bytes((int)cells->laws->rows.width, most);
    memset(cells->room, 0xa5, size + ROOM_GUARD);
    lanes_run(make, cells, down);
    for (size_t i = 0; i < ROOM_GUARD; i++) assert_int_equal((unsigned char)cells->room[size + i], 0xa5);
    return cells->made;
}

static void score_tables_are_those_of_the_processor(void **state)
{
    (void)state;
    struct cells *cells = cells_new();
    for (size_t k = 0; k < LAWS_CASES; k++) {
        struct laws laws;
        int large = 0;
        laws_make(&laws, &laws_cases[k], LAWS, 5 + k);
        for (size_t i = 0; i < LAWS; i++) {
            struct score_table want;
            struct law law = laws_at(&laws, i);
            cells->laws = &laws;
            cells->row = laws.row + i * laws.rows.stride;
            cells->from = i % 5 ? -2 : 0;
            cells->to = i == 7 ? cells->from : 12;
            large += !run_cells(cells, CELLS_FEW, true);
            assert_true(run_cells(cells, CELLS_FINE, false));
            struct cells_table got = cells->table;
            assert_true(smurf_score_table_init(&want, &law, cells->from, cells->to, 3));
            assert_int_equal(got.cells, want.cells);
            assert_true(got.origin == want.origin && got.width == want.width);
            for (int c = 0; c < 4 * (got.cells + 2); c++) {
                double a = (double)cells->cubic[c], b = (double)want.coefficient[c];
                if (!(fabs(a - b) <= 1e-6 * fabs(b) + 1e-6))
                    fail_msg("%s, law %zu, coefficient %d: %g instead of %g", laws.is->name, i, c, a, b);
            }
            smurf_score_table_release(&want);
        }
        print_message("# %s: %d of %d score tables large\n", laws.is->name, large, LAWS);
        laws_release(&laws);
    }
    cells_free(cells);
}

/* Every draw, at each look. */
static void check_draws(struct laws *laws, struct cells *cells, const struct sampler_class *sampler,
                        const struct sampler_config *config, bool mirror, bool reject)
{
    enum { LOOKS_MOST = 4 };
    struct walk_plan plan;
    struct cells_range range;
    size_t looks = config->every ? config->steps / config->every : 1, off = 0, all = 0;
    double got[LOOKS_MOST * DRAWS], want[LOOKS_MOST * DRAWS];
    laws_walk_plan(&plan, &range, config, mirror, reject);
    for (size_t i = 0; i < WALKED; i++) {
        struct law law = laws_at(laws, i);
        cells->laws = laws;
        cells->row = laws->row + i * laws->rows.stride;
        cells->mirror = mirror;
        cells->range = &range;
        cells->plan = &plan;
        cells->stream = laws->stream[i];
        cells->out = got;
        assert_true(run_cells(cells, CELLS_FINE, i % 2));
        assert_true(sampler->draw(&law, config, laws->stream[i], want, DRAWS));
        double reach = sqrt(config->step * (double)config->steps);
        for (size_t k = 0; k < looks * DRAWS; k++, all++)
            off += !(fabs(got[k] - want[k]) <= 1e-4 * (fabs(want[k]) + reach));
    }
    print_message("# %s, %s: %zu of %zu draws differ\n", laws->is->name, sampler->name, off, all);
    assert_true((double)off <= laws_apart(laws->is, sampler) * (double)all);
}

static void draws_are_those_of_the_processor(void **state)
{
    (void)state;
    struct cells *cells = cells_new();
    for (size_t k = 0; k < LAWS_CASES; k++) {
        struct laws laws;
        struct sampler_config config = {
            .steps = 203, .step = 0.01, .start = {0.1, 3}, .denoise = 0.1, .every = k % 2 ? 67 : 0, .seed = 11};
        laws_make(&laws, &laws_cases[k], WALKED, 5 + k);
        check_draws(&laws, cells, &smurf_sampler_langevin, &config, false, false);
        check_draws(&laws, cells, &smurf_sampler_mirror, &config, true, false);
        check_draws(&laws, cells, &smurf_sampler_reject, &config, false, true);
        laws_release(&laws);
    }
    cells_free(cells);
}

/* ---- Normals -------------------------------------------------------------------------------------------------------
 */

static void normals_are_those_of_their_words(void **state)
{
    (void)state;
    double worst = 0;
    for (uint32_t draw = 0; draw < 200; draw++)
        for (uint32_t block = 0; block < 200; block++) {
            uint32_t word[4];
            float z[4];
            smurf_philox(word, 99, (uint64_t)7 << 40 | 3, (uint64_t)draw << 32 | (block + 1));
            walk_normals(99, (uint64_t)7 << 40 | 3, draw, block, z);
            for (int k = 0; k < 2; k++) {
                double radius = sqrt(-2 * log(((double)(word[2 * k] >> 9) + 0.5) * 0x1p-23));
                double angle = 3.14159265358979323846 * 0x1p-31 * (double)(int32_t)word[2 * k + 1];
                worst = fmax(worst, fabs((double)z[2 * k] - radius * cos(angle)));
                worst = fmax(worst, fabs((double)z[2 * k + 1] - radius * sin(angle)));
            }
        }
    assert_true(worst > 0 && worst < 2e-6);
}

/* ---- What the GPU refuses
 * -------------------------------------------------------------------------------------------- */

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    struct laws_gpu *gpu;
    smurf_error err;
    struct sampler_config config = {.steps = 10, .step = 0.1, .start = {0, 1}}, still = {.steps = 10, .start = {0, 1}};
    struct laws_rows none = {.width = 8}, wide = {.width = 4096};
    const smurf_scale scale = {SMURF_SCALE_NONE, 1, 0, 1};
    struct laws_wrapping wrapping = {.scale = &scale};
    double level[LAWS_LEVELS_MOST + 1] = {0};
    const struct laws_answers answers = {0};
    if (smurf_laws_gpu_new(&gpu, &err)) {
        assert_null(gpu);
        assert_true(strstr(err.message, "has no CUDA") || strstr(err.message, "there is no NVIDIA GPU"));
        assert_int_equal(smurf_laws_gpu_new(&gpu, NULL), SMURF_ERROR_UNSUPPORTED);
    }
    /* refused before the card is asked */
    assert_int_equal(smurf_laws_gpu_draw(gpu, &none, &smurf_sampler_exact, &config, NULL, NULL, 1, &err),
                     SMURF_ERROR_UNSUPPORTED);
    assert_int_equal(smurf_laws_gpu_draw(gpu, &none, &smurf_sampler_reject, &still, NULL, NULL, 1, &err),
                     SMURF_ERROR_UNSUPPORTED);
    assert_int_equal(smurf_laws_gpu_draw(gpu, &wide, &smurf_sampler_langevin, &config, NULL, NULL, 1, &err),
                     SMURF_ERROR_UNSUPPORTED);
    assert_int_equal(smurf_laws_gpu_answer(gpu, &none, &wrapping, NULL, 0, level, LAWS_LEVELS_MOST + 1, &answers, &err),
                     SMURF_ERROR_UNSUPPORTED);
    assert_int_equal(smurf_laws_gpu_answer(gpu, &wide, &wrapping, NULL, 0, level, 1, &answers, &err),
                     SMURF_ERROR_UNSUPPORTED);
    none.is_score = true;
    assert_int_equal(smurf_laws_gpu_answer(gpu, &none, &wrapping, NULL, 0, level, 1, &answers, &err),
                     SMURF_ERROR_UNSUPPORTED);
    if (!gpu) return;
    assert_true(smurf_laws_gpu_name(gpu)[0] && smurf_laws_gpu_milliseconds(gpu) == 0 && smurf_laws_gpu_large(gpu) == 0);
    smurf_laws_gpu_free(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_are_those_of_their_words), cmocka_unit_test(score_tables_are_those_of_the_processor),
        cmocka_unit_test(draws_are_those_of_the_processor), cmocka_unit_test(answers_are_those_of_the_processor),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
