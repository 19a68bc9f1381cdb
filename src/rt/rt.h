/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runtime's one context and its threads.
 *
 * Everything the runtime knows hangs off `rt`; everything that belongs to one thread hangs off its
 * `struct thread`, which the GS base points to. Translated code reaches the first fields of the
 * thread by fixed offsets.
 */
#ifndef STROBE_RT_RT_H
#define STROBE_RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

#include "base/seeded.h"
#include "rt/arch/x86_64/emit.h"
#include "rt/budget/audit.h"
#include "rt/lib/sys.h"
#include "tools/forest.h"
#include "wire/area.h"
#include "wire/control.h"
#include "wire/plan.h"
#include "wire/results/header.h"

struct regs {
	uint64_t r[16];
	uint64_t rflags;
	uint64_t pc; /* program address */
};

/* Kernel structures, 64-bit layout. */
struct ksigaction {
	uint64_t handler, flags, restorer, mask;
};
struct kstack {
	uint64_t sp;
	int32_t flags;
	uint64_t size;
};
struct siginfo {
	int32_t signo, error, code, pad;
	uint64_t addr; /* si_addr, or pid and uid */
	uint64_t value;
	uint64_t rest[12];
};

enum { N_SIGNALS = 64 };

/* Signal dispositions as the program set them: shared by the threads of a process. */
struct sigtab {
	struct ksigaction action[N_SIGNALS + 1];
	uint32_t lock;
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

/*
 * The program was stopped within a basic block, at an instruction of which some actions have been
 * done: it goes on there with the rest of them. The block counts as executed, unless (suspended)
 * the program goes elsewhere first: then it is a partial execution, until it comes back.
 */
enum resume_state { RESUME_NONE = 0, RESUME_ARMED, RESUME_SUSPENDED };
struct resume {
	uint64_t pc;     /* where the program is */
	uint32_t id;     /* the basic block in the results */
	uint16_t insns;  /* of it that have been executed */
	uint8_t actions; /* done at the instruction at pc; or behind the one before it */
	uint8_t back; /* bytes back to the instruction whose later actions are under way; 0: none */
	uint32_t state; /* enum resume_state */
};

/* Parts of a thread's credit: the runtime's own, and those that blocks are charged to. */
enum { ST_CREDITS = 8 };

struct thread {
	/* Fields that translated code and stubs.S address; offsets are checked in thread.c. */
	uint64_t slot_rcx;   /* 0: the program's rcx while an indirect branch is under way */
	uint64_t slot_rdx;   /* 8 */
	uint64_t slot_spill; /* 16: a register borrowed within one instruction */
	uint64_t exit_id;    /* 24: exit through which the cache was left; where to go on outside */
	uint64_t rt_sp;      /* 32: top of the runtime's stack */
	struct thread *self; /* 40 */
	uint64_t next;       /* 48: address to enter the cache at */
	uint32_t pending;    /* 56: bits: a signal waits in `queued`; stop; leave */
	uint32_t state;      /* 60: enum thread_state */
	struct regs regs;    /* 64: the program's registers while in the runtime */
	uint64_t guard;      /* 208: the runtime's stack when a tool's function was called; 0: none
	                        is under way */
	uint64_t leave_mask; /* 216: when parked: signals that the program blocks */
	uint32_t parked;     /* 224: see native/leave.c */
	uint32_t tid;        /* 228 */
	uint64_t restart; /* 232: system call under way when it was attached, if it is still to go
	                     on by restart_syscall: until then no signal must come */
	uint64_t miss;    /* 240: rt_stub_miss, for empty entries of the lookup tables */
	/* What the code of actions keeps for its length: registers by number, flags as lahf and
	   seto give them, a time stamp, values for a function. */
	uint64_t tool_save[16], tool_flags, tool_ticks[2], tool_values[5];
	uint64_t number;     /* of the thread in the run: its record */
	uint64_t slot_site;  /* the indirect branch under way, if its targets are counted; else 0 */
	uint64_t returns_at; /* minus the stack pointer of the innermost of `returns`; 0: none */

