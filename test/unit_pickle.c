/*
 * unit_pickle.c - the pickle reader on hand-made bytes: every opcode it knows, every error, hostile input.
 *
 * Most cases put one value in the place of the time or the type of the only event of
 * [[{'times': value, 'types': value}]] and look at what comes out.
 */
#include "data/format.h"
#include "smurf_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Bytes that may hold NUL. */
struct bytes {
    const char *at;
    size_t n;
};
#define B(text) ((struct bytes){"" text, sizeof text - 1})

struct buffer {
    char *at;
    size_t n, room;
};

static void add(struct buffer *b, struct bytes more)
{
    if (b->n + more.n > b->room) {
        b->room = 2 * (b->n + more.n);
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->n, more.at, more.n);
    b->n += more.n;
}

static void add_times(struct buffer *b, struct bytes more, size_t times)
{
    while (times-- > 0) add(b, more);
}

static smurf_data *read_ok(struct bytes pickle, const char *key)
{
    smurf_error err;
    smurf_data *data;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = "pickle";
    config.key = key;
    if (smurf_data_read_memory(&data, pickle.at, pickle.n, "x.pkl", &config, &err)) fail_msg("%s", err.message);
    assert_non_null(data);
    return data;
}

static void expect_error(struct bytes pickle, const char *key, const char *text)
{
    smurf_error err;
    smurf_data *data;
    smurf_read_config config;
    smurf_read_config_init(&config);
    config.format = "pickle";
    config.key = key;
    config.sort = 0;
    smurf_status status = smurf_data_read_memory(&data, pickle.at, pickle.n, "x.pkl", &config, &err);
    assert_int_equal(status, SMURF_ERROR_INPUT);
    assert_null(data);
    if (strncmp(err.message, "x.pkl: ", 7) != 0 || !strstr(err.message, text))
        fail_msg("expected '%s' in '%s'", text, err.message);
}

/* [[{'times': time, 'types': type}]] */
static struct buffer one_event(struct bytes time, struct bytes type)
{
    struct buffer b = {0};
    add(&b, B("\x80\x05]]}(X\5\0\0\0times"));
    add(&b, time);
    add(&b, B("X\5\0\0\0types"));
    add(&b, type);
    add(&b, B("uaa."));
    return b;
}

static void expect_time(struct bytes time, double expected)
{
    struct buffer b = one_event(time, B("K\0"));
    smurf_data *data = read_ok((struct bytes){b.at, b.n}, NULL);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_int_equal(s->length, 1);
    assert_true((double)s->origin + s->time[0] == expected);
    smurf_data_free(data);
    free(b.at);
}

static void expect_word(struct bytes type, const char *expected)
{
    struct buffer b = one_event(B("K\0"), type);
    smurf_data *data = read_ok((struct bytes){b.at, b.n}, NULL);
    assert_string_equal(smurf_data_type_name(data, 0), expected);
    smurf_data_free(data);
    free(b.at);
}

