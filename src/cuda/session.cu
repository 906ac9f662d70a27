/*
 * session.cu - see cuda.h: opens a session, moves slabs and events, runs passes.
 *
 * A pass with its gradient is a graph, one for each capacity of rows, captured when it is first needed: the batch
 * itself is read from the card's memory.
 */
#include "cuda/session.cuh"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(char *why, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, CUDA_TEXT, format, args);
    va_end(args);
    return code;
}

/* The last error, or CUDA_OK. */
static int check(char *why, const char *doing, cudaError_t status)
{
    cudaError_t last = cudaGetLastError();
    if (status == cudaSuccess) status = last;
    if (status == cudaSuccess) return CUDA_OK;
    return fail(why, CUDA_FAILED, "the GPU failed while %s: %s", doing, cudaGetErrorString(status));
}

/* ---- Opening ---------------------------------------------------------------------------------------------- */

/* "8.2 GB" needs little room. */
static double gigabytes(size_t bytes)
{
    return (double)bytes / 1e9;
}

static int allocate(struct cuda_training *t, char *why)
{
    size_t left = 0, all = 0;
    t->bytes = smurf_cuda_lay_out(t, NULL);
    if (cudaMalloc((void **)&t->memory, t->bytes) != cudaSuccess) {
        cudaGetLastError();
        cudaMemGetInfo(&left, &all);
        size_t fits = (size_t)((double)t->rows_most * 0.9 * (double)left / (double)t->bytes);
        return fail(why, CUDA_MEMORY,
                    "batches of up to %zu events need %.3g GB of the GPU's memory, of which %.3g GB are free: choose "
                    "--batch so that a batch has at most %zu events, or use --device cpu",
                    t->rows_most, gigabytes(t->bytes), gigabytes(left), fits);
    }
    smurf_cuda_lay_out(t, t->memory);
    cudaMemset(t->memory, 0, t->bytes); /* padding of the slabs stays 0 */
    if (cudaHostAlloc((void **)&t->host, t->header_bytes, cudaHostAllocDefault) != cudaSuccess ||
        cudaHostAlloc((void **)&t->host_loss, sizeof *t->host_loss, cudaHostAllocDefault) != cudaSuccess)
        return fail(why, CUDA_MEMORY, "no memory to exchange data with the GPU");
    return CUDA_OK;
}

