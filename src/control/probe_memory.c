/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the probe runtime in a process that is stopped at its first instruction. */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/internal.h"
#include "control/probe.h"
#include "wire/probe_arena.h"

enum {
	PAGE = 4096,
	MAP_FIXED_HERE = MAP_FIXED_NOREPLACE,
	DEADLINES_BYTES = sizeof(struct st_clock_copy) * ST_CLOCK_COPIES * ST_PROBE_MOST_THREADS
};
_Static_assert(DEADLINES_BYTES % PAGE == 0, "these are whole pages");

static uint64_t
up_to_page(uint64_t n)
{
	return (n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

bool
st_probing_write(const struct st_probing *p, uint64_t to, const void *from, size_t n)
{
	return pwrite(p->memory, from, n, (off_t)to) == (ssize_t)n;
}

bool
st_probing_read(const struct st_probing *p, uint64_t from, void *to, size_t n)
{
	return pread(p->memory, to, n, (off_t)from) == (ssize_t)n;
}

static long
map(struct st_remote *r, uint64_t at, uint64_t bytes, int prot, int flags, long fd)
{
	return st_remote_call(r, __NR_mmap, at, bytes, (uint64_t)prot, (uint64_t)flags,
	                      (uint64_t)fd, 0);
}

/* Fixed addresses of the large mappings, far from the libraries: libraries that are mapped later
 * must be within reach of the arena. ThreadSanitizer accepts mappings in a few address ranges only;
 * this is one of them. */
#define FAR_AREA (ST_TABLES + (16ull << 30))
#define FAR_THREADS (ST_TABLES + (32ull << 30))

/* A way out of the error for the user; empty: none is known. */
static const char *
advice_for(long answer)
{
	switch (answer) {
	case -EEXIST:
		return "; other memory is where probes need it: start the program again, or use "
		       "--engine jit";
	case -ENOMEM:
		return "; probes need 200 MiB of address space, and 400 MiB with --events, of "
		       "which little becomes memory: raise its limit (ulimit -v)";
	default:
		return "";
	}
}

static long
map_private(struct st_remote *r, uint64_t at, uint64_t bytes, int prot)
{
	return map(r, at, bytes, prot,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_HERE : 0), -1);
}

static st_status
cannot(const char *what, long answer, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "cannot prepare the program for probes: %s: %s%s", what,
	               strerror((int)-answer), advice_for(answer));
}

/* ---- arenas ---- */

/* Where the program's first mapping begins; 0: it cannot be read. */
static uint64_t
lowest_mapping(pid_t pid)
{
	char path[64], line[4352];
	uint64_t lowest = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(line, sizeof line, f))
		lowest = strtoull(line, NULL, 16);
	if (f)
		fclose(f);
	return lowest;
}

uint64_t
st_probing_vdso(pid_t pid)
{
	char path[64], line[4352];
	uint64_t at = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !at && fgets(line, sizeof line, f))
		if (strstr(line, "[vdso]"))
			at = strtoull(line, NULL, 16);
	if (f)
		fclose(f);
	return at;
}

/* Older kernels map the vDSO near the stack, out of reach of the other arenas. Without an arena its
 * functions get no probes. */
static void
map_near_vdso(struct st_probing *p, struct st_remote *r)
{
	const uint64_t step = 64ull << 20, reach = 1ull << 30, vdso = st_probing_vdso(p->pid);
	const uint64_t other = p->arenas[1].at;
	if (!vdso || (vdso > other ? vdso - other : other - vdso) < reach)
		return;
	long at = -ENOMEM;
	for (uint64_t i = 1; i < 16 && at < 0; i++)
		at = map_private(r, (vdso & ~(uint64_t)(PAGE - 1)) - i * step, ST_ARENA_BYTES,
		                 PROT_READ | PROT_EXEC);
	p->arenas[2].at = at < 0 ? 0 : (uint64_t)at;
}

/*
 * One arena near the program, and one near where the kernel maps libraries. The heap of a program
 * that is not position-independent grows upwards from it, so its arena lies at the end of a jump's
 * reach.
 */
