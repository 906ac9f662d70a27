/* names.c - see names.h. A hash table with open addressing, never more than half full. */
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *text, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15u ^ n;
    for (; n >= 8; n -= 8, text += 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        h = (h ^ word) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, text, n);
    h = (h ^ rest) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h ^ h >> 32);
}

/* The slot that holds the text, or the free slot where it would go. */
static uint32_t *slot_of(const struct names *names, const char *text, size_t n)
{
    uint32_t at = hash(text, n) & names->mask;
    for (;; at = (at + 1) & names->mask) {
        uint32_t number = names->slot[at];
        if (number == 0) return &names->slot[at];
        number--;
        if (names->length[number] == n && memcmp(names->name[number], text, n) == 0) return &names->slot[at];
    }
}

static bool rehash(struct names *names)
{
    uint32_t size = names->slot ? 2 * (names->mask + 1) : 64;
    uint32_t *slot = calloc(size, sizeof *slot);
    if (!slot) return false;
    free(names->slot);
    names->slot = slot;
    names->mask = size - 1;
    for (uint32_t i = 0; i < names->count; i++) *slot_of(names, names->name[i], names->length[i]) = i + 1;
    return true;
}

uint32_t smurf_names_find(const struct names *names, const char *text, size_t n)
{
    if (!names->slot) return NAMES_FULL;
    uint32_t number = *slot_of(names, text, n);
    return number ? number - 1 : NAMES_FULL;
}

uint32_t smurf_names_intern(struct names *names, const char *text, size_t n)
{
    if (!names->slot && !rehash(names)) return NAMES_FULL;
    uint32_t *slot = slot_of(names, text, n);
    if (*slot) return *slot - 1;

    if (names->count >= 1u << 30 || n >= UINT32_MAX) return NAMES_FULL;
    if (2 * (names->count + 1) > names->mask) {
        if (!rehash(names)) return NAMES_FULL;
        slot = slot_of(names, text, n);
    }
    if (!smurf_grow(&names->name, &names->name_room, names->count + 1, sizeof *names->name) ||
        !smurf_grow(&names->length, &names->length_room, names->count + 1, sizeof *names->length))
        return NAMES_FULL;
    const char *copy = smurf_arena_text(&names->text, text, n);
    if (!copy) return NAMES_FULL;
    names->name[names->count] = copy;
    names->length[names->count] = (uint32_t)n;
    *slot = ++names->count;
    return names->count - 1;
}

void smurf_names_release(struct names *names)
{
    free(names->slot);
    free(names->name);
    free(names->length);
    smurf_arena_release(&names->text);
    *names = (struct names){0};
}

bool smurf_names_copy(struct names *to, const struct names *from)
{
    for (uint32_t k = 0; k < from->count; k++)
        if (smurf_names_intern(to, from->name[k], from->length[k]) != k) return false;
    return true;
}
