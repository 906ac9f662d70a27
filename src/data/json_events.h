/*
 * json_events.h - JSON objects with one event each, read like the rows of a table: fields are the columns.
 */
#ifndef SMURF_DATA_JSON_EVENTS_H
#define SMURF_DATA_JSON_EVENTS_H

#include "data/json_scan.h"
#include "data/table.h"

struct json_events {
    bool known;   /* it is known which field is what; otherwise only the usual names are */
    bool sniffed; /* from a sample: every object is an event */
    bool listed;  /* and is in a list: {"data": [...]} */
    struct table table;
    const char *key[COLUMN_ROLES]; /* NULL: none */
    const char *part[CHOICE_PARTS];
    struct arena text; /* of the keys */
};

/* What an array under this key is: a field of an event, part of a sequence, or a list of events or sequences. */
enum json_array { JSON_ARRAY_FIELD, JSON_ARRAY_SEQUENCE, JSON_ARRAY_LIST };
typedef enum json_array json_array_kind(const void *context, const char *key, size_t n);
/* Looks at the first objects of a source. Leaves `known` false if they are not events or have no time. */
smurf_status smurf_json_events_sniff(struct json_events *e, struct source *source, const smurf_read_config *config,
                                     struct builder *builder, json_array_kind *kind, const void *context,
                                     smurf_error *err);
/* For streams: takes the fields of config->as, if there are any, unless the config names others. */
smurf_status smurf_json_events_as(struct json_events *e, const smurf_read_config *config, smurf_error *err);
void smurf_json_events_release(struct json_events *e);
/* Does the array at which the source stands hold objects or arrays, as far as it has been read? */
bool smurf_json_holds_objects(const struct source *source);

/* The value of a field of the current object; n 0: empty or missing. */
typedef struct field json_value(const void *context, const char *key);
/* Adds the current object to rows. number: names its sequence if no field does. Messages carry no location. */
smurf_status smurf_json_events_push(struct json_events *e, struct rows *rows, json_value *value, const void *context,
                                    const char *number, smurf_error *err);

#endif
