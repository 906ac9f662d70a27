/*
 * unit_model_file.c - settings by name, presets, and models as files.
 */
#include "train_case.h"

#include "data/data.h"
#include "model/smurf_class.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Settings --------------------------------------------------------------------------------- */

/* Two values of each setting, neither of which need be the default. */
static const struct {
    const char *name, *value[2];
} values[] = {
    {"model", {"smurf", "smurf"}},
    {"width", {"2", "4096"}},
    {"heads", {"1", "256"}},
    {"head-width", {"1", "128"}},
    {"layers", {"1", "24"}},
    {"inner", {"1", "65536"}},
    {"activation", {"gelu", "relu"}},
    {"dropout", {"0", "0.95"}},
    {"settle", {"0", "0.25"}},
    {"gap-feature", {"off", "on"}},
    {"counts", {"off", "on"}},
    {"wall-clock", {"on", "season"}},
    {"clock", {"since-first", "raw"}},
    {"context", {"0", "128"}},
    {"window", {"0", "200"}},
    {"head", {"intensity", "score"}},
    {"scale", {"none", "log"}},
    {"objective", {"dsm", "wsm"}},
    {"points", {"1", "512"}},
    {"nodes", {"2", "256"}},
    {"sigma", {"0.1", "0.000001,0.05,0.1,0.2,0.3,0.5,1,1000"}},
    {"noise", {"additive", "multiplicative"}},
    {"gradient", {"full", "stop"}},
    {"alpha", {"0", "0.3333333333333333"}},
    {"smoothing", {"0", "0.99"}},
    {"type-loss", {"perturbed", "truth"}},
    {"sampler-steps", {"1", "5000"}},
    {"sampler-step", {"0.001", "0.05"}},
    {"dither", {"0", "0.001"}},
    {"mask", {"0", "0.01"}},
    {"batch", {"1", "65536"}},
    {"rate", {"0.0001", "10"}},
    {"schedule", {"constant", "plateau"}},
    {"cosine-epochs", {"0", "64"}},
    {"warmup", {"0", "1000000000"}},
    {"clip", {"0", "1.5"}},
    {"average", {"0", "0.99999999"}},
    {"epochs", {"1", "1000000"}},
    {"patience", {"0", "1000000"}},
    {"seed", {"0", "18446744073709551615"}},
    {"threads", {"0", "3"}},
    {"tail", {"off", "on"}},
    {"pool", {"off", "on"}},
    {"ending", {"off", "on"}},
    {"adaptive", {"auto", "0.01"}},
};
enum { VALUES = sizeof values / sizeof *values };

static void test_settings_round_trip(void **state)
{
    (void)state;
    smurf_settings config;
    smurf_error err;
    char text[256];
    smurf_settings_init(&config);
    for (size_t i = 0; i < VALUES; i++) {
        assert_string_equal(smurf_setting_name(i), values[i].name);
        assert_true(strlen(smurf_setting_about(i)) > 5);
        for (int k = 0; k < 2; k++) {
            if (smurf_settings_set(&config, values[i].name, values[i].value[k], &err)) fail_msg("%s", err.message);
            assert_int_equal(smurf_settings_get(&config, values[i].name, text, sizeof text, &err), SMURF_OK);
            assert_string_equal(text, values[i].value[k]);
        }
    }
    assert_null(smurf_setting_name(VALUES));
    assert_null(smurf_setting_about(VALUES));
    assert_int_equal(smurf_settings_get(&config, "sigma", text, 6, &err), SMURF_OK);
    assert_string_equal(text, "0.000"); /* cut to the room there is */
}

/* Files must read alike everywhere. */
static void test_settings_know_no_locale(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (int i = 0; i < 3 && !set; i++) set = setlocale(LC_NUMERIC, comma[i]);
    if (!set) skip();
    smurf_settings config = small_config("sigma=0.5,1.5 rate=0.25");
    char text[64];
    assert_true(config.sigma[0] == 0.5 && config.sigma[1] == 1.5 && config.rate == 0.25);
    assert_int_equal(smurf_settings_get(&config, "sigma", text, sizeof text, NULL), SMURF_OK);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0.5,1.5");
}