static void expect_time_error(struct bytes time, const char *text)
{
    struct buffer b = one_event(time, B("K\0"));
    expect_error((struct bytes){b.at, b.n}, NULL, text);
    free(b.at);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void numbers(void **state)
{
    (void)state;
    expect_time(B("K\xff"), 255);
    expect_time(B("M\x02\x01"), 258);
    expect_time(B("J\xfe\xff\xff\xff"), -2);
    expect_time(B("I-17\n"), -17);
    expect_time(B("I01\n"), 1);
    expect_time(B("L123456789012L\n"), 123456789012);
    expect_time(B("L5\n"), 5);
    expect_time(B("\x8a\0"), 0);
    expect_time(B("\x8a\1\xff"), -1);
    expect_time(B("\x8a\x05\0\0\0\0\1"), 0x1p32);
    expect_time(B("\x8b\2\0\0\0\0\x80"), -32768);
    expect_time(B("F-1.5e-3\n"), -1.5e-3);
    expect_time(B("G\x40\x09\x21\xfb\x54\x44\x2d\x18"), 3.141592653589793);
    expect_time(B("\x88"), 1);
    expect_time(B("\x89"), 0);
}

static void stack_and_memo(void **state)
{
    (void)state;
    expect_time(B("K\7"
                  "20"),
                7);
    expect_time(B("K\7(K\1K\2"
                  "1"),
                7);
    expect_time(B("(0K\7"), 7);
    expect_time(B("K\7p3\n0g3\n"), 7);
    expect_time(B("K\7q\5"
                  "0h\5"),
                7);
    expect_time(B("K\7r\5\0\0\0"
                  "0j\5\0\0\0"),
                7);
    expect_time(B("K\7\x94"
                  "0h\0"),
                7);
    expect_time(B("\x95\0\0\0\0\0\0\0\0K\7"), 7);
    /* The arguments of a call are not kept, unless something else may need them. */
    expect_time_error(B("c__builtin__\nbytes\n(tp9\nR0g9\n"), "memo number 9 is the arguments of a call");
    expect_time(B("c__builtin__\nbytes\n(tp8\n2p9\n0R0g9\n0K\7"), 7);
    expect_time(B("c__builtin__\nbytes\n(tp8\np9\nR0g9\n0g8\n0K\7"), 7);
}

static void texts(void **state)
{
    (void)state;
    expect_word(B("S'a\\x42\\'\\\\'\n"), "aB'\\");
    expect_word(B("S\"a'\"\n"), "a'");
    expect_word(B("T\2\0\0\0ab"), "ab");
    expect_word(B("U\2ab"), "ab");
    expect_word(B("Va\\u00e9\\U0001F600\xe9\n"), "a\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9");
    expect_word(B("X\2\0\0\0ab"), "ab");
    expect_word(B("\x8c\2ab"), "ab");
    expect_word(B("\x8d\2\0\0\0\0\0\0\0ab"), "ab");
    expect_word(B("B\2\0\0\0ab"), "ab");
    expect_word(B("C\2ab"), "ab");
    expect_word(B("\x8e\2\0\0\0\0\0\0\0ab"), "ab");
    expect_word(B("\x96\2\0\0\0\0\0\0\0ab"), "ab");
    expect_word(B("c_codecs\nencode\n(Va\\u00e9\nVlatin1\ntR"), "a\xc3\xa9");
    expect_word(B("c__builtin__\nbytearray\nC\2ab\x85R"), "ab");
    expect_word(B("\x8c\x08"
                  "builtins\x8c\x05"
                  "bytes\x93)R"),
                "");
}

/* One sequence with one event, time 2 and type 1, made in every way there is. */
static void containers(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "(l(l(dS'times'\nI2\nsS'types'\nI1\nsaa.",                                          /* protocol 0 */
        "(((S'times'\nI2\nS'types'\nI1\ndll.",                                              /* DICT, LIST */
        "(((S'times'\nI2\nS'types'\nI1\ndtt.",                                              /* TUPLE */
        "](](}(S'times'\nI2\nS'types'\nI1\nuee.",                                           /* SETITEMS, APPENDS */
        "}S'times'\nI2\nsS'types'\nI1\ns\x85\x85.",                                         /* TUPLE1 */
        "ccollections\nOrderedDict\n)RS'times'\nI2\nsS'types'\nI1\ns\x85\x85.",             /* Python 3 */
        "ccollections\nOrderedDict\n](S'times'\nI2\n\x86S'types'\nI1\n\206e\x85R\x85\x85.", /* Python 2 */
        "((dS'times'\n(I2\nlsS'types'\n(I1\nlsl.",                                          /* sequence of lists */
        "(dS'times'\n((I2\nttsS'types'\n((I1\ntts.",                                        /* lists of lists */
        "(dS'times'\n(I2\ntsS'types'\n(I1\nts.",                                            /* one sequence */
        "}(S'test'\n](}(S'times'\n(I2\nlS'types'\n(I1\nlueu.",                              /* in a split */
        "}(S'test'\n}(S'times'\n((I2\nllS'types'\n((I1\nlluu.",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        smurf_data *data = read_ok((struct bytes){ways[i], strlen(ways[i])}, NULL);
        assert_int_equal(smurf_data_sequences(data), 1);
        assert_int_equal(smurf_data_sequence(data, 0)->length, 1);
        assert_true(smurf_data_sequence(data, 0)->time[0] == 2);
        assert_int_equal(smurf_data_sequence(data, 0)->type[0], 1);
        smurf_data_free(data);
    }
}

