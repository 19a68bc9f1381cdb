/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting the edges of conditional branches (tool/edges.c). The edge that is counted leads through
 * a fragment of code of its own, which counts and goes on to the target; the other one leads
 * straight to its target and pays nothing. Until a branch has been executed both edges lead to the
 * dispatcher.
 */
#include "rt/jit/sequence.h"
#include "rt/jit/superblock.h"

static void
emit_edge(struct emit *e, uint32_t edge, uint64_t target)
{
	uint32_t field = counter_field(edge);
	if (!(jit_flags_live_at(target, false) & FLAGS_OF_INC)) {
		emit_increment(e, field);
		return;
	}
	sequence_count_spilled(e, field);
}

bool
jit_edge_counted(const struct thread *t, uint32_t start, uint32_t at, struct regs *regs)
{
	if (!emitted_is_save(&rt.target, cache_write(start)))
		return at > 0;
	return sequence_recover_count_spilled(t, at, regs);
}

void
jit_link_edge(uint32_t exit, uint32_t block)
{
	const struct exit *x = &jit.exits[exit];
	uint32_t source = x->block;
	if (!jit_is_unlinked(exit) || !jit_has_space())
		return;
	uint32_t onward = new_exit(EXIT_JUMP, x->to, source);
	struct emit e = warm_begin();
	warm_mark(&e, WARM_EDGE, source);
	uint32_t start = e.off;
	emit_edge(&e, jit.edge_of[source], jit.blocks[block].pc);
	emit_align_site(&e, 1);
	e8(&e, 0xe9);
	uint32_t site = e.off;
	e32(&e, 0);
	warm_end(&e);
	finish_exit(onward, site);
	jit_lead(exit, start);
}
