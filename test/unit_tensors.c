/*
 * unit_tensors.c - files of tensors: what is written is what is read, and what is wrong is told.
 *
 *     unit_tensors                 runs the cases
 *     unit_tensors copy FROM TO    reads one file and writes what it holds: test_tensors.py looks at both
 */
#include "data/tensors.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/unit_tensors.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* The bytes of a file, freed by the caller. */
static unsigned char *slurp(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    return bytes;
}

static void write_ok(const char *path, const struct tensor *tensor, size_t tensors, const struct tensor_text *text,
                     size_t texts)
{
    smurf_error err;
    if (smurf_tensors_write(path, tensor, tensors, text, texts, &err)) fail_msg("%s", err.message);
}

static void open_ok(struct tensor_file *file, const char *path)
{
    smurf_error err;
    if (smurf_tensors_open(file, path, &err)) fail_msg("%s", err.message);
}

static void expect_message(const smurf_error *err, const char *text)
{
    if (!strstr(err->message, text)) fail_msg("expected '%s' in '%s'", text, err->message);
}

static const float some_floats[6] = {0.5f, -1, 2, 3e30f, 0, -0.0f};
static const double some_doubles[2] = {1.0 / 3, -1e300};
static const int64_t some_integers[3] = {INT64_MIN, 0, INT64_MAX};
static const unsigned char some_bytes[5] = {0, 1, 127, 128, 255};
/* The odd number of bytes puts the doubles behind it out of line. */
static const struct tensor sample[] = {
    {"weight", TENSOR_F32, 2, {2, 3}, some_floats}, {"bytes", TENSOR_U8, 1, {5}, some_bytes},
    {"map", TENSOR_F64, 1, {2}, some_doubles},      {"nothing", TENSOR_F32, 2, {0, 7}, NULL},
    {"one", TENSOR_F64, 0, {0}, some_doubles},      {"whole", TENSOR_I64, 3, {1, 3, 1}, some_integers},
};
enum { SAMPLE = sizeof sample / sizeof *sample };
static const struct tensor_text sample_text[] = {
    {"format", "smurf 1"},
    {"config", "{\"a\": [1, \"\\\\\"]}\n\t\x01"},
    {"", ""},
    {"größe", "∞ 😀"},
};
enum { TEXTS = sizeof sample_text / sizeof *sample_text };

static void check_sample(const struct tensor_file *file)
{
    assert_int_equal(file->tensors, SAMPLE);
    for (size_t i = 0; i < SAMPLE; i++) {
        const struct tensor *t = &file->tensor[i];
        const void *data;
        smurf_error err;
        assert_string_equal(t->name, sample[i].name);
        assert_int_equal(smurf_tensor_bytes(t), smurf_tensor_bytes(&sample[i]));
        if (smurf_tensors_need(file, &sample[i], &data, &err)) fail_msg("%s", err.message);
        assert_ptr_equal(data, t->data);
        assert_int_equal((uintptr_t)data % smurf_tensor_type_size(t->type), 0);
        if (sample[i].data) assert_memory_equal(data, sample[i].data, smurf_tensor_bytes(t));
    }
    assert_int_equal((uintptr_t)file->tensor[0].data % 64, 0);
    assert_int_equal(file->texts, TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        assert_string_equal(file->text[i].key, sample_text[i].key);
        assert_string_equal(smurf_tensors_text(file, sample_text[i].key), sample_text[i].value);
    }
    assert_null(smurf_tensors_text(file, "none"));
    assert_null(smurf_tensors_find(file, "none"));
}

