/* tensors_write.c - see tensors.h. jansson builds the header, with keys in insertion order. */
#include "data/tensors.h"

#include "data/json_tree.h"
#include "data/sink.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, LENGTH = 8 };

/* Adds a value (ownership taken, may be NULL) under a key that must be new. */
static smurf_status add(json_t *object, const char *what, const char *key, json_t *value, smurf_error *err)
{
    smurf_status status = SMURF_OK;
    if (!key || !smurf_utf8_valid(key))
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "the %s '%.200s' cannot be written: it must be UTF-8", what,
                            key ? key : "");
    else if (json_object_get(object, key))
        status = smurf_fail(err, SMURF_ERROR_ARGUMENT, "the %s '%.200s' is given twice", what, key);
    else if (!value || json_object_set(object, key, value) != 0)
        status = smurf_fail_memory(err);
    json_decref(value);
    return status;
}

static smurf_status add_texts(json_t *header, const struct tensor_text *text, size_t texts, smurf_error *err)
{
    if (texts == 0) return SMURF_OK;
    json_t *object = json_object();
    smurf_status status = object ? SMURF_OK : smurf_fail_memory(err);
    for (size_t i = 0; i < texts && !status; i++) {
        status = text[i].value && smurf_utf8_valid(text[i].value)
                     ? add(object, "key", text[i].key, json_string(text[i].value), err)
                     : smurf_fail(err, SMURF_ERROR_ARGUMENT, "the text of '%.200s' cannot be written: it must be UTF-8",
                                  text[i].key ? text[i].key : "");
    }
    if (!status) status = add(header, "key", "__metadata__", json_incref(object), err);
    json_decref(object);
    return status;
}

/* Its bytes start at *at, which advances past them. */
static smurf_status add_tensor(json_t *header, const struct tensor *tensor, size_t *at, smurf_error *err)
{
    size_t bytes = smurf_tensor_bytes(tensor), begin = *at;
    if (!tensor->name || !*tensor->name || strcmp(tensor->name, "__metadata__") == 0)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "a tensor cannot have the name '%s'",
                          tensor->name ? tensor->name : "");
    if (bytes > PTRDIFF_MAX - begin)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "tensor '%.200s' cannot have this type and shape", tensor->name);
    if (bytes && !tensor->data)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "tensor '%.200s' has no data", tensor->name);
    *at += bytes;
    json_t *shape = json_array();
    for (int i = 0; i < tensor->rank; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) != 0) {
            json_decref(shape);
            return smurf_fail_memory(err);
        }
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", smurf_tensor_type_name(tensor->type), "shape", shape,
                              "data_offsets", (json_int_t)begin, (json_int_t)*at);
    return add(header, "tensor", tensor->name, entry, err);
}

/* The header as text, unpadded; freed by the caller. */
static smurf_status make_header(char **out, const struct tensor *tensor, size_t tensors, const struct tensor_text *text,
                                size_t texts, smurf_error *err)
{
    json_t *header = json_object();
    smurf_status status = header ? add_texts(header, text, texts, err) : smurf_fail_memory(err);
    size_t at = 0;
    for (size_t i = 0; i < tensors && !status; i++) status = add_tensor(header, &tensor[i], &at, err);
    *out = status ? NULL : smurf_json_text(header);
    if (!status && !*out) status = smurf_fail_memory(err);
    json_decref(header);
    return status;
}

/* The header, its length and its padding. */
struct front {
    char *header; /* owned */
    size_t used, pad;
};

static smurf_status make_front(struct front *out, const char *name, const struct tensor *tensor, size_t tensors,
                               const struct tensor_text *text, size_t texts, smurf_error *err)
{
    smurf_status status = make_header(&out->header, tensor, tensors, text, texts, err);
    if (status) return status;
    out->used = strlen(out->header);
    out->pad = (ALIGN - (LENGTH + out->used) % ALIGN) % ALIGN;
    if (out->used + out->pad <= TENSOR_HEADER_LIMIT) return SMURF_OK;
    free(out->header);
    return smurf_fail(err, SMURF_ERROR_ARGUMENT, "cannot write '%s': names and texts take %zu bytes, %d are allowed",
                      name, out->used + out->pad, TENSOR_HEADER_LIMIT);
}

smurf_status smurf_tensors_write(const char *path, const struct tensor *tensor, size_t tensors,
                                 const struct tensor_text *text, size_t texts, smurf_error *err)
{
    struct sink sink;
    struct front front;
    smurf_status status = make_front(&front, path, tensor, tensors, text, texts, err);
    if (status) return status;
    status = smurf_sink_open(&sink, path, false, err);
    if (!status) {
        uint64_t length = front.used + front.pad;
        smurf_sink_bytes(&sink, &length, LENGTH);
        smurf_sink_bytes(&sink, front.header, front.used);
        for (size_t i = 0; i < front.pad; i++) smurf_sink_char(&sink, ' ');
        for (size_t i = 0; i < tensors && !sink.status; i++) {
            size_t bytes = smurf_tensor_bytes(&tensor[i]);
            if (bytes) smurf_sink_bytes(&sink, tensor[i].data, bytes);
        }
        status = smurf_sink_commit(&sink, err);
    }
    free(front.header);
    return status;
}

/* add_tensor has checked that the sizes add up to less than PTRDIFF_MAX. */
smurf_status smurf_tensors_write_memory(void **out, size_t *size, const struct tensor *tensor, size_t tensors,
                                        const struct tensor_text *text, size_t texts, smurf_error *err)
{
    struct front front;
    *out = NULL;
    *size = 0;
    smurf_status status = make_front(&front, "memory", tensor, tensors, text, texts, err);
    if (status) return status;
    uint64_t length = front.used + front.pad;
    size_t need = LENGTH + (size_t)length;
    for (size_t i = 0; i < tensors; i++) need += smurf_tensor_bytes(&tensor[i]);
    char *at = *out = malloc(need);
    if (at) {
        *size = need;
        at = mempcpy(at, &length, LENGTH);
        at = mempcpy(at, front.header, front.used);
        memset(at, ' ', front.pad);
        at += front.pad;
        for (size_t i = 0; i < tensors; i++) {
            size_t bytes = smurf_tensor_bytes(&tensor[i]);
            if (bytes) at = mempcpy(at, tensor[i].data, bytes);
        }
    }
    free(front.header);
    return at ? SMURF_OK : smurf_fail_memory(err);
}
