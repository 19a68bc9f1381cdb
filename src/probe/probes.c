/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/probes.h"

#include <stdlib.h>
#include <string.h>

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

static void
look_at_probes(void *arg, bool ended)
{
	struct st_probes *probes = arg;
	if (probes->budget.share > 0)
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
	if (probes->budget.share > 0 || probes->watch)
		probes->process.look = look_at_probes;
	if (probes->pause)
		probes->process.pause = pause_probes;
	pthread_mutex_init(&probes->lock, NULL);
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

st_status
st_probes_wait(struct st_probes *probes, double seconds, struct st_error *e)
{
	return st_probing_wait(&probes->process, seconds, e);
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
	st_probe_budget_free(&probes->budget);
}
