/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting the runtime into a process that is stopped at exec. */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/injection.h"
#include "control/toolfile.h"

/* Where the large tables go: far from the program's own memory. ThreadSanitizer bears nothing
 * outside a few ranges, of which this is one. */
#define HINT_ALIAS ST_TABLES
#define HINT_RESULTS (ST_TABLES + (4ull << 30))
#define BIG_PROGRAM                                                                                \
	(512u << 10) /* bytes of code from which on the main program is what the cache should be   \
	                near to */

/* What fits in there surely. Less than the least cannot work; between the two it is tried. */
#define ROOM (1ull << 40)
#define LEAST_ROOM (1ull << 30)

static int
fail_remote(struct st_injection *in, const char *what, long error)
{
	const char *limit = st_limits_in_the_way(ROOM);
	if (limit)
		return st_fail(in->e, ST_EXIT_FAILED,
		               "the hard limit on %s leaves no room for strobe's tables, which are "
		               "large but mostly unused; start strobe without it",
		               limit);
	return st_fail(in->e, ST_EXIT_FAILED, "cannot prepare the program: %s: %s", what,
	               strerror((int)-error));
}

static int
is_error(long ret)
{
	return ret < 0 && ret > -4096;
}

static void
note_opened(struct st_injection *in, int fd)
{
	if (in->n_opened < sizeof in->opened / sizeof *in->opened)
		in->opened[in->n_opened++] = fd;
}

static void
note_mapped(struct st_injection *in, uint64_t at, uint64_t bytes)
{
	if (in->n_mapped >= sizeof in->mapped / sizeof *in->mapped)
		return;
	in->mapped[in->n_mapped].at = at;
	in->mapped[in->n_mapped++].bytes = bytes;
}

/* Makes a memory file in the target and opens it here too. remote_fd and the return value are
 * descriptors; -1 on error. */
static int
make_file(struct st_injection *in, uint64_t size, int *remote_fd)
{
	long fd = st_remote_call(&in->remote, __NR_memfd_create, in->name, 1 /* MFD_CLOEXEC */, 0,
	                         0, 0, 0);
	if (is_error(fd))
		return fail_remote(in, "memfd_create", fd);
	note_opened(in, (int)fd);
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%ld", in->remote.pid, fd);
	int here = open(path, O_RDWR | O_CLOEXEC);
	if (here < 0 || ftruncate(here, (off_t)size) != 0) {
		int error = errno;
		if (here >= 0)
			close(here);
		return fail_remote(in, "shared memory", -error);
	}
	*remote_fd = (int)fd;
	return here;
}

long
st_injection_mmap(struct st_injection *in, uint64_t at, uint64_t bytes, int prot, int flags, int fd,
                  uint64_t offset)
{
	long p = st_remote_call(&in->remote, __NR_mmap, at, bytes, (uint64_t)prot, (uint64_t)flags,
	                        (uint64_t)(int64_t)fd, offset);
	/* As the kernel counts: what is fixed lies over the region, which is counted already. */
	uint64_t counted = is_error(p) ? 0 : (bytes + 4095) & ~4095ull;
	if (!(flags & MAP_FIXED))
		in->boot.own_space += counted;
	if (!(flags & MAP_FIXED) && counted)
		note_mapped(in, (uint64_t)p, counted);
	if ((flags & MAP_PRIVATE) && (prot & PROT_WRITE))
		in->boot.own_data += counted;
	return p;
}

static void
close_remote(struct st_injection *in, int fd)
{
	st_remote_call(&in->remote, __NR_close, (uint64_t)fd, 0, 0, 0, 0, 0);
}

/* Where the region should be: below the main program when that is large and position-independent,
 * else where the kernel puts it, near the libraries. 0: no wish. */
static uint64_t
region_hint(pid_t pid)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	unsigned long long start, end, base = 0, code = 0;
	char perms[8];
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%llx-%llx %7s", &start, &end, perms) != 3)
			continue;
		if (!base)
			base = start;
		if (start > base + (1ull << 32))
			break;
		if (perms[2] == 'x')
			code += end - start;
	}
	fclose(f);
	if (base < (1ull << 40) || code < BIG_PROGRAM)
		return 0;
	return (base - ST_REGION_SIZE - (64ull << 20)) & ~0x1fffffull;
}

static int
map_region(struct st_injection *in)
{
	uint64_t hint = region_hint(in->remote.pid);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	long p = -ENOMEM;
	if (hint)
		p = st_injection_mmap(in, hint, ST_REGION_SIZE, PROT_NONE,
		                      flags | MAP_FIXED_NOREPLACE, -1, 0);
	if (is_error(p))
		p = st_injection_mmap(in, 0, ST_REGION_SIZE + (2 << 20), PROT_NONE, flags, -1, 0);
	if (is_error(p))
		return fail_remote(in, "address space for the code cache", p);
	in->boot.region = ((uint64_t)p + 0x1fffff) & ~0x1fffffull;
	return 0;
}

