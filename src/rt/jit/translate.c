/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translating: blocks, superblocks of them, and how they follow one another in the cache. */
#include "rt/budget/adaptive.h"
#include "rt/budget/budget.h"
#include "rt/budget/region.h"
#include "rt/budget/suppress.h"
#include "rt/budget/unique.h"
#include "rt/jit/action.h"
#include "rt/jit/sequence.h"
#include "rt/jit/superblock.h"
#include "rt/maps.h"
#include "rt/tool/tool.h"

static struct build builds[2];

/* Does control run past the block's last emitted instruction into the next address? */
static bool
falls_through(const struct build *b)
{
	return b->end == ST_END_NONE && !b->more &&
	       (b->n == 0 ||
	        (b->insn[b->n - 1].cls != ST_C_INVALID && b->at[b->n - 1] != b->bytes));
}

static struct st_block *
result_of(uint32_t id)
{
	return (struct st_block *)((char *)rt.results + rt.results->layout.off_blocks) + id;
}

static bool
pads_count(enum version version)
{
	return jit.targets && version == VERSION_TOOLS;
}

static void
begin_basic_block(struct superblock *u)
{
	uint32_t known = rt.results->blocks.n;
	bool wanted = u->version == VERSION_TOOLS && entries_choose(u->now->pc);
	u->id = wanted ? jit_result_id(u->now) : 0;
	u->base = 0;
	u->fresh = u->id >= known;
	if (u->id && u->now->seen && !rt.budget.unique_last) {
		result_of(u->id)->flags |= ST_BLOCK_REFUSED;
		u->id = 0;
	}
	u->once = u->id && rt.budget.unique;
	if (u->id && adaptive_is_on() && adaptive_is_backed_off(rt_self(), u->id))
		u->id = 0;
}

/* The tools look at the fragment. One in which they want too much is made smaller, like all that
 * follow. */
static void
show_fragment(struct superblock *u, bool cont)
{
	if (!rt.code.counting)
		return;
	struct st_results_header *r = rt.results;
	uint64_t amounts = r->blocks.n_amounts;
	bool with_block = !cont && (!u->rest || u->base == 0);
	tools_see(u->now, u->id, u->base, u->fresh, with_block);
	if (!asked.overflow && u->now->n + asked.n_actions <= MOST_INSNS_AND_ACTIONS)
		return;
	r->blocks.n_amounts = amounts;
	jit.most_insns = MAX_ACTION_INSNS;
	jit_build(u->now, u->now->pc, u->stop);
	tools_see(u->now, u->id, u->base, u->fresh, with_block);
}

/* Tools that want to see a block once get another translation of it for that. This one keeps only
 * the exit to there, and not even that when the block has been executed, or when this is the rest
 * of one: whoever is stopped in a block has come past its exit. Returns whether it has the exit. */
static bool
keep_plain(struct superblock *u, bool cont)
{
	if (!u->once)
		return false;
	asked.n_actions = asked.n_edge_amounts = asked.n_target_counts = 0;
	asked.streams = 0;
	/* The bits of --unique say more than the flag, if there are any. */
	return !cont && !u->rest &&
	       (u->now->tracked || rt.budget.unique_last ||
	        !(result_of(u->id)->flags & ST_BLOCK_SEEN));
}

/* A block whose later fragments are not known yet counts in any case. */
static bool
is_counted(const struct superblock *u)
{
	return u->id && !rt.budget.unique &&
	       (u->now->more || (result_of(u->id)->flags & ST_BLOCK_COUNTED));
}

/* Do the tools want anything of it, so that it is to rest when it has been executed often? It
 * counts then. */
static bool
may_back_off(const struct superblock *u)
{
	bool wanted =
	        is_counted(u) || asked.n_actions || asked.n_target_counts || asked.n_edge_amounts;
	return u->id && wanted && adaptive_is_on() && adaptive_limit(u->id);
}

