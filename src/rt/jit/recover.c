/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a place in the cache back to the program: its address and registers, exactly.
 *
 * Every address at which a signal can find a thread in the cache is the start of a machine
 * instruction in a body, a thunk, a pad or a stub. A body's records say which program instruction
 * that is; within the fixed sequences of sequence.c the offset says how far it has come.
 */
#include "rt/arch/x86_64/relocate.h"
#include "rt/jit/action.h"
#include "rt/jit/jit.h"
#include "rt/jit/sequence.h"

static void
take_slots(const struct thread *t, struct regs *r)
{
	r->r[RCX] = t->slot_rcx;
	r->r[RDX] = t->slot_rdx;
}

/* `at` bytes into the pad of pc, or in the jump after it. */
static void
recover_pad(const struct thread *t, uint32_t pad, uint32_t at, uint64_t pc,
            const struct regs *machine, struct recovered *out)
{
	/* Until the check has been passed rdx says where the program goes. */
	uint32_t checked = sequence_pad_check_end(pad);
	uint64_t to = at < checked ? machine->r[RDX] : pc;
	if (at == 0) { /* just returned to */
		out->repair = machine->r[RSP] - 8;
		out->repair_value = to;
	}
	take_slots(t, &out->regs);
	out->regs.pc = to;
	bool counts = sequence_counts_site(pad + checked);
	if (at < checked || (counts && pad + at < sequence_count_done(pad + checked)))
		out->site = (uint32_t)t->slot_site;
}

/* A direct call's thunk may count, as the last thing before its jump. */
static bool
counts_in_thunk(const struct block *b)
{
	return b->count_rec && record_kind(&jit.records[b->records + b->count_rec - 1]) == REC_CALL;
}

/* Actions of the call at the block's end that have been done: all that come before it. */
static uint8_t
actions_at_call(uint32_t block)
{
	const struct block *b = &jit.blocks[block];
	uint32_t i = b->n_records, n = 0;
	while (i > 0 && !record_app_len(&jit.records[b->records + i - 1]))
		i--; /* what is after the call */
	for (i -= i > 0; i > 0 && !record_app_len(&jit.records[b->records + i - 1]); i--)
		n += record_kind(&jit.records[b->records + i - 1]) == REC_BEFORE;
	/* The rest of a basic block that begins with the call. */
	if (i == 0 && (b->flags & BLOCK_RESUME) && !jit.rest_of[block].back)
		n += jit.rest_of[block].skip;
	return (uint8_t)n;
}

static void
recover_thunk(const struct thread *t, const struct block *b, uint32_t at, uint64_t back,
              struct recovered *out)
{
	bool indirect = b->end == ST_END_ICALL;
	enum thunk_step step = sequence_thunk_at(back, at);
	uint64_t target = indirect ? out->regs.r[RDX] : block_target(b);
	if (indirect)
		take_slots(t, &out->regs);
	if (step < THUNK_COUNTED && counts_in_thunk(b))
		out->counted = false;
	if (step < THUNK_PUSHED) {
		if (step == THUNK_CALLED)
			out->regs.r[RSP] += 8;
		out->done--;
		out->actions = actions_at_call(out->block);
		return;
	}
	out->at_end = true;
	out->regs.pc = target;
	out->site = indirect ? (uint32_t)t->slot_site : 0;
}

/* In an indirect end: `at` bytes into the sequence. */
static void
recover_indirect(const struct thread *t, const struct record *rec, enum record_kind kind,
                 uint32_t at, bool counts, const struct regs *machine, struct recovered *out)
{
	struct indirect_state state = sequence_indirect_at(at, counts);
	if (state.rcx_saved)
		out->regs.r[RCX] = t->slot_rcx;
	if (state.rdx_saved)
		out->regs.r[RDX] = t->slot_rdx;
	if (counts)
		out->counted = state.counted;
	/* The real ret: its slot holds the cache address for the moment. */
	if (kind == REC_RETURN && at + 1u == rec->cache_len &&
	    sequence_is_return(cache_write((uint32_t)(machine->pc - rt.target.area)))) {
		out->repair = machine->r[RSP];
		out->repair_value = machine->r[RDX];
	}
}

