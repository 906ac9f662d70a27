/*
 * pickle_call.c - the callables that data pickles use, and what they make; see pickle.h.
 *
 * numpy writes a scalar as scalar(dtype, bytes), an array as _reconstruct(...) followed by a state or, since protocol
 * 5, as _frombuffer(bytes, dtype, shape, order). Python 3 writes bytes in protocols 0 to 2 as _codecs.encode(text,
 * 'latin1').
 */
#include "data/pickle.h"

#include <string.h>

static smurf_status damaged(smurf_error *err, const char *what)
{
    return smurf_fail(err, SMURF_ERROR_INPUT, "%s is not as numpy and Python write it: the pickle is damaged", what);
}

/* ---- Bytes and dictionaries ------------------------------------------------------------------ */

/* bytes(), bytearray(bytes), bytearray(text, 'latin-1'), _codecs.encode(text, 'latin1'). */
static smurf_status call_bytes(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                               smurf_error *err)
{
    size_t count = smurf_pickle_count(tree, arguments), n = 0;
    struct pickle_value text = {0}, encoding;
    if (count > 0) text = smurf_pickle_item(tree, arguments, 0);
    if (count > 2 || (count > 0 && text.kind != PICKLE_TEXT)) return damaged(err, "a string of bytes");
    if (count == 1) {
        *out = text;
        return SMURF_OK;
    }
    if (count == 2) {
        encoding = smurf_pickle_item(tree, arguments, 1);
        if (!smurf_pickle_is(tree, encoding, "latin1") && !smurf_pickle_is(tree, encoding, "latin-1"))
            return damaged(err, "the encoding of bytes");
        smurf_pickle_text(tree, text, &n);
    }
    smurf_status status = smurf_pickle_charge(tree, n, err);
    if (status) return status;
    char *room = smurf_pickle_text_room(tree, n), *end = room;
    if (!room) return smurf_fail_memory(err);
    if (n) end = smurf_pickle_to_latin1(room, smurf_pickle_text(tree, text, &n), n);
    if (!end) return damaged(err, "a string of bytes");
    *out = smurf_pickle_text_keep(tree, (size_t)(end - room));
    return SMURF_OK;
}

/* OrderedDict() and, from Python 2, OrderedDict([[key, value], ...]). */
static smurf_status call_dict(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                              smurf_error *err)
{
    smurf_status status = smurf_pickle_node(tree, PICKLE_DICT, out, err);
    if (status || smurf_pickle_count(tree, arguments) == 0) return status;
    struct pickle_value pairs = smurf_pickle_item(tree, arguments, 0);
    if (!smurf_pickle_is_list(tree, pairs)) return damaged(err, "an OrderedDict");
    size_t count = smurf_pickle_count(tree, pairs);
    status = smurf_pickle_charge(tree, count, err);
    for (size_t i = 0; i < count && !status; i++) {
        struct pickle_value pair = smurf_pickle_item(tree, pairs, i);
        if (!smurf_pickle_is_list(tree, pair) || smurf_pickle_count(tree, pair) != 2)
            return damaged(err, "an OrderedDict");
        struct pickle_value item = smurf_pickle_item(tree, pair, 1);
        status = smurf_pickle_set_key(tree, &item, smurf_pickle_item(tree, pair, 0), err);
        if (!status) status = smurf_pickle_append(tree, out->node, &item, 1, err);
    }
    return status;
}

/* ---- numpy ----------------------------------------------------------------------------------- */

/* numpy.dtype('f8', ...): a letter and a size. The byte order comes later, in the state. */
static smurf_status call_dtype(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                               smurf_error *err)
{
    static const char *const known[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
    struct pickle_value text = {0};
    if (smurf_pickle_count(tree, arguments) > 0) text = smurf_pickle_item(tree, arguments, 0);
    if (text.kind != PICKLE_TEXT) return damaged(err, "a numpy dtype");
    size_t n;
    const char *code = smurf_pickle_text(tree, text, &n);

    struct pickle_dtype dtype = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (smurf_pickle_is(tree, text, known[i]))
            dtype = (struct pickle_dtype){.code = known[i][0], .size = (unsigned char)(known[i][1] - '0')};
    if (n && *code == 'O') dtype.code = 'O';
    if (!dtype.code)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "numpy dtype '%.*s' is not supported (convert to f4, f8, i1 to i8, u1 to u8, b1 or lists)",
                          n < 40 ? (int)n : 40, code);
    smurf_status status = smurf_pickle_node(tree, PICKLE_DTYPE, out, err);
    if (!status) tree->node[out->node].dtype = dtype;
    return status;
}

/* dtype state: (3, '<' or '>' or '|', ...). */
static smurf_status build_dtype(struct pickle_tree *tree, struct pickle_value object, struct pickle_value state,
                                smurf_error *err)
{
    struct pickle_value order = {0};
    if (smurf_pickle_count(tree, state) > 1) order = smurf_pickle_item(tree, state, 1);
    bool big = smurf_pickle_is(tree, order, ">");
    if (!big && !smurf_pickle_is(tree, order, "<") && !smurf_pickle_is(tree, order, "|"))
        return damaged(err, "the state of a numpy dtype");
    tree->node[object.node].dtype.big = big;
    return SMURF_OK;
}

