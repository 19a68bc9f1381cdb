/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Crossings between translated code and the runtime.
 *
 * Leaving: the program's registers go to thread->regs, the stack becomes the runtime's, and C decides. Entering: C has
 * set thread->regs and thread->next. Between rt_stub_enter and rt_stub_enter_end, thread->regs is the whole truth about
 * the program, so a signal may be delivered there.
 */
#define SLOT_RCX 0
#define SLOT_RDX 8
#define EXIT_ID 24
#define RT_SP 32
#define SELF 40
#define NEXT 48
#define PENDING 56
#define STATE 60
#define REGS 64
#define REG(n) (REGS + 8 * n)
#define RFLAGS (REGS + 128)
#define PC (REGS + 136)
#define GUARD 208
#define TOOL_SAVE(n) (248 + 8 * n)
/* Of struct st_attached. */
#define ATTACHED_REG(n) (16 + 8 * n)
#define ATTACHED_RFLAGS 144
#define ATTACHED_PC 152
#define ATTACHED_MASK 160
#define ATTACHED_ALL_SENT 192

	.text

	/* Known flags for C: direction clear, no trap, no alignment check, no nested task. */
	.macro CLEAR_FLAGS
	pushq $2
	popfq
	.endm

	.macro SAVE_REGS
	movq %rsp, %gs:REG(4)
	movq %gs:RT_SP, %rsp
	movq %rax, %gs:REG(0)
	movq %rcx, %gs:REG(1)
	movq %rdx, %gs:REG(2)
	movq %rbx, %gs:REG(3)
	movq %rbp, %gs:REG(5)
	movq %rsi, %gs:REG(6)
	movq %rdi, %gs:REG(7)
	movq %r8, %gs:REG(8)
	movq %r9, %gs:REG(9)
	movq %r10, %gs:REG(10)
	movq %r11, %gs:REG(11)
	movq %r12, %gs:REG(12)
	movq %r13, %gs:REG(13)
	movq %r14, %gs:REG(14)
	movq %r15, %gs:REG(15)
	pushfq
	popq %gs:RFLAGS
	CLEAR_FLAGS
	movq %gs:SELF, %rdi
	.endm

	.globl rt_stub_exit, rt_stub_miss, rt_stub_syscall, rt_stub_resume
	.globl rt_stub_enter, rt_stub_enter_end
	.hidden rt_stub_exit, rt_stub_miss, rt_stub_syscall, rt_stub_resume
	.hidden rt_stub_enter, rt_stub_enter_end

	/* From an exit's stub: exit_id says which. */
rt_stub_exit:
	SAVE_REGS
	call rt_dispatch_exit
	jmp rt_stub_enter

	/* From the lookup: rdx is the target, the slots hold rcx and rdx. */
rt_stub_miss:
	SAVE_REGS
	call rt_dispatch_miss
	jmp rt_stub_enter

	/* From an action: exit_id says which function is to be called. */
	.globl rt_stub_call
	.hidden rt_stub_call
rt_stub_call:
	SAVE_REGS
	call rt_dispatch_call
	jmp rt_stub_enter

	/* From a system call in the program: exit_id says which. */
rt_stub_syscall:
	SAVE_REGS
	call rt_dispatch_syscall
	jmp rt_stub_enter

	/* From a system-call patch, native/syspatch.h: rcx is the address after the system call. */
	.globl rt_stub_syspatch
	.hidden rt_stub_syspatch
rt_stub_syspatch:
	SAVE_REGS
	call rt_dispatch_syspatch
	jmp rt_stub_enter

	/* From anywhere in the runtime: go on with the program at thread->regs. */
rt_stub_resume:
	movq %gs:RT_SP, %rsp
	movq %gs:SELF, %rdi
	call rt_dispatch_pc

rt_stub_enter:
	movl $1, %eax
	xchgl %eax, %gs:STATE    /* a full barrier: seen by who stops the world before `pending` is read here */
	cmpl $0, %gs:PENDING
	jne 1f
	movq %gs:RT_SP, %rsp
	pushq %gs:RFLAGS
	popfq
	movq %gs:REG(0), %rax
	movq %gs:REG(1), %rcx
	movq %gs:REG(2), %rdx
	movq %gs:REG(3), %rbx
	movq %gs:REG(5), %rbp
	movq %gs:REG(6), %rsi
	movq %gs:REG(7), %rdi
	movq %gs:REG(8), %r8
	movq %gs:REG(9), %r9
	movq %gs:REG(10), %r10
	movq %gs:REG(11), %r11
	movq %gs:REG(12), %r12
	movq %gs:REG(13), %r13
	movq %gs:REG(14), %r14
	movq %gs:REG(15), %r15
	movq %gs:REG(4), %rsp
	jmp *%gs:NEXT

	/* A signal was queued while in the runtime: C sends it to this thread again, and then opens the mask here, where it
	 * can be delivered at once. rt_dispatch_pending returns the address of the mask, or 0. */
