/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/unique.h"

#include "rt/arch/x86_64/decode.h"
#include "rt/code.h"
#include "rt/program.h"

/* Of the mapping with that index in the results. */
static struct unique_bits
bits_of(uint32_t index)
{
	const struct st_results_header *r = rt.results;
	const struct st_map *m =
	        (const struct st_map *)((const char *)r + r->layout.off_maps) + index;
	if (!m->coverage)
		return (struct unique_bits){0};
	return (struct unique_bits){.bytes = (uint8_t *)rt.results + r->layout.off_coverage,
	                            .first = m->coverage - 1 - m->start,
	                            .end = m->end};
}

struct unique_bits
unique_bits(const struct map *map)
{
	if (!rt.budget.unique || map->writable || map->shared || map->anonymous)
		return (struct unique_bits){0};
	struct unique_bits bits = bits_of(map->index);
	bits.end = map->end;
	return bits;
}

bool
unique_is_tracked(const struct st_block *b)
{
	return bits_of(b->map).bytes != NULL;
}

/* The instructions of a block from a certain one on. */
struct walk {
	struct unique_bits bits;
	uint64_t pc, end;
	uint32_t skip; /* instructions that are passed over */
};

static struct walk
parts_begin(const struct st_block *b, uint32_t skip)
{
	return (struct walk){bits_of(b->map), b->pc, b->pc + b->bytes, skip};
}

/* The next one's address; 0: there is none. */
static uint64_t
walk_next(struct walk *w)
{
	struct st_insn in;
	while (w->pc < w->end && st_decode(program_code(w->pc), w->end - w->pc, &in)) {
		uint64_t pc = w->pc;
		w->pc += in.len;
		if (!w->skip)
			return pc;
		w->skip--;
	}
	return 0;
}

/* Other threads and processes, and the controller, change bits of the same byte. Returns whether
 * this one changes. */
static bool
mark(const struct unique_bits *bits, uint64_t pc, bool seen)
{
	uint64_t bit = bits->first + pc;
	uint8_t one = (uint8_t)(1u << bit % 8), *byte = &bits->bytes[bit / 8];
	uint8_t was = seen ? __atomic_fetch_or(byte, one, __ATOMIC_RELAXED)
	                   : __atomic_fetch_and(byte, (uint8_t)~one, __ATOMIC_RELAXED);
	return !(was & one) == seen;
}

static void
mark_from(const struct st_block *b, uint32_t skip, bool seen)
{
	struct walk w = parts_begin(b, skip);
	for (uint64_t pc; (pc = walk_next(&w));)
		mark(&w.bits, pc, seen);
}

/* The numbers of measured and of all instructions. */
static uint32_t
count_measured(const struct st_block *b, uint32_t skip, uint32_t *all)
{
	struct walk w = parts_begin(b, skip);
	uint32_t seen = 0;
	*all = 0;
	for (uint64_t pc; (pc = walk_next(&w)); ++*all)
		seen += unique_is_seen(&w.bits, pc);
	return seen;
}

/* All of the block, of which nothing had been measured. False: now another process measures some of
 * it. */
static bool
claim(const struct st_block *b)
{
	struct walk w = parts_begin(b, 0), again = parts_begin(b, 0);
	uint64_t pc, taken;
	while ((pc = walk_next(&w)) && mark(&w.bits, pc, true))
		;
	if (!pc)
		return true;
	while ((taken = walk_next(&again)) != pc)
		mark(&again.bits, taken, false);
	return false;
}

enum unique_answer
unique_take(struct st_block *b)
{
	uint32_t seen, all;
	if (!unique_is_tracked(b)) {
		bool before = b->flags & ST_BLOCK_SEEN;
		b->flags |= ST_BLOCK_SEEN;
		return before ? UNIQUE_SEEN : UNIQUE_NEW;
	}
	seen = count_measured(b, 0, &all);
	if (seen)
		return seen == all ? UNIQUE_SEEN : UNIQUE_MIXED;
	if (!claim(b))
		return UNIQUE_MIXED;
	b->flags |= ST_BLOCK_SEEN;
	return UNIQUE_NEW;
}

/* Blocks that have been measured, the last ones: a ring of rt.budget.unique_last. */
static struct seen_last {
	uint32_t id; /* in the results; 0: none */
	uint32_t exit, generation;
	uint16_t armed; /* the exit's first bytes; 0: not known */
} last_blocks[ST_MOST_LAST];
static uint32_t n_last; /* so far */

/* The block counts as not measured. */
static void
forget_measured(const struct seen_last *last)
{
	struct st_block *b =
	        (struct st_block *)((char *)rt.results + rt.results->layout.off_blocks) + last->id;
	if (unique_is_tracked(b))
		mark_from(b, 0, false);
	else
		b->flags &= (uint8_t)~ST_BLOCK_SEEN;
	if (last->generation != jit_generation())
		return;
	if (last->armed)
		jit_arm_first(last->exit, last->armed);
	else
		jit_invalidate(b->pc, b->pc + b->bytes);
}

void
unique_note(uint32_t id, uint32_t exit, uint16_t armed)
{
	if (!rt.budget.unique_last)
		return;
	struct seen_last *last = &last_blocks[n_last++ % rt.budget.unique_last];
	if (last->id)
		forget_measured(last);
	*last = (struct seen_last){id, exit, jit_generation(), armed};
}

/* The block that the thread has been stopped in and measures; NULL: none with bits. */
static const struct st_block *
block_under_way(const struct thread *t, enum resume_state state)
{
	const struct resume *p = &t->resume;
	if (!rt.budget.unique || p->state != state || !p->id)
		return NULL;
	const struct st_block *b =
	        (const void *)((const char *)rt.results + rt.results->layout.off_blocks);
	return unique_is_tracked(&b[p->id]) ? &b[p->id] : NULL;
}

void
unique_suspend(const struct thread *t)
{
	const struct st_block *b = block_under_way(t, RESUME_ARMED);
	if (!b)
		return;
	mark_from(b, t->resume.insns, false);
	/* Its translation has no more way to where it is measured. */
	jit_invalidate(b->pc, b->pc + b->bytes);
}

void
unique_leave(const struct thread *t)
{
	if (!rt.budget.unique)
		return;
	rt_lock(&rt.lock);
	unique_suspend(t);
	rt_unlock(&rt.lock);
}

bool
unique_resume(const struct thread *t)
{
	const struct st_block *b = block_under_way(t, RESUME_SUSPENDED);
	uint32_t all;
	if (!b)
		return true;
	if (count_measured(b, t->resume.insns, &all))
		return false;
	mark_from(b, t->resume.insns, true);
	return true;
}
