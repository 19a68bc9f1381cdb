/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/hang.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "collect/syscalls.h"

/* ---- looking ---- */

static bool
read_thread_file(pid_t pid, int64_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%" PRId64 "/%s", pid, tid, name);
	FILE *f = fopen(path, "re");
	const size_t n = f ? fread(text, 1, size - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	return n > 0;
}

static bool
read_word(pid_t pid, uint64_t address, uint32_t *word)
{
	const struct iovec here = {word, sizeof *word},
	                   there = {(void *)(uintptr_t)address, sizeof *word};
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof *word;
}

/* The index of the thread; SIZE_MAX: there is none. */
static size_t
hang_find(const struct st_hang *h, int64_t tid)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].tid == tid)
			return i;
	return SIZE_MAX;
}

/* Fills in the thread that another one waits for. The C library has the number of the thread as the
 * word that a join waits on, and the owner of a lock two words after the word of the lock. */
static void
find_holder(const struct st_hang *h, struct st_hang_thread *t, pid_t pid, const uint64_t *arguments)
{
	enum { OWNER = 8 };
	const uint64_t address = arguments[0];
	const int command = (int)arguments[1] & FUTEX_CMD_MASK;
	uint32_t word = 0, owner = 0;
	if (!read_word(pid, address, &word) || !word)
		return;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
		owner = word & FUTEX_TID_MASK;
	else if (t->shared && word == (uint32_t)arguments[2] && hang_find(h, word) != SIZE_MAX)
		t->joins = true;
	else if (command != FUTEX_WAIT || !read_word(pid, address + OWNER, &owner))
		owner = 0;
	owner = t->joins ? word : owner;
	if (hang_find(h, owner) != SIZE_MAX)
		t->holder = owner;
	if (t->joins)
		t->shared = false; /* the kernel wakes it, not another process */
}

static void
look_at_call(const struct st_hang *h, struct st_hang_thread *t, pid_t pid)
{
	enum { MOST = 4 };
	char text[256], *at = text;
	uint64_t arguments[MOST] = {0};
	t->call = -1;
	if (!read_thread_file(pid, t->tid, "syscall", text, sizeof text) ||
	    (*text < '0' || *text > '9'))
		return;
	t->call = strtol(text, &at, 10);
	for (int i = 0; i < MOST; i++)
		arguments[i] = strtoull(at, &at, 16);
	t->waits = t->call == SYS_futex;
	if (!t->waits)
		return;
	t->timed = arguments[3] != 0;
	t->shared = !(arguments[1] & FUTEX_PRIVATE_FLAG);
	find_holder(h, t, pid, arguments);
}

static void
look_at_state(struct st_hang_thread *t, pid_t pid)
{
	char text[512];
	t->state = '?';
	if (!read_thread_file(pid, t->tid, "stat", text, sizeof text))
		return;
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	if (!name || !end || end < name)
		return;
	snprintf(t->name, sizeof t->name, "%.*s", (int)(end - name - 1), name + 1);
	for (char *c = t->name; *c; c++)
		*c = (unsigned char)*c < ' ' ? ' ' : *c;
	t->state = end[1] ? end[2] : '?';
}

static st_status
list_threads(struct st_hang *h, pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *d = opendir(path);
	st_status status = ST_OK;
	for (struct dirent *entry; d && !status && (entry = readdir(d));) {
		const int64_t tid = strtol(entry->d_name, NULL, 10);
		struct st_hang_thread *t = tid > 0 ? ST_PUSH(&h->threads) : NULL;
		if (t)
			*t = (struct st_hang_thread){.tid = tid};
		else if (tid > 0)
			status = ST_FAILED;
	}
	if (d)
		closedir(d);
	return status;
}

st_status
st_hang_look(struct st_hang *h, pid_t pid)
{
	*h = (struct st_hang){0};
	if (list_threads(h, pid))
		return ST_FAILED;
	for (size_t i = 0; i < h->threads.n; i++) {
		look_at_state(&h->threads.v[i], pid);
		look_at_call(h, &h->threads.v[i], pid);
	}
	return ST_OK;
}

/* ---- judging ---- */

