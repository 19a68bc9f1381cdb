/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/vec.h"
#include "trace_bpf.skel.h"

/* Newer than the headers of Debian 12. */
enum { LINK_CREATE = 28, TRACE_UPROBE_MULTI = 48, MULTI_RETURN = 1 };

struct multi_link {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t n, multi_flags, pid, pad;
};

struct st_ebpf {
	struct trace_bpf *programs;
	struct ring_buffer *ring;
	pid_t pid;
	bool follow, has_multi;
	ST_VEC(int) entries;              /* descriptors of links, */
	ST_VEC(int) returns;              /* closed after those */
	ST_VEC(struct bpf_link *) single; /* where the kernel has no links of many probes */
	int (*take)(void *arg, const struct st_ebpf_record *r);
	void *arg;
};

/* ---- loading ---- */

static int
say_nothing(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

static st_status
load_failed(int error, struct st_error *e)
{
	if (error == EPERM || error == EACCES)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "--engine ebpf needs root, or the capabilities CAP_BPF and CAP_PERFMON: "
		        "use --engine jit, which needs neither");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return st_fail(e, ST_EXIT_FAILED,
		               "--engine ebpf needs the kernel's type information (CONFIG_DEBUG_"
		               "INFO_BTF), and /sys/kernel/btf/vmlinux is missing: use --engine "
		               "jit");
	return st_fail(e, ST_EXIT_FAILED,
	               "the kernel does not take the programs of --engine ebpf: %s; use --engine "
	               "jit",
	               strerror(error));
}

/* 0, or an errno. */
static int
try_load(struct st_ebpf *k)
{
	struct stat ns = {0};
	struct trace_bpf *p = trace_bpf__open();
	if (!p)
		return errno;
	if (stat("/proc/self/ns/pid", &ns) == 0) {
		p->rodata->namespace_device = ns.st_dev;
		p->rodata->namespace_inode = ns.st_ino;
	}
	p->rodata->root = (uint32_t)k->pid;
	/* A probe of the old kind can wait for one thread only. */
	p->rodata->by_tree = k->follow || !k->has_multi;
	int status = 0;
	if (k->has_multi) {
		bpf_program__set_expected_attach_type(p->progs.on_entry,
		                                      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
		bpf_program__set_expected_attach_type(p->progs.on_leave,
		                                      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
		bpf_program__set_expected_attach_type(p->progs.on_return,
		                                      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	}
	status = trace_bpf__load(p);
	if (status) {
		trace_bpf__destroy(p);
		return -status;
	}
	k->programs = p;
	return 0;
}

/* Does the kernel know links of many probes? It looks at the program before anything else. */
static bool
takes_multi(const struct st_ebpf *k)
{
	const uint64_t offset = 0;
	const struct multi_link link = {
	        .program = (uint32_t)bpf_program__fd(k->programs->progs.on_entry),
	        .attach_type = TRACE_UPROBE_MULTI,
	        .path = (uint64_t)(uintptr_t) "/",
	        .offsets = (uint64_t)(uintptr_t)&offset,
	        .n = 1};
	const long fd = syscall(SYS_bpf, LINK_CREATE, &link, sizeof link);
	/* A folder has no instructions; who does not know the link says that it is invalid. */
	return fd < 0 && errno == EBADF;
}

static int
on_record(void *arg, void *data, size_t size)
{
	struct st_ebpf *k = arg;
	return size < sizeof(struct st_ebpf_record) ? 0 : k->take(k->arg, data);
}

static st_status
attach_rest(struct st_ebpf *k, struct st_error *e)
{
	struct trace_bpf *p = k->programs;
	p->links.on_exit = bpf_program__attach(p->progs.on_exit);
	p->links.on_exec = bpf_program__attach(p->progs.on_exec);
	p->links.on_fork = bpf_program__attach(p->progs.on_fork);
	if (!p->links.on_exit || !p->links.on_exec || !p->links.on_fork)
		return st_fail(e, ST_EXIT_FAILED,
		               "--engine ebpf cannot be told of the end of threads: %s; use "
		               "--engine jit",
		               strerror(errno));
	k->ring = ring_buffer__new(bpf_map__fd(p->maps.records), on_record, k, NULL);
	return k->ring ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "cannot map the ring of records: %s",
	                         strerror(errno));
}

struct st_ebpf *
st_ebpf_open(pid_t pid, bool follow, struct st_error *e)
{
	struct st_ebpf *k = calloc(1, sizeof *k);
	if (!k) {
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	libbpf_set_print(say_nothing);
	k->pid = pid;
	k->follow = follow;
	k->has_multi = true;
	int error = try_load(k);
	if (!error && !takes_multi(k)) {
		trace_bpf__destroy(k->programs);
		k->programs = NULL;
		error = EINVAL;
	}
	if (error == EINVAL) {
		k->has_multi = false;
		error = try_load(k);
	}
	if ((error && load_failed(error, e)) || (!error && attach_rest(k, e))) {
		st_ebpf_close(k);
		return NULL;
	}
	return k;
}

void
st_ebpf_close(struct st_ebpf *k)
{
	if (!k)
		return;
	st_ebpf_detach(k);
	ring_buffer__free(k->ring);
	if (k->programs)
		trace_bpf__destroy(k->programs);
	free(k->entries.v);
	free(k->returns.v);
	free(k->single.v);
	free(k);
}

/* ---- probes ---- */

/* A link of many probes; a negative errno when there is none. */
static int
multi(const struct st_ebpf *k, const struct bpf_program *program, const char *path,
      const struct st_ebpf_point *points, size_t n)
{
	const bool is_return = program == k->programs->progs.on_return;
	uint64_t *lists = calloc(3 * n, sizeof *lists);
	bool semaphores = false;
	if (!lists)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		lists[i] = points[i].offset;
		lists[n + i] = points[i].number;
		lists[2 * n + i] = points[i].semaphore;
		semaphores |= points[i].semaphore != 0;
	}
	const struct multi_link link = {
	        .program = (uint32_t)bpf_program__fd(program),
	        .attach_type = TRACE_UPROBE_MULTI,
	        .path = (uint64_t)(uintptr_t)path,
	        .offsets = (uint64_t)(uintptr_t)lists,
	        .cookies = (uint64_t)(uintptr_t)(lists + n),
	        .semaphores = semaphores ? (uint64_t)(uintptr_t)(lists + 2 * n) : 0,
	        .n = (uint32_t)n,
	        .multi_flags = is_return ? MULTI_RETURN : 0,
	        .pid = k->follow ? 0 : (uint32_t)k->pid};
	long fd = syscall(SYS_bpf, LINK_CREATE, &link, sizeof link);
	int error = errno;
	free(lists);
	return fd >= 0 ? (int)fd : -error;
}

static int
attach_multi(struct st_ebpf *k, const struct bpf_program *program, const char *path,
             const struct st_ebpf_point *points, size_t n)
{
	int *slot = program == k->programs->progs.on_return ? ST_PUSH(&k->returns)
	                                                    : ST_PUSH(&k->entries);
	if (!slot)
		return ENOMEM;
	*slot = multi(k, program, path, points, n);
	if (*slot >= 0)
		return 0;
	const int error = -*slot;
	if (program == k->programs->progs.on_return)
		k->returns.n--;
	else
		k->entries.n--;
	return error;
}

static int
attach_single(struct st_ebpf *k, const struct bpf_program *program, const char *path,
              const struct st_ebpf_point *point)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = point->number,
	            .ref_ctr_offset = point->semaphore,
	            .retprobe = program == k->programs->progs.on_return);
	struct bpf_link **slot = ST_PUSH(&k->single);
	if (!slot)
		return ENOMEM;
	*slot = bpf_program__attach_uprobe_opts(program, -1, path, point->offset, &options);
	if (*slot)
		return 0;
	k->single.n--;
	return errno;
}

