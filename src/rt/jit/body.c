/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a block: the program's instructions, counts and actions, and its end. */
#include "rt/arch/x86_64/relocate.h"
#include "rt/jit/action.h"
#include "rt/jit/sequence.h"
#include "rt/jit/spill.h"
#include "rt/jit/superblock.h"

void
add_record(struct superblock *u, enum record_kind kind, unsigned app_len, uint32_t from)
{
	struct block *b = &jit.blocks[u->block];
	jit.records[jit.n_records++] = record_of_code(kind, app_len, u->hot.off - from);
	b->n_records++;
}

static void
emit_block_count(struct superblock *u, bool flags_dead)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, field = counter_field(u->id);
	enum record_kind kind = REC_COUNT;
	if (flags_dead) {
		emit_increment(e, field);
	} else {
		kind = REC_COUNT_SPILL;
		sequence_count_spilled(e, field);
	}
	add_record(u, kind, 0, from);
	jit.blocks[u->block].count_rec = (uint8_t)jit.blocks[u->block].n_records;
}

/* Where to count: before the first instruction where the flags that `inc` changes are dead; n: at
 * no such place. */
static uint32_t
count_place(struct build *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (!(b->flags_live[i] & FLAGS_OF_INC))
			return i;
	if (b->end == ST_END_JUMP && !b->more &&
	    !(jit_flags_live_at(b->target, false) & FLAGS_OF_INC))
		return b->n - 1;
	return b->n;
}

/*
 * Indirect ends save rcx before anything else: counting there needs no register of its own. A call
 * can count in its thunk, when it has written the return address and cannot fault any more, if the
 * callee does not need the flags.
 */
static bool
counts_in_end(const struct build *b)
{
	if (b->more)
		return false;
	if (b->end == ST_END_CALL)
		return !(jit_flags_live_at(b->target, true) & FLAGS_OF_INC);
	return b->end == ST_END_RETURN || b->end == ST_END_IJUMP || b->end == ST_END_ICALL;
}

/* Where the indirect branch at the end looks for its target. The rest of a block, after which
 * plain code follows, counts it by going to the dispatcher; and a thread in breakpoint-driven
 * sampling leaves the cache there. */
static enum version
lookup_version(const struct superblock *u)
{
	bool none = jit.alone || (u->site && u->version != VERSION_TOOLS);
	return none ? VERSION_NONE : u->version;
}

/* Says which indirect branch is under way, to who counts it. */
static void
emit_site(struct superblock *u)
{
	uint32_t from = u->hot.off;
	if (!jit.targets || (u->version != VERSION_TOOLS && !u->site))
		return;
	sequence_site(&u->hot, u->site);
	add_record(u, REC_COPY, 0, from);
}

/* Writes the thunk of a call: the program's return address replaces the cache's, then on to the
 * callee. count: for a direct call, the field to increment, or 0. */
static uint32_t
emit_thunk(struct superblock *u, uint64_t back, uint32_t count)
{
	u->back_constant = sequence_thunk_wants_constant(back) ? warm_constant(back) : 0;
	struct emit e = warm_begin();
	warm_mark(&e, WARM_THUNK, u->block);
	uint32_t thunk = e.off;
	sequence_call_thunk(&e, back, u->back_constant);
	if (u->now->end == ST_END_ICALL) {
		sequence_lookup(&e, lookup_version(u));
		warm_end(&e);
		return thunk;
	}
	if (count)
		emit_increment(&e, count);
	uint32_t exit = new_exit(EXIT_JUMP, TO_TARGET, u->block);
	emit_align_site(&e, 1);
	e8(&e, 0xe9);
	uint32_t site = e.off;
	e32(&e, 0);
	warm_end(&e);
	finish_exit(exit, site);
	return thunk;
}

