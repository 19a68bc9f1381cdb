// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions thrown by signal handlers (-fnon-call-exceptions): the unwinder must walk the signal
// frame and find the faulting instruction's own landing pad.
/* strobe-test: */
#include "signal/ucontext.h"
#include <stdexcept>

namespace
{
int cleaned;

struct cleanup {
	~cleanup()
	{
		cleaned++;
	}
};

struct fault {
	void *address;
};

void
on_fault(int, siginfo_t *info, void *)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &set, nullptr);
	throw fault{info->si_addr};
}

void
on_divide(int, siginfo_t *, void *)
{
	throw std::domain_error("division by zero");
}

__attribute__((noinline)) int
load(const volatile int *p, int depth)
{
	cleanup c;
	return depth ? load(p, depth - 1) + 1 : *p;
}

__attribute__((noipa)) int
divide(volatile int a, volatile int b)
{
	cleanup c;
	return a / b;
}
} // namespace

int
main()
{
	handle(SIGSEGV, on_fault, SA_NODEFER);
	handle(SIGFPE, on_divide, SA_NODEFER);
	for (uintptr_t i = 0; i < 200; i++) {
		int depth = static_cast<int>(i % 20);
		volatile int sink;
		cleaned = 0;
		try {
			sink = load(reinterpret_cast<int *>(64 + i * 4), depth);
			CHECK(false, "no fault");
		} catch (const fault &f) {
			CHECK_EQ(reinterpret_cast<uintptr_t>(f.address), 64 + i * 4);
		}
		CHECK_EQ(cleaned, depth + 1);
		try {
			sink = divide(7, 0);
			CHECK(false, "no fault, %d", sink);
		} catch (const std::domain_error &) {
		}
		CHECK_EQ(cleaned, depth + 2);
	}
	puts("exceptions leave signal handlers");
	return 0;
}
