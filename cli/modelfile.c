/* modelfile.c - see modelfile.h. */
#include "modelfile.h"

#include "settings.h"

#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_model_name(const char *path)
{
    size_t n = strlen(path), tail = strlen(".safetensors");
    return n > tail && strcmp(path + n - tail, ".safetensors") == 0;
}

int modelfile_open(smurf_model **model, char **arguments)
{
    smurf_error err;
    if (!is_model_name(arguments[0]) && is_model_name(arguments[1])) {
        char *swap = arguments[0];
        arguments[0] = arguments[1];
        arguments[1] = swap;
    }
    return smurf_model_load(model, arguments[0], &err) ? report_error(&err) : 0;
}

int modelfile_match(const smurf_model *model, smurf_data **data)
{
    smurf_error err;
    smurf_data *matched;
    if (!*data) return 0;
    if (smurf_model_match(model, *data, &matched, &err)) return report_error(&err);
    smurf_data_free(*data);
    *data = matched;
    return 0;
}

void modelfile_types(const smurf_model *model, struct dataset_options *options)
{
    if (smurf_model_type_name(model, 0) && !options->types) options->types = "words";
    options->as = smurf_model_reading(model);
    options->tell = !options->as;
}

int modelfile_read(const smurf_model *model, smurf_split *split, smurf_data **part, const char *path,
                   struct dataset_options *options, const char *name)
{
    modelfile_types(model, options);
    int status = dataset_load(split, path, options);
    if (status) return status;
    const smurf_data *asked = modelfile_part(split, name).data;
    smurf_data **own = asked == split->test ? &split->test : asked == split->dev ? &split->dev : &split->train;
    status = modelfile_match(model, own);
    *part = *own;
    return status;
}

/* If the model was trained on this file, splits it as training did. Windows are cut after the split, so with --window
   the file is read again. */
static int split_again(const smurf_model *model, smurf_split *split, const char *path,
                       const struct dataset_options *options)
{
    smurf_split again = {0};
    smurf_error err;
    const uint64_t seed = settings_seed(smurf_model_settings(model)), asked = common.seed;
    if (!options->window) {
        if (smurf_split_by_share(&again, split->train, (const double[3]){8, 1, 1}, seed, &err)) return 0;
    } else {
        struct dataset_options with = *options;
        int quiet = common.quiet;
        with.split = "8:1:1";
        common.seed = seed;
        common.quiet = 1; /* remarks were shown already */
        int status = strcmp(path, "-") == 0 ? 1 : dataset_load(&again, path, &with);
        common.seed = asked;
        common.quiet = quiet;
        if (status) return 0;
    }
    if (!again.train || !smurf_model_trained_on(model, again.train)) {
        smurf_split_release(&again);
        return 0;
    }
    smurf_split_release(split);
    *split = again;
    return 1;
}

int modelfile_load(smurf_model **model, smurf_split *split, char **arguments, struct dataset_options *options)
{
    *split = (smurf_split){0};
    int status = modelfile_open(model, arguments);
    if (status) return status;
    modelfile_types(*model, options);
    status = dataset_load(split, arguments[1], options);
    if (!status && !split->dev && !split->test && !options->split && !options->split_at &&
        split_again(*model, split, arguments[1], options))
        report_done("the model was trained on this file: splitting it 8:1:1 as in training");
    if (!status) status = modelfile_match(*model, &split->train);
    if (!status) status = modelfile_match(*model, &split->dev);
    if (!status) status = modelfile_match(*model, &split->test);
    if (!status) return 0;
    smurf_split_release(split);
    smurf_model_free(*model);
    *model = NULL;
    return status;
}

struct part modelfile_part(const smurf_split *split, const char *name)
{
    int single = !split->dev && !split->test;
    if (!name && split->test) return (struct part){split->test, "test"};
    if (!name && single) return (struct part){split->train, ""};
    if (!name) usage_error("the data has no test part: choose one with --part train or --part dev");
    smurf_data *data = NULL;
    if (strcmp(name, "train") == 0)
        data = split->train;
    else if (strcmp(name, "dev") == 0)
        data = split->dev;
    else if (strcmp(name, "test") == 0)
        data = split->test;
    else
        usage_error("--part takes train, dev or test, not '%s'", name);
    if (!data || (single && strcmp(name, "train") != 0)) usage_error("the data has no %s part", name);
    return (struct part){data, single ? "" : name};
}

size_t parse_numbers(const char *option, const char *text, double low, double high, double *out, size_t most)
{
    size_t n = 0;
    for (const char *p = text;;) {
        char *end;
        double x = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(x >= low && x <= high))
            usage_error("--%s takes comma-separated numbers from %g to %g, not '%s'", option, low, high, text);
        if (n == most) usage_error("--%s takes up to %zu numbers", option, most);
        out[n++] = x;
        if (!*end) return n;
        p = end + 1;
    }
}
