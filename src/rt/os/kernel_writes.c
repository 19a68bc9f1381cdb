/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which memory the kernel writes to, at system calls and later. */
#include "rt/os/kernel_writes.h"

#include <asm/unistd.h>

#include "rt/jit/jit.h"
#include "rt/maps.h"
#include "rt/os/os.h"

enum {
	MOST_PARTS = 1024,   /* of a vector: IOV_MAX */
	MOST_BLOCKS = 4096,  /* of one io_submit that are looked at */
	MOST_ROBUST = 2048,  /* mutexes that the kernel marks */
	RESULT_BYTES = 1024, /* more than any result that a register points to */
};

/* Copies from the program's memory; false when it cannot be read. */
static bool
read_program(void *to, uint64_t from, size_t bytes)
{
	return rt_copy_guarded(to, (const void *)from, bytes) == 0;
}

struct part {
	uint64_t at, bytes;
};

static void
leave_parts(uint64_t vector, uint64_t n)
{
	struct part p;
	for (uint64_t i = 0;
	     i < n && i < MOST_PARTS && read_program(&p, vector + i * sizeof p, sizeof p); i++)
		pages_leave(p.at, p.at + p.bytes);
}

/* The memory that a struct msghdr names. */
static void
leave_message(uint64_t at)
{
	uint64_t m[6]; /* name, its length, parts, how many, control data, its length */
	if (!read_program(m, at, sizeof m))
		return;
	pages_leave(m[0], m[0] + (uint32_t)m[1]);
	leave_parts(m[2], m[3]);
	pages_leave(m[4], m[4] + m[5]);
}

/* Asynchronous input. */
static void
leave_submitted(uint64_t blocks, uint64_t n)
{
	enum { READ = 0, READ_VECTOR = 7 };
	struct {
		uint64_t data;
		uint32_t key, flags;
		uint16_t opcode, priority;
		uint32_t fd;
		uint64_t at, bytes;
	} block;
	uint64_t address;
	for (uint64_t i = 0; i < n && i < MOST_BLOCKS; i++) {
		if (!read_program(&address, blocks + i * 8, 8) ||
		    !read_program(&block, address, sizeof block))
			return;
		if (block.opcode == READ)
			pages_leave(block.at, block.at + block.bytes);
		else if (block.opcode == READ_VECTOR)
			leave_parts(block.at, block.bytes);
	}
}

/* io_uring: rings whose entries name buffers. */
enum {
	MOST_RINGS = 64,
	SETUP_LONG_ENTRIES = 1 << 10,
	SETUP_NO_MMAP = 1 << 14,
	SETUP_NO_ARRAY = 1 << 16,
	OFFSET_RING = 0,
	OFFSET_BOTH_RINGS = 0x8000000,
	OFFSET_ENTRIES = 0x10000000,
};
static struct ring {
	uint64_t ring, entries; /* where they are mapped; 0: not yet */
	uint32_t fd, flags, head, tail, mask, array;
} rings[MOST_RINGS];
static uint32_t n_rings;

static void
ring_made(uint32_t fd, uint64_t params)
{
	uint32_t p[30]; /* struct io_uring_params */
	if (!read_program(p, params, sizeof p))
		return;
	struct ring *r = &rings[n_rings++ % MOST_RINGS];
	*r = (struct ring){.fd = fd,
	                   .flags = p[2],
	                   .head = p[10],
	                   .tail = p[11],
	                   .mask = p[12],
	                   .array = p[16]};
	if (r->flags & SETUP_NO_MMAP) {
		memcpy(&r->entries, p + 18, 8);
		memcpy(&r->ring, p + 28, 8);
	}
}

static void
ring_mapped(uint32_t fd, uint64_t offset, uint64_t at)
{
	for (uint32_t i = 0; i < n_rings && i < MOST_RINGS; i++) {
		struct ring *r = &rings[i];
		if (r->fd == fd && (offset == OFFSET_RING || offset == OFFSET_BOTH_RINGS))
			r->ring = offset == OFFSET_RING || !r->ring ? at : r->ring;
		else if (r->fd == fd && offset == OFFSET_ENTRIES)
			r->entries = at;
	}
}

struct entry {
	uint8_t opcode, flags;
	uint16_t priority;
	uint32_t fd;
	uint64_t at2, at;
	uint32_t bytes;
};

static void
leave_entry(const struct entry *e)
{
	enum {
		NOP = 0,
		READ_VECTOR = 1,
		WRITE_VECTOR = 2,
		READ_FIXED = 4,
		WRITE_FIXED = 5,
		SEND_MESSAGE = 9,
		RECEIVE_MESSAGE = 10,
		READ = 22,
		WRITE = 23,
		SEND = 26,
		RECEIVE = 27,
		PROVIDE_BUFFERS = 31,
		READ_MANY = 49,
	};
	switch (e->opcode) {
	case NOP:
	case WRITE_VECTOR:
	case WRITE_FIXED:
	case SEND_MESSAGE:
	case WRITE:
	case SEND:
		return;
	case READ_VECTOR:
		leave_parts(e->at, e->bytes);
		return;
	case RECEIVE_MESSAGE:
		leave_message(e->at);
		return;
	case PROVIDE_BUFFERS:
		pages_leave(e->at, e->at + (uint64_t)e->bytes * e->fd);
		return;
	case READ:
	case READ_FIXED:
	case READ_MANY:
	case RECEIVE:
		pages_leave(e->at, e->at + e->bytes);
		return;
	default: /* perhaps results */
		pages_leave(e->at, e->at + RESULT_BYTES);
		pages_leave(e->at2, e->at2 + RESULT_BYTES);
	}
}

