/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that the kernel writes: read, pread, readv and recv into an executable page that has run
 * before, process_vm_writev, /proc/self/mem; and results of other calls (getcwd, pipe,
 * clock_gettime) stored into a page that holds code.
 */
/* strobe-test: */
#include "code/emit.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

static char *page;
static int ends[2], sockets[2], file;

static void
by_call(int kind, const void *code)
{
	struct iovec local = {(void *)(uintptr_t)code, RETURN_LENGTH},
	             remote = {page, RETURN_LENGTH};
	long n = 0;

	if (kind < 2)
		CHECK(write(ends[1], code, RETURN_LENGTH) == RETURN_LENGTH, "write");
	if (kind == 0)
		n = read(ends[0], page, 100);
	if (kind == 1)
		n = readv(ends[0], &(struct iovec){page, 100}, 1);
	if (kind == 2) {
		CHECK(pwrite(file, code, RETURN_LENGTH, 0) == RETURN_LENGTH, "pwrite");
		n = pread(file, page, 100, 0);
	}
	if (kind == 3) {
		CHECK(send(sockets[1], code, RETURN_LENGTH, 0) == RETURN_LENGTH, "send");
		n = recv(sockets[0], page, 100, 0);
	}
	if (kind == 4)
		n = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	if (kind == 5) {
		int fd = open("/proc/self/mem", O_RDWR);
		n = pwrite(fd, code, RETURN_LENGTH, (off_t)(uintptr_t)page);
		close(fd);
	}
	CHECK(n == RETURN_LENGTH, "kind %d moved %ld bytes", kind, n);
}

/* Calls whose results land in the page beside the code. */
static void
results(void)
{
	struct timespec *now = (struct timespec *)(page + 1024);
	struct stat *info = (struct stat *)(page + 2048);
	int *pair = (int *)(page + 512);

	for (int i = 0; i < 50; i++) {
		emit_return(page, i);
		CHECK_EQ(call(page), i);
		CHECK(getcwd(page + 3000, 1000) == page + 3000 && page[3000] == '/', "getcwd");
		CHECK(!pipe(pair) && pair[0] > 2 && pair[1] > 2, "pipe");
		close(pair[0]), close(pair[1]);
		CHECK(!clock_gettime(CLOCK_REALTIME, now) && now->tv_sec > 1000000,
		      "clock_gettime");
		CHECK(!stat("/", info) && S_ISDIR(info->st_mode), "stat");
		memset(info, 0, sizeof *info);
		CHECK(!nanosleep(&(struct timespec){0, 1}, now), "nanosleep");
		CHECK_EQ(call(page), i);
	}
}

int
main(void)
{
	unsigned char code[RETURN_LENGTH];

	page = map_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	file = memfd_create("code", 0);
	CHECK(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) && file >= 0, "set-up");
	for (int i = 0; i < 300; i++) {
		emit_return(code, i * 5);
		by_call(i % 6, code);
		CHECK_EQ(call(page), i * 5);
	}
	results();
	puts("code written by the kernel runs as written");
	return 0;
}
