/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code in writable memory that an engine cannot protect from writes: sealed memory (before and
 * after it has run for the first time), so many pages with code, each amid others without, that
 * each as a mapping of its own would be more than the kernel allows; mappings that the program
 * itself uses up then; and memory whose contents change without a write, or that another mapping
 * takes the place of.
 */
/* strobe-test: name=sealed args=sealed */
/* strobe-test: name=sealed-later args=later */
/* strobe-test: name=many args=many tools=null,hot timeout=120 */
/* strobe-test: name=mappings args=mappings tools=null,bbcount timeout=120 stress=lookup */
/* strobe-test: name=replaced args=replaced */
/* strobe-test: name=forked args=forked follow=1 */
#include "code/emit.h"
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ALL = PROT_READ | PROT_WRITE | PROT_EXEC, PAGE = 4096, MSEAL = 462 };

/* Changes the code at the address again and again. */
static void
change(void *at, int from, int to)
{
	for (int i = from; i < to; i++) {
		emit_return(at, i);
		CHECK_EQ(call(at), i);
	}
}

static void
sealed(bool later)
{
	char *p = map_code(3 * PAGE, ALL);
	char *across = p + 2 * PAGE - 3; /* in two pages */

	emit_return(p, 1);
	emit_return(across, 2);
	if (later) {
		CHECK_EQ(call(p), 1);
		CHECK_EQ(call(across), 2);
	}
	if (syscall(MSEAL, p, 2 * PAGE, 0)) {
		CHECK(errno == ENOSYS, "mseal: %s", strerror(errno));
		fprintf(stderr, "no mseal\n");
		exit(CHECK_SKIPPED);
	}
	change(p, 3, 60);
	change(across, 60, 120);
	change(p + 2 * PAGE + 100, 120, 180); /* this one is not sealed */
}

/* Mappings that a process may have. */
static long
most_mappings(void)
{
	long most = 65530;
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");

	if (f && fscanf(f, "%ld", &most) != 1)
		most = 65530;
	if (f)
		fclose(f);
	if (most > 70000) {
		fprintf(stderr, "more than %ld mappings would be needed\n", most);
		exit(CHECK_SKIPPED);
	}
	return most;
}

/* Functions in every other of 2 n pages. */
static void
every_other(char *p, long n, int value)
{
	for (long i = 0; i < n; i++) {
		emit_return(p + i * 2 * PAGE, value + (int)i);
		CHECK_EQ(call(p + i * 2 * PAGE), value + (int)i);
	}
}

static void
many(void)
{
	long n = most_mappings() * 11 / 20;
	char *p = map_code((size_t)n * 2 * PAGE, ALL);

	every_other(p, n, 1);
	every_other(p, n, 1000000);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
	      "mmap: %s", strerror(errno));
	CHECK(malloc(1 << 20), "malloc");
}

static void
use_up_mappings(void)
{
	enum { CODE = 6000 };
	long n = (most_mappings() - 3000) / 2;
	char *code = map_code(CODE * 2 * PAGE, ALL);
	char *data = mmap(NULL, (size_t)n * 2 * PAGE, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(data != MAP_FAILED, "mmap: %s", strerror(errno));
	every_other(code, CODE, 1);
	for (long i = 0; i < n; i++)
		CHECK(!mprotect(data + i * 2 * PAGE, PAGE, PROT_READ), "mapping %ld: %s", i,
		      strerror(errno));
	every_other(code, CODE, 50000);
	CHECK(!munmap(data, (size_t)n * 2 * PAGE), "munmap");
	every_other(code, CODE, 100000);
}

/* A page of a file in memory that begins with a function. */
static int
code_file(int value)
{
	char page[PAGE] = "";
	int fd = (int)syscall(SYS_memfd_create, "code", 0);

	emit_return(page, value);
	CHECK(fd >= 0 && write(fd, page, PAGE) == PAGE, "a file in memory");
	return fd;
}

static void
replaced(void)
{
	int fd = code_file(77);
	char *p = mmap(NULL, PAGE, ALL, MAP_PRIVATE, fd, 0), *q = map_code(3 * PAGE, ALL);

	CHECK(p != MAP_FAILED, "mmap");
	CHECK_EQ(call(p), 77);
	for (int i = 0; i < 50; i++) {
		change(p, i, i + 1);
		CHECK(!madvise(p, PAGE, MADV_DONTNEED), "madvise");
		CHECK_EQ(call(p), 77);
	}
	for (int i = 0; i < 20; i++) {
		change(q + PAGE, i, i + 2);
		CHECK(mmap(q + PAGE, PAGE, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		              q + PAGE,
		      "mmap");
		change(q + PAGE, i, i + 5);
		/* It is one mapping, so it can be moved and made larger. */
		q = mremap(q, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		           map_code(3 * PAGE, PROT_NONE));
		CHECK(q != MAP_FAILED, "mremap: %s", strerror(errno));
		change(q + PAGE, i, i + 3);
	}
}

/* Code that is protected when the process is copied. */
static void
forked(void)
{
	char *p = map_code(2 * PAGE, ALL);
	int status = -1;

	change(p, 0, 1);
	change(p + PAGE, 1, 2);
	pid_t child = fork();
	change(p, 2, 20);
	change(p + PAGE, 20, 30);
	change(p, 30, 80);
	if (child == 0)
		_exit(0);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ends with %#x",
	      status);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "sealed") || !strcmp(what, "later"))
		sealed(!strcmp(what, "later"));
	else if (!strcmp(what, "many"))
		many();
	else if (!strcmp(what, "mappings"))
		use_up_mappings();
	else if (!strcmp(what, "replaced"))
		replaced();
	else if (!strcmp(what, "forked"))
		forked();
	printf("%s: the code that runs is the code that is there\n", what);
	return 0;
}