static void
leave_entries(const struct ring *r)
{
	uint32_t head, tail, mask, index;
	struct entry e;
	if (!r->ring || !r->entries || !read_program(&head, r->ring + r->head, 4) ||
	    !read_program(&tail, r->ring + r->tail, 4) ||
	    !read_program(&mask, r->ring + r->mask, 4))
		return;
	uint32_t size = r->flags & SETUP_LONG_ENTRIES ? 128 : 64;
	for (uint32_t n = 0; head != tail && n <= mask; head++, n++) {
		index = head & mask;
		if (!(r->flags & SETUP_NO_ARRAY) &&
		    !read_program(&index, r->ring + r->array + 4ul * index, 4))
			return;
		if (read_program(&e, r->entries + (uint64_t)(index & mask) * size, sizeof e))
			leave_entry(&e);
	}
}

static void
leave_registered(uint64_t what, uint64_t at, uint64_t n)
{
	enum { BUFFERS = 0, BUFFERS2 = 15, UPDATE = 16 };
	uint64_t p[4];
	if (what == BUFFERS)
		leave_parts(at, n);
	else if (what == BUFFERS2 && read_program(p, at, sizeof p))
		leave_parts(p[2], (uint32_t)p[0]);
	else if (what == UPDATE && read_program(p, at, sizeof p))
		leave_parts(p[1], (uint32_t)p[3]);
}

/* The results that registers point to. */
static void
open_results(const uint64_t *r)
{
	static const uint8_t arguments[] = {RDI, RSI, RDX, R10, R8, R9};
	for (unsigned i = 0; i < sizeof arguments; i++)
		if (r[arguments[i]] >> 47 == 0)
			pages_open(r[arguments[i]], r[arguments[i]] + RESULT_BYTES);
}

static void
will_write(const uint64_t *r)
{
	switch (r[RAX]) {
	case __NR_read:
	case __NR_pread64:
		pages_open(r[RSI], r[RSI] + r[RDX]);
		break;
	case __NR_recvfrom:
		pages_open(r[RSI], r[RSI] + r[RDX]);
		open_results(r);
		break;
	case __NR_readv:
	case __NR_preadv:
	case __NR_preadv2:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_process_vm_readv:
	case __NR_process_vm_writev:
		pages_open(0, ~0ull);
		break;
	/* After an EFAULT these cannot be made again: something is consumed. */
	case __NR_wait4:
	case __NR_waitid:
	case __NR_rt_sigtimedwait:
	case __NR_msgrcv:
	case __NR_mq_timedreceive:
	case __NR_accept:
	case __NR_accept4:
	case __NR_splice:
	case __NR_sendfile:
	case __NR_copy_file_range:
	case __NR_ioctl:
		open_results(r);
		break;
	case __NR_io_submit:
		leave_submitted(r[RDX], r[RSI]);
		break;
	case __NR_io_uring_enter:
		for (uint32_t i = 0; i < n_rings && i < MOST_RINGS; i++)
			leave_entries(&rings[i]);
		break;
	case __NR_io_uring_register:
		leave_registered(r[RSI] & 0x7fffffff, r[RDX], r[R10]);
		break;
	default:
		break;
	}
}

void
kernel_will_write(const struct thread *t)
{
	uint64_t nr = t->regs.r[RAX];
	bool later =
	        nr == __NR_io_submit || nr == __NR_io_uring_enter || nr == __NR_io_uring_register;
	if (!pages_any() && !(later && maps_any_writable()))
		return;
	rt_lock(&rt.lock);
	will_write(t->regs.r);
	rt_unlock(&rt.lock);
}

void
kernel_has_answered(struct thread *t, long ret)
{
	const uint64_t *r = t->regs.r;
	bool rings_named = r[RAX] == __NR_io_uring_setup;
	if (r[RAX] == __NR_set_tid_address)
		t->kernel.clear_tid = r[RDI];
	if (sys_failed(ret) || (!rings_named && !(r[RAX] == __NR_mmap && n_rings)))
		return;
	rt_lock(&rt.lock);
	if (rings_named)
		ring_made((uint32_t)ret, r[RSI]);
	else
		ring_mapped((uint32_t)r[R8], r[R9], (uint64_t)ret);
	rt_unlock(&rt.lock);
}

void
kernel_stores_ids(uint64_t parent, uint64_t child)
{
	if (!pages_used())
		return;
	rt_lock(&rt.lock);
	pages_leave(parent, parent + 4);
	pages_leave(child, child + 4);
	rt_unlock(&rt.lock);
}

void
kernel_ends_thread(const struct thread *t)
{
	struct {
		uint64_t next, offset, pending;
	} head;
	uint64_t at = 0, len;
	if (!pages_used())
		return;
	rt_lock(&rt.lock);
	if (t->kernel.clear_tid)
		pages_leave(t->kernel.clear_tid, t->kernel.clear_tid + 4);
	if (SYS(__NR_get_robust_list, 0, &at, &len) == 0 && at &&
	    read_program(&head, at, sizeof head)) {
		uint64_t entry = head.next & ~1ull, pending = head.pending & ~1ull;
		if (pending)
			pages_leave(pending + head.offset, pending + head.offset + 4);
		for (unsigned n = 0; entry != at && n < MOST_ROBUST; n++) {
			pages_leave(entry + head.offset, entry + head.offset + 4);
			if (!read_program(&entry, entry, 8))
				break;
			entry &= ~1ull;
		}
	}
	rt_unlock(&rt.lock);
}
