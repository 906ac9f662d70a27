/*
 * fuzz_tensors.c - any bytes, opened as a file of tensors. What opens is written into a pipe and must come
 * back as it was.
 */
#include "fuzz.h"

#include "data/tensors.h"

#include <unistd.h>

/* Looks at every byte, so that a pointer that is wrong shows. */
static void check(const struct tensor_file *file, size_t size)
{
    size_t bytes = 0;
    for (size_t i = 0; i < file->tensors; i++) {
        const struct tensor *t = &file->tensor[i];
        const volatile unsigned char *data = t->data;
        FUZZ_MUST(t->name[0] && smurf_tensors_find(file, t->name) == t);
        FUZZ_MUST(data && (uintptr_t)t->data % smurf_tensor_type_size(t->type) == 0);
        for (size_t k = 0; k < smurf_tensor_bytes(t); k++) (void)data[k];
        bytes += smurf_tensor_bytes(t);
    }
    FUZZ_MUST(bytes < size);
    for (size_t i = 0; i < file->texts; i++)
        FUZZ_MUST(smurf_tensors_text(file, file->text[i].key) == file->text[i].value);
}

static void check_equal(const struct tensor_file *a, const struct tensor_file *b)
{
    FUZZ_MUST(a->tensors == b->tensors && a->texts == b->texts);
    for (size_t i = 0; i < a->tensors; i++) {
        const struct tensor *t = &a->tensor[i];
        const void *data;
        FUZZ_MUST(strcmp(t->name, b->tensor[i].name) == 0 && !smurf_tensors_need(b, t, &data, NULL));
        FUZZ_MUST(memcmp(t->data, data, smurf_tensor_bytes(t)) == 0);
    }
    for (size_t i = 0; i < a->texts; i++)
        FUZZ_MUST(strcmp(a->text[i].key, b->text[i].key) == 0 && strcmp(a->text[i].value, b->text[i].value) == 0);
}

static void check_pipe(const struct tensor_file *file)
{
    int ends[2];
    char path[2][32];
    struct tensor_file back;
    FUZZ_MUST(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "/dev/fd/%d", ends[i]);
    FUZZ_MUST(!smurf_tensors_write(path[1], file->tensor, file->tensors, file->text, file->texts, NULL));
    close(ends[1]);
    FUZZ_MUST(!smurf_tensors_open(&back, path[0], NULL));
    check_equal(file, &back);
    smurf_tensors_close(&back);
    close(ends[0]);
}

static void open_and_check(const uint8_t *bytes, size_t size)
{
    enum { PIPE_HOLDS = 64 * 1024 };
    smurf_error err = {0};
    struct tensor_file file;
    smurf_status status = smurf_tensors_open_memory(&file, bytes, size, "fuzz", &err);
    if (status) {
        FUZZ_MUST(status == SMURF_ERROR_INPUT && err.status == status && !file.data && !file.tensors);
        FUZZ_MUST(strncmp(err.message, "fuzz: ", 6) == 0 && strchr(err.message, '('));
        return;
    }
    check(&file, size);
    if (size < PIPE_HOLDS / 8) check_pipe(&file); /* written again, a header can take more room */
    smurf_tensors_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_tensors(bytes, size, open_and_check);
    return 0;
}
