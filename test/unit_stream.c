/* unit_stream.c - events as they arrive: the same as from a file, at once, and on behind a wrong line. */
#include "stream_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static smurf_stream *open_text(struct arriving *a, const smurf_read_config *config)
{
    smurf_stream *stream;
    smurf_error err;
    if (smurf_stream_new_reader(&stream, arriving_read, a, "pipe", config, &err)) fail_msg("%s", err.message);
    return stream;
}

static const smurf_piece *next(smurf_stream *stream, size_t most)
{
    const smurf_piece *piece;
    smurf_error err;
    if (smurf_stream_next(stream, most, &piece, &err)) fail_msg("%s", err.message);
    return piece;
}

static smurf_data *read_whole(const char *text, size_t size)
{
    smurf_data *data;
    smurf_error err;
    if (smurf_data_read_memory(&data, text, size, "pipe", NULL, &err)) fail_msg("%s", err.message);
    return data;
}

/* ---- The same as from a file ----------------------------------------------------------------- */

static void check_same(const char *text, size_t size, size_t chunk, size_t most)
{
    smurf_data *whole = read_whole(text, size);
    size_t *at = calloc(smurf_data_sequences(whole), sizeof *at), finished = 0;
    struct arriving a = {.text = text, .size = size, .chunk = chunk};
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.as = smurf_data_reading(whole); /* a stream cannot look at a sample first */
    smurf_stream *stream = open_text(&a, &config);
    const smurf_piece *piece;
    while ((piece = next(stream, most)))
        if (!take_piece(whole, at, &finished, piece)) fail_msg("%.60s: other events at %zu", text, a.at);
    assert_true(all_taken(whole, at));
    assert_null(next(stream, most)); /* the end stays the end */
    smurf_stream_free(stream);
    smurf_data_free(whole);
    free(at);
}

static const char *const texts[] = {
    "user,time,type\nx,1,a\ny,1,b\nx,2.5,a\ny,3,a\n",
    "time\n1\n2\n3",
    "t\n1\n",
    "\xEF\xBB\xBFtime,type\r\n1,0\r\n2.5,3\r\n",
    "\n \n\nuser\ttime\ttype\nx\t1\ta\n\n\n x\t2\tb\n\n",
    "note,time,\"type\"\n\"a \"\"b\"\",\n c\",1,\"x,y\"\n5\" pipe,2,\" \"\n\"\n\n\",3,z\n",
    "user;time\nx;2024-01-31T12:00:00.25Z\nx;2024-01-31T12:00:01Z\n",
    "time\n1700000000000000001\n1700000000000000002\n1700000000000000004\n",
    "time,observation_start,observation_end\n1,0,9\n2,0,9\n",
    "{\"times\":[1,2],\"types\":[\"a\",\"b\"]}\n{\"user\":\"u\",\"times\":[],\"types\":[]}\n{\"times\":[3],\"types\":["
    "\"b\"]}",
    "\xEF\xBB\xBF{\"user\":\"wide\",\n \"times\":[1,2,\n3], \"types\":[\"a\",\n\"b\",\"a\"], "
    "\"note\":\"}]\\\"\\n{\\u00e9\"}\r\n",
    "{\"times\":[-2.5e-1,1e0],\"types\":[0,1]} {\"times\":[3],\"types\":[1]}\n\n\n{\"times\":[4],\"types\":[1]}",
    "{\"user\":\"x\",\"time\":1,\"type\":\"a\",\"tags\":[\"time\",[]]}\n{\"user\":\"y\",\"time\":1,\"type\":\"b\"}\n"
    "{\"user\":\"x\",\"time\":2,\"type\":\"b\"}\n",
    "{\"time\":1,\"type\":3}\n{\"time\":2,\"type\":0}\n",
    "{\"type_names\":[\"a\",\"b\"],\"unit\":\"h\",\"times\":[1],\"types\":[1]}\n{\"times\":[1,2],\"types\":[0,1]}\n",
    "{\"dim_process\":2,\"train\":[{\"times\":[1],\"types\":[1]},{\"times\":[2],\"types\":[0]}]}\n",
    "[{\"times\":[1],\"types\":[1]},\n{\"times\":[2],\"types\":[0]}]\n",
};