/* The handle: what programs see of the settings. */
static void test_settings_handle(void **state)
{
    (void)state;
    smurf_settings *settings, *copy;
    smurf_error err;
    char text[64];
    assert_int_equal(smurf_settings_new(&settings, NULL, NULL, &err), SMURF_OK);
    assert_int_equal(smurf_settings_set(settings, "seed", "18446744073709551615", &err), SMURF_OK);
    assert_int_equal(smurf_settings_copy(&copy, settings, &err), SMURF_OK);
    assert_int_equal(smurf_settings_set(settings, "seed", "7", &err), SMURF_OK);
    assert_int_equal(smurf_settings_get(copy, "seed", text, sizeof text, &err), SMURF_OK);
    assert_string_equal(text, "18446744073709551615");
    const char *bad[][2] = {{"seed", "-1"},      {"seed", "1e3"},   {"seed", "18446744073709551616"},
                            {"seed", ""},        {"threads", "-1"}, {"threads", "1.5"},
                            {"threads", "many"}, {"no-such", "1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(smurf_settings_set(settings, bad[i][0], bad[i][1], &err), SMURF_ERROR_ARGUMENT);
    assert_int_equal(smurf_settings_get(settings, "seed", text, sizeof text, &err), SMURF_OK);
    assert_string_equal(text, "7");
    smurf_settings_free(copy);
    smurf_settings_free(settings);
    smurf_settings_free(NULL);
    assert_int_equal(smurf_settings_new(&settings, "no-such", NULL, &err), SMURF_ERROR_ARGUMENT);
    assert_null(settings);
}

static void test_wrong_values(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } cases[] = {
        {"colour", "red", "unknown setting 'colour'"},
        {"width", "1", "width '1' is not a whole number from 2 to 4096"},
        {"width", "4098", "width '4098' is not a whole number from 2 to 4096"},
        {"width", "8.5", "width '8.5' is not a whole number from 2 to 4096"},
        {"width", "8x", "width '8x' is not a whole number from 2 to 4096"},
        {"width", "", "width '' is not a whole number from 2 to 4096"},
        {"width", "nan", "width 'nan' is not a whole number from 2 to 4096"},
        {"width", "99999999999999999999999", "width '99999999999999999999999' is not a whole number from 2 to 4096"},
        {"dropout", "1", "dropout '1' is not a number from 0 to 0.95"},
        {"dropout", "-0.1", "dropout '-0.1' is not a number from 0 to 0.95"},
        {"dropout", "0,1", "dropout '0,1' is not a number from 0 to 0.95"},
        {"rate", "inf", "rate 'inf' is not a number from 0 to 10"},
        {"sigma", "0", "sigma '0' is not a number from 1e-06 to 1000"},
        {"sigma", "0.1,,0.2", "sigma '0.1,,0.2' is not a number from 1e-06 to 1000"},
        {"sigma", "0.1,", "sigma '0.1,' is not a number from 1e-06 to 1000"},
        {"sigma", "1,1,1,1,1,1,1,1,1", "sigma takes at most 8 values"},
        {"objective", "nce", "objective 'nce' is not one of: dsm sm wsm mle"},
        {"objective", "a-name-far-too-long-for-it",
         "objective 'a-name-far-too-long-for-it' is not one of: dsm sm wsm mle"},
        {"activation", "tanh", "activation 'tanh' is not one of: gelu relu"},
        {"activation", "gelu relu", "activation 'gelu relu' is not one of: gelu relu"},
        {"activation", "", "activation '' is not one of: gelu relu"},
        {"schedule", "step", "schedule 'step' is not one of: constant cosine plateau"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_settings config, before;
        smurf_error err;
        smurf_settings_init(&config);
        before = config;
        assert_int_equal(smurf_settings_set(&config, cases[i].name, cases[i].value, &err), SMURF_ERROR_ARGUMENT);
        assert_string_equal(err.message, cases[i].says);
        assert_memory_equal(&config, &before, sizeof config);
        assert_int_equal(smurf_settings_set(&config, cases[i].name, cases[i].value, NULL), SMURF_ERROR_ARGUMENT);
    }
}

static void check_says(const smurf_settings *config, const char *says)
{
    smurf_error err = {0};
    smurf_status status = smurf_settings_check(config, &err);
    if (!says && status) fail_msg("%s", err.message);
    if (!says) return;
    assert_int_equal(status, SMURF_ERROR_ARGUMENT);
    assert_string_equal(err.message, says);
}

static void test_check(void **state)
{
    (void)state;
    smurf_settings c;
    smurf_settings_init(&c);
    check_says(&c, NULL);
    c = small_config("width=7");
    check_says(&c, "width is 7: give an even number");
    c = small_config("objective=mle head=score");
    check_says(&c, "objective mle needs an intensity: omit head=score");
    c = small_config("model=nhp scale=mean gap-feature=off counts=on");
    check_says(&c, "model nhp cannot see counts: set counts off, as in preset nhp");
    c = small_config("model=thp scale=mean counts=on");
    check_says(&c, NULL);
    c = small_config("objective=dsm noise=multiplicative scale=log");
    check_says(&c, "multiplicative noise needs gaps above 0: use scale none or mean (log time has additive noise)");
    c = small_config("objective=dsm noise=multiplicative scale=mean");
    check_says(&c, NULL);
    c = small_config("rate=0");
    check_says(&c, "rate is 0: give a number above 0");
    /* What was set by field */
    c = small_config("");
    c.relu = 2;
    check_says(&c, "activation '2' is not one of: gelu relu");
    c.relu = -1;
    check_says(&c, "activation '-1' is not one of: gelu relu");
    c = small_config("");
    c.schedule = 1000000;
    check_says(&c, "schedule '1000000' is not one of: constant cosine plateau");
    c = small_config("");
    c.layers = 25;
    check_says(&c, "layers '25' is not a whole number from 1 to 24");
    c = small_config("");
    c.dropout = NAN;
    check_says(&c, "dropout 'nan' is not a number from 0 to 0.95");
    c = small_config("");
    c.rate = INFINITY;
    check_says(&c, "rate 'nan' is not a number from 0 to 10");
    c = small_config("");
    memset(c.sigma, 0, sizeof c.sigma);
    check_says(&c, "sigma '0' is not a number from 1e-06 to 1000");
    c = small_config("");
    memset(c.objective, 'm', sizeof c.objective);
    check_says(&c, "objective 'mmmmmmmmmmmmmmmm' is not one of: dsm sm wsm mle");
}

/* ---- Presets ---------------------------------------------------------------------------------- */

static void test_published_presets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t heads, layers, width, head_width, inner, batch;
        double rate, sigma, alpha, smoothing;
        size_t epochs;
        smurf_scale_kind scale;
    } table[] = {
        {"paper-stackoverflow", 4, 4, 64, 16, 256, 4, 1e-4, 0.1, 5, 0, 50, SMURF_SCALE_NONE},
        {"paper-retweet", 3, 3, 64, 16, 256, 16, 5e-3, 0.05, 5, 0.1, 50, SMURF_SCALE_LOG},
        {"paper-mimic", 3, 3, 64, 16, 256, 1, 1e-4, 0.1, 3, 0.1, 50, SMURF_SCALE_MEAN},
        {"paper-financial", 6, 6, 128, 64, 2048, 1, 1e-4, 0.05, 5, 0.1, 50, SMURF_SCALE_LOG},
        {"program-stackoverflow", 4, 4, 64, 16, 256, 4, 1e-4, 0.1, 5, 0, 60, SMURF_SCALE_NONE},
        {"program-retweet", 3, 3, 64, 16, 256, 16, 5e-4, 0.1, 5, 0.1, 70, SMURF_SCALE_LOG},
        {"program-mimic", 3, 3, 64, 16, 256, 1, 1e-4, 0.1, 3, 0.1, 70, SMURF_SCALE_MEAN},
        {"program-financial", 6, 6, 128, 64, 2048, 1, 1e-4, 0.01, 5, 0.1, 50, SMURF_SCALE_LOG},
    };
    assert_string_equal(smurf_preset_name(0), "default");
    for (size_t i = 0; i < 8; i++) {
        smurf_settings c;
        smurf_error err;
        int program = i >= 4;
        assert_string_equal(smurf_preset_name(i + 1), table[i].name);
        /* whatever was there before, but for the seed and the threads */
        c = small_config("sigma=1,2,3 average=0.5 clip=3 warmup=9 patience=4 dither=1 head=score noise=multiplicative");
        c.seed = 77;
        c.threads = 3;
        if (smurf_settings_preset(&c, table[i].name, NULL, &err)) fail_msg("%s", err.message);
        assert_int_equal(c.heads, table[i].heads);
        assert_int_equal(c.layers, table[i].layers);
        assert_int_equal(c.width, table[i].width);
        assert_int_equal(c.head_width, table[i].head_width);
        assert_int_equal(c.inner, table[i].inner);
        assert_int_equal(c.batch, table[i].batch);
        assert_true(c.rate == table[i].rate && c.sigma[0] == table[i].sigma && c.sigma[1] == 0);
        assert_true(c.alpha == table[i].alpha && c.smoothing == table[i].smoothing);
        assert_int_equal(c.epochs, table[i].epochs);
        assert_int_equal(c.scale, table[i].scale);
        assert_int_equal(c.relu, !program);
        assert_int_equal(c.stop_gradient, program);
        assert_string_equal(c.objective, "dsm");
        assert_true(c.points == 100 && c.dropout == 0.1 && c.raw_clock && !c.gap_feature && !c.counts && !c.score &&
                    !c.multiplicative);
        assert_true(c.schedule == 1 && c.cosine_epochs == 64 && !c.warmup && c.clip == 0 && c.average == 0 &&
                    !c.patience);
        assert_true(c.dither == 0 && c.seed == 77 && c.threads == 3);
        check_says(&c, NULL);
    }
    size_t others = 0;
    for (; smurf_model_class_at_f32(1 + others); others++) /* the first is SMURF, which is the default */
        assert_string_equal(smurf_preset_name(9 + others), smurf_model_class_at_f32(1 + others)->name);
    assert_null(smurf_preset_name(9 + others));
}

