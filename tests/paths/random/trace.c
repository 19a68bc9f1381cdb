/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { THREADS = 4, STACKS = 4, STACK = 1 << 17, EVENTS = 1 << 16 };
enum event { ENTER, TAIL, BACK, SWITCH };

/* The thread's own stack is number 0, the others are coroutines'. */
struct stack {
	int depth, catchers, active, resumer;
	const void *jumped; /* the frame in which a jump is on its way */
	sigjmp_buf *landing;
	function *first;
	char *area;
	ucontext_t context;
};

struct thread {
	uint64_t dice;
	int calls, now;
	struct stack stacks[STACKS];
	uint32_t n, events[EVENTS];
};

static struct thread threads[THREADS];
static __thread struct thread *me;
static const struct trace_plan *plan;

static void
note(enum event what, unsigned value)
{
	if (me->n == EVENTS)
		abort();
	me->events[me->n++] = (uint32_t)what << 24 | value;
}

static struct stack *
now(void)
{
	return &me->stacks[me->now];
}

int
trace_enter(int f, const void *frame)
{
	struct stack *s = now();
	if (s->jumped && s->jumped != frame)
		abort(); /* it was compiled as a call */
	note(s->jumped ? TAIL : ENTER, (unsigned)f);
	s->jumped = NULL;
	me->calls--;
	return ++s->depth;
}

void
trace_tail(const void *frame)
{
	now()->jumped = frame;
}

void
trace_back(int depth)
{
	now()->depth = depth;
	note(BACK, (unsigned)depth);
}

unsigned
trace_pick(unsigned n)
{
	me->dice = me->dice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(me->dice >> 33) % n;
}

int
trace_more(int depth)
{
	return depth > 0 && me->calls > 0;
}

sigjmp_buf *
trace_landing(sigjmp_buf *here)
{
	sigjmp_buf *before = now()->landing;
	now()->landing = here;
	return before;
}

int
trace_jump(void)
{
	if (now()->landing)
		siglongjmp(*now()->landing, 1);
	return 0;
}

int
trace_catchers(int n)
{
	int before = now()->catchers;
	if (n >= 0)
		now()->catchers = n;
	return before;
}

static void
coroutine(void)
{
	for (;;) {
		now()->first(plan->depth);
		trace_back(0);
		trace_yield();
	}
}

static void
start(struct stack *s, function *first)
{
	s->first = first;
	s->area = (char *)malloc(STACK);
	if (!s->area || getcontext(&s->context))
		abort();
	s->context.uc_stack.ss_sp = s->area;
	s->context.uc_stack.ss_size = STACK;
	makecontext(&s->context, coroutine, 0);
}

void
trace_resume(function *first)
{
	int from = me->now, to = 1 + (int)trace_pick(STACKS - 1);
	struct stack *s = &me->stacks[to];
	if (s->active)
		return;
	if (!s->area)
		start(s, first);
	s->active = 1;
	s->resumer = from;
	me->now = to;
	note(SWITCH, (unsigned)to);
	swapcontext(&me->stacks[from].context, &s->context);
	me->now = from;
	s->active = 0;
	note(SWITCH, (unsigned)from);
}

void
trace_yield(void)
{
	if (me->now)
		swapcontext(&now()->context, &me->stacks[now()->resumer].context);
}

void
trace_raise(void)
{
	raise(SIGUSR1);
}

void
trace_sort(int depth, int (*compare)(const void *, const void *))
{
	int numbers[6];
	for (int i = 0; i < 6; i++)
		numbers[i] = (int)trace_pick(100) << 8 | depth;
	qsort(numbers, 6, sizeof *numbers, compare);
}

static void *
run(void *argument)
{
	me = argument;
	me->calls = plan->calls;
	me->dice = plan->seed * 1000003 + (unsigned long)(me - threads) * 7919;
	me->stacks[0].active = 1;
	stack_t other = {.ss_sp = malloc(STACK), .ss_size = STACK};
	if (plan->altstack && sigaltstack(&other, NULL))
		abort();
	while (trace_more(1)) {
		plan->first[trace_pick(plan->n_first)](plan->depth);
		trace_back(0);
	}
	other.ss_flags = SS_DISABLE;
	sigaltstack(&other, NULL);
	free(other.ss_sp);
	return NULL;
}

static int
write_down(const char *file)
{
	FILE *out = fopen(file, "w");
	for (int i = 0; out && i < plan->threads; i++)
		fwrite(&threads[i].n, sizeof(uint32_t), threads[i].n + 1, out);
	return !out || fclose(out);
}

int
trace_main(const struct trace_plan *given, const char *file)
{
	pthread_t ids[THREADS];
	struct sigaction action = {.sa_handler = given->on_signal,
	                           .sa_flags = SA_NODEFER | (given->altstack ? SA_ONSTACK : 0)};
	plan = given;
	if (plan->on_signal && sigaction(SIGUSR1, &action, NULL))
		return 1;
	for (int i = 1; i < plan->threads; i++)
		if (pthread_create(&ids[i], NULL, run, &threads[i]))
			return 1;
	run(&threads[0]);
	for (int i = 1; i < plan->threads; i++)
		pthread_join(ids[i], NULL);
	return write_down(file);
}
