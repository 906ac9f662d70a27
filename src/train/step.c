/* step.c - see step.h. */
#include "train/step.h"

#include "base/threads.h"
#include "train/adam.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What a worker has to itself. */
struct step_worker {
    struct feed_batch room;
    double idle, done; /* in the current region: seconds waited for others, and the end of its work */
    size_t next, end;  /* slices of its share that nobody has taken */
    char apart[64];    /* no cache line in common */
};

/* Nodes of the current batch's tree: slices first, then their sums. */
struct step_node {
    size_t parent, left, right;
    size_t slices; /* below it */
    size_t node;   /* of the heap */
    float *slab;   /* its sum while it waits for its neighbour's; NULL before */
    struct loss loss;
    size_t part; /* 1 + number of the part that it is; 0: none */
};

static float *allocate(size_t n)
{
    return aligned_alloc(WORKSPACE_ALIGN, workspace_padded(n * sizeof(float)));
}

static size_t memory_of(const struct train_step *s, size_t rows, int threads)
{
    return (s->model->class->loss_memory(s->model, &s->loss, rows, threads) + 15) & ~(size_t)15;
}

/* Workers that can be busy at once. */
static size_t busy(const struct train_step *s)
{
    size_t most = s->slices.most > s->dev.most ? s->slices.most : s->dev.most;
    return most < (size_t)s->threads ? most : (size_t)s->threads;
}

/* Room for one slice run by all threads, and for as many at once as there are workers; but not for all workers to run
   the longest one, if a batch is hardly longer. What a worker needs for any slice comes on top. */
static size_t workspaces(const struct train_step *s, const struct feed *train, const struct feed *dev)
{
    size_t rows = s->slices.longest > s->dev.longest ? s->slices.longest : s->dev.longest;
    size_t whole = train->longest_batch_events;
    if (dev && dev->longest_batch_events > whole) whole = dev->longest_batch_events;
    size_t one = memory_of(s, rows, s->threads), all = busy(s) * memory_of(s, rows, 1), batch;
    batch = memory_of(s, whole > rows ? whole : rows, s->threads) + busy(s) * memory_of(s, 1, 1);
    if (all > batch) all = batch;
    return one > all ? one : all;
}

/* Slabs that a batch needs at most. Slices are taken from left to right: of those that are done, at most one per level
   waits for its neighbour; others belong to slices in progress, and to the parts. */
static size_t levels(size_t slices)
{
    size_t n = 7;
    for (; slices > 1; slices = (slices + 1) / 2) n++;
    return n;
}

static size_t slabs_of(const struct train_step *s)
{
    size_t enough = levels(s->slices.most) + 3 * (size_t)s->threads;
    if (s->joint.group->count > 1) enough += s->joint.room[s->joint.group->rank];
    return s->slices.most < enough ? s->slices.most : enough;
}

/* Rows of dev are divided evenly. */
static void divide_dev(struct train_step *s)
{
    size_t ranks = (size_t)s->joint.group->count, rows = smurf_slices_rows(&s->dev), before = 0, q = 0;
    for (size_t i = 0; i < s->dev.count; before += s->dev.slice[i++].rows)
        while (q < ranks && before * ranks >= rows * q) s->dev_begin[q++] = i;
    while (q <= ranks) s->dev_begin[q++] = s->dev.count;
}

