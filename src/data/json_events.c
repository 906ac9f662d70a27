/* json_events.c - see json_events.h. */
#include "data/json_events.h"

#include <stdlib.h>
#include <string.h>

void smurf_json_events_release(struct json_events *e)
{
    if (e->known) smurf_table_close(&e->table);
    smurf_arena_release(&e->text);
    *e = (struct json_events){0};
}

bool smurf_json_holds_objects(const struct source *source)
{
    const char *p = source->p + 1;
    while (p < source->end && memchr(" \t\r\n", *p, 4)) p++;
    return p < source->end && (*p == '{' || *p == '[');
}

/* ---- The sample -------------------------------------------------------------------------------- */

struct sample {
    const char *begin, *end;
    char *middle; /* owned: lines from the middle of the file; the first and last may be cut off */
    size_t middle_n;
    struct names key; /* fields, in order of appearance */
    struct field *cell;
    size_t cells, cell_room;
    size_t *at; /* of each cell's text in scratch; 0: none */
    size_t at_room;
    json_array_kind *kind;
    const void *context;
    bool in_list; /* the object holds a list, which begins here */
    bool listed;  /* there was one */
    bool other;   /* there is something else than events */
    bool partial; /* there are more rows than these */
};

/* Skips what is no value of an event, but not the list that holds the events. */
static void pass_over(struct sample *s, struct json *json, char c, size_t key, size_t key_n, bool top)
{
    enum json_array kind = c == '[' ? s->kind(s->context, json->scratch + key, key_n) : JSON_ARRAY_FIELD;
    s->other = s->other || kind == JSON_ARRAY_SEQUENCE;
    s->in_list = top && kind == JSON_ARRAY_LIST && smurf_json_holds_objects(json->source);
    s->listed = s->listed || s->in_list;
    if (!s->in_list) smurf_json_skip(json);
}

/* Takes one member; scratch starts with a byte that is no text. */
static smurf_status take_member(struct sample *s, struct json *json, bool top, smurf_error *err)
{
    size_t key, key_n, at, n;
    if (!smurf_json_string(json, &key, &key_n) || !smurf_json_take(json, ':')) return SMURF_OK;
    char c = smurf_json_peek(json);
    if (c == '[' || c == '{') {
        pass_over(s, json, c, key, key_n, top);
        return SMURF_OK;
    }
    if (!(c == '"' ? smurf_json_string(json, &at, &n) : smurf_json_literal(json, &at, &n))) return SMURF_OK;
    uint32_t i = smurf_names_find(&s->key, json->scratch + key, key_n);
    if (i == NAMES_FULL && s->key.count < SNIFF_COLUMNS) {
        i = smurf_names_intern(&s->key, json->scratch + key, key_n);
        if (i == NAMES_FULL) return smurf_fail_memory(err);
    }
    if (i == NAMES_FULL || (c != '"' && n == 4 && memcmp(json->scratch + at, "null", 4) == 0)) return SMURF_OK;
    if (!smurf_grow(&s->cell, &s->cell_room, i + 1u, sizeof *s->cell) ||
        !smurf_grow(&s->at, &s->at_room, i + 1u, sizeof *s->at))
        return smurf_fail_memory(err);
    for (; s->cells <= i; s->cells++) s->cell[s->cells] = (struct field){"", 0}, s->at[s->cells] = 0;
    s->at[i] = at;
    s->cell[i].n = n;
    return SMURF_OK;
}

static smurf_status take_object(struct sample *s, struct json *json, bool top, sniff_take *take, void *to,
                                smurf_error *err)
{
    bool first = true;
    smurf_status status = SMURF_OK;
    json->used = 0;
    s->cells = 0;
    s->in_list = false;
    smurf_json_take(json, '{');
    if (!smurf_grow(&json->scratch, &json->room, 64, 1)) return smurf_fail_memory(err);
    json->scratch[json->used++] = '\0';
    while (!status && !s->in_list && smurf_json_more(json, '}', &first)) status = take_member(s, json, top, err);
    if (status || json->status || s->other || s->in_list) return status;
    for (size_t i = 0; i < s->cells; i++) s->cell[i].text = json->scratch + s->at[i];
    return take(to, s->cell, s->cells, err);
}