/* The thread that the thread waits for without a time limit; SIZE_MAX: none is known. */
static size_t
waits_for(const struct st_hang *h, size_t thread)
{
	const struct st_hang_thread *t = &h->threads.v[thread];
	return t->waits && !t->timed && t->holder ? hang_find(h, t->holder) : SIZE_MAX;
}

size_t
st_hang_cycle(const struct st_hang *h)
{
	for (size_t i = 0; i < h->threads.n; i++) {
		size_t at = waits_for(h, i);
		for (size_t steps = 0; at != SIZE_MAX && at != i && steps < h->threads.n; steps++)
			at = waits_for(h, at);
		if (at == i)
			return i;
	}
	return SIZE_MAX;
}

/* Zombies are threads that have ended. */
static bool
hang_has_ended(const struct st_hang_thread *t)
{
	return t->state == 'Z' || t->state == 'X';
}

/* The first thread that may go on without another thread of the process; SIZE_MAX: none can. */
static size_t
may_go_on(const struct st_hang *h)
{
	for (size_t i = 0; i < h->threads.n; i++) {
		const struct st_hang_thread *t = &h->threads.v[i];
		if (!hang_has_ended(t) && (!t->waits || t->timed || t->shared))
			return i;
	}
	return SIZE_MAX;
}

enum st_blow_fault
st_hang_judge(const struct st_hang *h)
{
	if (st_hang_cycle(h) != SIZE_MAX)
		return ST_BLOW_DEADLOCK;
	return h->threads.n && may_go_on(h) == SIZE_MAX ? ST_BLOW_LOST_WAKEUP : ST_BLOW_HANG;
}

/* ---- words ---- */

static void
write_thread_name(const struct st_hang_thread *t, FILE *out)
{
	fprintf(out, "thread %" PRId64 " (%s)", t->tid, t->name);
}

static void
write_wait(const struct st_hang_thread *t, const struct st_hang_thread *holder, FILE *out)
{
	if (t == holder) {
		fputs(t->joins ? " waits for its end" : " waits for a lock that it holds", out);
		return;
	}
	fputs(t->joins ? " waits for the end of " : " waits for a lock of ", out);
	write_thread_name(holder, out);
}

static void
write_call(long call, FILE *out)
{
	const char *name = st_syscall_name((uint64_t)call);
	if (name)
		fprintf(out, " is in the system call %s", name);
	else
		fprintf(out, " is in system call %ld", call);
}

static void
explain_cycle(const struct st_hang *h, size_t first, FILE *out)
{
	size_t at = first;
	do {
		const size_t next = waits_for(h, at);
		if (at != first)
			fputs("; ", out);
		write_thread_name(&h->threads.v[at], out);
		write_wait(&h->threads.v[at], &h->threads.v[next], out);
		at = next;
	} while (at != first);
}

void
st_hang_explain(const struct st_hang *h, FILE *out)
{
	const size_t cycle = st_hang_cycle(h), goes_on = may_go_on(h);
	if (cycle != SIZE_MAX) {
		explain_cycle(h, cycle, out);
	} else if (!h->threads.n) {
		fputs("the threads of the program cannot be looked at", out);
	} else if (goes_on == SIZE_MAX) {
		fputs("suspected: all threads wait for a wake-up, and none is left that could "
		      "give one",
		      out);
	} else {
		fputs("cannot tell: ", out);
		st_hang_write_thread(h, goes_on, out);
	}
}

void
st_hang_write_thread(const struct st_hang *h, size_t thread, FILE *out)
{
	const struct st_hang_thread *t = &h->threads.v[thread];
	const size_t holder = t->holder ? hang_find(h, t->holder) : SIZE_MAX;
	write_thread_name(t, out);
	if (hang_has_ended(t))
		fputs(" has ended", out);
	else if (holder != SIZE_MAX)
		write_wait(t, &h->threads.v[holder], out);
	else if (t->waits)
		fputs(" waits for a wake-up", out);
	else if (t->call >= 0)
		write_call(t->call, out);
	else
		fputs(" is in no system call", out);
	if (t->waits && t->timed)
		fputs(" with a time limit", out);
	if (t->waits && t->shared)
		fputs(", which another process may give", out);
}
