/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/maps.h"
#include "rt/program.h"
#include "rt/unwind/unwind.h"

enum { LONGEST_CALL = 7 }; /* without prefixes that say nothing of its length */

/* Code as the program has it. */
static bool
read_code(uint8_t *to, uint64_t from, unsigned bytes)
{
	const struct map *m = maps_find(from);
	return m && m->end - from >= bytes && cfi_read(to, (uint64_t)program_code(from), bytes);
}

/* A stub of the linker jumps to what stands in memory: is it one? *to becomes that. */
static bool
through_stub(uint64_t *to)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[16];
	uint64_t target;
	int32_t distance;
	if (!read_code(code, *to, sizeof code))
		return false;
	unsigned at = memcmp(code, endbr, sizeof endbr) == 0 ? sizeof endbr : 0;
	at += code[at] == 0xf2; /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof distance);
	uint64_t slot = *to + at + 6 + (uint64_t)(int64_t)distance;
	*to = cfi_read(&target, slot, 8) && maps_find(target) ? target : 0;
	return true;
}

/* call rel32 */
static bool
call_is_direct(const uint8_t *code, uint64_t address, uint64_t *to)
{
	int32_t distance;
	memcpy(&distance, code + LONGEST_CALL - 4, sizeof distance);
	*to = address + (uint64_t)(int64_t)distance;
	if (code[LONGEST_CALL - 5] != 0xe8 || !maps_find(*to))
		return false;
	through_stub(to);
	return true;
}

/* Bytes of the instruction FF /2 with that ModRM byte and, perhaps, SIB byte; 0: it is none. */
static unsigned
indirect_bytes(uint8_t modrm, uint8_t sib)
{
	unsigned mod = modrm >> 6, rm = modrm & 7;
	if ((modrm >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return 2;
	unsigned bytes = 2 + (rm == 4);
	if (mod == 1)
		return bytes + 1;
	bool wide = mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5);
	return bytes + (wide ? 4 : 0);
}

/* call *(rip + n): what stands there is what it called, or has come to be so meanwhile. */
static uint64_t
called_by_slot(const uint8_t *code, uint64_t address)
{
	int32_t distance;
	uint64_t to;
	if (code[1] != 0x15)
		return 0;
	memcpy(&distance, code + 2, sizeof distance);
	if (!cfi_read(&to, address + (uint64_t)(int64_t)distance, 8) || !maps_find(to))
		return 0;
	return to;
}

bool
unwind_called(uint64_t address, uint64_t *to)
{
	uint8_t code[LONGEST_CALL + 1] = {0};
	*to = 0;
	if (!maps_find(address - 1) || !read_code(code, address - LONGEST_CALL, LONGEST_CALL))
		return false;
	if (call_is_direct(code, address, to))
		return true;
	*to = 0;
	for (unsigned n = 2; n <= LONGEST_CALL; n++) {
		const uint8_t *at = code + LONGEST_CALL - n;
		if (at[0] != 0xff || indirect_bytes(at[1], at[2]) != n)
			continue;
		*to = called_by_slot(at, address);
		return true;
	}
	return false;
}

/* mov $15, %eax or %rax; syscall */
bool
unwind_is_restorer(uint64_t pc)
{
	static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
	                     narrow[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof wide] = {0};
	if (!read_code(code, pc, sizeof code) && !read_code(code, pc, sizeof narrow))
		return false;
	return memcmp(code, wide, sizeof wide) == 0 || memcmp(code, narrow, sizeof narrow) == 0;
}

bool
unwind_has_frame(uint64_t function)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, push[] = {0x55, 0x48, 0x89, 0xe5};
	uint8_t code[sizeof endbr + sizeof push];
	if (!read_code(code, function, sizeof code))
		return false;
	return memcmp(code, push, sizeof push) == 0 ||
	       (memcmp(code, endbr, sizeof endbr) == 0 &&
	        memcmp(code + sizeof endbr, push, sizeof push) == 0);
}