static int prepare(struct cuda_training *t, char *why)
{
    const struct cuda_model *m = &t->m;
    int status = check(why, "starting", cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
    if (!status) status = check(why, "starting", cudaStreamCreateWithFlags(&t->beside, cudaStreamNonBlocking));
    if (!status) status = check(why, "starting", cudaEventCreateWithFlags(&t->fork, cudaEventDisableTiming));
    if (!status) status = check(why, "starting", cudaEventCreateWithFlags(&t->join, cudaEventDisableTiming));
    if (!status) status = check(why, "starting", cudaEventCreate(&t->begin));
    if (!status) status = check(why, "starting", cudaEventCreate(&t->end));
    if (status) return status;
    double *period = (double *)malloc((m->width / 2 + 1) * sizeof *period);
    if (!period) return fail(why, CUDA_MEMORY, "out of memory");
    for (size_t k = 0; k < (m->width + 1) / 2; k++)
        period[k] = pow(10000, (double)(2 * k) / (double)m->width); /* temporal_period */
    cudaMemcpy(t->period, period, (m->width + 1) / 2 * sizeof *period, cudaMemcpyHostToDevice);
    free(period);
    cudaMemcpy(t->card, m, sizeof *m, cudaMemcpyHostToDevice);
    if (smurf_cuda_list(t)) return fail(why, CUDA_MEMORY, "out of memory");
    if (smurf_cuda_attention_init() || smurf_cuda_objective_init(m) || (!m->at_truth && smurf_cuda_perturbed_init(m)) ||
        (t->fused && smurf_cuda_layer_init(m)))
        return fail(why, CUDA_UNSUPPORTED, "this GPU has too little shared memory for the model");
    return check(why, "starting", cudaDeviceSynchronize());
}

int smurf_cuda_open(struct cuda_training **out, const struct cuda_model *model, size_t rows, size_t sequences,
                    int average, char why[CUDA_TEXT])
{
    *out = NULL;
    char name[CUDA_TEXT];
    int status = smurf_cuda_device(name, why);
    if (status) return status;
    if (rows > INT32_MAX / 2) return fail(why, CUDA_UNSUPPORTED, "a batch of %zu events is too large for a GPU", rows);
    struct cuda_training *t = (struct cuda_training *)calloc(1, sizeof *t);
    if (!t) return fail(why, CUDA_MEMORY, "out of memory");
    t->m = *model;
    t->rows_most = rows;
    t->sequences_most = sequences;
    t->blocks = smurf_cuda_type_blocks(rows);
    t->average = average;
    t->fused = smurf_cuda_layer_fits(model);
    status = smurf_cuda_list(t) ? fail(why, CUDA_MEMORY, "out of memory") : CUDA_OK; /* how long the lists are */
    if (!status) status = allocate(t, why);
    if (!status) status = prepare(t, why);
    if (status)
        smurf_cuda_close(t);
    else
        *out = t;
    return status;
}

void smurf_cuda_close(struct cuda_training *t)
{
    if (!t) return;
    for (int i = 0; i < t->graphs; i++) cudaGraphExecDestroy(t->graph[i].exec);
    for (int p = 0; p < CUDA_PARTS; p++) cudaFree(t->part[p]);
    if (t->begin) cudaEventDestroy(t->begin);
    if (t->end) cudaEventDestroy(t->end);
    if (t->fork) cudaEventDestroy(t->fork);
    if (t->join) cudaEventDestroy(t->join);
    if (t->beside) cudaStreamDestroy(t->beside);
    if (t->stream) cudaStreamDestroy(t->stream);
    cudaFree(t->memory);
    cudaFreeHost(t->host);
    cudaFreeHost(t->host_loss);
    cudaGetLastError();
    free(t);
}

/* ---- Data --------------------------------------------------------------------------------------------------- */

/* Copies an array to the next place of a block. */
template <typename T> static void send(char *block, size_t *used, T **to, const T *from, size_t n)
{
    *to = (T *)(block + *used);
    *used += (n * sizeof(T) + 255) & ~(size_t)255;
    cudaMemcpy(*to, from, n * sizeof(T), cudaMemcpyHostToDevice);
}

int smurf_cuda_events(struct cuda_training *t, enum cuda_part part, const struct cuda_events *e, char why[CUDA_TEXT])
{
    enum { EACH = 3 * sizeof(uint32_t) + 3 * sizeof(double) + sizeof(float) + sizeof(uint64_t) };
    struct events *to = &t->events[part];
    size_t used = 0, bytes = e->n * EACH + 8 * 256;
    char *block;
    if (cudaMalloc((void **)&block, bytes) != cudaSuccess) {
        cudaGetLastError();
        return fail(why, CUDA_MEMORY, "%zu events need %.3g GB of the GPU's memory, which is full: use --device cpu",
                    e->n, gigabytes(bytes));
    }
    t->part[part] = block;
    to->n = e->n;
    send(block, &used, &to->type, e->type, e->n);
    send(block, &used, &to->target_type, e->target_type, e->n);
    send(block, &used, &to->target_kind, e->target_kind, e->n);
    send(block, &used, &to->time, e->time, e->n);
    send(block, &used, &to->target_gap, e->target_gap, e->n);
    send(block, &used, &to->target_limit, e->target_limit, e->n);
    send(block, &used, &to->gap, e->gap, e->n);
    send(block, &used, &to->target_id, e->target_id, e->n);
    return check(why, "taking the data", cudaDeviceSynchronize());
}

int smurf_cuda_put(struct cuda_training *t, enum cuda_slab slab, const float *from, char why[CUDA_TEXT])
{
    cudaStreamSynchronize(t->stream);
    return check(why, "taking weights",
                 cudaMemcpy(t->slab[slab], from, t->m.total * sizeof(float), cudaMemcpyHostToDevice));
}

int smurf_cuda_get(struct cuda_training *t, enum cuda_slab slab, float *to, char why[CUDA_TEXT])
{
    cudaStreamSynchronize(t->stream);
    return check(why, "handing out weights",
                 cudaMemcpy(to, t->slab[slab], t->m.total * sizeof(float), cudaMemcpyDeviceToHost));
}

/* ---- Steps --------------------------------------------------------------------------------------------------- */

/* Rows rounded up, to within an eighth: a function of the batch alone, as the splits of sums are. */
static int capacity(size_t rows)
{
    size_t step = 64;
    while (rows > 16 * step) step *= 2;
    return (int)((rows + step - 1) / step * step);
}

/* The batch, to where the kernels read it. Returns its rows. */
static size_t send_batch(struct cuda_training *t, const struct cuda_batch *b)
{
    struct run *run = (struct run *)t->host;
    uint64_t *first = (uint64_t *)(t->host + ((char *)t->rows.first - t->header));
    uint32_t *offset = (uint32_t *)(t->host + ((char *)t->rows.offset - t->header)), rows = 0;
    for (size_t i = 0; i < b->sequences; i++) {
        first[i] = b->first[i];
        offset[i] = rows;
        rows += (uint32_t)b->length[i];
    }
    offset[b->sequences] = rows;
    double threshold = b->dropout > 0 ? fmin(round(b->dropout * 65536), 65535) : 0; /* mask_of in op/dropout.c */
    *run = {rows,
            (uint32_t)b->sequences,
            b->seed,
            b->step,
            b->epoch,
            (uint32_t)threshold,
            (float)(1 / (1 - threshold / 65536)),
            b->mask * 0x1p32,
            b->other};
    cudaMemcpyAsync(t->header, t->host, t->header_bytes, cudaMemcpyHostToDevice, t->stream);
    return rows;
}

/* The graph of a pass over up to `cap` rows. NULL: not captured. */
static cudaGraphExec_t graph_of(struct cuda_training *t, int cap)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    for (int i = 0; i < t->graphs; i++)
        if (t->graph[i].cap == cap) return t->graph[i].exec;
    if (t->graphs == GRAPHS || cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal)) return NULL;
    smurf_cuda_launch(t, cap, CUDA_TRAIN, CUDA_WEIGHT, 1);
    if (cudaStreamEndCapture(t->stream, &graph) || cudaGraphInstantiate(&exec, graph, 0)) exec = NULL;
    if (graph) cudaGraphDestroy(graph);
    if (exec) t->graph[t->graphs++] = {cap, exec};
    return exec;
}

