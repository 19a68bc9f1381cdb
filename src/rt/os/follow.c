/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children taken along: a fork's child gets a cache and results of its own, an exec's program a
 * runtime of its own. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/budget/adaptive.h"
#include "rt/budget/suppress.h"
#include "rt/jit/jit.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/sandbox.h"
#include "rt/tool/callbacks.h"
#include "rt/unwind/unwind.h"
#include "wire/control.h"

/* Sends a message, with a descriptor if fd >= 0. False when the controller has gone. */
static bool
send_message(const struct st_message *m, int fd)
{
	struct {
		uint64_t base, len;
	} part = {(uint64_t)m, sizeof *m};
	struct {
		uint64_t len;
		int level, type;
		int fd, pad;
	} control = {20, 1 /* SOL_SOCKET */, 1 /* SCM_RIGHTS */, fd, 0};
	struct {
		uint64_t name;
		uint32_t namelen, pad1;
		uint64_t parts, n_parts, control, control_len;
		int flags, pad2;
	} header = {.parts = (uint64_t)&part, .n_parts = 1};
	if (fd >= 0) {
		header.control = (uint64_t)&control;
		header.control_len = sizeof control;
	}
	return SYS(__NR_sendmsg, rt.boot->channel, &header, 0x4000 /* MSG_NOSIGNAL */) == sizeof *m;
}

bool
process_tell(const struct st_message *m)
{
	return send_message(m, -1);
}

/* RLIMIT_FSIZE is about memory files, too: beyond it there is a signal that would be the program's
 * end. */
static bool
set_size(int fd, uint64_t size)
{
	enum { FSIZE = 1 };
	uint64_t limit[2] = {~0ull, ~0ull};
	SYS(__NR_prlimit64, 0, FSIZE, 0, limit);
	if (limit[0] >= size)
		return SYS(__NR_ftruncate, fd, size) == 0;
	uint64_t raised[2] = {limit[1], limit[1]};
	if (limit[1] < size || SYS(__NR_prlimit64, 0, FSIZE, raised, 0) != 0)
		return false;
	bool ok = SYS(__NR_ftruncate, fd, size) == 0;
	SYS(__NR_prlimit64, 0, FSIZE, limit, 0);
	return ok;
}

static int
make_memory_file(uint64_t size)
{
	/* The controller takes no file that could become shorter while it reads it. */
	enum { CLOEXEC_SEALABLE = 3, ADD_SEALS = 1033, SEAL_SHRINK_GROW = 7 };
	int fd = (int)SYS(__NR_memfd_create, "strobe", CLOEXEC_SEALABLE);
	if (fd >= 0 &&
	    (!set_size(fd, size) || SYS(__NR_fcntl, fd, ADD_SEALS, SEAL_SHRINK_GROW) != 0)) {
		SYS(__NR_close, fd);
		return -1;
	}
	return fd;
}

/* That many bytes of the file from that offset on, where the file as a whole begins at `at`. */
static bool
map_over(uint64_t at, uint64_t offset, uint64_t bytes, int prot, int fd)
{
	long p = SYS(__NR_mmap, at + offset, bytes, prot, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
	             fd, offset);
	SYS(__NR_madvise, at + offset, bytes, 16 /* MADV_DONTDUMP */);
	return !sys_failed(p);
}

/* A code cache that is not the parent's. */
static bool
renew_cache(void)
{
	int fd = make_memory_file(ST_CACHE_SIZE);
	if (fd < 0)
		return false;
	bool ok = map_over(rt.target.area, 0, ST_CACHE_SIZE, PROT_READ | PROT_EXEC, fd) &&
	          map_over(rt.alias, 0, ST_CACHE_SIZE, PROT_READ | PROT_WRITE, fd);
	SYS(__NR_close, fd);
	return ok;
}

/* A child needs only the first structures of the header. The rest, most of it, is zero and has no
 * pages yet. */
enum { HEADER_HEAD = offsetof(struct st_results_header, counters) };

/* The header of a child: the parent's plan, and nothing of what has happened to the parent. */
static void
make_header(struct st_results_header *to, const struct st_results_header *from)
{
	memset(to, 0, HEADER_HEAD);
	memcpy(to->layout_page, from->layout_page, sizeof to->layout_page);
	to->layout.pid = rt.pid;
	to->layout.ppid = from->layout.pid;
	to->plan = from->plan;
	to->plan.budget.first_ns = 0; /* only the program's first process has such a period */
	to->control.budget_amount = __atomic_load_n(&from->control.budget_amount, __ATOMIC_RELAXED);
	to->control.region_on = from->control.region_on;
	to->run.state = ST_RUN_CACHE;
	to->run.tsc_begin = rt_tsc();
	to->strings.n = from->plan.n_options;
	to->blocks.n = ST_FIRST_ID;
	to->threads.n_slots = 1;
	to->contexts.n_labels = to->contexts.n_nodes = 1;
	to->contexts.has_costs = from->contexts.has_costs;
	to->budget.no_native = from->budget.no_native;
}

/* Shared knowledge of code stays where it is. */
static bool
map_own_results(const struct st_results_header *h, int fd)
{
	const int prot = PROT_READ | PROT_WRITE;
	uint64_t at = (uint64_t)rt.results, from = h->layout.off_coverage,
	         to = from + 2ull * ST_COVERAGE_BYTES;
	if (!h->plan.one_coverage)
		return map_over(at, 0, h->layout.file_size, prot, fd);
	return map_over(at, 0, from, prot, fd) &&
	       map_over(at, to, h->layout.file_size - to, prot, fd);
}

