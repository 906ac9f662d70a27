/*
 * modelfile.h - what commands that use a trained model share: MODEL and DATA on the command line, and which part of
 * DATA.
 */
#ifndef MODELFILE_H
#define MODELFILE_H

#include "dataset.h"

/* The part of a split data set: "train", "dev", "test", or NULL for test where there is one, else all there is. */
struct part {
    smurf_data *data; /* borrowed from the split */
    const char *name; /* "test"; "" where the data is not split */
};

/* Loads MODEL and DATA, named in either order, and numbers DATA's types as the model does. Returns 0, or the exit
   status after saying what is wrong. */
int modelfile_load(smurf_model **model, smurf_split *split, char **arguments, struct dataset_options *options);
/* The model alone; puts the model's name first of the two arguments. */
int modelfile_open(smurf_model **model, char **arguments);
/* Numbers in the type column are names where the model's types have names. */
void modelfile_types(const smurf_model *model, struct dataset_options *options);
/* DATA, and the part of it that is asked for, whose types are numbered as the model does. */
int modelfile_read(const smurf_model *model, smurf_split *split, smurf_data **part, const char *path,
                   struct dataset_options *options, const char *name);
/* Replaces a data set, unless it is NULL, by one with types numbered as the model does; 0 or the exit status. */
int modelfile_match(const smurf_model *model, smurf_data **data);
/* A usage error where there is no such part. */
struct part modelfile_part(const smurf_split *split, const char *name);

/* "a,b,c" as numbers between low and high, at most `most`; a usage error naming the option else. Returns how many. */
size_t parse_numbers(const char *option, const char *text, double low, double high, double *out, size_t most);

#endif
