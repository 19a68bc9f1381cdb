/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What controller and runtime say to each other while the program runs: handshakes in shared memory
 * (struct st_control), messages over the socket (struct st_message), and what both know of threads
 * for attaching and detaching. The comment of each field names who writes it and who reads it.
 */
#ifndef STROBE_WIRE_CONTROL_H
#define STROBE_WIRE_CONTROL_H

#include <stdint.h>

/*
 * Detaching. A thread that leaves the engine is parked: it has given back what is the engine's, and
 * waits with every signal blocked. When all are parked, one of them is sent to `finish`, then to
 * `forget`. The runtime writes the addresses before any thread can be sent there.
 */
struct st_detach {
	uint64_t park;     /* runtime -> agent: where a thread is sent to that sleeps in a system
	                      call */
	uint64_t finish;   /* runtime -> agent: where one thread is sent to when all are parked */
	uint64_t forget;   /* runtime -> agent: where it is sent to when the others are out of the
	                      engine */
	uint64_t sys_insn; /* runtime -> agent: the instruction that makes the program's system
	                      calls */
	uint64_t memory;   /* runtime -> agent: struct st_memory_list, in the process */
	uint32_t finished; /* runtime -> agent: ST_FINISHED_*, how far that thread has come */
	uint32_t leaves;   /* runtime -> agent: it hands the process back by itself */
};

/* The process has back what belongs to it, so that every thread may go on natively; and what the
 * runtime has mapped by itself is unmapped, except where another process runs in this memory. */
enum { ST_FINISHED_PROCESS = 1, ST_FINISHED_MEMORY, ST_FINISHED_SHARED };

/*
 * The fork server (plan.serves): at the program's entry point, when the dynamic linker has done its
 * work, the process stops and makes a copy of itself for each execution that is asked for. All
 * executions write to the one results file, one after the other; each begins with the state that
 * the results had at the entry point. rt/os/forkserver.h, control/served.h.
 */
enum { ST_SERVE_NOT = 1, ST_SERVE_READY = 2, ST_SERVE_MISSES = 1024 };
struct st_serve {
	uint32_t state; /* runtime -> controller, a futex: ST_SERVE_*, 0: not at the entry point
	                   yet. NOT: the program runs on by itself, as without a fork server */
	uint32_t asked; /* controller -> runtime, a futex: number of executions asked for so far */
	uint32_t ended; /* runtime -> controller, a futex: number of executions that have ended */
	uint32_t child; /* runtime -> controller: pid and process group of the execution under way,
	                   0: none */
	int32_t status; /* runtime -> controller: of wait, of the last one that ended; -1: it could
	                   not be begun */
	uint32_t n_directions; /* execution -> server: branches that the last execution was the
	                          first to execute: which of their edges is counted is known now */
	uint32_t n_misses;     /* execution -> server: lookups that missed ... */
	/* ... and their targets, and branches whose targets are counted, of the last execution */
	uint64_t misses[ST_SERVE_MISSES];
	uint32_t miss_sites[ST_SERVE_MISSES];
};

struct st_control {
	/* A thread is about to call execve and has sent ST_MESSAGE_EXEC. */
	uint32_t exec_ack; /* controller -> runtime, a futex: the ticket of the message that has
	                      been answered; the runtime sets it to 0 before it asks */
	uint32_t deserted; /* agent -> runtime: strobe is gone, nobody answers or takes rows */

	/* Functions (struct st_entry): the runtime sends ST_MESSAGE_IMAGE after each new executable
	 * mapping, and waits until images_done is maps.n. */
	uint32_t images_done;   /* controller -> runtime, a futex: mappings that it has looked at */
	uint32_t n_entries;     /* controller -> runtime: of the section `entries` */
	uint32_t n_entry_names; /* controller only: bytes used of the section `entry_names` */

	/* Where basic blocks may begin (section `leaders`): the runtime sends ST_MESSAGE_LEADERS,
	 * and does not wait. */
	uint32_t leaders_asked; /* runtime -> controller: how often it has asked */
	uint32_t leaders_done;  /* controller -> runtime: how many of them have been answered */

	/* With --unique. */
	uint32_t log_has_code;  /* controller -> runtime, not 0: the log had code of a file that is
	                           mapped */
	uint64_t coverage_bits; /* controller -> runtime: bits of the section `coverage` that stand
	                           for files of this process */

	/* The region of interest. */
	uint32_t region_on;    /* runtime -> controller: 1 while tools are at work */
	uint32_t regions;      /* runtime -> controller: how often they have begun */
	uint32_t region_asked; /* controller -> runtime: 1: begin, 2: end; the runtime sets it to 0
	                          when it has obeyed */