static int
map_cache(struct st_injection *in)
{
	int fd, here = make_file(in, ST_CACHE_SIZE, &fd);
	if (here < 0)
		return -1;
	close(here);
	long p = st_injection_mmap(in, in->boot.region, ST_CACHE_SIZE, PROT_READ | PROT_EXEC,
	                           MAP_SHARED | MAP_FIXED, fd, 0);
	if (is_error(p))
		return fail_remote(in, "mapping the code cache", p);
	p = st_injection_mmap(in, HINT_ALIAS, ST_CACHE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	                      0);
	if (is_error(p))
		return fail_remote(in, "mapping the code cache", p);
	in->boot.cache_alias = (uint64_t)p;
	close_remote(in, fd);
	return 0;
}

/* The tables are addressed absolutely, with an index: they have to lie below 2 GiB. From the top
 * down, away from where a program that is not position-independent has its heap. */
static int
map_lookup(struct st_injection *in)
{
	const uint64_t first = 0x7f000000, last = 0x01000000, step = 16 << 20;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long p = -ENOMEM;
	for (uint64_t at = first; is_error(p) && at >= last; at -= step)
		p = st_injection_mmap(in, at, ST_LOOKUP_BYTES, PROT_READ | PROT_WRITE, flags, -1,
		                      0);
	if (is_error(p))
		return fail_remote(in, "mapping the lookup table", p);
	in->boot.lookup = (uint64_t)p;
	return 0;
}