/* ---- numpy ----------------------------------------------------------------------------------- */

#define DTYPE(code, order)                        "cnumpy\ndtype\n(S'" code "'\nI0\nI1\ntR(I3\nS'" order "'\nNNNI-1\nI-1\nI0\ntb"
#define SCALAR(code, order, bytes)                "cnumpy.core.multiarray\nscalar\n(" DTYPE(code, order) "C" bytes "tR"
#define EMPTY                                     "cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntC\1btR"
#define ARRAY(shape, code, order, fortran, bytes) EMPTY "(I1\n(" shape "t" DTYPE(code, order) fortran bytes "tb"

static void numpy_scalars(void **state)
{
    (void)state;
    expect_time(B(SCALAR("f4", "<", "\4\0\0\xc0\x3f")), 1.5);
    expect_time(B(SCALAR("f4", ">", "\4\x3f\xc0\0\0")), 1.5);
    expect_time(B(SCALAR("f8", "<", "\x08\0\0\0\0\0\0\xf8\xbf")), -1.5);
    expect_time(B(SCALAR("f8", ">", "\x08\xbf\xf8\0\0\0\0\0\0")), -1.5);
    expect_time(B(SCALAR("b1", "|", "\1\1")), 1);
    expect_time(B(SCALAR("i1", "|", "\1\xff")), -1);
    expect_time(B(SCALAR("i2", "<", "\2\xfe\xff")), -2);
    expect_time(B(SCALAR("i2", ">", "\2\xff\xfe")), -2);
    expect_time(B(SCALAR("i4", ">", "\4\0\0\1\0")), 256);
    expect_time(B(SCALAR("i8", "<", "\x08\1\0\0\0\0\0\0\x80")), -0x1p63);
    expect_time(B(SCALAR("u1", "|", "\1\xff")), 255);
    expect_time(B(SCALAR("u2", "<", "\2\xfe\xff")), 65534);
    expect_time(B(SCALAR("u4", ">", "\4\xff\xff\xff\xff")), 4294967295.0);
    expect_time(B(SCALAR("u8", ">", "\x08\0\0\0\0\0\0\0\7")), 7);
    expect_time_error(B(SCALAR("u8", ">", "\x08\x80\0\0\0\0\0\0\0")), "beyond 2^63");
    expect_time_error(B(SCALAR("f4", "<", "\3\0\0\xc0")), "a numpy scalar is not as numpy");
    expect_time_error(B(SCALAR("f2", "<", "\2\0\0")), "numpy dtype 'f2' is not supported");
    expect_time_error(B(SCALAR("f4", "x", "\4\0\0\0\0")), "the state of a numpy dtype");
}

