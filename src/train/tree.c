/* tree.c - see tree.h. */
#include "train/tree.h"

#include "base/clones.h"

static unsigned depth(size_t node)
{
    unsigned d = 0;
    while (node >>= 1) d++;
    return d;
}

bool smurf_tree_below(size_t node, size_t above)
{
    unsigned x = depth(node), y = depth(above);
    return x >= y && node >> (x - y) == above;
}

static size_t ancestor_of(size_t a, size_t b)
{
    unsigned x = depth(a), y = depth(b);
    for (; x > y; x--) a >>= 1;
    for (; y > x; y--) b >>= 1;
    while (a != b) a >>= 1, b >>= 1;
    return a;
}

size_t smurf_tree_split(const size_t *node, size_t stride, size_t n, size_t *ancestor)
{
    const char *base = (const char *)node;
    size_t last = *(const size_t *)(const void *)(base + (n - 1) * stride), i = 1;
    *ancestor = ancestor_of(*node, last);
    unsigned below = depth(*ancestor) + 1;
    for (; i < n; i++) {
        size_t at = *(const size_t *)(const void *)(base + i * stride);
        if (at >> (depth(at) - below) & 1) break;
    }
    return i;
}

OP_CLONES
static void add(size_t n, const float *restrict from, float *restrict to)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

void smurf_tree_add(size_t n, const float *from, float *to)
{
    add(n, from, to);
}

void smurf_tree_sum(const struct tree_part *part, size_t parts, size_t from, size_t to)
{
    if (parts < 2) return;
    size_t above, left = smurf_tree_split(&part->node, sizeof *part, parts, &above);
    smurf_tree_sum(part, left, from, to);
    smurf_tree_sum(part + left, parts - left, from, to);
    add(to - from, part[left].slab + from, part->slab + from);
}

struct loss smurf_tree_loss(const struct tree_part *part, size_t parts)
{
    if (parts == 0) return (struct loss){0};
    if (parts == 1) return part->loss;
    size_t above, left = smurf_tree_split(&part->node, sizeof *part, parts, &above);
    struct loss sum = smurf_tree_loss(part, left), more = smurf_tree_loss(part + left, parts - left);
    loss_add(&sum, &more);
    return sum;
}
