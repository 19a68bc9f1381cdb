/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel writes to pages with code that has run, and not for a call that waits for it: buffers
 * of AIO and io_uring (named in an entry, in a vector, registered, or handed over before the code
 * there runs), the mark in a robust mutex whose owner ends, the id of a thread that ends, the
 * results of calls that cannot be made twice.
 */
/* strobe-test: */
#include "code/emit.h"
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { ALL = PROT_READ | PROT_WRITE | PROT_EXEC, PAGE = 4096 };

/* A page with a function that has run. */
static unsigned char *
code_page(void)
{
	unsigned char *p = map_code(PAGE, ALL);

	emit_return(p, 1);
	CHECK_EQ(call(p), 1);
	return p;
}

/* A file with a function. */
static int
code_file(int value)
{
	unsigned char text[RETURN_LENGTH];
	int fd = (int)syscall(SYS_memfd_create, "code", 0);

	emit_return(text, value);
	CHECK(fd >= 0 && write(fd, text, sizeof text) == sizeof text, "a file in memory");
	return fd;
}

static void
by_aio(int opcode)
{
	unsigned char *p = code_page();
	struct iovec part = {p, RETURN_LENGTH};
	struct iocb block = {.aio_lio_opcode = (uint16_t)opcode,
	                     .aio_fildes = (uint32_t)code_file(2),
	                     .aio_buf = (uintptr_t)(opcode == IOCB_CMD_PREADV ? (void *)&part : p),
	                     .aio_nbytes = opcode == IOCB_CMD_PREADV ? 1 : RETURN_LENGTH};
	struct iocb *blocks = &block;
	struct io_event event;
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 4, &context)) {
		CHECK(errno == ENOSYS || errno == EPERM, "io_setup: %s", strerror(errno));
		return;
	}
	CHECK_EQ(syscall(SYS_io_submit, context, 1, &blocks), 1);
	CHECK_EQ(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
	CHECK_EQ(event.res, RETURN_LENGTH);
	CHECK_EQ(call(p), 2);
	syscall(SYS_io_destroy, context);
}

static int ring;
static struct io_uring_params params;
static char *queue, *results;
static struct io_uring_sqe *entries;

static bool
make_ring(void)
{
	ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0) {
		CHECK(errno == ENOSYS || errno == EPERM, "io_uring_setup: %s", strerror(errno));
		return false;
	}
	queue = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	results = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	entries = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	return true;
}

static void
submit(struct io_uring_sqe entry)
{
	unsigned *tail = (unsigned *)(queue + params.sq_off.tail);
	unsigned at = *tail & *(unsigned *)(queue + params.sq_off.ring_mask);

	entries[at] = entry;
	((unsigned *)(queue + params.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	CHECK_EQ(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0), 1);
}

static int
result(void)
{
	unsigned *head = (unsigned *)(results + params.cq_off.head);
	unsigned at = *head & *(unsigned *)(results + params.cq_off.ring_mask);

	CHECK_EQ(syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0), 0);
	int got = ((struct io_uring_cqe *)(results + params.cq_off.cqes))[at].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return got;
}

static void
by_ring(int opcode)
{
	unsigned char *p = code_page();
	struct iovec part = {p, RETURN_LENGTH};

	if (opcode == IORING_OP_READ_FIXED)
		CHECK(!syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &part, 1),
		      "io_uring_register: %s", strerror(errno));
	CHECK_EQ(call(p), 1);
	submit((struct io_uring_sqe){
	        .opcode = (uint8_t)opcode,
	        .fd = code_file(opcode),
	        .addr = (uintptr_t)(opcode == IORING_OP_READV ? (void *)&part : p),
	        .len = opcode == IORING_OP_READV ? 1 : RETURN_LENGTH});
	CHECK_EQ(result(), RETURN_LENGTH);
	CHECK_EQ(call(p), opcode);
}

/* What is read comes after the code there has run. */
static void
pending(void)
{
	unsigned char *p = map_code(PAGE, ALL), text[RETURN_LENGTH];
	int ends[2];

	CHECK(!pipe(ends), "pipe");
	emit_return(p, 5);
	submit((struct io_uring_sqe){.opcode = IORING_OP_READ,
	                             .fd = ends[0],
	                             .addr = (uintptr_t)p,
	                             .len = RETURN_LENGTH});
	CHECK_EQ(call(p), 5);
	emit_return(text, 6);
	CHECK(write(ends[1], text, sizeof text) == sizeof text, "write");
	CHECK_EQ(result(), RETURN_LENGTH);
	CHECK_EQ(call(p), 6);
}

static atomic_int held, go;

static void *
hold(void *mutex)
{
	pthread_mutex_lock(mutex);
	held = 1;
	while (!go)
		sched_yield();
	return NULL;
}

static void
robust(void)
{
	unsigned char *p = code_page();
	pthread_mutex_t *mutex = (pthread_mutex_t *)(p + 256);
	pthread_mutexattr_t kind;
	pthread_t thread;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(mutex, &kind);
	CHECK(!pthread_create(&thread, NULL, hold, mutex), "pthread_create");
	while (!held)
		sched_yield();
	CHECK_EQ(call(p), 1);
	go = 1;
	pthread_join(thread, NULL);
	CHECK_EQ(pthread_mutex_trylock(mutex), EOWNERDEAD);
}

static int
in_clone(void *page)
{
	while (!go)
		sched_yield();
	return call(page) - 1;
}

/* Ids of threads, beside code. */
static void
thread_ids(void)
{
	static char stack[65536];
	unsigned char *p = code_page();
	atomic_int *cleared = (atomic_int *)(p + 512), *parent = (atomic_int *)(p + 516);

	go = 0;
	*cleared = -1;
	CHECK_EQ(call(p), 1);
	int id = clone(in_clone, stack + sizeof stack,
	               CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
	                       CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	               p, parent, NULL, cleared);
	CHECK(id > 0, "clone: %s", strerror(errno));
	CHECK_EQ(*parent, id);
	CHECK_EQ(call(p), 1);
	go = 1;
	while (*cleared)
		sched_yield();
}

static void
consumed(void)
{
	unsigned char *p = code_page();
	int *status = (int *)(p + 1024);

	for (int i = 0; i < 20; i++) {
		emit_return(p, i);
		CHECK_EQ(call(p), i);
		pid_t child = fork();
		if (child == 0)
			_exit(i);
		CHECK_EQ(waitpid(child, status, 0), child);
		CHECK_EQ(*status, i << 8);
	}
}

int
main(void)
{
	by_aio(IOCB_CMD_PREAD);
	by_aio(IOCB_CMD_PREADV);
	if (make_ring()) {
		by_ring(IORING_OP_READ);
		by_ring(IORING_OP_READV);
		by_ring(IORING_OP_READ_FIXED);
		pending();
	}
	robust();
	thread_ids();
	consumed();
	puts("what the kernel has written is there");
	return 0;
}
