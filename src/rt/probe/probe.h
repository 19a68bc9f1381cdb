/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs in a process whose functions have probes: an image of its own, without a code cache.
 * Nothing here takes a lock: a signal may come at any instruction, and its handler may hit probes.
 */
#ifndef STROBE_RT_PROBE_PROBE_H
#define STROBE_RT_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/probe.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Changes no register that it does not give back: what is called on the quick way, and what that
 * may have to call, so that only registers are saved that are needed. */
#define KEEPS_REGISTERS __attribute__((no_caller_saved_registers))
#define SELDOM __attribute__((no_caller_saved_registers, noinline, cold))

/* A frame is above the lowest; its slot is 0 until it is complete, so that a signal handler that
 * comes in between finds it to be no older than its own. Is it to end when the stack pointer was
 * `slot` at another entry: because it lies below, or is left by a jump to another function? */
static inline bool
probe_is_left(const struct st_probe_frame *f, uint64_t slot)
{
	return f->slot - 1 < slot;
}

/* The context lies behind the code, at the beginning of the image's data. */
extern struct st_probe_context probe_context __attribute__((visibility("hidden")));

static inline struct st_probe_area *
probe_area(void)
{
	return (struct st_probe_area *)probe_context.area;
}

static inline uint64_t
probe_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline bool
probe_waits_after(uint32_t kind)
{
	return kind == ST_PROBE_WAIT_AFTER || kind == ST_PROBE_SLEEP_AFTER;
}

/* actions.c: lets time pass as one of the actions says that wait. */
SELDOM void probe_wait(struct st_probe_action action);
/* Makes the function's noise, if it has some, between the time stamp of the entry and its code. */
SELDOM void probe_make_noise(struct st_probe_cell *c);
/* Makes that at the end of a call. end: its time stamp; returns the one after the noise. */
SELDOM uint64_t probe_make_noise_at_end(struct st_probe_cell *c, uint64_t end);
/* For the assembly: keeps what the function was called with, and goes on as probe_enter does. */
KEEPS_REGISTERS void probe_read(uint64_t function, uint64_t *slot, const uint64_t *registers);

/* actions.c: keeps the arguments of a call in a row; NULL: there is no room for it. */
SELDOM struct st_probe_arguments *probe_keep_arguments(struct st_probe_thread *t, uint32_t function,
                                                       const uint64_t *slot,
                                                       const uint64_t *registers);

/* create.c: the entry of a function that creates a thread (ST_PROBE_CREATE), and its return. */
KEEPS_REGISTERS void probe_create_call(uint64_t function, uint64_t *slot,
                                       const uint64_t *registers);
SELDOM void probe_created(const struct st_probe_frame *f);

/* sandbox.c: a system call that may forbid the program others (ST_PROBE_SANDBOX). */
SELDOM void probe_sandbox_call(uint64_t number, const uint64_t *args);
/* waits.c: a call of the function `syscall` (ST_PROBE_SYSCALL). */
KEEPS_REGISTERS void probe_system_call(uint64_t function, uint64_t *slot,
                                       const uint64_t *registers);

/* record.c: the entry of a call that may be kept (ST_PROBE_RECORD), and the end of one that was
 * kept; taken: its net ticks; end: the ticks at its end. */
KEEPS_REGISTERS void probe_record_call(uint64_t function, uint64_t *slot,
                                       const uint64_t *registers);
SELDOM void probe_finish_row(struct st_probe_thread *t, const struct st_probe_frame *f,
                             uint64_t taken, uint64_t end);
/* record.c: a call whose peak of memory may have been measured ends, or is left; the frame was the
 * one at `depth`. The peak of the call around it includes that of this one. */
SELDOM void probe_end_peak(struct st_probe_thread *t, const struct st_probe_frame *f,
                           uint32_t depth);
/* callees.c: a call of a recorded function has begun, or has ended after `taken` net ticks. If a
 * call that is kept has made it, the costs are added to that one's row. slot: where the return
 * address of the new call is. */
SELDOM void probe_begin_callee(struct st_probe_thread *t, const uint64_t *slot);
SELDOM void probe_end_callee(struct st_probe_thread *t, const struct st_probe_frame *f,
                             uint64_t taken);

/* Whether the time of the function's calls is added to a counter slot. */
static inline bool
probe_has_tally(uint32_t kind)
{
	return kind == ST_PROBE_TALLY || kind == ST_PROBE_LOCK || kind == ST_PROBE_SYSCALL;
}
static inline uint32_t
probe_tally(struct st_probe_action action)
{
	return action.amount & ((1u << ST_HELD_METRIC_BITS) - 1);
}