static void same_as_from_a_file(void **state)
{
    (void)state;
    static const size_t chunk[] = {1, 2, 3, 7, 64, 1 << 20};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof chunk / sizeof *chunk; j++)
            for (size_t most = 0; most < 3; most++) check_same(texts[i], strlen(texts[i]), chunk[j], most);
}

static void very_long_lines(void **state)
{
    (void)state;
    enum { N = 3000000, EVENTS = 200000 };
    char *text = malloc(N + 100), *p = text;
    p += sprintf(p, "note,time\n\"");
    memset(p, '\n', N);
    p += N;
    p += sprintf(p, "\",1\n\"x\",2\n");
    check_same(text, (size_t)(p - text), 10000, 1);
    free(text);
    p = text = malloc(EVENTS * 8 + 100);
    p += sprintf(p, "{\"times\":[0");
    for (int i = 1; i < EVENTS; i++) p += sprintf(p, ",%d", i);
    p += sprintf(p, "]}\n{\"times\":[1]}\n");
    check_same(text, (size_t)(p - text), 10000, 1);
    free(text);
}

static void other_formats_come_whole(void **state)
{
    (void)state;
    smurf_write_config config;
    smurf_write_config_init(&config);
    config.format = "pickle";
    smurf_data *data = read_whole(texts[0], strlen(texts[0]));
    void *bytes;
    size_t size;
    assert_int_equal(smurf_data_write_memory(data, &bytes, &size, &config, NULL), SMURF_OK);
    smurf_data_free(data);
    struct arriving a = {.text = bytes, .size = size, .chunk = 5};
    smurf_stream *stream = open_text(&a, NULL);
    const smurf_piece *piece = next(stream, 1);
    assert_true(piece && piece->whole);
    assert_int_equal(smurf_data_events(piece->data), 4);
    assert_null(next(stream, 1));
    smurf_stream_free(stream);
    smurf_free(bytes);
}

static void gzip_is_undone(void **state)
{
    (void)state;
    char path[] = "/tmp/unit_stream-XXXXXX.csv.gz";
    int fd = mkstemps(path, 7);
    assert_true(fd >= 0);
    close(fd);
    smurf_data *data = read_whole(texts[0], strlen(texts[0]));
    smurf_error err;
    smurf_status status = smurf_data_write(data, path, NULL, &err);
    smurf_stream *stream = NULL;
    if (!status) {
        assert_int_equal(smurf_stream_new(&stream, path, NULL, &err), SMURF_OK);
        size_t at[2] = {0}, finished = 0;
        for (const smurf_piece *piece; (piece = next(stream, 1));) assert_true(take_piece(data, at, &finished, piece));
        assert_true(all_taken(data, at));
        smurf_stream_free(stream);
    }
    smurf_data_free(data);
    unlink(path);
    if (status == SMURF_ERROR_UNSUPPORTED) skip();
    assert_int_equal(status, SMURF_OK);
}

/* ---- At once --------------------------------------------------------------------------------- */

/* Gives one line at a time, and only when the events of all lines before have been handed over. */
struct lines {
    const char *text;
    size_t header, given, taken;
};

static ptrdiff_t read_line(void *context, void *bytes, size_t room)
{
    struct lines *l = context;
    size_t n = strcspn(l->text, "\n");
    n += l->text[n] == '\n';
    assert_true(n <= room);
    if (l->given > l->header) assert_int_equal(l->taken, l->given - l->header);
    l->given++;
    memcpy(bytes, l->text, n);
    l->text += n;
    return (ptrdiff_t)n;
}