static bool get_dtype(const struct pickle_tree *tree, struct pickle_value value, struct pickle_dtype *out)
{
    if (smurf_pickle_kind(tree, value) != PICKLE_DTYPE) return false;
    *out = tree->node[value.node].dtype;
    return true;
}

/* scalar(dtype, bytes): becomes a plain number. */
static smurf_status call_scalar(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                                smurf_error *err)
{
    struct pickle_dtype dtype;
    if (smurf_pickle_count(tree, arguments) != 2 || !get_dtype(tree, smurf_pickle_item(tree, arguments, 0), &dtype) ||
        dtype.code == 'O')
        return damaged(err, "a numpy scalar");
    struct pickle_value data = smurf_pickle_item(tree, arguments, 1);
    size_t n = 0;
    const char *bytes = data.kind == PICKLE_TEXT ? smurf_pickle_text(tree, data, &n) : NULL;
    if (n != dtype.size) return damaged(err, "a numpy scalar");
    *out = smurf_pickle_decode(dtype, bytes);
    return SMURF_OK;
}

/* A shape of up to two dimensions: rows x columns, with rows = 1 for a vector and 1 x 1 for a 0-d array. */
static smurf_status read_shape(const struct pickle_tree *tree, struct pickle_value shape, size_t *dimensions,
                               uint64_t side[2], smurf_error *err)
{
    *dimensions = smurf_pickle_count(tree, shape);
    if (smurf_pickle_kind(tree, shape) != PICKLE_TUPLE) return damaged(err, "the shape of a numpy array");
    if (*dimensions > 2)
        return smurf_fail(err, SMURF_ERROR_INPUT, "a numpy array has %zu dimensions (at most two are supported)",
                          *dimensions);
    side[0] = side[1] = 1;
    for (size_t i = 0; i < *dimensions; i++) {
        struct pickle_value n = smurf_pickle_item(tree, shape, i);
        if (n.kind != PICKLE_INT || n.integer < 0 || n.integer > UINT32_MAX)
            return damaged(err, "the shape of a numpy array");
        side[2 - *dimensions + i] = (uint64_t)n.integer;
    }
    return SMURF_OK;
}

/* Makes the node a list of its rows, which are views of the node's own items or bytes. */
static smurf_status cut_into_rows(struct pickle_tree *tree, size_t number, const uint64_t side[2], smurf_error *err)
{
    struct pickle_node whole = tree->node[number];
    uint64_t step = side[1] * (whole.kind == PICKLE_ARRAY ? whole.dtype.size : 1);
    tree->node[number] = (struct pickle_node){.kind = PICKLE_LIST};
    smurf_status status = smurf_pickle_charge(tree, side[0], err);
    for (uint64_t i = 0; i < side[0] && !status; i++) {
        struct pickle_value row;
        status = smurf_pickle_node(tree, whole.kind, &row, err);
        if (status) break;
        struct pickle_node *node = &tree->node[row.node];
        *node = whole;
        node->first = whole.first + i * step;
        node->count = node->room = (uint32_t)side[1];
        status = smurf_pickle_append(tree, number, &row, 1, err);
    }
    return status;
}

/* Fills an array. data: a text with the bytes, or a list if the dtype is object. */
static smurf_status fill_array(struct pickle_tree *tree, size_t number, struct pickle_value shape,
                               struct pickle_dtype dtype, bool fortran, struct pickle_value data, smurf_error *err)
{
    size_t dimensions, n;
    uint64_t side[2];
    smurf_status status = read_shape(tree, shape, &dimensions, side, err);
    if (status) return status;
    if (fortran && side[0] > 1 && side[1] > 1)
        return smurf_fail(err, SMURF_ERROR_INPUT,
                          "a numpy array of two dimensions is in Fortran order (save numpy.ascontiguousarray of it)");
    struct pickle_node *node = &tree->node[number];
    uint64_t count = side[0] * side[1];
    if (count > UINT32_MAX) return damaged(err, "the shape of a numpy array");

    if (dtype.code == 'O') {
        if (smurf_pickle_kind(tree, data) != PICKLE_LIST || smurf_pickle_count(tree, data) != count)
            return damaged(err, "a numpy array of objects");
        *node = tree->node[data.node];
        node->room = node->count;
    } else {
        const char *bytes = data.kind == PICKLE_TEXT ? smurf_pickle_text(tree, data, &n) : NULL;
        if (!bytes || n != count * dtype.size) return damaged(err, "the data of a numpy array");
        *node = (struct pickle_node){
            .kind = PICKLE_ARRAY, .first = (uint64_t)(bytes - tree->text), .count = (uint32_t)count, .dtype = dtype};
    }
    return dimensions == 2 ? cut_into_rows(tree, number, side, err) : SMURF_OK;
}