static st_status
map_arenas(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	enum { RX = PROT_READ | PROT_EXEC };
	const uint64_t step = 64ull << 20;
	const uint64_t low = lowest_mapping(p->pid),
	               end = low > 4ull << 30 ? low : low + (2ull << 30) - PAGE;
	long at = -ENOMEM;
	for (uint64_t i = 1; i < 16 && at < 0; i++)
		at = map_private(r, end - i * step, ST_ARENA_BYTES, RX);
	if (at < 0)
		return cannot("memory near its code", at, e);
	p->arenas[0].at = (uint64_t)at;
	at = map_private(r, 0, ST_ARENA_BYTES, RX);
	if (at < 0)
		return cannot("memory near its libraries", at, e);
	p->arenas[1].at = (uint64_t)at;
	if (p->hides_pauses)
		map_near_vdso(p, r);
	return ST_OK;
}

static bool
write_handlers(const struct st_probing *p, uint64_t arena)
{
	const struct {
		uint64_t at, handler;
	} all[] = {{ST_ARENA_ENTRY, p->entry},      {ST_ARENA_ALLOC, p->alloc},
	           {ST_ARENA_RETURN, p->exit},      {ST_ARENA_READ, p->read},
	           {ST_ARENA_POINT, p->point},      {ST_ARENA_CLOCK, p->clock},
	           {ST_ARENA_DEADLINE, p->deadline}};
	bool written = true;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		written &= st_probing_write(p, arena + all[i].at, &all[i].handler,
		                            sizeof all[i].handler);
	return written;
}

/* Each begins with the addresses of the handlers, which stubs call. */
static bool
begin_arenas(struct st_probing *p)
{
	for (int i = 0; i < ST_ARENAS; i++) {
		p->arenas[i].used = ST_ARENA_STUBS;
		if (p->arenas[i].at && !write_handlers(p, p->arenas[i].at))
			return false;
	}
	return true;
}

/* ---- the runtime ---- */

static st_status
map_probe_runtime(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	const uint64_t text = up_to_page(st_probe_blob_bytes());
	/* All that is written besides the context is small. */
	const uint64_t bytes = text + up_to_page(sizeof(struct st_probe_context)) + PAGE;
	int64_t at[8];
	long answer = map_private(r, 0, bytes, PROT_READ | PROT_WRITE);
	if (answer < 0)
		return cannot("memory for the probe runtime", answer, e);
	const uint64_t image = (uint64_t)answer;
	p->image = image;
	p->image_bytes = bytes;
	p->context = image + text;
	answer = st_remote_call(r, __NR_mprotect, image, text, PROT_READ | PROT_EXEC, 0, 0, 0);
	if (answer < 0 || !st_probing_write(p, image, st_probe_blob, st_probe_blob_bytes()))
		return cannot("the code of the probe runtime", answer < 0 ? answer : -EIO, e);
	memcpy(at, st_probe_blob, sizeof at);
	p->entry = image + (uint64_t)at[0];
	p->trampoline = image + 8 + (uint64_t)at[1];
	p->exit = image + 16 + (uint64_t)at[2];
	p->alloc = image + 24 + (uint64_t)at[3];
	p->read = image + 32 + (uint64_t)at[4];
	p->point = image + 40 + (uint64_t)at[5];
	p->clock = image + 48 + (uint64_t)at[6];
	p->deadline = image + 56 + (uint64_t)at[7];
	return ST_OK;
}

/* Size of the fixed part of the area. */
static uint64_t
first_used(const struct st_probing *p)
{
	return p->records ? ST_PROBE_CHUNKS_END : up_to_page(sizeof(struct st_probe_area));
}