/* ret imm16 moves rsp before its lookup. */
static bool
recover_return_pop(const struct thread *t, uint64_t pc, uint32_t at, bool counts,
                   struct recovered *out)
{
	const uint8_t *code = program_code(pc);
	struct st_insn in;
	if (!st_decode(code, 15, &in) || in.imm_len == 0)
		return false;
	if (!sequence_return_has_popped(at, counts))
		return true;
	out->at_end = true;
	out->done++;
	out->regs.pc = out->regs.r[RDX];
	out->site = (uint32_t)t->slot_site;
	take_slots(t, &out->regs);
	return true;
}

/* Executes a plain load into the register that holds its address. False when the memory is not
 * there: then the load itself has faulted. */
static bool
load_now(uint64_t pc, const struct regs *machine, struct regs *r)
{
	const uint8_t *code = program_code(pc);
	struct st_insn in;
	uint64_t v = 0;
	if (!st_decode(code, 15, &in))
		return false;
	uint8_t rex = in.flags & ST_I_REX ? code[in.rex_off] : 0, op = code[in.op_off];
	unsigned reg = (code[in.modrm_off] >> 3 & 7) | (rex & 4) << 1;
	bool wide = rex & 8;
	size_t size = op == 0xb6 || op == 0xbe   ? 1
	              : op == 0xb7 || op == 0xbf ? 2
	              : op == 0x63 || !wide      ? 4
	                                         : 8;
	if (rt_copy_guarded(&v, (const void *)machine->r[reg], size))
		return false;
	if (op == 0xbe)
		v = (uint64_t)(int64_t)(int8_t)v;
	else if (op == 0xbf)
		v = (uint64_t)(int64_t)(int16_t)v;
	else if (op == 0x63)
		v = (uint64_t)(int64_t)(int32_t)v;
	r->r[reg] = wide ? v : (uint32_t)v;
	return true;
}

/* Is the machine instruction at the offset one that native execution has, too? For the estimate of
 * the slowdown. */
static bool
is_own_work(const struct record *rec, uint32_t start, uint32_t at)
{
	const uint8_t *p = cache_write(start + at);
	if (!record_app_len(rec))
		return false;
	switch (record_kind(rec)) {
	case REC_COPY:
	case REC_BRANCH:
	case REC_JUMP:
	case REC_CALL:
	case REC_LOOP:
		return at == 0;
	case REC_LOAD:
		return at > 0;
	case REC_SPILL:
		return relocated_spill_works(&rt.target, at, rec->cache_len);
	case REC_RETURN:
		return sequence_is_return(p);
	case REC_IJUMP:
		return sequence_is_lookup_jump(p);
	case REC_ICALL:
		return sequence_is_call(p);
	default:
		return false;
	}
}

static void
recover_record(struct thread *t, const struct block *b, const struct record *rec, uint32_t index,
               uint32_t start, uint32_t at, struct reserved *reserved, const struct regs *machine,
               struct recovered *out)
{
	enum record_kind kind = record_kind(rec);
	unsigned len = record_app_len(rec);
	bool counts = b->count_rec == index + 1;
	switch (kind) {
	case REC_COUNT_SPILL:
		out->counted = sequence_recover_count_spilled(t, at, &out->regs);
		break;
	case REC_LOAD:
		/* The destination holds the address already, and its old value is gone: do the
		 * load. */
		if (at > 0 && load_now(out->regs.pc, machine, &out->regs)) {
			out->regs.pc += len;
			out->done++;
		}
		break;
	case REC_SPILL:
		if (at == 0)
			break;
		out->regs.r[emitted_register(&rt.target, cache_write(start))] = t->slot_spill;
		if (relocated_spill_is_over(&rt.target, at, rec->cache_len) || SEEDED(8)) {
			out->regs.pc += len;
			out->done++;
		}
		break;
	case REC_BRANCH:
	case REC_LOOP: {
		if (at == 0)
			break;
		/* After the branch instruction: it has been decided. loop's second jump is the
		 * taken one. */
		struct st_insn in;
		uint64_t next = out->regs.pc + len;
		out->done++;
		out->at_end = true;
		bool xbegin = sequence_is_clear_eax(cache_write(start));
		bool taken = xbegin || (kind == REC_LOOP && at + EMIT_JMP_LEN >= rec->cache_len);
		if (taken && st_decode(program_code(out->regs.pc), 15, &in))
			next += (uint64_t)(int64_t)in.rel;
		out->regs.pc = next;
		out->edge = rt.code.counting ? jit.edge_of[out->block] : 0;
		out->direction = taken ? DIRECTION_TAKEN : DIRECTION_NOT_TAKEN;
		break;
	}
	case REC_BEFORE:
	case REC_AFTER:
		if (action_recover(t, reserved, start, at, out))
			out->actions++;
		break;
	case REC_SPACE:
		reserve_follow(reserved, cache_write(start), cache_write(start + at), true);
		break;
	case REC_RETURN:
		if (sequence_indirect_at(at, counts).rdx_saved &&
		    recover_return_pop(t, out->regs.pc, at, counts, out)) {
			if (!out->at_end)
				recover_indirect(t, rec, kind, at, counts, machine, out);
			else
				out->counted = counts || out->counted;
			break;
		}
		recover_indirect(t, rec, kind, at, counts, machine, out);
		break;
	case REC_IJUMP:
	case REC_ICALL:
		recover_indirect(t, rec, kind, at, counts, machine, out);
		break;
	default:
		break;
	}
}

