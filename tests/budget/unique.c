/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code of which it is known what is executed, for test_unique.py: `unique WORD...` does one thing
 * for each word. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef FLAVOUR
#define FLAVOUR 0 /* so that there are two programs that differ */
#endif

/* Blocks that are entered at several places: all of them end at `joint`. A jump over a prefix leads
 * into the middle of an instruction. */
__asm__(".text\n"
        ".globl head, middle, joint, prefixed, unprefixed, behind\n"
        "head: incl word(%rip)\n"
        "      nop\n"
        "middle: incl word(%rip)\n"
        "      nop\n"
        "joint: ret\n"
        "prefixed: lock\n"
        "unprefixed: incl word(%rip)\n"
        "behind: ret\n"
        ".data\n"
        "word: .long 0\n"
        ".text\n");
void head(void), middle(void), prefixed(void), unprefixed(void);

/* A block that faults in its middle while there is nothing at *p. */
__asm__(".text\n"
        ".globl faults, fault_at, fault_behind\n"
        "faults: nop\n"
        "      nop\n"
        "fault_at: movl (%rdi), %eax\n"
        "fault_behind: nop\n"
        "      ret\n");
int faults(int *p);

/* Loops of two blocks and of one, twice: each label begins a block, and nothing else does. */
__asm__(".text\n"
        ".globl twice, second, third, cycle, turn, turned, run, running, ran\n"
        "twice: sub $8, %rsp\n"
        "      call cycle\n"
        "second: call cycle\n"
        "third: add $8, %rsp\n"
        "      ret\n"
        "cycle: mov $10, %ecx\n"
        "      jmp turn\n"
        "turn: nop\n"
        "      jmp turned\n"
        "turned: dec %ecx\n"
        "      jnz turn\n"
        "run:  mov $5, %ecx\n"
        "      jmp running\n"
        "running: dec %ecx\n"
        "      jnz running\n"
        "ran:  ret\n");
void twice(void);

/* So many turns of a loop of four blocks. */
__asm__(".text\n"
        ".globl turns, turn_1, turn_2, turn_3\n"
        "turns: dec %edi\n"
        "      jmp turn_1\n"
        "turn_1: nop\n"
        "      jmp turn_2\n"
        "turn_2: nop\n"
        "      jmp turn_3\n"
        "turn_3: test %edi, %edi\n"
        "      jnz turns\n"
        "      ret\n");
void turns(int n);

static sigjmp_buf back;
static int *place;

static void
on_fault_jump(int signo)
{
	(void)signo;
	siglongjmp(back, 1);
}

static void
on_fault_mend(int signo)
{
	(void)signo;
	mprotect(place, 4096, PROT_READ | PROT_WRITE);
}

/* It executes the block that has just faulted. */
static void
on_fault_again(int signo)
{
	int word = 0;
	(void)signo;
	faults(&word);
	mprotect(place, 4096, PROT_READ | PROT_WRITE);
}

static void
fault(void (*handler)(int))
{
	place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler);
	if (!sigsetjmp(back, 1))
		faults(place);
}

/* So much work that a small budget is spent in between; what is done differs from step to step. */
static volatile unsigned long sink;
#define STEP(n)                                                                                    \
	__attribute__((noinline)) static void step_##n(long rounds)                                \
	{                                                                                          \
		unsigned long x = (n) + FLAVOUR;                                                   \
		for (long i = 0; i < rounds; i++)                                                  \
			x = x & 1 ? x * 3 + (n) : x / 2 + (unsigned long)i;                        \
		sink = x;                                                                          \
	}
#define STEPS(S)                                                                                   \
	S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15) S(16)
STEPS(STEP)
static void (*const steps[])(long) = {
#define NAME(n) step_##n,
        STEPS(NAME)};
enum { N_STEPS = sizeof steps / sizeof *steps };

static void *
all_steps(void *rounds)
{
	for (int i = 0; i < N_STEPS; i++)
		steps[i]((long)rounds);
	return NULL;
}

static void
in_threads(void)
{
	pthread_t thread[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, all_steps, (void *)10000);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void *
in_turns(void *arg)
{
	turns(20000);
	return arg;
}

static void
turns_in_threads(void)
{
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, in_turns, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void
in_child(void)
{
	if (fork() == 0) {
		steps[8](1000);
		_exit(0);
	}
	steps[9](1000);
	wait(NULL);
}

static void
on_signal(int signo)
{
	(void)signo;
	steps[2](10);
}

static void
interrupted(void)
{
	signal(SIGALRM, on_signal);
	ualarm(300, 300);
	all_steps((void *)100000);
	ualarm(0, 0);
}

static void
generate(void)
{
	static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
	               -1, 0);
	memcpy(p, code, sizeof code);
	int (*function)(void);
	memcpy(&function, &p, sizeof p);
	sink = (unsigned long)function();
}

static void
wait_for_death(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		steps[0](1000);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} words[] = {{"head", head},
	             {"twice", twice},
	             {"middle", middle},
	             {"prefixed", prefixed},
	             {"unprefixed", unprefixed},
	             {"threads", in_threads},
	             {"turns", turns_in_threads},
	             {"child", in_child},
	             {"interrupted", interrupted},
	             {"generate", generate},
	             {"wait", wait_for_death}};
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			if (!strcmp(argv[i], words[k].name))
				words[k].act();
		if (!strncmp(argv[i], "step", 4))
			steps[atoi(argv[i] + 4)](1000);
		else if (!strcmp(argv[i], "work"))
			all_steps((void *)4000000);
		else if (!strcmp(argv[i], "jump"))
			fault(on_fault_jump);
		else if (!strcmp(argv[i], "mend"))
			fault(on_fault_mend);
		else if (!strcmp(argv[i], "again"))
			fault(on_fault_again);
		else if (!strcmp(argv[i], "whole"))
			faults(&(int){0});
		else if (!strcmp(argv[i], "die"))
			raise(SIGKILL);
		else if (!strcmp(argv[i], "crash"))
			faults(NULL);
	}
	puts("done");
	return 0;
}
