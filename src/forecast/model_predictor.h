/*
 * model_predictor.h - a trained model as a predictor: sequences in, laws of the next gap and type out.
 *
 *     events -> encoder -> coefficients -> law on its axis -> exact -> tweedie -> scaled -> pooled -> recalibrated
 *
 * The objective decides whether the mass beyond the table is kept and whether noise is removed (wrap.h). The naive law
 * that is pooled (naive/pool.h) follows all events that the sequence holds, also those before the model's window. A raw
 * law is that of the model alone.
 */
#ifndef SMURF_FORECAST_MODEL_PREDICTOR_H
#define SMURF_FORECAST_MODEL_PREDICTOR_H

#include "law/predictor.h"
#include "model/model_class.h"
#include "model/model_file.h"

/* The predictor of a model. The model must outlive it. */
struct predictor smurf_model_predictor(const smurf_model *model);
/* The coefficients of the law after event `row`, from a workspace of that predictor that has read the sequence; until
   its next call. */
const float *smurf_model_coefficients(const smurf_model *model, void *workspace, size_t row);

/* The noise that a law was trained with, to be removed again; 0: none. */
double smurf_model_noise(const smurf_settings *settings);

/* Turns the coefficients of one event into its law and distribution; one per thread. */
struct law_workspace {
    const smurf_model *model;
    double sigma; /* noise to remove; 0: none */
    enum exact_mass mass;
    struct law law;
    const float *c; /* its coefficients */
    void *memory;   /* of the law */
    struct exact exact;
    bool built;  /* `exact` is that of the current law */
    bool finite; /* the coefficients are finite */
    struct scaled scaled;
    const struct pool_state *past; /* of the naive laws after the same event; NULL: nothing is pooled */
    bool stepped, shared;          /* `steps` and `naive_share` are those of this event */
    struct steps steps;
    double *naive_share;       /* (POOL_TYPES x types), the first row unused */
    const struct blend *blend; /* weights of types that follow what came; NULL: those of the fitted pool */
    struct pooled pooled;
    struct recalibrated recalibrated;
    double *type_room; /* (type_rows x types) */
    size_t type_rows;
};

smurf_status smurf_law_workspace_init(struct law_workspace *workspace, const smurf_model *model, smurf_error *err);
void smurf_law_workspace_release(struct law_workspace *workspace);
/* Sets the law of one event's coefficients, which must stay valid; then what the model's naive laws know after the same
   event, likewise (NULL: not pooled); then its distribution in the user's unit, raw, or pooled and recalibrated; then
   types at gaps in the user's unit. False: the coefficients are not finite, and all values are NaN. */
bool smurf_law_workspace_set(struct law_workspace *workspace, const float *c);
void smurf_law_workspace_pool(struct law_workspace *workspace, const struct pool_state *past);
struct dist smurf_law_workspace_dist(struct law_workspace *workspace, int raw);
void smurf_law_workspace_types(struct law_workspace *workspace, const double *gap, double *out, size_t n);
/* The weights that types have from now on, which must stay valid. */
void smurf_law_workspace_blend(struct law_workspace *workspace, const struct blend *blend);
/* The probability of a type under the fitted pool and under each naive law, for smurf_blend_see; NaN if it is unknown.
 */
void smurf_law_workspace_shares(struct law_workspace *workspace, double gap, uint32_t type, double out[BLEND_LAWS]);
/* Weights as they begin, where the model's follow what came: else the rate is 0. */
void smurf_model_blend(const smurf_model *model, struct blend *out);
/* The probability that no further event comes: pi of the model, and the mass that its law has beyond what the bound on
   the tail leaves it. The likelihood of a silence cannot tell them apart. 0 unless the model has setting `ending`. */
double smurf_law_workspace_never(struct law_workspace *workspace);
/* The mean of the probabilities over n gaps, out (types). */
void smurf_law_workspace_mean_types(struct law_workspace *workspace, const double *gap, size_t n, double *out);

#endif
