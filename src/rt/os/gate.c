/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/os/gate.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/jit/jit.h"
#include "rt/os/os.h"
#include "rt/tool/tool.h"

enum {
	MOST_GATES = 128,
	GATE_BYTES = 96,
	MOST_AREAS = 4,
	AREA_BYTES = MOST_GATES * GATE_BYTES,
	SITES = 1024,     /* of system calls; a power of two */
	OFTEN = 8,        /* calls of a site, for a gate */
	VERY_OFTEN = 64,  /* when what stands before it is not known */
	MOST_SOURCES = 64, /* pages with gates */
	SOURCE_SLOTS = 256,
	/* A block may begin at the end of a page, and be looked beyond. */
	SOURCE_BYTES = 4096 + MAX_BLOCK_BYTES + 256,
	JUMP_BYTES = 5,
	CALL_BYTES = 2,
	MOST_WINDOW = 16,
	ENTRY_BYTES = 20, /* of a gate, from what stood before the system call up to its own */
	CALL_SIGRETURN = 15,
};
#define FARTHEST (1ll << 30)

/* Bytes [site, site + bytes) of the program are a jump to `code`. */
struct gate {
	uint64_t site, call;
	uint64_t code;
	uint32_t bytes; /* whole instructions */
	bool open;
	uint8_t saved[MOST_WINDOW];
};

/* Where the program makes system calls. */
struct site {
	uint64_t call; /* 0: none */
	uint32_t times;
	uint16_t gate; /* + 1; 0: it has none */
	bool refused;
};

struct area {
	uint64_t start;
	uint32_t used;
};

/* A page of the program's code as it was, and what follows it. */
struct source {
	uint64_t page;
	uint8_t code[SOURCE_BYTES];
};

struct gates {
	struct site sites[SITES];
	struct gate gate[MOST_GATES];
	struct area area[MOST_AREAS];
	struct source *sources[SOURCE_SLOTS]; /* by page, open addressing */
	uint32_t n_sites, n, n_areas, n_sources;
	bool never; /* again: the process is to have its own code */
};

/* The site of the call, or where it would be. */
static struct site *
place_of(struct gates *g, uint64_t call)
{
	uint32_t h = (uint32_t)(call * 0x9e3779b97f4a7c15ull >> 54);
	while (g->sites[h].call && g->sites[h].call != call)
		h = (h + 1) % SITES;
	return &g->sites[h];
}

static struct gate *
gate_of(uint64_t call)
{
	const struct site *s = place_of(rt.gates, call);
	return s->call && s->gate ? &rt.gates->gate[s->gate - 1] : NULL;
}

bool
gate_serves(uint64_t call)
{
	return rt.gates && gate_of(call) != NULL;
}

/* The bytes that the system call has in the program, and what stood before and behind it. */
static uint32_t
bytes_before(const struct gate *k)
{
	return (uint32_t)(k->call - k->site);
}
static uint64_t
after_call(const struct gate *k)
{
	return k->call + CALL_BYTES;
}
static uint32_t
bytes_after(const struct gate *k)
{
	uint64_t end = k->site + k->bytes;
	return end > after_call(k) ? (uint32_t)(end - after_call(k)) : 0;
}

/* Offsets in the gate's code of its own system call, and of what follows it. */
static uint32_t
own_call(const struct gate *k)
{
	return bytes_before(k) + ENTRY_BYTES;
}
static uint32_t
own_after(const struct gate *k)
{
	return own_call(k) + CALL_BYTES;
}

uint64_t
gate_way(uint64_t pc)
{
	if (!rt.gates || !rt.gates->n)
		return pc;
	const struct gate *k = gate_of(pc - CALL_BYTES);
	for (uint32_t i = 0; !k && i < rt.gates->n; i++) {
		const struct gate *o = &rt.gates->gate[i];
		if (o->open && pc > o->call && pc < o->site + o->bytes)
			k = o;
	}
	return k && pc - after_call(k) < bytes_after(k) ? k->code + own_after(k) + (pc - after_call(k))
	                                                : pc;
}

