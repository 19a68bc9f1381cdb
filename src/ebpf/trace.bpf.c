/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs in the kernel: each entry and each return becomes a record in a ring, which strobe
 * reads. The number of the probe is its cookie.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record.h"

/* The few fields of the kernel's own structures that are read; where they lie is found out when
 * the programs are loaded. */
typedef struct {
	int counter;
} atomic_t;
struct signal_struct {
	atomic_t live;
} __attribute__((preserve_access_index));
struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));
struct uprobes_state {
	struct xol_area *xol_area;
} __attribute__((preserve_access_index));
struct mm_struct {
	struct uprobes_state uprobes_state;
} __attribute__((preserve_access_index));
struct task_struct {
	int pid, tgid;
	struct signal_struct *signal;
	struct mm_struct *mm;
} __attribute__((preserve_access_index));

/* Set before they are loaded. by_tree: probes are hit by all processes, and those count that
 * descend from `root`, a number in the namespace of strobe. Otherwise the kernel asks us for one
 * process only. */
const volatile bool by_tree;
const volatile __u32 root;
const volatile __u64 namespace_device, namespace_inode;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} records SEC(".maps");

/* The processes that are traced, and the address that replaces return addresses in each; 0: not yet
 * known. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} processes SEC(".maps");

/* Records that found the ring full. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static bool
is_root(void)
{
	struct bpf_pidns_info info = {};
	return !bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &info,
	                                    sizeof info) &&
	       info.tgid == root;
}

static __u64 *
known_process(__u32 pid)
{
	return bpf_map_lookup_elem(&processes, &pid);
}

static void
add_process(__u32 pid)
{
	const __u64 unknown = 0;
	bpf_map_update_elem(&processes, &pid, &unknown, BPF_ANY);
}

/* NULL: it is not traced. */
static __u64 *
traced_process(__u32 pid)
{
	__u64 *known = known_process(pid);
	if (known || (by_tree && !is_root()))
		return known;
	add_process(pid);
	return known_process(pid);
}

/* The return address at the stack pointer; 0: it is the one that replaces return addresses, because
 * a function that was called has jumped here. */
static __u64
return_address(__u64 sp, __u64 *replaced)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 back = 0;
	if (bpf_probe_read_user(&back, sizeof back, (void *)sp))
		return 1; /* nobody's */
	if (!*replaced)
		*replaced = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	return back == *replaced ? 0 : back;
}

static struct st_ebpf_record *
reserve_record(__u64 id, __u32 kind)
{
	struct st_ebpf_record *r = bpf_ringbuf_reserve(&records, sizeof *r, 0);
	if (!r) {
		const __u32 first = 0;
		__u64 *n = bpf_map_lookup_elem(&lost, &first);
		if (n)
			++*n;
		return NULL;
	}
	r->tid = (__u32)id;
	r->pid = id >> 32;
	r->kind = kind;
	return r;
}

SEC("uprobe")
int
on_entry(struct pt_regs *ctx)
{
	const __u64 id = bpf_get_current_pid_tgid();
	__u64 *process = traced_process(id >> 32);
	struct st_ebpf_record *r = process ? reserve_record(id, ST_EBPF_ENTRY) : NULL;
	if (!r)
		return 0;
	r->sp = ctx->rsp;
	r->back = return_address(r->sp, process);
	r->point = (__u32)bpf_get_attach_cookie(ctx);
	r->ns = bpf_ktime_get_ns();
	/* No wake-up: the reader polls the ring, and a wake-up costs more than the record. */
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("uretprobe")
int
on_return(struct pt_regs *ctx)
{
	const __u64 ns = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct st_ebpf_record *r =
	        known_process(id >> 32) ? reserve_record(id, ST_EBPF_RETURN) : NULL;
	if (!r)
		return 0;
	r->sp = ctx->rsp - 8;
	r->back = 0;
	r->point = 0;
	r->ns = ns;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A return instruction, or a jump out of the function. */
SEC("uprobe")
int
on_leave(struct pt_regs *ctx)
{
	const __u64 ns = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct st_ebpf_record *r =
	        known_process(id >> 32) ? reserve_record(id, ST_EBPF_RETURN) : NULL;
	if (!r)
		return 0;
	r->sp = ctx->rsp;
	r->back = 0;
	r->point = 0;
	r->ns = ns;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static void
tell_end(__u64 id, __u32 kind)
{
	const __u64 ns = bpf_ktime_get_ns();
	struct st_ebpf_record *r = known_process(id >> 32) ? reserve_record(id, kind) : NULL;
	if (!r)
		return;
	r->sp = 0;
	r->back = 0;
	r->point = 0;
	r->ns = ns;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_exit")
int
BPF_PROG(on_exit, struct task_struct *task)
{
	const __u64 id = bpf_get_current_pid_tgid();
	const __u32 pid = id >> 32;
	tell_end(id, ST_EBPF_END);
	if (!BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&processes, &pid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int
BPF_PROG(on_exec, struct task_struct *task, int old_pid)
{
	const __u64 id = bpf_get_current_pid_tgid();
	/* Its memory is new. */
	if (is_root() || known_process(id >> 32))
		add_process(id >> 32);
	tell_end((id & 0xffffffff00000000ull) | (__u32)old_pid, ST_EBPF_EXEC);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int
BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	const __u32 from = parent->tgid, to = child->tgid;
	if (by_tree && from != to && known_process(from))
		add_process(to);
	return 0;
}

char licence[] SEC("license") = "GPL";
