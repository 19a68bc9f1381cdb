/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread's stack, from the innermost function outwards: by what the images say of their code, and
 * where they say nothing by what calls and frame pointers tell. What cannot be told for sure ends
 * it.
 */
#include "rt/unwind/unwind.h"

#include "rt/frame.h"
#include "rt/tool/tool.h"

enum {
	MOST_STEPS = 1 << 22,
	MOST_SIGNALS = 64, /* that one another's handlers were interrupted by */
	FRAME_WORDS = 64,  /* of a function of which nothing is said */
	LARGEST_FRAME = 1 << 28,
};

struct walker {
	uint64_t registers[CFI_REGISTERS];
	uint64_t cfa; /* of the function that has been left */
	bool exact;   /* pc is an instruction; else a return address */
	unsigned signals;
};

static uint64_t
pc_of(const struct walker *w)
{
	return w->registers[CFI_PC];
}

/* Where rules are looked up: a call may be the last thing that a function does. */
static uint64_t
rule_address(const struct walker *w)
{
	return pc_of(w) - !w->exact;
}

static void
unwind_begin(struct walker *w, const struct regs *regs)
{
	static const uint8_t order[CFI_PC] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
	                                      R8,  R9,  R10, R11, R12, R13, R14, R15};
	*w = (struct walker){.exact = true};
	for (unsigned i = 0; i < CFI_PC; i++)
		w->registers[i] = regs->r[order[i]];
	w->registers[CFI_PC] = regs->pc;
}

/* ---- signals ---- */

