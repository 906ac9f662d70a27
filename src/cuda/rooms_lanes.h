/*
 * rooms_lanes.h - memory for the lanes of one law: small rooms in shared memory, for laws of usual size, or rooms for
 * all.
 *
 * A room is one block, carved into arrays from its front. What only integration needs is used again by Tweedie's map
 * and by the edges of the integrals.
 */
#ifndef SMURF_CUDA_ROOMS_LANES_H
#define SMURF_CUDA_ROOMS_LANES_H

#include "cuda/answers_lanes.h"
#include "cuda/walk_lanes.h"

#include <stddef.h>

#ifdef __CUDACC__
#define ROOM_CODE static __host__ __device__ __forceinline__
#else
#define ROOM_CODE static inline
#endif

ROOM_CODE size_t room_rounded(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* The next n elements; moves the front. */
#define ROOM_TAKE(front, type, n) ((type *)(void *)room_taken(&(front), (size_t)(n) * sizeof(type)))
LANES_CODE char *room_taken(char **front, size_t bytes)
{
    char *out = *front;
    *front += room_rounded(bytes);
    return out;
}

/* ---- Score tables --------------------------------------------------------------------------------------------------
 */

enum { CELLS_FEW = 1024 }; /* score tables of usual size */

ROOM_CODE size_t cells_bytes(int width, int most)
{
    size_t n = (size_t)most;
    return room_rounded((size_t)width * sizeof(struct unit)) +
           room_rounded((n + 1 + 2 * CELLS_GHOSTS) * sizeof(double)) + room_rounded(n) + room_rounded(n / 2 + 2) +
           room_rounded((n + 4) * sizeof(uint16_t));
}

LANES_CODE struct cells_room cells_room_of(char **front, int most)
{
    struct cells_room room;
    room.most = most;
    room.node = ROOM_TAKE(*front, double, most + 1 + 2 * CELLS_GHOSTS);
    room.open = ROOM_TAKE(*front, bool, most);
    room.missed = ROOM_TAKE(*front, bool, most / 2 + 2);
    room.asked = ROOM_TAKE(*front, uint16_t, most + 4);
    return room;
}

/* ---- Exact laws ----------------------------------------------------------------------------------------------------
 */

struct law_sizes {
    int panels, depth, nodes, knots, edges;
};

ROOM_CODE struct law_sizes law_sizes_of(bool large)
{
    struct law_sizes small = {28, 6, 256, 64, 128};
    struct law_sizes all = {PANELS_ALL, TABLE_DEPTH_ALL, TABLE_NODES_ALL, TABLE_NODES_ALL, EDGES_ALL};
    return large ? all : small;
}

ROOM_CODE size_t law_shared_bytes(struct law_sizes s)
{
    size_t panels = room_rounded((size_t)s.panels * sizeof(struct lanes_panel)) +
                    room_rounded(2 * (size_t)s.depth * sizeof(struct lanes_panel));
    size_t noise = room_rounded((size_t)s.nodes * sizeof(double)) + room_rounded((size_t)s.nodes * sizeof(uint16_t));
    size_t edges = room_rounded((size_t)s.edges * sizeof(double)) +
                   room_rounded(((size_t)s.edges + EXTRA_EDGES + 1) * sizeof(double)) +
                   room_rounded(EXTRA_EDGES * sizeof(double));
    size_t most = panels > noise ? panels : noise;
    return most > edges ? most : edges;
}

ROOM_CODE size_t law_bytes(int width, bool large, bool scored)
{
    struct law_sizes s = law_sizes_of(large);
    return room_rounded((size_t)width * sizeof(struct unit)) +
           (scored ? 4 : 3) * room_rounded((size_t)s.nodes * sizeof(double)) +
           room_rounded(PANEL_POINTS * sizeof(double)) + room_rounded((size_t)s.panels * sizeof(uint16_t)) +
           room_rounded((size_t)s.knots * sizeof(uint16_t)) + law_shared_bytes(s);
}

/* Answers about the law of coefficients a, b (width each) in a room of law_bytes. False: it needs the large one. */
LANES_CODE bool law_answer(const struct answers_plan *plan, char *front, bool large, const float *a, double gap,
                           const struct answer *out)
{
    struct law_sizes sizes = law_sizes_of(large);
    struct units units;
    struct lanes_table table;
    struct panels panels;
    struct answer_room room;
    units.unit = ROOM_TAKE(front, struct unit, plan->width);
    units.width = plan->width;
    units.is_score = units.mirror = false;
    table.most = sizes.nodes;
    table.knots_most = sizes.knots;
    table.depth_most = sizes.depth;
    table.scored = plan->sigma > 0;
    table.x = ROOM_TAKE(front, double, sizes.nodes);
    table.f = ROOM_TAKE(front, double, sizes.nodes);
    table.slope = ROOM_TAKE(front, double, sizes.nodes);
    table.psi = table.scored ? ROOM_TAKE(front, double, sizes.nodes) : 0;
    table.scratch = ROOM_TAKE(front, double, PANEL_POINTS);
    panels.pending = ROOM_TAKE(front, uint16_t, sizes.panels);
    table.knot = ROOM_TAKE(front, uint16_t, sizes.knots);
    char *noise = front, *edges = front;
    panels.panel = ROOM_TAKE(front, struct lanes_panel, sizes.panels);
    table.halves = ROOM_TAKE(front, struct lanes_panel, 2 * sizes.depth);
    panels.map = plan->map;
    panels.units = &units;
    panels.lo = plan->lo;
    panels.hi = plan->hi;
    panels.whole = plan->whole;
    panels.most = sizes.panels;
    bool finite = true;
    for (int k = lane_id(); k < 2 * plan->width; k += LANES) finite = finite && isfinite(a[k]);
    if (lanes_any(!finite)) {
        if (lane_id() == 0) {
            out->mass[0] = out->mass[1] = *out->density = NAN;
            if (out->crps) *out->crps = *out->spread = NAN;
            for (int i = 0; i < plan->levels; i++) out->quantile[i] = NAN;
        }
        return true;
    }
    units_set(&units, a, a + plan->width, plan->w, plan->c);
    if (!table_make(&table, &panels)) return false;
    if (table.scored) {
        double *weight = ROOM_TAKE(noise, double, sizes.nodes);
        table_remove_noise(&table, plan->sigma, plan->multiplicative, weight, ROOM_TAKE(noise, uint16_t, sizes.nodes));
    }
    room.most = sizes.edges;
    room.edge = ROOM_TAKE(edges, double, sizes.edges);
    room.all = ROOM_TAKE(edges, double, sizes.edges + EXTRA_EDGES + 1);
    room.extra = ROOM_TAKE(edges, double, EXTRA_EDGES);
    return answer(plan, &table, &room, gap, out);
}

#endif