	/* The time budget. */
	uint64_t budget_amount;   /* controller -> runtime: for each period, from now on */
	uint64_t drained_ns;      /* controller -> runtime: its CPU time for rows */
	uint64_t drained_charged; /* runtime only: of that, what has been charged */
	uint64_t debt_ns;         /* both add and subtract, atomically: for what was done once; each
	                             period is charged a part of it, native/breakpoint_sampling.h */
	uint64_t controller_ns;   /* controller only: of its CPU time, what was added to debt_ns */

	struct st_detach detach;
	struct st_serve serve;
};

/* Of what was charged, the part that was the controller's CPU time, not the process': ns. */
static inline uint64_t
st_budget_elsewhere(const struct st_control *c)
{
	uint64_t debt = __atomic_load_n(&c->debt_ns, __ATOMIC_RELAXED);
	uint64_t paid = c->controller_ns > debt ? c->controller_ns - debt : 0;
	return paid + c->drained_charged;
}

/* What a followed or attached process tells the controller, one packet each, over the socket it was
 * given at injection (st_boot.channel). */
enum st_message_kind {
	ST_MESSAGE_FORKED = 1, /* a new process; its results file comes along as a descriptor */
	ST_MESSAGE_EXEC, /* thread tid is about to call execve: trace it, then set exec_ack in its
	                    results */
	ST_MESSAGE_EXEC_FAILED,
	ST_MESSAGE_IMAGE,   /* there are executable mappings that the controller has not seen:
	                       images_done */
	ST_MESSAGE_LEADERS, /* leaders_asked has grown */
};

struct st_message {
	uint32_t kind;
	uint32_t pid, ppid, tid;
	uint32_t results_pid; /* process whose results hold the exec_ack to set: the parent's for a
	                         vfork's child */
	uint32_t ticket;      /* value to set exec_ack to */
};

/* The runtime's signal, and its values that the controller queues: region_asked has been set; a
 * thread is to come out and wait. */
#define ST_SIGNAL_OWN 64
#define ST_OWN_REGION 0x737400007265676eull
#define ST_LEAVE 0x737400006c656176ull

/* A thread of an attached process, stopped somewhere: what the controller has found, for the
 * runtime to go on with. An array of them lies in the process (st_boot.threads). */
struct st_attached {
	uint64_t thread; /* runtime -> rt_attach_entry: its struct thread */
	uint32_t ready;  /* runtime, a futex: that is there */
	uint32_t tid;    /* controller -> runtime, as all that follow */
	uint64_t regs[16];
	uint64_t rflags, pc;
	uint64_t mask; /* signals that it blocks; every one is blocked until the runtime has it */
	uint64_t rseq; /* address of its registration, 0: none */
	uint32_t rseq_bytes, rseq_signature;
	uint64_t restart; /* the system call that it was in when regs say restart_syscall */
	/* Of the first one: all threads are sent into the runtime. 0: the controller was killed
	   before, and who came in goes back. */
	uint64_t all_sent;
};

/* The beginning of the runtime's struct thread, where the GS base of a thread points to: runtime ->
 * agent, which writes only regs, rflags and pc of a thread that it sends somewhere. */
struct st_thread_head {
	uint64_t slots[3], exit_id, stack, self, next;
	uint32_t pending, state; /* state: ST_HEAD_* */
	uint64_t regs[16];       /* the program's registers */
	uint64_t rflags, pc;
	uint64_t guard;   /* runtime only */
	uint64_t mask;    /* once parked: signals that the program blocks */
	uint32_t parked;  /* ST_PARKED: it waits for the controller, and nothing of it is the
	                     engine's except its registers and its signal mask */
	uint32_t tid;     /* whose it is: a new thread begins with its parent's GS base */
	uint64_t restart; /* not 0: it is about to go on with a system call that a signal would
	                     spoil */
	uint64_t miss;    /* where an empty entry of the lookup tables leads in the end */
};
enum { ST_HEAD_SYSCALL = 2, ST_HEAD_NATIVE = 4, ST_PARKING = 1, ST_PARKED = 2 };

/* What the runtime has mapped by itself and not given back: runtime -> agent. When it has left by
 * itself that is what its threads stood on at their last steps. */
enum { ST_MOST_MEMORY = 16384 };
struct st_memory_list {
	uint64_t n; /* perhaps more than there is space for */
	struct st_memory {
		uint64_t at, bytes; /* at 0: nothing to give back */
		uint64_t kept;      /* not to be given back by the runtime */
	} v[ST_MOST_MEMORY];
};

#endif
