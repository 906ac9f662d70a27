/* model_reading.c - how the train data was read, stored in the model so that further files are read the same way. */
#include "data/reading.h"
#include "model/model_file.h"

#include <string.h>

const smurf_reading *smurf_model_reading(const smurf_model *model)
{
    return model->reading.time_column || model->reading.timezone ? &model->reading : NULL;
}

/* The sentence is about one file. */
static bool is_stored(const char *member)
{
    return strcmp(member, "text") != 0;
}

json_t *smurf_model_reading_to_json(const smurf_reading *reading)
{
    smurf_reading r = *reading;
    json_t *out = json_object();
    for (size_t i = 0; smurf_reading_member(i); i++) {
        const char *name = smurf_reading_member(i), *text = *smurf_reading_text(&r, i);
        if (!text || !is_stored(name)) continue;
        if (json_object_set_new(out, name, json_string(text))) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

smurf_status smurf_model_reading_from_json(smurf_model *m, const json_t *json, bool *right, smurf_error *err)
{
    *right = !json || json_is_object(json);
    for (size_t i = 0; json && *right && smurf_reading_member(i); i++) {
        const json_t *member = json_object_get(json, smurf_reading_member(i));
        const char *text = json_string_value(member);
        if (!member || !is_stored(smurf_reading_member(i))) continue;
        *right = text != NULL;
        if (text && !(*smurf_reading_text(&m->reading, i) = smurf_arena_text(&m->text, text, strlen(text))))
            return smurf_fail_memory(err);
    }
    if (json && !smurf_model_reading(m)) *right = false;
    return SMURF_OK;
}
