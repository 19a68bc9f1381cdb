/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translating ahead of execution, for the copies that a fork server makes of the process. */
#include "rt/jit/jit.h"
#include "rt/maps.h"
#include "rt/tool/tool.h"

/* Code that is the same in each copy: of a file, and not written to. */
static bool
is_lasting(uint64_t pc)
{
	const struct map *m = maps_find(pc);
	return m && !m->writable && !m->anonymous && !m->stepped;
}

/* As finish_exit and follow_exit do. */
static void
link_ahead(uint32_t exit, uint32_t to)
{
	struct exit *x = &jit.exits[exit];
	const enum direction this = exit_direction(x), other = this == DIRECTION_TAKEN
	                                                               ? DIRECTION_NOT_TAKEN
	                                                               : DIRECTION_TAKEN;
	const uint32_t edge = x->cause ? jit.edge_of[x->block] : 0;
	if (edge && edge_counts(edge, this)) {
		jit_link_edge(exit, to);
	} else if (!edge || edge_counts(edge, other)) {
		x->cause = 0;
		jit_link(exit, to);
	}
}

static void
link_exits(void)
{
	for (uint32_t i = 0; i < jit.n_exits; i++) {
		const struct exit *x = &jit.exits[i];
		const struct block *from = &jit.blocks[x->block];
		if ((x->kind != EXIT_JUMP && x->kind != EXIT_BRANCH) ||
		    !(from->flags & BLOCK_VALID) || !jit_is_unlinked(i))
			continue;
		uint32_t to = jit_find(jit_exit_target(x), from->version);
		if (to)
			link_ahead(i, to);
	}
}

/* site: a branch that leads there and whose targets are counted; 0: none. */
static void
set_pad(uint64_t pc, uint32_t site)
{
	uint32_t b = jit_find(pc, VERSION_TOOLS);
	if (!b || !jit_has_space())
		return;
	jit_make_pad(b);
	jit_lookup_set(VERSION_TOOLS, pc, jit.blocks[b].pad);
	if (site && jit.targets)
		jit_learn_ahead(b, site);
}

void
jit_translate_ahead(const uint64_t *pcs, size_t n, const struct st_serve *s, size_t n_misses)
{
	for (size_t i = 0; i < n && jit_has_space(); i++)
		if (is_lasting(pcs[i]) && !jit_find(pcs[i], VERSION_TOOLS))
			jit_translate(pcs[i], VERSION_TOOLS, NO_EXIT, false);
	if ((n || s->n_directions) && !(rt.stress & ST_STRESS_links))
		link_exits();
	for (size_t i = 0; i < n_misses && !(rt.stress & ST_STRESS_lookup); i++)
		set_pad(s->misses[i], s->miss_sites[i]);
}