static void numpy_arrays(void **state)
{
    (void)state;
    expect_time(B(ARRAY("", "i2", "<", "I00\n", "C\2\5\0")), 5); /* no dimension */
    expect_time(B(ARRAY("I1\n", "i2", ">", "I00\n", "C\2\0\5")), 5);
    expect_time(B(ARRAY("I1\n", "i2", "<", "I01\n", "C\2\5\0")), 5); /* Fortran order makes no difference */
    expect_time(B("cnumpy.core.numeric\n_frombuffer\n(\x96\2\0\0\0\0\0\0\0\5\0" DTYPE("i2", "<") "(I1\ntS'C'\ntR"), 5);
    expect_time_error(B(ARRAY("I2\n", "i2", "<", "I00\n", "C\4\5\0\5\0")), "is not a number");
    expect_time_error(B(ARRAY("I2\n", "i2", "<", "I00\n", "C\2\5\0")), "the data of a numpy array is not as");
    expect_time_error(B(ARRAY("I-1\n", "i2", "<", "I00\n", "C\0")), "the shape of a numpy array");
    expect_time_error(B(ARRAY("I1\nI1\nI1\n", "i2", "<", "I00\n", "C\2\5\0")), "has 3 dimensions");
    expect_time_error(B(ARRAY("I2\nI2\n", "i1", "|", "I01\n", "C\4abcd")), "in Fortran order");
    expect_time_error(B(ARRAY("I4294967295\nI4294967295\n", "i1", "|", "I00\n", "C\4abcd")), "the shape of a numpy");
    expect_time_error(B(ARRAY("I4000000000\nI0\n", "i1", "|", "I00\n", "C\0")), "used so often");
    expect_time_error(B(ARRAY("I1\n", "O8", "|", "I00\n", "C\2\5\0")), "a numpy array of objects");
    expect_time_error(B(EMPTY "K\1b"), "the state of an object");
    expect_time_error(B("}(tb"), "an object with a state");
}

static void object_arrays(void **state)
{
    (void)state;
    /* A square of events, cut into rows. */
    struct bytes square = B("\x80\x02" EMPTY "(I1\n(I2\nI1\nt" DTYPE(
        "O8", "|") "I00\n]("
                   "}(X\5\0\0\0timesK\1X\5\0\0\0typesK\0u}(X\5\0\0\0timesK\2X\5\0\0\0typesK\0ue"
                   "tb.");
    smurf_data *data = read_ok(square, NULL);
    assert_int_equal(smurf_data_sequences(data), 2);
    assert_true(smurf_data_sequence(data, 1)->time[0] == 2);
    smurf_data_free(data);
}

/* ---- The schema ------------------------------------------------------------------------------ */

#define EVENT(t, k) "(dS'time_since_start'\n" t "sS'type_event'\n" k "s"

static void splits(void **state)
{
    (void)state;
    struct bytes two = B("(dS'dim_process'\nI9\nsS'args'\nNsS'train'\n((" EVENT("I1\n", "I0\n") "llsS'dev'\n((" EVENT(
        "I2\n", "I0\n") "llsS'test'\n(ls.");
    expect_error(two, NULL, "several lists of sequences, 'train' (1), 'dev' (1): choose one with --key NAME");
    expect_error(two, "devtest", "there is no 'devtest'; lists of sequences: 'train' (1), 'dev' (1)");
    expect_error(two, "test", "there are no sequences in it");
    expect_error(two, "args", "there is no list of sequences");
    smurf_data *data = read_ok(two, "dev");
    assert_int_equal(smurf_data_types(data), 9);
    assert_true(smurf_data_sequence(data, 0)->time[0] == 2);
    smurf_data_free(data);

    expect_error(B("(dS'train'\n(ls."), NULL, "there are no sequences under");
    expect_error(B("(l."), NULL, "there are no sequences in it");
    expect_error(B("(l."), "train", "the file is not a dictionary");
    expect_error(B("K\1."), NULL, "there is no list of sequences");
    expect_error(B("(K\1l."), NULL, "sequence 1: is neither a list of events nor a dictionary of lists");
    expect_error(B("((K\1ll."), NULL, "sequence 1: event 1: an event has neither 'time_since_start' nor");
    expect_error(B("(}l."), NULL, "sequence 1: has neither 'time_since_start' nor");
    expect_error(B("((dS'times'\nI1\nsl."), NULL, "sequence 1: 'time_since_start' is not a list");
    expect_error(B("((dS'times'\n(I1\nlsS'types'\n(lsl."), NULL, "sequence 1: 'type_event' has 0 entries");
    expect_error(B("(dS'dim_process'\nI0\nsS'train'\n(ls."), NULL, "'dim_process' must be a number of types");
    expect_error(B("((" EVENT("I1\n", "I0\n") "(dS'time_since_start'\nI2\nsll."), NULL,
                 "sequence 1: event 2: an event has no 'type_event'");
}

