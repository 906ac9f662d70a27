/*
 * pickle_vm.c - the opcodes of pickle protocols 0 to 5 that make data; see pickle.h.
 *
 * One table lists them. An opcode with a name but no function is refused by name; one that is missing is unknown.
 * Lengths are trusted only as far as bytes arrive, and every stack access stays above the latest mark.
 */
#include "data/pickle.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

struct vm {
    struct pickle_tree *tree;
    struct source *source;
    struct pickle_value *stack;
    size_t depth, stack_room;
    size_t *mark; /* stack depths */
    size_t marks, mark_room;
    struct pickle_value *memo; /* (memos), PICKLE_UNSET if empty */
    size_t memos, memo_room;
    size_t memoized;   /* values in the memo, which is the next number of MEMOIZE */
    size_t fresh;      /* 1 + node of the tuple that the last opcode made or memoized; 0: none */
    size_t fresh_memo; /* 1 + its number in the memo; 0: none */
    int argument;      /* of the current opcode, from the table */
    bool stopped;
    bool placed; /* the error came from the source and has its location */
    smurf_error *err;
};

typedef smurf_status action(struct vm *vm);

/* ---- Bytes ----------------------------------------------------------------------------------- */

static smurf_status wrong(struct vm *vm, const char *what)
{
    return smurf_fail(vm->err, SMURF_ERROR_INPUT, "%s", what);
}

static smurf_status truncated(struct vm *vm)
{
    return wrong(vm, "the file ends in the middle of the pickle (is it complete?)");
}

static smurf_status fill(struct vm *vm, size_t want)
{
    if ((size_t)(vm->source->end - vm->source->p) >= want) return SMURF_OK;
    smurf_status status = smurf_source_fill(vm->source, want, vm->err);
    vm->placed = status != SMURF_OK;
    return status;
}

/* Takes the next n bytes, which stay valid until the next take. */
static smurf_status take(struct vm *vm, size_t n, const char **out)
{
    smurf_status status = fill(vm, n);
    if (status) return status;
    if ((size_t)(vm->source->end - vm->source->p) < n) return truncated(vm);
    *out = vm->source->p;
    vm->source->p += n;
    return SMURF_OK;
}

/* Takes the bytes up to the next newline; the newline follows them. */
static smurf_status take_line(struct vm *vm, const char **out, size_t *length)
{
    struct source *s = vm->source;
    for (size_t seen = 0;;) {
        size_t n = (size_t)(s->end - s->p);
        const char *newline = memchr(s->p + seen, '\n', n - seen);
        if (newline) {
            *out = s->p;
            *length = (size_t)(newline - s->p);
            s->p = newline + 1;
            return SMURF_OK;
        }
        if (s->eof) return truncated(vm);
        if (n > SOURCE_LINE_LIMIT)
            return smurf_fail(vm->err, SMURF_ERROR_INPUT, "a line of more than %zu bytes", SOURCE_LINE_LIMIT);
        seen = n;
        smurf_status status = fill(vm, n + n / 2 + 256);
        if (status) return status;
    }
}

/* Takes a little-endian number of n <= 8 bytes. */
static smurf_status take_unsigned(struct vm *vm, int n, uint64_t *out)
{
    const char *p = NULL;
    smurf_status status = take(vm, (size_t)n, &p);
    if (status) return status;
    *out = 0;
    for (int i = 0; i < n; i++) *out |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return SMURF_OK;
}

/* ---- Stack ----------------------------------------------------------------------------------- */

static smurf_status push(struct vm *vm, struct pickle_value value)
{
    if (vm->depth == vm->stack_room && !smurf_grow(&vm->stack, &vm->stack_room, vm->depth + 1, sizeof *vm->stack))
        return smurf_fail_memory(vm->err);
    vm->stack[vm->depth++] = value;
    return SMURF_OK;
}

/* Fails unless there are n values above the latest mark. */
static smurf_status expect(struct vm *vm, size_t n)
{
    size_t floor = vm->marks ? vm->mark[vm->marks - 1] : 0;
    if (vm->depth - floor >= n) return SMURF_OK;
    return wrong(vm, "the stack is empty: the pickle is damaged");
}

