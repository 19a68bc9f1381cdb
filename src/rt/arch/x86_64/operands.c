/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks up an instruction's accesses. The opcode leads to a mask of those bits of the key
 * (prefixes, vector length, ModRM..) that matter, these bits to an entry, and that to a set of
 * accesses.
 */
#include "operands.h"

#include "operands_key.h"

#include "operands_tables.h" /* generated */

struct site {
	unsigned map, opcode, key;
	bool masked; /* by an EVEX mask register */
};

static const uint8_t pp_key[4] = {0, OK_66, OK_F3, OK_F2};

static void
operands_vex(const uint8_t *p, struct site *s)
{
	unsigned last = p[*p == 0xc5 ? 1 : 2]; /* W vvvv L pp; W is not in the short form */

	s->map = OM_VEX - 1 + (*p == 0xc5 ? 1 : p[1] & 0x1f);
	s->key = pp_key[last & 3] | (last >> 2 & 1) * OK_L;
	if (*p == 0xc4)
		s->key |= (last >> 7) * OK_W;
}

static void
read_evex(const uint8_t *p, struct site *s)
{
	s->map = OM_EVEX - 1 + (p[1] & 7);
	s->key = pp_key[p[2] & 3] | (p[2] >> 7 & 1) * OK_W | (p[3] >> 4 & 1) * OK_B |
	         (p[3] >> 5 & 3) * OK_L;
	s->masked = p[3] & 7;
}

/* Prefixes before the opcode's escapes. Of f2 and f3 the last one counts. */
static void
read_legacy(const struct st_insn *in, const uint8_t *code, struct site *s)
{
	unsigned end = in->op_off;

	s->map = OM_ONE;
	if (end && code[end - 1] == 0x0f) {
		s->map = OM_0F;
		end--;
	} else if (end && (code[end - 1] & 0xfd) == 0x38) {
		s->map = code[end - 1] == 0x38 ? OM_38 : OM_3A;
		end -= 2;
	}
	if (in->flags & ST_I_REX) {
		s->key = (code[in->rex_off] >> 3 & 1) * OK_W;
		end = in->rex_off;
	}
	if (in->flags & ST_I_OP16)
		s->key |= OK_66;
	while (end--) {
		if ((code[end] & 0xfe) == 0xf2) {
			s->key |= code[end] == 0xf2 ? OK_F2 : OK_F3;
			break;
		}
	}
}

static struct site
find_operand_site(const struct st_insn *in, const uint8_t *code)
{
	struct site s = {.opcode = code[in->op_off]};
	unsigned modrm;

	if (in->flags & ST_I_VEX)
		operands_vex(code + in->vex_off, &s);
	else if (in->flags & ST_I_EVEX)
		read_evex(code + in->vex_off, &s);
	else
		read_legacy(in, code, &s);
	if (in->modrm_off) {
		modrm = code[in->modrm_off];
		s.key |= (modrm >> 3 & 7) * OK_REG;
		if (modrm >= 0xc0)
			s.key |= OK_REGISTER | (modrm & 7) * OK_RM;
	}
	return s;
}

/* The bits of key that are in mask, packed. */
static unsigned
pack(unsigned key, unsigned mask)
{
	unsigned packed = 0;

	for (unsigned bit = 1; mask; mask &= mask - 1, bit <<= 1)
		packed |= key & mask & -mask ? bit : 0;
	return packed;
}

/* enter with a level pushes the frame pointers of the outer frames, all but one from the old one.
 */
static unsigned
enter_key(unsigned level, unsigned item, struct st_access *out)
{
	struct st_access *push = out;

	if (level > 1) {
		*out = (struct st_access){.kind = ST_ACCESS_FRAME,
		                          .count = 1,
		                          .bytes = (uint16_t)((level - 1) * item),
		                          .read = true};
		push++;
	}
	*push = (struct st_access){.kind = ST_ACCESS_PUSH,
	                           .count = 1,
	                           .bytes = (uint16_t)((level + 1) * item),
	                           .write = true};
	return (unsigned)(push - out) + 1;
}

unsigned
st_accesses(const struct st_insn *in, const uint8_t *code, struct st_access *out)
{
	const struct operand_opcode *o;
	const struct operand_set *set;
	struct site s;

	if (!(in->flags & (ST_I_READS_MEM | ST_I_WRITES_MEM)))
		return 0;
	s = find_operand_site(in, code);
	if (s.map == OM_ONE && s.opcode == 0xc8)
		return enter_key(code[in->imm_off + 2] & 31,
		                 (s.key & (OK_66 | OK_W)) == OK_66 ? 2 : 8, out);
	o = &operand_opcodes[operand_index[s.map][s.opcode]];
	set = &operand_sets[operand_entries[o->entries + pack(s.key, o->mask)]];
	for (unsigned i = 0; i < set->count; i++) {
		out[i] = operand_accesses[set->access[i]];
		out[i].masked |= s.masked && out[i].element;
		if (!out[i].masked && !out[i].vsib)
			out[i].count = 1;
		out[i].segment &= (in->flags & (ST_I_FSSEG | ST_I_GSSEG)) != 0;
	}
	return set->count;
}