static void events(void **state)
{
    (void)state;
    expect_time_error(B("Fnan\n"), "sequence 1: event 1: the time is not finite");
    expect_time_error(B("F-inf\n"), "sequence 1: event 1: the time is not finite");
    expect_time_error(B("F1e19\n"), "beyond 2^63");
    expect_time_error(B("N"), "'time_since_start' is not a number");
    expect_error(B("((" EVENT("I1\n", "F0.5\n") "ll."), NULL, "type 0.5 is not a whole number");
    expect_error(B("((" EVENT("I1\n", "I-1\n") "ll."), NULL, "type -1 is out of range");
    expect_error(B("((" EVENT("I1\n", "F1e300\n") "ll."), NULL, "beyond 2^63");
    expect_error(B("((" EVENT("I1\n", "N") "ll."), NULL, "'type_event' is neither a number nor a text");
    expect_error(B("((" EVENT("I2\n", "I0\n") EVENT("I1\n", "I0\n") "ll."), NULL,
                 "sequence 1: event 2: time 1 is before the previous event 2");
    expect_error(B("((" EVENT("I-9223372036854775808\n", "I0\n") EVENT("I9223372036854775807\n", "I0\n") "ll."), NULL,
                 "event 2: time 9.22337e+18 is too far");
    expect_error(B("(dS'dim_process'\nI2\nsS'train'\n((" EVENT("I1\n", "I2\n") "lls."), NULL,
                 "sequence 1: event 1: type 2 is out of range: there are 2 types, from 0 to 1");
}

static void clocks(void **state)
{
    (void)state;
    smurf_data *data = read_ok(B("((" EVENT("L1700000000123456789L\n", "I0\n")
                                     EVENT("L1700000000123456792L\n", "F3.0\n") "l(" EVENT("F1700000000.25\n", "I0\n")
                                         EVENT("F1700000001.75\n", "I0\n") "ll."),
                               NULL);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_true(s->origin == 1700000000123456789 && s->time[0] == 0 && s->time[1] == 3);
    assert_int_equal(s->type[1], 3);
    s = smurf_data_sequence(data, 1);
    assert_true(s->origin == 1700000000 && s->time[0] == 0.25 && s->time[1] == 1.75);
    smurf_data_free(data);
}

static void gaps(void **state)
{
    (void)state;
    smurf_data *data = read_ok(B("((dS'time_since_last_event'\n(I2\nI3\nF0.5\nlsl."), NULL);
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_true(s->length == 3 && s->time[0] == 2 && s->time[1] == 5 && s->time[2] == 5.5);
    assert_int_equal(smurf_data_types(data), 1);
    smurf_data_free(data);
    expect_error(B("((dS'time_since_last_event'\n(L9223372036854775807L\nI3\nlsl."), NULL, "is beyond 2^63");

    data = read_ok(B("((dS'time_since_start'\n(I0\nI3\nI4\nlsS'time_since_last_event'\n(I9\nI3\nI2\nlsl."), NULL);
    assert_string_equal(smurf_data_remark(data, 0),
                        "'time_since_last_event' disagrees with the differences of 'time_since_start' at 1 event of 1 "
                        "sequence (first: sequence 1, event 3); 'time_since_start' was used");
    smurf_data_free(data);
}

