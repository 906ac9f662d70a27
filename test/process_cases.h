/*
 * process_cases.h - the processes that every test of laws and simulation goes through.
 */
#ifndef SMURF_TEST_PROCESS_CASES_H
#define SMURF_TEST_PROCESS_CASES_H

#include "smurf_lab.h"

struct process_case {
    const char *name;
    uint32_t types;
    smurf_parameter parameter[4];
    size_t parameters;
};

#define VALUES(...)        (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)
#define TWENTY(a, b, c, d) a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d

static const struct process_case process_cases[] = {
    {"poisson", 1, {{"rate", VALUES(3)}}, 1},
    {"poisson", 3, {{"rate", VALUES(0.5, 0, 2)}}, 1},
    {"inhomogeneous", 1, {{"rate", VALUES(2)}, {"amplitude", VALUES(1)}, {"period", VALUES(5)}}, 3},
    {"inhomogeneous", 2, {{"period", VALUES(0.3)}, {"weights", VALUES(1, 3)}}, 2},
    {"exponential", 4, {{"mean", VALUES(0.25)}}, 1},
    {"gamma", 1, {{"shape", VALUES(0.3)}, {"scale", VALUES(2)}}, 2},
    {"gamma", 1, {{"shape", VALUES(1)}}, 1},
    {"gamma", 2, {{"shape", VALUES(4.5)}, {"scale", VALUES(0.1)}, {"weights", VALUES(9, 1)}}, 3},
    {"gamma", 1, {{"shape", VALUES(400)}, {"scale", VALUES(0.01)}}, 2},
    {"weibull", 1, {{"shape", VALUES(0.5)}, {"scale", VALUES(1)}}, 2},
    {"weibull", 1, {{"shape", VALUES(1)}, {"scale", VALUES(7)}}, 2},
    {"weibull", 3, {{"shape", VALUES(3)}, {"scale", VALUES(0.2)}}, 2},
    {"lognormal", 1, {{"mu", VALUES(-1)}, {"sigma", VALUES(2)}}, 2},
    {"lognormal", 2, {{"mu", VALUES(1)}, {"sigma", VALUES(0.4)}}, 2},
    {"self-correcting", 1, {{"mu", VALUES(1)}, {"alpha", VALUES(0.2)}}, 2},
    {"self-correcting", 2, {{"mu", VALUES(0.5)}, {"alpha", VALUES(30)}, {"weights", VALUES(0.2, 0.8)}}, 3},
    {"hawkes", 1, {{"base", VALUES(0.5)}, {"excitation", VALUES(0.8)}, {"decay", VALUES(2)}}, 3},
    {"hawkes",
     3,
     {{"base", VALUES(0.1, 0.4, 0)},
      {"excitation", VALUES(0.1, 0.6, 0, 0, 0.3, 0.2, 0.9, 0, 0.1)},
      {"decay", VALUES(0.5, 2, 20)}},
     3},
    {"sittings", 1, {{"short", VALUES(1)}, {"long", VALUES(1e6)}, {"share", VALUES(0.05)}}, 3},
    {"sittings", 2, {{"short", VALUES(3)}, {"long", VALUES(0.2)}, {"share", VALUES(0.7)}}, 3},
    {"repeating", 3, {{"rate", VALUES(2)}, {"weights", VALUES(5, 0, 1)}}, 2},
    {"repeating", 20, {{"repeat", VALUES(0.9)}, {"last", VALUES(2)}, {"rate", VALUES(0.3)}}, 3},
    {"ending", 2, {{"mean", VALUES(0.5)}, {"never", VALUES(0)}, {"weights", VALUES(1, 3)}}, 3},
    {"daily", 1, {{"rate", VALUES(0.02)}, {"day", VALUES(1)}, {"week", VALUES(1)}}, 3},
    {"daily", 2, {{"rate", VALUES(0.5)}, {"week", VALUES(0.7)}, {"weights", VALUES(1, 3)}}, 3},
    {"hawkes",
     20,
     {{"base", VALUES(TWENTY(0.1, 0.05, 0, 0.2))},
      {"excitation", VALUES(0.7)},
      {"decay", VALUES(TWENTY(1, 0.3, 4, 10))}},
     3},
};
enum { PROCESS_CASES = sizeof process_cases / sizeof *process_cases };

static inline smurf_process *new_process(const struct process_case *c)
{
    smurf_error err;
    smurf_process *process;
    if (smurf_process_new(&process, c->name, c->types, c->parameter, c->parameters, &err))
        fail_msg("%s: %s", c->name, err.message);
    return process;
}

/* `sequences` of `events` each. */
static inline smurf_data *simulate(const smurf_process *process, size_t sequences, size_t events, uint64_t seed)
{
    smurf_simulate_config config;
    smurf_simulate_config_init(&config);
    config.sequences = sequences;
    config.max_events = events;
    config.seed = seed;
    smurf_error err;
    smurf_data *data;
    if (smurf_process_simulate(&data, process, &config, &err)) fail_msg("%s", err.message);
    return data;
}

#endif
