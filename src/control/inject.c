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
#include "toolkit/toolfile.h"

/* The addresses of the large tables are far from the program's memory. ThreadSanitizer tolerates
 * mappings in a few ranges only; this is one of them. */
#define HINT_ALIAS ST_TABLES
#define HINT_RESULTS (ST_TABLES + (4ull << 30))
#define BIG_PROGRAM                                                                                \
	(512u << 10) /* bytes of code from which on the main program is what the cache should be   \
	                near to */

/* ROOM always suffices, less than LEAST_ROOM never does; in between, the mapping is tried. */
#define ROOM (1ull << 40)
#define LEAST_ROOM (1ull << 30)

st_status
st_injection_fail(struct st_injection *in, const char *what, long error)
{
	const char *limit = st_limits_in_the_way(ROOM);
	if (limit)
		return st_fail(in->e, ST_EXIT_FAILED,
		               "the hard limit on %s leaves no space for the tables of strobe, "
		               "which are large but mostly unused: start strobe without this limit",
		               limit);
	if (error == -EMFILE)
		return st_fail(in->e, ST_EXIT_FAILED,
		               "too few file descriptors are left to prepare the program: raise "
		               "the limit (ulimit -n)");
	return st_fail(in->e, ST_EXIT_FAILED, "cannot prepare the program: %s: %s", what,
	               strerror((int)-error));
}

void
st_injection_opened(struct st_injection *in, int fd)
{
	if (in->n_opened < sizeof in->opened / sizeof *in->opened)
		in->opened[in->n_opened++] = fd;
}

void
st_injection_way_back(struct st_injection *in)
{
	struct st_remote_call calls[ST_UNDO_MOST];
	unsigned n = 0;
	for (unsigned i = 0; i < in->n_opened; i++)
		calls[n++] = (struct st_remote_call){__NR_close, {(uint64_t)in->opened[i]}};
	/* Backwards: the first, of a process that was running, is where this list lies. */
	for (unsigned i = in->n_mapped; i-- > 0;)
		calls[n++] = (struct st_remote_call){__NR_munmap,
		                                     {in->mapped[i].at, in->mapped[i].bytes}};
	st_remote_way_back(&in->remote, in->undo, calls, in->undo ? n : 0, in->fds, in->fds_end);
}

/* A mapping that has been made. As the kernel counts: what is fixed lies over the region, which is
 * counted already. */
static void
note_mapped(struct st_injection *in, const struct st_remote_call *made)
{
	uint64_t bytes = (made->arg[1] + 4095) & ~4095ull, prot = made->arg[2],
	         flags = made->arg[3];
	if ((flags & MAP_PRIVATE) && (prot & PROT_WRITE))
		in->boot.own_data += bytes;
	if (flags & MAP_FIXED)
		return;
	in->boot.own_space += bytes;
	if (in->n_mapped >= sizeof in->mapped / sizeof *in->mapped)
		return;
	in->mapped[in->n_mapped].at = (uint64_t)made->nr;
	in->mapped[in->n_mapped++].bytes = bytes;
}

void
st_injection_call(struct st_injection *in, const char *what, struct st_remote_call call)
{
	in->what[in->n_calls] = what;
	in->calls[in->n_calls++] = call;
}

void
st_injection_mmap(struct st_injection *in, const char *what, uint64_t at, uint64_t bytes, int prot,
                  int flags, int fd, uint64_t offset)
{
	st_injection_call(in, what,
	                  (struct st_remote_call){__NR_mmap,
	                                          {at, bytes, (uint64_t)prot, (uint64_t)flags,
	                                           (uint64_t)(int64_t)fd, offset}});
}

void
st_injection_close(struct st_injection *in, int fd)
{
	st_injection_call(in, "close", (struct st_remote_call){__NR_close, {(uint64_t)fd}});
}

st_status
st_injection_do(struct st_injection *in)
{
	unsigned n = in->n_calls;
	bool maps[ST_REMOTE_MOST] = {false};
	for (unsigned i = 0; i < n; i++)
		maps[i] = in->calls[i].nr == __NR_mmap;
	unsigned done = st_remote_calls(&in->remote, in->calls, n);
	for (unsigned i = 0; i < done; i++)
		if (maps[i])
			note_mapped(in, &in->calls[i]);
	in->n_calls = 0;
	st_injection_way_back(in);
	return done == n ? 0 : st_injection_fail(in, in->what[done], in->calls[done].nr);
}

