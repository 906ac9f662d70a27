/*
 * model_predictor.h - a trained model as a predictor: sequences in, laws of the next gap and type out.
 *
 *     events -> encoder -> coefficients -> law on its axis -> exact -> tweedie -> scaled -> recalibrated
 *
 * Laws of likelihood keep the mass beyond their table; those of score matching are normalised, and for `dsm` the noise
 * is taken off again (wrap.h).
 */
#ifndef SMURF_FORECAST_MODEL_PREDICTOR_H
#define SMURF_FORECAST_MODEL_PREDICTOR_H

#include "law/predictor.h"
#include "model/gap_law.h"
#include "model/model_file.h"
#include "model/rival.h"

/* The predictor of a model, which must outlive it. */
struct predictor smurf_model_predictor(const smurf_model *model);

/* The noise that a law was trained with, to be taken off again; 0: none. */
double smurf_model_noise(const smurf_train_config *config);

/* Coefficients of all events of an input, without dropout, on one thread; memory: so many floats for n events. */
size_t smurf_model_encode_memory(const smurf_model *model, size_t n);
void smurf_model_encode(const smurf_model *model, const struct encoder_input *input, float *memory,
                        const struct head_coefficients *out);

/* What turns the coefficients of one event into its law and distribution; one for each thread. */
struct law_desk {
    const smurf_model *model;
    double sigma; /* noise to take off; 0: none */
    enum exact_mass mass;
    struct gap_law gap_law;     /* of SMURF */
    struct rival_law rival_law; /* of others */
    struct law law;
    double *memory;
    struct exact exact;
    bool built; /* exact is that of the law */
    struct scaled scaled;
    struct recalibrated recalibrated;
    float *type_scratch; /* for TYPE_POINTS points */
    double *type_room;   /* (type_rows x types) */
    size_t type_rows;
};
enum { TYPE_POINTS = 64 };

smurf_status smurf_law_desk_init(struct law_desk *desk, const smurf_model *model, smurf_error *err);
void smurf_law_desk_release(struct law_desk *desk);
/* The law of row i of the coefficients (of a rival: all in c->a); then its distribution in the user's unit, raw or
   recalibrated; then types at gaps in the user's unit. */
void smurf_law_desk_set(struct law_desk *desk, const struct head_coefficients *c, size_t i);
struct dist smurf_law_desk_dist(struct law_desk *desk, int raw);
void smurf_law_desk_types(struct law_desk *desk, const double *gap, double *out, size_t n);
/* The mean of the probabilities over n gaps, out (types). */
void smurf_law_desk_mean_types(struct law_desk *desk, const double *gap, size_t n, double *out);

#endif