1:	movl $0, %gs:STATE
	movq %gs:RT_SP, %rsp
	movq %gs:SELF, %rdi
	call rt_dispatch_pending
	testq %rax, %rax
	jz 2f
	movq %rax, %rsi
	movl $2, %edi            /* SIG_SETMASK */
	xorl %edx, %edx
	movl $8, %r10d
	movl $14, %eax           /* rt_sigprocmask */
	syscall
2:	jmp rt_stub_resume
rt_stub_enter_end:
	nop

	/*
	 * long rt_app_syscall(struct thread *t): a system call of the program that needs nothing done after it. A signal
	 * that arrives up to rt_sys_insn finds it not begun; one that arrives at rt_sys_done finds it complete.
	 */
	.globl rt_app_syscall, rt_sys_check, rt_sys_insn, rt_sys_done
	.hidden rt_app_syscall, rt_sys_check, rt_sys_insn, rt_sys_done
rt_app_syscall:
	pushq %rbx
	movq %gs:REG(7), %rdi
	movq %gs:REG(6), %rsi
	movq %gs:REG(2), %rdx
	movq %gs:REG(10), %r10
	movq %gs:REG(8), %r8
	movq %gs:REG(9), %r9
	movq %gs:REG(0), %rax
1:	movl $2, %gs:STATE
rt_sys_check:
	cmpl $0, %gs:PENDING
	jne 2f
rt_sys_insn:
	syscall
rt_sys_done:
	movl $0, %gs:STATE
	popq %rbx
	ret
2:	movl $0, %gs:STATE
	movq $-4097, %rax        /* not begun: a signal waits */
	popq %rbx
	ret

	/* long rt_app_wait(long nr, const void *a, void *b, const void *c, long d): the same, with other arguments than the
	 * program's. */
	.globl rt_app_wait
	.hidden rt_app_wait
rt_app_wait:
	pushq %rbx
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	jmp 1b

	/*
	 * long rt_clone(long nr, long a, long b, long c, long d, long e, struct thread *child, void (*start)(struct thread *)):
	 * the child, when it has its own stack or shares memory, goes to start on child->rt_sp.
	 */
	.globl rt_clone
	.hidden rt_clone
rt_clone:
	pushq %r12
	pushq %r13
	movq 24(%rsp), %r12      /* child */
	movq 32(%rsp), %r13      /* start */
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	movq %r9, %r8
	xorl %r9d, %r9d
	syscall
	testq %rax, %rax
	jz 1f
	popq %r13
	popq %r12
	ret
1:	testq %r12, %r12
	jz 2f
	movl $158, %eax          /* arch_prctl(ARCH_SET_GS, child) */
	movl $0x1001, %edi
	movq %r12, %rsi
	syscall
	movq %gs:RT_SP, %rsp
	xorl %ebp, %ebp
	movq %r12, %rdi
	call *%r13
	ud2
2:	popq %r13
	popq %r12
	ret

	/* void rt_go_native(struct thread *t): leaves for native execution at thread->regs; gs stays. A target that no
	 * jump can reach faults at rt_native_jump. */
	.globl rt_go_native, rt_native_jump
	.hidden rt_go_native, rt_native_jump
rt_go_native:
	movq %gs:RT_SP, %rsp
	pushq %gs:RFLAGS
	popfq
	movq %gs:REG(0), %rax
	movq %gs:REG(1), %rcx
	movq %gs:REG(2), %rdx
	movq %gs:REG(3), %rbx
	movq %gs:REG(5), %rbp
	movq %gs:REG(6), %rsi
	movq %gs:REG(7), %rdi
	movq %gs:REG(8), %r8
	movq %gs:REG(9), %r9
	movq %gs:REG(10), %r10
	movq %gs:REG(11), %r11
	movq %gs:REG(12), %r12
	movq %gs:REG(13), %r13
	movq %gs:REG(14), %r14
	movq %gs:REG(15), %r15
	movq %gs:REG(4), %rsp