/* Opens the record of the block in u->now, whose body starts here. */
static void
begin_block(struct superblock *u, bool cont)
{
	struct build *b = u->now;
	uint32_t i = jit.n_blocks;
	u->block = i;
	uint8_t flags = BLOCK_VALID;
	if (u->joined)
		flags |= BLOCK_JOINED;
	if (cont)
		flags |= BLOCK_CONT;
	if (b->writable)
		flags |= BLOCK_WRITABLE;
	if (b->checked)
		flags |= BLOCK_CHECKED;
	if (u->rest && !cont)
		flags |= BLOCK_RESUME;
	else if (!cont)
		begin_basic_block(u);
	show_fragment(u, cont);
	bool once = keep_plain(u, cont);
	bool often = !cont && !u->rest && may_back_off(u);
	if (often || (!cont && !u->rest && is_counted(u)))
		flags |= BLOCK_COUNTED;
	jit.blocks[i] = (struct block){.pc = b->pc,
	                               .body = u->hot.off,
	                               .records = jit.n_records,
	                               .bytes = (uint16_t)b->bytes,
	                               .beyond = (uint8_t)(b->extent - b->bytes),
	                               .n_insns = (uint8_t)b->n,
	                               .end = (unsigned)b->end & 15,
	                               .version = u->version & 7,
	                               .once = u->once,
	                               .flags = flags,
	                               .map = (uint16_t)b->map,
	                               .rel = (int32_t)(b->target - (b->pc + b->bytes))};
	if (rt.code.counting) {
		jit.id_of[i] = u->id;
		jit.edge_of[i] = edge_of_fragment();
		u->site = site_of_fragment();
	}
	if (flags & BLOCK_RESUME)
		jit.rest_of[i] =
		        (struct rest_begin){(uint16_t)u->base, (uint8_t)u->skip, (uint8_t)u->back};
	__atomic_store_n(&jit.n_blocks, i + 1, __ATOMIC_RELEASE); /* as for warm_mark */
	if (b->writable)
		jit_keep_source(i, b->checked ? b->copy : (const void *)b->pc);
	jit_page_add(i);
	if (!cont && !u->rest)
		jit_insert(i);
	rt_stat(ST_STAT_blocks, 1);
	rt_stat(ST_STAT_insns, b->n);
	rt_stat(ST_STAT_app_bytes, b->bytes);
	unsigned border = cont || u->rest || !rt.code.cuts ? 0 : region_border(b->pc, u->version);
	if (border) {
		emit_leave(u, EXIT_REGION, TO_SELF, 0);
		jit.exits[jit.n_exits - 1].cause = border & 31;
	}
	unsigned stop = u->version == VERSION_PLAIN && !u->rest ? suppress_stop_at(b, !cont) : 0;
	if (stop)
		emit_suppress_stop(u, stop);
	if (u->site && !jit.targets)
		emit_leave(u, EXIT_TARGETS, TO_SELF, 0);
	if (once)
		emit_first(u);
	if (often)
		emit_often(u);
	if (!cont && !u->rest && budget_exists()) {
		if (u->version == VERSION_PLAIN)
			emit_look_back(u);
		else if (charge_wanted(u))
			emit_charge(u);
	}
	if (b->checked)
		emit_leave(u, EXIT_CHECK, TO_SELF, 0);
}

static void
end_block(struct superblock *u)
{
	struct block *b = &jit.blocks[u->block];
	charge_end(u);
	b->body_len = (uint16_t)(u->hot.off - b->body);
	jit.hot = u->hot.off;
}

/* The landing pad after a call: returns to `back` come here, and go on to its block. */
static void
emit_landing(struct superblock *u, uint64_t back, uint32_t known, bool follows)
{
	struct emit *e = &u->hot;
	struct block *b = &jit.blocks[u->block];
	uint32_t pad = e->off;
	b->landing = (uint16_t)(pad - b->body);
	sequence_pad(e, back, pads_count(u->version));
	if (known && !jit.blocks[known].pad)
		jit.blocks[known].pad = pad;
	if (!follows)
		emit_direct(e, 0xe9, EXIT_JUMP, TO_END, u->block);
}

/* The superblock is complete: now returns may come to its landings. Another thread, which has made
 * the call in another translation, can be about to. What is executed once does not get the returns
 * of the translation that is executed from then on: the processor would foretell none of them. */
static void
open_landings(const struct superblock *u)
{
	bool lasts = !rt.budget.unique;
	for (uint32_t i = u->first; i < jit.n_blocks; i++) {
		const struct block *b = &jit.blocks[i];
		lasts |= !(b->flags & (BLOCK_RESUME | BLOCK_CONT));
		if (b->landing && lasts)
			jit_lookup_set(u->version, block_end(b), b->body + b->landing);
	}
}

/* Is what comes next to be translated as well? Not if the budget does not last until it is. */
static bool
may_go_ahead(void)
{
	const struct thread *t = rt_self();
	return !t->budget.breakpoints.on && !budget_is_short(t, jit_ticks_of_block());
}

/* After a call: writes the landing, and makes u->now the block after it if it is to be translated
 * here. */
