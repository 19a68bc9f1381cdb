/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that is out to harm who measures it.
 *
 *	hostile messages VICTIM   sends messages to strobe as its runtime does: of threads of
 *another process, and with memory files that are none. Exit code 1: VICTIM is traced. hostile
 *results SEED      writes over the results while strobe reads them
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wire/control.h"
#include "wire/results/header.h"

enum { SKIPPED = 77 };

/* ---- messages ---- */

/* The runtime's socket is hidden from system calls that name it, but not from this one. */
static int
find_channel(void)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	for (int fd = 3; fd < 2000; fd++) {
		int copy = (int)syscall(SYS_pidfd_getfd, self, fd, 0), type = 0;
		socklen_t n = sizeof type;
		if (copy >= 0 && getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
		    type == SOCK_SEQPACKET)
			return copy;
		if (copy >= 0)
			close(copy);
	}
	return -1;
}

static void
say(int channel, struct st_message m, const int *fds, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control = {0};
	struct iovec part = {&m, sizeof m};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	if (n) {
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(n * sizeof *fds);
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof *fds);
		memcpy(CMSG_DATA(c), fds, n * sizeof *fds);
	}
	if (sendmsg(channel, &header, MSG_NOSIGNAL) != sizeof m)
		perror("hostile: sendmsg");
}

static int
tracer_of(pid_t pid)
{
	char path[64], line[256];
	int tracer = -1;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "TracerPid:", 10))
			tracer = atoi(line + 10);
	if (f)
		fclose(f);
	return tracer;
}

static void
nap(void)
{
	nanosleep(&(struct timespec){0, 200000000}, NULL);
}

static int
send_messages(pid_t victim)
{
	const uint32_t self = (uint32_t)getpid(), other = (uint32_t)victim;
	int channel = find_channel(), traced = 0;
	if (channel < 0)
		return SKIPPED;
	const struct st_message execs[] = {
	        {ST_MESSAGE_EXEC, self, 1, other, self, other},
	        {ST_MESSAGE_EXEC, other, self, other, other, other},
	        {ST_MESSAGE_EXEC, other, self, other, self, other},
	        {ST_MESSAGE_EXEC_FAILED, self, 1, other, self, 0},
	        {99, ~0u, ~0u, ~0u, ~0u, ~0u},
	};
	for (size_t i = 0; i < sizeof execs / sizeof *execs; i++) {
		say(channel, execs[i], NULL, 0);
		nap();
		traced |= tracer_of(victim) != 0;
	}
	/* Files: empty, short, one that becomes shorter, a device, several at once. */
	int files[4] = {memfd_create("strobe", MFD_ALLOW_SEALING), memfd_create("strobe", 0),
	                open("/dev/zero", O_RDWR | O_CLOEXEC), open("/proc/self/exe", O_RDONLY)};
	const struct st_message forked = {ST_MESSAGE_FORKED, other, self, other, 0, 0};
	for (int i = 0; i < 4; i++)
		say(channel, forked, &files[i], 1);
	for (off_t size = 1; size < (off_t)1 << 40; size <<= 3) {
		if (ftruncate(files[0], size) != 0 || ftruncate(files[1], size) != 0)
			break;
		say(channel, forked, files, 4);
	}
	nap();
	if (ftruncate(files[0], 0) != 0 || ftruncate(files[1], 0) != 0)
		perror("hostile: ftruncate");
	nap();
	return traced;
}

/* ---- results ---- */

static uint64_t state;

static uint64_t
pick(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return below ? (state >> 20) % below : 0;
}

static uint64_t
odd_value(void)
{
	static const uint64_t odd[] = {0,          1,          7,          0xff,       0xffff,
	                               UINT32_MAX, UINT64_MAX, 1ull << 63, 1ull << 31, 4096};
	return pick(3) ? odd[pick(sizeof odd / sizeof *odd)] : pick(1ull << (1 + pick(43)));
}

/* The mapping that is larger than any other of the engine's. */
static struct st_results_header *
find_results(void)
{
	char line[512];
	uint64_t from, to, most = 1 << 30, at = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "/memfd:strobe") &&
		    sscanf(line, "%lx-%lx rw-s", &from, &to) == 2 && to - from > most) {
			most = to - from;
			at = from;
		}
	if (f)
		fclose(f);
	return (struct st_results_header *)at;
}

static void
put(struct st_results_header *h, uint64_t at)
{
	uint64_t value = odd_value();
	memcpy((char *)h + at, &value, (size_t)1 << pick(4));
}

static __attribute__((noinline)) unsigned
work(unsigned n)
{
	volatile unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum = sum * 3 + i;
	return sum;
}

/* The header, what it points to, and the beginnings of the sections. */
static void
write_over(struct st_results_header *h)
{
	const uint64_t sections[] = {
	        h->layout.off_maps,     h->layout.off_strings,  h->layout.off_blocks,
	        h->layout.off_amounts,  h->layout.off_partials, h->layout.off_threads,
	        h->layout.off_samples,  h->layout.off_stacks,   h->layout.off_sites,
	        h->layout.off_tables,   h->layout.off_entries,  h->layout.off_labels,
	        h->layout.off_counters, h->layout.off_nodes,    h->layout.off_costs,
	        h->layout.off_chunks,   h->layout.off_loops,    h->layout.off_entry_names};
	for (int i = 0; i < 400; i++) {
		switch (pick(4)) {
		case 0:
			put(h, pick(ST_LAYOUT_BYTES));
			break;
		case 1:
			put(h, ST_LAYOUT_BYTES + pick(sizeof *h - ST_LAYOUT_BYTES - 8));
			break;
		default:
			put(h, sections[pick(sizeof sections / sizeof *sections)] + pick(1 << 14));
			break;
		}
		work(200);
	}
}

/* Our own runtime may wait for ever for what was written over. */
static void
end_later(pid_t parent)
{
	if (fork() != 0)
		return;
	for (int i = 0; i < 75 && getppid() == parent; i++)
		nap();
	if (getppid() == parent)
		kill(parent, SIGKILL);
	_exit(0);
}

static int
scribble(uint64_t seed)
{
	state = seed * 2654435761u + 1;
	end_later(getpid());
	work(200000);
	struct st_results_header *h = find_results();
	if (!h)
		return SKIPPED;
	if (pick(4) == 0 && fork() == 0)
		work(100000);
	write_over(h);
	nap();
	_exit(7);
}

int
main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "messages"))
		return send_messages((pid_t)atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "results"))
		return scribble(strtoull(argv[2], NULL, 10));
	fprintf(stderr, "usage: %s messages PID | results SEED\n", argv[0]);
	return 2;
}
