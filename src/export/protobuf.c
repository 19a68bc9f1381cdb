/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LENGTH = 2 }; /* how a field's value is written */

static void
protobuf_append(struct st_protobuf *b, const void *bytes, size_t n)
{
	if (n > b->room - b->n) {
		size_t room = 2 * (b->n + n) + 32;
		unsigned char *more = realloc(b->bytes, room);
		if (!more) {
			b->out_of_memory = true;
			return;
		}
		b->bytes = more;
		b->room = room;
	}
	if (n)
		memcpy(b->bytes + b->n, bytes, n);
	b->n += n;
}

void
st_protobuf_free(struct st_protobuf *b)
{
	free(b->bytes);
	*b = (struct st_protobuf){0};
}

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
void
st_protobuf_varint(struct st_protobuf *b, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (unsigned char)(value | 0x80);
	bytes[n++] = (unsigned char)value;
	protobuf_append(b, bytes, n);
}

void
st_protobuf_number(struct st_protobuf *b, unsigned field, uint64_t value)
{
	if (!value) /* which is what is not there */
		return;
	st_protobuf_varint(b, field << 3 | VARINT);
	st_protobuf_varint(b, value);
}

void
st_protobuf_bytes(struct st_protobuf *b, unsigned field, const void *bytes, size_t n)
{
	st_protobuf_varint(b, field << 3 | LENGTH);
	st_protobuf_varint(b, n);
	protobuf_append(b, bytes, n);
}

void
st_protobuf_nest(struct st_protobuf *b, unsigned field, struct st_protobuf *inner)
{
	st_protobuf_bytes(b, field, inner->bytes, inner->n);
	b->out_of_memory |= inner->out_of_memory;
	inner->n = 0;
}

void
st_protobuf_flush(struct st_protobuf *b, FILE *out)
{
	fwrite(b->bytes, 1, b->n, out);
	b->n = 0;
}
