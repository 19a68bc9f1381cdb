/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as DWARF writes them, out of the program's memory. */
#ifndef STROBE_RT_UNWIND_CFI_BYTES_H
#define STROBE_RT_UNWIND_CFI_BYTES_H

#include "rt/unwind/cfi.h"

struct cfi_bytes {
	uint64_t at, end;
	bool failed;
	uint64_t first; /* of those in the buffer */
	uint32_t n;
	uint8_t buffer[64];
};

static inline struct cfi_bytes
cfi_bytes(uint64_t at, uint64_t end)
{
	return (struct cfi_bytes){.at = at, .end = end};
}

static inline bool
cfi_left(const struct cfi_bytes *b)
{
	return !b->failed && b->at < b->end;
}

/* Numbers that are asked for after the end, or where nothing can be read, are 0. */
static inline uint8_t
cfi_u8(struct cfi_bytes *b)
{
	if (!cfi_left(b)) {
		b->failed = true;
		return 0;
	}
	if (b->at - b->first >= b->n) {
		uint64_t left = b->end - b->at;
		b->first = b->at;
		b->n = left < sizeof b->buffer ? (uint32_t)left : sizeof b->buffer;
		if (!cfi_read(b->buffer, b->at, b->n)) {
			b->failed = true;
			return 0;
		}
	}
	return b->buffer[b->at++ - b->first];
}

static inline uint64_t
cfi_fixed(struct cfi_bytes *b, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)cfi_u8(b) << 8 * i;
	return value;
}

static inline uint64_t
cfi_signed(struct cfi_bytes *b, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;
	return (uint64_t)((int64_t)(cfi_fixed(b, bytes) << unused) >> unused);
}

static inline uint64_t
cfi_uleb(struct cfi_bytes *b)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;
	do {
		byte = cfi_u8(b);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t
cfi_sleb(struct cfi_bytes *b)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;
	do {
		byte = cfi_u8(b);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (byte & 0x40 && shift < 64)
		value |= ~0ull << shift;
	return (int64_t)value;
}

#endif