/* ---- Writing and reading ----------------------------------------------------------------------- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct tensor_file file;
    write_ok(in_folder("m"), sample, SAMPLE, sample_text, TEXTS);
    open_ok(&file, in_folder("m"));
    check_sample(&file);
    smurf_tensors_close(&file);
    smurf_tensors_close(&file);
}

static void nothing_at_all(void **state)
{
    (void)state;
    struct tensor_file file;
    write_ok(in_folder("m"), NULL, 0, NULL, 0);
    open_ok(&file, in_folder("m"));
    assert_int_equal(file.tensors, 0);
    assert_int_equal(file.texts, 0);
    smurf_tensors_close(&file);
}

static void every_type_and_rank(void **state)
{
    (void)state;
    static const uint64_t zeros[4] = {0};
    for (int type = 0; type < TENSOR_TYPES; type++)
        for (int rank = 0; rank <= TENSOR_RANK; rank++) {
            struct tensor_file file;
            const void *data;
            struct tensor t = {"t", (enum tensor_type)type, rank, {1, 2, 1, 1, 1, 2, 1, 1}, zeros};
            write_ok(in_folder("m"), &t, 1, NULL, 0);
            open_ok(&file, in_folder("m"));
            assert_int_equal(smurf_tensors_need(&file, &t, &data, NULL), SMURF_OK);
            smurf_tensors_close(&file);
        }
}

static void the_bytes_are_these(void **state)
{
    (void)state;
    const char header[] = "{\"__metadata__\":{\"k\":\"\\\"\"},"
                          "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                          "\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[2,10]}}";
    const struct tensor tensor[] = {{"b", TENSOR_U8, 1, {2}, some_bytes}, {"a", TENSOR_F32, 2, {1, 2}, some_floats}};
    unsigned char *bytes[2];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        write_ok(in_folder("m"), tensor, 2, &(struct tensor_text){"k", "\""}, 1);
        bytes[i] = slurp(in_folder("m"), &n[i]);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    size_t length = bytes[0][0] + 256u * bytes[0][1];
    assert_int_equal((8 + length) % 64, 0);
    assert_int_equal(n[0], 8 + length + 10);
    assert_memory_equal(bytes[0] + 2, "\0\0\0\0\0\0", 6);
    assert_memory_equal(bytes[0] + 8, header, sizeof header - 1);
    for (size_t i = 8 + sizeof header - 1; i < 8 + length; i++) assert_int_equal(bytes[0][i], ' ');
    assert_memory_equal(bytes[0] + 8 + length, "\0\1\0\0\0\x3f\0\0\x80\xbf", 10);
    free(bytes[0]);
    free(bytes[1]);
}

static void expect_refusal(struct tensor tensor, const char *text)
{
    smurf_error err;
    struct tensor two[] = {{"twice", TENSOR_U8, 0, {0}, some_bytes}, tensor};
    assert_int_equal(smurf_tensors_write(in_folder("refused"), two, 2, NULL, 0, &err), SMURF_ERROR_ARGUMENT);
    expect_message(&err, text);
    assert_int_equal(access(in_folder("refused"), F_OK), -1);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    smurf_error err;
    const enum tensor_type none = TENSOR_TYPES;
    expect_refusal((struct tensor){"", TENSOR_U8, 0, {0}, some_bytes}, "name ''");
    expect_refusal((struct tensor){NULL, TENSOR_U8, 0, {0}, some_bytes}, "name ''");
    expect_refusal((struct tensor){"__metadata__", TENSOR_U8, 0, {0}, some_bytes}, "name '__metadata__'");
    expect_refusal((struct tensor){"twice", TENSOR_U8, 0, {0}, some_bytes}, "'twice' is given twice");
    expect_refusal((struct tensor){"\xff", TENSOR_U8, 0, {0}, some_bytes}, "must be UTF-8");
    expect_refusal((struct tensor){"t", TENSOR_U8, 1, {1}, NULL}, "'t' has no data");
    expect_refusal((struct tensor){"t", TENSOR_U8, 9, {1}, some_bytes}, "this type and shape");
    expect_refusal((struct tensor){"t", TENSOR_U8, -1, {1}, some_bytes}, "this type and shape");
    expect_refusal((struct tensor){"t", none, 0, {1}, some_bytes}, "this type and shape");
    expect_refusal((struct tensor){"t", TENSOR_F64, 2, {SIZE_MAX / 8, 2}, some_bytes}, "this type and shape");
    expect_refusal((struct tensor){"t", TENSOR_U8, 2, {0, SIZE_MAX}, some_bytes}, "this type and shape");
    expect_refusal((struct tensor){"t", TENSOR_U8, 1, {PTRDIFF_MAX}, some_bytes}, "this type and shape");
    const struct tensor_text wrong[][2] = {{{"a", "1"}, {"a", "2"}}, {{"a", "\xff"}, {0}}, {{"\xc3", ""}, {0}}};
    const char *const told[] = {"'a' is given twice", "text of 'a'", "must be UTF-8"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(smurf_tensors_write(in_folder("refused"), NULL, 0, wrong[i], 2, &err), SMURF_ERROR_ARGUMENT);
        expect_message(&err, told[i]);
    }
}

static void what_is_needed_but_not_there(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    const void *data = some_bytes;
    write_ok(in_folder("m"), sample, SAMPLE, NULL, 0);
    open_ok(&file, in_folder("m"));
    const struct {
        struct tensor wanted;
        const char *told;
    } cases[] = {
        {{"bias", TENSOR_F32, 1, {3}, NULL}, "/m: there is no tensor 'bias', F32 [3] is needed"},
        {{"weight", TENSOR_F64, 2, {2, 3}, NULL}, "/m: tensor 'weight' is F32 [2, 3], but F64 [2, 3] is needed"},
        {{"weight", TENSOR_F32, 2, {3, 2}, NULL}, "is F32 [2, 3], but F32 [3, 2] is needed"},
        {{"weight", TENSOR_F32, 1, {6}, NULL}, "is F32 [2, 3], but F32 [6] is needed"},
        {{"weight", TENSOR_F32, 0, {0}, NULL}, "is F32 [2, 3], but F32 [] is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(smurf_tensors_need(&file, &cases[i].wanted, &data, &err), SMURF_ERROR_INPUT);
        assert_null(data);
        expect_message(&err, cases[i].told);
    }
    const struct tensor impossible = {"weight", TENSOR_F32, 9, {0}, NULL};
    assert_int_equal(smurf_tensors_need(&file, &impossible, &data, &err), SMURF_ERROR_ARGUMENT);
    smurf_tensors_close(&file);
}

/* ---- Files of others, whole and broken ---------------------------------------------------------- */

