/*
 * thp_part.h - a history as THP sees it: an encoder and, from its output h_j, the inputs of the intensities of the next
 * event (op/thp_head.h). THP has one such part, NCE-TPP two.
 *
 *     z_k = w_k . h_j + b_k      s = alpha / (t_j + t0)      beta
 *
 *     nll of a gap = -ln(lambda_k(tau) + 1.1e-9) + tau mean_u sum_k lambda_k(u tau)     (censored: the integral alone)
 *
 * u: `points` uniform draws, a function of (seed, step, id of the target). t_j is the encoder's time, or 0 if that is
 * negative. Compiled for float and for double (op.h).
 */
#ifndef SMURF_MODEL_THP_PART_H
#define SMURF_MODEL_THP_PART_H

#include "model/model_class.h"
#include "op/thp_head.h"

/* Short names; see op.h. */
#define thp_part_params   OP(thp_part_params)
#define thp_pass_take     OP(thp_pass_take)
#define thp_pass_forward  OP(thp_pass_forward)
#define thp_pass_head     OP(thp_pass_head)
#define thp_pass_backward OP(thp_pass_backward)
#define thp_pass_since    OP(thp_pass_since)
#define thp_scratch       OP(thp_scratch)
#define thp_nll           OP(thp_nll)
#define thp_map_forward   OP(thp_map_forward)
#define thp_map_backward  OP(thp_map_backward)

/* Added to every intensity before taking its logarithm. */
#define THP_LOG_OFFSET 1.1e-9

/* The shape, and offsets in the slab. */
struct thp_part {
    struct encoder_shape shape;
    struct encoder_params encoder;
    size_t w, b, alpha, beta; /* (types x width), (types), scalars */
    double offset;            /* t0 */
};

/* The part that gives the laws of THP and NCE-TPP: the first member of their models' own struct. */
static inline struct thp_part *thp_part_of(struct model *model)
{
    return (void *)model->own;
}

/* Adds the entries to the table. */
void thp_part_params(struct thp_part *part, struct params *params);

/* A batch in progress, in the caller's memory. */
struct thp_pass {
    const struct op_run *run;
    const struct thp_part *part;
    const struct loss_config *config; /* of losses */
    const real *slab;
    const struct encoder_input *input;
    real *encoder, *z, *s; /* encoder's memory; (n x types), (n) */
    real *dz, *dh;         /* (n x types), (n x width) */
    const real *h;         /* (n x width) */
};

/* Takes memory for a pass over n events. */
void thp_pass_take(struct thp_pass *pass, struct workspace *w, const struct thp_part *part, size_t n, int threads);
/* Computes h, z, s of all rows; dz = 0 if `backward`. Set run, slab and input first. */
void thp_pass_forward(struct thp_pass *pass, bool backward);
struct thp_head thp_pass_head(const struct thp_pass *pass, size_t row);
/* From dz and the sums for alpha and beta to the gradient. dh_add: dh already holds another gradient. */
void thp_pass_backward(struct thp_pass *pass, bool dh_add, double dalpha, double dbeta, real *grad);
/* s = alpha / since(row) */
double thp_pass_since(const struct thp_pass *pass, size_t row);

/* Scratch for the points of an integral, in reals. */
size_t thp_scratch(const struct loss_config *config);
/* The negative log-likelihood of target `index` of the batch. Adds its gradient times scale to g unless NULL. */
double thp_nll(const struct thp_pass *pass, const struct thp_head *head, const struct target *target, size_t index,
               real *scratch, double scale, struct thp_gradient *g);

/* The law of the next gap: coefficients begin with z (types), s, beta. */
extern const struct law_class OP(thp_law);

/* y = x W^T + b for the rows of a batch, and its gradient, both divided into chunks that depend on sizes only. */
void thp_map_forward(int threads, size_t n, size_t in, size_t out, const real *x, const real *w, const real *b,
                     real *y);
void thp_map_backward(int threads, size_t n, size_t in, size_t out, const real *x, const real *dy, const real *w,
                      bool add, real *dx, real *dw, real *db);

#endif