/* At the beginning of the rest of a basic block some actions of its first instruction have been
 * done; perhaps it has been executed, too: then its length is returned. */
static unsigned
begin_rest(const struct block *b, struct recovered *out)
{
	out->regs.pc = b->pc;
	if (!(b->flags & BLOCK_RESUME))
		return 0;
	struct rest_begin rest = jit.rest_of[out->block];
	out->actions = rest.skip;
	out->back = rest.back;
	out->regs.pc += out->back;
	out->done = out->back != 0;
	return out->back;
}

/* With the record, are the actions after the last instruction over? */
static bool
ends_actions(const struct record *rec)
{
	return record_app_len(rec) || record_kind(rec) == REC_BEFORE;
}

/* The effect of the record's code, all of it executed, on the spilled registers. */
static void
follow_record(struct reserved *reserved, const struct record *rec, uint32_t start)
{
	enum record_kind kind = record_kind(rec);
	const uint8_t *p = cache_write(start);
	if (kind == REC_SPACE || (reserved->holds && (kind == REC_BEFORE || kind == REC_AFTER)))
		reserve_follow(reserved, p, p + rec->cache_len, kind == REC_SPACE);
}

static int
recover_body(struct thread *t, uint32_t block, uint32_t off, const struct regs *machine,
             struct recovered *out)
{
	const struct block *b = &jit.blocks[block];
	out->block = block;
	if (b->landing && off >= b->body + b->landing) {
		uint32_t at = off - b->body - b->landing;
		out->at_end = true;
		out->counted = b->flags & BLOCK_COUNTED;
		out->done = b->n_insns;
		recover_pad(t, b->body + b->landing, at, block_end(b), machine, out);
		return 0;
	}
	uint32_t start = b->body;
	struct reserved reserved = {0};
	bool inserted = false;             /* what stands before is not an instruction's */
	unsigned len = begin_rest(b, out); /* of the last instruction */
	for (uint32_t i = 0; i < b->n_records; i++) {
		const struct record *rec = &jit.records[b->records + i];
		bool after = record_kind(rec) == REC_AFTER;
		if (off < start + rec->cache_len) {
			uint32_t done = out->done;
			out->boundary = off == start && !inserted;
			out->own_work = is_own_work(rec, start, off - start);
			if (after)
				out->back = (uint8_t)len;
			else if (out->back && ends_actions(rec))
				out->actions = out->back = 0;
			recover_record(t, b, rec, i, start, off - start, &reserved, machine, out);
			reserve_recover(&reserved, t, out);
			if (out->done != done) { /* it has been executed, but nothing after it */
				out->back = (uint8_t)record_app_len(rec);
				out->actions = 0;
			}
			return 0;
		}
		if (b->count_rec == i + 1)
			out->counted = true;
		follow_record(&reserved, rec, start);
		inserted = record_app_len(rec) == 0;
		start += rec->cache_len;
		out->regs.pc += record_app_len(rec);
		out->done += record_app_len(rec) != 0;
		if (record_app_len(rec)) {
			len = record_app_len(rec);
			out->actions = out->back = 0;
		} else if (after) {
			out->actions++;
			out->back = (uint8_t)len;
		} else if (record_kind(rec) == REC_BEFORE) {
			if (out->back)
				out->actions = out->back = 0;
			out->actions++;
		}
	}
	out->at_end = true; /* a final jump to the next address */
	return 0;
}