/* locks.c: the entry of a function that takes or releases a lock (ST_PROBE_LOCK), and the return of
 * one that takes it. */
KEEPS_REGISTERS void probe_lock_call(uint64_t function, uint64_t *slot, const uint64_t *registers);
SELDOM void probe_lock_taken(struct st_probe_thread *t, const struct st_probe_frame *f);
/* The net ticks during which the thread has held a lock, until `net`. */
SELDOM uint64_t probe_lock_held(struct st_probe_thread *t, uint64_t net);
/* The calling thread is that of a child of fork, and has a new record. */
void probe_inherit_locks(struct st_probe_thread *t);

/* io.c: bytes that the thread has read and written so far; ST_RECORD_ABSENT: not known. */
SELDOM void probe_read_io(struct st_probe_thread *t, int64_t *read, int64_t *written);

/* clock.c: forgets the clocks of a thread that has had the structure before; in a child of fork,
 * keeps its hidden time; for the assembly: translates the deadline among a call's arguments, which
 * are in an array. */
SELDOM void probe_begin_clocks(struct st_probe_thread *t);
SELDOM void probe_freeze_clocks(void);
KEEPS_REGISTERS void probe_deadline(uint64_t function, uint64_t *registers);
/* In the place of a function of the vDSO, whose code after the probe is `rest`. */
long probe_clock(uint64_t first, uint64_t second, uint64_t which,
                 long (*rest)(uint64_t first, uint64_t second));

/* cpu.c, with `both_clocks`: an activation has begun, which the cell has as active, or is about
 * to end; only the outermost one counts. */
SELDOM void probe_begin_cpu(struct st_probe_cell *c);
SELDOM void probe_end_cpu(const struct st_probe_frame *f);

/* threads.c: the thread's CPU time in ns. */
SELDOM uint64_t probe_cpu_time(void);

static inline uint64_t
probe_now(void)
{
	return UNLIKELY(probe_context.uses_cpu) ? probe_cpu_time() : probe_ticks();
}

static inline void *
probe_at(uint32_t offset)
{
	return (uint64_t *)probe_context.area + offset;
}

/* threads.c: the calling thread; NULL: there is no room for it. */
SELDOM struct st_probe_thread *probe_new_thread(uint64_t fs);
SELDOM struct st_probe_thread *probe_check_thread(struct st_probe_thread *t);

static inline uint32_t
probe_hash(uint64_t fs)
{
	return (uint32_t)(fs * 0x9e3779b97f4a7c15u >> 52); /* ST_PROBE_THREAD_SLOTS */
}

static inline struct st_probe_thread *
probe_thread(void)
{
	uint64_t fs;
	__asm__("movq %%fs:0, %0" : "=r"(fs));
	const uint32_t at = probe_hash(fs);
	struct st_probe_thread *t = (struct st_probe_thread *)probe_context.thread[at];
	if (UNLIKELY(probe_context.fs[at] != fs || !t))
		return probe_new_thread(fs);
	/* A thread that ends leaves its thread control block to the next one. */
	if (UNLIKELY(t->seen != *(uint32_t *)(fs + probe_context.tid_at)))
		return probe_check_thread(t);
	return t;
}

/* The number of places to allocate for `functions` functions, with some for later ones. */
static inline uint32_t
probe_room_for(uint32_t functions)
{
	return (functions + functions / 4 + 64) & ~63u;
}

/* A clock of the thread that stands still during probes. */
static inline uint64_t
probe_net(const struct st_probe_thread *t, uint64_t ticks)
{
	return ticks - (((const struct st_probe_record *)t->numbers)->spent >> 8);
}

/* Charges the ticks between `since` and `now` as cost of probes to the call in progress and to the
 * thread. */
static inline void
probe_charge_ticks(struct st_probe_thread *t, struct st_probe_frame *around, uint64_t since,
                   uint64_t now)
{
	const uint64_t spent = (now - since) << 8;
	around->spent += spent;
	((struct st_probe_record *)t->numbers)->spent += spent;
}

/* Ticks of one cost of probes from which on another thread must have run meanwhile: they are no CPU
 * time of this one. */
enum { PROBE_INTERRUPTED = 1 << 17 };

/* The same until now, where the CPU time that this took is not measured. Returns the current ticks.
 */
static inline uint64_t
probe_charge(struct st_probe_thread *t, struct st_probe_frame *around, uint64_t since)
{
	const uint64_t now = probe_ticks();
	probe_charge_ticks(t, around, since, now);
	if (UNLIKELY(now - since > PROBE_INTERRUPTED))
		t->clock.ticks += now - since;
	return now;
}