static void test_unknown_presets(void **state)
{
    (void)state;
    static const char *const names[] = {"",        "paper",   "paper-",  "paper-taxi", "program-Retweet",
                                        "Default", "retweet", "-retweet"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        smurf_settings c = small_config(""), before = c;
        smurf_error err;
        char says[256];
        assert_int_equal(smurf_settings_preset(&c, names[i], NULL, &err), SMURF_ERROR_ARGUMENT);
        snprintf(says, sizeof says,
                 "unknown preset '%s': use default, the name of a model, or paper- or program- followed by ", names[i]);
        assert_memory_equal(err.message, says, strlen(says));
        assert_memory_equal(&c, &before, sizeof c);
    }
}

static smurf_settings chosen(const smurf_data *data)
{
    smurf_settings c = small_config("objective=dsm");
    smurf_error err;
    if (smurf_settings_preset(&c, "default", data, &err)) fail_msg("%s", err.message);
    check_says(&c, NULL);
    assert_string_equal(c.objective, "mle");
    assert_true(c.scale == SMURF_SCALE_LOG && c.gap_feature && c.counts && !c.raw_clock && c.head_width == 16);
    assert_true(c.heads * c.head_width == c.width && c.inner == 4 * c.width && c.warmup == 100);
    return c;
}

/* Sequences of `few` events, and one of `many`. */
static smurf_data *uneven(size_t sequences, size_t few, size_t many)
{
    smurf_error err;
    smurf_data *data;
    size_t n = sequences * few + many, *offset = malloc((sequences + 2) * sizeof *offset);
    double *time = malloc(n * sizeof *time);
    for (size_t i = 0; i <= sequences; i++) offset[i] = i * few;
    offset[sequences + 1] = n;
    for (size_t i = 0; i < n; i++) time[i] = (double)(i % (i < sequences * few ? few : n)) * 1.7;
    smurf_arrays a;
    smurf_arrays_init(&a);
    a.events = n;
    a.time = time;
    a.sequences = sequences + 1;
    a.offset = offset;
    if (smurf_data_from_arrays(&data, &a, &err)) fail_msg("%s", err.message);
    free(offset), free(time);
    return data;
}