/* _reconstruct(ndarray, (0,), b'b'): an array whose state follows. */
static smurf_status call_reconstruct(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                                     smurf_error *err)
{
    (void)arguments;
    return smurf_pickle_node(tree, PICKLE_ARRAY, out, err);
}

/* Array state: (1, shape, dtype, is it in Fortran order, data). */
static smurf_status build_array(struct pickle_tree *tree, struct pickle_value object, struct pickle_value state,
                                smurf_error *err)
{
    struct pickle_dtype dtype;
    if (smurf_pickle_count(tree, state) != 5 || !get_dtype(tree, smurf_pickle_item(tree, state, 2), &dtype))
        return damaged(err, "the state of a numpy array");
    struct pickle_value fortran = smurf_pickle_item(tree, state, 3);
    return fill_array(tree, object.node, smurf_pickle_item(tree, state, 1), dtype,
                      fortran.kind == PICKLE_INT && fortran.integer, smurf_pickle_item(tree, state, 4), err);
}

/* _frombuffer(data, dtype, shape, 'C' or 'F'). */
static smurf_status call_frombuffer(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                                    smurf_error *err)
{
    struct pickle_dtype dtype;
    if (smurf_pickle_count(tree, arguments) != 4 || !get_dtype(tree, smurf_pickle_item(tree, arguments, 1), &dtype) ||
        dtype.code == 'O')
        return damaged(err, "a numpy array");
    smurf_status status = smurf_pickle_node(tree, PICKLE_ARRAY, out, err);
    if (status) return status;
    return fill_array(tree, out->node, smurf_pickle_item(tree, arguments, 2), dtype,
                      smurf_pickle_is(tree, smurf_pickle_item(tree, arguments, 3), "F"),
                      smurf_pickle_item(tree, arguments, 0), err);
}

/* ---- The table ------------------------------------------------------------------------------- */

typedef smurf_status maker(struct pickle_tree *tree, struct pickle_value arguments, struct pickle_value *out,
                           smurf_error *err);

static const struct {
    const char *module, *name;
    maker *make; /* NULL: used only as an argument */
} globals[] = {
    {"numpy.core.multiarray", "scalar", call_scalar},
    {"numpy.core.multiarray", "_reconstruct", call_reconstruct},
    {"numpy.core.numeric", "_frombuffer", call_frombuffer},
    {"numpy._core.multiarray", "scalar", call_scalar}, /* numpy 2 */
    {"numpy._core.multiarray", "_reconstruct", call_reconstruct},
    {"numpy._core.numeric", "_frombuffer", call_frombuffer},
    {"numpy", "dtype", call_dtype},
    {"numpy", "ndarray", NULL},
    {"_codecs", "encode", call_bytes},
    {"__builtin__", "bytes", call_bytes},
    {"__builtin__", "bytearray", call_bytes},
    {"builtins", "bytes", call_bytes},
    {"builtins", "bytearray", call_bytes},
    {"collections", "OrderedDict", call_dict},
};

smurf_status smurf_pickle_global(const struct pickle_tree *tree, struct pickle_value module, struct pickle_value name,
                                 struct pickle_value *out, smurf_error *err)
{
    if (module.kind != PICKLE_TEXT || name.kind != PICKLE_TEXT) return damaged(err, "the name of a callable");
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (smurf_pickle_is(tree, module, globals[i].module) && smurf_pickle_is(tree, name, globals[i].name)) {
            *out = (struct pickle_value){.kind = PICKLE_GLOBAL, .key = PICKLE_NO_KEY, .global = i};
            return SMURF_OK;
        }
    size_t m, n;
    const char *left = smurf_pickle_text(tree, module, &m), *right = smurf_pickle_text(tree, name, &n);
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "pickle asks for '%.*s.%.*s', which is not data; nothing was executed "
                      "(save plain lists, dictionaries, numbers and numpy arrays instead)",
                      m < 80 ? (int)m : 80, left, n < 80 ? (int)n : 80, right);
}

smurf_status smurf_pickle_call(struct pickle_tree *tree, struct pickle_value function, struct pickle_value arguments,
                               struct pickle_value *out, smurf_error *err)
{
    if (function.kind != PICKLE_GLOBAL || !globals[function.global].make ||
        smurf_pickle_kind(tree, arguments) != PICKLE_TUPLE)
        return damaged(err, "a call");
    return globals[function.global].make(tree, arguments, out, err);
}

smurf_status smurf_pickle_build(struct pickle_tree *tree, struct pickle_value object, struct pickle_value state,
                                smurf_error *err)
{
    enum pickle_kind kind = smurf_pickle_kind(tree, object);
    if (smurf_pickle_kind(tree, state) != PICKLE_TUPLE) return damaged(err, "the state of an object");
    if (kind == PICKLE_DTYPE) return build_dtype(tree, object, state, err);
    if (kind == PICKLE_ARRAY) return build_array(tree, object, state, err);
    return damaged(err, "an object with a state");
}
