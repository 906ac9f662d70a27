/*
 * laws_card.cu - see laws_card.h and laws_card.cuh. laws_walk.cu and laws_answer.cu have the kernels.
 *
 * A warp makes the table of a law, in shared memory if it is of usual size, else in a large room of global memory: the
 * kernels with `Large` do the laws that the others listed. Results do not depend on the order of the list.
 */
#include "cuda/laws_card.cuh"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Calls ---------------------------------------------------------------------------------------------------------
 */

bool card_failed(char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, CARD_TEXT, format, args);
    va_end(args);
    return false;
}

bool card_good(cudaError_t error, const char *what, char *text)
{
    return error == cudaSuccess || card_failed(text, "the GPU failed while %s: %s", what, cudaGetErrorString(error));
}

bool card_reserve(struct card_buffer *buffer, size_t n, char *text)
{
    if (n <= buffer->size) return true;
    cudaFree(buffer->at);
    buffer->at = 0;
    buffer->size = 0;
    if (cudaMalloc(&buffer->at, n) == cudaSuccess) {
        buffer->size = n;
        return true;
    }
    size_t left = 0, all = 0;
    cudaGetLastError();
    cudaMemGetInfo(&left, &all);
    return card_failed(text, "out of memory on the GPU: laws need %.0f MB more, %.0f MB are free", (double)n / 1e6,
                       (double)left / 1e6);
}

bool card_send(struct laws_card *card, struct card_buffer *to, const void *from, size_t n, char *text)
{
    return card_reserve(to, n, text) &&
           card_good(cudaMemcpyAsync(to->at, from, n, cudaMemcpyHostToDevice, card->stream), "copying", text);
}

bool card_send_rows(struct laws_card *card, const struct card_rows *rows, size_t from, size_t n, char *text)
{
    size_t bytes = 2 * (size_t)rows->width * sizeof(float);
    if (rows->stride * sizeof(float) == bytes)
        return card_send(card, &card->row, rows->row + from * rows->stride, n * bytes, text);
    return card_reserve(&card->row, n * bytes, text) &&
           card_good(cudaMemcpy2DAsync(card->row.at, bytes, rows->row + from * rows->stride,
                                       rows->stride * sizeof(float), bytes, n, cudaMemcpyHostToDevice, card->stream),
                     "copying", text);
}

bool card_receive(struct laws_card *card, void *to, const void *from, size_t n, char *text)
{
    return card_good(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToHost, card->stream), "copying", text);
}

bool card_settled(struct laws_card *card, const char *what, char *text)
{
    return card_good(cudaGetLastError(), what, text) && card_good(cudaStreamSynchronize(card->stream), what, text);
}

bool card_listed(struct laws_card *card, const char *what, unsigned *count, char *text)
{
    if (!card_good(cudaGetLastError(), what, text)) return false;
    return card_receive(card, count, card->count, sizeof *count, text) && card_settled(card, what, text);
}

bool card_begin(struct laws_card *card, char *text)
{
    return card_good(cudaMemsetAsync(card->count, 0, sizeof *card->count, card->stream), "starting", text) &&
           card_good(cudaEventRecord(card->begin, card->stream), "starting", text);
}

bool card_end(struct laws_card *card, const char *what, char *text)
{
    float milliseconds = 0;
    if (!card_good(cudaGetLastError(), what, text) ||
        !card_good(cudaEventRecord(card->end, card->stream), what, text) ||
        !card_good(cudaEventSynchronize(card->end), what, text) ||
        !card_good(cudaEventElapsedTime(&milliseconds, card->begin, card->end), what, text))
        return false;
    card->milliseconds += (double)milliseconds;
    return true;
}

/* ---- The card ------------------------------------------------------------------------------------------------------
 */

struct laws_card *laws_card_new(const void *maps, size_t maps_size, char text[CARD_TEXT])
{
    struct cudaDeviceProp about;
    struct laws_card *card = (struct laws_card *)calloc(1, sizeof *card);
    if (!card) {
        card_failed(text, "out of memory");
        return 0;
    }
    cudaError_t error = cudaGetDeviceProperties(&about, 0);
    if (error != cudaSuccess) {
        card_failed(text, "there is no NVIDIA GPU that can be used (%s)", cudaGetErrorString(error));
        free(card);
        return 0;
    }
    snprintf(card->name, sizeof card->name, "%s", about.name);
    if (card_good(cudaStreamCreate(&card->stream), "starting", text) &&
        card_good(cudaEventCreate(&card->begin), "starting", text) &&
        card_good(cudaEventCreate(&card->end), "starting", text) &&
        card_good(cudaMalloc((void **)&card->maps, maps_size), "starting", text) &&
        card_good(cudaMalloc((void **)&card->count, sizeof *card->count), "starting", text) &&
        card_good(cudaMemcpy(card->maps, maps, maps_size, cudaMemcpyHostToDevice), "starting", text))
        return card;
    laws_card_free(card);
    return 0;
}

void laws_card_free(struct laws_card *card)
{
    if (!card) return;
    struct card_buffer *all[] = {&card->row,   &card->weight, &card->tables, &card->key,  &card->gap,
                                 &card->table, &card->cubic,  &card->list,   &card->room, &card->out};
    for (struct card_buffer *buffer : all) cudaFree(buffer->at);
    cudaFree(card->maps);
    cudaFree(card->count);
    if (card->begin) cudaEventDestroy(card->begin);
    if (card->end) cudaEventDestroy(card->end);
    if (card->stream) cudaStreamDestroy(card->stream);
    free(card);
}

const char *laws_card_name(const struct laws_card *card)
{
    return card->name;
}

double laws_card_milliseconds(const struct laws_card *card)
{
    return card->milliseconds;
}

size_t laws_card_large(const struct laws_card *card)
{
    return card->large;
}
