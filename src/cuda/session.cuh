/*
 * session.cuh - a training session on the card: memory, and the launches of a pass. See cuda.h.
 */
#ifndef SMURF_CUDA_SESSION_CUH
#define SMURF_CUDA_SESSION_CUH

#include "cuda/kernels.cuh"

enum { GRAPHS = 64, SPLITS_MOST = 16 };

/* Activations of one layer, and the gradients that its weights' need. */
struct layer {
    float *in, *q, *k, *v, *o, *lse, *s1, *x1, *f, *g, *s2;
    struct moments norm1, norm2;
    float *dx, *dx1, *dy1, *dy2, *df, *dq, *dk, *dv; /* dx: of the output */
};

struct graph {
    int cap;
    cudaGraphExec_t exec;
};

struct cuda_training {
    struct cuda_model m, *card;
    size_t rows_most, sequences_most;
    bool fused;                  /* the rows of a layer are one kernel */
    int blocks;                  /* of types at perturbed gaps */
    cudaStream_t stream, beside; /* beside: for launches that do not wait for each other */
    cudaEvent_t begin, end, fork, join;
    int timed, average; /* average: there is a slab for it */

    char *memory;
    size_t bytes;
    struct rows rows;
    struct events events[CUDA_PARTS];
    void *part[CUDA_PARTS]; /* their memory */
    float *slab[CUDA_SLABS];
    struct splits splits; /* the most that there are */
    double *square, *period;
    struct cuda_loss *loss, *host_loss;
    char *host; /* the next batch: struct run, first, offset; and where it goes */
    char *header;
    size_t header_bytes;

    struct layer layer[CUDA_LAYERS];
    float *z, *h, *gap_h, *gap_dh, *gap_de, *input, *slot;
    uint32_t *slot_type;
    float *ds2, *ds1, *dout, *delta, *dx_in; /* of the layer at hand; of the input */
    struct coefficients c;

    struct gradient_task *task;
    struct column_task *column;
    int tasks, tiles, columns, column_tiles;

    struct graph graph[GRAPHS];
    int graphs;
};

/* layout.cu: the layout of t->memory with base, or, with NULL, its size; and the lists of sums over rows. */
size_t smurf_cuda_lay_out(struct cuda_training *t, char *base);
int smurf_cuda_list(struct cuda_training *t);
/* plan.cu: launches a pass for `cap` rows. */
void smurf_cuda_launch(struct cuda_training *t, int cap, enum cuda_part part, enum cuda_slab weights, int backward);

#endif