/* By where most events are and by the longest sequence. Batches hold as many events as without the long sequence. */
static void test_context_of_uneven_data(void **state)
{
    (void)state;
    static const struct {
        size_t sequences, few, many;
        bool context;
    } cases[] = {{2000, 30, 0, false},
                 {2000, 30, 2400, false},
                 {2000, 30, 2401, true},
                 {3, 300, 1000, true},
                 {20, 300, 1000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smurf_data *data = uneven(cases[i].sequences, cases[i].few, cases[i].many);
        smurf_settings c = chosen(data);
        assert_int_equal(c.context > 0, cases[i].context);
        if (cases[i].few == 30) assert_true(c.batch >= 18 && c.batch <= 20);
        smurf_data_free(data);
    }
}

/* Windows that the data was cut into become those of the model. */
static void test_context_of_cut_data(void **state)
{
    (void)state;
    smurf_data *whole = simulate("hawkes", 2, 2, 300, 1), *cut;
    assert_int_equal(smurf_data_window(&cut, whole, 40, 16, NULL), SMURF_OK);
    smurf_settings c = chosen(cut);
    assert_true(c.context == 16 && c.window == 40);
    smurf_data_free(whole), smurf_data_free(cut);
    cut = read_text("{\"times\":[1,2,3,4,5,6,7,8,9],\"first_scored\":8,\"events_before\":100}"
                    "{\"times\":[1,2,3,4,5,6,7,8,9],\"first_scored\":8,\"events_before\":57}");
    c = chosen(cut);
    assert_true(c.context == 3 && c.window == 0); /* 3 + 6 - 1 events of look-back at most */
    smurf_data_free(cut);
}

/* The rules that preset.c states, but for the numbers that are a matter of taste. */
static void test_default_preset(void **state)
{
    (void)state;
    smurf_data *tiny = simulate("hawkes", 3, 20, 30, 1), *large = simulate("poisson", 1, 300, 2000, 1),
               *short_ones = simulate("poisson", 1, 40000, 2, 1);
    smurf_settings few = chosen(tiny), most = chosen(large), c = chosen(short_ones);
    assert_true(few.layers == 1 && c.layers == 2 && most.layers == 3 && few.dropout > most.dropout);
    assert_true(few.average > 0 && few.average < most.average && few.context == 0 && most.context > 0);
    assert_true(few.batch >= 1 && few.batch < 20 && most.batch == 2 && c.batch == 64);
    assert_true(few.epochs > most.epochs && most.epochs == 10 && most.patience == 5 && few.patience >= 5);
    assert_true(few.dither == 0 && most.dither == 0 && few.mask == 0.01 && most.mask == 0.01);
    smurf_data_free(tiny);
    smurf_data_free(large);
    smurf_data_free(short_ones);

    /* A tick of a mean gap's half is dithered; one of a thousandth is not. */
    char coarse[4000] = "time,type\n", fine[4000] = "time,type\n";
    size_t n = strlen(coarse), m = n;
    for (int i = 0, t = 0; i < 200; i++, t += 1 + i % 3) {
        n += (size_t)sprintf(coarse + n, "%d,0\n", t);
        m += (size_t)sprintf(fine + m, "%d.%d,0\n", 10000 * t + i * i, i % 10);
    }
    smurf_data *ticked = read_text(coarse), *smooth = read_text(fine);
    c = chosen(ticked);
    assert_true(c.dither == 1);
    c = chosen(smooth);
    assert_true(c.dither == 0);
    smurf_data_free(ticked);
    smurf_data_free(smooth);

    /* Without data: those of smurf_settings_init. */
    smurf_settings plain;
    smurf_settings_init(&plain);
    c = small_config("");
    c.threads = 0;
    assert_int_equal(smurf_settings_preset(&c, "default", NULL, NULL), SMURF_OK);
    for (size_t i = 0; smurf_setting_name(i); i++) { /* by name: bytes between the fields mean nothing */
        char got[512], want[512];
        assert_int_equal(smurf_settings_get(&c, smurf_setting_name(i), got, sizeof got, NULL), SMURF_OK);
        assert_int_equal(smurf_settings_get(&plain, smurf_setting_name(i), want, sizeof want, NULL), SMURF_OK);
        assert_string_equal(got, want);
    }
}

/* ---- Files ------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/unit_model_file.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("m.safetensors"));
    unlink(in_folder("again.safetensors"));
    return rmdir(folder);
}

static const char words[] =
    "user,time,type\n"
    "a,2024-01-01T00:00:00Z,buy\na,2024-01-01T00:05:00Z,\"look, twice\"\na,2024-01-01T01:00:00Z,buy\n"
    "b,2024-01-02T00:00:00Z,gr\xc3\xbc\xc3\x9f\nb,2024-01-02T00:00:07.25Z,buy\n";

/* A model that was trained for an epoch. */
static smurf_model *trained(const char *settings, const smurf_data *data)
{
    smurf_trainer *t = trainer_of(settings, 1, data, NULL);
    smurf_epoch epoch;
    smurf_model *model;
    smurf_error err;
    if (smurf_trainer_epoch(t, &epoch, &err)) fail_msg("%s", err.message);
    if (smurf_trainer_model(t, &model, &err)) fail_msg("%s", err.message);
    smurf_trainer_free(t);
    return model;
}

static void save(const smurf_model *model, const char *name)
{
    smurf_error err;
    if (smurf_model_save(model, in_folder(name), &err)) fail_msg("%s", err.message);
}

static smurf_model *load(const char *name)
{
    smurf_error err;
    smurf_model *model;
    if (smurf_model_load(&model, in_folder(name), &err)) fail_msg("%s", err.message);
    return model;
}

static char *slurp(const char *name, size_t *n)
{
    FILE *in = fopen(in_folder(name), "rb");
    char *bytes = malloc(1 << 20);
    assert_true(in && bytes);
    *n = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    return bytes;
}

static void same_scale(const smurf_scale *a, const smurf_scale *b)
{
    assert_true(a->kind == b->kind && a->mean == b->mean && a->mu == b->mu && a->sd == b->sd);
}

static void same_model(const smurf_model *a, const smurf_model *b)
{
    assert_int_equal(a->model.params.total, b->model.params.total);
    assert_memory_equal(a->slab, b->slab, a->model.params.total * sizeof *a->slab);
    for (size_t i = 0; smurf_setting_name(i); i++) {
        char x[256], y[256];
        smurf_settings_get(smurf_model_settings(a), smurf_setting_name(i), x, sizeof x, NULL);
        smurf_settings_get(smurf_model_settings(b), smurf_setting_name(i), y, sizeof y, NULL);
        assert_string_equal(x, y);
    }
    assert_int_equal(a->config.seed, b->config.seed);
    same_scale(smurf_model_scale(a), smurf_model_scale(b));
    same_scale(&a->view.feature, &b->view.feature);
    assert_true(a->view.clock_unit == b->view.clock_unit && a->view.raw_clock == b->view.raw_clock);
    assert_true(a->view.count_low == b->view.count_low && a->view.count_high == b->view.count_high);
    assert_memory_equal(a->model.shape.count_rate, b->model.shape.count_rate, sizeof a->model.shape.count_rate);
    assert_true(a->low == b->low && a->high == b->high && a->fingerprint == b->fingerprint && a->epoch == b->epoch);
    assert_memory_equal(&a->dev_loss, &b->dev_loss, sizeof a->dev_loss);
    assert_string_equal(a->unit, b->unit);
    assert_int_equal(a->calendar, b->calendar);
    assert_int_equal(smurf_model_types(a), smurf_model_types(b));
    assert_int_equal(smurf_model_parameters(a), smurf_model_parameters(b));
    for (uint32_t k = 0; k < a->types; k++) {
        const char *x = smurf_model_type_name(a, k), *y = smurf_model_type_name(b, k);
        assert_int_equal(!x, !y);
        if (x) assert_string_equal(x, y);
    }
    assert_null(smurf_model_type_name(b, a->types));
}

static void test_save_and_load(void **state)
{
    (void)state;
    smurf_data *named = read_text(words), *numbers = simulate("hawkes", 2, 5, 6, 1);
    static const char *const settings[] = {"objective=mle",
                                           "objective=dsm head=score scale=mean sigma=0.1,0.7 gap-feature=off",
                                           "objective=wsm scale=none clock=raw layers=24 counts=on"};
    for (int i = 0; i < 6; i++) {
        smurf_model *a = trained(settings[i / 2], i % 2 ? named : numbers);
        a->config.seed = UINT64_MAX - 5;
        save(a, "m.safetensors"); /* over the one before */
        smurf_model *b = load("m.safetensors");
        same_model(a, b);
        if (i % 2) {
            assert_string_equal(smurf_model_type_name(b, 2), "gr\xc3\xbc\xc3\x9f");
            assert_string_equal(b->unit, "s");
            assert_true(b->calendar);
        }
        size_t n, m;
        save(b, "again.safetensors");
        char *one = slurp("m.safetensors", &n), *other = slurp("again.safetensors", &m);
        assert_int_equal(n, m);
        assert_memory_equal(one, other, n);
        free(one), free(other);
        smurf_model_free(a);
        smurf_model_free(b);
    }
    smurf_data_free(named);
    smurf_data_free(numbers);
}

/* In memory a model is the bytes of its file. */
static void test_memory(void **state)
{
    (void)state;
    smurf_data *data = read_text(words);
    smurf_model *model = trained("objective=dsm", data), *back;
    smurf_error err;
    void *bytes;
    size_t n, m;
    assert_int_equal(smurf_model_save_memory(model, &bytes, &n, &err), SMURF_OK);
    save(model, "m.safetensors");
    char *file = slurp("m.safetensors", &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, file, n);
    free(file);
    assert_int_equal(smurf_model_load_memory(&back, bytes, n, NULL, &err), SMURF_OK);
    same_model(model, back);
    smurf_model_free(back);
    for (size_t cut = 0; cut < n; cut += 1 + n / 97) {
        assert_int_equal(smurf_model_load_memory(&back, bytes, cut, "the answer", &err), SMURF_ERROR_INPUT);
        assert_ptr_equal(strstr(err.message, "the answer: "), err.message);
        assert_null(back);
    }
    assert_int_equal(smurf_model_load_memory(&back, "", 0, NULL, &err), SMURF_ERROR_INPUT);
    assert_ptr_equal(strstr(err.message, "memory: "), err.message);
    smurf_free(bytes);
    smurf_free(NULL);
    smurf_model_free(model);
    smurf_data_free(data);
}

/* What cannot be written says so, and leaves what was there. */
static void test_save_fails(void **state)
{
    (void)state;
    smurf_data *data = read_text(words);
    smurf_model *model = trained("", data);
    smurf_error err;
    assert_int_equal(smurf_model_save(model, "/dev/full", &err), SMURF_ERROR_IO);
    assert_string_equal(err.message, "cannot write '/dev/full': no space left on device");
    assert_int_equal(smurf_model_save(model, folder, &err), SMURF_ERROR_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(smurf_model_save(model, in_folder("no/such/m.safetensors"), &err), SMURF_ERROR_IO);
    assert_non_null(strstr(err.message, "no such file or directory"));
    smurf_model_free(model);
    smurf_data_free(data);
}

static void load_says(const char *path, smurf_status status, const char *says)
{
    smurf_model *model = (smurf_model *)1;
    smurf_error err = {0};
    assert_int_equal(smurf_model_load(&model, path, &err), status);
    if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
    assert_null(model);
}

/* Replaces one piece of the metadata. */
static void rewrite(const struct tensor_file *file, const char *from, const char *to)
{
    const char *text = smurf_tensors_text(file, "smurf"), *at = strstr(text, from);
    char *changed = malloc(strlen(text) + strlen(to) + 1);
    smurf_error err;
    if (!at) fail_msg("there is no %s in %s", from, text);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    struct tensor_text one = {"smurf", changed};
    if (smurf_tensors_write(in_folder("m.safetensors"), file->tensor, file->tensors, &one, 1, &err))
        fail_msg("%s", err.message);
    free(changed);
}

static void test_load_believes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"{", "", "not a smurf model: it has no JSON metadata 'smurf'"},
        {"\"format\":1", "\"format\":2", "model format 2 is not supported"},
        {"\"format\":1", "\"x\":1", "model format 0 is not supported"},
        {"\"settings\":{", "\"settings\":0,\"x\":{", "no valid 'settings'"},
        {"\"width\":\"8\"", "\"width\":8", "no valid 'width'"},
        {"\"width\":\"8\"", "\"width\":\"9\"", "width is 9: give an even number"},
        {"\"width\":\"8\"", "\"width\":\"4096\"", "is needed"},
        {"\"width\":\"8\"", "\"colour\":\"8\"", "unknown setting 'colour'"},
        {"\"layers\":\"2\"", "\"layers\":\"24\"", "there is no tensor 'layer.2.query'"},
        {"\"layers\":\"2\"", "\"layers\":\"999999\"", "layers '999999' is not a whole number from 1 to 24"},
        {"\"inner\":\"6\"", "\"inner\":\"65536\"", "is needed"},
        {"\"types\":3", "\"types\":16777216", "no valid 'type_names'"},
        {"\"types\":3", "\"types\":0", "no valid 'types'"},
        {"\"types\":3", "\"types\":-3", "no valid 'types'"},
        {"\"types\":3,\"type_names\":", "\"types\":16777216,\"x\":", "is needed"},
        {"\"type_names\":[", "\"type_names\":[3,", "no valid 'type_names'"},
        {"\"type_names\":[\"buy\"", "\"type_names\":[3", "no valid 'type_names'"},
        {"\"scale\":{", "\"scale\":{},\"x\":{", "no valid 'scale'"},
        {"\"scale\":{\"kind\":2", "\"scale\":{\"kind\":1", "no valid 'scale'"},
        {"\"feature\":{\"kind\":2", "\"feature\":{\"kind\":0", "no valid 'feature'"},
        {"\"mean\":", "\"mean\":-1,\"x\":", "no valid 'scale'"},
        {"\"sd\":", "\"sd\":0,\"x\":", "no valid 'scale'"},
        {"\"clock_unit\":", "\"clock_unit\":0,\"x\":", "no valid 'clock_unit'"},
        {"\"low\":", "\"low\":1e300,\"x\":", "no valid 'low' and 'high'"},
        {"\"sd\":", "\"sd\":1e9,\"x\":", "no valid 'scale'"},
        {"\"mu\":", "\"mu\":1e9,\"x\":", "no valid 'scale'"},
        {"\"mean\":", "\"mean\":1e301,\"x\":", "no valid 'scale'"},
        {"\"clock_unit\":", "\"clock_unit\":1e-301,\"x\":", "no valid 'clock_unit'"},
        {"\"high\":", "\"high\":1e6,\"x\":", "no valid 'low' and 'high'"},
        {"\"tick\":", "\"tick\":1e301,\"x\":", "no valid 'tick'"},
        {"\"tick\":", "\"tick\":\"nan\",\"x\":", "no valid 'tick'"},
        {"\"tick\":", "\"tail\":{\"from\":-1,\"share\":0.1,\"mean\":1},\"tick\":", "no valid 'tail'"},
        {"\"tick\":", "\"tail\":{\"from\":1,\"share\":0.1},\"tick\":", "no valid 'tail'"},
        {"\"tick\":", "\"adaptive\":{\"gamma\":2,\"pinball_before\":1,\"pinball_after\":1},\"tick\":",
         "no valid 'adaptive'"},
        {"\"tick\":", "\"adaptive\":{\"gamma\":0.1},\"tick\":", "no valid 'adaptive'"},
        {"\"tick\":", "\"adaptive\":{\"gamma\":0.1,\"pinball_before\":1,\"pinball_after\":1,\"cs\":-1},\"tick\":",
         "no valid 'adaptive'"},
        {"\"marginal\":[", "\"marginal\":[-1,", "no valid 'marginal'"},
        {"\"epoch\":1", "\"epoch\":-1", "no valid 'epoch'"},
        {"\"counts\":[", "\"counts\":[0,", "no valid 'counts'"},
        {"\"counts\":[", "\"counts\":[1e300,", "no valid 'counts'"},
        {"\"counts\":[", "\"x\":[", "no valid 'counts'"},
    };
    smurf_data *data = read_text(words);
    smurf_model *model = trained("counts=on", data);
    struct tensor_file file;
    smurf_error err;
    save(model, "again.safetensors");
    assert_int_equal(smurf_tensors_open(&file, in_folder("again.safetensors"), &err), SMURF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rewrite(&file, cases[i].from, cases[i].to);
        load_says(in_folder("m.safetensors"), SMURF_ERROR_INPUT, cases[i].says);
    }
    smurf_tensors_close(&file);
    model->slab[smurf_offsets(&model->model)->head.type_c] = NAN;
    save(model, "m.safetensors");
    load_says(in_folder("m.safetensors"), SMURF_ERROR_INPUT, "tensor 'type.bias' has a value that is not finite");
    load_says(in_folder("none.safetensors"), SMURF_ERROR_IO, "cannot open");
    load_says("/dev/null", SMURF_ERROR_INPUT, "ends after 0 bytes");
    assert_int_equal(truncate(in_folder("again.safetensors"), 2000), 0);
    load_says(in_folder("again.safetensors"), SMURF_ERROR_INPUT, "cut off");
    smurf_model_free(model);
    smurf_model_free(NULL);
    smurf_data_free(data);
}

