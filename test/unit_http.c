/* unit_http.c - the parameters of an address, the guard and connections, without a server. */
#include "http_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static struct serve_options options = {
    .sequences = 9, .body_mb = 1, .memory_mb = 16, .connections = 2, .timeout = 9, .late = "refuse", .keep = SIZE_MAX};
static struct service service[2]; /* of numbers, of dates */

static int begin(void **state)
{
    (void)state;
    heard_begin();
    for (int i = 0; i < 2; i++) {
        service[i] = (struct service){.o = &options, .calendar = i};
        const struct store_options store = {.calendar = i, .most = options.sequences};
        if (store_open(&service[i].store, &store) || serving_begin(&service[i], heard_model(i))) return 1;
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) serving_end(&service[i]), store_close(service[i].store);
    return 0;
}

/* ---- Parameters -------------------------------------------------------------------------------- */

/* A request with that query to an address that takes `parameters`. */
struct asked {
    struct heard heard;
    struct route route;
    struct request request;
};

static void open_request(struct asked *a, int calendar, const char *query)
{
    char text[2000];
    snprintf(text, sizeof text, "GET /?%s", query);
    heard_read(&a->heard, text, strlen(text));
    heard_request(&a->request, &service[calendar], &a->heard);
    a->request.serving = serving_take(&service[calendar]);
    a->route = (struct route){"/", "GET", NULL, "levels within now top next", false};
    a->request.route = &a->route;
}

/* Returns the status; says: part of the answer, or NULL. */
static unsigned close_request(struct asked *a, const char *field, const char *says)
{
    char want[200];
    struct reply *r = &a->request.reply;
    heard_answer(&a->request);
    if (says) assert_non_null(strstr(r->bytes, says));
    snprintf(want, sizeof want, "\"field\":\"%s\"", field ? field : "");
    if (field) assert_non_null(strstr(r->bytes, want));
    unsigned status = r->status;
    free(r->bytes);
    heard_free(&a->heard);
    serving_drop(a->request.service, a->request.serving);
    return status;
}

static struct question taken(int calendar, const char *query)
{
    struct asked a;
    struct question q;
    open_request(&a, calendar, query);
    assert_true(query_names(&a.request));
    if (!query_question(&a.request, &q)) fail_msg("%s", query);
    assert_int_equal(close_request(&a, NULL, NULL), 200);
    return q;
}

static void refused(int calendar, const char *query, const char *field, const char *says)
{
    struct asked a;
    struct question q;
    open_request(&a, calendar, query);
    if (query_names(&a.request) && query_question(&a.request, &q)) fail_msg("%s", query);
    assert_int_equal(close_request(&a, field, says), 400);
}

static void questions(void **state)
{
    (void)state;
    struct question q = taken(1, "");
    assert_int_equal(q.ask.levels, 2);
    assert_true(q.level[0] == 0.5 && q.level[1] == 0.9 && q.ask.top == 3 && !q.ask.now && !q.ask.horizons);
    q = taken(1, "levels=0.1,.25,9e-1&within=1h,2d,90&top=0&now=2024-01-31T12:00:00Z");
    assert_int_equal(q.ask.levels, 3);
    assert_true(q.level[0] == 0.1 && q.level[1] == 0.25 && q.level[2] == 0.9 && q.ask.top == 0);
    assert_int_equal(q.ask.horizons, 3);
    assert_true(q.horizon[0] == 3600 && q.horizon[1] == 2 * 86400 && q.horizon[2] == 90);
    assert_true(q.ask.now && q.now_moment.whole == 1706702400 && q.now_moment.fraction == 0);
    q = taken(1, "now=now");
    assert_true(q.ask.now && q.now_moment.whole > 1700000000);
    q = taken(0, "now=-2.5&within=3&top=50");
    assert_true(q.now_moment.whole == -3 && q.now_moment.fraction == 0.5 && q.horizon[0] == 3 && q.ask.top == 50);
    q = taken(1, "levels=%30.5&now=2024-01-31%2000:00:00");
    assert_true(q.level[0] == 0.5 && q.now_moment.whole == 1706659200);
}

