/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names the series of a history by the parts in which they differ. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/history.h"
#include "report/json.h"

static const struct {
	const char *key, *before;
} history_parts[] = {
#define P(id, key, before) {key, before},
        ST_HISTORY_PARTS(P)
#undef P
};

bool
st_history_same_series(const struct st_history_group *a, const struct st_history_group *b)
{
	return a->configuration == b->configuration && a->machine == b->machine &&
	       !strcmp(a->parts[ST_HISTORY_LOCATION], b->parts[ST_HISTORY_LOCATION]) &&
	       !strcmp(a->parts[ST_HISTORY_LABELS], b->parts[ST_HISTORY_LABELS]) &&
	       !strcmp(a->metric, b->metric) && !strcmp(a->unit, b->unit);
}

/* A hash of the parts that are chosen already, and of the next one. */
struct history_key {
	uint64_t chosen, part;
};

static uint64_t
history_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	while (*text++);
	return hash;
}

static int
history_compare_keys(const void *a, const void *b)
{
	const struct history_key *x = a, *y = b;
	if (x->chosen != y->chosen)
		return x->chosen < y->chosen ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/* Whether groups that have the chosen parts in common differ in the next one. */
static bool
history_tells_apart(struct history_key *sorted, const struct history_key *keys, size_t n)
{
	memcpy(sorted, keys, n * sizeof *keys);
	qsort(sorted, n, sizeof *sorted, history_compare_keys);
	for (size_t i = 1; i < n; i++)
		if (sorted[i].chosen == sorted[i - 1].chosen &&
		    sorted[i].part != sorted[i - 1].part)
			return true;
	return false;
}

st_status
st_history_naming_of(struct st_history_naming *n, const struct st_history_group *const *groups,
                     size_t n_groups)
{
	const uint64_t begin = 0xcbf29ce484222325u;
	struct history_key *keys = calloc(2 * n_groups + 1, sizeof *keys);
	*n = (struct st_history_naming){0};
	if (!keys)
		return ST_FAILED;
	for (size_t part = 0; part <= ST_HISTORY_PART_COUNT; part++) {
		const bool machine = part == ST_HISTORY_PART_COUNT;
		for (size_t i = 0; i < n_groups; i++)
			keys[i].part = machine ? (uint64_t)groups[i]->machine
			                       : history_hash(begin, groups[i]->parts[part]);
		const bool differ = history_tells_apart(keys + n_groups, keys, n_groups);
		*(machine ? &n->machine : &n->parts[part]) = differ;
		for (size_t i = 0; i < n_groups && differ; i++)
			keys[i].chosen = (keys[i].chosen ^ keys[i].part) * 0x9e3779b97f4a7c15u;
	}
	free(keys);
	return ST_OK;
}

/* A configuration is its command, collector, workload and parameters: no two series have all parts
 * and the machine in common. */
static char *
history_name(const struct st_history_naming *n, const struct st_history_group *g,
             const char *after_location)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	const char *between = "";
	if (!out)
		return NULL;
	if (n->parts[ST_HISTORY_LOCATION] || n->parts[ST_HISTORY_LABELS]) {
		const char *labels = n->parts[ST_HISTORY_LABELS] ? g->parts[ST_HISTORY_LABELS] : "";
		fprintf(out, "%s%s%s%s", g->parts[ST_HISTORY_LOCATION], *labels ? " (" : "", labels,
		        *labels ? ")" : "");
		between = after_location;
	}
	for (size_t i = ST_HISTORY_LABELS + 1; i < ST_HISTORY_PART_COUNT; i++) {
		if (!n->parts[i])
			continue;
		fprintf(out, "%s%s%s", between, *g->parts[i] ? history_parts[i].before : "no ",
		        *g->parts[i] ? g->parts[i] : history_parts[i].key);
		between = ", ";
	}
	if (n->machine)
		fprintf(out, "%smachine %lld", between, (long long)g->machine);
	return st_text_end(&built);
}

char *
st_history_short_name(const struct st_history_naming *n, const struct st_history_group *g)
{
	bool any = n->machine;
	for (size_t i = 0; i < ST_HISTORY_PART_COUNT; i++)
		any |= n->parts[i];
	struct st_history_naming all = *n;
	all.parts[ST_HISTORY_LOCATION] |= !any;
	return history_name(&all, g, ", ");
}

char *
st_history_long_name(const struct st_history_naming *n, const struct st_history_group *g)
{
	struct st_history_naming all = *n;
	all.parts[ST_HISTORY_LOCATION] = all.parts[ST_HISTORY_LABELS] = true;
	all.parts[ST_HISTORY_COMMAND] = true;
	return history_name(&all, g, ": ");
}

void
st_history_put_parts(json_t *object, const struct st_history_group *g)
{
	for (size_t i = 0; i < ST_HISTORY_PART_COUNT; i++)
		json_object_set_new(object, history_parts[i].key, st_json_text(g->parts[i]));
}
