/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop that counts its turns in memory, flags alive across every access, while a timer's signals
 * come at 10 kHz. Usage: storm return | jump: half of the handlers leave the loop by siglongjmp,
 * and it goes on from what lies in memory. So cell_inc is how often its instruction was executed,
 * and cell_put has had the values 1 to TURNS. Prints `storm INC AT_INC AT_PUT AFTER_PUT SIGNALS`:
 * jumps that left the loop right before and behind the instructions.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TURNS = 400000 };

uint64_t cell_inc, cell_put, cell_get;
extern const char storm_inc[], storm_put[], storm_get[], storm_end[];
/* From cell_put + 1 up to `last`; returns how many of them were odd. */
uint64_t storm(uint64_t last);
__asm__(".text\n"
        ".globl storm_inc, storm_put, storm_get\n"
        "storm: mov cell_put(%rip), %rax; xor %edx, %edx\n"
        "1: lea 1(%rax), %rax; bt $0, %rax\n"
        "storm_inc: incq cell_inc(%rip)\n"
        "storm_put: mov %rax, cell_put(%rip)\n"
        "storm_after: adc $0, %rdx; cmp %rdi, %rax\n"
        "storm_get: mov cell_get(%rip), %r8; jne 1b\n"
        "mov %rdx, %rax\n"
        "storm_end: ret\n");
extern const char storm_after[];

static sigjmp_buf start;
static volatile int jumps;
static volatile unsigned signals, at_inc, at_put, after_put;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	const char *pc = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)sig, (void)info;
	signals++;
	if (!jumps || signals % 2 || pc < storm_inc || pc >= storm_get)
		return;
	at_inc += pc == storm_inc;
	at_put += pc == storm_put;
	after_put += pc == storm_after;
	siglongjmp(start, 1);
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, 100}, {0, 100}};
	if (argc != 2)
		return 1;
	sigaction(SIGALRM, &action, NULL);
	jumps = !strcmp(argv[1], "jump");
	setitimer(ITIMER_REAL, &every, NULL);
	sigsetjmp(start, 1);
	uint64_t odd = storm(TURNS);
	every = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &every, NULL);
	if (!jumps && odd != TURNS / 2)
		return 1;
	printf("storm %llu %u %u %u %u\n", (unsigned long long)cell_inc, at_inc, at_put, after_put,
	       signals);
	return cell_put != TURNS;
}
