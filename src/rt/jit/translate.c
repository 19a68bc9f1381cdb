/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a block's translation: bodies, counters, and the ways out. */
#include "rt/arch/x86_64/emit.h"
#include "rt/arch/x86_64/relocate.h"
#include "rt/jit/action.h"
#include "rt/jit/jit.h"
#include "rt/jit/sequence.h"
#include "rt/os/maps.h"

/* The unit being translated: blocks that follow one another in the hot part. */
struct unit {
	struct emit hot;
	struct build *now, *next; /* the block being written, and the one after its call */
	uint32_t block;           /* index of the block being written */
	uint32_t first;           /* index of the unit's first block */
	uint32_t id, base;        /* of the basic block whose pieces are being written */
	bool fresh;               /* its amounts are not in the results yet */
	bool rest;                /* it is the rest of a basic block that was begun before */
	uint32_t skip;            /* actions of its first instruction that have been done */
	bool elide;               /* that instruction has been executed, too */
	bool joined;
	uint32_t joined_to;     /* exit whose jump is to be skipped once the unit is complete */
	uint32_t back_constant; /* of the last call: where its return address is stored in the
	                           cache, or 0 */
};

static struct build builds[2];

/* Writing at the end of the warm part: one piece at a time, rt.lock held. */
static struct emit
warm_begin(void)
{
	return (struct emit){cache_write(jit.warm.next), jit.warm.next};
}

static void
warm_mark(const struct emit *e, enum warm_kind kind, uint32_t block)
{
	struct warm *w = &jit.warm;
	w->pieces[w->n_pieces] = (struct warm_piece){e->off, (uint32_t)kind << 28 | block};
	/* Signal handlers of other threads search the table without the lock. */
	__atomic_store_n(&w->n_pieces, w->n_pieces + 1, __ATOMIC_RELEASE);
}

static void
warm_end(const struct emit *e)
{
	jit.warm.next = e->off;
}

/* Eight bytes in the warm part that code compares with or pushes; returns their cache offset. */
static uint32_t
warm_constant(uint64_t value)
{
	jit.warm.next = (jit.warm.next + 7) & ~7u;
	struct emit e = warm_begin();
	e64(&e, value);
	warm_end(&e);
	return jit.warm.next - 8;
}

static void
emit_set_exit(struct emit *e, uint32_t exit)
{
	if (rt.threaded) {
		e8(e, 0x65);
		e8(e, 0xc7);
		e8(e, 0x04);
		e8(e, 0x25);
		e32(e, offsetof(struct thread, exit_id));
	} else {
		e8(e, 0xc7);
		e8(e, 0x05);
		erel(e, (uint64_t)rt.main + offsetof(struct thread, exit_id), 4);
	}
	e32(e, exit);
}

uint32_t
jit_stub_len(void)
{
	return (rt.threaded ? 17 : 15) + (SEEDED(9) ? 2 : 0);
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
		struct emit e = {cache_write(jit_stub(i)), jit_stub(i)};
		if (SEEDED(9)) {
			e8(&e, 0x50); /* push rax */
			e8(&e, 0x58); /* pop rax */
		}
		emit_set_exit(&e, i);
		emit_jmp(&e, (uint64_t)rt_stub_exit);
	}
	jit.n_stubs = first + BATCH;
}