static smurf_status make_room(struct train_step *s, size_t chunks, smurf_error *err)
{
    size_t most = s->slices.most;
    s->slabs = slabs_of(s);
    s->node = malloc(2 * most * sizeof *s->node);
    s->part = malloc(most * sizeof *s->part);
    s->piece = malloc((s->dev.most + 1) * sizeof *s->piece);
    s->first = calloc((s->joint.room ? s->joint.room[s->joint.group->rank] : 1) + 1, sizeof *s->first);
    s->dev_begin = calloc((size_t)s->joint.group->count + 1, sizeof *s->dev_begin);
    s->pool = calloc(s->slabs, sizeof *s->pool);
    s->spare = calloc(s->slabs, sizeof *s->spare);
    s->square = malloc(chunks * sizeof *s->square);
    s->worker = calloc((size_t)s->threads, sizeof *s->worker);
    s->memory = allocate(s->memory_size);
    if (!s->node || !s->part || !s->piece || !s->first || !s->dev_begin || !s->pool || !s->spare || !s->square ||
        !s->worker || !s->memory)
        return smurf_fail_memory(err);
    divide_dev(s);
    for (size_t i = 0; i < s->slabs; i++)
        if (!(s->pool[i] = allocate(s->model->params.total))) return smurf_fail_memory(err);
    s->slab[SLAB_GRADIENT] = s->pool[0];
    memset(s->pool[0], 0, s->model->params.total * sizeof(float));
    size_t rows = s->slices.longest > s->dev.longest ? s->slices.longest : s->dev.longest;
    size_t sequences = most > s->dev.most ? most : s->dev.most;
    if (sequences > s->slices.rows) sequences = s->slices.rows; /* each has one at least */
    smurf_status status = SMURF_OK;
    for (size_t w = 0; w < busy(s) && !status; w++)
        status = smurf_feed_room_init(&s->worker[w].room, sequences, rows, s->model->shape.further.columns, err);
    return status;
}

static smurf_status make_slabs(struct train_step *s, unsigned more, uint64_t seed, smurf_error *err)
{
    size_t n = s->model->params.total;
    double *start = malloc(n * sizeof *start);
    smurf_status status = start ? SMURF_OK : smurf_fail_memory(err);
    if (!status) smurf_params_start(&s->model->params, seed, start);
    for (int k = 0; k < SLABS && !status; k++) {
        if (k == SLAB_GRADIENT || (k >= SLAB_AVERAGE && !(more & 1u << k))) continue;
        s->slab[k] = allocate(n);
        if (!s->slab[k]) status = smurf_fail_memory(err);
        bool weights = k == SLAB_WEIGHT || k >= SLAB_AVERAGE;
        for (size_t i = 0; i < n && !status; i++) s->slab[k][i] = weights ? (float)start[i] : 0;
    }
    free(start);
    return status;
}

int smurf_train_step_threads(const struct feed *train, int threads)
{
    enum { ROWS_LEAST = 64 };
    size_t sequences = train->batch < train->ordered ? train->batch : train->ordered;
    double rows = (double)sequences * (double)train->events / (double)train->sequences;
    double most = ceil(rows / ROWS_LEAST);
    return most < threads ? (int)fmax(most, 1) : threads;
}

smurf_status smurf_train_step_init(struct train_step *s, const struct model *model, const struct loss_config *loss,
                                   unsigned more, const struct feed *train, const struct feed *dev, int threads,
                                   uint64_t seed, smurf_error *err)
{
    *s = (struct train_step){.model = model, .loss = *loss, .threads = threads};
    smurf_status status = smurf_slices_init(&s->slices, train, model->params.total, err);
    if (!status && dev) {
        struct feed all = *dev;
        all.batch = dev->ordered;
        status = smurf_slices_init(&s->dev, &all, model->params.total, err);
        if (!status) smurf_slices_cut_all(&s->dev, dev);
    }
    if (!status) status = smurf_joint_init(&s->joint, &s->slices, model->params.total, err);
    if (status) return status;
    s->memory_size = workspaces(s, train, dev);
    status = make_room(s, smurf_adam_chunks(model->params.total), err);
    return status ? status : make_slabs(s, more, seed, err);
}

void smurf_train_step_release(struct train_step *s)
{
    smurf_train_device_close(s->device);
    for (int k = 0; k < SLABS; k++)
        if (k != SLAB_GRADIENT) free(s->slab[k]);
    for (size_t i = 0; s->pool && i < s->slabs; i++) free(s->pool[i]);
    for (int w = 0; s->worker && w < s->threads; w++) smurf_feed_batch_release(&s->worker[w].room);
    free(s->node), free(s->part), free(s->piece), free(s->first), free(s->dev_begin), free(s->pool), free(s->spare),
        free(s->square);
    free(s->worker), free(s->memory);
    smurf_joint_release(&s->joint);
    smurf_slices_release(&s->slices);
    smurf_slices_release(&s->dev);
    *s = (struct train_step){0};
}

