/*
 * feed.h - a data set as training sees it: scaled gaps, targets, and batches in the order of an epoch.
 */
#ifndef SMURF_TRAIN_FEED_H
#define SMURF_TRAIN_FEED_H

#include "model/model_class.h"

/* All events and targets of a data set, sequence by sequence, in the order of the data. One of several processes may
   hold those of some sequences only; it knows the lengths of all. */
struct feed {
    size_t sequences;
    size_t *offset;               /* (sequences + 1) rows */
    size_t *target_offset;        /* (sequences + 1) */
    size_t *place, *target_place; /* (sequences) where held ones begin below; NULL: at offset */
    uint32_t *type;               /* (events held) */
    double *time;                 /* (events held) as the encoder sees it */
    float *gap;                   /* (events held) the gap feature */
    float *further;               /* (events held x columns) further columns; NULL: none */
    size_t columns;
    double *base;                                       /* (sequences) UTC of their time 0, as in encoder.h; or NULL */
    struct target *target;                              /* rows count from the sequence's first */
    size_t events, targets, typed;                      /* typed: targets that are events */
    size_t longest_batch_events, longest_batch_targets; /* maxima over batches of `batch` sequences */
    size_t batch;
    size_t *order; /* (sequences with targets) */
    size_t ordered;
    double mask; /* share of the input types that are replaced by `other`; 0 by default */
    uint32_t other;
    uint64_t seed, epoch; /* of the order, and of the mask; epoch 0: no mask */
};

/* Which sequences a feed holds. Asked when all lengths are known. */
struct feed_share {
    bool (*holds)(const void *context, const struct feed *feed, size_t sequence);
    const void *context;
};

/* part: "train" or "dev", for messages. assumed: use ends of observation that nobody gave (smurf_split_observe) too.
   The data set may be freed afterwards. share: NULL: all. */
smurf_status smurf_feed_init(struct feed *feed, const smurf_data *data, const char *part, const struct view *view,
                             size_t batch, bool assumed, const struct feed_share *share, smurf_error *err);
void smurf_feed_release(struct feed *feed);

/* The order of an epoch: shuffled, sequences of similar length together, batches shuffled again. epoch 0: the order of
   the data. */
void smurf_feed_shuffle(struct feed *feed, uint64_t seed, uint64_t epoch);
size_t smurf_feed_batches(const struct feed *feed);

/* Room for one batch. */
struct feed_batch {
    size_t *offset;
    uint64_t *id; /* of each sequence's first event */
    uint32_t *type;
    double *time;
    float *gap;
    double *base;
    struct target *target;
    float *further; /* NULL: no further columns */
};
smurf_status smurf_feed_batch_init(struct feed_batch *room, const struct feed *feed, smurf_error *err);
/* Room for any sequences of so many events. */
smurf_status smurf_feed_room_init(struct feed_batch *room, size_t sequences, size_t events, size_t columns,
                                  smurf_error *err);
void smurf_feed_batch_release(struct feed_batch *room);
/* Fills the room with batch `index` of the epoch. */
struct batch smurf_feed_fill(const struct feed *feed, size_t index, const struct feed_batch *room);
/* Fills the room with these sequences. */
struct batch smurf_feed_take(const struct feed *feed, const size_t *sequence, size_t n, const struct feed_batch *room);
/* Members of batch `index`: *first .. *last-1 of feed->order. */
void smurf_feed_members(const struct feed *feed, size_t index, size_t *first, size_t *last);

#endif
