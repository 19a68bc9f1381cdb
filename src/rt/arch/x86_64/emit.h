/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Emitting machine code: it is written at one address and executed at another. What depends on
 * where that is, or on how code finds the current thread, is in struct emit_target.
 */
#ifndef STROBE_RT_ARCH_X86_64_EMIT_H
#define STROBE_RT_ARCH_X86_64_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/arch/x86_64/registers.h"

/* Where code will be executed. */
struct emit_target {
	uint64_t area;   /* address that offsets are relative to */
	uint64_t thread; /* address of the only thread's fields, as long as there is one */
	bool threaded;   /* code must be thread-safe: fields of the thread through gs */
	bool far;        /* for tests: rip-relative operands count as out of reach */
};

/* A place where code is being written: p is the writable address, off the offset that it stands
 * for. */
struct emit {
	uint8_t *p;
	uint32_t off;
	const struct emit_target *target;
};

static inline void
e8(struct emit *e, unsigned b)
{
	*e->p++ = (uint8_t)b;
	e->off++;
}
static inline void
e32(struct emit *e, uint32_t v)
{
	__builtin_memcpy(e->p, &v, 4);
	e->p += 4;
	e->off += 4;
}
static inline void
e64(struct emit *e, uint64_t v)
{
	__builtin_memcpy(e->p, &v, 8);
	e->p += 8;
	e->off += 8;
}
/* At most 16 bytes. */
static inline void
ebytes(struct emit *e, const uint8_t *b, unsigned n)
{
	/* Instructions are 1 to 15 bytes long: two moves that overlap. */
	if (n >= 8) {
		uint64_t first, last;
		__builtin_memcpy(&first, b, 8);
		__builtin_memcpy(&last, b + n - 8, 8);
		__builtin_memcpy(e->p, &first, 8);
		__builtin_memcpy(e->p + n - 8, &last, 8);
	} else if (n >= 4) {
		uint32_t first, last;
		__builtin_memcpy(&first, b, 4);
		__builtin_memcpy(&last, b + n - 4, 4);
		__builtin_memcpy(e->p, &first, 4);
		__builtin_memcpy(e->p + n - 4, &last, 4);
	} else {
		for (unsigned i = 0; i < n; i++)
			e->p[i] = b[i];
	}
	e->p += n;
	e->off += n;
}
/* A rel32 or rip-relative disp32 to an address; `after`: bytes of the instruction that follow it.
 */
static inline void
erel(struct emit *e, uint64_t address, unsigned after)
{
	e32(e, (uint32_t)(address - (e->target->area + e->off + 4 + after)));
}
static inline bool
emit_reaches(const struct emit *e, uint64_t address)
{
	int64_t d = (int64_t)(address - (e->target->area + e->off));
	return d > -0x7ff00000ll && d < 0x7ff00000ll;
}

/*
 * An operand that is a field of the current thread. With one thread it is rip-relative. With more
 * it is, too: the prefix 67 makes 32 bits of the sum, so that it can be the field's offset, and gs
 * adds the thread. [gs:field] would say the same in as many bytes, but a processor that foretells
 * which store a load reads from knows by registers, rip among them: without one, a count waits for
 * the last one's store, five cycles instead of none (docs/notes/thread-counters.md).
 */
static inline void
emit_field_prefixes(struct emit *e)
{
	if (!e->target->threaded)
		return;
	e8(e, 0x65);
	e8(e, 0x67);
}
/* Its ModRM and displacement; `after`: bytes of the instruction that follow. */
static inline void
emit_field_operand(struct emit *e, unsigned reg, uint32_t field, unsigned after)
{
	e8(e, (reg & 7) << 3 | 5);
	erel(e, e->target->threaded ? field : e->target->thread + field, after);
}
/* The field that the displacement at the cache offset names, of an instruction that ends at `end`.
 */
static inline int64_t
emitted_field(const struct emit_target *target, uint32_t disp, uint32_t end)
{
	uint64_t address = target->area + end + (uint64_t)(int64_t)(int32_t)disp;
	return target->threaded ? (int64_t)(uint32_t)address : (int64_t)(address - target->thread);
}

/* Moves between a register and a field of the current thread: one instruction, 7 bytes (9 when
 * thread-safe). */
static inline void
emit_field(struct emit *e, unsigned opcode, unsigned reg, unsigned field)
{
	emit_field_prefixes(e);
	e8(e, 0x48 | (reg >> 3) << 2);
	e8(e, opcode);
	emit_field_operand(e, reg, field, 0);
}
/* inc qword [field of the thread] */
static inline void
emit_increment(struct emit *e, uint32_t field)
{
	emit_field(e, 0xff, 0, field);
}
static inline unsigned
emit_field_len(const struct emit_target *target)
{
	return target->threaded ? 9 : 7;
}
static inline void
emit_save(struct emit *e, unsigned reg, unsigned field)
{
	emit_field(e, 0x89, reg, field);
}
/* Of a field that was emitted at p: does it begin with the save of a register? Which register is
 * saved, or given back? */
static inline bool
emitted_is_save(const struct emit_target *target, const uint8_t *p)
{
	return p[target->threaded ? 3 : 1] == 0x89;
}
static inline unsigned
emitted_register(const struct emit_target *target, const uint8_t *p)
{
	p += target->threaded ? 2 : 0;
	return (p[2] >> 3 & 7) | (p[0] & 4) << 1;
}
static inline void
emit_restore(struct emit *e, unsigned reg, unsigned field)
{
	emit_field(e, 0x8b, reg, field);
}
static inline void
emit_mov_imm64(struct emit *e, unsigned reg, uint64_t v)
{
	e8(e, 0x48 | reg >> 3);
	e8(e, 0xb8 | (reg & 7));
	e64(e, v);
}
enum { EMIT_JMP_LEN = 5 };
static inline void
emit_jmp(struct emit *e, uint64_t address)
{
	e8(e, 0xe9);
	erel(e, address, 0);
}

#endif
