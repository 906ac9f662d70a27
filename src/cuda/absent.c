/* absent.c - see cuda.h: builds without CUDA have no card. */
#include "cuda/cuda.h"

#include <stdio.h>

static int absent(char why[CUDA_TEXT])
{
    snprintf(why, CUDA_TEXT, "this build of smurf has no CUDA (build it with -Dcuda=enabled)");
    return CUDA_ABSENT;
}

int smurf_cuda_built(void)
{
    return 0;
}

int smurf_cuda_device(char name[CUDA_TEXT], char why[CUDA_TEXT])
{
    name[0] = '\0';
    return absent(why);
}

const char *smurf_cuda_refuses(const struct cuda_model *model)
{
    (void)model;
    return NULL;
}

int smurf_cuda_open(struct cuda_training **out, const struct cuda_model *model, size_t rows, size_t sequences,
                    int average, char why[CUDA_TEXT])
{
    (void)model, (void)rows, (void)sequences, (void)average;
    *out = NULL;
    return absent(why);
}

void smurf_cuda_close(struct cuda_training *t)
{
    (void)t;
}

int smurf_cuda_events(struct cuda_training *t, enum cuda_part part, const struct cuda_events *events,
                      char why[CUDA_TEXT])
{
    (void)t, (void)part, (void)events;
    return absent(why);
}

int smurf_cuda_put(struct cuda_training *t, enum cuda_slab slab, const float *from, char why[CUDA_TEXT])
{
    (void)t, (void)slab, (void)from;
    return absent(why);
}

int smurf_cuda_get(struct cuda_training *t, enum cuda_slab slab, float *to, char why[CUDA_TEXT])
{
    (void)t, (void)slab, (void)to;
    return absent(why);
}

int smurf_cuda_pass(struct cuda_training *t, const struct cuda_batch *batch, struct cuda_loss *loss,
                    char why[CUDA_TEXT])
{
    (void)t, (void)batch, (void)loss;
    return absent(why);
}

int smurf_cuda_update(struct cuda_training *t, float factor, float rate, float inverse, float decay,
                      char why[CUDA_TEXT])
{
    (void)t, (void)factor, (void)rate, (void)inverse, (void)decay;
    return absent(why);
}

void smurf_cuda_timed(struct cuda_training *t, int on)
{
    (void)t, (void)on;
}

double smurf_cuda_seconds(const struct cuda_training *t)
{
    (void)t;
    return 0;
}
