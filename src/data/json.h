/*
 * json.h - JSON and JSON Lines: what the classes in json_read.c need from json_write.c.
 */
#ifndef SMURF_DATA_JSON_H
#define SMURF_DATA_JSON_H

#include "data/format.h"

format_write smurf_json_write, smurf_jsonl_write;

#endif