bool
gates_own(uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; rt.gates && i < rt.gates->n_areas; i++)
		if (start < rt.gates->area[i].start + AREA_BYTES &&
		    rt.gates->area[i].start < start + bytes)
			return true;
	return false;
}

uint64_t
gate_leads(uint64_t pc)
{
	if (!gates_own(pc, 1))
		return pc;
	for (uint32_t i = 0; i < rt.gates->n; i++) {
		const struct gate *k = &rt.gates->gate[i];
		uint64_t at = pc - k->code;
		if (at >= GATE_BYTES)
			continue;
		if (at < bytes_before(k))
			return k->site;
		if (at < own_after(k) || at > own_after(k) + bytes_after(k))
			return k->call;
		return after_call(k) + (at - own_after(k));
	}
	return pc;
}

static struct source **
source_slot(uint64_t page)
{
	uint32_t h = (uint32_t)((page >> 12) * 0x9e3779b1u) >> 24;
	while (rt.gates->sources[h] && rt.gates->sources[h]->page != page)
		h = (h + 1) % SOURCE_SLOTS;
	return &rt.gates->sources[h];
}

const uint8_t *
gate_source(uint64_t pc)
{
	uint64_t page = pc & ~4095ull;
	const struct source *s = rt.gates->n ? *source_slot(page) : NULL;
	return s ? s->code + (pc - page) : (const uint8_t *)pc;
}

/* Keeps the page as it is, but for gates that reach into what follows it. */
static bool
keep_source(uint64_t page, uint64_t end)
{
	struct source **slot = source_slot(page);
	if (*slot)
		return true;
	if (rt.gates->n_sources == MOST_SOURCES)
		return false;
	struct source *s = rt_map_memory(sizeof *s);
	if (!s)
		return false;
	uint64_t n = end - page < SOURCE_BYTES ? end - page : SOURCE_BYTES;
	s->page = page;
	memcpy(s->code, (const void *)page, n);
	for (uint32_t i = 0; i < rt.gates->n; i++) {
		const struct gate *k = &rt.gates->gate[i];
		for (uint32_t j = 0; k->open && j < k->bytes; j++)
			if (k->site + j - page < n)
				s->code[k->site + j - page] = k->saved[j];
	}
	__atomic_store_n(slot, s, __ATOMIC_RELEASE);
	rt.gates->n_sources++;
	return true;
}

/* Any code, whatever its protection. */
static bool
write_code(uint64_t to, const uint8_t *from, uint32_t n)
{
	int fd = (int)SYS(__NR_openat, -100 /* AT_FDCWD */, "/proc/self/mem",
	                  0x80002 /* O_CLOEXEC | O_RDWR */);
	if (fd < 0)
		return false;
	bool done = SYS(__NR_pwrite64, fd, from, n, to) == n;
	SYS(__NR_close, fd);
	return done;
}

static bool
is_near(uint64_t a, uint64_t b)
{
	int64_t far = (int64_t)(a - b);
	return far < FARTHEST && far > -FARTHEST;
}