static void an_event_comes_with_its_line(void **state)
{
    (void)state;
    static const struct lines cases[] = {
        {"user,time,type\nx,1,a\ny,1,b\nx,2,a\n", 1, 0, 0},
        {"{\"times\":[1],\"types\":[2]}\n{\"times\":[1,2],\"types\":[2,3]}\n{\"times\":[1],\"types\":[2]}\n", 0, 0, 0},
        {"{\"time\":1,\"type\":2}\n{\"time\":1.5,\"type\":2}\n{\"time\":12,\"type\":2}\n", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t most = 0; most < 3; most++) {
            struct lines l = cases[i];
            smurf_stream *stream;
            assert_int_equal(smurf_stream_new_reader(&stream, read_line, &l, NULL, NULL, NULL), SMURF_OK);
            for (const smurf_piece *piece; (piece = next(stream, most)); l.taken++) {
                assert_int_equal(smurf_data_sequences(piece->data), 1);
                assert_int_equal(piece->line, l.taken + l.header + 1);
            }
            assert_int_equal(l.taken, 3);
            smurf_stream_free(stream);
        }
}

static void what_is_there_comes_together(void **state)
{
    (void)state;
    struct arriving a = {.text = texts[0], .size = strlen(texts[0]), .chunk = 1 << 16};
    smurf_stream *stream = open_text(&a, NULL);
    const smurf_piece *piece = next(stream, 3);
    assert_int_equal(smurf_data_events(piece->data), 3);
    assert_int_equal(smurf_data_sequences(piece->data), 2);
    assert_int_equal(piece->line, 2);
    assert_int_equal(piece->whole, 0);
    piece = next(stream, 0);
    assert_int_equal(smurf_data_events(piece->data), 1);
    assert_string_equal(smurf_data_sequence(piece->data, 0)->name, "y");
    smurf_stream_free(stream);
}

static void clocks_keep_their_digits(void **state)
{
    (void)state;
    static const char text[] = "time\n1700000000000000001.25\n";
    struct arriving a = {.text = text, .size = strlen(text), .chunk = 9};
    smurf_stream *stream = open_text(&a, NULL);
    const smurf_sequence *s = smurf_data_sequence(next(stream, 1)->data, 0);
    smurf_moment m;
    assert_true(smurf_moment_after(&m, (smurf_moment){s->origin, 0}, s->time[0]));
    assert_true(m.whole == 1700000000000000001 && m.fraction == 0.25);
    smurf_stream_free(stream);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* A stream in which the lines in `wrong` are refused, and all other events come. */
static void check_errors(const char *text, size_t most, const uint64_t *wrong, size_t events)
{
    struct arriving a = {.text = text, .size = strlen(text), .chunk = most ? 4 : 1 << 16};
    smurf_stream *stream = open_text(&a, NULL);
    const smurf_piece *piece;
    smurf_error err;
    size_t got = 0;
    for (;;) {
        if (smurf_stream_next(stream, most, &piece, &err)) {
            assert_null(piece);
            assert_int_equal(err.status, SMURF_ERROR_INPUT);
            assert_string_equal(err.file, "pipe");
            if (err.line != *wrong) fail_msg("%s: line %zu was expected", err.message, (size_t)*wrong);
            wrong++;
            continue;
        }
        if (!piece) break;
        got += smurf_data_events(piece->data);
    }
    assert_int_equal(*wrong, 0);
    assert_int_equal(got, events);
    smurf_stream_free(stream);
}

static void wrong_lines_are_passed_over(void **state)
{
    (void)state;
    for (size_t most = 0; most < 3; most++) {
        check_errors("user,time,type\nx,1,a\nx,oops,a\nx,2,a\nz,1,2,3\nnew,,a\nx,3,\nx,4,a\n", most,
                     (uint64_t[]){3, 5, 6, 7, 0}, 3);
        check_errors("time,observation_end\n1,\n2,1.5\n3,\n", most, (uint64_t[]){3, 0}, 2);
        check_errors(
            "{\"times\":[1]}\n{\"times\":[1,x]}\n{\"times\":[1,2],\"types\":[0]}\nnonsense\n{\"times\":[4,5]}\n"
            "{\"a\":\"\n\"}\n{\"time\":3}\n{\"times\":[2]",
            most, (uint64_t[]){2, 3, 4, 6, 7, 8, 9, 0}, 3);
        check_errors("{\"time\":1,\"type\":1}\n{\"time\":\"x\",\"type\":1}\n{\"time\":2,\"type\":1}\n", most,
                     (uint64_t[]){2, 0}, 2);
    }
    check_errors("time\n1\n5\n4\n6\n", 0, (uint64_t[]){4, 0}, 3); /* out of order within a piece */
}

static void refuse(const char *text, const char *says)
{
    struct arriving a = {.text = text, .size = strlen(text), .chunk = 3};
    smurf_stream *stream = open_text(&a, NULL);
    const smurf_piece *piece;
    smurf_error err;
    assert_int_equal(smurf_stream_next(stream, 1, &piece, &err), SMURF_ERROR_INPUT);
    if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
    assert_null(next(stream, 1));
    smurf_stream_free(stream);
    a.at = 0;
    stream = open_text(&a, NULL);
    assert_int_equal(smurf_stream_next(stream, 1, &piece, NULL), SMURF_ERROR_INPUT); /* err may be NULL */
    smurf_stream_free(stream);
}

static void nothing_to_read(void **state)
{
    (void)state;
    refuse("", "pipe: the file is empty");
    refuse("\n \n", "pipe: the file is empty");
    refuse("time,type\n", "pipe: there is a header but no event below it");
    refuse("name,type\n1,2\n", "pipe:1: no column of times");
    refuse("{}\n", "pipe:1: no times in the object");
    refuse("{\"train\":[]}\n", "pipe: there are no sequences in it");
}

static ptrdiff_t fail_later(void *context, void *bytes, size_t room)
{
    int *calls = context;
    (void)room;
    if ((*calls)++) return -1;
    memcpy(bytes, "time\n1\n2", 8);
    return 8;
}

static int stop_later(void *context, const smurf_progress *p)
{
    assert_string_equal(p->what, "reading pipe");
    return ++*(int *)context > 2;
}

static void sources_that_fail(void **state)
{
    (void)state;
    int calls = 0;
    smurf_stream *stream;
    smurf_error err;
    const smurf_piece *piece;
    assert_int_equal(smurf_stream_new_reader(&stream, fail_later, &calls, "pipe", NULL, &err), SMURF_OK);
    assert_int_equal(smurf_data_events(next(stream, 0)->data), 1);
    assert_int_equal(smurf_stream_next(stream, 0, &piece, &err), SMURF_ERROR_IO);
    assert_string_equal(err.message, "cannot read 'pipe': the caller's function failed");
    assert_null(next(stream, 0));
    smurf_stream_free(stream);

    smurf_read_config config;
    smurf_read_config_init(&config);
    calls = 0;
    config.progress = stop_later;
    config.progress_context = &calls;
    struct arriving a = {.text = texts[0], .size = strlen(texts[0]), .chunk = 20};
    stream = open_text(&a, &config);
    next(stream, 0);
    assert_int_equal(smurf_stream_next(stream, 0, &piece, &err), SMURF_ERROR_CANCELLED);
    assert_string_equal(err.message, "stopped while reading pipe");
    smurf_stream_free(stream);

    assert_int_equal(smurf_stream_new(&stream, "/nowhere/x.csv", NULL, &err), SMURF_ERROR_IO);
    assert_null(stream);
    assert_string_equal(err.file, "/nowhere/x.csv");
    assert_int_equal(smurf_stream_new(&stream, "/", NULL, &err), SMURF_ERROR_IO);
    smurf_stream_free(NULL);
    config.progress = NULL;
    config.format = "xml";
    a.at = 0;
    stream = open_text(&a, &config);
    assert_int_equal(smurf_stream_next(stream, 0, &piece, &err), SMURF_ERROR_ARGUMENT);
    smurf_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_from_a_file),
        cmocka_unit_test(very_long_lines),
        cmocka_unit_test(other_formats_come_whole),
        cmocka_unit_test(gzip_is_undone),
        cmocka_unit_test(an_event_comes_with_its_line),
        cmocka_unit_test(what_is_there_comes_together),
        cmocka_unit_test(clocks_keep_their_digits),
        cmocka_unit_test(wrong_lines_are_passed_over),
        cmocka_unit_test(nothing_to_read),
        cmocka_unit_test(sources_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