static void extras(void **state)
{
    (void)state;
    smurf_data *data =
        read_ok(B("(dS'train'\n((" EVENT("I1\n", "I1\n") "l(llsS'type_names'\n(S'a'\nS'b'\nlsS'unit'\nS's'\ns"
                                                         "S'sequence'\n(S'one'\nI2\nlsS'observation_end'\n(I5\nNls."),
                NULL);
    assert_int_equal(smurf_data_types(data), 2);
    assert_string_equal(smurf_data_type_name(data, 1), "b");
    assert_string_equal(smurf_data_unit(data), "s");
    const smurf_sequence *s = smurf_data_sequence(data, 0);
    assert_string_equal(s->name, "one");
    assert_true(s->type[0] == 1 && s->end == 5 && isnan(s->start));
    assert_string_equal(smurf_data_sequence(data, 1)->name, "2");
    smurf_data_free(data);
    expect_error(B("(dS'type_names'\n(S'a'\nS'a'\nlsS'train'\n(ls."), NULL, "'type_names' must be distinct");
    expect_error(B("(dS'type_names'\n(I1\nlsS'train'\n(ls."), NULL, "'type_names' is not a list of texts");
    data = read_ok(B("((" EVENT("I1\n", "I1\n") "ll.more"), NULL);
    assert_non_null(strstr(smurf_data_remark(data, 0), "after the end of the pickle"));
    smurf_data_free(data);
}

/* ---- Refusals and damage --------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    expect_error(B("cos\nsystem\n(S'true'\ntR."), NULL,
                 "byte 0: pickle asks for 'os.system', which is not data; nothing was executed");
    expect_error(B("\x80\4\x8c\2os\x8c\6system\x93."), NULL, "byte 14: pickle asks for 'os.system'");
    static const struct {
        unsigned char code;
        const char *name;
    } refused[] = {{'P', "PERSID"},       {'Q', "BINPERSID"},       {'i', "INST"},       {'o', "OBJ"},
                   {0x81, "NEWOBJ"},      {0x82, "EXT1"},           {0x83, "EXT2"},      {0x84, "EXT4"},
                   {0x8f, "EMPTY_SET"},   {0x90, "ADDITEMS"},       {0x91, "FROZENSET"}, {0x92, "NEWOBJ_EX"},
                   {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char pickle[] = {'N', (char)refused[i].code, '.'}, text[80];
        snprintf(text, sizeof text, "byte 1: pickle opcode %s (0x%02x) makes more than data; nothing was executed",
                 refused[i].name, refused[i].code);
        expect_error((struct bytes){pickle, 3}, NULL, text);
    }
    expect_error(B("\x80\6N."), NULL, "pickle protocol 6 is not known");
    expect_error(B("N\xff."), NULL, "byte 1: 0xff is not a pickle opcode");
    expect_error(B("cnumpy\nndarray\n)R."), NULL, "a call is not as");
    expect_error(B("N)R."), NULL, "a call is not as");
    expect_error(B("c_codecs\nencode\nNR."), NULL, "a call is not as");
    expect_error(B("c_codecs\nencode\n(V\\u4e16\nVlatin1\ntR."), NULL, "a string of bytes");
    expect_error(B("c_codecs\nencode\n(Va\nVrot13\ntR."), NULL, "the encoding of bytes");
    expect_error(B("ccollections\nOrderedDict\n(I1\ntR."), NULL, "an OrderedDict");
    expect_error(B("ccollections\nOrderedDict\n((I1\nltR."), NULL, "an OrderedDict");
    expect_error(B("NN\x93."), NULL, "the name of a callable");
}

static void damage(void **state)
{
    (void)state;
    static const char *const empty[] = {".",   "0", "2",  "q", "a",    "]a",   "s",
                                        "}Ns", "R", "NR", "b", "\x85", "\x87", "\x93"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        char pickle[8] = {0}; /* the zeros are arguments where one is needed */
        memcpy(pickle, empty[i], strlen(empty[i]));
        expect_error((struct bytes){pickle, sizeof pickle}, NULL, "the stack is empty");
    }
    static const char marked[] = "1lteud";
    for (size_t i = 0; i + 1 < sizeof marked; i++)
        expect_error((struct bytes){marked + i, 1}, NULL, "there is no mark on the stack");
    expect_error(B("N(."), NULL, "the stack is empty"); /* nothing above the mark */
    expect_error(B("NNa."), NULL, "items are added to something that is not a list");
    expect_error(B("(Ne."), NULL, "items are added to something that is not a list");
    expect_error(B("](K\1K\2u."), NULL, "items are added to something that is not a dictionary");
    expect_error(B("(NNNd."), NULL, "a dictionary has a key without a value");
    expect_error(B("g5\n."), NULL, "memo number 5 was never put");
    expect_error(B("Np3\n0g2\n."), NULL, "memo number 2 was never put");
    expect_error(B("Np999\n."), NULL, "memo number 999 is out of range");
    expect_error(B("Np-1\n."), NULL, "memo number -1 is out of range");
    expect_error(B("Nr\xff\xff\xff\xff."), NULL, "memo number 4294967295 is out of range");
    expect_error(B("I1x\n."), NULL, "'1x' is not an integer");
    expect_error(B("I\n."), NULL, "'' is not an integer");
    expect_error(B("I9223372036854775808\n."), NULL, "an integer beyond 64 bits");
    expect_error(B("\x8a\x09"
                   "123456789."),
                 NULL, "an integer beyond 64 bits");
    expect_error(B("F1.x\n."), NULL, "'1.x' is not a number");
    expect_error(B("Sabc\n."), NULL, "a missing quote or an unknown escape");
    expect_error(B("S'abc\n."), NULL, "a missing quote or an unknown escape");
    expect_error(B("S'a\\q'\n."), NULL, "a missing quote or an unknown escape");
    expect_error(B("S'a\\x4'\n."), NULL, "a missing quote or an unknown escape");
    expect_error(B("V\\u12\n."), NULL, "a missing quote or an unknown escape");
    expect_error(B("V\\Uffffffff\n."), NULL, "a missing quote or an unknown escape");
}