rt_native_jump:
	jmp *%gs:PC

	/* Where a thread goes on outside the cache, its registers the program's: entered like the cache. */
	.globl rt_go_native_run, rt_native_run_end
	.hidden rt_go_native_run, rt_native_run_end
rt_go_native_run:
	movl $5, %gs:STATE
	jmp *%gs:EXIT_ID

	/* The same for one instruction: the trap flag brings it back after it. */
	.globl rt_go_step
	.hidden rt_go_step
rt_go_step:
	movl $3, %gs:STATE
	movq %gs:RT_SP, %rsp
	CLEAR_FLAGS
	pushq $0x2b              /* ss */
	pushq %gs:REG(4)
	pushq %gs:RFLAGS
	orl $0x100, (%rsp)
	pushq $0x33              /* cs */
	pushq %gs:PC
	iretq
rt_native_run_end:

	/* The same, and gs becomes 0: for a process that is left alone for good. It uses the words just below the red zone. */
	.globl rt_go_native_forever
	.hidden rt_go_native_forever
rt_go_native_forever:
	movq %rdi, %rbx
	movq REG(4)(%rbx), %rax
	leaq -136(%rax), %rsp
	movq PC(%rbx), %rax
	movq %rax, (%rsp)
	movl $158, %eax          /* arch_prctl(ARCH_SET_GS, 0) */
	movl $0x1001, %edi
	xorl %esi, %esi
	syscall
	pushq RFLAGS(%rbx)
	popfq
	movq REG(0)(%rbx), %rax
	movq REG(1)(%rbx), %rcx
	movq REG(2)(%rbx), %rdx
	movq REG(5)(%rbx), %rbp
	movq REG(6)(%rbx), %rsi
	movq REG(7)(%rbx), %rdi
	movq REG(8)(%rbx), %r8
	movq REG(9)(%rbx), %r9
	movq REG(10)(%rbx), %r10
	movq REG(11)(%rbx), %r11
	movq REG(12)(%rbx), %r12
	movq REG(13)(%rbx), %r13
	movq REG(14)(%rbx), %r14
	movq REG(15)(%rbx), %r15
	movq REG(3)(%rbx), %rbx
	ret $128

	/* The handler that the kernel knows. The kernel has cleared the direction flag. The alignment check is the program's;
	 * others have to stay, which no sigreturn gives back. */
	.globl rt_signal_entry
	.hidden rt_signal_entry
rt_signal_entry:
	pushfq
	andl $~0x40000, (%rsp)
	popfq
	jmp rt_on_signal

	/* void rt_sigreturn_now(void *frame): the kernel's sigreturn with rsp = frame + 8. */
	.globl rt_sigreturn_now, rt_restorer
	.hidden rt_sigreturn_now, rt_restorer
rt_sigreturn_now:
	leaq 8(%rdi), %rsp
	movl $15, %eax
	syscall
	ud2
rt_restorer:
	movl $15, %eax
	syscall

	/*
	 * int rt_call_guarded(void (*f)(const void *, const void *), const void *a, const void *b): 0, or -1 when f has
	 * faulted: the master handler then goes on at rt_guard_failed. Calls may be nested.
	 */
	.globl rt_call_guarded, rt_guard_failed
	.hidden rt_call_guarded, rt_guard_failed
rt_call_guarded:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	pushq %gs:GUARD
	movq %rsp, %gs:GUARD
	andq $-16, %rsp
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	call *%rax
	xorl %eax, %eax
1:	movq %gs:GUARD, %rsp
	popq %gs:GUARD
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret
rt_guard_failed:
	movl $-1, %eax
	jmp 1b

	/* int rt_copy_guarded(void *to, const void *from, size_t n): 0, or -1 when either is not accessible. */
	.globl rt_copy_guarded
	.hidden rt_copy_guarded
rt_copy_guarded:
	movq %rdx, %rcx
rt_copy_insn:
	rep movsb
	xorl %eax, %eax
	ret
	.globl rt_copy_insn, rt_copy_failed
	.hidden rt_copy_insn, rt_copy_failed
rt_copy_failed:
	movl $-1, %eax
	ret

	/* First instruction of the runtime: the controller has set rdi = struct st_boot, rdx = 0. rsp is the program's.
	 * In a process that is attached, all threads come here, the first one with rdi, the others with 0 there; rsi = its
	 * struct st_attached, rdx = that of the first, which says whether all have been sent here. */
	.globl rt_entry
rt_entry:
	testq %rdx, %rdx
	jnz 1f