static bool
continue_after_call(struct superblock *u, uint32_t blocks)
{
	uint64_t back = u->now->pc + u->now->bytes;
	uint32_t known = jit_find(back, u->version);
	bool follows = !known && may_go_ahead() && blocks < MAX_SUPERBLOCK_BLOCKS &&
	               jit_has_space() && !(rt.stress & ST_STRESS_links) &&
	               jit_build(u->next, back, 0) == 0 && u->next->n > 0;
	emit_landing(u, back, known, follows);
	uint32_t landing = jit.blocks[u->block].landing + jit.blocks[u->block].body;
	end_block(u);
	if (!follows)
		return false;
	struct build *done = u->now;
	u->now = u->next;
	u->next = done;
	u->joined = true;
	u->rest = false;
	u->stop = 0;
	begin_block(u, false);
	jit.blocks[u->block].pad = landing;
	return true;
}

static void
emit_pieces(struct superblock *u)
{
	for (;;) {
		emit_body(u);
		if (!u->now->more)
			return;
		uint64_t rest = u->now->pc + u->now->bytes;
		u->base += u->now->n;
		if (u->base >= MAX_WHOLE_INSNS || jit_build(u->next, rest, u->stop) != 0) {
			emit_direct(&u->hot, 0xe9, EXIT_JUMP, TO_END, u->block);
			return;
		}
		end_block(u);
		struct build *done = u->now;
		u->now = u->next;
		u->next = done;
		u->joined = true;
		begin_block(u, true);
	}
}

/* The exit that has just been emitted for the block, if it has no other. */
static uint32_t
only_exit(const struct build *b)
{
	bool one = !b->more && (b->end == ST_END_JUMP || b->end == ST_END_CALL || falls_through(b));
	return one ? jit.n_exits - 1 : NO_EXIT;
}

static bool
in_one_line(uint32_t off, uint32_t bytes)
{
	return off >> 6 == (off + bytes - 1) >> 6;
}

/* The way to the block right after an exit's jump is not to jump. Other threads may be executing
 * it: one store within a cache line. */