/* The block has taken the edge that is counted, which is about to be done or has been done. */
static void
recover_edge(const struct thread *t, const struct warm_fragment *c, uint32_t at,
             struct recovered *out)
{
	uint32_t block = c->block, edge = jit.edge_of[block];
	const struct block *b = &jit.blocks[block];
	out->direction = edge_counts(edge, DIRECTION_TAKEN) ? DIRECTION_TAKEN : DIRECTION_NOT_TAKEN;
	out->at_end = true;
	out->counted = true;
	out->regs.pc = out->direction == DIRECTION_TAKEN ? block_target(b) : block_end(b);
	if (!jit_edge_counted(t, c->at, at, &out->regs))
		out->edge = edge;
}

static int
recover_warm(struct thread *t, uint32_t off, const struct regs *machine, struct recovered *out)
{
	const struct warm_fragment *c = jit_warm_at(off);
	if (!c)
		return -1;
	uint32_t what = c->block;
	switch ((enum warm_kind)c->kind) {
	case WARM_THUNK: {
		const struct block *b = &jit.blocks[what];
		uint64_t back = block_end(b);
		out->block = what;
		out->done = b->n_insns;
		out->counted = b->flags & BLOCK_COUNTED;
		/* The call is the block's last instruction. */
		unsigned len = 2;
		for (uint32_t i = b->n_records; i-- > 0;)
			if (record_app_len(&jit.records[b->records + i])) {
				len = record_app_len(&jit.records[b->records + i]);
				break;
			}
		out->regs.pc = back - len;
		recover_thunk(t, b, off - c->at, back, out);
		return 0;
	}
	case WARM_WALK: {
		/* Before it is left nothing has been done. */
		uint32_t spilled = walk_spilled(t, c->at, off, out);
		return recover_body(t, what, spilled, machine, out);
	}
	case WARM_EDGE:
		recover_edge(t, c, off - c->at, out);
		return 0;
	case WARM_TARGET:
		out->at_end = true;
		out->counted = true;
		out->regs.pc = jit.blocks[what].pc;
		/* In a jump table nothing has been counted. */
		out->site = !sequence_counts_site(c->at) || off < sequence_count_done(c->at)
		                    ? (uint32_t)t->slot_site
		                    : 0;
		take_slots(t, &out->regs);
		return 0;
	case WARM_PAD:
		out->at_end = true;
		out->counted = true;
		recover_pad(t, c->at, off - c->at, jit.blocks[what].pc, machine, out);
		return 0;
	}
	return -1;
}

static int
recover_stub(uint32_t off, struct recovered *out)
{
	uint32_t exit = (off - ST_AREA_COLD) / jit_stub_len();
	if (exit >= jit.n_exits)
		return -1;
	const struct exit *x = &jit.exits[exit];
	bool jump = x->kind == EXIT_JUMP || x->kind == EXIT_BRANCH;
	out->regs.pc = jit_exit_target(x);
	out->at_end = true;
	out->counted = true;
	out->edge = jump && x->cause ? jit.edge_of[x->block] : 0;
	out->direction = exit_direction(x);
	return 0;
}

int
jit_recover(struct thread *t, uint64_t address, const struct regs *machine, struct recovered *out)
{
	uint32_t off = (uint32_t)(address - rt.target.area);
	*out = (struct recovered){.regs = *machine};
	if (off < CACHE_NOTHING) { /* sequence_empty_pad */
		take_slots(t, &out->regs);
		out->site = (uint32_t)t->slot_site;
		if (off == 0) { /* just returned to */
			out->repair = machine->r[RSP] - 8;
			out->repair_value = machine->r[RDX];
		}
		out->regs.pc = machine->r[RDX];
		out->at_end = true;
		return 0;
	}
	if (off >= ST_AREA_COLD)
		return recover_stub(off, out);
	if (off >= ST_AREA_WARM)
		return recover_warm(t, off, machine, out);
	uint32_t block = jit_block_at(off);
	if (!block) {
		block = jit_block_after(off);
		if (!block || !jit.blocks[block].pad || off < jit.blocks[block].pad)
			return -1;
		out->at_end = true;
		recover_pad(t, jit.blocks[block].pad, off - jit.blocks[block].pad,
		            jit.blocks[block].pc, machine, out);
		return 0;
	}
	return recover_body(t, block, off, machine, out);
}

