/* data.c - reading a data set. builder.c makes them. */
#include "data/data.h"

#include <stdlib.h>

void smurf_data_free(smurf_data *data)
{
    if (!data) return;
    free(data->own_time);
    free(data->own_type);
    if (data->release) data->release(data->release_context);
    smurf_spill_release(&data->time_outside);
    smurf_spill_release(&data->type_outside);
    free(data->sequence);
    smurf_further_release(&data->further);
    free(data->further_value);
    free(data->type_name);
    free(data->remark);
    smurf_arena_release(&data->text);
    free(data);
}

void smurf_data_place_further(smurf_data *data)
{
    size_t columns = data->further.columns, at = 0;
    for (size_t i = 0; i < data->sequences; i++) {
        data->sequence[i].further = columns ? data->further_value + at * columns : NULL;
        data->sequence[i].columns = columns;
        at += data->sequence[i].length;
    }
}

size_t smurf_data_sequences(const smurf_data *data)
{
    return data->sequences;
}

const smurf_sequence *smurf_data_sequence(const smurf_data *data, size_t index)
{
    return index < data->sequences ? &data->sequence[index] : NULL;
}

size_t smurf_data_events(const smurf_data *data)
{
    return data->events;
}

size_t smurf_data_gaps(const smurf_data *data)
{
    size_t gaps = 0;
    for (size_t i = 0; i < data->sequences; i++) gaps += data->sequence[i].length - data->sequence[i].first;
    return gaps;
}

uint32_t smurf_data_types(const smurf_data *data)
{
    return data->types;
}

const char *smurf_data_type_name(const smurf_data *data, uint32_t type)
{
    return data->type_name && type < data->types ? data->type_name[type] : NULL;
}

const char *smurf_data_unit(const smurf_data *data)
{
    return data->unit;
}

int smurf_data_is_calendar(const smurf_data *data)
{
    return data->calendar;
}

const char *smurf_data_source(const smurf_data *data)
{
    return data->source;
}

size_t smurf_data_bytes(const smurf_data *data)
{
    return sizeof *data + data->events * (sizeof *data->time + sizeof *data->type) +
           data->events * data->further.columns * sizeof *data->further_value +
           data->sequences * sizeof *data->sequence + (data->type_name ? data->types * sizeof *data->type_name : 0) +
           data->text.bytes;
}

const smurf_reading *smurf_data_reading(const smurf_data *data)
{
    return data->reading.time_column ? &data->reading : NULL;
}

const char *smurf_data_remark(const smurf_data *data, size_t index)
{
    if (!data->remark) return NULL;
    for (size_t i = 0; i < index; i++)
        if (!data->remark[i]) return NULL;
    return data->remark[index];
}
