/*
 * tensors_read.c - see tensors.h. Nothing in a file is trusted before it is checked.
 *
 * The header is read and checked first; it determines how many bytes must follow. Memory for them is allocated only as
 * far as they exist: the size of a regular file, or what has arrived from a pipe.
 */
#include "data/json_tree.h"
#include "data/tensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGN = 64, LENGTH = 8, FIRST = 1 << 20 };
#define CUT_OFF "(the file was cut off: copy it again)"
#define DAMAGED "(the file is damaged or not a safetensors file: copy or make it again)"

struct input {
    const char *name;
    int fd; /* -1: memory */
    const unsigned char *memory;
    bool sized; /* whether size is known */
    size_t size, at;
};

/* ---- Bytes ------------------------------------------------------------------------------------ */

/* Reads n bytes to out; fewer, with the count in *got, if the input ends. */
static smurf_status take(struct input *in, void *out, size_t n, size_t *got, smurf_error *err)
{
    *got = 0;
    if (in->fd < 0) {
        *got = n < in->size - in->at ? n : in->size - in->at;
        if (*got) memcpy(out, in->memory + in->at, *got);
    }
    while (in->fd >= 0 && *got < n) {
        ssize_t more = read(in->fd, (char *)out + *got, n - *got);
        if (more == 0) break;
        if (more > 0) *got += (size_t)more;
        if (more < 0 && errno != EINTR) return smurf_fail_errno(err, "read", in->name, errno);
    }
    in->at += *got;
    return SMURF_OK;
}

/* Where an input shorter than `need` ends: at its size, unless the file has changed since the size was read. */
static size_t end_of(const struct input *in, size_t need)
{
    return in->sized && in->size < need ? in->size : in->at;
}

/* The JSON of the header, *n bytes; freed by the caller. */
static smurf_status take_header(struct input *in, char **header, size_t *n, smurf_error *err)
{
    uint64_t length;
    size_t got;
    smurf_status status = take(in, &length, LENGTH, &got, err);
    if (status) return status;
    if (got < LENGTH)
        return smurf_fail_at(err, in->name, 0, "the file ends after %zu bytes, before its header " CUT_OFF, got);
    if (length > TENSOR_HEADER_LIMIT)
        return smurf_fail_at(err, in->name, 0, "not a safetensors file, or a damaged one: byte 0 announces a header of %llu bytes, and %d are "
                             "allowed (give the model that smurf train wrote, or copy it again)",
                             (unsigned long long)length, TENSOR_HEADER_LIMIT);
    *n = (size_t)length;
    if (!in->sized || *n <= in->size - LENGTH) {
        *header = malloc(*n + 1);
        if (!*header) return smurf_fail_memory(err);
        status = take(in, *header, *n, &got, err);
        if (status) return status;
    }
    if (in->at == LENGTH + *n) return SMURF_OK;
    return smurf_fail_at(err, in->name, 0, "the file ends after %zu bytes, inside its header of %zu " CUT_OFF,
                         end_of(in, LENGTH + *n), *n);
}

/* The bytes of the tensors, `need` of them, into file->data. */
static smurf_status take_data(struct input *in, struct tensor_file *file, size_t need, smurf_error *err)
{
    size_t have = 0, got = 0, room = in->sized || need < FIRST ? need : FIRST;
    for (;;) {
        char *data = room > SIZE_MAX - ALIGN ? NULL : aligned_alloc(ALIGN, (room / ALIGN + 1) * ALIGN);
        if (!data) return smurf_fail_memory(err);
        if (have) memcpy(data, file->data, have);
        free(file->data);
        file->data = data;
        smurf_status status = take(in, data + have, room - have, &got, err);
        have += got;
        if (status || have < room || room == need) return status;
        room = room < need / 2 ? 2 * room : need;
    }
}

/* ---- The header ------------------------------------------------------------------------------- */

/* A tensor and the offsets of its bytes after the header. */
struct span {
    struct tensor tensor;
    size_t begin, end;
    size_t order; /* position in the header */
};

struct header {
    const char *name;  /* of the file */
    size_t size;       /* of everything before the tensors' bytes */
    json_t *json;      /* owned; names point into it */
    struct span *span; /* (spans), owned */
    size_t spans;
};

static smurf_status parse(struct header *header, const char *text, size_t n, smurf_error *err)
{
    if (n == 0 || text[0] != '{')
        return smurf_fail_at(err, header->name, 0, "byte %d: the header does not start with '{' " DAMAGED, LENGTH);
    struct json_fault fault;
    smurf_status status = smurf_json_tree(&header->json, text, n, &fault);
    if (status == SMURF_ERROR_MEMORY) return smurf_fail_memory(err);
    if (!status) return SMURF_OK;
    return smurf_fail_at(err, header->name, 0, "byte %zu: the header is not JSON: %s " DAMAGED, LENGTH + fault.at,
                         fault.why);
}

