/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A handled signal comes when there is no memory for its frame: SIGSEGV, whose handler may have a
 * stack of its own. */
/* strobe-test: name=signal-no_stack-nowhere args=0 exit=139 stress=blocks,lookup */
/* strobe-test: name=signal-no_stack-deep args=1 exit=139 stress=blocks,lookup */
/* strobe-test: name=signal-no_stack-handled args=2 exit=7 stress=blocks,lookup */
/* strobe-test: name=signal-no_stack-small args=3 exit=7 stress=blocks,lookup */
/* strobe-test: name=signal-no_stack-blocked args=4 exit=139 stress=blocks,lookup */
/* strobe-test: name=signal-no_stack-back args=5 exit=7 stress=blocks,lookup */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
usr(int sig)
{
	(void)sig;
	_exit(5);
}

static void
ill(int sig)
{
	(void)sig;
	__asm__ volatile("ud2");
}

static void
segv(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	_exit(info->si_code == SI_KERNEL && !info->si_addr ? 7 : 8);
}

int
main(int argc, char **argv)
{
	int mode = argc > 1 ? atoi(argv[1]) : 0;
	char *none = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char alternate[65536], small[2048];
	struct rlimit limit = {1 << 20, 1 << 20}, no_core = {0, 0};
	setrlimit(RLIMIT_STACK, &limit);
	setrlimit(RLIMIT_CORE, &no_core);
	sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
	sigaction(SIGILL, &(struct sigaction){.sa_handler = ill, .sa_flags = SA_NODEFER}, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = usr}, NULL);
	if (mode >= 2)
		sigaction(SIGSEGV,
		          &(struct sigaction){.sa_sigaction = segv,
		                              .sa_flags = SA_ONSTACK | SA_SIGINFO},
		          NULL);
	if (mode == 4) {
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	if (mode == 1)
		raise(SIGILL);
	if (mode == 3) { /* the alternate stack has no space for it, the other one has */
		if (getauxval(AT_MINSIGSTKSZ) <= sizeof small) {
			puts("the frame of a signal fits into the least stack of this processor");
			return 77;
		}
		sigaltstack(&(stack_t){.ss_sp = small, .ss_size = sizeof small}, NULL);
		sigaction(SIGUSR1, &(struct sigaction){.sa_handler = usr, .sa_flags = SA_ONSTACK},
		          NULL);
		sigaction(SIGSEGV,
		          &(struct sigaction){.sa_sigaction = segv, .sa_flags = SA_SIGINFO}, NULL);
		raise(SIGUSR1);
	}
	if (mode == 5) /* a frame that cannot be read */
		__asm__ volatile("mov %0, %%rsp; mov %1, %%eax; syscall" ::"r"(none + 4096),
		                 "i"(SYS_rt_sigreturn));
	__asm__ volatile(
	        "mov %0, %%rsp; mov %3, %%eax; syscall; mov $60, %%eax; mov $6, %%edi; syscall" ::
	                "r"(none + 4096),
	        "D"(getpid()), "S"(SIGUSR1), "i"(SYS_kill));
	return 1;
}