/* Instructions of the basic block before this fragment of it. */
static uint32_t
insns_before(uint32_t block)
{
	uint32_t n = 0;
	while (jit.blocks[block].flags & BLOCK_CONT)
		n += jit.blocks[--block].n_insns;
	if (jit.blocks[block].flags & BLOCK_RESUME)
		n += jit.rest_of[block].insns;
	return n;
}

/* Where executions end early: by block and instructions, where in the results. */
static strobe_map partials;
static uint32_t partials_lock;

void
jit_forget_partials(void)
{
	if (partials.slots)
		rt_unmap_memory(partials.slots, 2 * partials.size * sizeof(uint64_t));
	partials = (strobe_map){0};
}

static void
add_partial(uint32_t id, uint32_t insns, int64_t times)
{
	struct st_results_header *r = rt.results;
	struct st_partial *list = (void *)((char *)r + r->layout.off_partials);
	rt_lock(&partials_lock);
	uint64_t *at = strobe_map_at(&partials, (uint64_t)id << 32 | insns);
	if (at && !*at && r->blocks.n_partials < ST_MAX_PARTIALS) {
		list[r->blocks.n_partials] = (struct st_partial){id, insns, 0};
		__atomic_store_n(&r->blocks.n_partials, r->blocks.n_partials + 1, __ATOMIC_RELEASE);
		*at = r->blocks.n_partials;
	}
	if (at && *at)
		list[*at - 1].times += times;
	rt_unlock(&partials_lock);
}

void
jit_suspend_resume(struct thread *t)
{
	struct resume *p = &t->resume;
	if (p->state != RESUME_ARMED)
		return;
	if (p->id) {
		__atomic_fetch_sub(thread_counter(t, p->id), 1, __ATOMIC_RELAXED);
		add_partial(p->id, p->insns, 1);
	}
	p->state = RESUME_SUSPENDED;
}

void
jit_end_partial(struct thread *t)
{
	struct resume *p = &t->resume;
	if (p->id) {
		__atomic_fetch_sub(thread_counter(t, p->id), 1, __ATOMIC_RELAXED);
		add_partial(p->id, p->insns | ST_PARTIAL_GOES_ON, 1);
	}
	p->state = RESUME_NONE;
}

void
jit_resume_counts(struct thread *t)
{
	struct resume *p = &t->resume;
	if (p->state != RESUME_SUSPENDED)
		return;
	if (p->id) {
		__atomic_fetch_add(thread_counter(t, p->id), 1, __ATOMIC_RELAXED);
		add_partial(p->id, p->insns, -1);
	}
	p->state = RESUME_ARMED;
}

void
jit_stop_at(struct thread *t, uint32_t block)
{
	const struct block *b = &jit.blocks[block];
	t->resume = (struct resume){.pc = b->pc,
	                            .id = b->once ? 0 : jit.id_of[block],
	                            .insns = (uint16_t)insns_before(block),
	                            .state = RESUME_ARMED};
	if (!(b->flags & BLOCK_RESUME))
		return;
	struct rest_begin rest = jit.rest_of[block];
	t->resume.actions = rest.skip;
	t->resume.back = rest.back;
	t->resume.pc += t->resume.back; /* its first instruction has been executed */
	if (t->resume.back)
		t->resume.insns++;
}

void
jit_leave(struct thread *t, const struct recovered *r)
{
	t->resume.state = RESUME_NONE;
	for (unsigned i = 0; i < r->n_late; i++)
		*r->late[i].at = r->late[i].value;
	if (r->edge)
		edge_pass(t, r->edge, r->direction);
	const struct block *b = &jit.blocks[r->block];
	uint32_t id = r->block && rt.code.counting ? jit.id_of[r->block] : 0;
	if (!id && !b->once)
		return;
	bool begun = r->counted || (b->flags & (BLOCK_CONT | BLOCK_RESUME));
	if (!begun && !r->at_end && !r->done && !r->actions)
		return;
	if (!begun && (b->flags & BLOCK_COUNTED))
		__atomic_fetch_add(thread_counter(t, id), 1, __ATOMIC_RELAXED);
	if (r->at_end)
		return;
	t->resume = (struct resume){.pc = r->regs.pc,
	                            .id = b->once ? 0 : id, /* it is not counted here */
	                            .insns = (uint16_t)(insns_before(r->block) + r->done),
	                            .actions = r->actions,
	                            .back = r->back,
	                            .state = RESUME_ARMED};
}
