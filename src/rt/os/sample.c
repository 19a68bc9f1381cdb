/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples, and the program's stack at them. The stack is copied as it is, for the controller to
 * unwind while the program runs: unwinding needs tables and memory that the runtime does not have.
 */
#include "rt/os/sample.h"

#include <asm/unistd.h>

#include "rt/os/os.h"
#include "rt/os/waiting.h"
#include "rt/tool/tool.h"

enum { PAGE = 4096 };

static struct st_stack *
ring_at(uint64_t position)
{
	return (struct st_stack *)((char *)rt.results + rt.results->layout.off_stacks +
	                           position % ST_STACK_RING);
}

/* The position of `space` bytes in one piece; UINT64_MAX when the controller has not kept up. */
static uint64_t
reserve_sample(uint32_t space)
{
	struct st_results_header *r = rt.results;
	uint64_t head = __atomic_load_n(&r->samples.stack_head, __ATOMIC_RELAXED), fill;
	do {
		uint64_t left = ST_STACK_RING - head % ST_STACK_RING;
		fill = left < space ? left : 0;
		uint64_t used = head - __atomic_load_n(&r->samples.stack_tail, __ATOMIC_ACQUIRE);
		if (used + fill + space > ST_STACK_RING)
			return UINT64_MAX;
	} while (!__atomic_compare_exchange_n(&r->samples.stack_head, &head, head + fill + space,
	                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (fill) {
		struct st_stack *s = ring_at(head);
		s->space = (uint32_t)fill;
		s->filler = 1;
		__atomic_store_n(&s->mark, head + 1, __ATOMIC_RELEASE);
	}
	return head + fill;
}

/* Copies bytes of one page of the stack; false: the page cannot be read. When the handler of a
 * fault returns, the kernel forgets the system call that restart_syscall would continue: so a
 * thread that leaves the engine to make that call lets the kernel copy. */
static bool
copy_page(const struct thread *t, void *to, uint64_t from, uint32_t n)
{
	const uint64_t here[2] = {(uint64_t)to, n}, there[2] = {from, n};
	if (!t->parked || t->regs.r[RAX] != __NR_restart_syscall)
		return rt_copy_guarded(to, (const void *)from, n) == 0;
	return SYS(__NR_process_vm_readv, rt.pid, here, 1, there, 1, 0) == (long)n;
}

/* Copies up to n bytes page by page, and remembers where the stack ends. Returns how many. */
static uint32_t
copy_stack(struct thread *t, char *to, uint64_t from, uint32_t n)
{
	uint32_t done = 0;
	while (done < n) {
		uint32_t step = PAGE - (uint32_t)((from + done) % PAGE);
		if (step > n - done)
			step = n - done;
		if (!copy_page(t, to + done, from + done, step)) {
			t->sampling.stack_end = from + done;
			break;
		}
		done += step;
	}
	return done;
}

/* The stack's end that was seen before saves a fault at every sample. */
static uint32_t
stack_bytes(const struct thread *t, uint64_t rsp)
{
	uint64_t known = t->sampling.stack_end - rsp;
	return t->sampling.stack_end > rsp && known < ST_STACK_MOST ? (uint32_t)known
	                                                            : ST_STACK_MOST;
}

void
sample_dropped(void)
{
	__atomic_fetch_add(&rt.results->samples.stacks_dropped, 1, __ATOMIC_RELAXED);
}

bool
sample_stack(struct thread *t, const struct recovered *at, enum st_stack_kind kind, uint64_t waited)
{
	const uint64_t *r = at->regs.r;
	uint64_t rsp = r[RSP];
	uint32_t n = stack_bytes(t, rsp);
	uint32_t space = (uint32_t)(sizeof(struct st_stack) + n + ST_STACK_ALIGN - 1) &
	                 -(uint32_t)ST_STACK_ALIGN;
	uint64_t position = reserve_sample(space);
	if (position == UINT64_MAX)
		return false;
	struct st_stack *s = ring_at(position);
	s->space = space;
	s->filler = 0;
	s->thread = t->record;
	s->kind = kind;
	s->waited = waited;
	s->bytes = copy_stack(t, (char *)(s + 1), rsp, n);
	s->cut = s->bytes == ST_STACK_MOST;
	/* A word that translated code keeps on the stack for a moment. */
	if (at->repair >= rsp && at->repair - rsp + 8 <= s->bytes)
		memcpy((char *)(s + 1) + (at->repair - rsp), &at->repair_value, 8);
	s->pc = at->regs.pc;
	s->rsp = rsp;
	s->rbp = r[RBP];
	s->rbx = r[RBX];
	s->r12 = r[R12];
	s->r13 = r[R13];
	s->r14 = r[R14];
	s->r15 = r[R15];
	__atomic_store_n(&s->mark, position + 1, __ATOMIC_RELEASE);
	return true;
}

/* The block under way: for the estimate of the slowdown. */
static void
describe_sample(struct st_sample *s, const struct recovered *at)
{
	const struct block *b = &jit.blocks[at->block];
	if (!at->block)
		return;
	s->end = b->end;
	s->insns = b->n_insns;
	unsigned added = jit_actions_for_eight(at->block);
	s->added = added < UINT8_MAX ? (uint8_t)added : UINT8_MAX;
}

void
sample_add(struct thread *t, const struct recovered *at, uint32_t where)
{
	if (!thread_is_measured(t))
		return;
	struct st_results_header *r = rt.results;
	struct st_sample *samples = (void *)((char *)r + r->layout.off_samples);
	struct st_thread *threads = (void *)((char *)r + r->layout.off_threads);
	uint64_t n = __atomic_fetch_add(&r->samples.n, 1, __ATOMIC_RELAXED);
	if (n < ST_MAX_SAMPLES) {
		samples[n] = (struct st_sample){
		        .pc = at->regs.pc, .thread = t->record, .where = (uint8_t)where};
		describe_sample(&samples[n], at);
	}
	threads[t->record].samples++;
	const bool code = where == ST_SAMPLE_CODE;
	if (code)
		waiting_tick(t);
	if (((code && r->plan.take_stacks) || (where == ST_SAMPLE_SYSCALL && rt.waiting.on)) &&
	    !sample_stack(t, at, code ? ST_STACK_CODE : ST_STACK_KERNEL, 0))
		sample_dropped();
}