/* A file of this header and `data` bytes 0, 1, 2, ..., in memory. */
static smurf_status open_made(struct tensor_file *file, const char *header, size_t data, smurf_error *err)
{
    unsigned char bytes[2048] = {0};
    size_t n = strlen(header);
    assert_true(8 + n + data <= sizeof bytes);
    bytes[0] = (unsigned char)n, bytes[1] = (unsigned char)(n >> 8);
    memcpy(bytes + 8, header, n);
    for (size_t i = 0; i < data; i++) bytes[8 + n + i] = (unsigned char)i;
    return smurf_tensors_open_memory(file, bytes, 8 + n + data, "x", err);
}

#define ENTRY(type, shape, begin, end)                                                                                 \
    "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void headers_of_others(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    const char *header = "{ \"last\" : " ENTRY("U16", "[2]", "9", "13") ",\n \"empty\": " ENTRY(
        "F64", "[0]", "9", "9") ","
                                "\"first\":" ENTRY("U8", "[]", "0", "1") ", \"\\u00e9\":" ENTRY(
                                    "F64", "[1]", "1", "9") ", \"__metadata__\": {}}  \n\t ";
    if (open_made(&file, header, 13, &err)) fail_msg("%s", err.message);
    const char *const order[] = {"first", "é", "empty", "last"};
    assert_int_equal(file.tensors, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(file.tensor[i].name, order[i]);
        assert_int_equal((uintptr_t)file.tensor[i].data % smurf_tensor_type_size(file.tensor[i].type), 0);
    }
    assert_memory_equal(file.tensor[1].data, "\1\2\3\4\5\6\7\10", 8);
    assert_memory_equal(file.tensor[3].data, "\11\12\13\14", 4);
    smurf_tensors_close(&file);
}