/* Memory that the process and we share: made there, and opened here. */
static st_status
share_area(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	char path[64];
	static const char name[] = "strobe-probes";
	p->shared_bytes = p->whole ? ST_PROBE_AREA_BYTES : first_used(p) + ST_PROBE_FIRST_BYTES;
	if (!st_probing_write(p, p->scratch, name, sizeof name))
		return cannot("its memory", -EIO, e);
	const long fd = st_remote_call(r, __NR_memfd_create, p->scratch, MFD_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return cannot("shared memory", fd, e);
	long answer =
	        st_remote_call(r, __NR_ftruncate, (uint64_t)fd, ST_PROBE_AREA_BYTES, 0, 0, 0, 0);
	if (answer >= 0)
		answer = map(r, FAR_AREA, p->shared_bytes, PROT_READ | PROT_WRITE,
		             MAP_SHARED | MAP_NORESERVE | MAP_FIXED_HERE, fd);
	if (answer >= 0)
		p->shared = (uint64_t)answer;
	snprintf(path, sizeof path, "/proc/%d/fd/%ld", p->pid, fd);
	const int here = answer < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
	st_remote_call(r, __NR_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	if (here < 0)
		return cannot("shared memory", answer < 0 ? answer : -errno, e);
	struct stat st = {0};
	fstat(here, &st);
	void *area = mmap(NULL, ST_PROBE_AREA_BYTES, PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_NORESERVE, here, 0);
	close(here);
	if (area == MAP_FAILED)
		return cannot("shared memory here", -errno, e);
	p->area = area;
	p->inode = st.st_ino;
	p->area->used = first_used(p);
	p->area->pid = (uint32_t)p->pid;
	p->area->controller = (uint32_t)getpid();
	/* The version marks the home as complete: probe_leftovers.c. */
	p->area->home = (struct st_probe_home){
	        .image = p->image,
	        .image_bytes = p->image_bytes,
	        .context = p->context,
	        .note = p->note,
	        .threads = FAR_THREADS,
	        .trampoline = p->trampoline,
	        .shared = p->shared,
	        .shared_bytes = p->shared_bytes,
	        .arenas = {p->arenas[0].at, p->arenas[1].at, p->arenas[2].at}};
	__atomic_store_n(&p->area->version, ST_PROBE_VERSION, __ATOMIC_RELEASE);
	return ST_OK;
}

/* Where a thread has its number in its thread control block: where the first thread has its. */
static uint32_t
find_tid(const struct st_probing *p, pid_t tid, uint64_t fs)
{
	uint32_t block[PAGE / 4], at = 0;
	const size_t n = (PAGE - (fs & (PAGE - 1))) / 4;
	if (!st_probing_read(p, fs, block, n * 4))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (block[i] == (uint32_t)tid && at)
			return 0; /* which of them is not known */
		if (block[i] == (uint32_t)tid)
			at = (uint32_t)(i * 4);
	}
	return at;
}

/* The first chunks are used again and again: where page faults are expensive, they would be most of
 * the cost of the first million calls. */
static void
populate_chunks(const struct st_probing *p, struct st_remote *r)
{
	enum { OFTEN_USED = 16, POPULATE_WRITE = 23 };
	st_remote_call(r, __NR_madvise, p->shared + ST_PROBE_CHUNKS_AT,
	               OFTEN_USED * ST_PROBE_CHUNK_STRIDE, POPULATE_WRITE, 0, 0, 0);
}

static st_status
write_context(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	/* The rest of the context is zero and is not written. */
	struct {
		uint64_t area, note, threads, trampoline;
		uint32_t tid_at, forked, cost_within, cost, cost_counted, samples, most_depth,
		        scoped, uses_cpu, n_threads, has_parked, noisy;
	} context = {p->shared,
	             p->note,
	             0,
	             p->trampoline,
	             0,
	             0,
	             p->cost_within,
	             p->cost,
	             p->cost_counted,
	             p->samples,
	             p->most_depth ? p->most_depth : UINT32_MAX,
	             p->scoped,
	             p->uses_cpu,
	             0,
	             0,
	             p->noisy};
	_Static_assert(offsetof(struct st_probe_context, noisy) ==
	                       offsetof(__typeof__(context), noisy),
	               "the context begins like this");
	const uint64_t note = p->most_depth || p->scoped || p->uses_cpu || p->both_clocks
	                              ? ST_PROBE_LOOK
	                              : ST_PROBE_AS_USUAL;
	const struct {
		uint32_t pid, follows, running, usual;
		uint64_t area_bytes;
		uint32_t room_for_threads, is_short, sandboxed, both_clocks;
	} family = {(uint32_t)p->pid, p->follows && !p->only_exec, 0, (uint32_t)note,
	            p->shared_bytes,  ST_PROBE_FIRST_THREADS,      0, 0,
	            p->both_clocks};
	_Static_assert(offsetof(struct st_probe_context, both_clocks) -
	                               offsetof(struct st_probe_context, pid) ==
	                       offsetof(__typeof__(family), both_clocks),
	               "this part of the context is like that");
	const long threads =
	        map_private(r, FAR_THREADS, ST_PROBE_THREADS_BYTES(ST_PROBE_FIRST_THREADS),
	                    PROT_READ | PROT_WRITE);
	if (threads < 0)
		return cannot("memory for threads", threads, e);
	context.threads = p->threads = (uint64_t)threads;
	const uint64_t chunks = p->records ? p->shared + ST_PROBE_CHUNKS_AT : 0;
	if (!st_probing_write(p, p->context, &context, sizeof context) ||
	    !st_probing_write(p, p->context + offsetof(struct st_probe_context, chunks), &chunks,
	                      sizeof chunks) ||
	    !st_probing_write(p, p->context + offsetof(struct st_probe_context, pid), &family,
	                      sizeof family) ||
	    !st_probing_write(p, p->note, &note, sizeof note))
		return cannot("the probe runtime's memory", -EIO, e);
	return ST_OK;
}

st_status
st_probing_tell_tid(struct st_probing *p, pid_t tid, uint64_t fs)
{
	const uint32_t at = find_tid(p, tid, fs);
	return st_probing_write(p, p->context + offsetof(struct st_probe_context, tid_at), &at,
	                        sizeof at)
	               ? ST_OK
	               : ST_FAILED;
}

/* The copies are not among what is given back. */
static st_status
map_deadlines(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	const long at = map_private(r, 0, DEADLINES_BYTES, PROT_READ | PROT_WRITE);
	if (at < 0)
		return cannot("memory for deadlines", at, e);
	const uint64_t address = (uint64_t)at;
	return st_probing_write(p, p->context + offsetof(struct st_probe_context, deadlines),
	                        &address, sizeof address)
	               ? ST_OK
	               : cannot("memory for deadlines", -EIO, e);
}

bool
st_probing_tell_clock(const struct st_probing *p, uint64_t rest)
{
	return st_probing_write(p, p->context + offsetof(struct st_probe_context, clock_rest),
	                        &rest, sizeof rest);
}

static st_status
map_all(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	long note = map_private(r, 0, PAGE, PROT_READ | PROT_WRITE);
	if (note < 0)
		return cannot("memory for the probe runtime", note, e);
	p->note = (uint64_t)note;
	note = st_remote_call(r, __NR_madvise, p->note, PAGE, MADV_WIPEONFORK, 0, 0, 0);
	if (note < 0)
		return cannot("a mark for children (MADV_WIPEONFORK)", note, e);
	if (map_probe_runtime(p, r, e))
		return ST_FAILED;
	p->scratch = p->context;
	if (map_arenas(p, r, e) || share_area(p, r, e) || write_context(p, r, e))
		return ST_FAILED;
	if (p->records)
		populate_chunks(p, r);
	if (p->hides_pauses && map_deadlines(p, r, e))
		return ST_FAILED;
	return begin_arenas(p) ? ST_OK : cannot("its memory", -EIO, e);
}

/* The limits on memory that the program was given are for the program. */
st_status
st_probing_map(struct st_probing *p, struct st_remote *r, struct st_error *e)
{
	memset(p->limits, 0, sizeof p->limits);
	st_limits_of(p->pid, p->limits);
	st_limits_lift_of(p->pid);
	const st_status status = map_all(p, r, e);
	const uint64_t private = ST_PROBE_THREADS_BYTES(ST_PROBE_FIRST_THREADS) + p->image_bytes +
	                         PAGE + (p->hides_pauses ? DEADLINES_BYTES : 0);
	uint64_t all = private + p->shared_bytes;
	for (int i = 0; i < ST_ARENAS; i++)
		all += p->arenas[i].at ? ST_ARENA_BYTES : 0;
	const uint64_t more[2] = {status ? 0 : all, status ? 0 : private};
	st_limits_return_with(p->pid, p->limits, more);
	return status;
}

/* Sizes of the mappings that the process extends in steps: rt/probe/memory.c. */
struct extent {
	uint64_t area, threads;
};

static struct extent
extent_of(const struct st_probing *p)
{
	struct {
		uint64_t area;
		uint32_t threads;
	} mapped = {0, 0};
	_Static_assert(offsetof(struct st_probe_context, room_for_threads) ==
	                       offsetof(struct st_probe_context, area_bytes) + 8,
	               "the two fields are adjacent");
	if (p->context)
		st_probing_read(p, p->context + offsetof(struct st_probe_context, area_bytes),
		                &mapped, sizeof mapped);
	const bool more = mapped.area > p->shared_bytes && mapped.area <= ST_PROBE_AREA_BYTES;
	const uint32_t n =
	        mapped.threads > ST_PROBE_FIRST_THREADS && mapped.threads <= ST_PROBE_MOST_THREADS
	                ? mapped.threads
	                : ST_PROBE_FIRST_THREADS;
	return (struct extent){more ? mapped.area : p->shared_bytes, ST_PROBE_THREADS_BYTES(n)};
}

void
st_probing_unmap(struct st_probing *p, struct st_remote *r)
{
	const struct extent extent = extent_of(p);
	const struct {
		uint64_t at, bytes;
	} all[] = {{p->arenas[0].at, ST_ARENA_BYTES}, {p->arenas[1].at, ST_ARENA_BYTES},
	           {p->arenas[2].at, ST_ARENA_BYTES}, {p->note, PAGE},
	           {p->threads, extent.threads},      {p->shared, extent.area},
	           {p->image, p->image_bytes}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].at)
			st_remote_call(r, __NR_munmap, all[i].at, all[i].bytes, 0, 0, 0, 0);
	st_limits_return_to(p->pid, p->limits);
}

