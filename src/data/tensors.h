/*
 * tensors.h - files of named arrays and texts: safetensors, written all or nothing, checked byte by byte.
 *
 * A file is 8 bytes with the length N of its header (little endian), N bytes of JSON, the arrays end to end:
 *
 *     {"__metadata__": {"key": "value", ...},
 *      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Of what texts and arrays mean this knows nothing. A struct tensor says what to write or what is needed:
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

/* The most dimensions; and bytes of header: far more than any model here needs, far less than would hurt to parse. */
enum { TENSOR_RANK = 8, TENSOR_HEADER_LIMIT = 1 << 24 };

struct tensor {
    const char *name; /* UTF-8, neither empty nor "__metadata__" */
    enum tensor_type type;
    int rank; /* 0: a single value */
    size_t shape[TENSOR_RANK];
    const void *data; /* row by row, aligned for its type */
};

struct tensor_text {
    const char *key, *value; /* UTF-8 */
};

/* A file in memory. All it points to is its own and lives until it is closed. Threads may share it. */
struct tensor_file {
    const char *name;            /* for messages */
    const struct tensor *tensor; /* (tensors), in the order of their bytes, the first one aligned to 64 */
    size_t tensors;
    const struct tensor_text *text; /* (texts), in the order of the file */
    size_t texts;
    void *data;
    struct arena arena; /* all but data */
};

/* "F32" and so on. */
const char *smurf_tensor_type_name(enum tensor_type type);
size_t smurf_tensor_type_size(enum tensor_type type);

/* Bytes of its data; SIZE_MAX for more than an object can have, or a type or rank out of range. */
size_t smurf_tensor_bytes(const struct tensor *tensor);

/* Writes the tensors in the order given, from a byte that is a multiple of 64 on; the same input gives the
   same bytes. A regular file is replaced once all is on the disk, and stays as it was on failure; any other
   target is written directly. path "-" is standard output. Names and keys must be unique. */
smurf_status smurf_tensors_write(const char *path, const struct tensor *tensor, size_t tensors,
                                 const struct tensor_text *text, size_t texts, smurf_error *err);
/* The same bytes in memory; the caller frees *out. */
smurf_status smurf_tensors_write_memory(void **out, size_t *size, const struct tensor *tensor, size_t tensors,
                                        const struct tensor_text *text, size_t texts, smurf_error *err);

/* Reads a whole file. path "-" is standard input. Whatever breaks the format is an error, so that every
   tensor of an open file has its data; after an error there is nothing to close. */
smurf_status smurf_tensors_open(struct tensor_file *file, const char *path, smurf_error *err);
/* The same from memory, which is copied; `name` stands for the file in messages. */
smurf_status smurf_tensors_open_memory(struct tensor_file *file, const void *bytes, size_t size, const char *name,
                                       smurf_error *err);
/* An all-zero or closed file may be closed. */
void smurf_tensors_close(struct tensor_file *file);

/* NULL where there is none of that name. */
const struct tensor *smurf_tensors_find(const struct tensor_file *file, const char *name);
/* The data of the tensor with the name, type and shape of `wanted`, whose own data is not looked at. Without
   one, an error that tells what was wanted and what was found. */
smurf_status smurf_tensors_need(const struct tensor_file *file, const struct tensor *wanted, const void **data,
                                smurf_error *err);
/* The value of a text, or NULL. */
const char *smurf_tensors_text(const struct tensor_file *file, const char *key);

#endif