/* Objects, alone or in arrays. What cannot be read ends the sample. *begin moves behind what was taken. */
static smurf_status objects_in(struct sample *s, const char **begin, const char *end, sniff_take *take, void *to,
                               smurf_error *err)
{
    struct source source = {.name = "", .p = *begin, .end = end, .line = 1, .eof = true};
    struct json json = {.source = &source};
    source.window = (void *)(uintptr_t)*begin;
    smurf_status status = SMURF_OK;
    char c;
    bool top = true;
    for (size_t rows = 0; !status && !json.status && !s->other && rows < SNIFF_ROWS && (c = smurf_json_peek(&json));) {
        if (c == '{') {
            status = take_object(s, &json, top, take, to, err);
            rows++;
        } else if (strchr("[],", c)) {
            smurf_json_take(&json, c);
            top = top && c != '[';
        } else {
            break;
        }
    }
    free(json.scratch);
    if (json.status == SMURF_ERROR_MEMORY && !status) status = smurf_fail_memory(err);
    *begin = source.p;
    return status;
}

/* The objects after the first line, which may be cut off. */
static smurf_status lines_in(struct sample *s, const char *begin, const char *end, sniff_take *take, void *to,
                             smurf_error *err)
{
    const char *line = begin < end ? memchr(begin, '\n', (size_t)(end - begin)) : NULL;
    if (!line) return SMURF_OK;
    line++;
    return objects_in(s, &line, end, take, to, err);
}

static smurf_status each_object(void *context, sniff_take *take, void *to, smurf_error *err)
{
    struct sample *s = context;
    const char *p = s->begin;
    smurf_status status = objects_in(s, &p, s->end, take, to, err);
    if (status || s->other) return status;
    if (s->end - p > SNIFF_PIECE) p = s->end - SNIFF_PIECE;
    status = lines_in(s, p, s->end, take, to, err);
    if (!status && s->middle) status = lines_in(s, s->middle, s->middle + s->middle_n, take, to, err);
    return status;
}

static smurf_status see_row(void *to, const struct field *cell, size_t n, smurf_error *err)
{
    return smurf_sniff_row(to, cell, n, err);
}

/* ---- The choice -------------------------------------------------------------------------------- */

static smurf_status keep_keys(struct json_events *e, const struct choice *choice, const struct field *name,
                              smurf_error *err)
{
    bool kept = true;
    for (int role = 0; role < COLUMN_ROLES; role++) {
        ptrdiff_t i = choice->column[role];
        if (i >= 0) kept = (e->key[role] = smurf_arena_text(&e->text, name[i].text, name[i].n)) && kept;
    }
    for (size_t k = 0; k < choice->parts; k++) {
        const struct field *f = &name[choice->part[k]];
        kept = (e->part[k] = smurf_arena_text(&e->text, f->text, f->n)) && kept;
    }
    return kept ? SMURF_OK : smurf_fail_memory(err);
}

static smurf_status open_events(struct json_events *e, const struct choice *choice, const struct field *name,
                                const smurf_read_config *config, struct builder *builder, smurf_error *err)
{
    smurf_status status = smurf_table_open(&e->table, choice, name, config, !builder, err);
    if (status) return status;
    e->known = true;
    e->sniffed = builder != NULL;
    status = keep_keys(e, choice, name, err);
    if (!status && builder) status = smurf_table_describe(&e->table, builder, name, "json", '\0', config, err);
    if (builder && choice->words && !builder->numbers_only) builder->words = true;
    e->table.named = true; /* by a field, or by the array */
    return status;
}

static smurf_status choose(struct json_events *e, struct sample *s, const struct sniff *sniff,
                           const smurf_read_config *config, struct builder *builder, smurf_error *err)
{
    struct sniff_rows rows = {s, each_object};
    struct choice choice;
    smurf_error why = {0};
    struct field *name = malloc((s->key.count + 1) * sizeof *name);
    if (!name) return smurf_fail_memory(err);
    for (uint32_t i = 0; i < s->key.count; i++) name[i] = (struct field){s->key.name[i], s->key.length[i]};
    struct choosing table = {name, s->key.count, true, sniff, &rows, config, builder, s->partial};
    smurf_status status = smurf_choose(&choice, &table, &why);
    if (!status)
        status = open_events(e, &choice, name, config, builder, err);
    else if (status != SMURF_ERROR_INPUT || choice.mixed || config->time_format || config->timezone ||
             config->features) {
        if (err) *err = why;
    } else {
        status = SMURF_OK; /* reading says what is wrong, and where */
    }
    free(name);
    return status;
}