/* Adds the patch to the list in the process, before the code is written, so that the list is
 * complete whenever Strobe is killed. */
static bool
list_patch(struct st_probing *p, const struct st_patch *patch)
{
	struct st_arena_patch listed = {.at = patch->at, .n = patch->n};
	struct st_arena *a = p->arenas;
	while (a < p->arenas + ST_ARENAS && !st_arena_has_room(a))
		a++;
	if (a == p->arenas + ST_ARENAS)
		return false;
	memcpy(listed.is, patch->is, sizeof listed.is);
	memcpy(listed.was, patch->was, sizeof listed.was);
	const uint64_t n = a->patched + 1;
	if (!st_probing_write(p, a->at + st_arena_patch_at(a->patched), &listed, sizeof listed) ||
	    !st_probing_write(p, a->at + ST_ARENA_PATCHED, &n, sizeof n))
		return false;
	a->patched = n;
	return true;
}

bool
st_probing_patch(struct st_probing *p, const struct st_patch *patch)
{
	struct st_patch *kept = ST_PUSH(&p->patches);
	if (!kept)
		return false;
	*kept = *patch;
	const bool listed =
	        st_probing_read(p, patch->at, kept->was, patch->n) && list_patch(p, kept);
	if (listed)
		st_probing_move_threads(p, kept);
	if (listed && st_probing_write(p, patch->at, patch->is, patch->n))
		return true;
	p->patches.n--;
	return false;
}

void
st_probing_restore(const struct st_probing *p, const struct st_patch *patch)
{
	uint8_t now[ST_PATCH_BYTES];
	if (st_probing_read(p, patch->at, now, patch->n) && !memcmp(now, patch->is, patch->n))
		st_probing_write(p, patch->at, patch->was, patch->n);
}

void
st_probing_only_counts(struct st_probing *p)
{
	const uint64_t note = ST_PROBE_LOOK;
	p->area->only_counts = 1;
	st_probing_write(p, p->note, &note, sizeof note);
}
