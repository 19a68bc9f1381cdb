/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process whose system calls are made very often has children of every kind, which make the same
 * calls; and it finds its code as it was where it may be changed: when the page is made writable,
 * and by /proc/self/mem.
 */
/* strobe-test: follow=1 stress=blocks,lookup */
#include "check.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES = 24, CALLS = 20000 };

extern char **environ;
static unsigned char code[2][BYTES];
static const void *const function[2] = {(const void *)getppid, (const void *)read};
static int zero;

static void
call_often(int times)
{
	char text[8];
	unsigned long work = 1;
	int parent = getppid();
	for (int i = 0; i < times; i++) {
		CHECK_EQ(getppid(), parent);
		CHECK_EQ(read(zero, text, sizeof text), sizeof text);
		for (int j = 0; j < 400; j++)
			work = work * 5 + 1;
	}
	CHECK(work, "the arithmetic is wrong");
}

static void
check_code(const char *where)
{
	for (int i = 0; i < 2; i++)
		CHECK(memcmp(function[i], code[i], BYTES) == 0, "%s: function %d has changed",
		      where, i);
}

static void
wait_for(pid_t child)
{
	int status;
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

static void
change_protection(int protection)
{
	for (int i = 0; i < 2; i++) {
		uintptr_t page = (uintptr_t)function[i] & ~4095ul;
		CHECK_EQ(mprotect((void *)page, 8192, protection), 0);
	}
}

static void
have_children(void)
{
	char *arguments[] = {"true", NULL};
	pid_t child = fork();
	if (child == 0) {
		call_often(CALLS / 4);
		_exit(0);
	}
	wait_for(child);
	child = vfork();
	if (child == 0) {
		getppid();
		_exit(getpid() == 0);
	}
	wait_for(child);
	CHECK_EQ(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ), 0);
	wait_for(child);
	CHECK_EQ(system("exit 0"), 0);
}

int
main(void)
{
	zero = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 2; i++)
		memcpy(code[i], function[i], BYTES);
	call_often(CALLS);
	have_children();
	call_often(CALLS);
	change_protection(PROT_READ | PROT_WRITE | PROT_EXEC);
	check_code("a page that can be written");
	call_often(CALLS);
	change_protection(PROT_READ | PROT_EXEC);
	call_often(CALLS);
	int memory = open("/proc/self/mem", O_RDWR);
	CHECK(memory >= 0, "cannot open /proc/self/mem");
	check_code("by /proc/self/mem");
	/* Some kernels do not let anybody write there. */
	for (int i = 0; i < 2; i++)
		if (pwrite(memory, function[i], BYTES, (off_t)(uintptr_t)function[i]) < 0)
			break;
	call_often(CALLS);
	check_code("at the end");
	puts("calls were made everywhere");
	return 0;
}
