/* fit.c - from a log to a trained model and a forecast for each sequence.
   cc fit.c $(pkg-config --cflags --libs smurf) -o fit */
#include <smurf.h>
#include <stdio.h>

static int show(void *context, const smurf_answer *answer)
{
    const smurf_data *data = context;
    const char *name = smurf_data_sequence(data, answer->sequence)->name;
    printf("%s: next event within %g, half of the time within %g\n", name ? name : "-", answer->interval[1].high,
           answer->median);
    return 0;
}

int main(void)
{
    smurf_error err;
    smurf_data *data;
    smurf_split part;
    smurf_settings *settings;
    smurf_model *model;
    if (smurf_data_read(&data, "log.csv", NULL, &err) ||
        smurf_split_by_share(&part, data, (const double[]){8, 1, 1}, 1, &err) ||
        smurf_settings_new(&settings, "default", part.train, &err) ||
        smurf_settings_set(settings, "epochs", "2", &err) ||
        smurf_fit(&model, settings, part.train, part.dev, NULL, &err) ||
        smurf_model_save(model, "model.safetensors", &err) ||
        smurf_forecast_many(model, part.test, NULL, NULL, show, part.test, &err)) {
        puts(err.message);
        return 1;
    }
    smurf_model_free(model);
    smurf_settings_free(settings);
    smurf_split_release(&part);
    smurf_data_free(data);
    return 0;
}