/* A pickle cut off anywhere is an error that says so. */
static void truncation(void **state)
{
    (void)state;
    struct buffer b = one_event(B(SCALAR("f4", "<", "\4\0\0\xc0\x3f")), B("Vword\n"));
    for (size_t n = 1; n < b.n; n++) expect_error((struct bytes){b.at, n}, NULL, "the middle of the pickle");
    smurf_data_free(read_ok((struct bytes){b.at, b.n}, NULL));
    free(b.at);
}

/* ---- Hostile input --------------------------------------------------------------------------- */

static void huge_lengths(void **state)
{
    (void)state;
    expect_error(B("X\xff\xff\xff\xff"
                   "abc"),
                 NULL, "the middle of the pickle");
    expect_error(B("\x8d\0\0\0\xff\0\0\0\0abc"), NULL, "the middle of the pickle");
    expect_error(B("\x8e\xff\xff\xff\xff\xff\xff\xff\xff"
                   "abc"),
                 NULL, "more than 4 GiB");
    expect_error(B("\x8b\xff\xff\xff\x7f"
                   "abc"),
                 NULL, "an integer beyond 64 bits");
}

static void deep_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    static const struct bytes opening[] = {{"(", 1}, {"]", 1}}, closing[] = {{"l", 1}, {"a", 1}};
    for (int i = 0; i < 2; i++) {
        struct buffer b = {0};
        add_times(&b, opening[i], DEPTH);
        add_times(&b, closing[i], i == 0 ? DEPTH : DEPTH - 1);
        add(&b, B("."));
        expect_error((struct bytes){b.at, b.n}, NULL, "sequence 1: event 1: an event has neither");
        free(b.at);
    }
}

