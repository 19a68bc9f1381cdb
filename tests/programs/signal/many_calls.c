/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals at every place of system calls that are made very often: the calls do what they say, and
 * a handler finds the program in its own code, with the number of the call where it belongs.
 */
/* strobe-test: */
/* strobe-test: name=threads args=threads */
#include "signal/ucontext.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>

enum { CALLS = 12000, MOST_RANGES = 64, THREADS = 3, MOST_SIGNALS = 20000 };

static struct range {
	uint64_t start, end;
} ranges[MOST_RANGES];
static int n_ranges;
static atomic_bool over;
static atomic_int signals;
static pthread_t callers[THREADS];

static int
learn_ranges(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (int i = 0; i < info->dlpi_phnum && n_ranges < MOST_RANGES; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
			ranges[n_ranges++] = (struct range){start, start + p->p_memsz};
	}
	return 0;
}

static bool
is_known(uint64_t pc)
{
	for (int i = 0; i < n_ranges; i++)
		if (pc >= ranges[i].start && pc < ranges[i].end)
			return true;
	return false;
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	(void)sig, (void)info;
	CHECK(is_known(pc), "the program is at %#llx, which is none of its code",
	      (unsigned long long)pc);
	/* About to make a call: its number is one that this program uses. */
	if (memcmp((const void *)pc, "\x0f\x05", 2) == 0) {
		uint64_t number = (uint64_t)uc->uc_mcontext.gregs[REG_RAX];
		CHECK(number < 512, "the call at %#llx would have the number %#llx",
		      (unsigned long long)pc, (unsigned long long)number);
	}
	atomic_fetch_add(&signals, 1);
}

static void *
call_often(void *arg)
{
	char text[16] = "";
	int zero = open("/dev/zero", O_RDWR), parent = getppid();
	unsigned long work = 1;
	(void)arg;
	CHECK(zero >= 0, "cannot open /dev/zero");
	for (int i = 0; i < CALLS; i++) {
		memset(text, 'x', sizeof text);
		CHECK_EQ(read(zero, text, 9), 9);
		CHECK(text[8] == 0 && text[9] == 'x', "read has left %d %d", text[8], text[9]);
		CHECK_EQ(write(zero, text, 5), 5);
		CHECK_EQ(getppid(), parent);
		CHECK_EQ(syscall(SYS_getppid), parent);
		errno = 0;
		CHECK_EQ(syscall(SYS_lseek, -1, 0, 0), -1);
		CHECK_EQ(errno, EBADF);
		for (int j = 0; j < 200; j++)
			work = work * 5 + 1;
	}
	CHECK(work, "the arithmetic is wrong");
	close(zero);
	return NULL;
}

static void *
disturb(void *arg)
{
	long n = (long)arg;
	for (long i = 0; !over && i < MOST_SIGNALS; i++) {
		pthread_kill(callers[i % n], SIGUSR1);
		for (int seen = signals, j = 0; signals == seen && j < 10000 && !over; j++)
			__builtin_ia32_pause();
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	long n = argc > 1 ? THREADS : 1;
	pthread_t other;
	(void)argv;
	dl_iterate_phdr(learn_ranges, NULL);
	sigaction(SIGUSR1, &action, NULL);
	callers[0] = pthread_self();
	for (long i = 1; i < n; i++)
		pthread_create(&callers[i], NULL, call_often, NULL);
	pthread_create(&other, NULL, disturb, (void *)1L); /* the others may have ended */
	do /* a busy machine may not have begun the other thread yet */
		call_often(NULL);
	while (!signals);
	for (long i = 1; i < n; i++)
		pthread_join(callers[i], NULL);
	over = true;
	pthread_join(other, NULL);
	printf("%ld threads made %d calls each time\n", n, CALLS * 5);
	return 0;
}
