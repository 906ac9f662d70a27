/*
 * unit_json_tree.c - our reader of JSON gives what jansson's gives, and refuses what that refuses.
 */
#include "data/json_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const char *const good[] = {
    "{}",
    "[]",
    " [ ] ",
    "{\"a\":1}",
    "[0,-0,1,-1,9223372036854775807,-9223372036854775808]",
    "[0.0,-0.0,1.5,1e3,1E+3,1e-3,0.1e-400,123456789.123456789,2.2250738585072014e-308,1.7976931348623157e308]",
    "[0.1,0.30000000000000004,5e-324,1234567890123456789012.5]",
    "[true,false,null]",
    "\t{\"a\" : [ 1 , {\"b\":\"c\"} ] ,\r\n\"d\":\"\"}\n",
    "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20ac\\uD83D\\ude00\",\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]",
};

static const char *const bad[] = {
    "",
    "{",
    "[",
    "[1",
    "[1,",
    "[1,]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1",
    "{a:1}",
    "{\"a\":1,}",
    "[1 2]",
    "[01]",
    "[1.]",
    "[.5]",
    "[1e]",
    "[+1]",
    "[-]",
    "[tru]",
    "[nan]",
    "[\"a]",
    "[\"\\x\"]",
    "[\"\\u12\"]",
    "[\"\\u0000\"]",
    "[\"\\ud800\"]",
    "[\"\\udc00\"]",
    "[\"\\ud800\\u0041\"]",
    "[\"\xff\"]",
    "[\"\xc3\"]",
    "[\"\n\"]",
    "[1e999]",
    "[99999999999999999999]",
    "{}x",
    "{\"a\":1,\"a\":2}",
    "[\"\\\"]",
    "[\"\\",
};

static json_t *tree(const char *text, size_t n, smurf_status *status)
{
    struct json_fault fault = {NULL, 0};
    json_t *out;
    /* No byte behind the text may be looked at: a sanitizer sees it. */
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    *status = smurf_json_tree(&out, copy, n, &fault);
    if (*status) assert_true(fault.why && fault.at <= n);
    assert_true(!out == (*status != SMURF_OK));
    free(copy);
    return out;
}

static void reads_as_jansson(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        smurf_status status;
        json_t *ours = tree(good[i], strlen(good[i]), &status), *theirs = json_loads(good[i], 0, NULL);
        assert_non_null(theirs);
        if (!ours || !json_equal(ours, theirs)) fail_msg("differs: %s", good[i]);
        char *text = smurf_json_text(ours), *same = json_dumps(theirs, JSON_COMPACT);
        assert_string_equal(text, same);
        free(text);
        free(same);
        json_decref(ours);
        json_decref(theirs);
    }
    assert_null(smurf_json_text(NULL));
}

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        smurf_status status;
        if (tree(bad[i], strlen(bad[i]), &status) || status != SMURF_ERROR_INPUT) fail_msg("accepted: %s", bad[i]);
        assert_null(json_loads(bad[i], JSON_REJECT_DUPLICATES, NULL));
    }
}

/* Every beginning of a text is refused, and nothing behind it is looked at. */
static void refuses_beginnings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t n = 0; n < strlen(good[i]); n++) {
            smurf_status status;
            json_t *json = tree(good[i], n, &status);
            assert_true(!json || strspn(good[i] + n, " \t\r\n") == strlen(good[i] + n));
            json_decref(json);
        }
}

static void refuses_depth(void **state)
{
    (void)state;
    char text[2 * JSON_TREE_DEPTH + 2];
    for (size_t depth = JSON_TREE_DEPTH; depth <= JSON_TREE_DEPTH + 1; depth++) {
        smurf_status status;
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        json_t *json = tree(text, 2 * depth, &status);
        assert_int_equal(status, depth <= JSON_TREE_DEPTH ? SMURF_OK : SMURF_ERROR_INPUT);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_as_jansson), cmocka_unit_test(refuses),
                                       cmocka_unit_test(refuses_beginnings), cmocka_unit_test(refuses_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