static int
map_runtime(struct st_injection *in, uint64_t *entry)
{
	uint64_t at = in->boot.region + ST_REGION_RUNTIME;
	struct st_runtime_image image;
	if (st_runtime_image_load(at, &image, in->e) != 0)
		return -1;
	int fd, here = make_file(in, image.file_size, &fd), ret = -1;
	if (here < 0)
		goto out;
	if (pwrite(here, image.bytes, image.file_size, 0) != (ssize_t)image.file_size) {
		st_fail(in->e, ST_EXIT_FAILED, "cannot write the runtime: %s", strerror(errno));
		goto out;
	}
	long p = st_injection_mmap(in, at, image.text_size, PROT_READ | PROT_EXEC,
	                           MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (!is_error(p))
		p = st_injection_mmap(in, at + image.text_size, image.file_size - image.text_size,
		                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		                      image.text_size);
	if (!is_error(p) && image.size > image.file_size)
		p = st_injection_mmap(in, at + image.file_size, image.size - image.file_size,
		                      PROT_READ | PROT_WRITE,
		                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (is_error(p)) {
		fail_remote(in, "mapping the runtime", p);
		goto out;
	}
	close_remote(in, fd);
	*entry = at + image.entry;
	in->boot.runtime_end = at + image.size;
	ret = 0;
out:
	if (here >= 0)
		close(here);
	free(image.bytes);
	return ret;
}

/* The i-th tool, which comes from a file. */
static int
map_tool(struct st_injection *in, size_t i)
{
	const struct st_tool_file *file = in->options->tools[i].file;
	const struct st_tool_part *parts;
	uint64_t runtime = in->boot.region + ST_REGION_RUNTIME;
	uint64_t at = in->boot.region + ST_REGION_TOOLS + i * ST_TOOL_ROOM;
	size_t size, n = st_tool_file_parts(file, &parts);
	unsigned char *bytes = st_tool_file_place(file, at, runtime, &size);
	if (!bytes)
		return st_fail(in->e, ST_EXIT_FAILED, "out of memory");
	int fd, here = make_file(in, size, &fd);
	ssize_t wrote = here < 0 ? -1 : pwrite(here, bytes, size, 0);
	free(bytes);
	if (here < 0)
		return -1;
	close(here);
	long p = wrote == (ssize_t)size ? 0 : -ENOMEM;
	for (size_t k = 0; k < n && !is_error(p); k++) {
		int prot = PROT_READ | (parts[k].written ? PROT_WRITE : 0) |
		           (parts[k].executed ? PROT_EXEC : 0);
		p = st_injection_mmap(in, at + parts[k].start, parts[k].end - parts[k].start, prot,
		                      MAP_PRIVATE | MAP_FIXED, fd, parts[k].start);
	}
	close_remote(in, fd);
	return is_error(p) ? fail_remote(in, "mapping a tool", p) : 0;
}

static int
map_tools(struct st_injection *in)
{
	for (size_t i = 0; i < in->options->n_tools; i++)
		if (in->options->tools[i].file && map_tool(in, i) != 0)
			return -1;
	return 0;
}

static int
map_results(struct st_injection *in)
{
	struct st_results_header layout = {0};
	st_results_layout(&layout);
	int fd, here = make_file(in, layout.file_size, &fd);
	if (here < 0)
		return -1;
	void *p = mmap(NULL, layout.file_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
	               here, 0);
	if (in->running)
		in->results_fd = here;
	else
		close(here);
	if (p == MAP_FAILED)
		return fail_remote(in, "mapping the results here", -errno);
	layout.sample_hz = in->options->sample_hz;
	layout.take_stacks = in->options->on_stack != NULL;
	layout.wants_entries = in->options->on_image != NULL;
	layout.unique = in->options->unique;
	layout.unique_last = in->options->unique_last;
	layout.region_by = in->options->region_by;
	layout.budget = in->options->budget;
	layout.budget.pool = st_pool_first(&layout.budget, in->running);
	memcpy(p, &layout, sizeof layout);
	st_results_tools(p, in->options, in->boot.region);
	in->results = p;
	long q = st_injection_mmap(in, HINT_RESULTS, layout.file_size, PROT_READ | PROT_WRITE,
	                           MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (is_error(q))
		return fail_remote(in, "mapping the results", q);
	in->boot.results = (uint64_t)q;
	st_results_place(in->results, (uint64_t)q);
	close_remote(in, fd);
	return 0;
}

/* A socket pair made in the target: one end is fetched here, the other moves out of the program's
 * way. */
static int
make_channel(struct st_injection *in)
{
	uint64_t at = in->name + 16;
	long ret = st_remote_call(&in->remote, __NR_socketpair, AF_UNIX,
	                          SOCK_SEQPACKET | SOCK_CLOEXEC, 0, at, 0, 0);
	if (is_error(ret))
		return fail_remote(in, "socketpair", ret);
	errno = 0;
	long pair = ptrace(PTRACE_PEEKDATA, in->remote.pid, at, 0);
	int ours = (int)(uint32_t)pair, theirs = (int)(uint32_t)((uint64_t)pair >> 32);
	note_opened(in, ours);
	note_opened(in, theirs);
	int pidfd = (int)syscall(SYS_pidfd_open, in->remote.pid, 0);
	in->channel = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, ours, 0);
	int error = errno;
	if (pidfd >= 0)
		close(pidfd);
	if (in->channel < 0)
		return st_fail(in->e, ST_EXIT_FAILED, "cannot follow children: pidfd_getfd: %s",
		               strerror(error));
	struct rlimit limit;
	uint64_t high = 1000;
	if (prlimit(in->remote.pid, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur > 64)
		high = (limit.rlim_cur > 1 << 20 ? 1 << 20 : limit.rlim_cur) - 32;
	long moved = st_remote_call(&in->remote, __NR_fcntl, (uint64_t)theirs, F_DUPFD_CLOEXEC,
	                            high, 0, 0, 0);
	close_remote(in, ours);
	if (!is_error(moved))
		close_remote(in, theirs);
	note_opened(in, (int)moved);
	in->boot.channel = (uint32_t)(is_error(moved) ? theirs : moved);
	return 0;
}

/* A message with a descriptor, and where the kernel puts it, in the target's addresses. */
struct letter {
	struct msghdr header;
	struct iovec part;
	char control[CMSG_SPACE(sizeof(int))];
	char byte;
};

static struct letter
letter_at(uint64_t at)
{
	struct letter l = {.part = {(void *)(at + offsetof(struct letter, byte)), 1}};
	l.header = (struct msghdr){.msg_iov = (void *)(at + offsetof(struct letter, part)),
	                           .msg_iovlen = 1,
	                           .msg_control = (void *)(at + offsetof(struct letter, control)),
	                           .msg_controllen = sizeof l.control};
	return l;
}

static bool
send_descriptor(int channel, int fd)
{
	struct letter l = letter_at((uint64_t)&l);
	struct cmsghdr head = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
	memcpy(l.control, &head, sizeof head);
	memcpy(l.control + CMSG_LEN(0), &fd, sizeof fd);
	return sendmsg(channel, &l.header, MSG_NOSIGNAL) == 1;
}

/* The target takes the descriptor from its socket. Its samples' place is free as yet. */
static int
receive_descriptor(struct st_injection *in)
{
	uint64_t place = in->results->off_samples;
	struct letter *l = (struct letter *)((char *)in->results + place);
	int fd = -1;
	*l = letter_at(in->boot.results + place);
	long ret = st_remote_call(&in->remote, __NR_recvmsg, in->boot.channel,
	                          in->boot.results + place, MSG_CMSG_CLOEXEC, 0, 0, 0);
	if (ret == 1 && l->header.msg_controllen >= CMSG_LEN(sizeof fd))
		memcpy(&fd, l->control + CMSG_LEN(0), sizeof fd);
	memset(l, 0, sizeof *l);
	if (fd >= 0)
		note_opened(in, fd);
	else
		fail_remote(in, "recvmsg", is_error(ret) ? ret : -EMFILE);
	return fd;
}

static int
map_pool(struct st_injection *in)
{
	if (!in->pool || in->pool->fd < 0)
		return 0;
	if (!send_descriptor(in->channel, in->pool->fd))
		return fail_remote(in, "sendmsg", -errno);
	int fd = receive_descriptor(in);
	if (fd < 0)
		return -1;
	long p = st_injection_mmap(in, in->boot.region + ST_REGION_POOL, sizeof *in->pool->here,
	                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (is_error(p))
		return fail_remote(in, "mapping the pool", p);
	in->boot.pool = (uint64_t)p;
	close_remote(in, fd);
	return 0;
}

void
st_general_registers(uint64_t regs[16], const struct user_regs_struct *r)
{
	const uint64_t all[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
	                          r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
	memcpy(regs, all, sizeof all);
}

uint64_t
st_injection_boot(struct st_injection *in)
{
	in->boot.magic = ST_BOOT_MAGIC;
	in->boot.stress = in->options->stress;
	in->boot.follow = in->options->follow;
	in->boot.controller = (uint32_t)getpid();
	st_general_registers(in->boot.regs, &in->remote.saved);
	in->boot.rflags = in->remote.saved.eflags;
	in->boot.pc = in->remote.saved.rip;
	memcpy(st_boot_of(in->results), &in->boot, sizeof in->boot);
	return in->boot.results + (uint64_t)((char *)st_boot_of(in->results) - (char *)in->results);
}

int
st_injection_map(struct st_injection *in, uint64_t *entry)
{
	if (map_region(in) != 0 || map_cache(in) != 0 || map_lookup(in) != 0 ||
	    map_runtime(in, entry) != 0 || map_tools(in) != 0)
		return -1;
	if (map_results(in) != 0)
		return -1;
	bool talks = in->options->follow || in->options->on_image || in->running;
	return talks && make_channel(in) != 0 ? -1 : map_pool(in);
}

void
st_injection_undo(struct st_injection *in)
{
	for (unsigned i = 0; i < in->n_opened; i++)
		close_remote(in, in->opened[i]);
	for (unsigned i = 0; i < in->n_mapped; i++)
		st_remote_call(&in->remote, __NR_munmap, in->mapped[i].at, in->mapped[i].bytes, 0,
		               0, 0, 0);
	if (!in->running) {
		ptrace(PTRACE_POKEDATA, in->remote.pid, in->name, 0);
		ptrace(PTRACE_POKEDATA, in->remote.pid, in->name + 16, 0);
		st_remote_end(&in->remote);
		ptrace(PTRACE_SETREGS, in->remote.pid, 0, &in->remote.saved);
	}
	st_limits_return_to(in->remote.pid, in->boot.limits);
	if (in->channel >= 0)
		close(in->channel);
	if (in->results_fd >= 0)
		close(in->results_fd);
	if (in->results)
		munmap(in->results, in->results->file_size);
}

int
st_inject(pid_t pid, const struct st_run_options *options, const struct st_pool *pool,
          struct st_injected *out, struct st_error *e)
{
	struct st_injection in = {
	        .options = options, .pool = pool, .e = e, .results_fd = -1, .channel = -1};
	uint64_t entry = 0;
	if (st_remote_begin(&in.remote, pid, e) != 0)
		return -1;
	/* The names of memory files: a word in the red zone of a program that has not run yet. */
	in.name = in.remote.saved.rsp - 64;
	long word;
	memcpy(&word, "strobe\0", 8);
	if (ptrace(PTRACE_POKEDATA, pid, in.name, word) != 0) {
		st_fail(e, ST_EXIT_FAILED, "cannot write to the program's stack: %s",
		        strerror(errno));
		st_remote_end(&in.remote);
		return -1;
	}
	st_limits_lift_of(pid, in.boot.limits);
	if ((st_limits_in_the_way(LEAST_ROOM) && fail_remote(&in, "limits", -ENOMEM)) ||
	    st_injection_map(&in, &entry) != 0) {
		st_injection_undo(&in);
		return -1;
	}
	ptrace(PTRACE_POKEDATA, pid, in.name, 0);
	ptrace(PTRACE_POKEDATA, pid, in.name + 16, 0);
	if (st_remote_end(&in.remote) != 0)
		return st_fail(e, ST_EXIT_FAILED, "the program went away while it was prepared");
	struct user_regs_struct regs = in.remote.saved;
	regs.rip = entry;
	regs.rdi = st_injection_boot(&in);
	regs.rsi = 0;
	regs.orig_rax = ~0ull;
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) != 0 || ptrace(PTRACE_DETACH, pid, 0, 0) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start the program under the engine: %s",
		               strerror(errno));
	*out = (struct st_injected){in.results, in.channel};
	return 0;
}