/*
 * Where the region should be: below the main program when that is large and position-independent,
 * else where the kernel puts it, near the libraries. And the place for the lookup tables: they are
 * addressed absolutely, with an index, and so have to lie below 2 GiB. From the top down, away from
 * where a program that is not position-independent has its heap.
 */
static st_status
look_around(struct st_injection *in)
{
	enum { STEP = 16 << 20, PLACES = 128 };
	bool taken[PLACES] = {true};
	char path[64], line[4352];
	uint64_t base = 0, code = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", in->remote.pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		char *end;
		uint64_t from = strtoull(line, &end, 16);
		uint64_t to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
		if (to <= from || strlen(end) < 4)
			continue;
		for (uint64_t i = from / STEP; i < PLACES && i * STEP < to; i++)
			taken[i] = taken[i] || from < i * STEP + ST_LOOKUP_MAPPED;
		if (!base)
			base = from;
		if (from > base + (1ull << 32))
			break;
		if (end[3] == 'x')
			code += to - from;
	}
	if (f)
		fclose(f);
	if (base >= (1ull << 40) && code >= BIG_PROGRAM)
		in->region_hint = (base - ST_AREA_SIZE - (64ull << 20)) & ~0x1fffffull;
	unsigned place = PLACES;
	while (place && taken[place - 1])
		place--;
	if (!place)
		return st_injection_fail(in, "mapping the lookup table", -ENOMEM);
	in->boot.lookup = (uint64_t)(place - 1) * STEP;
	return 0;
}

static st_status
begin_inject(struct st_injection *in)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	const char *what = "address space for the code cache";
	uint64_t hint = in->region_hint;
	if (hint)
		st_injection_mmap(in, what, hint, ST_AREA_SIZE, PROT_NONE,
		                  flags | MAP_FIXED_NOREPLACE, -1, 0);
	if (!hint || st_injection_do(in) != 0)
		st_injection_mmap(in, what, 0, ST_AREA_SIZE + (2 << 20), PROT_NONE, flags, -1, 0);
	st_parcel_prepare(in);
	if (st_injection_do(in) != 0)
		return -1;
	in->boot.area = (in->mapped[in->n_mapped - 1].at + 0x1fffff) & ~0x1fffffull;
	return 0;
}

/* A memory file for the parcel. */
static int
make_file(struct st_injection *in, uint64_t size)
{
	int fd = st_memory_file(size);
	if (fd < 0)
		return st_injection_fail(in, "shared memory", -errno);
	in->here[in->n_parcel++] = fd;
	return fd;
}

/* The i-th tool, if it comes from a file: its memory. */
static st_status
make_tool(struct st_injection *in, size_t i)
{
	const struct st_tool_file *file = in->options->tools[i].file;
	uint64_t runtime = in->boot.area + ST_AREA_RUNTIME;
	size_t size;
	if (!file)
		return 0;
	unsigned char *bytes = st_tool_file_place(
	        file, in->boot.area + ST_AREA_TOOLS + i * ST_TOOL_SPACE, runtime, &size);
	if (!bytes)
		return st_fail(in->e, ST_EXIT_FAILED, "out of memory");
	int fd = make_file(in, size);
	ssize_t wrote = fd < 0 ? 0 : pwrite(fd, bytes, size, 0);
	free(bytes);
	if (fd < 0)
		return -1;
	return wrote == (ssize_t)size ? 0 : st_injection_fail(in, "mapping a tool", -ENOMEM);
}