2:	leaq rt_boot_stack_end(%rip), %rsp
	CLEAR_FLAGS
	call rt_start
	jmp rt_stub_resume
1:	movq %rdi, %r12
	movq %rsi, %rbx
	movq %rdx, %r13
	leaq every_signal(%rip), %rsi
	movl $14, %eax           /* rt_sigprocmask(SIG_SETMASK, every signal, NULL, 8) */
	movl $2, %edi
	xorl %edx, %edx
	movl $8, %r10d
	syscall
	cmpq $0, ATTACHED_ALL_SENT(%r13)
	je rt_turn_back
	movq %r12, %rdi
	testq %rdi, %rdi
	jnz 2b

	/* The others wait until the first thread has made their struct thread. */
1:	cmpl $0, 8(%rbx)         /* ready */
	jne 2f
	leaq 8(%rbx), %rdi
	xorl %esi, %esi          /* FUTEX_WAIT while it is 0 */
	xorl %edx, %edx
	xorl %r10d, %r10d
	movl $202, %eax          /* futex */
	syscall
	jmp 1b
2:	movq (%rbx), %r12        /* thread */
	movl $158, %eax          /* arch_prctl(ARCH_SET_GS, thread) */
	movl $0x1001, %edi
	movq %r12, %rsi
	syscall
	movq %gs:RT_SP, %rsp
	CLEAR_FLAGS
	xorl %ebp, %ebp
	movq %r12, %rdi
	call rt_attached
	jmp rt_stub_resume

	/* The controller was killed before it had sent all threads here: natively on from where this one was. */
rt_turn_back:
	testq %r12, %r12
	jz 1f
	leaq rt_boot_stack_end(%rip), %rsp
	CLEAR_FLAGS
	movq %r12, %rdi
	call rt_withdraw
1:	movq ATTACHED_REG(4)(%rbx), %rsp
	leaq ATTACHED_MASK(%rbx), %rsi
	movl $14, %eax           /* rt_sigprocmask(SIG_SETMASK, its own, NULL, 8) */
	movl $2, %edi
	xorl %edx, %edx
	movl $8, %r10d
	syscall
	leaq -128(%rsp), %rsp
	pushq ATTACHED_PC(%rbx)
	pushq ATTACHED_RFLAGS(%rbx)
	popfq
	movq ATTACHED_REG(0)(%rbx), %rax
	movq ATTACHED_REG(1)(%rbx), %rcx
	movq ATTACHED_REG(2)(%rbx), %rdx
	movq ATTACHED_REG(5)(%rbx), %rbp
	movq ATTACHED_REG(6)(%rbx), %rsi
	movq ATTACHED_REG(7)(%rbx), %rdi
	movq ATTACHED_REG(8)(%rbx), %r8
	movq ATTACHED_REG(9)(%rbx), %r9
	movq ATTACHED_REG(10)(%rbx), %r10
	movq ATTACHED_REG(11)(%rbx), %r11
	movq ATTACHED_REG(12)(%rbx), %r12
	movq ATTACHED_REG(13)(%rbx), %r13
	movq ATTACHED_REG(14)(%rbx), %r14
	movq ATTACHED_REG(15)(%rbx), %r15
	movq ATTACHED_REG(3)(%rbx), %rbx
	ret $128

	/* Where the controller sends a thread that sleeps in a system call when it detaches; thread->regs says where the
	 * program goes on. */
	.globl rt_park_entry
	.hidden rt_park_entry
rt_park_entry:
	movq %gs:RT_SP, %rsp
	CLEAR_FLAGS
	movq %gs:SELF, %rdi
	call thread_park
	ud2

	/* And one thread, when all of them are parked, on a stack that is not given back. */
	.globl rt_finish_entry
	.hidden rt_finish_entry
rt_finish_entry:
	movq %gs:SELF, %rdi
	leaq rt_boot_stack_end(%rip), %rsp
	CLEAR_FLAGS
	call rt_finish
	ud2

	/* The same thread once more, when no other is in the engine. */
	.globl rt_forget_entry
	.hidden rt_forget_entry
rt_forget_entry:
	movq %gs:SELF, %rdi
	leaq rt_boot_stack_end(%rip), %rsp
	CLEAR_FLAGS
	call rt_forget
	ud2

	.balign 8
every_signal:
	.quad -1

	.bss
	.balign 4096
	.skip 65536
rt_boot_stack_end:
	.section .note.GNU-stack, "", @progbits
