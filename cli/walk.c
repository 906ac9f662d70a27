/* walk.c - see walk.h. */
#include "walk.h"

#include "settings.h"

#include <math.h>

enum { SHORT = 200, DISTANCE = 20 };

smurf_status walk_choose(struct walk *out, const smurf_model *model, const smurf_data *data,
                         const smurf_eval_config *config, smurf_error *err)
{
    smurf_eval_config c = *config;
    size_t all = (size_t)fmin(2 * settings_number(smurf_model_settings(model), "sampler-steps"), 1e9);
    out->every = all < SHORT ? 1 + all / DISTANCE : DISTANCE;
    if (all / out->every > LOOKS_MOST) out->every = all / LOOKS_MOST;
    out->looks = all > out->every ? all / out->every : 1;
    if (out->looks > LOOKS_MOST) out->looks = LOOKS_MOST;
    c.steps = out->looks * out->every;
    smurf_status status = smurf_evaluate_walk(model, data, &c, out->every, out->cs, out->looks, err);
    size_t best = 0;
    for (size_t k = 1; k < out->looks && !status; k++)
        if (out->cs[k] < out->cs[best]) best = k;
    out->steps = (best + 1) * out->every;
    return status;
}