static st_status
make_results(struct st_injection *in)
{
	struct st_results_header sizes = {0}, *h;
	st_results_layout(&sizes);
	int fd = make_file(in, sizes.layout.file_size);
	if (fd < 0)
		return -1;
	h = mmap(NULL, sizes.layout.file_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
	         fd, 0);
	if (h == MAP_FAILED)
		return st_injection_fail(in, "mapping the results here", -errno);
	st_results_layout(h);
	h->plan.sample_hz = in->options->sample_hz;
	h->plan.take_stacks = in->options->on_stack != NULL;
	h->plan.take_waits = in->options->take_waits && h->plan.take_stacks;
	h->plan.wants_entries = in->options->on_image != NULL;
	h->plan.unique = in->options->unique;
	h->plan.suppresses = in->options->suppresses;
	h->plan.unique_last = in->options->unique_last;
	h->plan.one_coverage = in->options->known != NULL;
	h->plan.region_by = in->options->region_by;
	h->plan.stress = in->options->stress;
	h->plan.follow = in->options->follow;
	h->plan.follow_exec = in->options->follow_exec;
	h->plan.serves = in->options->serves;
	h->plan.budget = in->options->budget;
	h->control.budget_amount = in->options->budget.amount;
	h->budget.pool = st_pool_first(&h->plan.budget, in->running);
	st_results_tools(h, in->options, in->boot.area);
	in->results = h;
	return 0;
}

/* In the order of the ST_PARCEL_ constants. */
static st_status
make_parcel(struct st_injection *in)
{
	if (make_file(in, ST_CACHE_SIZE) < 0 || make_results(in) != 0)
		return -1;
	in->here[in->n_parcel++] = in->shared->fd;
	if (in->pool && in->pool->fd >= 0)
		in->here[in->n_parcel++] = in->pool->fd;
	if (in->options->known)
		in->here[in->n_parcel++] = in->options->known->fd;
	for (size_t i = 0; i < in->options->n_tools; i++)
		if (make_tool(in, i) != 0)
			return -1;
	return 0;
}

void
st_injection_end(struct st_injection *in)
{
	for (unsigned i = 0; i < in->n_parcel; i++)
		if (in->here[i] >= 0 && in->here[i] != in->shared->fd &&
		    (!in->options->known || in->here[i] != in->options->known->fd) &&
		    (!in->pool || in->here[i] != in->pool->fd))
			close(in->here[i]);
	in->n_parcel = 0;
}

static void
map_runtime(struct st_injection *in)
{
	const char *what = "mapping the runtime";
	const struct st_runtime_image *image = &in->shared->image;
	uint64_t at = in->boot.area + ST_AREA_RUNTIME;
	int fd = in->there[ST_PARCEL_SHARED];
	st_injection_mmap(in, what, at, image->text_size, PROT_READ | PROT_EXEC,
	                  MAP_PRIVATE | MAP_FIXED, fd, 0);
	st_injection_mmap(in, what, at + image->text_size, image->file_size - image->text_size,
	                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, image->text_size);
	if (image->size > image->file_size)
		st_injection_mmap(in, what, at + image->file_size, image->size - image->file_size,
		                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		                  -1, 0);
	in->boot.runtime_end = at + image->size;
}

static void
map_lookup(struct st_injection *in)
{
	const char *what = "mapping the lookup table";
	int flags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	int fd = in->there[ST_PARCEL_SHARED];
	st_injection_mmap(in, what, in->boot.lookup, ST_LOOKUP_BYTES, PROT_READ | PROT_WRITE, flags,
	                  fd, ST_SHARED_LOOKUP);
	st_injection_mmap(in, what, in->boot.lookup + ST_LOOKUP_BYTES,
	                  ST_LOOKUP_MAPPED - ST_LOOKUP_BYTES, PROT_READ | PROT_EXEC, flags, fd,
	                  ST_SHARED_LOOKUP + ST_LOOKUP_BYTES);
}

/* The i-th tool, which comes from a file. */
static void
map_tool(struct st_injection *in, size_t i, int fd)
{
	const struct st_tool_file *file = in->options->tools[i].file;
	const struct st_tool_part *parts;
	uint64_t at = in->boot.area + ST_AREA_TOOLS + i * ST_TOOL_SPACE;
	size_t n = st_tool_file_parts(file, &parts);
	for (size_t k = 0; k < n; k++) {
		int prot = PROT_READ | (parts[k].written ? PROT_WRITE : 0) |
		           (parts[k].executed ? PROT_EXEC : 0);
		st_injection_mmap(in, "mapping a tool", at + parts[k].start,
		                  parts[k].end - parts[k].start, prot, MAP_PRIVATE | MAP_FIXED, fd,
		                  parts[k].start);
	}
}

