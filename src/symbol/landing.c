/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where code goes on after an exception: the landing pads in the tables of .gcc_except_table, which
 * the frames of .eh_frame lead to. A table has a list of call sites, each with its landing pad as a
 * distance from the begin of the frame, or from an address that the table names.
 */
#include <dwarf.h>
#include <string.h>

#include "symbol/internal.h"

enum { TABLE_PART = 256 }; /* most tables are shorter */

struct landing {
	struct st_image *image;
	void (*use)(void *context, uint64_t address);
	void *context;
	bool unread;
};

/* A table that is being read: bytes of the image from `at` on, in parts. */
struct table {
	struct st_image *image;
	uint64_t at; /* of the next byte */
	uint8_t part[TABLE_PART];
	size_t n, next;
	bool failed;
};

static uint8_t
table_byte(struct table *t)
{
	if (t->next == t->n) {
		t->n = st_image_bytes(t->image, t->at, t->part, sizeof t->part);
		t->next = 0;
	}
	if (!t->n) {
		t->failed = true;
		return 0;
	}
	t->at++;
	return t->part[t->next++];
}

static uint64_t
table_uleb(struct table *t)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		const uint8_t byte = table_byte(t);
		if (shift > 63) {
			t->failed = true;
			return 0;
		}
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static uint64_t
table_number(struct table *t, unsigned bytes, bool has_sign)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)table_byte(t) << 8 * i;
	if (has_sign && bytes < 8 && value >> (8 * bytes - 1))
		value -= 1ull << 8 * bytes;
	return value;
}

/* A value of an encoding, without what it is relative to. */
static uint64_t
table_value(struct table *t, uint8_t encoding)
{
	const bool has_sign = encoding & DW_EH_PE_signed;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return table_number(t, 8, false);
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return table_number(t, 4, has_sign);
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return table_number(t, 2, has_sign);
	case DW_EH_PE_uleb128:
		return table_uleb(t);
	default:
		t->failed = true;
		return 0;
	}
}

/* What landing pads are counted from. */
static uint64_t
table_base(struct table *t, uint64_t start)
{
	const uint8_t encoding = table_byte(t);
	const uint64_t here = t->at;
	if (encoding == DW_EH_PE_omit)
		return start;
	const uint64_t value = table_value(t, encoding);
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		return here + value;
	t->failed |= (encoding & 0xf0) != DW_EH_PE_absptr;
	return value;
}

static void
read_table(void *context, uint64_t start, uint64_t address)
{
	struct landing *l = context;
	struct table t = {.image = l->image, .at = address};
	const uint64_t base = table_base(&t, start);
	if (table_byte(&t) != DW_EH_PE_omit)
		table_uleb(&t); /* where the types are */
	const uint8_t encoding = table_byte(&t);
	const uint64_t length = table_uleb(&t), end = t.at + length;
	while (!t.failed && t.at < end) {
		table_value(&t, encoding); /* the begin of the call site, */
		table_value(&t, encoding); /* and its length */
		const uint64_t pad = table_value(&t, encoding);
		table_uleb(&t);
		if (pad && !t.failed)
			l->use(l->context, base + pad);
	}
	l->unread |= t.failed;
}

bool
st_image_landing_pads(struct st_image *image, void (*use)(void *context, uint64_t address),
                      void *context)
{
	struct landing l = {image, use, context, false};
	return sym_exception_tables(image, read_table, &l) && !l.unread;
}