/* ---- Who does what --------------------------------------------------------------------------- */

/* A pass over slices: a batch with its gradient, or dev without. */
struct pass {
    struct train_step *s;
    const struct op_run *run;
    const struct feed *feed;
    const struct slices *slices;
    const struct slice *slice; /* of these, `count` are run by this process */
    size_t count;
    struct loss *piece; /* of each; NULL: they are added in the tree */
    const float *weights;
    bool backward;
    int workers, inner; /* slices at once, threads of each */
    size_t workspace;   /* floats of each worker */
    atomic_size_t left; /* slices that are not done */
};

/* Rows that `workers` need one after the other, if each takes the next slice when it is free. An estimate for many. */
static double longest_queue(const struct pass *p, int workers)
{
    enum { QUEUES = 64 };
    double queue[QUEUES] = {0}, total = 0, most = 0;
    if (workers > QUEUES || p->count > 8 * (size_t)workers) {
        for (size_t i = 0; i < p->count; i++) total += (double)p->slice[i].rows;
        return total / workers;
    }
    for (size_t i = 0; i < p->count; i++) {
        int least = 0;
        for (int w = 1; w < workers; w++)
            if (queue[w] < queue[least]) least = w;
        queue[least] += (double)p->slice[i].rows;
        if (queue[least] > most) most = queue[least];
    }
    return most;
}

/* The same for all threads inside one slice after the other, whose rows they divide. */
static double one_by_one(const struct pass *p, int threads)
{
    const double fair = 0.7; /* what waiting inside a slice leaves */
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        double chunks = (double)op_chunks(p->slice[i].rows, ENCODER_CHUNK);
        sum += (double)p->slice[i].rows / (chunks > 1 ? fair * (chunks < threads ? chunks : threads) : 1);
    }
    return sum;
}

/* Neighbours in the tree go to one worker, so that most sums are made of what its core has at hand. That takes a slab
   for every slice: where there are fewer, slices are taken from left to right, by all from one share. */
static void share_out(struct pass *p)
{
    struct train_step *s = p->s;
    size_t shares = p->backward && p->count <= s->slabs ? (size_t)p->workers : 1;
    for (size_t w = 0; w < (size_t)p->workers; w++) {
        s->worker[w].next = w < shares ? p->count * w / shares : p->count;
        s->worker[w].end = w < shares ? p->count * (w + 1) / shares : p->count;
    }
}

static void plan(struct pass *p)
{
    const struct train_step *s = p->s;
    size_t rows = 1, workers = busy(s);
    for (size_t i = 0; i < p->count; i++)
        if (p->slice[i].rows > rows) rows = p->slice[i].rows;
    p->workspace = memory_of(s, rows, 1);
    if (workers > s->memory_size / p->workspace) workers = s->memory_size / p->workspace;
    if (workers > p->count) workers = p->count;
    if (workers < 1) workers = 1; /* other processes have all slices */
    p->workers = (int)workers;
    p->inner = 1;
    if (s->threads > 1 && one_by_one(p, s->threads) < longest_queue(p, p->workers))
        p->workers = 1, p->inner = s->threads;
    share_out(p);
    atomic_init(&p->left, p->count);
}

/* ---- The tree of a batch --------------------------------------------------------------------- */

/* The node of own slices first .. last-1. */
static size_t grow(struct train_step *s, const struct pass *p, size_t *nodes, size_t first, size_t last)
{
    const struct slice *slice = p->slice + first;
    size_t n = last - first, above;
    if (n == 1) {
        s->node[first] = (struct step_node){.slices = 1, .node = slice->node};
        return first;
    }
    size_t left = smurf_tree_split(&slice->node, sizeof *slice, n, &above);
    size_t a = grow(s, p, nodes, first, first + left), b = grow(s, p, nodes, first + left, last), at = (*nodes)++;
    s->node[at] = (struct step_node){.left = a, .right = b, .slices = n, .node = above};
    s->node[a].parent = s->node[b].parent = at;
    return at;
}

