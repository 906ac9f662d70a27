/* tensors.c - tensor types and sizes, and lookup in an open file. */
#include "data/tensors.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are read and written as they lie in memory, which must be little endian"
#endif

static const struct {
    const char *name;
    size_t size;
} types[TENSOR_TYPES] = {
    [TENSOR_F64] = {"F64", 8},   [TENSOR_F32] = {"F32", 4}, [TENSOR_F16] = {"F16", 2}, [TENSOR_BF16] = {"BF16", 2},
    [TENSOR_I64] = {"I64", 8},   [TENSOR_I32] = {"I32", 4}, [TENSOR_I16] = {"I16", 2}, [TENSOR_I8] = {"I8", 1},
    [TENSOR_U64] = {"U64", 8},   [TENSOR_U32] = {"U32", 4}, [TENSOR_U16] = {"U16", 2}, [TENSOR_U8] = {"U8", 1},
    [TENSOR_BOOL] = {"BOOL", 1},
};

const char *smurf_tensor_type_name(enum tensor_type type)
{
    return types[type].name;
}

size_t smurf_tensor_type_size(enum tensor_type type)
{
    return types[type].size;
}

size_t smurf_tensor_bytes(const struct tensor *tensor)
{
    if ((unsigned)tensor->type >= TENSOR_TYPES || tensor->rank < 0 || tensor->rank > TENSOR_RANK) return SIZE_MAX;
    size_t bytes = types[tensor->type].size;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] > PTRDIFF_MAX || __builtin_mul_overflow(bytes, tensor->shape[i], &bytes)) return SIZE_MAX;
    return bytes > PTRDIFF_MAX ? SIZE_MAX : bytes;
}

/* ---- Finding ---------------------------------------------------------------------------------- */

const struct tensor *smurf_tensors_find(const struct tensor_file *file, const char *name)
{
    for (size_t i = 0; i < file->tensors; i++)
        if (strcmp(file->tensor[i].name, name) == 0) return &file->tensor[i];
    return NULL;
}

const char *smurf_tensors_text(const struct tensor_file *file, const char *key)
{
    for (size_t i = 0; i < file->texts; i++)
        if (strcmp(file->text[i].key, key) == 0) return file->text[i].value;
    return NULL;
}

enum { KIND_TEXT = 16 + 21 * TENSOR_RANK };

/* "F32 [2, 3]" */
static void describe(char text[KIND_TEXT], const struct tensor *tensor)
{
    int n = snprintf(text, KIND_TEXT, "%s [", types[tensor->type].name);
    for (int i = 0; i < tensor->rank; i++)
        n += snprintf(text + n, (size_t)(KIND_TEXT - n), i ? ", %zu" : "%zu", tensor->shape[i]);
    snprintf(text + n, (size_t)(KIND_TEXT - n), "]");
}

smurf_status smurf_tensors_need(const struct tensor_file *file, const struct tensor *wanted, const void **data,
                                smurf_error *err)
{
    *data = NULL;
    if (smurf_tensor_bytes(wanted) == SIZE_MAX)
        return smurf_fail(err, SMURF_ERROR_ARGUMENT, "tensor '%.200s' cannot have this type and shape", wanted->name);
    const struct tensor *found = smurf_tensors_find(file, wanted->name);
    char want[KIND_TEXT], have[KIND_TEXT];
    describe(want, wanted);
    if (!found)
        return smurf_fail_at(err, file->name, 0,
                             "there is no tensor '%.200s', %s is needed (the file was made for something else)",
                             wanted->name, want);
    if (found->type != wanted->type || found->rank != wanted->rank ||
        memcmp(found->shape, wanted->shape, (size_t)wanted->rank * sizeof *wanted->shape) != 0) {
        describe(have, found);
        return smurf_fail_at(err, file->name, 0,
                             "tensor '%.200s' is %s, but %s is needed (the file was made for something else)",
                             wanted->name, have, want);
    }
    *data = found->data;
    return SMURF_OK;
}

void smurf_tensors_close(struct tensor_file *file)
{
    free(file->data);
    smurf_arena_release(&file->arena);
    *file = (struct tensor_file){0};
}