/* A copy writes the same file, also when the original is gone. */
static void test_copy(void **state)
{
    (void)state;
    smurf_data *data = read_text(words);
    smurf_model *model = trained("tail=on", data), *copy;
    model->notes.calibration = (smurf_calibration){.gaps = 9, .sequences = 2, .conformal = 2};
    free(model->notes.conformal);
    model->notes.conformal = calloc(2, sizeof(double));
    model->notes.conformal[1] = 0.5;
    save(model, "m.safetensors");
    assert_int_equal(smurf_model_copy(&copy, model, NULL), SMURF_OK);
    smurf_model_free(model);
    save(copy, "again.safetensors");
    smurf_model_free(copy);
    smurf_data_free(data);
    char command[512];
    snprintf(command, sizeof command, "cmp %s", in_folder("m.safetensors"));
    snprintf(command + strlen(command), sizeof command - strlen(command), " %s", in_folder("again.safetensors"));
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_handle),
        cmocka_unit_test(test_settings_round_trip),
        cmocka_unit_test(test_settings_know_no_locale),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_published_presets),
        cmocka_unit_test(test_unknown_presets),
        cmocka_unit_test(test_default_preset),
        cmocka_unit_test(test_context_of_uneven_data),
        cmocka_unit_test(test_context_of_cut_data),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_save_fails),
        cmocka_unit_test(test_load_believes_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
