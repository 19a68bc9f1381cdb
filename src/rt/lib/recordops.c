/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the program's data at the entry of a function. Pointers may be invalid, and a fault must
 * not reach the program, so the kernel copies the memory and returns an error instead. System calls
 * are slow, so each one also reads nearby memory into a window that later reads use.
 */
#include "rt/lib/recordops.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <stdbool.h>

#include "rt/lib/sys.h"
#include "wire/machine.h"

enum { PAGE = 4096, ADDRESS_BITS = 56 };

struct span {
	void *at;
	uint64_t bytes;
};

/* Returns the number of bytes copied, which ends at the first unreadable page. */
static uint64_t
copy_memory(uint64_t from, void *to, uint64_t n)
{
	const struct span here = {to, n}, there = {(void *)from, n};
	const int64_t got = SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0);
	return got > 0 ? (uint64_t)got : 0;
}

static void
copy_bytes(void *to, const void *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

/* False: it is unreadable. Small numbers and negative ones need no system call. */
static bool
record_read_memory(struct st_record_scratch *own, uint64_t from, void *to, uint64_t n)
{
	if (from < PAGE || from >> ADDRESS_BITS)
		return false;
	for (uint32_t i = 0; i < ST_RECORD_WINDOWS; i++)
		if (from >= own->windows[i].from && from + n <= own->windows[i].to &&
		    from + n > from) {
			copy_bytes(to, own->windows[i].bytes + (from - own->windows[i].from), n);
			return true;
		}
	/* Includes preceding members of a structure, and ends at the page unless n crosses it. */
	const uint64_t lead = from % PAGE < 64 ? from % PAGE : 64, begin = from - lead,
	               end = (begin / PAGE + 1) * PAGE;
	uint64_t bytes = end - begin < ST_RECORD_WINDOW ? end - begin : ST_RECORD_WINDOW;
	if (bytes < lead + n)
		bytes = lead + n;
	if (n > ST_RECORD_WINDOW - 64)
		return copy_memory(from, to, n) == n;
	const uint32_t at = own->next++ % ST_RECORD_WINDOWS;
	const uint64_t got = copy_memory(begin, own->windows[at].bytes, bytes);
	own->windows[at].from = begin;
	own->windows[at].to = begin + got;
	if (got < lead + n)
		return false;
	copy_bytes(to, own->windows[at].bytes + lead, n);
	return true;
}

/* ---- operations ---- */

static uint64_t
extend_sign(uint64_t value, uint32_t bits, bool is_signed)
{
	if (bits >= 64)
		return value;
	value &= (1ull << bits) - 1;
	return is_signed && value >> (bits - 1) ? value | ~0ull << bits : value;
}

static bool
load_number(struct st_record_scratch *own, const struct st_record_op *op, uint64_t at,
            uint64_t *value)
{
	*value = 0;
	if (!record_read_memory(own, at, value, op->width))
		return false;
	*value = extend_sign(*value, op->width * 8u, op->is_signed);
	return true;
}

/* False: no end of the text within readable memory and ST_RECORD_TEXT bytes. */
static bool
measure_text(struct st_record_scratch *own, uint64_t from, uint64_t *length)
{
	for (uint64_t n = 0; n < ST_RECORD_TEXT;) {
		const uint64_t at = from + n, page = PAGE - at % PAGE;
		const uint64_t wanted = n ? page : page < 64 ? page : 64;
		const uint64_t got = copy_memory(at, own->buffer, wanted);
		for (uint64_t i = 0; i < got; i++)
			if (!own->buffer[i]) {
				*length = n + i;
				return n + i < ST_RECORD_TEXT;
			}
		if (got < wanted)
			return false;
		n += got;
	}
	return false;
}

static bool
add_elements(struct st_record_scratch *own, const struct st_record_op *op, uint64_t from,
             uint64_t *sum)
{
	const uint64_t at_once = ST_RECORD_BUFFER / op->width;
	*sum = 0;
	for (uint64_t i = 0; i < op->extra;) {
		const uint64_t n = op->extra - i < at_once ? op->extra - i : at_once;
		if (copy_memory(from + i * op->width, own->buffer, n * op->width) != n * op->width)
			return false;
		for (uint64_t j = 0; j < n; j++) {
			uint64_t element = 0;
			copy_bytes(&element, own->buffer + j * op->width, op->width);
			*sum += extend_sign(element, op->width * 8u, op->is_signed);
		}
		i += n;
	}
	return true;
}

static uint64_t
vector_register(uint32_t number)
{
	uint64_t value = 0;
	switch (number) {
		/* clang-format off */
#define X(n) case n: __asm__("movq %%xmm" #n ", %0" : "=r"(value)); break;
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#undef X
	default: break;
		/* clang-format on */
	}
	return value;
}

static int64_t
divided(uint64_t a, uint64_t b, uint64_t by)
{
	const int64_t difference = (int64_t)(a - b);
	return by <= 1 ? difference : difference / (int64_t)by;
}

/* The folder of the threads has a link for each of them, besides its own two. */
static bool
record_count_threads(uint64_t *value)
{
	struct stat folder;
	if (SYS(__NR_stat, "/proc/self/task", &folder) || folder.st_nlink <= 2)
		return false;
	*value = folder.st_nlink - 2;
	return true;
}

static bool
record_read_machine(const struct st_record_scratch *own, uint32_t feature, uint64_t *value)
{
	struct st_machine *m = (struct st_machine *)own->machine;
	uint32_t cpu = ST_MACHINE_CPUS;
	if (feature == ST_MACHINE_THREADS)
		return record_count_threads(value);
	if (!m || feature >= ST_MACHINE_COUNT)
		return false;
	if (feature != ST_MACHINE_CLOCK) {
		const uint32_t known = __atomic_load_n(&m->known, __ATOMIC_ACQUIRE);
		*value = __atomic_load_n(&m->values[feature], __ATOMIC_RELAXED);
		return known >> feature & 1;
	}
	if (SYS(__NR_getcpu, &cpu, 0, 0) || cpu >= ST_MACHINE_CPUS)
		return false;
	m->cpus[cpu].used = 1;
	*value = m->cpus[cpu].khz;
	return *value != 0;
}

/* False: the value is absent. */
static bool
run_op(struct st_record_scratch *own, const struct st_record_op *op, const uint64_t *slot,
       const uint64_t *registers, uint64_t *value)
{
	const uint64_t *v = own->values, base = v[op->base];
	switch (op->kind) {
	case ST_RECORD_REGISTER:
		*value = registers[op->base];
		return true;
	case ST_RECORD_VECTOR:
		*value = vector_register(op->base);
		return true;
	case ST_RECORD_STACK:
		return record_read_memory(own, (uint64_t)(slot + 1) + (uint64_t)(int64_t)op->offset,
		                          value, 8);
	case ST_RECORD_STACK_ADDRESS:
		*value = (uint64_t)(slot + 1) + (uint64_t)(int64_t)op->offset;
		return true;
	case ST_RECORD_CONSTANT:
		*value = op->extra;
		return true;
	case ST_RECORD_LOAD:
		return load_number(own, op, base + (uint64_t)(int64_t)op->offset, value);
	case ST_RECORD_BITS:
		*value = extend_sign(base >> (op->offset & 63), op->width, op->is_signed);
		return true;
	case ST_RECORD_NULL:
		*value = !base;
		return true;
	case ST_RECORD_ADD:
		*value = base + v[op->other];
		return true;
	case ST_RECORD_DIFFERENCE:
		*value = (uint64_t)divided(base, v[op->other], op->extra);
		return true;
	case ST_RECORD_MULTIPLY:
		*value = base * op->extra;
		return true;
	case ST_RECORD_LENGTH:
		return measure_text(own, base, value);
	case ST_RECORD_SUM:
		return add_elements(own, op, base + (uint64_t)(int64_t)op->offset, value);
	case ST_RECORD_MACHINE:
		return record_read_machine(own, op->base, value);
	default:
		return false;
	}
}

static bool
needs_base(uint32_t kind)
{
	return kind >= ST_RECORD_LOAD && kind < ST_RECORD_MACHINE;
}

static bool
needs_other(uint32_t kind)
{
	return kind == ST_RECORD_ADD || kind == ST_RECORD_DIFFERENCE;
}

void
record_run_ops(struct st_record_scratch *own, const struct st_record_op *ops, uint32_t n,
               const uint64_t *slot, const uint64_t *registers)
{
	for (uint32_t i = 0; i < ST_RECORD_WINDOWS; i++)
		own->windows[i].from = own->windows[i].to = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct st_record_op *op = &ops[i];
		/* An operation may only use values of previous operations. */
		const bool absent =
		        (needs_base(op->kind) && (op->base >= i || own->absent[op->base])) ||
		        (needs_other(op->kind) && (op->other >= i || own->absent[op->other]));
		own->absent[i] = absent || !run_op(own, op, slot, registers, &own->values[i]);
	}
}
