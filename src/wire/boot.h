/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the controller hands to the runtime when it injects it: addresses of what it has mapped, the
 * plan, and the program's registers. The controller writes one of these at the start of the
 * runtime's data before it lets it run.
 */
#ifndef STROBE_WIRE_BOOT_H
#define STROBE_WIRE_BOOT_H

#include <stdint.h>

#define ST_BOOT_MAGIC 0x3154424f4f42u

/* Where things lie in the region that holds the code cache, relative to its base. Everything that
 * translated code addresses rip-relative lies within it, so it is smaller than 2 GiB. */
enum {
	ST_REGION_HOT = 0,             /* translated code */
	ST_REGION_WARM = 144 << 20,    /* call thunks and entry pads */
	ST_REGION_COLD = 192 << 20,    /* exits that are not linked yet */
	ST_REGION_RUNTIME = 256 << 20, /* the runtime's image */
	ST_REGION_TOOLS = 264 << 20,   /* loaded tools: the i-th at i * ST_TOOL_ROOM */
	ST_REGION_POOL = 280 << 20,    /* that of a budget that processes share */
	ST_REGION_MAIN = 288 << 20,    /* the first thread's area */
	ST_REGION_SIZE = 384 << 20,
	ST_CACHE_SIZE = ST_REGION_RUNTIME, /* hot and cold: mapped twice */
	ST_TOOL_ROOM = 2 << 20,
	/* A thread's area: its private structure, then its counters, which are a part of the
	   results. */
	ST_THREAD_PRIVATE = 16 << 10,
	ST_LOOKUP_BYTES = 2 << 20,                 /* of all the lookup tables */
	ST_LOOKUP_MAPPED = ST_LOOKUP_BYTES + 4096, /* and what empty entries lead to */
};

/* Where the controller puts what is large and need not be near: the cache again, the results. */
#define ST_TABLES 0x7e9000000000ull
#define ST_TABLES_END 0x7ee000000000ull
/* And what the runtime maps as it goes. */
#define ST_TABLES_LATER 0x7ec000000000ull

struct st_boot {
	uint64_t magic;
	uint64_t region;      /* base of the region */
	uint64_t cache_alias; /* the code cache again, writable */
	uint64_t results;     /* the results, whole file mapped */
	uint64_t lookup;      /* the lookup tables of indirect branches, below 2 GiB: for jumps
	                         and calls, for returns; then the same for plain code */
	uint64_t pool;        /* of a budget that processes share, else 0 */
	uint32_t stress;      /* ST_STRESS_* */
	uint32_t follow;      /* take children along */
	uint32_t channel;   /* descriptor of the socket to the controller, for following; 0: none */
	int32_t results_fd; /* descriptor of the results in the target, closed by the runtime once
	                       it is set up */
	uint32_t controller; /* its pid */
	uint32_t attached;   /* not 0: a process that was running; so many threads of it */
	uint64_t regs[16];   /* general registers in hardware order */
	uint64_t rflags, pc;
	uint64_t own_space; /* bytes of address space that the controller has mapped */
	uint64_t own_data;  /* of it private and writable */
	/* RLIMIT_AS and RLIMIT_DATA as the program has them, soft and hard: lifted until the
	 * runtime sets them again, with room for itself. 0: not limited. */
	uint64_t limits[2][2];
	uint64_t runtime_end; /* end of the runtime's image, for address tests */
	uint64_t threads;     /* of an attached process: its struct st_attached, the first one's is
	                         the thread that enters the runtime at its entry */
	/* Written by the runtime into the copy in the results, for the controller that detaches. */
	uint64_t park;     /* where a thread is sent to that sleeps in a system call */
	uint64_t finish;   /* where one thread is sent to when all are parked */
	uint64_t forget;   /* where it is sent to when the others are out of the engine */
	uint64_t sys_insn; /* the instruction that makes the program's system calls */
	uint64_t memory;   /* struct st_memory_list, in the process */
	uint32_t finished; /* ST_FINISHED_*: how far that thread has come */
	uint32_t leaves;   /* the runtime hands the process back by itself */
};

/* A thread of an attached process, stopped somewhere: what the controller has found, for the
 * runtime to go on with. Lies in the process. */
struct st_attached {
	uint64_t thread; /* its struct thread, from the runtime */
	uint32_t ready;  /* futex: that is there */
	uint32_t tid;
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

/* The beginning of the runtime's struct thread, where the GS base of a thread points to. */
struct st_thread_head {
	uint64_t slots[3], exit_id, stack, self, next;
	uint32_t pending, state; /* state: ST_HEAD_* */
	uint64_t regs[16];       /* the program's registers */
	uint64_t rflags, pc;
	uint64_t guard;   /* the runtime's */
	uint64_t mask;    /* once parked: signals that the program blocks */
	uint32_t parked;  /* ST_PARKED: it waits for the controller, and nothing of it is the
	                     engine's but its registers and its signal mask */
	uint32_t tid;     /* whose it is: a new thread begins with its parent's GS base */
	uint64_t restart; /* not 0: it is about to go on with a system call that a signal would
	                     spoil */
	uint64_t miss;    /* where an empty entry of the lookup tables leads in the end */
};
enum { ST_HEAD_SYSCALL = 2, ST_HEAD_NATIVE = 4, ST_PARKING = 1, ST_PARKED = 2 };

/* The process has back what belongs to it, so that every thread may go on natively; and what the
 * runtime has mapped by itself is unmapped, but where another process runs in this memory. */
enum { ST_FINISHED_PROCESS = 1, ST_FINISHED_MEMORY, ST_FINISHED_SHARED };

/* What the runtime has mapped by itself and not given back. When it has left by itself that is what
 * its threads stood on at their last steps. */
enum { ST_MOST_MEMORY = 16384 };
struct st_memory_list {
	uint64_t n; /* perhaps more than there is place for */
	struct st_memory {
		uint64_t at, bytes; /* at 0: nothing to give back */
		uint64_t kept;      /* not to be given back by the runtime */
	} v[ST_MOST_MEMORY];
};

/* The runtime's signal, and its value when the controller asks a thread to come out and wait. */
#define ST_SIGNAL_OWN 64
#define ST_LEAVE 0x737400006c656176ull

#endif
