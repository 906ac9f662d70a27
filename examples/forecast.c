/* forecast.c - when the next event comes, from a model and a history.
   cc forecast.c $(pkg-config --cflags --libs smurf) -o forecast */
#include <smurf.h>
#include <stdio.h>

int main(void)
{
    smurf_error err;
    smurf_model *model;
    smurf_forecast *f;
    double level[] = {0.05, 0.5, 0.95}, gap[3];
    if (smurf_model_load(&model, "model.safetensors", &err) || smurf_forecast_new(&f, model, 0, &err) ||
        smurf_forecast_append(f, 10.5, 1, &err) || smurf_forecast_append(f, 11.2, 0, &err) ||
        smurf_forecast_quantile(f, level, gap, 3, &err)) {
        puts(err.message);
        return 1;
    }
    printf("next event between %g and %g, median %g\n", 11.2 + gap[0], 11.2 + gap[2], 11.2 + gap[1]);
    smurf_forecast_free(f);
    smurf_model_free(model);
    return 0;
}