/* The signal frame that the kernel has put on the stack, above the handler's return address. */
static bool
leave_signal_frame(struct walker *w)
{
	/* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	static const uint8_t order[CFI_REGISTERS] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
	                                             4, 6, 3,  1,  0,  2,  7,  16};
	enum { REGISTERS_AT = 40 };
	uint64_t saved[CFI_REGISTERS];
	if (!cfi_read(saved, w->registers[CFI_RSP] + REGISTERS_AT, sizeof saved))
		return false;
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		w->registers[order[i]] = saved[i];
	return true;
}

static bool
at_signal_frame(const struct walker *w)
{
	if (unwind_is_restorer(pc_of(w)))
		return true;
	const struct cfi_row *row = unwind_row_at(rule_address(w));
	return row && row->signal;
}

static bool
leave_handler(struct walker *w)
{
	const struct cfi_row *row = unwind_row_at(rule_address(w));
	if (++w->signals > MOST_SIGNALS)
		return false;
	w->exact = true;
	if (unwind_is_restorer(pc_of(w)))
		return leave_signal_frame(w);
	return row && cfi_apply(row, w->registers, &w->cfa) == CFI_CALLER;
}

/* The handler of the signal whose frame is next: nobody has called it, but it was entered first.
 * 0: not known. */
static uint64_t
handler_of(const struct thread *t, const struct walker *w)
{
	uint32_t signo;
	if (!unwind_is_restorer(pc_of(w)) ||
	    !cfi_read(&signo, w->registers[CFI_RSP] + sizeof(struct ucontext64), sizeof signo) ||
	    signo < 1 || signo > N_SIGNALS)
		return 0;
	return __atomic_load_n(&t->signals.table->action[signo].handler, __ATOMIC_RELAXED);
}

/* ---- functions of which nothing is said ---- */

static bool
leave_by(struct walker *w, uint64_t slot)
{
	if (!cfi_read(&w->registers[CFI_PC], slot, 8))
		return false;
	w->cfa = w->registers[CFI_RSP] = slot + 8;
	return true;
}

/* The return address is after a call of the function. */
static bool
find_call_of(uint64_t function, uint64_t from, uint64_t *slot)
{
	uint64_t word, to;
	for (*slot = from; *slot < from + 8ul * FRAME_WORDS; *slot += 8) {
		if (!cfi_read(&word, *slot, 8))
			return false;
		if (unwind_called(word, &to) && to && entries_start(to) == function)
			return true;
	}
	return false;
}

static bool
leave_by_frame_pointer(struct walker *w)
{
	uint64_t bp = w->registers[CFI_RBP], saved, to, address;
	if (bp < w->registers[CFI_RSP] || bp - w->registers[CFI_RSP] > LARGEST_FRAME || bp % 8)
		return false;
	if (!cfi_read(&saved, bp, 8) || !cfi_read(&address, bp + 8, 8) ||
	    !unwind_called(address, &to))
		return false;
	w->registers[CFI_RBP] = saved;
	return leave_by(w, bp + 8);
}

static enum cfi_step
leave_unknown(struct walker *w)
{
	uint64_t function = entries_start(rule_address(w)), sp = w->registers[CFI_RSP], slot;
	bool left;
	if (function && w->exact && pc_of(w) == function)
		left = leave_by(w, sp);
	else if (function && find_call_of(function, sp, &slot))
		left = leave_by(w, slot);
	else
		left = (!function || unwind_has_frame(function)) && leave_by_frame_pointer(w);
	return left ? CFI_CALLER : CFI_LOST;
}

/* ---- steps ---- */

static enum cfi_step
leave_frame(struct walker *w)
{
	uint64_t sp = w->registers[CFI_RSP];
	const struct cfi_row *row = unwind_row_at(rule_address(w));
	enum cfi_step step = row ? cfi_apply(row, w->registers, &w->cfa) : leave_unknown(w);
	if (step == CFI_CALLER && (w->cfa < sp + 8 || w->cfa - sp > LARGEST_FRAME))
		step = CFI_LOST;
	w->exact = false;
	return step;
}

/* The stack pointer that the function was entered with: stubs of the linker leave words there, of
 * which the function that they jump to knows. */
static uint64_t
entered_with(uint64_t function, uint64_t cfa)
{
	const struct cfi_row *row = function ? unwind_row_at(function) : NULL;
	if (!row || row->cfa.how != CFI_OFFSET || row->cfa.reg != CFI_RSP)
		return cfa - 8;
	return cfa - row->cfa.number;
}

/* Nobody has called it. Did it begin there, or has a thread begun in its middle? */
static bool
begins_program(uint64_t function)
{
	const struct unwind_image *image = function ? unwind_image_at(function) : NULL;
	return image && image->begin == function;
}

enum strobe_unwound
unwind_thread(struct thread *t, strobe_unwind_callee *each, void *to)
{
	struct walker w;
	bool called = false; /* no restorer is */
	unwind_begin(&w, &t->regs);
	for (unsigned n = 0; n < MOST_STEPS; n++) {
		if (!called && at_signal_frame(&w)) {
			if (!leave_handler(&w))
				return STROBE_LOST;
			continue;
		}
		strobe_activation a = {.function = entries_start(rule_address(&w)),
		                       .pc = pc_of(&w)};
		enum cfi_step step = leave_frame(&w);
		if (step == CFI_LOST)
			return STROBE_LOST;
		if (step == CFI_OUTERMOST) {
			if (begins_program(a.function))
				each(to, &a);
			return STROBE_OUTERMOST;
		}
		called = unwind_called(pc_of(&w), &a.called);
		a.handler = !called && at_signal_frame(&w);
		if (a.handler)
			a.called = handler_of(t, &w);
		a.called = a.called ? entries_start(a.called) : 0;
		a.sp = entered_with(a.function, w.cfa);
		each(to, &a);
		if (!called && !a.handler)
			return STROBE_LOST;
	}
	return STROBE_LOST;
}

enum strobe_unwound
strobe_unwind(strobe_thread *handle, strobe_unwind_callee *each, void *to)
{
	struct thread *t = (struct thread *)handle;
	if (t->budget.gap_from) /* a thread that ends goes on nowhere */
		return STROBE_LOST;
	if (!t->budget.reports_gap) {
		rt_lock(&rt.lock);
		enum strobe_unwound how = unwind_thread(t, each, to);
		rt_unlock(&rt.lock);
		return how;
	}
	enum strobe_unwound how = unwind_thread(t, each, to);
	rt_stat(ST_STAT_unwinds, 1);
	rt_stat(ST_STAT_unwinds_lost, how == STROBE_LOST);
	return how;
}

const char *
strobe_function_name_at(uint64_t address)
{
	uint64_t function = entries_start(address);
	const struct st_entry *e = function ? entry_at(function) : NULL;
	return e ? entry_name(e) : NULL;
}