smurf_status smurf_json_events_sniff(struct json_events *e, struct source *source, const smurf_read_config *config,
                                     struct builder *builder, json_array_kind *kind, const void *context,
                                     smurf_error *err)
{
    struct sniff sniff = {0};
    *e = (struct json_events){0};
    smurf_status status = smurf_source_fill(source, SNIFF_BYTES, err);
    struct sample s = {
        .begin = source->p, .end = source->end, .kind = kind, .context = context, .partial = !source->eof};
    if (!status) status = smurf_source_middle(source, SNIFF_PIECE, &s.middle, &s.middle_n, err);
    if (!status) status = each_object(&s, see_row, &sniff, err);
    s.partial = s.partial || sniff.rows >= SNIFF_ROWS;
    if (!status && !s.other && sniff.rows) status = choose(e, &s, &sniff, config, builder, err);
    e->listed = s.listed;
    smurf_sniff_release(&sniff);
    smurf_names_release(&s.key);
    free(s.middle);
    free(s.cell);
    free(s.at);
    return status;
}

/* The names in a list of further columns, without what they hold. */
static size_t list_features(const char *list, struct field *name, size_t most)
{
    size_t found = 0;
    struct further_entry entry;
    while (found < most && smurf_further_next(&list, &entry)) name[found++] = (struct field){entry.name, entry.n};
    return found;
}

smurf_status smurf_json_events_as(struct json_events *e, const smurf_read_config *config, smurf_error *err)
{
    enum { MOST = CHOICE_PARTS + 2 + FURTHER_COLUMNS };
    const smurf_reading *as = config->as;
    struct field name[MOST];
    size_t n = 0;
    *e = (struct json_events){0};
    if (!as || !as->time_column) return SMURF_OK;
    for (const char *p = config->time_column ? config->time_column : as->time_column; n < CHOICE_PARTS; p++) {
        size_t length = strcspn(p, ",");
        name[n++] = (struct field){p, length};
        p += length;
        if (!*p) break;
    }
    const char *sequence = config->sequence_column ? config->sequence_column : as->sequence_column;
    const char *type = config->type_column ? config->type_column : as->type_column;
    if (sequence && *sequence) name[n++] = (struct field){sequence, strlen(sequence)};
    if (type && *type) name[n++] = (struct field){type, strlen(type)};
    n += list_features(config->features ? config->features : as->features, name + n, MOST - n);
    struct choosing table = {name, n, true, NULL, NULL, config, NULL, false};
    struct choice choice;
    smurf_status status = smurf_choose(&choice, &table, err);
    return status ? status : open_events(e, &choice, name, config, NULL, err);
}

/* ---- Events ------------------------------------------------------------------------------------ */

smurf_status smurf_json_events_push(struct json_events *e, struct rows *rows, json_value *value, const void *context,
                                    const char *number, smurf_error *err)
{
    struct table *t = &e->table;
    struct field part[CHOICE_PARTS] = {{"", 0}}, none = {"", 0};
    struct event_cells cells;
    struct choice joining = {.parts = t->choice.parts, .part = {0, 1, 2, 3}};
    for (size_t k = 0; k < t->choice.parts; k++) part[k] = value(context, e->part[k]);
    cells.time = part[0];
    smurf_status status = SMURF_OK;
    if (joining.parts > 1)
        status = smurf_choice_join(&joining, part, joining.parts, &t->joined, &t->joined_room, &cells.time, err);
    if (status) return status;
    struct field *const cell[COLUMN_ROLES] = {
        [COLUMN_SEQUENCE] = &cells.sequence, [COLUMN_TYPE] = &cells.type,   [COLUMN_START] = &cells.start,
        [COLUMN_END] = &cells.end,           [COLUMN_FIRST] = &cells.first, [COLUMN_BEFORE] = &cells.before};
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (cell[role]) *cell[role] = e->key[role] ? value(context, e->key[role]) : none;
    for (size_t k = 0; k < t->further.columns; k++) cells.further[k] = value(context, t->further.column[k].name);
    if (!e->key[COLUMN_SEQUENCE]) cells.sequence = (struct field){number, strlen(number)};
    return smurf_table_event(t, rows, &cells, err);
}
