/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What unwind information says of the first instruction of its range. Where a function is entered
 * the return address lies at the stack pointer; a range that begins with anything else below it is
 * code from the middle of a function.
 */
#include <dwarf.h>

#include "symbol/internal.h"

/* Call frame instructions under the eye, and what they have made of the CFA. */
struct rules {
	const uint8_t *at, *end;
	uint64_t base;           /* register; NO_REGISTER: an expression */
	uint64_t offset, factor; /* factor: of offsets that are factored */
};

enum { STACK_POINTER = 7, NO_REGISTER = 64, RETURN_ADDRESS = 8 };

static uint64_t
entrystate_read_number(struct rules *r)
{
	uint64_t value = 0;
	for (unsigned shift = 0; r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int64_t
read_signed(struct rules *r)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte = 0;
	while (r->at < r->end && shift < 63) {
		byte = *r->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	if (byte & 0x40)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

static void
skip_block(struct rules *r)
{
	uint64_t size = entrystate_read_number(r);
	r->at = size < (uint64_t)(r->end - r->at) ? r->at + size : r->end;
}

/* Skips the operands of a rule that does not concern the CFA. False: the rule is for a later place,
 * or unknown. */
static bool
entrystate_skip(struct rules *r, uint8_t code)
{
	switch (code) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_register:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		entrystate_read_number(r);
		entrystate_read_number(r);
		return true;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_GNU_args_size:
		entrystate_read_number(r);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		entrystate_read_number(r);
		skip_block(r);
		return true;
	default:
		return false;
	}
}

/* Follows one instruction; false: no other one is for the first place. */
static bool
entrystate_follow(struct rules *r)
{
	uint8_t code = *r->at++;
	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		return false;
	case DW_CFA_offset:
		entrystate_read_number(r);
		return true;
	case DW_CFA_restore:
		return true;
	default:
		break;
	}
	switch (code) {
	case DW_CFA_def_cfa:
		r->base = entrystate_read_number(r);
		r->offset = entrystate_read_number(r);
		return true;
	case DW_CFA_def_cfa_sf:
		r->base = entrystate_read_number(r);
		r->offset = (uint64_t)read_signed(r) * r->factor;
		return true;
	case DW_CFA_def_cfa_register:
		r->base = entrystate_read_number(r);
		return true;
	case DW_CFA_def_cfa_offset:
		r->offset = entrystate_read_number(r);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		r->offset = (uint64_t)read_signed(r) * r->factor;
		return true;
	case DW_CFA_def_cfa_expression:
		r->base = NO_REGISTER;
		skip_block(r);
		return true;
	default:
		return entrystate_skip(r, code);
	}
}

static void
follow_all(struct rules *r, const uint8_t *from, const uint8_t *end)
{
	r->at = from;
	r->end = end;
	while (r->at < r->end && entrystate_follow(r))
		;
}

bool
sym_is_signal_frame(const Dwarf_CIE *cie)
{
	for (const char *letter = cie->augmentation; *letter; letter++)
		if (*letter == 'S')
			return true;
	return false;
}

bool
sym_begins_inside(const Dwarf_CIE *cie, const uint8_t *from, const uint8_t *end)
{
	struct rules r = {.base = NO_REGISTER, .factor = (uint64_t)cie->data_alignment_factor};
	if (sym_is_signal_frame(cie))
		return false;
	follow_all(&r, cie->initial_instructions, cie->initial_instructions_end);
	follow_all(&r, from, end);
	return r.base != STACK_POINTER || r.offset != RETURN_ADDRESS;
}
