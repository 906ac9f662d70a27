/*
 * laws_card.cuh - what the kernels of laws share: the card, its buffers, and calls that say what failed.
 *
 * Functions that return bool leave the reason in text (CARD_TEXT) if they return false.
 */
#ifndef SMURF_CUDA_LAWS_CARD_CUH
#define SMURF_CUDA_LAWS_CARD_CUH

#include "cuda/laws_card.h"
#include "cuda/rooms_lanes.h"

#include <cuda_runtime.h>

enum {
    TABLE_WARPS = 4,   /* of a block that makes tables */
    LARGE_WARPS = 528, /* large rooms */
    CHUNK = 1 << 16,   /* laws of a launch */
};

struct card_buffer {
    void *at;
    size_t size;
};

struct laws_card {
    char name[256];
    cudaStream_t stream;
    cudaEvent_t begin, end;
    double milliseconds;
    size_t large;
    struct panel_maps *maps;
    struct card_buffer row, weight, tables, key, gap, table, cubic, list, room, out;
    unsigned *count; /* of the list */
};

bool card_failed(char *text, const char *format, ...);
bool card_good(cudaError_t error, const char *what, char *text);
/* Room for n bytes. What is there is lost. */
bool card_reserve(struct card_buffer *buffer, size_t n, char *text);
bool card_send(struct laws_card *card, struct card_buffer *to, const void *from, size_t n, char *text);
/* a and b of the laws from .. from+n-1, without what else is in the rows. */
bool card_send_rows(struct laws_card *card, const struct card_rows *rows, size_t from, size_t n, char *text);
bool card_receive(struct laws_card *card, void *to, const void *from, size_t n, char *text);
bool card_settled(struct laws_card *card, const char *what, char *text);
/* The length of the list. */
bool card_listed(struct laws_card *card, const char *what, unsigned *count, char *text);
/* Before and after the kernels of a chunk: empties the list; adds their time. */
bool card_begin(struct laws_card *card, char *text);
bool card_end(struct laws_card *card, const char *what, char *text);

/* Lets a kernel use this much shared memory. */
template <typename T> bool card_allow(T *kernel, size_t shared, char *text)
{
    return card_good(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared), "starting",
                     text);
}

#endif
