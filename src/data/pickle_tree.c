/* pickle_tree.c - see pickle.h: the pools of values and texts. */
#include "data/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = sizeof(uint32_t), KEY_LIMIT = 255 };

void smurf_pickle_release(struct pickle_tree *tree)
{
    free(tree->item);
    free(tree->node);
    free(tree->text);
    smurf_names_release(&tree->keys);
    *tree = (struct pickle_tree){0};
}

smurf_status smurf_pickle_charge(struct pickle_tree *tree, uint64_t work, smurf_error *err)
{
    tree->charged += work;
    if (tree->charged <= 16 * tree->bytes + (1 << 20)) return SMURF_OK;
    return smurf_fail(err, SMURF_ERROR_INPUT,
                      "the same lists are used so often that %llu bytes would become far more data; "
                      "save a copy of each list instead",
                      (unsigned long long)tree->bytes);
}

/* ---- Making ---------------------------------------------------------------------------------- */

smurf_status smurf_pickle_node(struct pickle_tree *tree, enum pickle_kind kind, struct pickle_value *out,
                               smurf_error *err)
{
    if (!smurf_grow(&tree->node, &tree->node_room, tree->nodes + 1, sizeof *tree->node)) return smurf_fail_memory(err);
    tree->node[tree->nodes] = (struct pickle_node){.kind = (unsigned char)kind};
    *out = (struct pickle_value){.kind = PICKLE_OBJECT, .key = PICKLE_NO_KEY, .node = tree->nodes++};
    return SMURF_OK;
}

/* Makes room for n more items of a node: in place if it is the last in the pool, else by moving it to the end with
   spare capacity, so that the space left behind stays proportional. */
static bool make_room(struct pickle_tree *tree, struct pickle_node *node, size_t n)
{
    size_t need = node->count + n;
    if (need <= node->room) return true;
    bool last = node->first + node->room == tree->items;
    size_t room = last || node->count == 0 ? need : need + need / 2;
    if (room > UINT32_MAX) room = UINT32_MAX;
    if (need > room) return false;
    size_t first = last ? node->first : tree->items;
    if (!smurf_grow(&tree->item, &tree->item_room, first + room, sizeof *tree->item)) return false;
    if (!last && node->count) memcpy(tree->item + first, tree->item + node->first, node->count * sizeof *tree->item);
    node->first = first;
    node->room = (uint32_t)room;
    tree->items = first + room;
    return true;
}

smurf_status smurf_pickle_append(struct pickle_tree *tree, size_t number, const struct pickle_value *from, size_t n,
                                 smurf_error *err)
{
    struct pickle_node *node = &tree->node[number];
    if (n == 0) return SMURF_OK;
    if (!make_room(tree, node, n)) return smurf_fail_memory(err);
    memcpy(tree->item + node->first + node->count, from, n * sizeof *from);
    node->count += (uint32_t)n;
    return SMURF_OK;
}

bool smurf_pickle_forget(struct pickle_tree *tree, size_t number)
{
    const struct pickle_node *node = &tree->node[number];
    if (number + 1 != tree->nodes || (node->room && node->first + node->room != tree->items)) return false;
    tree->items -= node->room;
    tree->nodes--;
    return true;
}

smurf_status smurf_pickle_set_key(struct pickle_tree *tree, struct pickle_value *value, struct pickle_value key,
                                  smurf_error *err)
{
    value->key = PICKLE_NO_KEY;
    if (key.kind != PICKLE_TEXT) return SMURF_OK;
    size_t n;
    const char *text = smurf_pickle_text(tree, key, &n);
    if (n > KEY_LIMIT) return SMURF_OK;
    value->key = smurf_names_intern(&tree->keys, text, n);
    return value->key == NAMES_FULL ? smurf_fail_memory(err) : SMURF_OK;
}

char *smurf_pickle_text_room(struct pickle_tree *tree, uint64_t n)
{
    if (n > UINT32_MAX) return NULL;
    if (!smurf_grow(&tree->text, &tree->text_room, tree->text_used + PREFIX + (size_t)n + 1, 1)) return NULL;
    return tree->text + tree->text_used + PREFIX;
}

struct pickle_value smurf_pickle_text_keep(struct pickle_tree *tree, size_t n)
{
    uint32_t length = (uint32_t)n;
    memcpy(tree->text + tree->text_used, &length, PREFIX);
    struct pickle_value text = {.kind = PICKLE_TEXT, .key = PICKLE_NO_KEY, .text = tree->text_used};
    tree->text_used += PREFIX + n;
    tree->text[tree->text_used++] = '\0';
    return text;
}

/* ---- Looking --------------------------------------------------------------------------------- */

enum pickle_kind smurf_pickle_kind(const struct pickle_tree *tree, struct pickle_value value)
{
    return value.kind == PICKLE_OBJECT ? tree->node[value.node].kind : value.kind;
}

bool smurf_pickle_is_list(const struct pickle_tree *tree, struct pickle_value value)
{
    enum pickle_kind kind = smurf_pickle_kind(tree, value);
    return kind == PICKLE_LIST || kind == PICKLE_TUPLE || kind == PICKLE_ARRAY;
}

size_t smurf_pickle_count(const struct pickle_tree *tree, struct pickle_value value)
{
    return value.kind == PICKLE_OBJECT ? tree->node[value.node].count : 0;
}

struct pickle_value smurf_pickle_item(const struct pickle_tree *tree, struct pickle_value list, size_t i)
{
    const struct pickle_node *node = &tree->node[list.node];
    if (node->kind != PICKLE_ARRAY) return tree->item[node->first + i];
    return smurf_pickle_decode(node->dtype, tree->text + node->first + i * node->dtype.size);
}

const char *smurf_pickle_text(const struct pickle_tree *tree, struct pickle_value text, size_t *length)
{
    uint32_t n;
    memcpy(&n, tree->text + text.text, PREFIX);
    *length = n;
    return tree->text + text.text + PREFIX;
}

bool smurf_pickle_is(const struct pickle_tree *tree, struct pickle_value value, const char *text)
{
    if (value.kind != PICKLE_TEXT) return false;
    size_t n;
    const char *bytes = smurf_pickle_text(tree, value, &n);
    return n == strlen(text) && memcmp(bytes, text, n) == 0;
}

static struct pickle_value integer(int64_t x)
{
    return (struct pickle_value){.kind = PICKLE_INT, .key = PICKLE_NO_KEY, .integer = x};
}

static struct pickle_value real(double x)
{
    return (struct pickle_value){.kind = PICKLE_FLOAT, .key = PICKLE_NO_KEY, .real = x};
}

struct pickle_value smurf_pickle_decode(struct pickle_dtype dtype, const char *bytes)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < dtype.size; i++)
        bits = bits << 8 | (unsigned char)bytes[dtype.big ? i : dtype.size - 1u - i];

    if (dtype.code == 'f' && dtype.size == 4) {
        uint32_t half = (uint32_t)bits;
        float x;
        memcpy(&x, &half, sizeof x);
        return real((double)x);
    }
    if (dtype.code == 'f') {
        double x;
        memcpy(&x, &bits, sizeof x);
        return real(x);
    }
    if (dtype.code == 'b') return integer(bits != 0);
    if (dtype.code == 'i') {
        uint64_t sign = (uint64_t)1 << (8u * dtype.size - 1);
        return integer((int64_t)((bits ^ sign) - sign));
    }
    return bits > INT64_MAX ? real((double)bits) : integer((int64_t)bits);
}
