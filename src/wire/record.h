/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of calls of a function whose costs are to be explained: the program's data at its
 * entry, which a small program of operations reads, and what the call has cost. All of it lies in
 * the area of wire/probe.h.
 */
#ifndef STROBE_WIRE_RECORD_H
#define STROBE_WIRE_RECORD_H

#include <stdint.h>

enum {
	ST_RECORD_MOST_OPS = 192,
	ST_RECORD_TEXT = 64 << 10, /* bytes of a text that are looked at */
};

/* Each operation has a value, v[its number]; that of one whose memory cannot be read, or which
 * needs such a value, is absent. */
enum st_record_op_kind {
	ST_RECORD_REGISTER,      /* register of arguments number `base`: rdi, rsi, .. */
	ST_RECORD_VECTOR,        /* the lower eight bytes of xmm register `base` */
	ST_RECORD_STACK,         /* the eight bytes at `offset` after the return address */
	ST_RECORD_STACK_ADDRESS, /* the address of that place */
	ST_RECORD_CONSTANT,      /* `extra`; signed: an address in the function's image */
	ST_RECORD_LOAD,          /* `width` bytes at v[base] + offset */
	ST_RECORD_BITS,          /* `width` bits of v[base], from bit `offset` on */
	ST_RECORD_NULL,          /* whether v[base] is 0 */
	ST_RECORD_ADD,           /* v[base] + v[other] */
	ST_RECORD_DIFFERENCE,    /* (v[base] - v[other]) / extra */
	ST_RECORD_LENGTH,        /* bytes before the first 0 at v[base], at most ST_RECORD_TEXT */
	ST_RECORD_SUM,           /* of `extra` elements of `width` bytes at v[base] + offset */
};

struct st_record_op {
	uint8_t kind, width;
	uint8_t is_signed; /* of LOAD, BITS and SUM: the sign is extended */
	uint8_t kept;      /* the value belongs to the record */
	uint16_t base, other;
	int32_t offset;
	uint32_t unused;
	uint64_t extra;
};

#endif
