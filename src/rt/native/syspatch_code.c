/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of system-call patches, and what of the program's code they stand for. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/native/breakpoints.h"
#include "rt/native/patch.h"
#include "rt/native/syspatches.h"

enum {
	JUMP_BYTES = 5,
	ENTRY_BYTES = 20, /* of a system-call patch, from what stood before the system call up to
	                     its own */
};
#define FARTHEST (1ll << 30)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The bytes that the system call has in the program, and what stood before and after it. */
static uint32_t
bytes_before(const struct syspatch *k)
{
	return (uint32_t)(k->call - k->site);
}
static uint64_t
after_call(const struct syspatch *k)
{
	return k->call + CALL_BYTES;
}
static uint32_t
bytes_after(const struct syspatch *k)
{
	uint64_t end = k->site + k->bytes;
	return end > after_call(k) ? (uint32_t)(end - after_call(k)) : 0;
}

/* Offsets in the system-call patch's code of its own system call, and of what follows it. */
static uint32_t
own_call(const struct syspatch *k)
{
	return bytes_before(k) + ENTRY_BYTES;
}
static uint32_t
own_after(const struct syspatch *k)
{
	return own_call(k) + CALL_BYTES;
}

uint64_t
syspatch_resume_address(uint64_t pc)
{
	if (!rt.native.syspatches || !rt.native.syspatches->n)
		return pc;
	const struct syspatch *k = syspatch_of(pc - CALL_BYTES);
	for (uint32_t i = 0; !k && i < rt.native.syspatches->n; i++) {
		const struct syspatch *o = &rt.native.syspatches->syspatch[i];
		if (o->open && pc > o->call && pc < o->site + o->bytes)
			k = o;
	}
	return k && pc - after_call(k) < bytes_after(k)
	               ? k->code + own_after(k) + (pc - after_call(k))
	               : pc;
}

bool
syspatches_own(uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; rt.native.syspatches && i < rt.native.syspatches->n_areas; i++)
		if (start < rt.native.syspatches->area[i].start + AREA_BYTES &&
		    rt.native.syspatches->area[i].start < start + bytes)
			return true;
	return false;
}

uint64_t
syspatch_leads(uint64_t pc)
{
	if (!syspatches_own(pc, 1))
		return pc;
	for (uint32_t i = 0; i < rt.native.syspatches->n; i++) {
		const struct syspatch *k = &rt.native.syspatches->syspatch[i];
		uint64_t at = pc - k->code;
		if (at >= SYSPATCH_BYTES)
			continue;
		if (at < bytes_before(k))
			return k->site;
		if (at < own_after(k) || at > own_after(k) + bytes_after(k))
			return k->call;
		return after_call(k) + (at - own_after(k));
	}
	return pc;
}

static bool
is_near(uint64_t a, uint64_t b)
{
	int64_t far = (int64_t)(a - b);
	return far < FARTHEST && far > -FARTHEST;
}

