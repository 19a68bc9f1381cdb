/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of a thread towards the operating system: signals, the system call under way, objects
 * of the kernel. Data that rt.h embeds.
 */
#ifndef STROBE_RT_OS_THREAD_OS_H
#define STROBE_RT_OS_THREAD_OS_H

#include <stdbool.h>
#include <stdint.h>

#include <strobe/tool.h>

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

enum {
	SIGNAL_ILL = 4,
	SIGNAL_TRAP = 5,
	SIGNAL_ABRT = 6,
	SIGNAL_BUS = 7,
	SIGNAL_FPE = 8,
	SIGNAL_KILL = 9,
	SIGNAL_SEGV = 11,
	SIGNAL_STOP = 19,
	SIGNAL_SYS = 31,
	SIGNAL_OWN =
	        64, /* the runtime's own: sampling, stopping the world. Shared with the program */
};
#define SIGNAL_BIT(n) (1ull << ((n)-1))
enum { N_SIGNALS = 64 };

/* Signal dispositions as the program set them: shared by the threads of a process. */
struct sigtab {
	struct ksigaction action[N_SIGNALS + 1];
	uint32_t lock;
};

struct thread_signals {
	struct sigtab *table;
	struct kstack altstack; /* the program's alternate stack */
	/* Signals that the program believes blocked but which stay open: of NEVER_BLOCKED. */
	uint64_t blocked;
	/* In a system call with a mask of its own: what that blocks of NEVER_BLOCKED. */
	uint64_t call_blocked;
	bool call_masked; /* it is in such a call */
	uint64_t waits;   /* held.h: those of NEVER_BLOCKED that it waits for, under its lock */
	/* The signal that arrived while it was in the runtime. */
	struct siginfo queued;
	uint64_t queued_mask;  /* signal mask to go back to when it is delivered */
	bool queued_in_masked; /* it has interrupted a call with a mask of its own */
	bool queued_forced;    /* it is neither blocked nor ignored */
	bool due;              /* it is to be delivered by the next signal, of whatever kind */
	/* SIGSEGV and SIGBUS that were sent while there was one in `queued`; signo 0: none. */
	struct siginfo late[2];
	uint64_t stepped; /* where the last single-step trap was shown, or 0 */
};

/* The program's system call under way. */
struct thread_call {
	bool may_sleep; /* signals may be delivered while it does, and at its end */
	bool has_end;   /* not at its end: there is work to do before, or a tool wants to see it */
	bool in_exec;   /* it is an execve */
	bool exec_reported; /* whose tools have been told, when everything else had been done */
	strobe_syscall exec;
};

/* Registrations of the thread with the kernel that the program has made. */
struct thread_kernel {
	struct filter *filters; /* seccomp, the newest first */
	uint64_t clear_tid;     /* where the kernel clears its id when it ends; 0: nowhere */
	/* Restartable sequences of an attached process, which will be registered again. */
	struct rseq_area {
		uint64_t at; /* 0: none */
		uint32_t bytes, signature;
	} rseq;
};

/* Where the runtime's stacks of the thread begin. */
struct thread_stacks {
	uint64_t base, signal;
};

struct thread_sampling {
	int timer;          /* of its CPU time, or -1 */
	int event;          /* the descriptor of its perf event, or -1 */
	bool armed;         /* the event has not sent the next tick yet */
	uint32_t ticks;     /* of it */
	long rest[4];       /* of a suspended timer: its interval, and the time to its next tick */
	uint64_t stack_end; /* where the program's stack was seen to end; 0: unknown */
};

/* rt/os/waiting.h */
struct thread_waiting {
	uint64_t begin;    /* ticks, of the system call under way; 0: there is none */
	uint64_t number;   /* of that call */
	uint64_t gathered; /* ticks of short calls since one of them was recorded */
	uint64_t next;     /* a short call is recorded when `gathered` reaches this */
	uint64_t random;
	uint64_t wall, cpu; /* ns: the clocks when they were last read */
	uint64_t switches;  /* voluntary context switches at that time */
	uint64_t away;      /* ns off the CPU until then that are not part of a record yet */
};

struct rt_waiting {
	bool on;
	uint64_t long_ticks;  /* a call of this length or more is recorded with its length */
	uint64_t ticks, wall; /* ns: when this began */
};

enum { ST_SAMPLING_EVENTS = 4096 };
struct rt_sampling {
	uint32_t hz;              /* 0: there are no samples */
	uint32_t every;           /* one in this many ticks */
	uint32_t ticks_of_budget; /* one in this many is for the budget, too */
	/* Perf events. Descriptors by number, from the first one on: those that hold one, and those
	 * that ever did. */
	uint32_t first_fd, n_events;
	uint64_t open[ST_SAMPLING_EVENTS / 64], ever[ST_SAMPLING_EVENTS / 64];
	bool asked;    /* the next field is known */
	bool filtered; /* by a seccomp filter that was in force when the process began */
};

#endif
