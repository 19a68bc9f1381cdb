/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/waits.h"

#include <stdlib.h>
#include <string.h>

#include "wire/results/contexts.h"

enum st_stack_kind
st_profile_label_kind(const struct st_profile_label *l)
{
	if (l->image != UINT32_MAX || l->offset < ST_LABEL_KINDS ||
	    l->offset >= ST_LABEL_KINDS + ST_STACK_KIND_COUNT)
		return ST_STACK_CODE;
	return (enum st_stack_kind)(l->offset - ST_LABEL_KINDS);
}

const char *
st_stack_kind_name(enum st_stack_kind kind)
{
	static const char *const names[] = {
#define K(id, name) name,
	        ST_STACK_KINDS(K)
#undef K
	};
	return names[kind];
}

bool
st_profile_has_waits(const struct st_profile *p)
{
	const char *wall = st_profile_option(p, "hot", "wall");
	return wall && strtoul(wall, NULL, 10) && !st_profile_has_tool(p, "contexts");
}

/* Adds the time to the functions on the stack, once to each, and to the innermost one as its own.
 * seen: by function, 1 + the last
 * context that was added to it. */
static void
waits_add_to_callers(struct st_profile *p, uint32_t context, uint64_t ns, uint64_t *seen)
{
	bool innermost = true;
	for (uint32_t i = context; i != UINT32_MAX; i = p->contexts.v[i].parent) {
		const uint32_t f = p->labels.v[p->contexts.v[i].label].function;
		if (f >= p->functions.n || seen[f] == context + 1ull)
			continue;
		seen[f] = context + 1ull;
		p->functions.v[f].waiting_ns += ns;
		p->functions.v[f].self_waiting_ns += innermost ? ns : 0;
		innermost = false;
	}
}

st_status
st_profile_add_up_waits(struct st_profile *p)
{
	if (!st_profile_has_waits(p))
		return ST_OK;
	uint64_t *seen = calloc(p->functions.n + 1, sizeof *seen);
	if (!seen) {
		p->out_of_memory = true;
		return ST_FAILED;
	}
	for (uint32_t i = 0; i < p->contexts.n; i++) {
		const struct st_profile_context *c = &p->contexts.v[i];
		struct st_profile_thread *t = &p->threads.v[c->thread];
		if (!st_stack_kind_waits(st_profile_label_kind(&p->labels.v[c->label]))) {
			t->on_cpu_ns += c->self_ns;
			p->run.on_cpu_ns += c->self_ns;
			continue;
		}
		t->waiting_ns += c->self_ns;
		p->run.waiting_ns += c->self_ns;
		waits_add_to_callers(p, i, c->self_ns, seen);
	}
	free(seen);
	return ST_OK;
}