/* Results that are not the parent's; *fd is their file. */
static bool
renew_results(int *fd)
{
	static struct st_results_header header; /* too large for the stack */
	static char options[8192];
	make_header(&header, rt.results);
	const char *strings = (const char *)rt.results + header.layout.off_strings;
	memcpy(options, strings, header.plan.n_options);
	*fd = make_memory_file(header.layout.file_size);
	if (*fd < 0 || !map_own_results(&header, *fd))
		return false;
	memcpy(rt.results, &header, HEADER_HEAD);
	memcpy((char *)rt.results + header.layout.off_strings, options, header.plan.n_options);
	return true;
}

bool
process_follow_fork(struct thread *t)
{
	int fd = -1;
	rt.pid = (uint32_t)SYS(__NR_getpid);
	rt.locks_future = LOCK_NOT; /* not for a child */
	if (!renew_cache() || !renew_results(&fd)) {
		if (fd >= 0)
			SYS(__NR_close, fd);
		return false;
	}
	leave_forget(t);
	rt.target.threaded = t != rt.main || (rt.stress & ST_STRESS_threads);
	thread_become_only(t);
	jit_restart();
	adaptive_restart();
	jit_forget_partials();
	suppress_forget(t);
	tools_restart(t);
	unwind_forget();
	callback_thread_begin(t);
	maps_restart();
	limits_restart();
	struct st_message m = {.kind = ST_MESSAGE_FORKED,
	                       .pid = rt.pid,
	                       .ppid = rt.results->layout.ppid,
	                       .tid = t->tid};
	send_message(&m, fd);
	SYS(__NR_close, fd);
	entries_ask();
	return true;
}

/* Has the file capabilities of its own? */
static bool
has_capabilities(int folder, const char *path, uint64_t flags)
{
	enum { AT_EMPTY_PATH = 0x1000, O_PATH_CLOEXEC = 012000000 };
	static const char name[] = "security.capability";
	char by_number[32] = "/proc/self/fd/";
	if (folder == -100)
		return SYS(__NR_getxattr, path, name, 0, 0) > 0;
	int fd = (int)SYS(__NR_openat, folder, path, O_PATH_CLOEXEC, 0);
	if (fd < 0 && (flags & AT_EMPTY_PATH))
		fd = folder; /* it is the program itself */
	if (fd < 0)
		return false;
	rt_decimal(by_number + 14, (uint32_t)fd);
	bool has = SYS(__NR_getxattr, by_number, name, 0, 0) > 0;
	if (fd != folder)
		SYS(__NR_close, fd);
	return has;
}

/* A program that is set-uid, or has file capabilities, would lose its privileges under a tracer. */
static bool
exec_is_privileged(const struct thread *t)
{
	enum { SET_UID = 04000, SET_GID = 02000 };
	const uint64_t *r = t->regs.r;
	uint8_t st[144];
	uint32_t mode, uid, gid;
	bool at = r[RAX] == __NR_execveat;
	int folder = at ? (int)r[RDI] : -100 /* AT_FDCWD */;
	uint64_t path = at ? r[RSI] : r[RDI], flags = at ? r[R8] & 0x1100 : 0;
	if (SYS(__NR_newfstatat, folder, path, st, flags) != 0)
		return false;
	memcpy(&mode, st + 24, 4);
	memcpy(&uid, st + 28, 4);
	memcpy(&gid, st + 32, 4);
	return ((mode & SET_UID) && uid != (uint32_t)SYS(__NR_geteuid)) ||
	       ((mode & SET_GID) && gid != (uint32_t)SYS(__NR_getegid)) ||
	       has_capabilities(folder, (const char *)path, flags);
}

/* A child's reasons are not the process'. */
static bool
leave_exec_alone(const struct thread *t, enum st_exec_alone why)
{
	if (!t->own_process)
		rt.results->run.exec_alone = why;
	return false;
}

bool
follow_exec_begin(struct thread *t)
{
	if (!rt.boot->channel)
		return false;
	if (exec_is_privileged(t))
		return leave_exec_alone(t, ST_EXEC_PRIVILEGED);
	if (!sandbox_bears_engine(t)) {
		rt_note_fallback(t->regs.pc, ST_FALLBACK_SECCOMP);
		return leave_exec_alone(t, ST_EXEC_SANDBOXED);
	}
	if (!t->own_process)
		rt.results->run.exec_alone = ST_EXEC_FOLLOWED;
	uint32_t ticket = (uint32_t)SYS(__NR_gettid);
	rt.results->control.exec_ack = 0;
	SYS(__NR_prctl, 0x59616d61 /* PR_SET_PTRACER */, rt.boot->controller);
	struct st_message m = {.kind = ST_MESSAGE_EXEC,
	                       .pid = (uint32_t)SYS(__NR_getpid),
	                       .ppid = (uint32_t)SYS(__NR_getppid),
	                       .tid = ticket,
	                       .results_pid = rt.pid,
	                       .ticket = ticket};
	if (!send_message(&m, -1))
		return false;
	/* Another thread's answer may take the place of ours. */
	for (int tries = 0; tries < 5; tries++)
		if (__atomic_load_n(&rt.results->control.exec_ack, __ATOMIC_SEQ_CST) == ticket ||
		    !controller_answers(&rt.results->control.exec_ack, 0, 5))
			break;
	return true;
}

void
follow_exec_failed(struct thread *t)
{
	struct st_message m = {.kind = ST_MESSAGE_EXEC_FAILED,
	                       .pid = (uint32_t)SYS(__NR_getpid),
	                       .tid = (uint32_t)SYS(__NR_gettid),
	                       .results_pid = rt.pid};
	(void)t;
	send_message(&m, -1);
}
