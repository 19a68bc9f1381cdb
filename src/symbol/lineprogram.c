/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/lineprogram.h"

#include <dwarf.h>
#include <string.h>

static uint64_t
lineprogram_number(struct sym_bytes *b, unsigned size)
{
	uint64_t value = 0;
	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size);
	b->at += size;
	return value;
}

static uint64_t
uleb(struct sym_bytes *b)
{
	uint64_t value = 0;
	for (unsigned shift = 0; b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	b->bad = true;
	return 0;
}

static int64_t
sleb(struct sym_bytes *b)
{
	uint64_t value = 0;
	for (unsigned shift = 0; b->at < b->end;) {
		uint8_t byte = *b->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~0ull << shift;
		return (int64_t)value;
	}
	b->bad = true;
	return 0;
}

static void
lineprogram_skip(struct sym_bytes *b, uint64_t n)
{
	if (n > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		n = (uint64_t)(b->end - b->at);
	}
	b->at += n;
}

static const char *
string_at(const char *section, size_t size, uint64_t offset)
{
	return section && offset < size && memchr(section + offset, 0, size - offset)
	               ? section + offset
	               : NULL;
}

struct value {
	uint64_t number;
	const char *text;
};

static struct value
form(struct sym_bytes *b, uint64_t form, bool wide, const struct sym_line_strings *s)
{
	struct value v = {0};
	switch (form) {
	case DW_FORM_string:
		v.text = string_at((const char *)b->at, (size_t)(b->end - b->at), 0);
		lineprogram_skip(b, v.text ? strlen(v.text) + 1 : UINT64_MAX);
		break;
	case DW_FORM_line_strp:
		v.number = lineprogram_number(b, wide ? 8 : 4);
		v.text = s ? string_at(s->line_str, s->line_str_size, v.number) : NULL;
		break;
	case DW_FORM_strp:
		v.number = lineprogram_number(b, wide ? 8 : 4);
		v.text = s ? string_at(s->str, s->str_size, v.number) : NULL;
		break;
	case DW_FORM_udata:
		v.number = uleb(b);
		break;
	case DW_FORM_data1:
		v.number = lineprogram_number(b, 1);
		break;
	case DW_FORM_data2:
		v.number = lineprogram_number(b, 2);
		break;
	case DW_FORM_data4:
		v.number = lineprogram_number(b, 4);
		break;
	case DW_FORM_data8:
		v.number = lineprogram_number(b, 8);
		break;
	case DW_FORM_data16:
		lineprogram_skip(b, 16);
		break;
	case DW_FORM_block:
		lineprogram_skip(b, uleb(b));
		break;
	default:
		b->bad = true;
	}
	return v;
}

/* A table of directories or files up to entry `wanted`, or all of it. The bytes go behind what was
 * read. */
static const char *
walk_table(struct sym_bytes *b, bool wide, const struct sym_line_strings *s, uint64_t wanted,
           uint64_t *directory)
{
	uint64_t formats[2 * 255];
	unsigned n = (unsigned)lineprogram_number(b, 1);
	const char *name = NULL;
	for (unsigned i = 0; i < 2 * n; i++)
		formats[i] = uleb(b);
	uint64_t entries = uleb(b);
	if (n == 0)
		return NULL;
	for (uint64_t e = 0; e < entries && !b->bad; e++) {
		name = NULL;
		*directory = 0;
		for (unsigned i = 0; i < n; i++) {
			struct value v = form(b, formats[2 * i + 1], wide, s);
			if (formats[2 * i] == DW_LNCT_path)
				name = v.text;
			else if (formats[2 * i] == DW_LNCT_directory_index)
				*directory = v.number;
		}
		if (e == wanted)
			return b->bad ? NULL : name;
	}
	return NULL;
}

const char *
sym_line_name(const struct sym_line_header *h, struct sym_bytes table, uint64_t wanted,
              const struct sym_line_strings *strings, uint64_t *directory)
{
	return walk_table(&table, h->wide, strings, wanted, directory);
}

/* unit: from behind its version to its end. */
static bool
read_header(struct sym_bytes *unit, struct sym_line_header *h)
{
	uint64_t directory;
	bool narrow_address = lineprogram_number(unit, 1) != 8;
	lineprogram_skip(unit, 1); /* size of segment selectors */
	uint64_t length = lineprogram_number(unit, h->wide ? 8 : 4);
	if (narrow_address || length > (uint64_t)(unit->end - unit->at))
		return false;
	h->program = (struct sym_bytes){unit->at + length, unit->end, false};
	struct sym_bytes b = {unit->at, h->program.at, false};
	h->instruction_length = (uint8_t)lineprogram_number(&b, 1);
	lineprogram_skip(&b, 2); /* operations per instruction, default of is_stmt */
	h->line_base = (int8_t)lineprogram_number(&b, 1);
	h->line_range = (uint8_t)lineprogram_number(&b, 1);
	h->opcode_base = (uint8_t)lineprogram_number(&b, 1);
	for (unsigned i = 1; i < h->opcode_base; i++)
		h->operands[i] = (uint8_t)lineprogram_number(&b, 1);
	h->directories = b;
	walk_table(&b, h->wide, NULL, UINT64_MAX, &directory);
	h->files = b;
	return !b.bad && h->line_range != 0 && h->opcode_base != 0;
}

bool
sym_line_unit(struct sym_bytes *section, struct sym_line_header *h)
{
	*h = (struct sym_line_header){0};
	if (section->at == section->end)
		return false;
	uint64_t length = lineprogram_number(section, 4);
	if (length == 0xffffffff) {
		h->wide = true;
		length = lineprogram_number(section, 8);
	}
	struct sym_bytes unit = {section->at, section->at, false};
	lineprogram_skip(section, length);
	unit.end = section->at;
	if (section->bad || lineprogram_number(&unit, 2) != 5 || !read_header(&unit, h))
		section->bad = true;
	return !section->bad;
}

void
sym_line_start(struct sym_line_state *s)
{
	*s = (struct sym_line_state){.file = 1, .line = 1};
}

static bool
extended(struct sym_bytes *p, struct sym_line_state *s)
{
	uint64_t length = uleb(p);
	struct sym_bytes operation = {p->at, p->at, false};
	lineprogram_skip(p, length);
	operation.end = p->at;
	uint8_t opcode = (uint8_t)lineprogram_number(&operation, 1);
	if (opcode == DW_LNE_set_address)
		s->address = lineprogram_number(&operation, 8);
	return opcode == DW_LNE_end_sequence;
}

/* True when a row is complete. */
static bool
standard(const struct sym_line_header *h, uint8_t opcode, struct sym_bytes *p,
         struct sym_line_state *s)
{
	switch (opcode) {
	case DW_LNS_copy:
		return true;
	case DW_LNS_advance_pc:
		s->address += uleb(p) * h->instruction_length;
		break;
	case DW_LNS_advance_line:
		s->line += (uint32_t)sleb(p);
		break;
	case DW_LNS_set_file:
		s->file = (uint32_t)uleb(p);
		break;
	case DW_LNS_set_column:
		s->column = (uint32_t)uleb(p);
		break;
	case DW_LNS_const_add_pc:
		s->address += (255u - h->opcode_base) / h->line_range * h->instruction_length;
		break;
	case DW_LNS_fixed_advance_pc:
		s->address += lineprogram_number(p, 2);
		break;
	default:
		for (unsigned i = 0; i < h->operands[opcode]; i++)
			uleb(p);
	}
	return false;
}

enum sym_line_event
sym_line_next(const struct sym_line_header *h, struct sym_bytes *p, struct sym_line_state *s)
{
	while (p->at < p->end && !p->bad) {
		uint8_t opcode = *p->at++;
		if (opcode >= h->opcode_base) {
			unsigned step = opcode - h->opcode_base;
			s->address += step / h->line_range * h->instruction_length;
			s->line += (uint32_t)(h->line_base + (int)(step % h->line_range));
			return SYM_LINE_ROW;
		}
		if (opcode == 0 && extended(p, s))
			return SYM_LINE_END_SEQUENCE;
		if (opcode != 0 && standard(h, opcode, p, s))
			return SYM_LINE_ROW;
	}
	return SYM_LINE_END;
}
