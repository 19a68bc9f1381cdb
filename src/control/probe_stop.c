/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that is started, up to where it can take probes: it has a thread pointer, by which the
 * probe runtime finds threads, and the dynamic linker has mapped its libraries. None of its own
 * code has run then, not even the libraries' constructors.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "control/internal.h"
#include "control/probe.h"

enum { BREAKPOINT = 0xcc };

struct stop {
	uint64_t at; /* 0: there is none */
	uint8_t was;
};

static st_status
ended(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "the program ended before it could take probes");
}

/* The next stop of the program; signals are passed on. -1: it has ended. */
static int
next_stop_of(pid_t pid, enum __ptrace_request how)
{
	int stop, pass = 0;
	for (;;) {
		if (ptrace(how, pid, 0, pass) != 0 || !st_next_stop(pid, &stop))
			return -1;
		const int signo = stop & 0xff;
		if (signo == SIGTRAP || signo == (SIGTRAP | 0x80))
			return stop;
		pass = stop >> 8 ? 0 : signo;
	}
}

static bool
put_stop(const struct st_probing *p, struct stop *s)
{
	const uint8_t breakpoint = BREAKPOINT;
	return !s->at || (st_probing_read(p, s->at, &s->was, 1) &&
	                  st_probing_write(p, s->at, &breakpoint, 1));
}

static bool
take_stop(const struct st_probing *p, const struct stop *s)
{
	return !s->at || st_probing_write(p, s->at, &s->was, 1);
}

static uint64_t
auxiliary(pid_t pid, uint64_t wanted)
{
	char path[64];
	uint64_t pair[2] = {0, 0};
	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	FILE *f = fopen(path, "re");
	while (f && fread(pair, sizeof pair, 1, f) == 1 && pair[0] != wanted)
		pair[0] = pair[1] = 0;
	if (f)
		fclose(f);
	return pair[0] == wanted ? pair[1] : 0;
}

/* Has the thread a pointer to itself where the pointer leads, as C libraries have it? */
static bool
has_thread_pointer(const struct st_probing *p, uint64_t fs)
{
	uint64_t self = 0;
	return fs && st_probing_read(p, fs, &self, sizeof self) && self == fs;
}

/* The function of the dynamic linker that it calls for debuggers. */
static void
find_linker(struct st_probing *p, uint64_t base)
{
	char path[64], line[4352];
	snprintf(path, sizeof path, "/proc/%d/maps", p->pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		char *name = strchr(line, '/');
		if (strtoull(line, NULL, 16) != base || !name)
			continue;
		name[strcspn(name, "\n")] = '\0';
		const uint64_t at = p->find(p->arg, name, "_dl_debug_state");
		p->linker_stop = at ? base + at : 0;
		break;
	}
	if (f)
		fclose(f);
}

/* Without a dynamic linker: the program sets the thread pointer by a system call. */
static st_status
run_to_thread_pointer(struct st_probing *p, struct st_error *e)
{
	struct user_regs_struct regs;
	for (unsigned calls = 0; calls < 10000; calls++) {
		if (next_stop_of(p->pid, PTRACE_SYSCALL) < 0)
			return ended(e);
		if (ptrace(PTRACE_GETREGS, p->pid, 0, &regs) != 0)
			return ended(e);
		if (has_thread_pointer(p, regs.fs_base))
			return ST_OK;
	}
	return st_fail(e, ST_EXIT_FAILED,
	               "the program has no thread pointer that probes could tell its threads by, "
	               "as programs in Go have "
	               "none: use --engine jit");
}

/* Over the instruction where a breakpoint is. */
static bool
step_over(const struct st_probing *p, const struct stop *s, struct user_regs_struct *regs)
{
	regs->rip = s->at;
	return take_stop(p, s) && ptrace(PTRACE_SETREGS, p->pid, 0, regs) == 0;
}

/* The first call is before libraries are mapped, the second behind. */
static st_status
run_to_libraries(struct st_probing *p, uint64_t first, struct st_error *e)
{
	struct user_regs_struct regs;
	struct stop stops[2] = {{p->linker_stop, 0}, {first, 0}};
	unsigned seen = 0;
	if (!put_stop(p, &stops[0]) || !put_stop(p, &stops[1]))
		return st_fail(e, ST_EXIT_FAILED, "cannot write to the program's memory: %s",
		               strerror(errno));
	for (;;) {
		if (next_stop_of(p->pid, PTRACE_CONT) < 0 ||
		    ptrace(PTRACE_GETREGS, p->pid, 0, &regs) != 0)
			return ended(e);
		const struct stop *s = regs.rip - 1 == stops[0].at ? &stops[0]
		                       : regs.rip - 1 == first     ? &stops[1]
		                                                   : NULL;
		if (!s)
			continue;
		if (!step_over(p, s, &regs))
			return ended(e);
		seen++;
		if (s == &stops[1] || (seen >= 2 && has_thread_pointer(p, regs.fs_base)))
			break;
		if (next_stop_of(p->pid, PTRACE_SINGLESTEP) < 0 || !put_stop(p, &stops[0]))
			return ended(e);
	}
	if (!take_stop(p, &stops[0]) || !take_stop(p, &stops[1]))
		return ended(e);
	return has_thread_pointer(p, regs.fs_base) ? ST_OK : run_to_thread_pointer(p, e);
}

uint64_t
st_probing_linker_stop(struct st_probing *p)
{
	const uint64_t base = auxiliary(p->pid, AT_BASE);
	p->linker_stop = 0;
	if (base)
		find_linker(p, base);
	return p->linker_stop;
}

st_status
st_probing_run_to_start(struct st_probing *p, struct st_error *e)
{
	const uint64_t base = auxiliary(p->pid, AT_BASE), first = auxiliary(p->pid, AT_ENTRY);
	ptrace(PTRACE_SETOPTIONS, p->pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	if (!base)
		return run_to_thread_pointer(p, e);
	find_linker(p, base);
	return run_to_libraries(p, first, e);
}