static void
emit_call(struct superblock *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	bool indirect = in->cls == ST_C_ICALL;
	if (indirect)
		emit_site(u);
	uint32_t from = e->off;
	struct block *b = &jit.blocks[u->block];
	uint32_t count = 0;
	if (b->count_rec == 0 && (b->flags & BLOCK_COUNTED)) {
		count = counter_field(u->id);
		b->count_rec = (uint8_t)(b->n_records + 1);
	}
	if (indirect)
		sequence_target(e, in, pc, count);
	uint32_t thunk = emit_thunk(u, pc + in->len, count);
	sequence_call(e, thunk);
	add_record(u, indirect ? REC_ICALL : REC_CALL, in->len, from);
}

static void
emit_branch(struct superblock *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off;
	emit_align_site(e, 2);
	if (e->off != from)
		add_record(u, REC_COPY, 0, from);
	from = e->off;
	if (in->cls == ST_C_JCC) {
		emit_branch_edge(e, 0x0f80u | in->cond, EXIT_BRANCH, TO_TARGET, u->block);
		emit_branch_edge(e, 0xe9, EXIT_JUMP, TO_END, u->block);
		add_record(u, REC_BRANCH, in->len, from);
		return;
	}
	if (in->cls == ST_C_XBEGIN) {
		/* Every transaction aborts at once, which the architecture allows: eax = 0, no
		 * reason given. */
		sequence_clear_eax(e);
		emit_branch_edge(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
		add_record(u, REC_BRANCH, in->len, from);
		return;
	}
	/* loop and jrcxz have only short forms: they jump over the fall-through's jump. */
	if (in->flags & ST_I_ADDR32 && !SEEDED(7))
		e8(e, 0x67);
	e8(e, program_code(pc)[in->op_off]);
	e8(e, 0);
	uint8_t *rel8 = e->p - 1;
	uint32_t after = e->off;
	emit_branch_edge(e, 0xe9, EXIT_JUMP, TO_END, u->block);
	*rel8 = (uint8_t)(e->off - after);
	emit_branch_edge(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
	add_record(u, REC_LOOP, in->len, from);
}

static void
emit_end(struct superblock *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	struct block *b = &jit.blocks[u->block];
	bool count = b->count_rec == 0 && (b->flags & BLOCK_COUNTED);
	if (in->cls == ST_C_RET || in->cls == ST_C_IJMP)
		emit_site(u);
	uint32_t from = e->off;
	switch (in->cls) {
	case ST_C_JMP:
		emit_direct(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
		add_record(u, REC_JUMP, in->len, from);
		break;
	case ST_C_RET:
		if (count)
			b->count_rec = (uint8_t)(b->n_records + 1);
		sequence_return(e, lookup_version(u), in, pc, count ? counter_field(u->id) : 0);
		add_record(u, REC_RETURN, in->len, from);
		break;
	case ST_C_IJMP:
		if (count)
			b->count_rec = (uint8_t)(b->n_records + 1);
		sequence_target(e, in, pc, count ? counter_field(u->id) : 0);
		sequence_lookup(e, lookup_version(u));
		add_record(u, REC_IJUMP, in->len, from);
		break;
	case ST_C_CALL:
	case ST_C_ICALL:
		emit_call(u, in, pc);
		break;
	case ST_C_SYSCALL:
		emit_leave(u, EXIT_SYSCALL, TO_END, in->len);
		break;
	default:
		emit_branch(u, in, pc);
		break;
	}
}

/* Most instructions are copied as they are: index after the last of those that begin at i, all
 * before `end`. */
static uint32_t
run_end(const struct build *b, uint32_t i, uint32_t end)
{
	while (i < end && b->insn[i].cls == ST_C_NORMAL &&
	       !(b->insn[i].flags & (ST_I_RIPREL | ST_I_GSSEG)))
		i++;
	return i;
}

static void
copy_run(struct superblock *u, uint32_t i, uint32_t end)
{
	const struct build *b = u->now;
	struct emit e = u->hot;
	const uint8_t *code = program_code(b->pc) + b->at[i];
	unsigned n = b->at[end] - b->at[i];
	for (; n > 16; n -= 16, code += 16)
		ebytes(&e, code, 16);
	ebytes(&e, code, n);
	u->hot = e;
	struct record *r = &jit.records[jit.n_records];
	jit.n_records += end - i;
	jit.blocks[u->block].n_records += (uint8_t)(end - i);
	for (; i < end; i++)
		*r++ = record_of_code(REC_COPY, b->insn[i].len, b->insn[i].len);
}

/* Bytes [field] of the fill pointer's third byte: 0 while there is space. rcx is kept when others
 * have to be checked, or when it is to be spilled anyway. */
static void
emit_space_check(struct superblock *u, unsigned stream, bool last)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, field = counter_field(ST_STREAM_ID(stream)) + 2;
	uint32_t saved = spill_field(RCX);
	if (!u->reserved.saved)
		emit_save(e, RCX, saved);
	uint8_t *over = emit_jump_if_zero(e, field);
	emit_restore(e, RCX, saved);
	uint32_t exit = new_exit(EXIT_SPACE, TO_SELF, u->block);
	jit.exits[exit].cause = stream & 31;
	emit_set_exit(e, exit);
	emit_jmp(e, (uint64_t)rt_stub_exit);
	over[-1] = (uint8_t)(e->p - over);
	u->reserved.saved = 1u << RCX;
	if (last && !u->plan.keeps_rcx) {
		emit_restore(e, RCX, saved);
		u->reserved.saved = 0;
	}
	add_record(u, REC_SPACE, 0, from);
}

static void
emit_space_checks(struct superblock *u)
{
	for (unsigned s = 0; asked.streams >> s; s++)
		if (asked.streams >> s & 1)
			emit_space_check(u, s, !(asked.streams >> s >> 1));
}

/* Spills registers for a live range that begins at the position, gives back those of one that ends.
 */
static void
emit_reservations(struct superblock *u, unsigned position)
{
	uint32_t from = u->hot.off;
	if (!reserve_changes_at(&u->plan, position))
		return;
	reserve_write_at(&u->plan, &u->reserved, &u->hot, position);
	add_record(u, REC_SPACE, 0, from);
}

/* A call that an action makes: where the program is when it has been made. */
static uint32_t
new_invoke(struct superblock *u, const struct action *a, uint32_t done)
{
	const struct build *b = u->now;
	if (invokes.n >= MAX_INVOKES)
		return 0;
	uint32_t i = invokes.n++;
	uint32_t next = a->insn + a->after;
	invokes.list[i] = (struct invoke){.function = a->function,
	                                  .block = u->block,
	                                  .tool = a->tool,
	                                  .walks = a->kind == ACTION_WALK,
	                                  .label = a->id,
	                                  .owner = a->owner,
	                                  .resume = {.pc = b->pc + b->at[next],
	                                             .id = u->id,
	                                             .insns = (uint16_t)(u->base + next),
	                                             .actions = (uint8_t)done,
	                                             .back = a->after ? b->insn[a->insn].len : 0,
	                                             .state = RESUME_ARMED}};
	return i;
}

/* For one more action: in the fragment, whose places are numbers of 16 bits, and in the hot part,
 * for what a basic block of the most instructions may still become without any. */
static bool
has_space(const struct superblock *u)
{
	enum { MOST_OF_FRAGMENT = 48 << 10, PLAIN = 4 << 20 };
	return u->hot.off - jit.blocks[u->block].body < MOST_OF_FRAGMENT &&
	       u->hot.off < ST_AREA_WARM - PLAIN;
}

/* The actions of instruction i that come before it, or after it. done: skipped, because they have
 * been done. */
static void
emit_actions(struct superblock *u, uint32_t i, bool after, uint32_t done)
{
	const struct build *b = u->now;
	uint32_t n = 0;
	for (unsigned k = asked.first[i]; k < asked.n_actions && asked.actions[k].insn == i; k++) {
		const struct action *a = &asked.actions[k];
		if (a->after != after || n++ < done)
			continue;
		uint32_t from = u->hot.off, call = 0;
		if (action_calls(a))
			call = new_invoke(u, a, n);
		if (!has_space(u) ||
		    !action_emit(&u->hot, b, a, b->flags_live[i + after], call, &u->reserved)) {
			if (!tools.tool[a->tool].failed)
				rt_complain("a tool was left out: it wants too much at",
				            b->pc + b->at[i]);
			tools.tool[a->tool].failed = true;
			continue;
		}
		if (action_calls(a))
			invokes.list[call].back = u->hot.off;
		add_record(u, after ? REC_AFTER : REC_BEFORE, 0, from);
	}
}

static bool
has_actions(uint32_t i)
{
	unsigned k = asked.first[i];
	return asked.n_actions && k < asked.n_actions && asked.actions[k].insn == i;
}

/* One instruction that cannot be copied as it is; last: the block's end. */
static void
emit_insn(struct superblock *u, uint32_t i, bool last)
{
	struct emit *e = &u->hot;
	const struct st_insn *in = &u->now->insn[i];
	uint64_t pc = u->now->pc + u->now->at[i];
	uint32_t from = e->off;
	if (in->cls == ST_C_INVALID) {
		e8(e, 0x0f); /* ud2: faults as the program's bytes would */
		e8(e, 0x0b);
		add_record(u, REC_COPY, 0, from);
	} else if (jit_is_foreign(in, program_code(pc))) {
		emit_leave(u, EXIT_NATIVE, TO_END, 0);
		jit.exits[jit.n_exits - 1].cause = in->cls == ST_C_FAR    ? ST_FALLBACK_FAR
		                                   : in->cls == ST_C_GS   ? ST_FALLBACK_GS
		                                   : in->cls == ST_C_STEP ? ST_FALLBACK_NONE
		                                                          : ST_FALLBACK_INT;
	} else if (last) {
		emit_end(u, in, pc);
	} else {
		static const uint8_t kinds[] = {[RELOCATED_COPY] = REC_COPY,
		                                [RELOCATED_SPILL] = REC_SPILL,
		                                [RELOCATED_LOAD] = REC_LOAD};
		enum relocated is = relocate_insn(e, in, program_code(pc), pc);
		add_record(u, kinds[is], in->len, from);
	}
}

/* Index after the instructions from i on that can be copied as one run. */
static uint32_t
copy_end(const struct build *b, uint32_t i, uint32_t limit)
{
	uint32_t end = run_end(b, i, limit);
	for (uint32_t k = i + 1; asked.n_actions && k < end; k++)
		if (has_actions(k) || has_actions(k - 1))
			return k;
	return end;
}

/* The first instruction with an action that calls: who is stopped in the call has begun the block,
 * so that it must have been counted. b->n: there is none. */
static uint32_t
first_call(const struct build *b)
{
	for (uint32_t k = 0; k < asked.n_actions; k++)
		if (action_calls(&asked.actions[k]))
			return asked.actions[k].insn;
	return b->n;
}

/* Drops an instruction whose execution leaves no effect. */
static void
elide_insn(struct superblock *u)
{
	emit_reservations(u, 0);
	emit_reservations(u, 1);
	emit_actions(u, 0, true, u->skip);
}

void
emit_body(struct superblock *u)
{
	struct build *b = u->now;
	uint32_t place = b->n, body = b->end != ST_END_NONE && !b->more ? b->n - 1 : b->n;
	reserve_plan(&u->plan, b);
	emit_space_checks(u);
	if (jit.blocks[u->block].flags & BLOCK_COUNTED) {
		place = count_place(b);
		if (place > first_call(b) || (place == b->n && !counts_in_end(b))) {
			emit_block_count(u, false);
			place = b->n;
		}
	}
	for (uint32_t i = 0; i < b->n;) {
		if (i == 0 && u->back) {
			elide_insn(u);
			i++;
			continue;
		}
		emit_reservations(u, 2 * i);
		if (i == place)
			emit_block_count(u, true);
		bool acts = has_actions(i);
		if (acts)
			emit_actions(u, i, false, i == 0 ? u->skip : 0);
		emit_reservations(u, 2 * i + 1);
		uint32_t end = copy_end(b, i, i < place && place < body ? place : body);
		if (end > i) {
			copy_run(u, i, end);
			i = end;
		} else {
			emit_insn(u, i, i == body);
			i++;
		}
		if (acts)
			emit_actions(u, i - 1, true, 0);
	}
	emit_reservations(u, 2 * b->n);
	u->skip = 0;
	u->back = 0;
}
