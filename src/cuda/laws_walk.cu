/*
 * laws_walk.cu - draws: score tables, a warp a law, and walks, a lane a draw, with the tables of a block's laws in
 * shared memory.
 */
#include "cuda/laws_card.cuh"

namespace
{

enum {
    WALK_THREADS = 512, /* at most, of a block that walks */
    WALK_LAWS = 8,
    WALK_SHARED = 112 << 10, /* bytes */
};

const size_t few_floats = 4 * (CELLS_FEW + 2), fine_floats = 4 * (CELLS_FINE + 2);

/* ---- Score tables --------------------------------------------------------------------------------------------------
 */

struct walk_job {
    const float *row, *w;
    float c;
    int width;
    bool is_score, mirror;
    struct cells_range range;
    struct walk_plan plan;
    const uint64_t *stream;
    size_t laws, draws, looks;
    struct cells_table *table; /* (laws); cells < 0: in the list */
    float *cubic;              /* few_floats a law; with Large, fine_floats an entry of the list */
    unsigned *list, *count;
    unsigned from, to; /* Large: entries of the list */
    char *room;
    size_t room_size;
    double *out;
};

__device__ __forceinline__ struct units units_of(char **front, const struct walk_job &job)
{
    struct units units;
    units.unit = ROOM_TAKE(*front, struct unit, job.width);
    units.width = job.width;
    units.is_score = job.is_score;
    units.mirror = job.mirror;
    return units;
}

template <bool Large> __global__ void __launch_bounds__(TABLE_WARPS *LANES) make_cells(const struct walk_job job)
{
    extern __shared__ __align__(16) char shared[];
    size_t warp = threadIdx.x / LANES, at = (size_t)blockIdx.x * TABLE_WARPS + warp, law = at;
    char *front = shared + warp * job.room_size;
    if (Large) {
        at += job.from;
        if (at >= job.to) return;
        law = job.list[at];
        front = job.room + (at - job.from) * job.room_size;
    } else if (at >= job.laws) {
        return;
    }
    struct units units = units_of(&front, job);
    struct cells_room room = cells_room_of(&front, Large ? (int)CELLS_FINE : (int)CELLS_FEW);
    const float *a = job.row + law * 2 * job.width;
    units_set(&units, a, a + job.width, job.w, job.c);
    struct cells_table table;
    float *cubic = job.cubic + (Large ? (at - job.from) * fine_floats : law * few_floats);
    bool made = cells_make_for(&table, &room, &units, &job.range, cubic);
    if (lane_id()) return;
    if (!made) {
        table.cells = -1;
        job.list[atomicAdd(job.count, 1)] = (unsigned)law;
    }
    job.table[law] = table;
}

/* ---- Walks ---------------------------------------------------------------------------------------------------------
 */

/* `group` laws a block, and blockIdx.y parts of their draws. Large: one law, its table in global memory. */
template <bool Large> __global__ void __launch_bounds__(WALK_THREADS, 2) walk(const struct walk_job job, int group)
{
    extern __shared__ __align__(16) char shared[];
    __shared__ struct walk_law laws[WALK_LAWS];
    __shared__ int table_at[WALK_LAWS]; /* in `shared`; -1: none */
    __shared__ double height[WALK_LAWS];
    size_t first = (size_t)blockIdx.x * group;
    char *front = shared;
    struct unit *unit = ROOM_TAKE(front, struct unit, group * job.width);
    for (int g = threadIdx.x / LANES; g < group; g += blockDim.x / LANES) {
        size_t law = Large ? job.list[job.from + first] : first + g;
        if (!Large && law >= job.laws) break;
        struct units units;
        units.unit = unit + (size_t)g * job.width;
        units.width = job.width;
        const float *a = job.row + law * 2 * job.width;
        units_set(&units, a, a + job.width, job.w, job.c);
        if (lane_id()) continue;
        struct cells_table table = job.table[law];
        if (!Large && table.cells < 0) table.cells = 0, table.width = 1; /* walked elsewhere */
        laws[g] = walk_law_of(&table, &job.plan, job.mirror);
        height[g] = units.c;
    }
    if (!Large && threadIdx.x == 0) {
        int at = (int)(front - shared);
        for (int g = 0; g < group; g++) {
            bool here = first + g < job.laws && job.table[first + g].cells >= 0;
            table_at[g] = here ? at : -1;
            if (here) at += (job.table[first + g].cells + 2) * (int)sizeof(float4);
        }
    }
    __syncthreads();
    for (int g = 0; !Large && g < group; g++) {
        if (table_at[g] < 0) continue;
        const float4 *source = (const float4 *)(const void *)(job.cubic + (first + g) * few_floats);
        float4 *into = (float4 *)(void *)(shared + table_at[g]);
        for (int k = threadIdx.x; k < job.table[first + g].cells + 2; k += blockDim.x) into[k] = source[k];
    }
    __syncthreads();
    size_t item = (size_t)blockIdx.y * blockDim.x + threadIdx.x;
    int g = (int)(item / job.draws);
    if (g >= group || (!Large && table_at[g] < 0)) return;
    size_t law = Large ? job.list[job.from + first] : first + g;
    unsigned draw = (unsigned)(item % job.draws);
    struct units units;
    units.unit = unit + (size_t)g * job.width;
    units.width = job.width;
    units.c = height[g];
    units.is_score = job.is_score;
    units.mirror = job.mirror;
    struct walk_law own = laws[g];
    double *out = job.out + law * job.looks * job.draws + draw;
    const float *cubic = Large ? job.cubic + first * fine_floats : (const float *)(const void *)(shared + table_at[g]);
    walk_draw(&job.plan, &own, &units, cubic, job.stream[law], draw, out, job.draws);
}

/* ---- Calls ---------------------------------------------------------------------------------------------------------
 */

/* Shared memory of a block that walks. */
size_t walk_bytes(int width, int group)
{
    return group * (room_rounded(width * sizeof(struct unit)) + few_floats * sizeof(float));
}

/* The laws of a block, so that few of its lanes are idle and two blocks fit. */
int group_of(int width, size_t draws)
{
    int best = 1;
    double share = 0;
    for (int group = 1; group <= WALK_LAWS && group * draws <= WALK_THREADS; group++) {
        size_t threads = (group * draws + LANES - 1) / LANES * LANES;
        if (group > 1 && walk_bytes(width, group) > WALK_SHARED) break;
        if ((double)(group * draws) / (double)threads > share + 1e-3) {
            share = (double)(group * draws) / (double)threads;
            best = group;
        }
    }
    return best;
}

bool walk_large(struct laws_card *card, struct walk_job job, unsigned count, char *text)
{
    job.room_size = cells_bytes(job.width, CELLS_FINE);
    if (!card_reserve(&card->room, LARGE_WARPS * (job.room_size + fine_floats * sizeof(float)), text)) return false;
    job.room = (char *)card->room.at;
    job.cubic = (float *)(void *)(job.room + LARGE_WARPS * job.room_size);
    int threads = job.draws < 256 ? (int)((job.draws + LANES - 1) / LANES * LANES) : 256;
    size_t shared = room_rounded(job.width * sizeof(struct unit));
    for (job.from = 0; job.from < count; job.from = job.to) {
        job.to = count - job.from < LARGE_WARPS ? count : job.from + LARGE_WARPS;
        unsigned n = job.to - job.from;
        make_cells<true><<<(n + TABLE_WARPS - 1) / TABLE_WARPS, TABLE_WARPS * LANES, 0, card->stream>>>(job);
        walk<true><<<dim3(n, (unsigned)((job.draws + threads - 1) / threads)), threads, shared, card->stream>>>(job, 1);
    }
    return card_good(cudaGetLastError(), "drawing", text);
}

bool walk_chunk(struct laws_card *card, struct walk_job job, char *text)
{
    unsigned count;
    job.room_size = cells_bytes(job.width, CELLS_FEW);
    size_t shared = TABLE_WARPS * job.room_size;
    int group = group_of(job.width, job.draws);
    size_t lanes = group * job.draws,
           threads = lanes < WALK_THREADS ? (lanes + LANES - 1) / LANES * LANES : WALK_THREADS;
    size_t walking = walk_bytes(job.width, group);
    if (!card_allow(make_cells<false>, shared, text) || !card_allow(walk<false>, walking, text) ||
        !card_begin(card, text))
        return false;
    make_cells<false>
        <<<(unsigned)((job.laws + TABLE_WARPS - 1) / TABLE_WARPS), TABLE_WARPS * LANES, shared, card->stream>>>(job);
    dim3 blocks((unsigned)((job.laws + group - 1) / group), (unsigned)((lanes + threads - 1) / threads));
    walk<false><<<blocks, (unsigned)threads, walking, card->stream>>>(job, group);
    if (!card_listed(card, "drawing", &count, text)) return false;
    card->large += count;
    return (count == 0 || walk_large(card, job, count, text)) && card_end(card, "drawing", text);
}

} // namespace