static bool get_size(const json_t *value, size_t *out)
{
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || (unsigned long long)n > PTRDIFF_MAX) return false;
    *out = (size_t)n;
    return true;
}

static bool get_type(const char *name, enum tensor_type *out)
{
    for (int i = 0; i < TENSOR_TYPES; i++)
        if (strcmp(name, smurf_tensor_type_name((enum tensor_type)i)) == 0) {
            *out = (enum tensor_type)i;
            return true;
        }
    return false;
}

/* Whether an entry is well-formed; fills in its offsets and shape if so. */
static bool get_span(struct span *span, const json_t *entry)
{
    const json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    bool ok = json_object_size(entry) == 3 && json_is_string(json_object_get(entry, "dtype")) && json_is_array(shape) &&
              json_array_size(offsets) == 2 && get_size(json_array_get(offsets, 0), &span->begin) &&
              get_size(json_array_get(offsets, 1), &span->end) && span->begin <= span->end;
    for (size_t i = 0; ok && i < json_array_size(shape); i++)
        ok = get_size(json_array_get(shape, i), &span->tensor.shape[i < TENSOR_RANK ? i : 0]);
    return ok;
}

static smurf_status parse_span(const struct header *header, struct span *span, const char *name, const json_t *entry,
                               smurf_error *err)
{
    const char *file = header->name;
    if (!*name || !get_span(span, entry))
        return smurf_fail_at(err, file, 0,
                             "in the header: tensor '%.200s' needs a name, a dtype (text), a shape (sizes) and "
                             "data_offsets (begin, end) " DAMAGED,
                             name);
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    size_t rank = json_array_size(json_object_get(entry, "shape"));
    if (rank > TENSOR_RANK)
        return smurf_fail_at(err, file, 0,
                             "in the header: tensor '%.200s' has %zu dimensions, but at most %d are supported "
                             "(reshape it)",
                             name, rank, TENSOR_RANK);
    if (!get_type(type, &span->tensor.type))
        return smurf_fail_at(err, file, 0,
                             "in the header: tensor '%.200s' is of type '%.40s', which is not supported "
                             "(convert it to F32)",
                             name, type);
    span->tensor.name = name;
    span->tensor.rank = (int)rank;
    size_t bytes = smurf_tensor_bytes(&span->tensor);
    if (bytes == SIZE_MAX)
        return smurf_fail_at(err, file, 0, "in the header: tensor '%.200s' is too large for any file " DAMAGED, name);
    if (bytes != span->end - span->begin)
        return smurf_fail_at(err, file, 0,
                             "byte %zu: tensor '%.200s' has %zu bytes, but its type and shape make %zu " DAMAGED,
                             header->size + span->begin, name, span->end - span->begin, bytes);
    return SMURF_OK;
}

