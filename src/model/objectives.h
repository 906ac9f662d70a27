/*
 * objectives.h - the names of the objectives there are: one word here and one file src/train/objective_NAME.c each.
 */
#ifndef SMURF_MODEL_OBJECTIVES_H
#define SMURF_MODEL_OBJECTIVES_H

#define OBJECTIVES(X) X(dsm) X(sm) X(wsm) X(mle)

#endif