static void
skip_jump(uint32_t exit)
{
	static const uint8_t nop5[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct exit *x = &jit.exits[exit];
	uint32_t jump = x->site - 1, line_end = (jump & ~63u) + 64;
	uint32_t from = jump + 8 <= line_end ? jump : line_end - 8;
	uint8_t bytes[8];
	uint64_t all;
	memcpy(bytes, cache_write(from), 8);
	memcpy(bytes + (jump - from), nop5, 5);
	memcpy(&all, bytes, 8);
	__atomic_store_n((uint64_t *)cache_write(from), all, __ATOMIC_RELAXED);
	x->site = 0;
}

/*
 * Is the way to the new block the last thing in the hot part? Either its jump is, or it is the
 * taken side of a branch whose fall-through jump is: that branch can be inverted, unless other
 * threads may be executing it.
 */
static bool
may_join(uint32_t join, const struct build *b)
{
	if (join == NO_EXIT || (rt.stress & ST_STRESS_links))
		return false;
	const struct exit *x = &jit.exits[join];
	if (!x->site || jit.blocks[x->block].map != b->map)
		return false;
	if (x->kind == EXIT_JUMP)
		return x->site + 4 == jit.hot &&
		       (!rt.target.threaded || in_one_line(x->site - 1, 5));
	if (rt.target.threaded)
		return false;
	return x->kind == EXIT_BRANCH && x[1].block == x->block && x[1].kind == EXIT_JUMP &&
	       x[1].site + 4 == jit.hot && x[1].site == x->site + 5;
}

/* Makes space for the new block where its jump was. */
static void
take_place(uint32_t join)
{
	struct exit *x = &jit.exits[join];
	jit.blocks[x->block].body_len = (uint16_t)(jit.blocks[x->block].body_len - 5);
	if (x->kind == EXIT_JUMP) {
		jit.hot = x->site - 1;
	} else {
		struct exit *other = x + 1;
		if (SEEDED(6))
			*cache_write(x->site - 1) += 1;
		else
			*cache_write(x->site - 1) ^= 1; /* the condition */
		uint32_t rel, other_site = other->site;
		memcpy(&rel, cache_write(other_site), 4);
		other->site = x->site;
		other->kind = EXIT_BRANCH;
		rel += other_site - x->site;
		memcpy(cache_write(x->site), &rel, 4);
		jit.hot = x->site + 4;
	}
	x->site = 0;
}

/* From the first block's body on; sure: see translate_superblock. */
static void
emit_superblock(struct superblock *u, uint32_t *sure)
{
	for (uint32_t n = 1;; n++) {
		emit_pieces(u);
		if (falls_through(u->now))
			emit_direct(&u->hot, 0xe9, EXIT_JUMP, TO_END, u->block);
		if (n == 1)
			*sure = only_exit(u->now);
		if (u->now->more || (u->now->end != ST_END_CALL && u->now->end != ST_END_ICALL))
			break;
		if (!continue_after_call(u, n))
			return;
	}
	end_block(u);
}

/* Translates one superblock. sure: the exit that its first block will leave it by, or NO_EXIT when
 * that depends. */
static uint32_t
translate_superblock(uint64_t pc, enum version version, uint32_t join, bool indirect,
                     uint32_t *sure)
{
	struct superblock u = {
	        .now = &builds[0], .next = &builds[1], .version = version, .joined_to = NO_EXIT};
	if (jit_build(u.now, pc, 0) != 0)
		return 0;
	if (may_join(join, u.now)) {
		if (rt.target.threaded)
			u.joined_to = join;
		else
			take_place(join);
		u.joined = true;
	} else {
		jit.hot = (jit.hot + 15) & ~15u;
	}
	u.hot = cache_emit(jit.hot);
	uint32_t pad = 0;
	if (indirect && !u.joined) {
		pad = u.hot.off;
		sequence_pad(&u.hot, pc, pads_count(version));
	}
	begin_block(&u, false);
	jit.blocks[u.block].pad = pad;
	u.first = u.block;
	emit_superblock(&u, sure);
	open_landings(&u);
	if (u.joined_to != NO_EXIT)
		skip_jump(u.joined_to);
	return u.first;
}

/*
 * The way that the program will certainly take is translated at once, callees and targets of jumps:
 * each saves a return to the dispatcher, and a write to code that has just been executed.
 */
uint32_t
jit_translate(uint64_t pc, enum version version, uint32_t join, bool indirect)
{
	uint32_t exit, first = translate_superblock(pc, version, join, indirect, &exit);
	if (!first || (rt.stress & ST_STRESS_links))
		return first;
	for (unsigned n = 0; exit != NO_EXIT && n < MAX_SURE_SUPERBLOCKS; n++) {
		if (!may_go_ahead() || !jit_has_space())
			break;
		uint32_t last = exit;
		uint64_t target = jit_exit_target(&jit.exits[last]);
		uint32_t block = jit_find(target, version);
		exit = NO_EXIT;
		if (!block)
			block = translate_superblock(target, version, last, false, &exit);
		if (!block)
			break;
		jit_link(last, block);
	}
	return first;
}

/* Returns the end of a basic block that has been begun, even if its code has changed since. 0: the
 * code that is there now decides. */
static uint64_t
end_of_superblock(uint32_t id)
{
	const struct st_block *b = result_of(id);
	return unique_is_tracked(b) ? b->pc + b->bytes : 0;
}

uint32_t
jit_translate_resume(const struct resume *at, enum version next)
{
	struct superblock u = {.now = &builds[0],
	                       .next = &builds[1],
	                       .version = next,
	                       .joined_to = NO_EXIT,
	                       .id = at->id,
	                       .base = at->insns - (at->back != 0),
	                       .rest = true,
	                       .skip = at->actions,
	                       .back = at->back,
	                       .once = rt.budget.unique && !at->id,
	                       .stop = rt.budget.unique && at->id ? end_of_superblock(at->id) : 0};
	uint32_t sure;
	if (jit_build(u.now, at->pc - at->back, u.stop) != 0 || u.now->n == 0)
		return 0;
	if (at->back && u.now->insn[0].len != at->back) /* its code has changed */
		return 0;
	jit.alone = rt_self()->budget.breakpoints.on;
	jit.hot = (jit.hot + 15) & ~15u;
	u.hot = cache_emit(jit.hot);
	begin_block(&u, false);
	u.first = u.block;
	emit_superblock(&u, &sure);
	open_landings(&u);
	jit.alone = false;
	return u.first;
}

void
jit_make_pad(uint32_t block)
{
	struct block *b = &jit.blocks[block];
	if (b->pad)
		return;
	uint32_t exit = new_exit(EXIT_JUMP, TO_SELF, block);
	struct emit e = warm_begin();
	warm_mark(&e, WARM_PAD, block);
	uint32_t pad = e.off;
	sequence_pad(&e, b->pc, pads_count(b->version));
	emit_align_site(&e, 1);
	e8(&e, 0xe9);
	uint32_t site = e.off;
	e32(&e, 0);
	warm_end(&e);
	finish_exit(exit, site);
	jit_link(exit, block);
	b->pad = pad;
}
