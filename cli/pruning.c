/* pruning.c - see pruning.h. */
#include "pruning.h"

#include <stdint.h>
#include <stdlib.h>

static size_t number_of(const smurf_model *model, const char *setting)
{
    char text[64] = "";
    if (smurf_settings_get(smurf_model_settings(model), setting, text, sizeof text, NULL)) return 0;
    return strtoull(text, NULL, 10);
}

const char *pruning_init(struct pruning *out, const smurf_model *model, size_t keep)
{
    const smurf_pool *pool = smurf_model_pool(model);
    *out = (struct pruning){.keep = keep, .context = number_of(model, "context"), .window = number_of(model, "window")};
    if (!out->window) out->window = 2 * out->context;
    out->reach = pool ? pool->reach : 0;
    if (!out->context) return "it looks back at the whole history (train it with --window and --history)";
    if (smurf_model_calibration(model)->adaptive > 0)
        return "its levels follow all gaps that came (train it with --adaptive 0)";
    if (out->reach == SIZE_MAX)
        return "it is pooled with a naive law that looks back at the whole history (train it with --pool off)";
    return NULL;
}

static size_t less(size_t n, size_t by)
{
    return n > by ? n - by : 0;
}

size_t pruning_needed(const struct pruning *p, size_t n)
{
    if (!n) return 0;
    size_t begins = (n - 1) / p->window * p->window; /* the first event that the window predicts */
    size_t start = less(begins + 1, p->context), past = less(n, p->reach);
    start = less(start, 1);
    return start < past ? start : past;
}

size_t pruning_first(const struct pruning *p, size_t n)
{
    size_t needed = pruning_needed(p, n), kept = less(n, p->keep);
    return needed < kept ? needed : kept;
}
