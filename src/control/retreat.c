/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting retreat.S into a process. */
#include "control/retreat.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control/injection.h"

extern const unsigned char st_retreat_code[], st_retreat_table[], st_retreat_told[],
        st_retreat_call[], st_retreat_back[], st_retreat_data[], st_retreat_end[];
enum { MOST = 1024 }; /* bytes of all that */

/* How far from its beginning? As numbers: to the compiler the labels are objects of their own. */
static size_t
offset_of(const unsigned char *label)
{
	return (size_t)((uintptr_t)label - (uintptr_t)st_retreat_code);
}

static bool
read_memory(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)at, n};
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* Into memory that the process may not write; at is a multiple of 8, so is n. */
static bool
force_memory(pid_t pid, uint64_t at, const void *from, size_t n)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool ok = fd >= 0 && pwrite(fd, from, n, (off_t)at) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; !ok && i < n; i += 8) {
		long word;
		memcpy(&word, (const char *)from + i, 8);
		if (ptrace(PTRACE_POKETEXT, pid, at + i, word) != 0)
			return false;
	}
	return true;
}

/* Returns the address of the process' vDSO; 0: it has none. */
static uint64_t
vdso_of(pid_t pid)
{
	char path[64];
	Elf64_auxv_t all[64];
	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, all, sizeof all) : 0;
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof *all; i++)
		if (all[i].a_type == AT_SYSINFO_EHDR)
			return all[i].a_un.a_val;
	return 0;
}

/* Nothing is there, or the same from another time. */
static bool
is_free(const unsigned char *there, size_t code, size_t all)
{
	bool nothing = true;
	for (size_t i = 0; i < all; i++)
		nothing = nothing && there[i] == 0;
	return nothing || memcmp(there, st_retreat_code, code) == 0;
}

static uint64_t
find_room(pid_t pid, size_t code, size_t all)
{
	Elf64_Ehdr h;
	unsigned char there[MOST];
	uint64_t base = vdso_of(pid);
	if (!base || !read_memory(pid, base, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, 4) != 0)
		return 0;
	uint64_t end = h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize;
	if (!h.e_shoff || end > (1 << 20))
		return 0;
	uint64_t from = (base + end + 63) & ~63ull, to = (base + end + 4095) & ~4095ull;
	if (from + all > to || !read_memory(pid, from, there, all) || !is_free(there, code, all))
		return 0;
	return from;
}

bool
st_retreat_put(struct st_retreat *r, pid_t pid, const struct user_regs_struct *regs, uint64_t mask)
{
	unsigned char copy[MOST];
	size_t all = offset_of(st_retreat_end), code = offset_of(st_retreat_data);
	*r = (struct st_retreat){.pid = pid,
	                         .data = {.mask = mask, .rflags = regs->eflags, .pc = regs->rip}};
	st_general_registers(r->data.regs, regs);
	if (all > MOST || all - code != sizeof r->data)
		return false;
	uint64_t at = find_room(pid, code, all);
	memcpy(copy, st_retreat_code, code);
	memcpy(copy + code, &r->data, sizeof r->data);
	if (!at || !force_memory(pid, at, copy, all))
		return false;
	r->at = at;
	return true;
}

uint64_t
st_retreat_find(pid_t pid, size_t *bytes)
{
	unsigned char there[MOST];
	const size_t code = offset_of(st_retreat_data);
	const uint64_t at = find_room(pid, code, offset_of(st_retreat_end));
	*bytes = code;
	return at && read_memory(pid, at, there, code) && !memcmp(there, st_retreat_code, code) ? at
	                                                                                        : 0;
}

bool
st_retreat_update(const struct st_retreat *r)
{
	return force_memory(r->pid, r->at + offset_of(st_retreat_data), &r->data, sizeof r->data);
}

void
st_retreat_clear(const struct st_retreat *r)
{
	static const unsigned char nothing[MOST];
	if (r->at)
		force_memory(r->pid, r->at, nothing, offset_of(st_retreat_end));
}

uint64_t
st_retreat_table_at(const struct st_retreat *r)
{
	return r->at + offset_of(st_retreat_table);
}

uint64_t
st_retreat_told_at(const struct st_retreat *r)
{
	return r->at + offset_of(st_retreat_told);
}

uint64_t
st_retreat_call_at(const struct st_retreat *r)
{
	return r->at + offset_of(st_retreat_call);
}

uint64_t
st_retreat_back_at(const struct st_retreat *r)
{
	return r->at + offset_of(st_retreat_back);
}
