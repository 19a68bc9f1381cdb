/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the budget keeps of a thread and of the process: data that rt.h embeds. What a member means
 * for who changes it is said in the header of the file named beside its structure.
 *
 * Amounts of the account are in units of ST_BUDGET_UNITS to a tick.
 */
#ifndef STROBE_RT_BUDGET_THREAD_BUDGET_H
#define STROBE_RT_BUDGET_THREAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/budget/audit.h"
#include "wire/results/budget.h"

/* Parts of a thread's credit: the runtime's own, and those that blocks are charged to. */
enum { ST_CREDITS = 8 };

/* share.h: of a budget that several threads share. */
struct thread_share {
	uint32_t period; /* the number of that in which the thread last took of the pool */
	int64_t taken;   /* and how much it has taken in it */
	/* While it makes a call in which it may sleep: what it has released, and the parts of the
	   credit that this lay in. */
	int64_t released, parts_before[ST_CREDITS];
};

/* audit.h: the stretch of measuring that is to be compared with the clock. */
struct thread_audit {
	uint64_t from;          /* ns of CPU time; 0: there is none */
	int64_t account_before; /* the thread's account when it began */
	int64_t timed;          /* what has been charged by the clock since */
	int64_t away;           /* what the kernel has taken for the program's calls since */
	uint64_t away_from;     /* TSC at which a system call began; 0: none is under way */
	uint64_t away_cpu;      /* CPU time then, if it was asked for; else 0 */
	uint32_t sleeps; /* for how many more calls it is asked for, as the thread sleeps in some */
	uint64_t calls;  /* system calls, ever */
	uint64_t calls_before; /* and when the stretch began */
	uint64_t native_from;  /* CPU time at which a stretch of native execution began; 0: none */
};

/* By how much a window has exceeded its credit. */
struct thread_overshoot {
	int64_t from;                 /* the credit that is no overshoot yet */
	uint64_t ns;                  /* what was reported of the window that is over */
	uint64_t given;               /* ns that have become a debt of the pool */
	bool reported;                /* the window's overshoot is in the results */
	struct st_overshoot_row *row; /* of the results; NULL: there was no space */
};

/* native/breakpoint_sampling.h */
struct thread_breakpoints {
	bool on;        /* it runs natively where everything has been measured */
	uint32_t found; /* blocks found since the last tick */
	uint32_t rate;  /* and in the last stretch of measuring from tick to tick */
};

/* The thread's CPU clock when it was last read. */
struct thread_clock {
	uint64_t cpu; /* ns */
	uint64_t tsc; /* then */
};

/* suppress.h */
struct thread_suppressed {
	uint64_t sp;    /* of the function, when it was entered; 0: none is suppressed */
	uint64_t above; /* the same, or UINT64_MAX: who returns with more has returned from it */
	uint64_t from;  /* TSC then */
	uint64_t charged_to; /* ns of CPU time */
	uint32_t node;       /* its context */
	uint32_t ticks;      /* since */
	bool on;             /* sp is not 0 */
	bool began_gap;      /* the one that is under way, or is reported */
};

struct thread_budget {
	/* What is left, in parts, so that a block's charge seldom waits for that of the block
	   before. Translated code subtracts from them. */
	_Alignas(64) int64_t credits[ST_CREDITS];
	int64_t granted;       /* what was left when the account was last settled */
	int64_t period_amount; /* of the period's amount, what has not been taken back */
	int64_t account;       /* what has been charged, ever */
	int64_t elsewhere;     /* and of that, for what the controller has done */
	/* By the clock of periods, ns: when the period began, and up to when a thread without a
	   period's budget has got its share. */
	uint64_t period_from, accrued_to;
	/* ns of CPU time without what was charged: how much has been reported to the others that
	   share the budget, and the latest. */
	uint64_t net_reported, net_seen;
	struct thread_clock clock;
	uint64_t cpu_reported;  /* ns of CPU time that are in the results */
	uint64_t measured_from; /* the same of time that was measured; 0: it is not measured */
	bool works;             /* between budget_work_begin and budget_work_end */
	uint64_t works_since;   /* TSC: and the thread pays for it; 0: it does not */
	bool call_sleeps;       /* in the system call under way it may sleep */
	uint64_t gap_from;      /* TSC: since when it has not been measured; 0: the tools know */
	uint64_t woken;   /* by the clock, ns: when a thread that slept last looked for a period */
	uint32_t period;  /* number of the period, from 0 on */
	uint32_t windows; /* that have begun */
	bool window_due;  /* granted and not reported: it begins when the tools see the thread */
	bool accrues;     /* its first period: the amount grows with its CPU time */
	bool spent;       /* nothing is left: the thread is not measured */
	bool regained; /* granted while it executes plain code, which tests it (ST_BUDGET_TRACE) */
	bool reports_gap; /* its tools are called for one: rt.lock is held */
	bool left_out;    /* the tools are not to see it: --threads */
	struct thread_share share;
	struct thread_audit audit;
	struct thread_overshoot overshoot;
	struct thread_breakpoints breakpoints;
	struct thread_suppressed suppressed;
};

/* native/breakpoint_sampling.h: when the controller is asked for the leaders that nobody has
 * measured. */
struct rt_budget_breakpoints {
	/* Blocks measured for the first time since they were asked for, by threads that did not run
	   natively. rt.lock */
	uint32_t found;
	/* How many bits files had at the last tick of a thread, and when leaders were asked for. */
	uint64_t bits_at_tick, bits_asked;
	/* Ticks since, and before they are asked for again because of new files. */
	uint32_t ticks_asked, ticks_wait;
};

struct rt_budget {
	bool exists;                 /* the results are not in every child */
	bool suppresses;             /* suppress.h: contexts may be complete */
	bool unique;                 /* tools want to see each block executed once */
	uint32_t unique_last;        /* and again after that many others; 0: never */
	struct st_budget_pool *pool; /* of a budget that is shared: share.h */
	struct audit_rate rate;      /* rt.lock */
	struct audit_work work;      /* atomic */
	struct rt_budget_breakpoints breakpoints;
};

#endif