static uint32_t
new_exit(enum exit_kind kind, enum exit_to to, uint32_t block)
{
	uint32_t i = jit.n_exits++;
	jit.exits[i] = (struct exit){.block = block & 0x3fffff, .kind = kind, .to = to};
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

/* Completes an exit whose rel32 has just been emitted: it leads to its stub, or to the target if
 * that is there. */
static void
finish_exit(uint32_t exit, uint32_t site)
{
	struct exit *x = &jit.exits[exit];
	x->site = site;
	uint32_t rel = jit_stub(exit) - (site + 4);
	memcpy(cache_write(site), &rel, 4);
	if (rt.stress & ST_STRESS_links)
		return;
	uint32_t b = jit_find(jit_exit_target(x));
	if (b)
		jit_link(exit, b);
}

static void
emit_direct(struct emit *e, unsigned opcode, enum exit_kind kind, enum exit_to to, uint32_t block)
{
	uint32_t exit = new_exit(kind, to, block);
	emit_align_site(e, opcode > 0xff ? 2 : 1);
	if (opcode > 0xff)
		e8(e, opcode >> 8);
	e8(e, opcode & 0xff);
	uint32_t site = e->off;
	e32(e, 0);
	finish_exit(exit, site);
}

static void
add_record(struct unit *u, enum record_kind kind, unsigned app_len, uint32_t from)
{
	struct block *b = &jit.blocks[u->block];
	jit.records[jit.n_records++] = (struct record){(uint8_t)((unsigned)kind << 4 | app_len),
	                                               (uint8_t)(u->hot.off - from)};
	b->n_records++;
}

/* The fields of the results where block `id` is counted, as an offset from the thread. */
static uint32_t
counter_field(uint32_t id)
{
	return ST_THREAD_PRIVATE + id * 8;
}

static void
emit_increment(struct emit *e, uint32_t field)
{
	if (rt.threaded)
		e8(e, 0x65);
	e8(e, 0x48);
	e8(e, 0xff);
	if (rt.threaded) {
		e8(e, 0x04);
		e8(e, 0x25);
		e32(e, field);
	} else {
		e8(e, 0x05);
		erel(e, (uint64_t)rt.main + field, 0);
	}
}

static void
emit_count(struct unit *u, bool flags_dead)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, field = counter_field(u->id);
	enum record_kind kind = REC_COUNT;
	if (flags_dead) {
		emit_increment(e, field);
	} else {
		kind = REC_COUNT_SPILL;
		emit_save(e, RSI, offsetof(struct thread, slot_spill));
		emit_add_field(e, RSI, field);
		emit_restore(e, RSI, offsetof(struct thread, slot_spill));
	}
	add_record(u, kind, 0, from);
	jit.blocks[u->block].count_rec = (uint8_t)jit.blocks[u->block].n_records;
}

/* `inc` leaves CF alone. */
enum { FLAGS_OF_INC = ST_F_PF | ST_F_AF | ST_F_ZF | ST_F_SF | ST_F_OF };

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

/* Writes the thunk of a call: the program's return address replaces the cache's, then on to the
 * callee. count: for a direct call, the field to increment, or 0. */