/* Makes parts of the nodes at or below `at` of at most `most` slices, all of this process, after the `parts` before.
   Returns how many there are. */
static size_t divide(struct train_step *s, size_t at, size_t most, size_t parts)
{
    struct step_node *node = &s->node[at];
    bool is = node->slices == 1 || (node->slices <= most && smurf_joint_owns(&s->joint, &s->slices, node->node));
    node->part = is ? ++parts : 0;
    if (is) s->part[parts - 1].node = node->node;
    return node->part ? parts : divide(s, node->right, most, divide(s, node->left, most, parts));
}

/* Parts enough for all threads to have a share of the work above them, but few enough for the slabs. */
static size_t make_tree(struct train_step *s, const struct pass *p)
{
    size_t count = p->count, nodes = count, parts, root, most = count / (size_t)(p->workers * p->inner);
    s->spares = 0;
    if (!count) return 0;
    root = grow(s, p, &nodes, 0, count);
    if (most < 1) most = 1;
    for (parts = divide(s, root, most, 0); count > s->slabs && most < count; parts = divide(s, root, most, 0)) {
        if (parts + levels(count) + (size_t)p->workers <= s->slabs) break;
        for (size_t i = 0; i < nodes; i++) s->node[i].part = 0;
        most *= 2;
    }
    for (s->spares = 0; s->spares < s->slabs; s->spares++) s->spare[s->spares] = s->pool[s->spares];
    return parts;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* The worker that another one takes from: itself, or when it has nothing left, the one that has most. */
static struct step_worker *giver(const struct pass *p, size_t worker)
{
    struct step_worker *all = p->s->worker, *most = &all[worker];
    if (most->next < most->end) return most;
    for (size_t w = 0; w < (size_t)p->workers; w++)
        if (all[w].end - all[w].next > most->end - most->next) most = &all[w];
    return most;
}

/* The next slice, and a slab for it, or NULL if all slabs are in use. False: none is left. */
static bool take(struct pass *p, size_t worker, size_t *slice, float **slab)
{
    struct train_step *s = p->s;
    bool is;
    *slab = NULL;
    *slice = 0;
#pragma omp critical(smurf_step)
    {
        struct step_worker *from = giver(p, worker);
        is = from->next < from->end;
        if (is && p->backward && s->spares > 0) *slab = s->spare[--s->spares];
        if (is && (*slab || !p->backward)) *slice = from->next++;
    }
    return is;
}

/* Adds the sum of a node to its neighbour's if that is known, and so on up to a part. */
static void climb(struct pass *p, size_t at, float *slab, struct loss loss)
{
    struct train_step *s = p->s;
    for (; !s->node[at].part; at = s->node[at].parent) {
        const struct step_node *above = &s->node[s->node[at].parent];
        const struct step_node *beside = &s->node[above->left == at ? above->right : above->left];
        float *other;
#pragma omp critical(smurf_step)
        {
            other = beside->slab;
            if (!other) s->node[at].slab = slab, s->node[at].loss = loss;
        }
        if (!other) return;
        smurf_tree_add(s->model->params.total, other, slab);
        loss_add(&loss, &beside->loss);
#pragma omp critical(smurf_step)
        s->spare[s->spares++] = other;
    }
    s->part[s->node[at].part - 1] = (struct tree_part){s->node[at].node, slab, loss};
}

static struct loss run_slice(const struct pass *p, size_t i, size_t worker, float *slab)
{
    const struct train_step *s = p->s;
    const struct slice *slice = &p->slice[i];
    struct op_run run = *p->run;
    run.threads = p->inner;
    if (slab) memset(slab, 0, s->model->params.total * sizeof *slab);
    if (op_stopped(&run)) return (struct loss){0};
    struct batch batch =
        smurf_feed_take(p->feed, p->slices->member + slice->first, slice->members, &s->worker[worker].room);
    return s->model->class->loss(&run, s->model, &s->loss, p->weights, &batch, s->memory + worker * p->workspace, slab);
}

static void work(struct pass *p, size_t worker)
{
    size_t i, rows = 0;
    float *slab;
    while (take(p, worker, &i, &slab)) {
        if (p->backward && !slab) {
            sched_yield(); /* another worker will spare one */
            continue;
        }
        struct loss loss = run_slice(p, i, worker, slab);
        rows += p->slice[i].rows;
        if (p->backward)
            climb(p, i, slab, loss);
        else
            p->piece[i] = loss;
        atomic_fetch_sub(&p->left, 1);
    }
    if (rows >= OP_LONG) smurf_stop_linger(p->run->stop, &p->left);
}

/* ---- Parallel regions ------------------------------------------------------------------------- */

/* Ends a region that began at `from`. */
static void tally(struct train_step *s, double from, uint64_t waits)
{
    double end = now();
    s->counts.waits += waits;
    s->counts.parallel += end - from;
    for (int w = 0; w < s->threads; w++) {
        s->counts.idle += s->worker[w].idle + (end - s->worker[w].done);
        s->worker[w].idle = 0;
    }
}

/* Chunk c of all sums, which are squared, or sent to their owners. */
static void sum_chunk(struct train_step *s, size_t c)
{
    size_t n = s->model->params.total, at = c * ADAM_CHUNK, end = at + ADAM_CHUNK < n ? at + ADAM_CHUNK : n;
    for (size_t k = 0; k < s->sums; k++) {
        const struct tree_part *part = s->part + s->first[k];
        smurf_tree_sum(part, s->first[k + 1] - s->first[k], at, end);
        if (s->joint.group->count > 1)
            smurf_joint_pack(&s->joint, k, c, part->slab + at);
        else
            s->square[c] = smurf_square(end - at, part->slab + at);
    }
}

/* Runs all slices; the gradient's parts are then added, chunk by chunk. Threads are the same in all regions: OpenMP
   ends the surplus of a smaller team. */
static void run_all(struct pass *p)
{
    struct train_step *s = p->s;
    size_t chunks = p->backward ? smurf_adam_chunks(s->model->params.total) : 0;
    double from = now();
    if (p->inner > 1) work(p, 0);
#pragma omp parallel num_threads(s->threads)
    {
        size_t me = smurf_thread_number();
        if (me < (size_t)p->workers && p->inner == 1) work(p, me);
        if (chunks && p->inner == 1) {
            double reached = now();
#pragma omp barrier
            s->worker[me].idle = now() - reached;
        }
#pragma omp for schedule(static) nowait
        for (size_t c = 0; c < chunks; c++) sum_chunk(s, c);
        s->worker[me].done = now();
    }
    tally(s, from, chunks && p->inner == 1 ? 2 : 1);
}

/* Tells all processes what this one requests. */
static unsigned requests(const struct train_step *s, const struct op_run *run)
{
    return s->raise | (run->stop && atomic_load(&run->stop->asked) ? JOINT_STOP : 0);
}

struct loss smurf_train_step_dev(struct train_step *s, const struct op_run *run, const float *slab,
                                 const struct feed *dev)
{
    struct ranks *group = s->joint.group;
    size_t first = s->dev_begin[group->rank];
    struct pass p = {.s = s,
                     .run = run,
                     .feed = dev,
                     .slices = &s->dev,
                     .slice = s->dev.slice + first,
                     .count = s->dev_begin[group->rank + 1] - first,
                     .piece = s->piece + first,
                     .weights = slab};
    struct loss sum = {0};
    if (s->device) {
        sum = smurf_train_device_dev(s->device, run, slab == s->slab[SLAB_WEIGHT] ? CUDA_WEIGHT : CUDA_AVERAGE, dev);
        s->raised = requests(s, run) & JOINT_STOP;
        return sum;
    }
    plan(&p);
    run_all(&p);
    for (int q = 0; q < group->count && group->count > 1; q++)
        s->joint.bytes[q] = (s->dev_begin[q + 1] - s->dev_begin[q]) * sizeof *s->piece;
    smurf_ranks_gather(RANKS_OTHER, s->piece, s->joint.bytes);
    s->raised = smurf_ranks_any(RANKS_OTHER, requests(s, run) & JOINT_STOP) ? JOINT_STOP : 0;
    for (size_t i = 0; i < s->dev.count; i++) loss_add(&sum, &s->piece[i]);
    return sum;
}

/* The sums that are to be made of the parts, one for each own part of the joint batch. */
static void list_sums(struct train_step *s, size_t parts)
{
    s->first[0] = 0;
    if (s->joint.group->count == 1) {
        s->sums = 1;
        s->first[1] = parts;
        return;
    }
    const struct joint_part *part = s->joint.part + joint_first(&s->joint);
    s->sums = joint_last(&s->joint) - joint_first(&s->joint); /* 0 in a process that owns no leaf */
    for (size_t k = 0, at = 0; k < s->sums; k++) {
        while (at < parts && smurf_tree_below(s->part[at].node, part[k].node)) at++;
        s->first[k + 1] = at;
    }
}

/* From the sums of this process to own chunks of the gradient, squared, and the loss of all. */
static struct loss join(struct train_step *s, unsigned flags)
{
    struct joint *j = &s->joint;
    size_t n = s->model->params.total, first = smurf_joint_chunk(j, j->group->rank),
           last = smurf_joint_chunk(j, j->group->rank + 1), start = smurf_joint_weight(j, j->group->rank);
    size_t parts = j->begin[j->group->count];
    for (size_t k = 0; k < s->sums; k++) {
        s->part[k].loss = smurf_tree_loss(s->part + s->first[k], s->first[k + 1] - s->first[k]);
        s->part[k].slab = s->part[s->first[k]].slab; /* k <= first[k]: no part is lost */
    }
    smurf_joint_exchange(j, s->part);
    double from = now();
#pragma omp parallel num_threads(s->threads)
    {
#pragma omp for schedule(static) nowait
        for (size_t c = first; c < last; c++) {
            size_t at = c * ADAM_CHUNK, end = at + ADAM_CHUNK < n ? at + ADAM_CHUNK : n;
            smurf_tree_sum(j->sum, parts, at - start, end - start);
            s->square[c] = smurf_square(end - at, j->sum->slab + (at - start));
        }
        s->worker[smurf_thread_number()].done = now();
    }
    tally(s, from, 1);
    s->raised = smurf_joint_report(j, s->square, flags);
    s->gradient = j->sum->slab;
    j->group->steps++;
    return smurf_tree_loss(j->sum, parts);
}

struct loss smurf_train_step_gradient(struct train_step *s, const struct op_run *run, const struct feed *train,
                                      size_t index, double *norm)
{
    struct pass p = {
        .s = s, .run = run, .feed = train, .slices = &s->slices, .weights = s->slab[SLAB_WEIGHT], .backward = true};
    struct loss loss;
    double square = 0;
    bool alone = s->joint.group->count == 1;
    smurf_slices_cut(&s->slices, train, index);
    if (s->device) {
        loss = smurf_train_device_gradient(s->device, run, train, index, norm);
        (void)op_stopped(run);
        s->raised = requests(s, run);
        s->raise = 0;
        s->counts.steps++;
        return loss;
    }
    if (!alone) smurf_joint_cut(&s->joint, &s->slices);
    size_t first = alone ? 0 : s->joint.first;
    p.slice = s->slices.slice + first;
    p.count = (alone ? s->slices.count : s->joint.last) - first;
    plan(&p);
    size_t parts = make_tree(s, &p);
    list_sums(s, parts);
    run_all(&p);
    if (alone) {
        s->raised = requests(s, run);
        s->gradient = s->slab[SLAB_GRADIENT] = s->part->slab;
        loss = smurf_tree_loss(s->part, parts);
    } else {
        loss = join(s, requests(s, run));
    }
    s->raise = 0;
    for (size_t c = 0; c < smurf_adam_chunks(s->model->params.total); c++) square += s->square[c];
    *norm = sqrt(square);
    s->counts.steps++;
    return loss;
}

void smurf_train_step_update(struct train_step *s, uint64_t t, double rate, double factor, double decay)
{
    if (s->device) {
        smurf_train_device_update(s->device, t, rate, factor, decay);
        return;
    }
    int rank = s->joint.group->rank;
    size_t n = s->model->params.total, start = smurf_joint_weight(&s->joint, rank);
    double from = now();
    const struct adam_rates r = smurf_adam_rates(t, rate, factor);
#pragma omp parallel num_threads(s->threads)
    {
#pragma omp for schedule(static) nowait
        for (size_t c = smurf_joint_chunk(&s->joint, rank); c < smurf_joint_chunk(&s->joint, rank + 1); c++) {
            size_t at = c * ADAM_CHUNK, m = at + ADAM_CHUNK < n ? ADAM_CHUNK : n - at;
            smurf_adam_move(m, &r, s->gradient + (at - start), s->slab[SLAB_MOMENT1] + at, s->slab[SLAB_MOMENT2] + at,
                            s->slab[SLAB_WEIGHT] + at);
            if (s->slab[SLAB_AVERAGE])
                smurf_average_move(m, decay, s->slab[SLAB_WEIGHT] + at, s->slab[SLAB_AVERAGE] + at);
        }
        s->worker[smurf_thread_number()].done = now();
    }
    tally(s, from, 1);
    smurf_joint_complete(&s->joint, RANKS_STEP, s->slab[SLAB_WEIGHT]);
}

void smurf_train_step_complete(struct train_step *s)
{
    static const int moved[] = {SLAB_MOMENT1, SLAB_MOMENT2, SLAB_AVERAGE};
    for (int i = 0; i < 3; i++)
        if (s->slab[moved[i]]) smurf_joint_complete(&s->joint, RANKS_OTHER, s->slab[moved[i]]);
}

/* ---- On a GPU --------------------------------------------------------------------------------- */

/* Slabs that the card has too. The best weights stay here. */
static const struct {
    enum slab here;
    enum cuda_slab there;
} both[] = {{SLAB_WEIGHT, CUDA_WEIGHT},
            {SLAB_AVERAGE, CUDA_AVERAGE},
            {SLAB_MOMENT1, CUDA_MOMENT1},
            {SLAB_MOMENT2, CUDA_MOMENT2}};
enum { BOTH = sizeof both / sizeof *both, CURRENT = 2 };

smurf_status smurf_train_step_move(struct train_step *s, const struct feed *train, const struct feed *dev,
                                   smurf_error *err)
{
    smurf_status status =
        smurf_train_device_open(&s->device, s->model, &s->loss, s->slab[SLAB_AVERAGE] != NULL, train, dev, err);
    for (int i = 0; i < BOTH && !status; i++)
        if (s->slab[both[i].here])
            status = smurf_train_device_put(s->device, both[i].there, s->slab[both[i].here], err);
    return status;
}

smurf_status smurf_train_step_status(const struct train_step *s, smurf_error *err)
{
    return s->device ? smurf_train_device_status(s->device, err) : SMURF_OK;
}

smurf_status smurf_train_step_fetch(struct train_step *s, bool all, smurf_error *err)
{
    smurf_status status = smurf_train_step_status(s, err);
    for (int i = 0; s->device && i < (all ? BOTH : CURRENT) && !status; i++)
        if (s->slab[both[i].here])
            status = smurf_train_device_get(s->device, both[i].there, s->slab[both[i].here], err);
    return status;
}
