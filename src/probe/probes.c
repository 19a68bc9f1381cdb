/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/probes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/supervisor.h"

static uint64_t
find_function(void *arg, const char *path, const char *function)
{
	struct st_error ignored;
	size_t n;
	(void)arg;
	struct st_image *image = st_image_open(path, &ignored);
	const struct st_symbol *symbols = image ? st_image_symbols(image, &n) : NULL;
	uint64_t at = 0;
	for (size_t i = 0; symbols && !at && i < n; i++)
		if (!strcmp(symbols[i].raw_name, function))
			at = symbols[i].start;
	if (image)
		st_image_close(image);
	return at;
}

static struct st_probes *
root_of(struct st_probes *probes)
{
	return probes->root ? probes->root : probes;
}

static void
tell_of_taken(void *arg)
{
	struct st_probes *probes = arg, *root = root_of(probes);
	root->taken(root->taken_arg, probes);
}

static void introduce(struct st_probes *probes);

/* The same is asked of what a process has become. */
static struct st_probing *
introduce_again(void *arg)
{
	enum { MOST_PROGRAMS = 4096 };
	struct st_probes *root = root_of(arg), *new = NULL, **slot;
	const struct st_probing *as = &root->process;
	if (root->others.n < MOST_PROGRAMS)
		new = calloc(1, sizeof *new);
	slot = new ? ST_PUSH(&root->others) : NULL;
	if (!slot) {
		free(new);
		return NULL;
	}
	*slot = new;
	new->choose = root->choose;
	new->mapped = root->mapped;
	new->points = root->points;
	new->arg = root->arg;
	new->root = root;
	new->taken = root->taken;
	new->process = (struct st_probing){.most_depth = as->most_depth,
	                                   .scoped = as->scoped,
	                                   .uses_cpu = as->uses_cpu,
	                                   .samples = as->samples,
	                                   .follows = true,
	                                   .only_exec = as->only_exec,
	                                   .program = as->program,
	                                   .records = as->records,
	                                   .records_calls = as->records_calls,
	                                   .reads_clock = as->reads_clock,
	                                   .cost_reading = as->cost_reading,
	                                   .whole = as->whole,
	                                   .memory = -1,
	                                   .cost_within = as->cost_within,
	                                   .cost = as->cost,
	                                   .cost_counted = as->cost_counted,
	                                   .cost_error = as->cost_error,
	                                   .cost_clock = as->cost_clock,
	                                   .cost_clock_left = as->cost_clock_left,
	                                   .cost_clock_error = as->cost_clock_error};
	introduce(new);
	new->process.held = &root->held;
	return &new->process;
}

static void
look_at_probes(void *arg, bool ended)
{
	struct st_probes *probes = arg;
	if (probes->budget.share > 0 || probes->budget.on > 0)
		st_probes_look(probes, ended);
	if (probes->watch && !ended)
		probes->watch(probes->arg);
}

static void
pause_probes(void *arg, bool begins)
{
	const struct st_probes *probes = arg;
	probes->pause(probes->arg, begins);
}

static void
introduce(struct st_probes *probes)
{
	probes->process.install = st_probes_install;
	probes->process.find = find_function;
	probes->process.arg = probes;
	if (probes->budget.share > 0 || probes->budget.on > 0 || probes->watch)
		probes->process.look = look_at_probes;
	if (probes->pause)
		probes->process.pause = pause_probes;
	pthread_mutex_init(&probes->lock, NULL);
	pthread_mutex_init(&probes->held, NULL);
	pthread_mutex_init(&probes->installing, NULL);
	probes->process.taken = probes->taken ? tell_of_taken : NULL;
	if (!probes->process.follows)
		return;
	probes->process.again = introduce_again;
	probes->process.held = &probes->held;
}

st_status
st_probes_attach(struct st_probes *probes, pid_t pid, struct st_error *e)
{
	introduce(probes);
	return st_probing_attach(&probes->process, pid, e);
}

st_status
st_probes_detach(struct st_probes *probes, double seconds, struct st_error *e)
{
	return st_probing_detach(&probes->process, seconds, e);
}

st_status
st_probes_start(struct st_probes *probes, char *const *argv, bool own_group, struct st_error *e)
{
	introduce(probes);
	return st_probing_start(&probes->process, argv, own_group, e);
}

/* Does a process run that is measured? */
static bool
is_any_left(struct st_probes *root)
{
	pthread_mutex_lock(&root->held);
	const size_t n = root->others.n + 1;
	struct st_probing **v = calloc(n, sizeof *v);
	for (size_t i = 0; v && i < n; i++)
		v[i] = i ? &root->others.v[i - 1]->process : &root->process;
	const bool used = v && st_probing_is_used(v, n);
	pthread_mutex_unlock(&root->held);
	free(v);
	return used;
}

/* The program has ended. */
static st_status
wait_for_others(struct st_probes *root, struct st_error *e)
{
	(void)e;
	while (!root->process.only_exec && !st_jobs_interrupted() && is_any_left(root)) {
		if (root->watch)
			root->watch(root->arg);
		nanosleep(&(struct timespec){0, 50000000}, NULL);
	}
	for (size_t i = 0; i <= root->others.n; i++) {
		struct st_probing *p = i ? &root->others.v[i - 1]->process : &root->process;
		st_probing_unfollow(p);
		if (p->area)
			__atomic_store_n(&p->area->controlled, 0, __ATOMIC_RELEASE);
		if (i && p->pid == root->process.pid && !p->has_end)
			p->end = root->process.ended;
		const uint64_t end = p->end;
		st_probing_finish(p);
		p->end = end; /* of a child's it is not known */
		p->tsc_hz = root->process.tsc_hz;
	}
	return ST_OK;
}