static uint32_t
emit_thunk(struct unit *u, uint64_t back, uint32_t count)
{
	u->back_constant = back >= 0x80000000u && !SEEDED(5) ? warm_constant(back) : 0;
	struct emit e = warm_begin();
	warm_mark(&e, WARM_THUNK, u->block);
	uint32_t thunk = e.off;
	sequence_call_thunk(&e, back, u->back_constant);
	if (u->now->end == ST_END_ICALL) {
		sequence_lookup(&e);
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
emit_call(struct unit *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off;
	bool indirect = in->cls == ST_C_ICALL;
	struct block *b = &jit.blocks[u->block];
	uint32_t count = 0;
	if (b->count_rec == 0 && (b->flags & BLOCK_COUNTED)) {
		count = counter_field(u->id);
		b->count_rec = (uint8_t)(b->n_records + 1);
	}
	if (indirect)
		sequence_target(e, in, pc, count);
	uint32_t thunk = emit_thunk(u, pc + in->len, count);
	e8(e, 0xe8);
	erel(e, cache_addr(thunk), 0);
	add_record(u, indirect ? REC_ICALL : REC_CALL, in->len, from);
}

static void
emit_branch(struct unit *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off;
	emit_align_site(e, 2);
	if (e->off != from)
		add_record(u, REC_COPY, 0, from);
	from = e->off;
	if (in->cls == ST_C_JCC) {
		emit_direct(e, 0x0f80u | in->cond, EXIT_BRANCH, TO_TARGET, u->block);
		emit_direct(e, 0xe9, EXIT_JUMP, TO_END, u->block);
		add_record(u, REC_BRANCH, in->len, from);
		return;
	}
	if (in->cls == ST_C_XBEGIN) {
		/* Every transaction aborts at once, which the architecture allows: eax = 0, no
		 * reason given. */
		e8(e, 0xb8);
		e32(e, 0);
		emit_direct(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
		add_record(u, REC_BRANCH, in->len, from);
		return;
	}
	/* loop and jrcxz have only short forms: they jump over the fall-through's jump. */
	if (in->flags & ST_I_ADDR32 && !SEEDED(7))
		e8(e, 0x67);
	e8(e, ((const uint8_t *)pc)[in->op_off]);
	e8(e, 0);
	uint8_t *rel8 = e->p - 1;
	uint32_t after = e->off;
	emit_direct(e, 0xe9, EXIT_JUMP, TO_END, u->block);
	*rel8 = (uint8_t)(e->off - after);
	emit_direct(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
	add_record(u, REC_LOOP, in->len, from);
}

static void
emit_leave(struct unit *u, enum exit_kind kind, enum exit_to to, unsigned app_len)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, exit = new_exit(kind, to, u->block);
	emit_set_exit(e, exit);
	emit_jmp(e, kind == EXIT_SYSCALL ? (uint64_t)rt_stub_syscall : (uint64_t)rt_stub_exit);
	jit.exits[exit].next = e->off;
	add_record(u, REC_EXIT, app_len, from);
}

/* Its first two bytes will become a jump over it, while other threads execute it. */
static void
emit_first(struct unit *u)
{
	uint32_t from = u->hot.off;
	emit_align_site(&u->hot, 0);
	if (u->hot.off != from)
		add_record(u, REC_COPY, 0, from);
	emit_leave(u, EXIT_FIRST, TO_SELF, 0);
}

void
jit_skip_first(uint32_t exit)
{
	uint32_t at = jit.exits[exit].next - jit_stub_len();
	uint16_t jump = (uint16_t)(0xeb | (jit_stub_len() - 2) << 8);
	__atomic_store_n((uint16_t *)cache_write(at), jump, __ATOMIC_RELAXED);
}

static void
emit_end(struct unit *u, const struct st_insn *in, uint64_t pc)
{
	struct emit *e = &u->hot;
	struct block *b = &jit.blocks[u->block];
	uint32_t from = e->off;
	bool count = b->count_rec == 0 && (b->flags & BLOCK_COUNTED);
	switch (in->cls) {
	case ST_C_JMP:
		emit_direct(e, 0xe9, EXIT_JUMP, TO_TARGET, u->block);
		add_record(u, REC_JUMP, in->len, from);
		break;
	case ST_C_RET:
		if (count)
			b->count_rec = (uint8_t)(b->n_records + 1);
		sequence_return(e, in, pc, count ? counter_field(u->id) : 0);
		add_record(u, REC_RETURN, in->len, from);
		break;
	case ST_C_IJMP:
		if (count)
			b->count_rec = (uint8_t)(b->n_records + 1);
		sequence_target(e, in, pc, count ? counter_field(u->id) : 0);
		sequence_lookup(e);
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

/* Most instructions are copied as they are: index behind the last of those that begin at i, all
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
copy_run(struct unit *u, uint32_t i, uint32_t end)
{
	const struct build *b = u->now;
	struct emit e = u->hot;
	const uint8_t *code = (const uint8_t *)b->pc + b->at[i];
	unsigned n = b->at[end] - b->at[i];
	for (; n > 16; n -= 16, code += 16)
		ebytes(&e, code, 16);
	ebytes(&e, code, n);
	u->hot = e;
	struct record *r = &jit.records[jit.n_records];
	jit.n_records += end - i;
	jit.blocks[u->block].n_records += (uint8_t)(end - i);
	for (; i < end; i++)
		*r++ = (struct record){REC_COPY << 4 | b->insn[i].len, b->insn[i].len};
}

/* Bytes [field] of the fill pointer's third byte: 0 while there is room. */
static void
emit_room(struct unit *u, unsigned stream)
{
	struct emit *e = &u->hot;
	uint32_t from = e->off, field = counter_field(ST_STREAM_ID(stream)) + 2;
	uint32_t saved = offsetof(struct thread, tool_save) + 8 * RCX;
	emit_save(e, RCX, saved);
	if (rt.threaded)
		e8(e, 0x65);
	e8(e, 0x0f); /* movzx ecx, byte [field] */
	e8(e, 0xb6);
	e8(e, rt.threaded ? 0x0c : 0x0d);
	if (rt.threaded) {
		e8(e, 0x25);
		e32(e, field);
	} else {
		erel(e, (uint64_t)rt.main + field, 0);
	}
	e8(e, 0xe3); /* jrcxz over the exit */
	e8(e, 0);
	uint8_t *over = e->p;
	emit_restore(e, RCX, saved);
	uint32_t exit = new_exit(EXIT_ROOM, TO_SELF, u->block);
	jit.exits[exit].cause = stream & 31;
	emit_set_exit(e, exit);
	emit_jmp(e, (uint64_t)rt_stub_exit);
	over[-1] = (uint8_t)(e->p - over);
	emit_restore(e, RCX, saved);
	add_record(u, REC_ROOM, 0, from);
}

/* A call that an action makes: where the program is when it has been made. */
static uint32_t
new_invoke(struct unit *u, const struct action *a, uint32_t done)
{
	const struct build *b = u->now;
	if (invokes.n >= MAX_INVOKES)
		return 0;
	uint32_t i = invokes.n++;
	uint32_t next = a->insn + a->after;
	invokes.list[i] = (struct invoke){.function = a->function,
	                                  .tool = a->tool,
	                                  .n = a->n,
	                                  .resume = {.pc = b->pc + b->at[next],
	                                             .id = u->id,
	                                             .insns = (uint16_t)(u->base + next),
	                                             .actions = (uint8_t)done,
	                                             .back = a->after ? b->insn[a->insn].len : 0,
	                                             .state = RESUME_ARMED}};
	return i;
}

/* The actions of instruction i that come before it, or after it. done: skipped, because they have
 * been done. */
static void
emit_actions(struct unit *u, uint32_t i, bool after, uint32_t done)
{
	const struct build *b = u->now;
	uint32_t n = 0;
	for (unsigned k = asked.first[i]; k < asked.n_actions && asked.actions[k].insn == i; k++) {
		const struct action *a = &asked.actions[k];
		if (a->after != after || n++ < done)
			continue;
		uint32_t from = u->hot.off, call = 0;
		if (a->kind == ACTION_INVOKE)
			call = new_invoke(u, a, n);
		if (!action_emit(&u->hot, b, a, b->flags_live[i + after], call)) {
			tools.tool[a->tool].failed = true;
			continue;
		}
		if (a->kind == ACTION_INVOKE)
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
emit_insn(struct unit *u, uint32_t i, bool last)
{
	struct emit *e = &u->hot;
	const struct st_insn *in = &u->now->insn[i];
	uint64_t pc = u->now->pc + u->now->at[i];
	uint32_t from = e->off;
	if (in->cls == ST_C_INVALID) {
		e8(e, 0x0f); /* ud2: faults as the program's bytes would */
		e8(e, 0x0b);
		add_record(u, REC_COPY, 0, from);
	} else if (jit_is_foreign(in, (const uint8_t *)pc)) {
		emit_leave(u, EXIT_NATIVE, TO_END, 0);
		jit.exits[jit.n_exits - 1].cause = in->cls == ST_C_FAR  ? ST_FALLBACK_FAR
		                                   : in->cls == ST_C_GS ? ST_FALLBACK_GS
		                                                        : ST_FALLBACK_INT;
	} else if (last) {
		emit_end(u, in, pc);
	} else {
		enum record_kind kind = relocate_insn(e, in, pc);
		add_record(u, kind, in->len, from);
	}
}

/* Index behind the instructions from i on that can be copied as one run. */
static uint32_t
copy_end(const struct build *b, uint32_t i, uint32_t limit)
{
	uint32_t end = run_end(b, i, limit);
	for (uint32_t k = i + 1; asked.n_actions && k < end; k++)
		if (has_actions(k) || has_actions(k - 1))
			return k;
	return end;
}

/* What has been executed of it leaves nothing but its record. */
static void
elide_insn(struct unit *u)
{
	add_record(u, REC_COPY, u->now->insn[0].len, u->hot.off);
	emit_actions(u, 0, true, u->skip);
}

static void
emit_body(struct unit *u)
{
	struct build *b = u->now;
	uint32_t place = b->n, body = b->end != ST_END_NONE && !b->more ? b->n - 1 : b->n;
	for (unsigned s = 0; asked.streams >> s; s++)
		if (asked.streams >> s & 1)
			emit_room(u, s);
	if (jit.blocks[u->block].flags & BLOCK_COUNTED) {
		place = count_place(b);
		if (place == b->n && !counts_in_end(b))
			emit_count(u, false);
	}
	for (uint32_t i = 0; i < b->n;) {
		if (i == 0 && u->elide) {
			elide_insn(u);
			i++;
			continue;
		}
		if (i == place)
			emit_count(u, true);
		bool acts = has_actions(i);
		if (acts)
			emit_actions(u, i, false, i == 0 ? u->skip : 0);
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
	u->skip = 0;
	u->elide = false;
}

/* Does control run past the block's last emitted instruction into the next address? */
static bool
falls_through(const struct build *b)
{
	return b->end == ST_END_NONE && !b->more &&
	       (b->n == 0 ||
	        (b->insn[b->n - 1].cls != ST_C_INVALID && b->at[b->n - 1] != b->bytes));
}

static void
begin_basic_block(struct unit *u)
{
	uint32_t known = rt.results->n_blocks;
	bool wanted = rt.on && entries_choose(u->now->pc);
	u->id = wanted ? jit_result_id(u->now) : 0;
	u->base = 0;
	u->fresh = u->id >= known;
}

/* The tools look at the piece. One in which they want too much is made smaller, like all that
 * follow. */
static void
see_piece(struct unit *u, bool cont)
{
	if (!jit.counting)
		return;
	struct st_results_header *r = rt.results;
	uint64_t amounts = r->n_amounts;
	bool with_block = !cont && (!u->rest || u->base == 0);
	tools_see(u->now, u->id, u->base, u->fresh, with_block);
	if (!asked.overflow && u->now->n + asked.n_actions <= 240)
		return;
	r->n_amounts = amounts;
	jit.most_insns = MAX_ACTION_INSNS;
	jit_build(u->now, u->now->pc);
	tools_see(u->now, u->id, u->base, u->fresh, with_block);
}

static struct st_block *
result_of(uint32_t id)
{
	return (struct st_block *)((char *)rt.results + rt.results->off_blocks) + id;
}

/* Tools that want to see a block once get another translation of it for that. This one keeps but
 * the exit to there, and not even that when it has been executed. Returns whether it has the exit.
 */
static bool
keep_plain(struct unit *u, bool cont)
{
	if (!rt.unique || u->rest || !u->id)
		return false;
	asked.n_actions = 0;
	asked.streams = 0;
	return !cont && !(result_of(u->id)->flags & ST_BLOCK_SEEN);
}

/* A block whose later pieces are not known yet counts in any case. */
static bool
is_counted(const struct unit *u)
{
	return u->id && !rt.unique &&
	       (u->now->more || (result_of(u->id)->flags & ST_BLOCK_COUNTED));
}

/* Opens the record of the block in u->now, whose body starts here. */
static void
begin_block(struct unit *u, bool cont)
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
		flags |= BLOCK_REST;
	else if (!cont)
		begin_basic_block(u);
	see_piece(u, cont);
	bool once = keep_plain(u, cont);
	if (!cont && !u->rest && is_counted(u))
		flags |= BLOCK_COUNTED;
	jit.blocks[i] = (struct block){.pc = b->pc,
	                               .body = u->hot.off,
	                               .records = jit.n_records,
	                               .bytes = (uint16_t)b->bytes,
	                               .beyond = (uint8_t)(b->extent - b->bytes),
	                               .n_insns = (uint8_t)b->n,
	                               .end = b->end,
	                               .flags = flags,
	                               .map = (uint16_t)b->map,
	                               .rel = (int32_t)(b->target - (b->pc + b->bytes))};
	if (jit.counting)
		jit.id_of[i] = u->id;
	if (flags & BLOCK_REST)
		jit.base_of[i] = u->base | u->skip << 16 | (uint32_t)u->elide << 31;
	__atomic_store_n(&jit.n_blocks, i + 1, __ATOMIC_RELEASE); /* as for warm_mark */
	if (b->writable) {
		jit_keep_source(i);
		if (!b->checked)
			pages_protect(b->pc, b->pc + b->extent);
	}
	jit_page_add(i);
	if (!cont && !u->rest)
		jit_insert(i);
	rt_stat(ST_STAT_blocks, 1);
	rt_stat(ST_STAT_insns, b->n);
	rt_stat(ST_STAT_app_bytes, b->bytes);
	unsigned border = cont || u->rest || !jit.cuts ? 0 : region_at(b->pc);
	if (border) {
		emit_leave(u, EXIT_REGION, TO_SELF, 0);
		jit.exits[jit.n_exits - 1].cause = border & 31;
	}
	if (once)
		emit_first(u);
	if (b->checked)
		emit_leave(u, EXIT_CHECK, TO_SELF, 0);
}

static void
end_block(struct unit *u)
{
	struct block *b = &jit.blocks[u->block];
	b->body_len = (uint16_t)(u->hot.off - b->body);
	jit.hot = u->hot.off;
}

/* The landing pad behind a call: returns to `back` come here, and go on to its block. */
static void
emit_landing(struct unit *u, uint64_t back, uint32_t known, bool follows)
{
	struct emit *e = &u->hot;
	struct block *b = &jit.blocks[u->block];
	uint32_t pad = e->off;
	b->landing = (uint16_t)(pad - b->body);
	sequence_pad(e, back);
	if (known && !jit.blocks[known].pad)
		jit.blocks[known].pad = pad;
	if (!follows)
		emit_direct(e, 0xe9, EXIT_JUMP, TO_END, u->block);
	jit_lookup_set(back, pad);
}

/* After a call: writes the landing, and makes u->now the block behind it if it is to be translated
 * here. */
static bool
continue_after_call(struct unit *u, uint32_t blocks)
{
	uint64_t back = u->now->pc + u->now->bytes;
	uint32_t known = jit_find(back);
	bool follows = !known && blocks < MAX_UNIT_BLOCKS && jit_has_room() &&
	               !(rt.stress & ST_STRESS_links) && jit_build(u->next, back) == 0 &&
	               u->next->n > 0;
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
	begin_block(u, false);
	jit.blocks[u->block].pad = landing;
	return true;
}

static void
emit_pieces(struct unit *u)
{
	for (;;) {
		emit_body(u);
		if (!u->now->more)
			return;
		uint64_t rest = u->now->pc + u->now->bytes;
		u->base += u->now->n;
		if (u->base >= MAX_WHOLE_INSNS || jit_build(u->next, rest) != 0) {
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

/* The way to the block right behind an exit's jump is not to jump. Other threads may be executing
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
		return x->site + 4 == jit.hot && (!rt.threaded || in_one_line(x->site - 1, 5));
	if (rt.threaded)
		return false;
	return x->kind == EXIT_BRANCH && x[1].block == x->block && x[1].kind == EXIT_JUMP &&
	       x[1].site + 4 == jit.hot && x[1].site == x->site + 5;
}

/* Makes room for the new block where its jump was. */
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

/* From the first block's body on; sure: see translate_unit. */
static void
emit_unit(struct unit *u, uint32_t *sure)
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

/* Translates one unit. sure: the exit that its first block will leave it by, or NO_EXIT when that
 * depends. */
static uint32_t
translate_unit(uint64_t pc, uint32_t join, bool indirect, uint32_t *sure)
{
	struct unit u = {.now = &builds[0], .next = &builds[1], .joined_to = NO_EXIT};
	if (jit_build(u.now, pc) != 0)
		return 0;
	if (may_join(join, u.now)) {
		if (rt.threaded)
			u.joined_to = join;
		else
			take_place(join);
		u.joined = true;
	} else {
		jit.hot = (jit.hot + 15) & ~15u;
	}
	u.hot = (struct emit){cache_write(jit.hot), jit.hot};
	uint32_t pad = 0;
	if (indirect && !u.joined) {
		pad = u.hot.off;
		sequence_pad(&u.hot, pc);
	}
	begin_block(&u, false);
	jit.blocks[u.block].pad = pad;
	u.first = u.block;
	emit_unit(&u, sure);
	if (u.joined_to != NO_EXIT)
		skip_jump(u.joined_to);
	return u.first;
}

/*
 * The way that the program will certainly take is translated at once, callees and targets of jumps:
 * each saves a return to the dispatcher, and a write to code that has just been executed.
 */
uint32_t
jit_translate(uint64_t pc, uint32_t join, bool indirect)
{
	uint32_t exit, first = translate_unit(pc, join, indirect, &exit);
	if (!first || (rt.stress & ST_STRESS_links))
		return first;
	for (unsigned n = 0; exit != NO_EXIT && n < MAX_SURE_UNITS && jit_has_room(); n++) {
		uint32_t last = exit;
		uint64_t target = jit_exit_target(&jit.exits[last]);
		uint32_t block = jit_find(target);
		exit = NO_EXIT;
		if (!block)
			block = translate_unit(target, last, false, &exit);
		if (!block)
			break;
		jit_link(last, block);
	}
	return first;
}

uint32_t
jit_translate_rest(const struct resume *at)
{
	struct unit u = {.now = &builds[0],
	                 .next = &builds[1],
	                 .joined_to = NO_EXIT,
	                 .id = at->id,
	                 .base = at->insns - (at->back != 0),
	                 .rest = true,
	                 .skip = at->actions,
	                 .elide = at->back != 0};
	uint32_t sure;
	if (jit_build(u.now, at->pc - at->back) != 0 || u.now->n == 0)
		return 0;
	jit.hot = (jit.hot + 15) & ~15u;
	u.hot = (struct emit){cache_write(jit.hot), jit.hot};
	begin_block(&u, false);
	uint32_t first = u.block;
	emit_unit(&u, &sure);
	return first;
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
	sequence_pad(&e, b->pc);
	emit_align_site(&e, 1);
	e8(&e, 0xe9);
	uint32_t site = e.off;
	e32(&e, 0);
	warm_end(&e);
	finish_exit(exit, site);
	jit_link(exit, block);
	b->pad = pad;
}