bool laws_card_walk(struct laws_card *card, const struct card_rows *rows, const struct walk_plan *plan,
                    const struct cells_range *range, bool is_score, bool mirror, const uint64_t *stream, size_t draws,
                    double *out, char text[CARD_TEXT])
{
    size_t looks = plan->steps / plan->every, each = looks * draws;
    size_t chunk = ((size_t)1 << 30) / sizeof(double) / each; /* a gigabyte of draws */
    chunk = chunk < 1 ? 1 : chunk > CHUNK ? CHUNK : chunk;
    card->milliseconds = 0;
    card->large = 0;
    if (!card_send(card, &card->weight, rows->w, rows->width * sizeof(float), text)) return false;
    for (size_t from = 0, n; from < rows->laws; from += n) {
        n = rows->laws - from < chunk ? rows->laws - from : chunk;
        if (!card_send_rows(card, rows, from, n, text) ||
            !card_send(card, &card->key, stream + from, n * sizeof *stream, text) ||
            !card_reserve(&card->table, n * sizeof(struct cells_table), text) ||
            !card_reserve(&card->cubic, n * few_floats * sizeof(float), text) ||
            !card_reserve(&card->list, n * sizeof(unsigned), text) ||
            !card_reserve(&card->out, n * each * sizeof *out, text))
            return false;
        struct walk_job job = {};
        job.row = (const float *)card->row.at;
        job.w = (const float *)card->weight.at;
        job.c = rows->c;
        job.width = rows->width;
        job.is_score = is_score;
        job.mirror = mirror;
        job.range = *range;
        job.plan = *plan;
        job.stream = (const uint64_t *)card->key.at;
        job.laws = n;
        job.draws = draws;
        job.looks = looks;
        job.table = (struct cells_table *)card->table.at;
        job.cubic = (float *)card->cubic.at;
        job.list = (unsigned *)card->list.at;
        job.count = card->count;
        job.out = (double *)card->out.at;
        if (!walk_chunk(card, job, text) ||
            !card_receive(card, out + from * each, card->out.at, n * each * sizeof *out, text) ||
            !card_settled(card, "drawing", text))
            return false;
    }
    return true;
}