static int compare(const void *one, const void *other)
{
    const struct span *a = one, *b = other;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Spans in the order of their bytes, contiguous. */
static smurf_status parse_spans(struct header *header, smurf_error *err)
{
    header->span = calloc(json_object_size(header->json) + 1, sizeof *header->span);
    if (!header->span) return smurf_fail_memory(err);
    for (void *it = json_object_iter(header->json); it; it = json_object_iter_next(header->json, it)) {
        const char *name = json_object_iter_key(it);
        if (strcmp(name, "__metadata__") == 0) continue;
        struct span *span = &header->span[header->spans];
        span->order = header->spans++;
        smurf_status status = parse_span(header, span, name, json_object_iter_value(it), err);
        if (status) return status;
    }
    qsort(header->span, header->spans, sizeof *header->span, compare);
    size_t at = 0;
    for (size_t i = 0; i < header->spans; i++) {
        const struct span *span = &header->span[i];
        if (span->begin < at)
            return smurf_fail_at(err, header->name, 0, "byte %zu: tensors '%.200s' and '%.200s' overlap " DAMAGED,
                                 header->size + span->begin, span[-1].tensor.name, span->tensor.name);
        if (span->begin > at)
            return smurf_fail_at(err, header->name, 0,
                                 "byte %zu: %zu bytes before tensor '%.200s' belong to none " DAMAGED,
                                 header->size + at, span->begin - at, span->tensor.name);
        at = span->end;
    }
    return SMURF_OK;
}

/* ---- The file --------------------------------------------------------------------------------- */

static const char *keep_text(struct tensor_file *file, const char *text)
{
    return smurf_arena_text(&file->arena, text, strlen(text));
}

static smurf_status keep_texts(struct tensor_file *file, const json_t *header, smurf_error *err)
{
    json_t *texts = json_object_get(header, "__metadata__");
    if (!texts) return SMURF_OK;
    if (!json_is_object(texts))
        return smurf_fail_at(err, file->name, 0, "in the header: \"__metadata__\" is not an object " DAMAGED);
    struct tensor_text *text = smurf_arena_alloc(&file->arena, json_object_size(texts) * sizeof *text);
    if (!text) return smurf_fail_memory(err);
    file->text = text;
    for (void *it = json_object_iter(texts); it; it = json_object_iter_next(texts, it)) {
        const char *key = json_object_iter_key(it);
        const json_t *value = json_object_iter_value(it);
        if (!json_is_string(value))
            return smurf_fail_at(
                err, file->name, 0,
                "in the header: '%.200s' of \"__metadata__\" is not a string (put the value in quotes)", key);
        text->key = keep_text(file, key);
        text->value = keep_text(file, json_string_value(value));
        if (!text->key || !text->value) return smurf_fail_memory(err);
        text++, file->texts++;
    }
    return SMURF_OK;
}

/* Tensors with their own names and data in file->data, or in a copy if their type needs it. */
static smurf_status keep_tensors(struct tensor_file *file, const struct header *header, smurf_error *err)
{
    struct tensor *tensor = smurf_arena_alloc(&file->arena, header->spans * sizeof *tensor);
    if (!tensor) return smurf_fail_memory(err);
    file->tensor = tensor;
    file->tensors = header->spans;
    for (size_t i = 0; i < header->spans; i++) {
        const struct span *span = &header->span[i];
        const char *data = (const char *)file->data + span->begin;
        tensor[i] = span->tensor;
        tensor[i].name = keep_text(file, span->tensor.name);
        if (span->begin % smurf_tensor_type_size(span->tensor.type) != 0) {
            size_t bytes = span->end - span->begin;
            char *copy = smurf_arena_alloc(&file->arena, bytes);
            if (copy && bytes) memcpy(copy, data, bytes);
            data = copy;
        }
        tensor[i].data = data;
        if (!tensor[i].name || !data) return smurf_fail_memory(err);
    }
    return SMURF_OK;
}

/* The input has ended, or will end, before the tensors do. */
static smurf_status fail_cut(const struct input *in, const struct header *header, smurf_error *err)
{
    size_t need = header->size + header->span[header->spans - 1].end, end = end_of(in, need), i = 0;
    while (header->size + header->span[i].end <= end) i++;
    return smurf_fail_at(err, in->name, 0, "the file ends after %zu of %zu bytes, in tensor '%.200s' " CUT_OFF, end,
                         need, header->span[i].tensor.name);
}

static smurf_status load(struct tensor_file *file, struct input *in, smurf_error *err)
{
    struct header header = {.name = in->name};
    char *text = NULL, extra;
    size_t n = 0, need = 0, got = 0;
    file->name = keep_text(file, in->name);
    smurf_status status = file->name ? take_header(in, &text, &n, err) : smurf_fail_memory(err);
    if (!status) {
        header.size = LENGTH + n;
        status = parse(&header, text, n, err);
    }
    free(text);
    if (!status) status = parse_spans(&header, err);
    if (!status) status = keep_texts(file, header.json, err);
    if (status) goto done;
    need = header.spans ? header.span[header.spans - 1].end : 0;
    if (!in->sized || header.size + need <= in->size) status = take_data(in, file, need, err);
    if (status) goto done;
    if (in->at < header.size + need) {
        status = fail_cut(in, &header, err);
        goto done;
    }
    status = take(in, &extra, 1, &got, err);
    if (!status && got)
        status = smurf_fail_at(err, in->name, 0, "byte %zu: trailing data after the last tensor " DAMAGED,
                               header.size + need);
    if (!status) status = keep_tensors(file, &header, err);
done:
    json_decref(header.json);
    free(header.span);
    if (status) smurf_tensors_close(file);
    return status;
}

smurf_status smurf_tensors_open(struct tensor_file *file, const char *path, smurf_error *err)
{
    *file = (struct tensor_file){0};
    bool standard = strcmp(path, "-") == 0;
    struct input in = {.name = standard ? "standard input" : path};
    in.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in.fd < 0) return smurf_fail_errno(err, "open", path, errno);
    struct stat about;
    smurf_status status = SMURF_OK;
    if (fstat(in.fd, &about) != 0)
        status = smurf_fail_errno(err, "open", in.name, errno);
    else if (S_ISDIR(about.st_mode))
        status = smurf_fail(err, SMURF_ERROR_IO, "'%s' is a directory, not a file of tensors", in.name);
    if (!status) {
        in.sized = S_ISREG(about.st_mode) && !standard; /* standard input may already have been read from */
        in.size = in.sized ? (size_t)about.st_size : 0;
        status = load(file, &in, err);
    }
    if (!standard) close(in.fd);
    return status;
}

smurf_status smurf_tensors_open_memory(struct tensor_file *file, const void *bytes, size_t size, const char *name,
                                       smurf_error *err)
{
    *file = (struct tensor_file){0};
    struct input in = {.name = name, .fd = -1, .memory = bytes, .sized = true, .size = size};
    return load(file, &in, err);
}