static void lists_in_themselves(void **state)
{
    (void)state;
    expect_error(B("]q\0h\0a."), NULL, "sequence 1: event 1: an event has neither");
    expect_error(B("}q\0(X\5\0\0\0timesh\0u."), NULL, "there are no sequences");
    expect_error(B("]q\0}(X\5\0\0\0timesh\0X\5\0\0\0typesh\0ua."), NULL,
                 "sequence 1: event 1: 'time_since_start' is no");
}

/* Small files that stand for a great many events, or for a great deal of searching. */
static void explosions(void **state)
{
    (void)state;
    struct buffer b = {0}; /* 10^4 sequences that are one list of 10^4 events that are one dictionary */
    add(&b, B("\x80\2](]q\0(}q\1(X\5\0\0\0timesK\1X\5\0\0\0typesK\1u"));
    add_times(&b, B("h\1"), 10000);
    add(&b, B("e"));
    add_times(&b, B("h\0"), 10000);
    add(&b, B("e."));
    expect_error((struct bytes){b.at, b.n}, NULL, "used so often");
    b.n = 0; /* one dictionary of 10^5 fields is each of 10^5 events */
    add(&b, B("\x80\2]](}q\1(X\5\0\0\0timesK\1X\5\0\0\0typesK\1"));
    add_times(&b, B("NN"), 100000);
    add(&b, B("u"));
    add_times(&b, B("h\1"), 100000);
    add(&b, B("ea."));
    expect_error((struct bytes){b.at, b.n}, NULL, "used so often");
    b.n = 0; /* one dictionary of 10^5 fields is each of 10^5 sequences without events */
    add(&b, B("\x80\2](}q\1(X\5\0\0\0times]X\5\0\0\0types]X\4\0\0\0unitN"));
    add_times(&b, B("NN"), 100000);
    add(&b, B("u"));
    add_times(&b, B("h\1"), 100000);
    add(&b, B("e."));
    expect_error((struct bytes){b.at, b.n}, NULL, "used so often");
    b.n = 0; /* the same text encoded 10^4 times */
    add(&b, B("c_codecs\nencode\np0\n0(X\x10\x27\0\0"));
    add_times(&b, B("x"), 10000);
    add(&b, B("X\6\0\0\0latin1tp1\n0"));
    add_times(&b, B("h\0h\1R0"), 10000);
    add(&b, B("N."));
    expect_error((struct bytes){b.at, b.n}, NULL, "used so often");
    free(b.at);
}

static void recognition(void **state)
{
    (void)state;
    static const struct bytes pickles[] = {
        {"\x80\2}q", 4}, {"\x80\5\x95\0", 4}, {"(dp0\nS'", 7},
        {"(lp1\n(d", 7}, {"}q\0(", 4},        {"]q\1(", 4},
        {"((lp0\n", 6},  {"(]q\0", 4},        {"ccollections\nOrderedDict\np0\n", 28}};
    static const char *const others[] = {"(a,b),c\n", "(dp,x)\n1,2\n", "[[1,2]]", "{\"a\":1}",   "time,type\n",
                                         "]",         "\x80",          "(",       "(dp0,type\n", "}q,1\n",
                                         "cnumpy,b\n"};
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++)
        assert_true(smurf_format_pickle.looks(pickles[i].at, pickles[i].n));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(smurf_format_pickle.looks(others[i], strlen(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),       cmocka_unit_test(stack_and_memo), cmocka_unit_test(texts),
        cmocka_unit_test(containers),    cmocka_unit_test(numpy_scalars),  cmocka_unit_test(numpy_arrays),
        cmocka_unit_test(object_arrays), cmocka_unit_test(splits),         cmocka_unit_test(events),
        cmocka_unit_test(clocks),        cmocka_unit_test(gaps),           cmocka_unit_test(extras),
        cmocka_unit_test(refusals),      cmocka_unit_test(damage),         cmocka_unit_test(truncation),
        cmocka_unit_test(huge_lengths),  cmocka_unit_test(deep_nesting),   cmocka_unit_test(lists_in_themselves),
        cmocka_unit_test(explosions),    cmocka_unit_test(recognition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