static st_status
map_tools(struct st_injection *in, unsigned first)
{
	for (size_t i = 0; i < in->options->n_tools; i++) {
		if (!in->options->tools[i].file)
			continue;
		map_tool(in, i, in->there[first++]);
		if (st_injection_do(in) != 0)
			return -1;
	}
	return 0;
}

/* Maps the coverage bitmaps that all processes of the run share, in place of those of this process.
 */
static void
map_known(struct st_injection *in, int fd)
{
	st_injection_mmap(in, "mapping what is known of code",
	                  in->boot.results + in->results->layout.off_coverage,
	                  2ull * ST_COVERAGE_BYTES, PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
	st_injection_close(in, fd);
}

/* Maps the large tables, at any address. */
static st_status
map_tables(struct st_injection *in)
{
	int cache = in->there[ST_PARCEL_CACHE];
	unsigned first = in->n_mapped;
	st_injection_mmap(in, "mapping the code cache", HINT_ALIAS, ST_CACHE_SIZE,
	                  PROT_READ | PROT_WRITE, MAP_SHARED, cache, 0);
	st_injection_mmap(in, "mapping the results", HINT_RESULTS, in->results->layout.file_size,
	                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
	                  in->there[ST_PARCEL_RESULTS], 0);
	st_injection_mmap(in, "mapping the code cache", in->boot.area, ST_CACHE_SIZE,
	                  PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, cache, 0);
	map_lookup(in);
	map_runtime(in);
	unsigned tools = ST_PARCEL_FIRST;
	if (in->pool && in->pool->fd >= 0) {
		in->boot.pool = in->boot.area + ST_AREA_POOL;
		st_injection_mmap(in, "mapping the pool", in->boot.pool, sizeof *in->pool->here,
		                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		                  in->there[tools++], 0);
	}
	for (unsigned i = 0; i < tools; i++)
		st_injection_close(in, in->there[i]);
	if (st_injection_do(in) != 0)
		return -1;
	in->boot.cache_alias = in->mapped[first].at;
	in->boot.results = in->mapped[first + 1].at;
	st_results_place(in->results, in->boot.results);
	in->results->layout.pid = (uint32_t)in->pid;
	if (!st_results_freeze(in->results, in->here[ST_PARCEL_RESULTS]))
		return st_injection_fail(in, "mapping the results here", -errno);
	if (in->options->known)
		map_known(in, in->there[tools++]);
	if (map_tools(in, tools) != 0)
		return -1;
	for (unsigned i = tools; i < in->n_parcel; i++)
		st_injection_close(in, in->there[i]);
	return in->n_calls ? st_injection_do(in) : 0;
}

/* Writes the runtime's data, relocated to its address. */
static st_status
write_data(struct st_injection *in)
{
	const struct st_runtime_image *image = &in->shared->image;
	uint64_t at = in->boot.area + ST_AREA_RUNTIME;
	unsigned char *data = st_runtime_image_data(image, at);
	if (!data)
		return st_fail(in->e, ST_EXIT_FAILED, "out of memory");
	bool ok = st_remote_write(&in->remote, at + image->text_size, data,
	                          image->file_size - image->text_size);
	free(data);
	return ok ? 0 : st_injection_fail(in, "writing the runtime's data", -errno);
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
	in->boot.controller = (uint32_t)getpid();
	st_general_registers(in->boot.regs, &in->remote.saved);
	in->boot.rflags = in->remote.saved.eflags;
	in->boot.pc = in->remote.saved.rip;
	memcpy(st_boot_of(in->results), &in->boot, sizeof in->boot);
	return in->boot.results + (uint64_t)((char *)st_boot_of(in->results) - (char *)in->results);
}

st_status
st_injection_map(struct st_injection *in, uint64_t *entry)
{
	const struct st_run_options *o = in->options;
	bool stays = o->follow || o->follow_exec || o->on_image || in->running;
	if (look_around(in) != 0 || !(in->shared = st_shared_for(in->boot.lookup, in->e)))
		return -1;
	if (begin_inject(in) != 0 || make_parcel(in) != 0 || st_parcel_send(in, stays) != 0 ||
	    map_tables(in) != 0 || write_data(in) != 0)
		return -1;
	*entry = in->boot.area + ST_AREA_RUNTIME + in->shared->image.entry;
	return 0;
}

/* Clears the part of the program's stack that was used. */
static bool
clear_scratch(struct st_injection *in)
{
	static const char nothing[ST_SCRATCH + ST_REMOTE_TABLE + ST_UNDO];
	return st_remote_write(&in->remote, in->scratch, nothing, sizeof nothing);
}

void
st_injection_undo(struct st_injection *in)
{
	for (unsigned i = 0; i < in->n_opened; i++)
		st_remote_call(&in->remote, __NR_close, (uint64_t)in->opened[i], 0, 0, 0, 0, 0);
	st_remote_way_back(&in->remote, 0, NULL, 0, 0, 0);
	for (unsigned i = 0; i < in->n_mapped; i++)
		st_remote_call(&in->remote, __NR_munmap, in->mapped[i].at, in->mapped[i].bytes, 0,
		               0, 0, 0);
	st_limits_return_to(in->remote.pid, in->boot.limits);
	if (!in->running) {
		clear_scratch(in);
		ST_IGNORE(st_remote_end(&in->remote));
	}
	ptrace(PTRACE_SETREGS, in->remote.pid, 0, &in->remote.saved);
	st_retreat_clear(&in->remote.retreat);
	if (in->channel >= 0)
		close(in->channel);
	st_injection_end(in);
	if (in->results)
		munmap(in->results, in->results->layout.file_size);
}

/* Lets it go into the runtime. From its new registers on that is where it goes even if we die. */
static st_status
let_go(struct st_injection *in, uint64_t entry)
{
	struct user_regs_struct regs = in->remote.saved;
	regs.rip = entry;
	regs.rdi = st_injection_boot(in);
	regs.rsi = 0;
	regs.rdx = 0;
	regs.orig_rax = ~0ull;
	if (st_remote_end(&in->remote) != 0 ||
	    ptrace(PTRACE_SETREGS, in->remote.pid, 0, &regs) != 0 || !clear_scratch(in))
		return st_fail(in->e, ST_EXIT_FAILED, "the program ended while strobe prepared it");
	st_retreat_clear(&in->remote.retreat);
	if (ptrace(PTRACE_DETACH, in->remote.pid, 0, 0) != 0)
		return st_fail(in->e, ST_EXIT_FAILED,
		               "cannot start the program under the engine: %s", strerror(errno));
	return 0;
}

st_status
st_inject(pid_t pid, const struct st_run_options *options, const struct st_pool *pool,
          const int socket[2], struct st_injected *out, struct st_error *e)
{
	struct st_injection in = {.pid = pid,
	                          .options = options,
	                          .pool = pool,
	                          .e = e,
	                          .channel = -1,
	                          .ends = {-1, -1}};
	uint64_t entry = 0;
	struct user_regs_struct regs;
	if (socket) {
		in.channel = socket[0];
		in.ends[1] = socket[1];
		st_injection_opened(&in, socket[1]);
	}
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the program's registers: %s",
		               strerror(errno));
	regs.rax = 0; /* as the end of its execve would leave it */
	/* Below the red zone of a program that has not run yet. */
	in.scratch = ((regs.rsp - 128) & ~63ull) - ST_SCRATCH - ST_REMOTE_TABLE - ST_UNDO;
	in.undo = in.scratch + ST_SCRATCH + ST_REMOTE_TABLE;
	if (st_remote_begin(&in.remote, pid, &regs, in.scratch + ST_SCRATCH, e) != 0)
		return -1;
	if (!clear_scratch(&in)) {
		st_cause(e, ST_EXIT_FAILED, "cannot write to the program's stack: %s",
		         strerror(errno));
		ST_IGNORE(st_remote_end(&in.remote));
		ptrace(PTRACE_SETREGS, pid, 0, &regs);
		return -1;
	}
	st_limits_of(pid, in.boot.limits);
	memcpy(in.remote.retreat.data.limits, in.boot.limits, sizeof in.boot.limits);
	st_injection_way_back(&in);
	st_limits_lift_of(pid);
	if ((st_limits_in_the_way(LEAST_ROOM) && st_injection_fail(&in, "limits", -ENOMEM)) ||
	    st_injection_map(&in, &entry) != 0 || let_go(&in, entry) != 0) {
		st_injection_undo(&in);
		return -1;
	}
	st_injection_end(&in);
	*out = (struct st_injected){in.results, in.channel};
	return 0;
}
