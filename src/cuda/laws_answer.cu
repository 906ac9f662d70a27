/* laws_answer.cu - exact laws and what is asked of them, a warp a law. */
#include "cuda/laws_card.cuh"

namespace
{

struct answer_job {
    struct answers_plan plan;
    const float *row;
    size_t laws;
    const double *gap;
    struct card_answers out;
    unsigned *list, *count, listed;
    char *room;
    size_t room_size;
};

template <bool Large> __device__ __forceinline__ bool answer_one(const struct answer_job &job, char *front, size_t law)
{
    struct answer out;
    out.mass = job.out.mass + 2 * law;
    out.density = job.out.density + law;
    out.crps = job.out.crps ? job.out.crps + law : 0;
    out.spread = job.out.spread ? job.out.spread + law : 0;
    out.quantile = job.out.quantile + law * job.plan.levels;
    return law_answer(&job.plan, front, Large, job.row + law * 2 * job.plan.width, job.gap[law], &out);
}

template <bool Large>
__global__ void __launch_bounds__(TABLE_WARPS *LANES) answer_laws(const __grid_constant__ struct answer_job job)
{
    extern __shared__ __align__(16) char shared[];
    size_t warp = threadIdx.x / LANES, at = (size_t)blockIdx.x * TABLE_WARPS + warp;
    if (Large) {
        char *front = job.room + at * job.room_size;
        for (; at < job.listed; at += (size_t)gridDim.x * TABLE_WARPS) answer_one<Large>(job, front, job.list[at]);
    } else if (at < job.laws && !answer_one<Large>(job, shared + warp * job.room_size, at) && lane_id() == 0) {
        job.list[atomicAdd(job.count, 1)] = (unsigned)at;
    }
}

bool answer_large(struct laws_card *card, struct answer_job job, unsigned count, char *text)
{
    job.room_size = law_bytes(job.plan.width, true, job.plan.sigma > 0);
    job.listed = count;
    if (!card_reserve(&card->room, LARGE_WARPS * job.room_size, text)) return false;
    job.room = (char *)card->room.at;
    unsigned warps = count < LARGE_WARPS ? count : LARGE_WARPS;
    answer_laws<true><<<(warps + TABLE_WARPS - 1) / TABLE_WARPS, TABLE_WARPS * LANES, 0, card->stream>>>(job);
    return card_good(cudaGetLastError(), "integrating", text);
}

bool answer_chunk(struct laws_card *card, struct answer_job job, char *text)
{
    unsigned count;
    job.room_size = law_bytes(job.plan.width, false, job.plan.sigma > 0);
    size_t shared = TABLE_WARPS * job.room_size;
    if (!card_allow(answer_laws<false>, shared, text) || !card_begin(card, text)) return false;
    answer_laws<false>
        <<<(unsigned)((job.laws + TABLE_WARPS - 1) / TABLE_WARPS), TABLE_WARPS * LANES, shared, card->stream>>>(job);
    if (!card_listed(card, "integrating", &count, text)) return false;
    card->large += count;
    return (count == 0 || answer_large(card, job, count, text)) && card_end(card, "integrating", text);
}

} // namespace

bool laws_card_answer(struct laws_card *card, const struct card_rows *rows, const struct answers_plan *plan,
                      const double *gap, const struct card_answers *out, char text[CARD_TEXT])
{
    size_t levels = (size_t)plan->levels;
    card->milliseconds = 0;
    card->large = 0;
    if (!card_send(card, &card->weight, rows->w, rows->width * sizeof(float), text) ||
        !card_send(card, &card->tables, plan->tables, sizeof *plan->tables, text))
        return false;
    for (size_t from = 0, n; from < rows->laws; from += n) {
        n = rows->laws - from < CHUNK ? rows->laws - from : CHUNK;
        if (!card_send_rows(card, rows, from, n, text) ||
            !card_send(card, &card->gap, gap + from, n * sizeof *gap, text) ||
            !card_reserve(&card->list, n * sizeof(unsigned), text) ||
            !card_reserve(&card->out, n * (5 + levels) * sizeof(double), text))
            return false;
        double *at = (double *)card->out.at;
        struct answer_job job = {};
        job.plan = *plan;
        job.plan.map = card->maps;
        job.plan.tables = (const struct answers_tables *)card->tables.at;
        job.plan.w = (const float *)card->weight.at;
        job.plan.c = rows->c;
        job.plan.width = rows->width;
        job.row = (const float *)card->row.at;
        job.laws = n;
        job.gap = (const double *)card->gap.at;
        job.out.mass = at;
        job.out.density = at + 2 * n;
        job.out.crps = out->crps ? at + 3 * n : 0;
        job.out.spread = out->crps ? at + 4 * n : 0;
        job.out.quantile = at + 5 * n;
        job.list = (unsigned *)card->list.at;
        job.count = card->count;
        if (!answer_chunk(card, job, text) || !card_receive(card, out->mass + 2 * from, at, 2 * n * sizeof *at, text) ||
            !card_receive(card, out->density + from, at + 2 * n, n * sizeof *at, text) ||
            (out->crps && !card_receive(card, out->crps + from, at + 3 * n, n * sizeof *at, text)) ||
            (out->crps && out->spread && !card_receive(card, out->spread + from, at + 4 * n, n * sizeof *at, text)) ||
            !card_receive(card, out->quantile + from * levels, at + 5 * n, n * levels * sizeof *at, text) ||
            !card_settled(card, "integrating", text))
            return false;
    }
    return true;
}
