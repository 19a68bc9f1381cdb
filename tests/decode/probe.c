/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SCRATCH = 4 << 10, CODE = 64, PAGE_FAULT = 14 };

void enter_at(const struct state *s, const void *code);

static sigjmp_buf out;
static struct probe *running;
static volatile enum probe_end end;

static void
on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)running->page;

	end = PROBE_OTHER;
	if (number == SIGTRAP) {
		end = PROBE_DONE;
	} else if (number == SIGILL) {
		end = PROBE_INVALID;
	} else if (number == SIGSEGV && c->uc_mcontext.gregs[REG_TRAPNO] == PAGE_FAULT &&
	           at >= page - PROBE_PAGE && at < page + 2 * PROBE_PAGE) {
		end = PROBE_FAULT;
		running->fault = at;
	}
	__asm__ volatile("cld");
	siglongjmp(out, 1);
}

static bool
catch_signals(void)
{
	static const int numbers[] = {SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE};
	static char stack[64 << 10];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_sigaction = on_signal,
	                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	if (sigaltstack(&alternate, NULL))
		return false;
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (sigaction(numbers[i], &action, NULL))
			return false;
	return true;
}

static uint8_t *
map(size_t size, int protection)
{
	void *m = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return m == MAP_FAILED ? NULL : m;
}

bool
probe_open(struct probe *p)
{
	uint8_t *pages = map((size_t)3 * PROBE_PAGE, PROT_NONE);
	uint8_t *scratch = map((size_t)2 * SCRATCH, PROT_READ | PROT_WRITE);

	p->code = map(PROBE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!pages || !scratch || !p->code)
		return false;
	p->page = pages + PROBE_PAGE;
	p->scratch = scratch + SCRATCH;
	probe_allow_writes(p, true);
	return catch_signals();
}

void
probe_fill(struct probe *p, int byte)
{
	memset(p->page, byte, PROBE_PAGE);
	memset(p->scratch - SCRATCH, byte, (size_t)2 * SCRATCH);
}

void
probe_allow_writes(struct probe *p, bool allow)
{
	mprotect(p->page, PROBE_PAGE, allow ? PROT_READ | PROT_WRITE : PROT_READ);
}

void
probe_put(struct probe *p, const uint8_t *bytes, unsigned length)
{
	memset(p->code, 0xcc, CODE);
	memcpy(p->code, bytes, length);
}

enum probe_end
probe_run(struct probe *p, const struct state *s)
{
	running = p;
	/* the handler never blocks a signal: no mask to restore */
	if (sigsetjmp(out, 0) == 0)
		enter_at(s, p->code);
	return end;
}