static int
attach(struct st_ebpf *k, const struct bpf_program *program, const char *path,
       const struct st_ebpf_point *points, size_t n)
{
	if (k->has_multi)
		return attach_multi(k, program, path, points, n);
	/* One after the other, so that it is known which one fails. */
	return n > 1 ? EOPNOTSUPP : attach_single(k, program, path, points);
}

int
st_ebpf_attach(struct st_ebpf *k, const char *path, const struct st_ebpf_point *points, size_t n,
               enum st_ebpf_place place)
{
	const struct trace_bpf *p = k->programs;
	if (place == ST_EBPF_AT_INSTRUCTIONS)
		return attach(k, p->progs.on_leave, path, points, n);
	/* Returns first: an entry without its return would be taken for one that was lost. A return
	 * without its entry does no harm. */
	const int error =
	        place == ST_EBPF_AT_BOTH ? attach(k, p->progs.on_return, path, points, n) : 0;
	return error ? error : attach(k, p->progs.on_entry, path, points, n);
}

void
st_ebpf_detach(struct st_ebpf *k)
{
	for (size_t i = 0; i < k->entries.n; i++)
		close(k->entries.v[i]);
	for (size_t i = 0; i < k->returns.n; i++)
		close(k->returns.v[i]);
	for (size_t i = k->single.n; i-- > 0;)
		bpf_link__destroy(k->single.v[i]);
	k->entries.n = k->returns.n = k->single.n = 0;
}

/* ---- records ---- */

int
st_ebpf_read(struct st_ebpf *k, int (*take)(void *arg, const struct st_ebpf_record *r), void *arg)
{
	k->take = take;
	k->arg = arg;
	return ring_buffer__consume(k->ring);
}

uint64_t
st_ebpf_lost(const struct st_ebpf *k)
{
	const int cpus = libbpf_num_possible_cpus();
	const uint32_t first = 0;
	uint64_t *each = cpus > 0 ? calloc((size_t)cpus, sizeof *each) : NULL, sum = 0;
	if (each && !bpf_map_lookup_elem(bpf_map__fd(k->programs->maps.lost), &first, each))
		for (int i = 0; i < cpus; i++)
			sum += each[i];
	free(each);
	return sum;
}

size_t
st_ebpf_processes(const struct st_ebpf *k, uint32_t *pids, size_t room)
{
	const int map = bpf_map__fd(k->programs->maps.processes);
	size_t n = 0;
	uint32_t key;
	for (const uint32_t *last = NULL; n < room && !bpf_map_get_next_key(map, last, &key);
	     last = &key)
		pids[n++] = key;
	return n;
}
