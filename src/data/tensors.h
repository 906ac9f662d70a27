/*
 * tensors.h - files of named arrays and texts (safetensors), written all or nothing and fully checked.
 *
 * A file is the header's length N in 8 bytes (little-endian), N bytes of JSON, then the arrays, contiguous:
 *
 *     {"__metadata__": {"key": "value", ...},
 *      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * The meaning of texts and arrays is up to the caller. A struct tensor describes what to write or what is needed:
 *
 *     struct tensor weight = {"weight", TENSOR_F32, 2, {rows, columns}, values};
 *     status = smurf_tensors_write("m.safetensors", &weight, 1, NULL, 0, err);
 *     ...
 *     struct tensor_file file;
 *     status = smurf_tensors_open(&file, "m.safetensors", err);
 *     if (!status) status = smurf_tensors_need(&file, &weight, &data, err);
 *     ...
 *     smurf_tensors_close(&file);
 */
#ifndef SMURF_DATA_TENSORS_H
#define SMURF_DATA_TENSORS_H

#include "base/error.h"
#include "base/memory.h"

enum tensor_type {
    TENSOR_F64,
    TENSOR_F32,
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_I64,
    TENSOR_I32,
    TENSOR_I16,
    TENSOR_I8,
    TENSOR_U64,
    TENSOR_U32,
    TENSOR_U16,
    TENSOR_U8,
    TENSOR_BOOL, /* one byte each */
    TENSOR_TYPES
};

/* Maximum rank, and maximum header size: far more than any model here needs, but cheap to parse. */
enum { TENSOR_RANK = 8, TENSOR_HEADER_LIMIT = 1 << 24 };

struct tensor {
    const char *name; /* UTF-8, neither empty nor "__metadata__" */
    enum tensor_type type;
    int rank; /* 0: a single value */
    size_t shape[TENSOR_RANK];
    const void *data; /* row-major, aligned for its type */
};

struct tensor_text {
    const char *key, *value; /* UTF-8 */
};

/* A file in memory. It owns everything it points to until it is closed. Threads may share it. */
struct tensor_file {
    const char *name;            /* for messages */
    const struct tensor *tensor; /* (tensors), in the order of their bytes, the first one aligned to 64 */
    size_t tensors;
    const struct tensor_text *text; /* (texts), in file order */
    size_t texts;
    void *data;
    struct arena arena; /* everything but data */
};

/* "F32" and so on. */
const char *smurf_tensor_type_name(enum tensor_type type);
size_t smurf_tensor_type_size(enum tensor_type type);

/* Size of its data in bytes; SIZE_MAX if that exceeds the largest object, or if the type or rank is out of range. */
size_t smurf_tensor_bytes(const struct tensor *tensor);

/* Writes the tensors in the order given, starting at a multiple of 64 bytes; the same input gives the same bytes. A
   regular file is replaced once everything is on disk, and is left as it was on failure; any other target is written
   directly. path "-" is standard output. Names and keys must be unique. */
smurf_status smurf_tensors_write(const char *path, const struct tensor *tensor, size_t tensors,
                                 const struct tensor_text *text, size_t texts, smurf_error *err);
/* The same bytes in memory; the caller frees *out. */
smurf_status smurf_tensors_write_memory(void **out, size_t *size, const struct tensor *tensor, size_t tensors,
                                        const struct tensor_text *text, size_t texts, smurf_error *err);

/* Reads a whole file. path "-" is standard input. Any violation of the format is an error, so every tensor of an open
   file has its data; after an error there is nothing to close. */
smurf_status smurf_tensors_open(struct tensor_file *file, const char *path, smurf_error *err);
/* The same from memory, which is copied; `name` is the file's name in messages. */
smurf_status smurf_tensors_open_memory(struct tensor_file *file, const void *bytes, size_t size, const char *name,
                                       smurf_error *err);
/* Closing an all-zero or closed file is allowed. */
void smurf_tensors_close(struct tensor_file *file);

/* NULL if there is no tensor of that name. */
const struct tensor *smurf_tensors_find(const struct tensor_file *file, const char *name);
/* The data of the tensor with the name, type and shape of `wanted`, whose own data is ignored. If there is none, the
   error says what was wanted and what was found. */
smurf_status smurf_tensors_need(const struct tensor_file *file, const struct tensor *wanted, const void **data,
                                smurf_error *err);
/* The value of a text, or NULL. */
const char *smurf_tensors_text(const struct tensor_file *file, const char *key);

#endif