/* Space for a system-call patch near the address; 0: there is none. */
static uint64_t
space_near(uint64_t address)
{
	struct syspatches *g = rt.native.syspatches;
	for (uint32_t i = 0; i < g->n_areas; i++)
		if (is_near(g->area[i].start, address) && g->area[i].used < AREA_BYTES)
			return g->area[i].start + g->area[i].used;
	/* Not in the next hole, which the program may be about to fill. */
	const uint64_t page = address & ~4095ull, step = FARTHEST / 4;
	const uint64_t places[] = {page - step, page - 2 * step, page - 3 * step,
	                           rt.target.area + ST_AREA_SIZE};
	for (unsigned i = 0; i < sizeof places / sizeof *places && g->n_areas < MOST_AREAS; i++) {
		if (!is_near(places[i], address) || places[i] >> 47)
			continue;
		long at = SYS(__NR_mmap, places[i], AREA_BYTES, PROT_READ | PROT_EXEC,
		              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if ((uint64_t)at != places[i]) {
			if (!sys_failed(at)) /* an old kernel */
				SYS(__NR_munmap, at, AREA_BYTES);
			continue;
		}
		SYS(__NR_madvise, at, AREA_BYTES, 16 /* MADV_DONTDUMP */);
		rt_count_memory(AREA_BYTES, 0);
		rt_note_memory((uint64_t)at, AREA_BYTES);
		g->area[g->n_areas].start = (uint64_t)at;
		g->area[g->n_areas].used = 0;
		return g->area[g->n_areas++].start;
	}
	return 0;
}

struct area *
syspatch_area(const struct syspatch *k)
{
	struct area *a = rt.native.syspatches->area;
	while (k->code - a->start >= AREA_BYTES)
		a++;
	return a;
}

/* Do instructions, decoded from `from` on, come to begin at `to`? Also if that is no code at all.
 */
static bool
come_to(uint64_t from, uint64_t to)
{
	struct st_insn in;
	while (from < to) {
		if (!st_decode(program_code(from), 15, &in))
			return true;
		from += in.len;
	}
	return from == to;
}

/* Does `mov $number, %eax` stand before the call? Among 16 neighbouring bytes one begins an
 * instruction, so that what comes to `mov` from each of them is known to be one. */
bool
syspatch_number_before(const struct map *m, uint64_t call)
{
	enum { FARTHEST_START = 64, STARTS = 16 };
	uint64_t mov = call - JUMP_BYTES;
	if (mov - m->start < FARTHEST_START || *program_code(mov) != 0xb8)
		return false;
	for (unsigned i = 0; i < STARTS; i++)
		if (!come_to(mov - FARTHEST_START + i, mov))
			return false;
	return true;
}

/* Is it the distance of a jump or call, that ends after it? */
static bool
is_far_jump(const uint8_t *distance)
{
	return (distance[-1] & 0xfe) == 0xe8 ||
	       ((distance[-1] & 0xf0) == 0x80 && distance[-2] == 0x0f);
}
static bool
is_short_jump(const uint8_t *distance)
{
	unsigned op = distance[-1];
	return (op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0;
}

/* May a jump lead there? Any bytes are taken for one that look like it. */
static bool
is_jumped_to(const struct map *m, uint64_t to)
{
	enum { AROUND = 16 << 20, LONGEST_OPCODE = 2, DISTANCE = 4 };
	uint64_t from = to - m->start > AROUND ? to - AROUND : m->start;
	uint64_t end = m->end - to > AROUND ? to + AROUND : m->end;
	/* The code as it was; the jumps of other system-call patches do no harm. */
	const uint8_t *own = breakpoints_source(m->start);
	uint64_t moved = own ? (uint64_t)own - m->start : 0;
	to += moved;
	from += moved;
	end += moved;
	for (uint64_t p = from + LONGEST_OPCODE; p + DISTANCE <= end; p++) {
		int32_t far;
		memcpy(&far, (const void *)p, DISTANCE);
		if ((uint32_t)far == (uint32_t)(to - DISTANCE - p) &&
		    is_far_jump((const uint8_t *)p))
			return true;
	}
	for (uint64_t p = to - 128; p < to + 128; p++)
		if (p > from && p < end && p + 1 + (uint64_t)(int64_t) * (const int8_t *)p == to &&
		    is_short_jump((const uint8_t *)p))
			return true;
	return false;
}

/* Bytes of the call and of as many instructions after it as a jump needs, which execute as well
 * elsewhere; 0: there are none. */
static uint32_t
bytes_with_next(const struct map *m, uint64_t call)
{
	uint32_t n = CALL_BYTES;
	struct st_insn in;
	while (n < JUMP_BYTES) {
		const uint8_t *code = program_code(call + n);
		if (!st_decode(code, 15, &in) || in.cls != ST_C_NORMAL ||
		    (in.flags & (ST_I_RIPREL | ST_I_GSSEG)) || jit_may_fault(&in, code) ||
		    is_jumped_to(m, call + n))
			return 0;
		n += in.len;
	}
	return n > MOST_WINDOW ? 0 : n;
}

static uint8_t *
put_code(uint8_t *p, const void *from, uint32_t n)
{
	memcpy(p, from, n);
	return p + n;
}

static uint8_t *
put_distance(uint8_t *p, uint64_t from, uint64_t to)
{
	int32_t far = (int32_t)(int64_t)(to - from);
	return put_code(p, &far, 4);
}

/* The system-call patch's code, into `code`. */
static uint32_t
write_syspatch(const struct syspatch *k, uint8_t code[SYSPATCH_BYTES])
{
	/* rcx is what a system call leaves there, so it may be used before; flags are not touched.
	 */
	/* clang-format off */
	static const uint8_t entry[ENTRY_BYTES] = {
	        0xf3, 0x48, 0x0f, 0xae, 0xc9,                     /* rdgsbase %rcx */
	        0xe3, 0x0d,                                       /* jrcxz own call */
	        0x65, 0x8b, 0x0c, 0x25,                           /* movl %gs:state, %ecx */
	        offsetof(struct thread, state), 0, 0, 0,
	        0x8d, 0x49, (uint8_t)-THREAD_NATIVE_RUN,             /* lea -NATIVE_RUN(%rcx), %ecx */
	        0xe3, 0,                                          /* jrcxz the runtime */
	};
	/* clang-format on */
	static const uint8_t call[CALL_BYTES] = {0x0f, 0x05};
	static const uint8_t lea_rcx[] = {0x48, 0x8d, 0x0d}; /* rip-relative */
	static const uint8_t jump[] = {0xff, 0x25};          /* rip-relative, indirect */
	const uint64_t stub = (uint64_t)rt_stub_syspatch;
	uint32_t before = bytes_before(k), after = bytes_after(k);
	uint8_t *p = put_code(code, k->saved, before);
	p = put_code(p, entry, ENTRY_BYTES);
	p[-1] = (uint8_t)(CALL_BYTES + after + JUMP_BYTES);
	p = put_code(p, call, CALL_BYTES);
	p = put_code(p, k->saved + before + CALL_BYTES, after);
	*p++ = 0xe9;
	p = put_distance(p, k->code + (uint64_t)(p - code) + 4, after_call(k) + after);
	p = put_code(p, lea_rcx, sizeof lea_rcx);
	p = put_distance(p, k->code + (uint64_t)(p - code) + 4, after_call(k));
	p = put_code(p, jump, sizeof jump);
	/* The pointer is aligned: the program may have set the alignment check. */
	const uint64_t next = k->code + (uint64_t)(p - code) + 4, pointer = (next + 7) & ~7ull;
	p = put_distance(p, next, pointer);
	memset(p, 0xcc, pointer - next);
	p = put_code(p + (pointer - next), &stub, sizeof stub);
	return (uint32_t)(p - code);
}

/* Does the window lie within its mapping, and apart from those that there are? */
static bool
is_apart(const struct syspatch *k, const struct map *m)
{
	for (uint32_t i = 0; i < rt.native.syspatches->n; i++) {
		const struct syspatch *o = &rt.native.syspatches->syspatch[i];
		if (o->open && k->site < o->site + o->bytes && o->site < k->site + k->bytes)
			return false;
	}
	return k->site >= m->start && k->site + k->bytes <= m->end;
}

/* Chooses the bytes that a system-call patch replaces. False: the call cannot have one. */
static bool
choose_replaced(struct syspatch *k, const struct map *m, uint64_t call, bool before)
{
	*k = (struct syspatch){.site = before ? call - JUMP_BYTES : call, .call = call};
	k->bytes = before ? JUMP_BYTES : bytes_with_next(m, call);
	if (!k->bytes || !is_apart(k, m))
		return false;
	memcpy(k->saved, program_code(k->site), k->bytes);
	k->code = space_near(call);
	return k->code && sources_keep(k->site, k->site + k->bytes);
}

bool
syspatch_prepare(struct syspatch *k, const struct map *m, uint64_t call, bool before)
{
	uint8_t code[SYSPATCH_BYTES];
	if (!choose_replaced(k, m, call, before) ||
	    !patch_code(k->code, code, write_syspatch(k, code)))
		return false;
	syspatch_area(k)->used += SYSPATCH_BYTES;
	return true;
}

bool
syspatch_put_back(const struct syspatch *k)
{
	return patch_back(k->site, k->saved, k->bytes);
}

static void
write_jump(const struct syspatch *k, uint8_t jump[MOST_WINDOW])
{
	memset(jump, 0xcc, MOST_WINDOW);
	jump[0] = 0xe9;
	put_distance(jump + 1, k->site + JUMP_BYTES, k->code);
}

bool
syspatch_lead_in(const struct syspatch *k)
{
	uint8_t jump[MOST_WINDOW];
	write_jump(k, jump);
	breakpoints_yield(k->site, k->site + k->bytes);
	return patch_code(k->site, jump, k->bytes);
}

bool
syspatch_leads_in(const struct syspatch *k)
{
	uint8_t jump[MOST_WINDOW], now[MOST_WINDOW];
	write_jump(k, jump);
	return !rt_copy_guarded(now, (const void *)k->site, k->bytes) &&
	       memcmp(now, jump, k->bytes) == 0;
}