/* Room for a gate near the address; 0: there is none. */
static uint64_t
room_near(uint64_t address)
{
	struct gates *g = rt.gates;
	for (uint32_t i = 0; i < g->n_areas; i++)
		if (is_near(g->area[i].start, address) && g->area[i].used < AREA_BYTES)
			return g->area[i].start + g->area[i].used;
	const uint64_t hints[] = {0, rt.region + ST_REGION_SIZE};
	for (unsigned i = 0; i < 2 && g->n_areas < MOST_AREAS; i++) {
		long at = SYS(__NR_mmap, hints[i], AREA_BYTES, PROT_READ | PROT_EXEC,
		              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_failed(at))
			continue;
		if (!is_near((uint64_t)at, address)) {
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

static void
use_room(uint64_t code)
{
	for (uint32_t i = 0; i < rt.gates->n_areas; i++)
		if (code - rt.gates->area[i].start < AREA_BYTES)
			rt.gates->area[i].used += GATE_BYTES;
}

/* Does `mov $number, %eax` stand before the call? Instructions begin at `block`. */
static bool
number_before(uint64_t block, uint64_t call)
{
	struct st_insn in;
	uint64_t pc = block, last = 0;
	while (pc < call && st_decode(program_code(pc), 15, &in)) {
		last = pc;
		pc += in.len;
	}
	return pc == call && last == call - JUMP_BYTES && *program_code(last) == 0xb8;
}

static bool
leads_to(const uint8_t *p, uint64_t to)
{
	uint64_t next = (uint64_t)p;
	int32_t far;
	if ((p[0] & 0xf0) == 0x70 || p[0] == 0xeb || (p[0] & 0xfc) == 0xe0) {
		next += 2 + (uint64_t)(int64_t)(int8_t)p[1];
	} else if ((p[0] & 0xfe) == 0xe8) {
		memcpy(&far, p + 1, 4);
		next += 5 + (uint64_t)(int64_t)far;
	} else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) {
		memcpy(&far, p + 2, 4);
		next += 6 + (uint64_t)(int64_t)far;
	} else {
		return false;
	}
	return next == to;
}

/* May a jump lead there? Any bytes are taken for one that look like it. */
static bool
is_jumped_to(const struct map *m, uint64_t to)
{
	enum { AROUND = 32768, LONGEST_JUMP = 6 };
	uint64_t p = to - m->start > AROUND ? to - AROUND : m->start;
	uint64_t end = m->end - to > AROUND ? to + AROUND : m->end;
	for (; p + LONGEST_JUMP <= end; p++)
		if (leads_to((const uint8_t *)p, to))
			return true;
	return false;
}

/* Bytes of the call and of as many instructions behind it as a jump needs, which execute as well
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
put(uint8_t *p, const void *from, uint32_t n)
{
	memcpy(p, from, n);
	return p + n;
}

static uint8_t *
put_distance(uint8_t *p, uint64_t from, uint64_t to)
{
	int32_t far = (int32_t)(int64_t)(to - from);
	return put(p, &far, 4);
}

/* The gate's code, into `code`. */
static uint32_t
write_gate(const struct gate *k, uint8_t code[GATE_BYTES])
{
	/* rcx is what a system call leaves there, so it may be used before; flags are not touched. */
	static const uint8_t entry[ENTRY_BYTES] = {
	        0xf3, 0x48, 0x0f, 0xae, 0xc9,                   /* rdgsbase %rcx */
	        0xe3, 0x0d,                                     /* jrcxz own call */
	        0x65, 0x8b, 0x0c, 0x25, offsetof(struct thread, state), 0, 0, 0, /* movl %gs:state, %ecx */
	        0x8d, 0x49, (uint8_t)-THREAD_OUTSIDE,           /* lea -outside(%rcx), %ecx */
	        0xe3, 0,                                        /* jrcxz the runtime */
	};
	static const uint8_t call[CALL_BYTES] = {0x0f, 0x05};
	static const uint8_t lea_rcx[] = {0x48, 0x8d, 0x0d}; /* rip-relative */
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* *0(%rip) */
	const uint64_t stub = (uint64_t)rt_stub_gate;
	uint32_t before = bytes_before(k), after = bytes_after(k);
	uint8_t *p = put(code, k->saved, before);
	p = put(p, entry, ENTRY_BYTES);
	p[-1] = (uint8_t)(CALL_BYTES + after + JUMP_BYTES);
	p = put(p, call, CALL_BYTES);
	p = put(p, k->saved + before + CALL_BYTES, after);
	*p++ = 0xe9;
	p = put_distance(p, k->code + (uint64_t)(p - code) + 4, after_call(k) + after);
	p = put(p, lea_rcx, sizeof lea_rcx);
	p = put_distance(p, k->code + (uint64_t)(p - code) + 4, after_call(k));
	p = put(p, jump, sizeof jump);
	p = put(p, &stub, sizeof stub);
	return (uint32_t)(p - code);
}

/* What is to be changed for the call's gate. */
static bool
choose(struct gate *k, const struct map *m, uint64_t block, uint64_t call)
{
	bool before = number_before(block, call);
	*k = (struct gate){.site = before ? call - JUMP_BYTES : call, .call = call};
	k->bytes = before ? JUMP_BYTES : bytes_with_next(m, call);
	if (k->bytes)
		memcpy(k->saved, program_code(k->site), k->bytes);
	k->code = k->bytes ? room_near(call) : 0;
	return k->code && keep_source(k->site & ~4095ull, m->end) &&
	       keep_source((k->site + k->bytes - 1) & ~4095ull, m->end);
}

static bool
change_code(const struct gate *k)
{
	uint8_t jump[MOST_WINDOW];
	memset(jump, 0xcc, sizeof jump);
	jump[0] = 0xe9;
	put_distance(jump + 1, k->site + JUMP_BYTES, k->code);
	return write_code(k->site, jump, k->bytes);
}

/* rt.lock held. */
static bool
make(struct thread *t, uint64_t block, uint64_t call)
{
	struct gates *g = rt.gates;
	struct gate *k = &g->gate[g->n];
	const struct map *m = maps_find(call);
	uint8_t code[GATE_BYTES];
	enum { NEXT_BYTES = 32 };
	if (g->n == MOST_GATES || !m || m->writable || m->shared || m->anonymous ||
	    m->end - call < NEXT_BYTES || !choose(k, m, block, call) ||
	    !write_code(k->code, code, write_gate(k, code)))
		return false;
	use_room(k->code);
	os_make_all_wait(t);
	k->open = true;
	g->n++;
	if (!change_code(k)) {
		k->open = false;
		return false;
	}
	rt_stat(ST_STAT_gates, 1);
	return true;
}

/* rt.lock held. */
static struct site *
learn_site(uint64_t call)
{
	struct gates *g = rt.gates;
	if (!g && !(rt.gates = g = rt_map_memory(sizeof *g)))
		return NULL;
	struct site *s = place_of(g, call);
	if (!s->call && g->n_sites < SITES / 2) {
		g->n_sites++;
		s->call = call;
	}
	return s->call ? s : NULL;
}

void
gate_note(struct thread *t, uint64_t block, uint64_t call)
{
	struct site *s = rt.gates ? place_of(rt.gates, call) : NULL;
	if (s && (s->gate || s->refused || rt.gates->never ||
	          (s->call && ++s->times < (block == call ? VERY_OFTEN : OFTEN))))
		return;
	rt_lock(&rt.lock);
	s = learn_site(call);
	if (s && !s->gate && s->times >= OFTEN) {
		/* Unwinders know a handler's return by its code. */
		s->refused = t->regs.r[RAX] == CALL_SIGRETURN || !tools.has_rdfsbase ||
		             rt.writes_memory_file || !make(t, block, call);
		s->gate = s->refused ? 0 : (uint16_t)rt.gates->n;
	}
	rt_unlock(&rt.lock);
}

/* The code is as it was. */
static void
close_gate(struct gate *k)
{
	write_code(k->site, k->saved, k->bytes);
	k->open = false;
	struct site *s = place_of(rt.gates, k->call);
	s->gate = 0;
	s->times = 0;
}

void
gates_forget(struct thread *t, uint64_t start, uint64_t end)
{
	bool any = false;
	/* Pages before have a copy of the beginning. */
	start = start > SOURCE_BYTES ? start - SOURCE_BYTES : 0;
	for (uint32_t i = 0; rt.gates && i < rt.gates->n; i++) {
		struct gate *k = &rt.gates->gate[i];
		if (!k->open || k->site >= end || k->site + k->bytes <= start)
			continue;
		if (!any)
			os_make_all_wait(t);
		any = true;
		close_gate(k);
	}
	/* Nobody looks for the page any more that changes now; the slot stays taken. */
	for (uint32_t i = 0; any && i < SOURCE_SLOTS; i++) {
		struct source *s = rt.gates->sources[i];
		if (s && s->page >= start && s->page < end)
			s->page = 1;
	}
}

void
gates_remove(void)
{
	if (!rt.gates)
		return;
	rt.gates->never = true;
	for (uint32_t i = 0; i < rt.gates->n; i++)
		if (rt.gates->gate[i].open)
			close_gate(&rt.gates->gate[i]);
}
