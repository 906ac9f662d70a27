/*
 * modelfile.h - shared by commands that use a trained model: loads MODEL and DATA and selects a part of DATA.
 */
#ifndef MODELFILE_H
#define MODELFILE_H

#include "dataset.h"

/* A part of a data set. By default test; everything if the data is not split. */
struct part {
    smurf_data *data; /* borrowed from the split */
    const char *name; /* "test"; "" if the data is not split */
};

/* Loads MODEL and DATA, named in either order, and numbers DATA's types as the model does. Returns 0, or the exit
   status after reporting the error. */
int modelfile_load(smurf_model **model, smurf_split *split, char **arguments, struct dataset_options *options);
/* Loads the model alone; moves its name to the first of the two arguments. */
int modelfile_open(smurf_model **model, char **arguments);
/* Treats numbers in the type column as names if the model's types have names. */
void modelfile_types(const smurf_model *model, struct dataset_options *options);
/* Loads DATA and returns the requested part, with types numbered as the model does. */
int modelfile_read(const smurf_model *model, smurf_split *split, smurf_data **part, const char *path,
                   struct dataset_options *options, const char *name);
/* How the options split a file, as text to keep in the model; the caller frees it. in_time: one sequence, cut in time.
 */
char *modelfile_note(const struct dataset_options *options, const smurf_split *split, int in_time);
/* Replaces a data set by one with types numbered as the model does; NULL is ignored. Returns 0 or the exit status. */
int modelfile_match(const smurf_model *model, smurf_data **data);
/* Says where the further columns of drawn events come from, if the model sees any. */
void modelfile_tell_drawn(const smurf_model *model);
/* A remark if the naive laws that the model is pooled with look back at more events than windows of the data carry. */
void modelfile_tell_cut(const smurf_model *model, const smurf_data *data);
/* Shows the remark of a matched data set on types that the model does not know. Returns whether there is one. */
int modelfile_unknown(const smurf_data *data, const smurf_data *matched);
/* A warning if the levels of the model adapt and windows lack gaps that they would adapt to. scored: what is of
   interest are the scored gaps, not the one after the last event. */
void modelfile_past(const smurf_model *model, const smurf_data *data, int scored);
/* name NULL: the default. A usage error if there is no such part. */
struct part modelfile_part(const smurf_split *split, const char *name);

/* Parses "a,b,c": up to `most` numbers between low and high. Returns how many; otherwise a usage error naming the
 * option. */
size_t parse_numbers(const char *option, const char *text, double low, double high, double *out, size_t most);

#endif
