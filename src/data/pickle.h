/*
 * pickle.h - Python pickles as data: the tree of values behind the pickle reader.
 *
 *     bytes ─ pickle_vm.c (opcodes) ─ pickle_call.c (numpy and friends) ─► tree ─ pickle_read.c ─► builder
 *
 * A pickle is a program for a stack machine. This machine knows the opcodes and the few callables that make plain data
 * and refuses everything else; nothing is ever executed. The tree is a graph: lists may be shared and may contain
 * themselves, so code that walks it limits its depth and charges for each visit.
 *
 * Layout: a value is 16 bytes. Containers are nodes, whose items are contiguous in one pool; texts (and bytes, and the
 * data of numpy arrays) are in another. A dictionary item carries the number of its key, so an event of three fields
 * takes 48 bytes plus 24 for its node.
 */
#ifndef SMURF_DATA_PICKLE_H
#define SMURF_DATA_PICKLE_H

#include "base/error.h"
#include "data/format.h"
#include "data/names.h"
#include "data/source.h"

#include <stdint.h>

enum pickle_kind {
    PICKLE_UNSET, /* an empty memo slot; never in the tree */
    PICKLE_SPENT, /* likewise: the slot's value was not kept */
    PICKLE_NONE,
    PICKLE_INT, /* and bool */
    PICKLE_FLOAT,
    PICKLE_TEXT,   /* str, unicode (as UTF-8), bytes */
    PICKLE_GLOBAL, /* a callable from pickle_call.c */
    PICKLE_OBJECT, /* a node, whose own kind is one of the following */
    PICKLE_LIST,
    PICKLE_TUPLE,
    PICKLE_DICT,
    PICKLE_DTYPE,
    PICKLE_ARRAY, /* numpy, one dimension */
};

/* The key of a value that is not in a dictionary, or whose key is not a short text. */
#define PICKLE_NO_KEY UINT32_MAX

struct pickle_value {
    uint32_t kind;
    uint32_t key; /* number in tree->keys */
    union {
        int64_t integer;
        double real;
        uint64_t text; /* offset in the text pool */
        size_t node;
        size_t global;
    };
};

/* A numpy dtype: 'f', 'i', 'u', 'b' and the size of an item in bytes, or 'O' for objects. */
struct pickle_dtype {
    char code;
    unsigned char size;
    bool big; /* big-endian */
};

struct pickle_node {
    uint64_t first;       /* list, tuple, dict: index of the first item; array: offset of its bytes */
    uint32_t count, room; /* items in use, items allocated */
    unsigned char kind;
    struct pickle_dtype dtype; /* of a dtype or an array */
};

/* Zero-initialised: empty. */
struct pickle_tree {
    struct pickle_value root;
    struct pickle_value *item;
    size_t items, item_room;
    struct pickle_node *node;
    size_t nodes, node_room;
    char *text; /* each text: 4 bytes of length, its bytes, a NUL */
    size_t text_used, text_room;
    struct names keys;
    uint64_t bytes;   /* bytes of the pickle read so far */
    uint64_t charged; /* see smurf_pickle_charge */
};

format_write smurf_pickle_write;

void smurf_pickle_release(struct pickle_tree *tree);

/* Runs one pickle into an empty tree. Stops after its last opcode. */
smurf_status smurf_pickle_load(struct pickle_tree *tree, struct source *source, smurf_error *err);

/* The functions below leave the error location to their caller. */

/* Counts work not proportional to bytes read, such as a visit to a widely shared list. Fails once the total exceeds 16
   per byte of the file plus 2^20. */
smurf_status smurf_pickle_charge(struct pickle_tree *tree, uint64_t work, smurf_error *err);

/* ---- Making ---------------------------------------------------------------------------------- */

/* A new node without items. */
smurf_status smurf_pickle_node(struct pickle_tree *tree, enum pickle_kind kind, struct pickle_value *out,
                               smurf_error *err);
/* Appends n items, which must not be in the tree's own pool, to a list, tuple or dictionary. */
smurf_status smurf_pickle_append(struct pickle_tree *tree, size_t node, const struct pickle_value *from, size_t n,
                                 smurf_error *err);
/* Removes the most recent tuple, which must be unreferenced; false if it is not the most recent. */
bool smurf_pickle_forget(struct pickle_tree *tree, size_t node);
/* Makes value a dictionary item with the text `key` as its key. */
smurf_status smurf_pickle_set_key(struct pickle_tree *tree, struct pickle_value *value, struct pickle_value key,
                                  smurf_error *err);

/* Room to write a text of up to n bytes; asking again for more keeps what was written. NULL if out of memory or n is 4
   GiB or more. The pool may move. */
char *smurf_pickle_text_room(struct pickle_tree *tree, uint64_t n);
/* Keeps the first n bytes of that room as a text. */
struct pickle_value smurf_pickle_text_keep(struct pickle_tree *tree, size_t n);

/* Parse numbers given as text followed by a newline. */
smurf_status smurf_pickle_from_decimal(const char *text, size_t n, int64_t *out, smurf_error *err);
smurf_status smurf_pickle_from_float(const char *text, size_t n, double *out, smurf_error *err);

/* Decode Python's text encodings into out, which has room for 2 n bytes. Return the end of the output, or NULL if the
   text is invalid. */
char *smurf_pickle_from_repr(char *out, const char *text, size_t n); /* 'a\x00' to bytes */
char *smurf_pickle_from_raw(char *out, const char *text, size_t n);  /* Latin-1 with \uXXXX to UTF-8 */
char *smurf_pickle_to_latin1(char *out, const char *text, size_t n); /* UTF-8 to bytes */

/* The callable of this name; an error if it is not known to make data. */
smurf_status smurf_pickle_global(const struct pickle_tree *tree, struct pickle_value module, struct pickle_value name,
                                 struct pickle_value *out, smurf_error *err);
/* function(*arguments), and object.__setstate__(state). */
smurf_status smurf_pickle_call(struct pickle_tree *tree, struct pickle_value function, struct pickle_value arguments,
                               struct pickle_value *out, smurf_error *err);
smurf_status smurf_pickle_build(struct pickle_tree *tree, struct pickle_value object, struct pickle_value state,
                                smurf_error *err);

/* ---- Looking --------------------------------------------------------------------------------- */

/* The kind of a value, or of its node if it is one. */
enum pickle_kind smurf_pickle_kind(const struct pickle_tree *tree, struct pickle_value value);
/* A list, a tuple or an array. */
bool smurf_pickle_is_list(const struct pickle_tree *tree, struct pickle_value value);
/* Items of a list, tuple, dictionary or array; 0 for anything else. */
size_t smurf_pickle_count(const struct pickle_tree *tree, struct pickle_value value);
/* Item i < count. Items of arrays are decoded; those of dictionaries come with their key. */
struct pickle_value smurf_pickle_item(const struct pickle_tree *tree, struct pickle_value list, size_t i);
/* The bytes of a text, NUL-terminated. */
const char *smurf_pickle_text(const struct pickle_tree *tree, struct pickle_value text, size_t *length);
/* Is the value this text? */
bool smurf_pickle_is(const struct pickle_tree *tree, struct pickle_value value, const char *text);
/* One number of a numpy array or scalar, of dtype->size bytes. uint64 beyond int64 becomes a float. */
struct pickle_value smurf_pickle_decode(struct pickle_dtype dtype, const char *bytes);

#endif