static void bad_questions(void **state)
{
    (void)state;
    static const char *const levels[] = {
        "",        ",",     "0.5,",
        ",0.5",    "0",     "1",
        "-1",      "2",     "0.5;0.9",
        "a",       "nan",   "inf",
        "0.5 0.9", "1e-10", "0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1"};
    static const char *const within[] = {"",
                                         ",",
                                         "1h,",
                                         "-1",
                                         "1x",
                                         "nan",
                                         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                                         "1111111111111111111111111111111111111111111111111111111111111111111111h"};
    static const char *const count[] = {"", "-1", "+1", " 1", "51", "1.0", "0x1", "99999999999999999999999"};
    char query[300];
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        snprintf(query, sizeof query, "levels=%s", levels[i]);
        refused(1, query, "levels", "between 0 and 1");
    }
    for (size_t i = 0; i < sizeof within / sizeof *within; i++) {
        snprintf(query, sizeof query, "within=%s", within[i]);
        refused(1, query, "within", "duration");
    }
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        snprintf(query, sizeof query, "top=%s", count[i]);
        refused(0, query, "top", "from 0 to 50");
    }
    refused(1, "now=5", "now", "give a date");
    refused(0, "now=2024-01-31", "now", "give a number");
    refused(0, "now=now", "now", "give a");
    refused(1, "now=2024-02-30", "now", NULL);
    refused(0, "now=1e300", "now", NULL);
    refused(1, "levels=0.5&level=0.5", "level", "use only: levels within now top next");
    refused(1, "=1", "", "no parameter");
    refused(1, "%3Cb%3E=1", "<b>", "no parameter");
    refused(1, "now%00=1", "now\\ufffd", "no parameter"); /* a NUL does not cut it */
}

static void counts_in_range(void **state)
{
    (void)state;
    struct asked a;
    size_t n = 7;
    open_request(&a, 0, "top=18446744073709551615");
    assert_true(query_count(&a.request, "top", SIZE_MAX, &n) && n == SIZE_MAX);
    assert_true(query_count(&a.request, "next", 3, &n) && n == SIZE_MAX); /* not given */
    assert_int_equal(close_request(&a, NULL, NULL), 200);
}

/* ---- The guard --------------------------------------------------------------------------------- */

static bool admitted(struct guard *guard, const char *headers, bool open, unsigned status)
{
    char text[500];
    struct heard h;
    const struct route route = {"/", "GET", NULL, "", open};
    snprintf(text, sizeof text, "GET /\n%s", headers);
    heard_read(&h, text, strlen(text));
    struct request q;
    heard_request(&q, &service[0], &h);
    q.route = &route;
    bool admitted = guard_admits(guard, &q);
    heard_answer(&q);
    assert_int_equal(q.reply.status, admitted ? 200 : status);
    free(q.reply.bytes);
    heard_free(&h);
    return admitted;
}

static void hosts_and_origins(void **state)
{
    (void)state;
    struct guard *guard;
    assert_int_equal(guard_new(&guard, &options, true), 0);
    assert_true(admitted(guard, "", false, 0));
    assert_true(admitted(guard, "Host: localhost\n", false, 0) && admitted(guard, "Host: LOCALHOST:80\n", false, 0));
    assert_true(admitted(guard, "Host: 127.0.0.1:8420\n", false, 0) && admitted(guard, "Host: [::1]:8420\n", false, 0));
    assert_false(admitted(guard, "Host: localhost.example.org\n", false, 403));
    assert_false(admitted(guard, "Host: \n", false, 403));
    assert_false(admitted(guard, "Host: 127.0.0.11\n", false, 403));
    assert_false(admitted(guard, "Host: localhost\nOrigin: http://example.org\n", true, 403));
    assert_false(admitted(guard, "Host: localhost\nOrigin: null\n", true, 403));
    guard_free(guard);
}

static void tokens(void **state)
{
    (void)state;
    char path[] = "/tmp/smurf-token-XXXXXX";
    struct guard *guard;
    int fd = mkstemp(path);
    FUZZ_MUST(fd >= 0 && write(fd, "0123456789abcdef\n", 17) == 17 && close(fd) == 0);
    struct serve_options with = options;
    with.token_file = path;
    assert_int_equal(guard_new(&guard, &with, false), 0);
    assert_true(admitted(guard, "Authorization: Bearer 0123456789abcdef\n", false, 0));
    assert_true(admitted(guard, "authorization: bearer 0123456789abcdef\nHost: example.org\n", false, 0));
    assert_true(admitted(guard, "", true, 0));
    static const char *const bad[] = {"",
                                      "Authorization: 0123456789abcdef\n",
                                      "Authorization: Bearer \n",
                                      "Authorization: Bearer 0123456789abcde\n",
                                      "Authorization: Bearer 0123456789abcdeX\n",
                                      "Authorization: Bearer X123456789abcdef\n",
                                      "Authorization: Bearer 0123456789abcdefX\n",
                                      "Authorization: Bearer 0123456789ABCDEF\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(admitted(guard, bad[i], false, 401));
    guard_free(guard);
    unlink(path);
}

static void rates(void **state)
{
    (void)state;
    struct guard *guard;
    struct serve_options with = options;
    with.rate = 3;
    int good = 0;
    assert_int_equal(guard_new(&guard, &with, true), 0);
    for (int i = 0; i < 10000; i++) good += admitted(guard, "", false, 429);
    assert_true(good >= 3 && good < 3000); /* three, and three more each second */
    guard_free(guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions),         cmocka_unit_test(bad_questions), cmocka_unit_test(counts_in_range),
        cmocka_unit_test(hosts_and_origins), cmocka_unit_test(tokens),        cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
