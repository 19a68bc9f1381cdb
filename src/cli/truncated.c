/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs, libraries and debug files are read through mappings, and the program that is measured
 * may write to them, or make them shorter: a page behind the end is a SIGBUS. There is no time at
 * which that could be foreseen, so the page is replaced, and what reads it finds that it makes no
 * sense.
 */
#include "cli/truncated.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

static void
on_bus_error(int signo, siginfo_t *info, void *context)
{
	const uintptr_t page = 4096;
	void *at = (void *)((uintptr_t)info->si_addr & ~(page - 1));
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	(void)context;
	if (info->si_code == BUS_ADRERR &&
	    mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	         0) == at)
		return;
	sigaction(signo, &plain, NULL); /* it comes again */
}

void
st_survive_truncation(void)
{
	const struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
	sigaction(SIGBUS, &action, NULL);
}
