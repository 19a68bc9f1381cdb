/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that runs out: RLIMIT_AS stops malloc and mmap, RLIMIT_DATA stops brk, and the program
 * goes on; a mapping limit is reached with thousands of small mappings and left again. A limit is
 * what was set, leaves room for threads, holds in a fork's child and is inherited by what exec
 * starts.
 */
/* strobe-test: stress=none */
/* strobe-test: name=inherited args=inherited exit=7 stress=none */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void
by_address_space(void)
{
	struct rlimit old, limit;
	void *blocks[200];
	int n = 0;

	getrlimit(RLIMIT_AS, &old);
	limit = old;
	limit.rlim_cur = 64u << 20;
	CHECK(!setrlimit(RLIMIT_AS, &limit), "setrlimit");
	while (n < 200 && (blocks[n] = malloc(1 << 20))) {
		memset(blocks[n], n, 1 << 20);
		n++;
	}
	CHECK(n > 8 && n < 100, "malloc failed after %d MiB", n);
	CHECK_EQ(errno, ENOMEM);
	void *p = mmap(NULL, 64u << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p == MAP_FAILED && errno == ENOMEM, "mmap beyond the limit");
	for (int i = 0; i < n; i++) {
		CHECK_EQ(((unsigned char *)blocks[i])[i], i);
		free(blocks[i]);
	}
	CHECK(!setrlimit(RLIMIT_AS, &old), "setrlimit");
	p = malloc(64 << 20);
	CHECK(p, "malloc after the limit was lifted");
	free(p);
}

static void
by_break(void)
{
	char *start = sbrk(0);

	CHECK(start == sbrk(4096 * 10), "sbrk");
	memset(start, 7, 4096 * 10);
	CHECK((char *)sbrk(0) == start + 4096 * 10, "break");
	CHECK(sbrk(-4096 * 10) == start + 4096 * 10 && sbrk(0) == start, "lower break");
	CHECK(!brk(start + 100) && sbrk(0) == start + 100, "brk to an odd address");
	CHECK(!brk(start), "brk");
	CHECK(brk((void *)0x7ff000000000) == -1 && errno == ENOMEM && sbrk(0) == start,
	      "brk to nowhere");
}

static void
many_mappings(void)
{
	enum { COUNT = 5000 };
	char *p = mmap(NULL, COUNT * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	               0);

	CHECK(p != MAP_FAILED, "mmap");
	for (int i = 0; i < COUNT; i += 2)
		CHECK(!mprotect(p + i * 4096, 4096, PROT_READ), "mprotect %d", i);
	for (int i = 1; i < COUNT; i += 2)
		p[i * 4096] = (char)i;
	for (int i = 1; i < COUNT; i += 2)
		CHECK_EQ(p[i * 4096], (char)i);
	CHECK(!munmap(p, COUNT * 4096), "munmap");
	CHECK(mincore(p, 4096, (unsigned char[1]){0}) == -1 && errno == ENOMEM, "mincore");
}

/* How much more of address space or data there is room for, in pages; afterwards it is used up. */
static int
room(void)
{
	int n = 0;

	while (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED)
		n++;
	return n;
}

static void *
thread(void *arg)
{
	return arg;
}

static void
under_limit(int resource)
{
	struct rlimit old, limit;
	pthread_attr_t small;
	pthread_t threads[4];
	int status;

	CHECK(!getrlimit(resource, &old), "getrlimit");
	limit = old;
	limit.rlim_cur = 64u << 20;
	CHECK(!setrlimit(resource, &limit), "setrlimit");
	CHECK(!getrlimit(resource, &limit) && limit.rlim_cur == 64u << 20 &&
	              limit.rlim_max == old.rlim_max,
	      "limit is %#lx", (long)limit.rlim_cur);
	CHECK(!pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, 65536),
	      "attributes");
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], &small, thread, NULL), "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pid_t pid = fork();
	if (!pid) {
		int pages = room();
		CHECK(pages > 4096 && pages < 16384, "room for %d pages in a child", pages);
		_exit(5);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5,
	      "status %#x", status);
	CHECK(!setrlimit(resource, &old), "setrlimit");
}

/* argv[2], if any, says that a process before this one has set the limit. */
static int
inherited(char **argv)
{
	struct rlimit limit = {64u << 20, RLIM_INFINITY};

	if (argv[2]) {
		CHECK(!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur == 64u << 20,
		      "limit is %#lx", (long)limit.rlim_cur);
		return 7;
	}
	CHECK(!getrlimit(RLIMIT_DATA, &limit), "getrlimit");
	limit.rlim_cur = 64u << 20;
	CHECK(!setrlimit(RLIMIT_DATA, &limit), "setrlimit");
	CHECK(execl("/nonexistent", "x", NULL) == -1 && errno == ENOENT, "exec of nothing");
	CHECK(!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur == 64u << 20,
	      "limit after a failed exec");
	int pages = room();
	CHECK(pages > 4096 && pages < 16384, "room for %d pages", pages);
	execl(argv[0], argv[0], argv[1], "again", NULL);
	return 1;
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1)
		return inherited(argv);
	under_limit(RLIMIT_AS);
	under_limit(RLIMIT_DATA);
	by_break();
	many_mappings();
	by_address_space();
	puts("memory ends and comes back");
	return 0;
}