	uint32_t record;  /* index of its st_thread */
	uint32_t slot;    /* counter slot */
	bool own_process; /* shares memory but is another process (vfork, clone without
	                     CLONE_THREAD) */
	bool in_vfork;    /* it is lent to a vfork's child */
	bool sys_plain;   /* the system call under way may sleep: signals may be delivered while it
	                     does, and at its end */
	bool sys_watched; /* not at its end: there is work to do before, or a tool wants to see it
	                   */
	/* The budget, see budget/budget.h. In sixteenths of a tick: what is left, in parts, so that
	   a block's charge seldom waits for that of the block before; and what there was when it
	   was last settled; of the amount of the period, what has not been taken back. In ns of CPU
	   time without what was charged: when the period began, up to when a thread without a
	   period's budget has got its share, how much has been told to those who share a budget,
	   and the latest; of CPU time: what the clock said when it was last read; and TSC then. */
	_Alignas(64) int64_t credits[ST_CREDITS];
	int64_t granted, period_amount;
	uint64_t period_from, accrued_to, net_reported, net_seen, cpu_seen, tsc_seen;
	uint64_t works_since; /* TSC: the runtime, for the thread, which pays for it; 0: not */
	uint64_t cpu_reported, measured_from; /* up to when it has been added up; 0: not measured */
	uint64_t gap_from;       /* TSC: since when it has not been measured; 0: the tools know */
	uint32_t windows, ticks; /* that have begun; of its CPU time */
	uint32_t period;         /* number of the period, from 0 on */
	/* Of a budget that is shared: the period in which it last took of it, and how much. */
	uint32_t pool_number;
	int64_t taken;
	/* The stretch of measuring that is to be compared with the clock, budget/audit.h: since
	   when, 0: none; in units of the account: what was charged before it began, what of it by
	   the clock, what the kernel took; TSC, and CPU time if it is to be known, when a system
	   call began; and for how many more calls it is, because the thread sleeps in some. */
	uint64_t audit_from;
	int64_t account, account_before, timed, away;
	int64_t elsewhere; /* of what was charged: what the controller has done */
	uint64_t away_from, away_cpu;
	uint32_t sleeps;
	/* System calls, ever and when the stretch began, also one outside; CPU time when that did,
	   0: there is none. */
	uint64_t made, made_before, native_from;
	int64_t over_from; /* the credit that is no overshoot yet */
	/* Of the window that is over: by how much it exceeded what there was, ns, and what of that
	   is a debt of others; whether it has been told. */
	uint64_t over_ns, over_given;
	bool over_reported;
	struct st_overshoot_row *over_row; /* of the results; NULL: there was no room */
	uint64_t woken;  /* by the clock, ns: when it was last looked for another period */
	bool window_due; /* granted, and not yet told: it begins when the tools see the thread */
	bool accrues, spent;
	bool back; /* granted while it executes plain code, which looks for that (ST_BUDGET_TRACE)
	            */
	/* Outside: the kernel tells of its system calls; it has made too many since the last tick;
	   one has been told and is to be made; the one under way was made there; how many. */
	bool watched, busy_calling, calling, from_native;
	uint32_t calls;
	bool telling_gap; /* its tools hear of one: rt.lock is held */
	/* budget/breakpoint_sampling.h: it goes outside where all has been measured; blocks that it
	   has found since the last tick, and in the last stretch of measuring from tick to tick. */
	bool watching;
	uint32_t found, rate;
	/* While it makes a call in which it may sleep: what it has given back of a shared budget;
	   the parts that it lay in. */
	int64_t released, parts_before[ST_CREDITS];
	bool left_out; /* the tools are not to see it: --threads */
	bool ended;    /* it has left; its structure may be used again once the kernel has forgotten
	                  its tid */
	struct sigtab *sigtab, own_sigtab;
	uint64_t blocked; /* signals the program believes blocked but which stay open: a subset of
	                     NEVER_BLOCKED */
	struct kstack altstack; /* the program's alternate stack */
	/* os/held.h: signals of NEVER_BLOCKED that it waits for, under the lock of held signals. */
	uint64_t waits;
	/* In a system call with a mask of its own: what that blocks of NEVER_BLOCKED. */
	uint64_t call_blocked;
	bool sys_masked;
	bool queued_in_masked; /* `queued` has interrupted such a call */
	bool queued_forced;    /* `queued` is neither blocked nor ignored */
	bool shown;            /* it goes on natively, because the process is about to die */
	/* It executes one instruction of the program where it stands: native/world.c. SIGTRAP was
	 * blocked before that. */
	bool stepping, step_blocked;
	bool due; /* `queued` is to be delivered by the next signal, of whatever kind */
	/* SIGSEGV and SIGBUS that were sent while there was one in `queued`; signo 0: none. */
	struct siginfo late[2];
	uint64_t stepped;           /* where the last single-step trap was shown, or 0 */
	struct siginfo queued;      /* signal that arrived while in the runtime */
	uint64_t queued_mask;       /* signal mask to go back to when it is delivered */
	uint64_t sp_base, sig_base; /* the runtime's stack and signal stack, for freeing */
	int timer;                  /* sampling timer, or -1 */
	uint64_t stack_end; /* where the program's stack was seen to end at a sample; 0: unknown */
	struct filter *filters; /* seccomp, the newest first */
	uint64_t clear_tid;     /* where the kernel clears its id when it ends; 0: nowhere */
	uint64_t first_sp;      /* the program's stack pointer when it began; 0: not known */
	struct resume resume;
	uint64_t buffers[ST_MAX_STREAMS];  /* of rows; 0: none yet */
	uint64_t consumed[ST_MAX_STREAMS]; /* up to there; 0: nothing of the buffer */
	uint64_t written[ST_MAX_STREAMS];  /* the end of what strobe_write wrote last; 0: unknown */
	/* The execve under way, of which the tools are told when everything else has been done;
	   exec_told: they have been. */
	strobe_syscall exec_call;
	bool in_exec, exec_told;
	void *tool_state[ST_MAX_TOOLS];
	void *tool_state_before[ST_MAX_TOOLS]; /* of a fork's child: its parent's, at the fork */
	struct forest *forest;                 /* of contexts: contexts/forest.c; NULL: none yet */
	strobe_walk walk;
	struct returns *returns; /* functions that were entered, whose return a tool waits for */
	uint32_t in_tool;    /* index + 1 of the tool whose function runs on this thread; 0: none */
	uint64_t tool_since; /* ns of CPU time: when a sample first found it there; 0: none has */
	struct rseq_area {
		uint64_t at; /* 0: none */
		uint32_t bytes, signature;
	} rseq;         /* of an attached process: what it has registered, and will have again */
	bool told;      /* to leave */
	uint8_t rounds; /* since */
	struct thread *next_thread;
};

/* What the thread has counted of an id: a part of the results. */
static inline uint64_t *
thread_counter(struct thread *t, uint32_t id)
{
	return (uint64_t *)((char *)t + ST_THREAD_PRIVATE) + id;
}

/* What is mapped later is locked: not, as a whole, when it is used. */
enum lock_future { LOCK_NOT = 0, LOCK_WHOLE, LOCK_ON_FAULT };

struct rt {
	struct st_boot *boot;
	struct st_results_header *results;
	struct st_budget_pool *pool; /* of a budget that is shared: budget/share.h */
	struct emit_target
	        target;  /* the area of wire/area.h, to which cache offsets are relative */
	uint64_t alias;  /* add to a cache offset to write there */
	uint64_t lookup; /* the lookup tables */
	uint32_t stress; /* of the plan; and so: the results are not in every child */
	bool follow;
	uint32_t pid;
	struct thread *threads; /* all, under thread_lock */
	struct thread *main;
	uint32_t thread_lock, lock; /* lock: translation, links, maps */
	struct sigtab sigtab;
	uint32_t sample_hz;
	bool on;                       /* tools are at work */
	bool unique;                   /* they want to see each block executed once */
	uint32_t unique_last;          /* and again when so many others have been seen; 0: never */
	enum lock_future locks_future; /* the program has called mlockall(MCL_FUTURE) */
	bool writes_memory_file;       /* the program has opened /proc/PID/mem */
	uint32_t sample_every;         /* ticks */
	bool has_budget;               /* budget/budget.h; the results are not in every child */
	bool has_breakpoints; /* threads that run natively may come upon traps: native/breakpoints.h
	                       */
	bool no_native_run;   /* the kernel cannot tell of system calls */
	uint64_t signal_files;   /* signals of NEVER_BLOCKED that signal descriptors show. Atomic */
	struct audit_rate audit; /* rt.lock */
	struct audit_work work;  /* atomic */
	struct syspatches *syspatches;   /* native/syspatch.c; NULL: there are none */
	bool no_syspatches;              /* the process is to have its own code. rt.lock */
	struct breakpoints *breakpoints; /* native/breakpoints.c; NULL: there are none */
	bool no_breakpoints;             /* nor may be any. rt.lock */
	uint32_t found; /* blocks that were measured for the first time since the leaders were asked
	                   for, by threads that did not watch. rt.lock */
	/* budget/breakpoint_sampling.h: how many bits files had at the last tick of a thread, and
	   when the leaders were asked for; ticks since, and before they are asked for again because
	   of new files. */
	uint64_t bits_at_tick, bits_asked;
	uint32_t ticks_asked, ticks_wait;
	bool leaving; /* the controller is gone: every thread is on its way out */
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
/* For tests: under --stress the process ends when nobody holds the lock. */
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