int smurf_cuda_pass(struct cuda_training *t, const struct cuda_batch *b, struct cuda_loss *loss, char why[CUDA_TEXT])
{
    if (t->timed) cudaEventRecord(t->begin, t->stream);
    size_t rows = send_batch(t, b);
    int cap = capacity(rows);
    if ((size_t)cap > t->rows_most) cap = (int)t->rows_most;
    cudaGraphExec_t exec = b->backward && b->part == CUDA_TRAIN && b->weights == CUDA_WEIGHT ? graph_of(t, cap) : NULL;
    if (exec)
        cudaGraphLaunch(exec, t->stream);
    else
        smurf_cuda_launch(t, cap, b->part, b->weights, b->backward);
    cudaMemcpyAsync(t->host_loss, t->loss, sizeof *t->loss, cudaMemcpyDeviceToHost, t->stream);
    if (t->timed) cudaEventRecord(t->end, t->stream);
    int status = check(why, "training", cudaStreamSynchronize(t->stream));
    if (!status) *loss = *t->host_loss;
    return status;
}

int smurf_cuda_update(struct cuda_training *t, float factor, float rate, float inverse, float decay,
                      char why[CUDA_TEXT])
{
    smurf_cuda_adam(t->stream, t->m.total, t->slab[CUDA_GRADIENT], factor, rate, inverse, decay, t->slab[CUDA_MOMENT1],
                    t->slab[CUDA_MOMENT2], t->slab[CUDA_WEIGHT], t->slab[CUDA_AVERAGE]);
    if (t->timed) cudaEventRecord(t->end, t->stream);
    return check(why, "training", cudaSuccess);
}

void smurf_cuda_timed(struct cuda_training *t, int on)
{
    t->timed = on;
}

double smurf_cuda_seconds(const struct cuda_training *t)
{
    float ms = 0;
    cudaEventSynchronize(t->end);
    cudaEventElapsedTime(&ms, t->begin, t->end);
    return (double)ms * 1e-3;
}