/* Removes the latest mark. The values above it are stack[*from .. depth). */
static smurf_status take_mark(struct vm *vm, size_t *from)
{
    if (vm->marks == 0) return wrong(vm, "there is no mark on the stack: the pickle is damaged");
    *from = vm->mark[--vm->marks];
    return SMURF_OK;
}

static smurf_status push_integer(struct vm *vm, int64_t x)
{
    return push(vm, (struct pickle_value){.kind = PICKLE_INT, .key = PICKLE_NO_KEY, .integer = x});
}

static smurf_status push_real(struct vm *vm, double x)
{
    return push(vm, (struct pickle_value){.kind = PICKLE_FLOAT, .key = PICKLE_NO_KEY, .real = x});
}

static smurf_status do_mark(struct vm *vm)
{
    if (!smurf_grow(&vm->mark, &vm->mark_room, vm->marks + 1, sizeof *vm->mark)) return smurf_fail_memory(vm->err);
    vm->mark[vm->marks++] = vm->depth;
    return SMURF_OK;
}

/* Removes the top value, or the mark if there is no value above it. */
static smurf_status do_pop(struct vm *vm)
{
    if (vm->marks && vm->mark[vm->marks - 1] == vm->depth) {
        vm->marks--;
        return SMURF_OK;
    }
    smurf_status status = expect(vm, 1);
    if (!status) vm->depth--;
    return status;
}

static smurf_status do_pop_mark(struct vm *vm)
{
    return take_mark(vm, &vm->depth);
}

static smurf_status do_dup(struct vm *vm)
{
    smurf_status status = expect(vm, 1);
    return status ? status : push(vm, vm->stack[vm->depth - 1]);
}

