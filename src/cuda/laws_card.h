/*
 * laws_card.h - the kernels of laws, as C calls them: walks of draws (walk_lanes.h) and answers about gaps
 * (answers_lanes.h). laws_gpu.h is the interface for everyone else.
 *
 * A card holds what calls reuse: buffers that grow, and the maps of panels. One caller at a time.
 */
#ifndef SMURF_CUDA_LAWS_CARD_H
#define SMURF_CUDA_LAWS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct laws_card;
struct answers_plan;
struct walk_plan;
struct cells_range;

enum { CARD_TEXT = 200 };

/* Coefficients of `laws` events: a and b (width each) at the start of rows that are `stride` floats apart. */
struct card_rows {
    const float *row;
    size_t stride, laws;
    int width;
    const float *w; /* (width) of the head */
    float c;
};

struct card_answers {
    double *mass, *density, *crps, *spread, *quantile; /* crps and spread: NULL if not wanted */
};

/* NULL, and a reason in text, without a card or its memory. maps: struct panel_maps. */
struct laws_card *laws_card_new(const void *maps, size_t maps_size, char text[CARD_TEXT]);
void laws_card_free(struct laws_card *card);
/* The name of the card; milliseconds of the kernels of the last call. */
const char *laws_card_name(const struct laws_card *card);
double laws_card_milliseconds(const struct laws_card *card);
/* How many laws of the last call needed the large room. */
size_t laws_card_large(const struct laws_card *card);

/* Draws: out (laws x looks x draws), looks = steps / every. stream (laws). False: the reason is in text. */
bool laws_card_walk(struct laws_card *card, const struct card_rows *rows, const struct walk_plan *plan,
                    const struct cells_range *range, bool is_score, bool mirror, const uint64_t *stream, size_t draws,
                    double *out, char text[CARD_TEXT]);

/* Answers about gap (laws). The plan's pointers to maps and weights are filled in here. */
bool laws_card_answer(struct laws_card *card, const struct card_rows *rows, const struct answers_plan *plan,
                      const double *gap, const struct card_answers *out, char text[CARD_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