static void broken_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *told;
    } cases[] = {
        {"", 0, "x: byte 8: the header does not start with '{'"},
        {"[]", 0, "byte 8: the header does not start with '{'"},
        {" {}", 0, "byte 8: the header does not start with '{'"},
        {"{", 0, "x: byte 9: the header is not JSON"},
        {"{}x", 0, "the header is not JSON"},
        {"{}", 1, "x: byte 10: trailing data after the last tensor"},
        {"{\"a\":1,\"a\":1}", 0, "duplicate"},
        {"{\"\xff\":1}", 0, "the header is not JSON"},
        {"{\"a\\u0000\":1}", 0, "the header is not JSON"},
        {"{\"a\":1}", 0, "tensor 'a' needs a name, a dtype"},
        {"{\"a\":{}}", 0, "tensor 'a' needs"},
        {"{\"a\":null}", 0, "tensor 'a' needs"},
        {"{\"\":" ENTRY("U8", "[1]", "0", "1") "}", 1, "tensor '' needs"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"more\":1}}", 1, "tensor 'a' needs"},
        {"{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "tensor 'a' needs"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}}", 1, "tensor 'a' needs"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "1", "0", "1") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[1.0]", "0", "1") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[-1]", "0", "1") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[\"1\"]", "0", "1") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[1]", "-1", "0") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[1]", "1", "0") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[1]", "0", "true") "}", 1, "tensor 'a' needs"},
        {"{\"a\":" ENTRY("U8", "[1]", "0", "99999999999999999999") "}", 1, "the header is not JSON"},
        {"{\"a\":" ENTRY("F99", "[1]", "0", "1") "}", 1, "tensor 'a' is of type 'F99'"},
        {"{\"a\":" ENTRY("", "[1]", "0", "1") "}", 1, "tensor 'a' is of type ''"},
        {"{\"a\":" ENTRY("U8", "[1,1,1,1,1,1,1,1,1]", "0", "1") "}", 1, "tensor 'a' has 9 dimensions, but at most 8"},
        {"{\"a\":" ENTRY("F64", "[4294967296,4294967296]", "0", "0") "}", 0, "tensor 'a' is too large"},
        {"{\"a\":" ENTRY("F64", "[2305843009213693952]", "0", "0") "}", 0, "tensor 'a' is too large"},
        {"{\"a\":" ENTRY("F32", "[2]", "0", "4") "}", 4,
         "x: byte 62: tensor 'a' has 4 bytes, but its type and shape make 8"},
        {"{\"a\":" ENTRY("U8", "[2]", "0", "2") ",\"b\":" ENTRY("U8", "[2]", "1", "3") "}", 3,
         "byte 114: tensors 'a' and 'b' overlap"},
        {"{\"a\":" ENTRY("U8", "[2]", "0", "2") ",\"b\":" ENTRY("U8", "[0]", "1", "1") "}", 2, "'a' and 'b' overlap"},
        {"{\"a\":" ENTRY("U8", "[2]", "0", "2") ",\"b\":" ENTRY("U8", "[2]", "3", "5") "}", 5,
         "byte 115: 1 bytes before tensor 'b' belong to none"},
        {"{\"a\":" ENTRY("U8", "[2]", "0", "2") "}", 1, "x: the file ends after 62 of 63 bytes, in tensor 'a'"},
        {"{\"a\":" ENTRY("U8", "[2]", "0", "2") "}", 3, "x: byte 63: trailing data after the last tensor"},
        {"{\"a\":" ENTRY("U8", "[9223372036854775807]", "0", "9223372036854775807") "}", 3, "ends after 100 of"},
        {"{\"__metadata__\":[]}", 0, "\"__metadata__\" is not an object"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "'k' of \"__metadata__\" is not a string"},
        {"{\"__metadata__\":{\"k\":\"a\",\"k\":\"b\"}}", 0, "duplicate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tensor_file file;
        smurf_error err;
        smurf_status status = open_made(&file, cases[i].header, cases[i].data, &err);
        if (status != SMURF_ERROR_INPUT) fail_msg("accepted: %s", cases[i].header);
        expect_message(&err, cases[i].told);
        assert_int_equal(strncmp(err.message, "x: ", 3), 0);
        assert_null(file.data);
    }
}