static smurf_status do_stop(struct vm *vm)
{
    smurf_status status = expect(vm, 1);
    if (status) return status;
    vm->tree->root = vm->stack[--vm->depth];
    vm->stopped = true;
    return SMURF_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static smurf_status do_none(struct vm *vm)
{
    return push(vm, (struct pickle_value){.kind = PICKLE_NONE, .key = PICKLE_NO_KEY});
}

static smurf_status do_bool(struct vm *vm)
{
    return push_integer(vm, vm->argument);
}

/* An unsigned number of 1 or 2 bytes, or a signed one of 4. */
static smurf_status do_binint(struct vm *vm)
{
    int bytes = vm->argument;
    uint64_t bits;
    smurf_status status = take_unsigned(vm, bytes, &bits);
    if (status) return status;
    return push_integer(vm, bytes == 4 ? (int64_t)(bits ^ 0x80000000u) - 0x80000000 : (int64_t)bits);
}

/* "12\n", "12L\n"; "00\n" and "01\n" are False and True. */
static smurf_status do_int_text(struct vm *vm)
{
    const char *text;
    size_t n;
    int64_t value;
    smurf_status status = take_line(vm, &text, &n);
    if (!status && n && text[n - 1] == 'L') n--;
    if (!status) status = smurf_pickle_from_decimal(text, n, &value, vm->err);
    return status ? status : push_integer(vm, value);
}

/* An integer in two's complement, preceded by its length in 1 or 4 bytes. */
static smurf_status do_long(struct vm *vm)
{
    int bytes = vm->argument;
    uint64_t n, bits = 0;
    const char *p = NULL;
    smurf_status status = take_unsigned(vm, bytes, &n);
    if (!status && n > 8) return wrong(vm, "an integer beyond 64 bits");
    if (!status) status = take(vm, (size_t)n, &p);
    if (status) return status;
    if (n && p[n - 1] & 0x80) bits = UINT64_MAX;
    for (uint64_t i = n; i-- > 0;) bits = bits << 8 | (unsigned char)p[i];
    return push_integer(vm, (int64_t)bits);
}

static smurf_status do_float_text(struct vm *vm)
{
    const char *text;
    size_t n;
    smurf_status status = take_line(vm, &text, &n);
    if (status) return status;
    double value = 0;
    status = smurf_pickle_from_float(text, n, &value, vm->err);
    return status ? status : push_real(vm, value);
}

static smurf_status do_binfloat(struct vm *vm)
{
    const char *p = NULL;
    smurf_status status = take(vm, 8, &p);
    if (status) return status;
    return push(vm, smurf_pickle_decode((struct pickle_dtype){.code = 'f', .size = 8, .big = true}, p));
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Text or bytes preceded by their length in 1, 4 or 8 bytes. Memory is allocated as the bytes arrive. */
static smurf_status do_text(struct vm *vm)
{
    int bytes = vm->argument;
    uint64_t n;
    smurf_status status = take_unsigned(vm, bytes, &n);
    if (status) return status;
    if (n > UINT32_MAX)
        return smurf_fail(vm->err, SMURF_ERROR_INPUT, "a text of %llu bytes, more than 4 GiB", (unsigned long long)n);
    size_t done = 0;
    do {
        size_t part = n - done < CHUNK ? (size_t)n - done : CHUNK;
        const char *p = NULL;
        status = take(vm, part, &p);
        if (status) return status;
        char *room = smurf_pickle_text_room(vm->tree, done + part);
        if (!room) return smurf_fail_memory(vm->err);
        memcpy(room + done, p, part);
        done += part;
    } while (done < n);
    return push(vm, smurf_pickle_text_keep(vm->tree, (size_t)n));
}

/* A line of text with escapes, which at most doubles in length. */
static smurf_status do_text_line(struct vm *vm)
{
    bool repr = vm->argument == 'S';
    const char *p = NULL;
    size_t n;
    smurf_status status = take_line(vm, &p, &n);
    if (status) return status;
    char *room = smurf_pickle_text_room(vm->tree, 2 * (uint64_t)n);
    if (!room) return smurf_fail_memory(vm->err);
    const char *end = repr ? smurf_pickle_from_repr(room, p, n) : smurf_pickle_from_raw(room, p, n);
    if (!end) return wrong(vm, "a text with a missing quote or an unknown escape: the pickle is damaged");
    return push(vm, smurf_pickle_text_keep(vm->tree, (size_t)(end - room)));
}

/* ---- Containers ------------------------------------------------------------------------------ */

/* Turns the values stack[from .. depth) into keyed items: k v k v ... becomes v v ..., half as many. */
static smurf_status pair_up(struct vm *vm, size_t from)
{
    size_t n = vm->depth - from;
    if (n % 2) return wrong(vm, "a dictionary has a key without a value");
    for (size_t i = 0; i < n / 2; i++) {
        struct pickle_value key = vm->stack[from + 2 * i], value = vm->stack[from + 2 * i + 1];
        smurf_status status = smurf_pickle_set_key(vm->tree, &value, key, vm->err);
        if (status) return status;
        vm->stack[from + i] = value;
    }
    vm->depth = from + n / 2;
    return SMURF_OK;
}

/* Replaces the values from stack[from] on by a container of them. */
static smurf_status gather(struct vm *vm, size_t from, enum pickle_kind kind)
{
    struct pickle_value made;
    smurf_status status = kind == PICKLE_DICT ? pair_up(vm, from) : SMURF_OK;
    if (!status) status = smurf_pickle_node(vm->tree, kind, &made, vm->err);
    if (!status) status = smurf_pickle_append(vm->tree, made.node, vm->stack + from, vm->depth - from, vm->err);
    vm->depth = from;
    if (status) return status;
    vm->fresh = kind == PICKLE_TUPLE ? made.node + 1 : 0;
    vm->fresh_memo = 0;
    return push(vm, made);
}

static smurf_status do_empty(struct vm *vm)
{
    enum pickle_kind kind = (enum pickle_kind)vm->argument;
    return gather(vm, vm->depth, kind);
}

static smurf_status do_marked(struct vm *vm)
{
    enum pickle_kind kind = (enum pickle_kind)vm->argument;
    size_t from = 0;
    smurf_status status = take_mark(vm, &from);
    return status ? status : gather(vm, from, kind);
}

static smurf_status do_tuple(struct vm *vm)
{
    size_t count = (size_t)vm->argument;
    smurf_status status = expect(vm, count);
    return status ? status : gather(vm, vm->depth - count, PICKLE_TUPLE);
}

/* Appends the values from stack[from] on to the container of the given kind below them. */
static smurf_status add_to(struct vm *vm, size_t from, enum pickle_kind kind)
{
    size_t floor = vm->marks ? vm->mark[vm->marks - 1] : 0;
    if (from <= floor || smurf_pickle_kind(vm->tree, vm->stack[from - 1]) != kind)
        return smurf_fail(vm->err, SMURF_ERROR_INPUT,
                          "items are added to something that is not a %s: the pickle is damaged",
                          kind == PICKLE_DICT ? "dictionary" : "list");
    smurf_status status = kind == PICKLE_DICT ? pair_up(vm, from) : SMURF_OK;
    if (!status)
        status = smurf_pickle_append(vm->tree, vm->stack[from - 1].node, vm->stack + from, vm->depth - from, vm->err);
    vm->depth = from;
    return status;
}

static smurf_status do_add(struct vm *vm)
{
    enum pickle_kind kind = (enum pickle_kind)vm->argument;
    size_t n = kind == PICKLE_DICT ? 2 : 1;
    smurf_status status = expect(vm, n + 1);
    return status ? status : add_to(vm, vm->depth - n, kind);
}

static smurf_status do_add_marked(struct vm *vm)
{
    enum pickle_kind kind = (enum pickle_kind)vm->argument;
    size_t from = 0;
    smurf_status status = take_mark(vm, &from);
    return status ? status : add_to(vm, from, kind);
}

/* ---- Memo ------------------------------------------------------------------------------------ */

/* The number of a memo entry: text (0 bytes) or binary. */
static smurf_status take_index(struct vm *vm, int bytes, uint64_t *out)
{
    if (bytes) return take_unsigned(vm, bytes, out);
    const char *text;
    size_t n;
    int64_t index = 0;
    smurf_status status = take_line(vm, &text, &n);
    if (!status) status = smurf_pickle_from_decimal(text, n, &index, vm->err);
    *out = (uint64_t)index;
    return status;
}

/* Picklers number memo entries consecutively, each after at least one byte: a larger number is a mistake. */
static smurf_status put(struct vm *vm, uint64_t index)
{
    smurf_status status = expect(vm, 1);
    if (status) return status;
    if (index > smurf_source_offset(vm->source))
        return smurf_fail(vm->err, SMURF_ERROR_INPUT, "memo number %lld is out of range: the pickle is damaged",
                          (long long)index);
    if (index >= vm->memos) {
        size_t before = vm->memos, after = (size_t)index + 1;
        if (!smurf_grow(&vm->memo, &vm->memo_room, after, sizeof *vm->memo)) return smurf_fail_memory(vm->err);
        for (size_t i = before; i < after; i++) vm->memo[i].kind = PICKLE_UNSET;
        vm->memos = after;
    }
    if (vm->memo[index].kind == PICKLE_UNSET) vm->memoized++;
    vm->memo[index] = vm->stack[vm->depth - 1];
    if (vm->fresh_memo) vm->fresh = 0;
    vm->fresh_memo = (size_t)index + 1;
    return SMURF_OK;
}

static smurf_status do_put(struct vm *vm)
{
    int bytes = vm->argument;
    uint64_t index;
    smurf_status status = take_index(vm, bytes, &index);
    return status ? status : put(vm, index);
}

static smurf_status do_memoize(struct vm *vm)
{
    return put(vm, vm->memoized);
}

static smurf_status do_get(struct vm *vm)
{
    int bytes = vm->argument;
    uint64_t index;
    smurf_status status = take_index(vm, bytes, &index);
    if (status) return status;
    if (index >= vm->memos || vm->memo[index].kind == PICKLE_UNSET)
        return smurf_fail(vm->err, SMURF_ERROR_INPUT, "memo number %lld was never put: the pickle is damaged",
                          (long long)index);
    if (vm->memo[index].kind == PICKLE_SPENT)
        return smurf_fail(vm->err, SMURF_ERROR_INPUT, "memo number %lld is the arguments of a call, which are not kept",
                          (long long)index);
    return push(vm, vm->memo[index]);
}

/* ---- Callables ------------------------------------------------------------------------------- */

/* Replaces the module and name on top of the stack by the callable they name. */
static smurf_status do_stack_global(struct vm *vm)
{
    struct pickle_value function;
    smurf_status status = expect(vm, 2);
    if (status) return status;
    vm->depth -= 2;
    status = smurf_pickle_global(vm->tree, vm->stack[vm->depth], vm->stack[vm->depth + 1], &function, vm->err);
    return status ? status : push(vm, function);
}

/* The same with both names as lines. */
static smurf_status do_global(struct vm *vm)
{
    for (int i = 0; i < 2; i++) {
        const char *text;
        size_t n;
        smurf_status status = take_line(vm, &text, &n);
        if (status) return status;
        char *room = smurf_pickle_text_room(vm->tree, n);
        if (!room) return smurf_fail_memory(vm->err);
        memcpy(room, text, n);
        status = push(vm, smurf_pickle_text_keep(vm->tree, n));
        if (status) return status;
    }
    return do_stack_global(vm);
}

/* A call. Picklers memoize the arguments but never use them again; with numpy scalars they would fill most of the tree,
   so a tuple just made for the call is removed. */
static smurf_status do_reduce(struct vm *vm)
{
    struct pickle_value made;
    smurf_status status = expect(vm, 2);
    if (status) return status;
    vm->depth -= 2;
    struct pickle_value function = vm->stack[vm->depth], arguments = vm->stack[vm->depth + 1];
    status = smurf_pickle_call(vm->tree, function, arguments, &made, vm->err);
    if (status) return status;
    if (vm->fresh == arguments.node + 1 && smurf_pickle_forget(vm->tree, arguments.node) && vm->fresh_memo)
        vm->memo[vm->fresh_memo - 1].kind = PICKLE_SPENT;
    vm->fresh = 0;
    return push(vm, made);
}

static smurf_status do_build(struct vm *vm)
{
    smurf_status status = expect(vm, 2);
    if (status) return status;
    vm->depth--;
    return smurf_pickle_build(vm->tree, vm->stack[vm->depth - 1], vm->stack[vm->depth], vm->err);
}

/* The length of a frame, which is not needed. */
static smurf_status do_skip(struct vm *vm)
{
    const char *p = NULL;
    return take(vm, (size_t)vm->argument, &p);
}

static smurf_status do_proto(struct vm *vm)
{
    const char *p = NULL;
    smurf_status status = take(vm, 1, &p);
    if (status || (unsigned char)*p <= 5) return status;
    return smurf_fail(vm->err, SMURF_ERROR_INPUT, "pickle protocol %d is not known (save with protocol 5 or less)",
                      (unsigned char)*p);
}

/* ---- The machine ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name;
    action *run;
    int argument;
} opcodes[256] = {
    ['('] = {"MARK", do_mark, 0},                   ['1'] = {"POP_MARK", do_pop_mark, 0},
    ['0'] = {"POP", do_pop, 0},                     ['2'] = {"DUP", do_dup, 0},
    ['.'] = {"STOP", do_stop, 0},                   ['N'] = {"NONE", do_none, 0},
    [0x88] = {"NEWTRUE", do_bool, 1},               [0x89] = {"NEWFALSE", do_bool, 0},
    ['I'] = {"INT", do_int_text, 0},                ['L'] = {"LONG", do_int_text, 0},
    ['K'] = {"BININT1", do_binint, 1},              ['M'] = {"BININT2", do_binint, 2},
    ['J'] = {"BININT", do_binint, 4},               ['F'] = {"FLOAT", do_float_text, 0},
    [0x8a] = {"LONG1", do_long, 1},                 [0x8b] = {"LONG4", do_long, 4},
    ['G'] = {"BINFLOAT", do_binfloat, 0},           [0x95] = {"FRAME", do_skip, 8},
    ['S'] = {"STRING", do_text_line, 'S'},          ['V'] = {"UNICODE", do_text_line, 'V'},
    ['U'] = {"SHORT_BINSTRING", do_text, 1},        ['T'] = {"BINSTRING", do_text, 4},
    [0x8c] = {"SHORT_BINUNICODE", do_text, 1},      ['X'] = {"BINUNICODE", do_text, 4},
    [0x8d] = {"BINUNICODE8", do_text, 8},           [0x96] = {"BYTEARRAY8", do_text, 8},
    ['C'] = {"SHORT_BINBYTES", do_text, 1},         ['B'] = {"BINBYTES", do_text, 4},
    [0x8e] = {"BINBYTES8", do_text, 8},             [0x80] = {"PROTO", do_proto, 0},
    [']'] = {"EMPTY_LIST", do_empty, PICKLE_LIST},  ['l'] = {"LIST", do_marked, PICKLE_LIST},
    ['a'] = {"APPEND", do_add, PICKLE_LIST},        ['e'] = {"APPENDS", do_add_marked, PICKLE_LIST},
    ['}'] = {"EMPTY_DICT", do_empty, PICKLE_DICT},  ['d'] = {"DICT", do_marked, PICKLE_DICT},
    ['s'] = {"SETITEM", do_add, PICKLE_DICT},       ['u'] = {"SETITEMS", do_add_marked, PICKLE_DICT},
    [')'] = {"EMPTY_TUPLE", do_empty, PICKLE_TUPLE}, ['t'] = {"TUPLE", do_marked, PICKLE_TUPLE},
    [0x85] = {"TUPLE1", do_tuple, 1},               [0x86] = {"TUPLE2", do_tuple, 2},
    [0x87] = {"TUPLE3", do_tuple, 3},               [0x94] = {"MEMOIZE", do_memoize, 0},
    ['p'] = {"PUT", do_put, 0},                     ['g'] = {"GET", do_get, 0},
    ['q'] = {"BINPUT", do_put, 1},                  ['h'] = {"BINGET", do_get, 1},
    ['r'] = {"LONG_BINPUT", do_put, 4},             ['j'] = {"LONG_BINGET", do_get, 4},
    ['c'] = {"GLOBAL", do_global, 0},               [0x93] = {"STACK_GLOBAL", do_stack_global, 0},
    ['R'] = {"REDUCE", do_reduce, 0},               ['b'] = {"BUILD", do_build, 0},
    /* Refused: these make objects, or need something outside the file. */
    ['P'] = {.name = "PERSID"}, ['Q'] = {.name = "BINPERSID"}, ['i'] = {.name = "INST"}, ['o'] = {.name = "OBJ"},
    [0x81] = {.name = "NEWOBJ"}, [0x82] = {.name = "EXT1"}, [0x83] = {.name = "EXT2"}, [0x84] = {.name = "EXT4"},
    [0x8f] = {.name = "EMPTY_SET"}, [0x90] = {.name = "ADDITEMS"}, [0x91] = {.name = "FROZENSET"},
    [0x92] = {.name = "NEWOBJ_EX"}, [0x97] = {.name = "NEXT_BUFFER"}, [0x98] = {.name = "READONLY_BUFFER"},
};
/* clang-format on */

static smurf_status step(struct vm *vm)
{
    const char *p = NULL;
    smurf_status status = take(vm, 1, &p);
    if (status) return status;
    unsigned char code = (unsigned char)*p;
    action *run = opcodes[code].run;
    vm->argument = opcodes[code].argument;
    if (run != do_put && run != do_memoize && run != do_reduce) vm->fresh = 0;
    if (run) return run(vm);
    if (!opcodes[code].name)
        return smurf_fail(vm->err, SMURF_ERROR_INPUT, "0x%02x is not a pickle opcode (is this a pickle?)", code);
    return smurf_fail(vm->err, SMURF_ERROR_INPUT,
                      "pickle opcode %s (0x%02x) makes more than data; nothing was executed "
                      "(save plain lists, dictionaries, numbers and numpy arrays instead)",
                      opcodes[code].name, code);
}

smurf_status smurf_pickle_load(struct pickle_tree *tree, struct source *source, smurf_error *err)
{
    struct vm vm = {.tree = tree, .source = source, .err = err};
    bool room = smurf_grow(&vm.stack, &vm.stack_room, 64, sizeof *vm.stack);
    smurf_status status = room ? SMURF_OK : smurf_fail_memory(err);
    uint64_t at = 0;
    while (!status && !vm.stopped) {
        at = tree->bytes = smurf_source_offset(source);
        status = step(&vm);
    }
    tree->bytes = smurf_source_offset(source);
    free(vm.stack);
    free(vm.mark);
    free(vm.memo);
    if (vm.placed) return status;
    smurf_error_prefix(err, status, "byte %llu: ", (unsigned long long)at);
    return smurf_error_place(err, status, source->name, 0);
}