/* cells.c: the cell of the function for the thread; NULL: there is no room. */
SELDOM struct st_probe_cell *probe_new_cell(struct st_probe_thread *t, uint32_t function);
SELDOM uint32_t probe_find_pair(struct st_probe_thread *t, uint32_t caller,
                                struct st_probe_cell *callee);
/* Adds an activation's net ticks to its class. */
KEEPS_REGISTERS void probe_count_duration(struct st_probe_cell *c, uint64_t ticks);
/* So many bytes of the area, a multiple of 8: their offset / 8; 0: it is full. */
uint32_t probe_allocate(uint64_t bytes);
/* memory.c: map at least `needed` bytes of the area, or structures of threads. False: not possible.
 */
SELDOM bool probe_map_area(uint64_t needed);
SELDOM bool probe_map_threads(uint32_t needed);
/* The number of threads that have begun and have a mapped structure. */
static inline uint32_t
probe_threads(void)
{
	const uint32_t n = probe_context.n_threads, room = probe_context.room_for_threads;
	return n < room ? n : room;
}

static inline struct st_probe_cell *
probe_cell(struct st_probe_thread *t, uint32_t function)
{
	const uint32_t at = LIKELY(function < t->room) ? ((const uint32_t *)t->cells)[function] : 0;
	return LIKELY(at) ? probe_at(at / 2) : probe_new_cell(t, function);
}

/* Drops the frame on top, of a call that was only counted. A signal handler may come at any
 * instruction, and drop it as well: whoever sets its slot to 0 does it, in one instruction. */
static inline void
probe_drop_counted(struct st_probe_thread *t, struct st_probe_frame *f)
{
	uint64_t slot = f->slot;
	if (!slot)
		return;
	const uint64_t wanted = slot;
	__asm__ volatile("cmpxchgq %2, %1"
	                 : "+a"(slot), "+m"(f->slot)
	                 : "r"(0ull)
	                 : "cc", "memory");
	if (slot != wanted)
		return;
	((struct st_probe_cell *)probe_at(f->counted))->counted_active--;
	(f - 1)->spent += f->spent;
	__asm__ volatile("" : : : "memory");
	t->depth--;
}

/* frames.c: what lies below `slot` is left: by longjmp, by an exception, or for another stack. It
 * is kept where a return may still find it. */
SELDOM void probe_leave_frames(struct st_probe_thread *t, uint64_t slot);
/* The frame whose return address lies at `slot` is on top then, or found elsewhere and copied to
 * *elsewhere; NULL: there is none. */
SELDOM const struct st_probe_frame *probe_find_frame(struct st_probe_thread *t, uint64_t slot,
                                                     struct st_probe_frame *elsewhere);
/* The return addresses of the thread are those of the program, until probe_replace_again. */
SELDOM void probe_put_back(struct st_probe_thread *t, uint64_t slot);
SELDOM void probe_replace_again(struct st_probe_thread *t, uint64_t slot);

/* events.c: records an entry or a return: `word` without its time, which is `now`. */
KEEPS_REGISTERS __attribute__((noinline)) void probe_record(struct st_probe_thread *t,
                                                            uint64_t word, uint64_t now);
/* The next call is another thread's. */
void probe_end_record(struct st_probe_thread *t);

static inline void
probe_record_event(struct st_probe_thread *t, enum st_probe_word what, uint64_t depth,
                   uint32_t function, uint64_t now)
{
	if (UNLIKELY(probe_context.chunks))
		probe_record(t,
		             (uint64_t)what << ST_PROBE_WORD_AT | depth << ST_PROBE_DEPTH_AT |
		                     (uint64_t)function << ST_PROBE_FUNCTION_AT,
		             now);
}

/* follow.c: a child of fork begins to measure on its own. False: there is no room for it. */
SELDOM bool probe_begin_child(void);
/* The calling thread is about to become another program: the controller prepares for that. */
SELDOM void probe_announce_exec(void);
/* threads.c: the calling thread goes on with the frames that it has, as one of a new process. */
bool probe_inherit_thread(struct st_probe_thread *t);

/* point.c, for the assembly: an instruction within a function is about to be executed. */
KEEPS_REGISTERS void probe_point(uint64_t point);

/* enter.c: at the first probe in a child of fork: what it has of threads is a copy. */
SELDOM void probe_notice_fork(void);
/* enter.c, for the assembly. third: in the register of the function's own third argument. */
KEEPS_REGISTERS void probe_enter(uint64_t function, uint64_t *slot, uint64_t third);
KEEPS_REGISTERS uint64_t probe_return(uint64_t slot);
KEEPS_REGISTERS void probe_exit(uint64_t function, const uint64_t *slot);

#endif
