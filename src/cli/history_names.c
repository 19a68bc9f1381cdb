/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names for the series of a history: what makes each of them differ from the others. */
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

void
st_history_naming_add(struct st_history_naming *n, const struct st_history_group *first,
                      const struct st_history_group *g)
{
	for (size_t i = 0; i < ST_HISTORY_PART_COUNT; i++)
		n->parts[i] |= strcmp(first->parts[i], g->parts[i]) != 0;
	n->machine |= first->machine != g->machine;
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