st_status
st_probes_wait(struct st_probes *probes, double seconds, struct st_error *e)
{
	if (st_probing_wait(&probes->process, seconds, e))
		return ST_FAILED;
	return probes->process.follows ? wait_for_others(probes, e) : ST_OK;
}

const struct st_probes *
st_probes_each(const struct st_probes *probes, size_t n)
{
	if (!n)
		return probes;
	return n <= probes->others.n ? probes->others.v[n - 1] : NULL;
}

const void *
st_probes_at(const struct st_probes *probes, uint32_t offset, size_t bytes)
{
	const uint64_t at = (uint64_t)offset * 8;
	if (!offset || at + bytes > ST_PROBE_AREA_BYTES)
		return NULL;
	return (const char *)probes->process.area + at;
}

const struct st_probe_cell *
st_probes_cell(const struct st_probes *probes, uint32_t record, uint32_t function)
{
	const struct st_probe_record *r = &probes->process.area->records[record];
	const uint32_t room = __atomic_load_n(&r->room, __ATOMIC_ACQUIRE);
	if (function >= room)
		return NULL;
	const uint32_t *cells = st_probes_at(probes, r->cells, sizeof(uint32_t) * room);
	return cells ? st_probes_at(probes, cells[function] / 2, sizeof(struct st_probe_cell))
	             : NULL;
}

struct st_probe_pairs
st_probe_pairs_of(const struct st_probes *probes, uint32_t record)
{
	const struct st_probe_area *a = probes->process.area;
	return (struct st_probe_pairs){
	        .probes = probes,
	        .buckets = st_probes_at(probes, a->records[record].pairs,
	                                ST_PROBE_PAIR_BUCKETS * sizeof(uint32_t)),
	        .most = a->used / sizeof(struct st_probe_pair)};
}

struct st_probe_pair *
st_probe_next_pair(struct st_probe_pairs *pairs)
{
	while (pairs->buckets && !pairs->at && pairs->bucket < ST_PROBE_PAIR_BUCKETS)
		pairs->at = pairs->buckets[pairs->bucket++];
	if (!pairs->at || !pairs->most)
		return NULL;
	pairs->most--;
	struct st_probe_pair *pair =
	        (struct st_probe_pair *)st_probes_at(pairs->probes, pairs->at, sizeof *pair);
	pairs->at = pair ? pair->next : 0;
	return pair ? pair : st_probe_next_pair(pairs);
}

bool
st_probes_in_pair(const struct st_probes *probes, uint32_t record, uint32_t caller, uint32_t callee)
{
	struct st_probe_pairs pairs = st_probe_pairs_of(probes, record);
	const uint32_t wanted = caller + 1; /* UINT32_MAX becomes 0 */
	const struct st_probe_pair *p;
	if (!pairs.buckets)
		return false;
	pairs.at = pairs.buckets[st_probe_pair_bucket(wanted, callee)];
	pairs.bucket = ST_PROBE_PAIR_BUCKETS; /* no other bucket */
	while ((p = st_probe_next_pair(&pairs)))
		if (p->caller == wanted && p->callee == callee + 1)
			return p->active > 0;
	return false;
}

struct st_probe_reading
st_probe_reading_of(const struct st_probes *probes, uint32_t record)
{
	const struct st_probe_area *a = probes->process.area;
	const uint32_t first = __atomic_load_n(&a->records[record].rows, __ATOMIC_ACQUIRE);
	return (struct st_probe_reading){
	        .probes = probes,
	        .chunk = st_probes_at(probes, first, sizeof(struct st_probe_kept)),
	        .most = a->used / sizeof(struct st_probe_kept)};
}

const struct st_probe_arguments *
st_probe_next_row(struct st_probe_reading *reading)
{
	while (reading->chunk && reading->most) {
		const struct st_probe_kept *chunk = reading->chunk;
		while (reading->at < chunk->n && reading->at < ST_PROBE_KEPT_AT_ONCE) {
			const struct st_probe_arguments *row = &chunk->rows[reading->at++];
			if (__atomic_load_n(&row->function, __ATOMIC_ACQUIRE))
				return row;
		}
		reading->most--;
		reading->at = 0;
		reading->chunk = st_probes_at(reading->probes, chunk->next, sizeof *chunk);
	}
	return NULL;
}

void
st_probes_free(struct st_probes *probes)
{
	st_probing_free(&probes->process);
	for (size_t i = 0; i < probes->images.n; i++) {
		struct st_probed_image *image = &probes->images.v[i];
		if (image->planner)
			st_probe_planner_free(image->planner);
		if (image->image)
			st_image_close(image->image);
		free(image->path);
	}
	free(probes->images.v);
	free(probes->functions.v);
	free(probes->refused.v);
	for (size_t i = 0; i < probes->others.n; i++) {
		st_probes_free(probes->others.v[i]);
		free(probes->others.v[i]);
	}
	free(probes->others.v);
	st_probe_budget_free(&probes->budget);
}
