/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtime towards the operating system: threads, signals, system calls, leaving a process. What
 * others need of it is in world.h, maps.h and controller.h of rt. */
#ifndef STROBE_RT_OS_OS_H
#define STROBE_RT_OS_OS_H

#include <asm/unistd.h>

#include "rt/maps.h"
#include "rt/program.h"
#include "rt/world.h"

/* Signals. */

/* Signals that stay open in the kernel's mask whatever the program asks for. */
#define NEVER_BLOCKED                                                                              \
	(ALWAYS_OPEN | (rt.budget.exists ? SIGNAL_BIT(SIGNAL_SYS) : 0) |                           \
	 (rt.native.has_breakpoints ? SIGNAL_BIT(SIGNAL_TRAP) : 0))
#define ALWAYS_OPEN (SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS) | SIGNAL_BIT(SIGNAL_OWN))
/* sigval of the runtime's own signals. */
#define OWN_SAMPLE 0x73740000736d706cull
#define OWN_DELIVER 0x7374000064656c76ull
#define OWN_STOP 0x7374000073746f70ull
#define OWN_SHOW 0x7374000073686f77ull
#define OWN_LEAVE ST_LEAVE
/* Bits of a thread's `pending`. */
enum { PENDING_SIGNAL = 1, PENDING_STOP = 2, PENDING_LEAVE = 4, PENDING_SHOW = 8 };

/* Reads the process's dispositions and puts the master handler in their place. */
void signals_init(void);
/* The calling thread's first signal mask. */
void signals_begin(struct thread *t, uint64_t mask);
void signals_restore_dispositions(const struct sigtab *tab);
/* Tells the kernel what to do for a signal whose disposition is *a for the program. */
long signals_tell_kernel(int signo, const struct ksigaction *a);
/* The thread's own signal stack; the program's is remembered in t->signals.altstack. */
void signals_set_stack(struct thread *t);
/* Gives the process its own dispositions, alternate stack and mask back, for native execution. */
void signals_restore_native(struct thread *t, uint64_t mask);
/* With every signal blocked, before that: what waits for the program is pending in the kernel, and
 * of the engine's own signals none comes any more. */
void signals_hand_over(struct thread *t);
/* Only the latter: with SIGNAL_OWN blocked. */
void signals_drain(void);
/* The kernel would force the signal upon the program, which is at t->regs and has blocked `mask`:
 * it comes before the next instruction. With every signal blocked. */
void signals_force(struct thread *t, const struct siginfo *info, uint64_t mask);
/* Does the program die of it with a core dump? */
bool signals_dump_core(int signo);
/* Is the address in the engine's own code? */
bool signals_in_runtime(uint64_t pc);
/* A signal that was taken from the kernel without a handler: is it the engine's own? Does then what
 * it asks for, if that cannot wait. */
bool signals_take_own(struct thread *t, const struct siginfo *info);
/* Blocks every signal; returns the mask before. */
uint64_t signals_block_all(void);
void signals_set_mask(uint64_t mask);
/* stubs.S: the handler that the kernel knows, and what it calls. */
void rt_signal_entry(void);
void rt_on_signal(int signo, struct siginfo *info, void *context);

long sys_sigaction(struct thread *t);
long sys_sigprocmask(struct thread *t);
long sys_sigaltstack(struct thread *t);
_Noreturn void sys_sigreturn(struct thread *t);

/* Threads. */

/* Does rdtsc fault in the calling thread, as it has been told, or has inherited? */
void clock_find(void);

struct thread *thread_new(void);
/* from: what the controller knows of it, when the process was running already; else NULL. */
void thread_adopt_main(struct thread *t, const struct st_attached *from);
/* Another thread of such a process, waiting at rt_attach_entry; NULL: no memory for it. */
struct thread *thread_adopt(const struct st_attached *from);
/* The system call in which the thread was attached, if it goes on by restart_syscall. */
void thread_continue_call(struct thread *t);
/* After a fork: the calling thread is the only one, and its counters are those of the new results.
 */
void thread_become_only(struct thread *t);
long sys_clone(struct thread *t, long nr);
_Noreturn void sys_exit(struct thread *t);
/* The calling thread's counters are added to those of ended threads; its record says ENDED. */
void thread_retire(struct thread *t);
/* Where the mapping with its stacks begins, and how large it is. */
uint64_t thread_stacks(const struct thread *t);
enum {
	RT_STACK_BYTES = 65536,
	RT_SIG_STACK_BYTES = 65536,
	THREAD_STACKS = RT_STACK_BYTES + RT_SIG_STACK_BYTES + 8192
};
/* Its name and the time, into its record. */
void thread_note_end(struct thread *t);

/* The kernel is to do from now on what mlockall(MCL_FUTURE) asked for: the process goes on
 * natively. */
static inline void
lock_future_natively(void)
{
	if (rt.locks_future)
		SYS(__NR_mlockall, rt.locks_future == LOCK_ON_FAULT ? 6 : 2);
}

/* Leaving a process: leave.c. */

/* From now on the end of the controller's socket means that the process is handed back. */
void leave_begin(void);
/* Is it the signal that says so? */
bool leave_is_hangup(int signo, const struct siginfo *info);
/* The thread, at t->regs, gives up what is the engine's and waits to go on natively. Every signal
 * is blocked; `mask`: what the program blocks. */
_Noreturn void thread_park(struct thread *t, uint64_t mask);
/* The same for all threads, because this one cannot stay, whether there is a controller or not. */
_Noreturn void leave_for_good(struct thread *t);
/* After a fork: the child, whose only thread this is, stays. */
void leave_forget(struct thread *t);
/* Registers what the program had registered for restartable sequences. */
void rseq_restore(const struct thread *t);
long sys_rseq(struct thread *t);

/* stubs.S */
void rt_park_entry(void);
void rt_go_step(void);
void rt_finish_entry(void);
void rt_forget_entry(void);
enum { NOT_BEGUN = 4097 }; /* its answer, negative, when a signal waits */
long rt_app_syscall(struct thread *t);
/* syscall.c: the program's system call at t->regs, that the kernel may sleep in. */
long syscall_plain(struct thread *t);
/* The same with other arguments. The program makes the call of that number. */
long rt_app_wait(long nr, const void *a, void *b, const void *c, long d);
long rt_clone(long nr, long a, long b, long c, long d, long e, struct thread *child,
              void (*start)(struct thread *));
_Noreturn void rt_go_native(struct thread *t);
_Noreturn void rt_go_native_forever(struct thread *t);
_Noreturn void rt_sigreturn_now(void *frame);
void rt_restorer(void);
extern const char rt_native_jump[];

#endif