static void lengths_of_headers(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    const struct {
        unsigned char bytes[16];
        size_t n;
        const char *told;
    } cases[] = {
        {{0}, 0, "ends after 0 bytes, before its header (the file was cut off"},
        {{0}, 7, "ends after 7 bytes, before its header"},
        {{9, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, 10, "ends after 10 bytes, inside its header of 9 (the file was cut off"},
        {{1, 0, 0, 1, 0, 0, 0, 0, '{', '}'}, 10, "byte 0 announces a header of 16777217 bytes, and 16777216"},
        {{0, 0, 0, 1, 0, 0, 0, 0, '{', '}'}, 10, "inside its header of 16777216"},
        {{255, 255, 255, 255, 255, 255, 255, 255, '{', '}'}, 10, "a header of 18446744073709551615 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(smurf_tensors_open_memory(&file, cases[i].bytes, cases[i].n, "x", &err), SMURF_ERROR_INPUT);
        expect_message(&err, cases[i].told);
    }
}

static void deep_headers(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    struct tensor_file file;
    smurf_error err;
    char *bytes = malloc(8 + DEEP);
    assert_non_null(bytes);
    memcpy(bytes, &(uint64_t){DEEP}, 8);
    memset(bytes + 8, '[', DEEP);
    memcpy(bytes + 8, "{\"a\":", 5);
    assert_int_equal(smurf_tensors_open_memory(&file, bytes, 8 + DEEP, "x", &err), SMURF_ERROR_INPUT);
    expect_message(&err, "too many levels");
    free(bytes);
}

/* Names longer than a message leave room for what is wrong with them. */
static void long_names(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    char header[1600];
    snprintf(header, sizeof header, "{\"%01500d\":" ENTRY("F99", "[1]", "0", "1") "}", 0);
    assert_int_equal(open_made(&file, header, 1, &err), SMURF_ERROR_INPUT);
    expect_message(&err, "is of type 'F99'");
}

static void every_cut_and_every_flip(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    size_t n;
    write_ok(in_folder("m"), sample, SAMPLE, sample_text, TEXTS);
    unsigned char *bytes = slurp(in_folder("m"), &n);
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(smurf_tensors_open_memory(&file, bytes, cut, "x", &err), SMURF_ERROR_INPUT);
        expect_message(&err, "cut off");
        if (truncate(in_folder("m"), (off_t)(n - 1 - cut)) != 0) fail();
        assert_int_equal(smurf_tensors_open(&file, in_folder("m"), &err), SMURF_ERROR_INPUT);
        expect_message(&err, "cut off");
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1 << bit);
            if (!smurf_tensors_open_memory(&file, bytes, n, "x", &err)) smurf_tensors_close(&file);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    free(bytes);
}

/* ---- Files that are no plain files, and disks that are full -------------------------------------- */

static void what_cannot_be_opened(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    assert_int_equal(smurf_tensors_open(&file, in_folder("none"), &err), SMURF_ERROR_IO);
    expect_message(&err, "cannot open");
    assert_int_equal(smurf_tensors_open(&file, folder, &err), SMURF_ERROR_IO);
    expect_message(&err, "is a directory");
    assert_int_equal(smurf_tensors_write(folder, NULL, 0, NULL, 0, &err), SMURF_ERROR_IO);
    assert_int_equal(smurf_tensors_write(in_folder("none/m"), NULL, 0, NULL, 0, &err), SMURF_ERROR_IO);
}

/* Writes the sample into a pipe of that name and reads it back; a pipe holds 64 KiB. */
static void through_a_pipe(void **state)
{
    (void)state;
    struct tensor_file file;
    struct stat about;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    int hold = open(in_folder("pipe"), O_RDWR | O_CLOEXEC);
    assert_true(hold >= 0);
    write_ok(in_folder("pipe"), sample, SAMPLE, sample_text, TEXTS);
    assert_int_equal(stat(in_folder("pipe"), &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    int reader = open(in_folder("pipe"), O_RDONLY | O_CLOEXEC), standard = dup(STDIN_FILENO);
    close(hold); /* now the pipe ends */
    assert_int_equal(dup2(reader, STDIN_FILENO), STDIN_FILENO);
    close(reader);
    open_ok(&file, "-");
    check_sample(&file);
    smurf_tensors_close(&file);
    dup2(standard, STDIN_FILENO);
    close(standard);
    unlink(in_folder("pipe"));
}

/* More than fits the first room for what comes from a pipe; and the same with the end cut off. */
static void much_through_a_pipe(void **state)
{
    (void)state;
    enum { N = 700001 };
    struct tensor_file file;
    smurf_error err;
    double *values = malloc(N * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < N; i++) values[i] = (double)i;
    const struct tensor tensor = {"t", TENSOR_F64, 1, {N}, values};
    write_ok(in_folder("m"), &tensor, 1, NULL, 0);
    for (int cut = 0; cut < 2; cut++) {
        char command[600];
        snprintf(command, sizeof command, "head -c -%d %s/m", cut, folder);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        int standard = dup(STDIN_FILENO);
        dup2(fileno(pipe), STDIN_FILENO);
        smurf_status status = smurf_tensors_open(&file, "-", &err);
        dup2(standard, STDIN_FILENO);
        close(standard);
        pclose(pipe);
        if (cut == 0) {
            assert_int_equal(status, SMURF_OK);
            assert_memory_equal(file.tensor[0].data, values, N * sizeof *values);
            assert_int_equal((uintptr_t)file.tensor[0].data % 64, 0);
            smurf_tensors_close(&file);
        } else {
            assert_int_equal(status, SMURF_ERROR_INPUT);
            expect_message(&err, "standard input: the file ends after 5600135 of 5600136 bytes, in tensor 't'");
        }
    }
    unlink(in_folder("m"));
    free(values);
}

static void a_full_disk(void **state)
{
    (void)state;
    struct tensor_file file;
    smurf_error err;
    struct stat about;
    write_ok(in_folder("m"), sample, SAMPLE, sample_text, TEXTS);
    size_t before = files_in_folder();
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 100; /* stands for a disk with 100 bytes left */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    smurf_status status = smurf_tensors_write(in_folder("m"), sample, SAMPLE, NULL, 0, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, SMURF_ERROR_IO);
    expect_message(&err, "cannot write");
    assert_int_equal(files_in_folder(), before);
    open_ok(&file, in_folder("m"));
    check_sample(&file);
    smurf_tensors_close(&file);
    assert_int_equal(smurf_tensors_write("/dev/full", sample, SAMPLE, NULL, 0, &err), SMURF_ERROR_IO);
    expect_message(&err, "no space left");
    assert_int_equal(stat("/dev/full", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    write_ok("/dev/null", sample, SAMPLE, NULL, 0);
}

/* ---- The program --------------------------------------------------------------------------------- */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("m"));
    return rmdir(folder);
}

static int copy(const char *from, const char *to)
{
    struct tensor_file file;
    smurf_error err;
    smurf_status status = smurf_tensors_open(&file, from, &err);
    if (!status) {
        status = smurf_tensors_write(to, file.tensor, file.tensors, file.text, file.texts, &err);
        smurf_tensors_close(&file);
    }
    if (status) fprintf(stderr, "%s\n", err.message);
    return status != SMURF_OK;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "copy") == 0) return copy(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(every_type_and_rank),
        cmocka_unit_test(the_bytes_are_these),
        cmocka_unit_test(what_cannot_be_written),
        cmocka_unit_test(what_is_needed_but_not_there),
        cmocka_unit_test(headers_of_others),
        cmocka_unit_test(broken_headers),
        cmocka_unit_test(lengths_of_headers),
        cmocka_unit_test(deep_headers),
        cmocka_unit_test(long_names),
        cmocka_unit_test(every_cut_and_every_flip),
        cmocka_unit_test(what_cannot_be_opened),
        cmocka_unit_test(through_a_pipe),
        cmocka_unit_test(much_through_a_pipe),
        cmocka_unit_test(a_full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
