/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exits of a block, and the warm part of the cache. */
#include "rt/jit/sequence.h"
#include "rt/jit/superblock.h"
#include "rt/tool/tool.h"

struct emit
warm_begin(void)
{
	return cache_emit(jit.warm.next);
}

void
warm_mark(const struct emit *e, enum warm_kind kind, uint32_t block)
{
	struct warm *w = &jit.warm;
	w->fragments[w->n_fragments] =
	        (struct warm_fragment){e->off, block & 0x0fffffff, (unsigned)kind & 15};
	/* Signal handlers of other threads search the table without the lock. */
	__atomic_store_n(&w->n_fragments, w->n_fragments + 1, __ATOMIC_RELEASE);
}

void
warm_end(const struct emit *e)
{
	jit.warm.next = e->off;
}

uint32_t
warm_constant(uint64_t value)
{
	jit.warm.next = (jit.warm.next + 7) & ~7u;
	struct emit e = warm_begin();
	e64(&e, value);
	warm_end(&e);
	return jit.warm.next - 8;
}

void
emit_set_exit(struct emit *e, uint32_t exit)
{
	emit_field_prefixes(e);
	e8(e, 0xc7);
	emit_field_operand(e, 0, offsetof(struct thread, exit_id), 4);
	e32(e, exit);
}

uint32_t
jit_stub_len(void)
{
	return (rt.target.threaded ? 17 : 15) + (SEEDED(9) ? 2 : 0);
}

/*
 * Writes the stubs of the next exits, many at once: a stub is executed soon after its exit is made,
 * and a write next to code that has just been executed empties the processor's pipeline.
 */
static void
write_stubs(void)
{
	enum { BATCH = 512 };
	uint32_t first = jit.n_stubs;
	for (uint32_t i = first; i < first + BATCH; i++) {
		struct emit e = cache_emit(jit_stub(i));
		if (SEEDED(9)) {
			e8(&e, 0x50); /* push rax */
			e8(&e, 0x58); /* pop rax */
		}
		emit_set_exit(&e, i);
		emit_jmp(&e, (uint64_t)rt_stub_exit);
	}
	jit.n_stubs = first + BATCH;
}

uint32_t
new_exit(enum exit_kind kind, enum exit_to to, uint32_t block)
{
	uint32_t i = jit.n_exits++;
	jit.exits[i] =
	        (struct exit){.block = block & (MAX_CACHED_BLOCKS - 1), .kind = kind, .to = to};
	if (i >= jit.n_stubs)
		write_stubs();
	return i;
}

uint64_t
jit_exit_target(const struct exit *x)
{
	const struct block *b = &jit.blocks[x->block];
	return x->to == TO_SELF ? b->pc : x->to == TO_TARGET ? block_target(b) : block_end(b);
}

void
finish_exit(uint32_t exit, uint32_t site)
{
	struct exit *x = &jit.exits[exit];
	x->site = site;
	uint32_t rel = jit_stub(exit) - (site + 4);
	memcpy(cache_write(site), &rel, 4);
	if ((rt.stress & ST_STRESS_links) || x->cause || jit.alone)
		return;
	uint32_t b = jit_find(jit_exit_target(x), jit.blocks[x->block].version);
	if (b)
		jit_link(exit, b);
}

static void
emit_jump(struct emit *e, unsigned opcode, uint32_t exit)
{
	emit_align_site(e, opcode > 0xff ? 2 : 1);
	if (opcode > 0xff)
		e8(e, opcode >> 8);
	e8(e, opcode & 0xff);
	uint32_t site = e->off;
	e32(e, 0);
	finish_exit(exit, site);
}

void
emit_direct(struct emit *e, unsigned opcode, enum exit_kind kind, enum exit_to to, uint32_t block)
{
	emit_jump(e, opcode, new_exit(kind, to, block));
}

void
emit_branch_edge(struct emit *e, unsigned opcode, enum exit_kind kind, enum exit_to to,
                 uint32_t block)
{
	uint32_t exit = new_exit(kind, to, block), edge = rt.code.counting ? jit.edge_of[block] : 0;
	struct exit *x = &jit.exits[exit];
	enum direction other =
	        exit_direction(x) == DIRECTION_TAKEN ? DIRECTION_NOT_TAKEN : DIRECTION_TAKEN;
	x->cause = edge && !edge_counts(edge, other);
	emit_jump(e, opcode, exit);
}

void
emit_leave(struct superblock *u, enum exit_kind kind, enum exit_to to, unsigned app_len)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, exit = new_exit(kind, to, u->block);
	emit_set_exit(e, exit);
	emit_jmp(e, kind == EXIT_SYSCALL ? (uint64_t)rt_stub_syscall : (uint64_t)rt_stub_exit);
	jit.exits[exit].next = e->off;
	add_record(u, REC_EXIT, app_len, from);
}

void
emit_first(struct superblock *u)
{
	uint32_t from = u->hot.off;
	emit_align_site(&u->hot, 0);
	if (u->hot.off != from)
		add_record(u, REC_COPY, 0, from);
	emit_leave(u, EXIT_FIRST, TO_SELF, 0);
}

static uint16_t *
first_exit_bytes(uint32_t exit)
{
	return (uint16_t *)cache_write(jit.exits[exit].next - jit_stub_len());
}

uint16_t
jit_skip_first(uint32_t exit)
{
	uint16_t jump = (uint16_t)(0xeb | (jit_stub_len() - 2) << 8);
	uint16_t was = __atomic_exchange_n(first_exit_bytes(exit), jump, __ATOMIC_RELAXED);
	return was == jump ? 0 : was;
}

void
jit_arm_first(uint32_t exit, uint16_t armed)
{
	__atomic_store_n(first_exit_bytes(exit), armed, __ATOMIC_RELAXED);
}
