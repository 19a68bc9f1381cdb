/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that overlap. A jump may lead over a prefix of the next instruction, into it (`je
 * 1f; lock; 1: cmpxchg`, in glibc): two instructions share bytes then, and a breakpoint at the one
 * would break the other. It is done over a few bytes only, by hand.
 */
#ifndef STROBE_RT_ARCH_X86_64_APART_H
#define STROBE_RT_ARCH_X86_64_APART_H

#include "rt/arch/x86_64/decode.h"

enum { APART_FROM = 64 }; /* bytes: what is farther away is taken not to overlap */

/* Do instructions, decoded from `code` on, come to begin `bytes` further? */
static inline bool
st_comes_to(const uint8_t *code, uint64_t bytes)
{
	struct st_insn in;
	uint64_t at = 0;
	while (at < bytes && st_decode(code + at, bytes - at, &in))
		at += in.len;
	return at == bytes;
}

/* Is where the jump leads another instruction than what lies between? code: of the program at
 * `from`, and what is around it. */
static inline bool
st_jumps_apart(const uint8_t *code, uint32_t len, int32_t rel)
{
	if (rel >= 0)
		return rel > APART_FROM || st_comes_to(code + len, (uint64_t)rel);
	uint64_t back = (uint64_t) - (int64_t)rel;
	if (back < len)
		return false;
	return back > APART_FROM || st_comes_to(code + len - back, back - len);
}

#endif
