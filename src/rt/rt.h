/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runtime's one context and its threads.
 *
 * Everything the runtime knows hangs off `rt`; everything that belongs to one thread hangs off its
 * `struct thread`, which the GS base points to. Translated code reaches the first fields of the
 * thread by fixed offsets; what follows them are structures, each of which belongs to one folder
 * and is declared in its header thread_FOLDER.h.
 */
#ifndef STROBE_RT_RT_H
#define STROBE_RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

#include "base/seeded.h"
#include "rt/arch/x86_64/emit.h"
#include "rt/budget/thread_budget.h"
#include "rt/contexts/thread_contexts.h"
#include "rt/jit/thread_jit.h"
#include "rt/lib/sys.h"
#include "rt/native/thread_native.h"
#include "rt/os/thread_os.h"
#include "rt/tool/thread_tools.h"
#include "wire/area.h"
#include "wire/control.h"
#include "wire/plan.h"
#include "wire/results/header.h"

struct regs {
	uint64_t r[16];
	uint64_t rflags;
	uint64_t pc; /* program address */
};

/* Where a thread is. Written by the thread itself only. */
enum thread_state {
	THREAD_RUNTIME = 0,    /* in the runtime */
	THREAD_CACHE = 1,      /* entering or in translated code */
	THREAD_SYSCALL = 2,    /* in a system call of the program that may block */
	THREAD_PROBE = 3,      /* jumped natively to memory that should fault */
	THREAD_NATIVE = 4,     /* handed back to native execution for good */
	THREAD_NATIVE_RUN = 5, /* in the program's own code, for a while: native/native_run.h */
};

struct thread {
	/* Fields that translated code and stubs.S address; offsets are checked in thread.c. */
	uint64_t slot_rcx;   /* 0: the program's rcx while an indirect branch is under way */
	uint64_t slot_rdx;   /* 8 */
	uint64_t slot_spill; /* 16: a register spilled within one instruction */
	uint64_t exit_id; /* 24: exit through which the cache was left; where to go on natively */
	uint64_t rt_sp;   /* 32: top of the runtime's stack */
	struct thread *self; /* 40 */
	uint64_t next;       /* 48: address to enter the cache at */
	uint32_t pending;    /* 56: bits: a signal waits in `queued`; stop; leave */
	uint32_t state;      /* 60: enum thread_state */
	struct regs regs;    /* 64: the program's registers while in the runtime */
	uint64_t guard;      /* 208: the runtime's stack when a tool's function was called; 0: none
	                        is under way */
	uint64_t leave_mask; /* 216: when parked: signals that the program blocks */
	uint32_t parked;     /* 224: see os/leave.c */
	uint32_t tid;        /* 228 */
	uint64_t restart; /* 232: system call under way when it was attached, if it is still to go
	                     on by restart_syscall: until then no signal must come */
	uint64_t miss;    /* 240: rt_stub_miss, for empty entries of the lookup tables */
	struct thread_action action; /* 248 */
	uint64_t number;             /* of the thread in the run: its record */
	uint64_t slot_site; /* the indirect branch under way, if its targets are counted; else 0 */
	uint64_t
	        returns_at; /* minus the stack pointer of the innermost of tools.returns; 0: none */
	struct thread_contexts contexts;
	struct thread_budget budget;

	uint32_t record;   /* index of its st_thread */
	uint32_t slot;     /* of its counters */
	bool own_process;  /* shares memory but is another process (vfork, clone without
	                      CLONE_THREAD) */
	bool in_vfork;     /* a vfork's child runs on it */
	bool ended;        /* it has left; its structure may be used again once the kernel has
	                      forgotten its tid */
	uint64_t first_sp; /* the program's stack pointer when it began; 0: not known */
	struct thread *next_thread;
	struct resume resume;
	struct thread_native native;
	struct thread_signals signals;
	struct sigtab own_sigtab; /* of the threads of a process that shares the memory only */
	struct thread_call call;
	struct thread_kernel kernel;
	struct thread_stacks stacks;
	struct thread_sampling sampling;
	struct thread_waiting waiting;
	struct thread_tools tools;
};

/* The thread's counts of an id: a part of the results. */
static inline uint64_t *
thread_counter(struct thread *t, uint32_t id)
{
	return (uint64_t *)((char *)t + ST_THREAD_PRIVATE) + id;
}

/* Locks later mappings as well; without it, pages are locked when they are used, not all at once.
 */
enum lock_future { LOCK_NOT = 0, LOCK_WHOLE, LOCK_ON_FAULT };

struct rt {
	struct st_boot *boot;
	struct st_results_header *results;
	struct emit_target
	        target;       /* the area of wire/area.h, to which cache offsets are relative */
	uint64_t alias;       /* add to a cache offset to write there */
	uint64_t lookup;      /* the lookup tables */
	uint32_t stress;      /* of the plan; and so: the results are not in every child */
	bool follow;          /* of the plan, as the next two: children are followed */
	bool follow_exec;     /* what the process itself executes is followed */
	bool serves;          /* copies of the process have all of the engine */
	bool served;          /* this is such a copy, which executes the program */
	uint64_t serve_entry; /* where the fork server begins; FORKSERVER_NOWHERE: nowhere */
	uint32_t pid;
	struct thread *threads; /* all, under thread_lock */
	struct thread *main;
	uint32_t thread_lock, lock;    /* lock: translation, links, maps */
	bool on;                       /* tools are at work */
	bool times_engine;             /* a tool asks for strobe_engine_ticks */
	enum lock_future locks_future; /* the program has called mlockall(MCL_FUTURE) */
	bool writes_memory_file;       /* the program has opened /proc/PID/mem */
	uint64_t signal_files; /* signals of NEVER_BLOCKED that signal descriptors show. Atomic */
	struct sigtab sigtab;
	struct rt_sampling sampling;
	struct rt_waiting waiting;
	struct rt_budget budget;
	struct rt_native native;
	struct rt_code code;
	struct st_boot boot_copy;
};
extern struct rt rt;

static inline struct thread *
rt_self(void)
{
	struct thread *t;
	__asm__ volatile("mov %%gs:40, %0" : "=r"(t));
	return t;
}

/* A lock that spins and then sleeps. Taken only in the runtime, never while a handler runs above
 * its holder. */
void rt_lock(uint32_t *lock);
void rt_unlock(uint32_t *lock);
/* Sleeps for less than a second. What the program has to continue by restart_syscall stays the
 * kernel's. */
void rt_pause(int64_t ns);
/* For tests: under --stress the process ends, with a message, if that does not hold. */
void rt_must(bool holds, const char *what, uint64_t where);
/* The same, if nobody holds the lock. */
void rt_must_hold(const uint32_t *lock);

/* Statistics are exact where rt.lock is held; elsewhere (system calls, signals) threads may lose
 * one now and then. */
static inline void
rt_stat(enum st_stat which, uint64_t n)
{
	rt.results->stats[which] += n;
}

/* Notes that native execution was the way out, with its cause, for the report. */
void rt_note_fallback(uint64_t pc, enum st_fallback_cause cause);

#endif
