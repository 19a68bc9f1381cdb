/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing the wire format of protocol buffers: as much of it as profiles need. */
#ifndef STROBE_EXPORT_PROTOBUF_H
#define STROBE_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A message, or a part of one, that is being written; {0} is an empty one. */
struct st_protobuf {
	unsigned char *bytes;
	size_t n, room;
	bool out_of_memory; /* and so not complete */
};

void st_protobuf_free(struct st_protobuf *b);
/* Bare, as an element of a packed field. */
void st_protobuf_varint(struct st_protobuf *b, uint64_t value);
void st_protobuf_number(struct st_protobuf *b, unsigned field, uint64_t value);
void st_protobuf_bytes(struct st_protobuf *b, unsigned field, const void *bytes, size_t n);
/* A message or packed numbers as a field; `inner` is empty afterwards. */
void st_protobuf_nest(struct st_protobuf *b, unsigned field, struct st_protobuf *inner);
/* The bytes into a file; the message is empty afterwards. */
void st_protobuf_flush(struct st_protobuf *b, FILE *out);

#endif
