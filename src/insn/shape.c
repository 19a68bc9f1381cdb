/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cache. One hash table leads from an instruction's bytes to its shape, another one from a
 * shape's contents to itself, so that each is kept once. No instruction's encoding begins
 * another's, so the bytes at hand are looked up at every length that the cache knows for their
 * first byte: the decoder is asked only for what is new.
 */
#include "insn/shape.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "insn/internal.h"

enum {
	MAX_LENGTH = ZYDIS_MAX_INSTRUCTION_LENGTH,
};

/* An instruction's bytes. */
struct encoding {
	uint8_t bytes[MAX_LENGTH], length;
	uint32_t shape;
};

struct st_shapes {
	ZydisDecoder decoder;
	ST_VEC(struct encoding) encodings;
	struct st_hashmap by_bytes; /* encodings */
	uint16_t lengths[256];      /* by the first byte; bit n: n bytes */
	ST_VEC(struct st_shape *) shapes;
	struct st_hashmap by_content; /* shapes */
};

static uint32_t
hash_on(uint32_t hash, uint8_t byte)
{
	return (hash ^ byte) * 0x9e3779b1u;
}

/* Multiplication leaves the low bits poor: fold the high ones in. */
static uint32_t
hash_end(uint32_t hash)
{
	return hash ^ hash >> 15;
}

struct st_shapes *
st_shapes_new(void)
{
	struct st_shapes *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	ZydisDecoderInit(&s->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return s;
}

void
st_shapes_free(struct st_shapes *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->shapes.n; i++)
		free(s->shapes.v[i]);
	free(s->shapes.v);
	free(s->encodings.v);
	st_hashmap_free(&s->by_content);
	st_hashmap_free(&s->by_bytes);
	free(s);
}

static const struct encoding *
look_up(const struct st_shapes *s, const uint8_t *p, size_t n)
{
	const struct encoding *v = s->encodings.v;
	uint32_t hash = 0, lengths = s->lengths[p[0]];

	for (unsigned length = 1; length <= n && lengths >> length; length++) {
		hash = hash_on(hash, p[length - 1]);
		if (!(lengths >> length & 1))
			continue;
		uint32_t known =
		        ST_HASHMAP_FIND(&s->by_bytes, hash_end(hash), i,
		                        v[i].length == length && !memcmp(v[i].bytes, p, length));
		if (known != ST_HASHMAP_NONE)
			return &v[known];
	}
	return NULL;
}

static st_status
shape_keep(struct st_shapes *s, const uint8_t *p, unsigned length, uint32_t shape)
{
	uint32_t hash = 0;
	struct encoding *new = ST_PUSH(&s->encodings);

	if (!new)
		return ST_FAILED;
	for (unsigned i = 0; i < length; i++)
		hash = hash_on(hash, p[i]);
	memcpy(new->bytes, p, length);
	new->length = (uint8_t)length;
	new->shape = shape;
	s->lengths[p[0]] |= (uint16_t)(1u << length);
	return st_hashmap_add(&s->by_bytes, hash_end(hash), (uint32_t)s->encodings.n - 1);
}

/* Mnemonics and categories are Zydis's own strings: their addresses tell them apart. */
static bool
same_shape(const struct st_shape *a, const struct st_shape *b)
{
	return a->mnemonic == b->mnemonic && a->category == b->category && a->n_read == b->n_read &&
	       a->n_written == b->n_written && memcmp(a->read, b->read, sizeof a->read) == 0 &&
	       memcmp(a->written, b->written, sizeof a->written) == 0;
}

static uint32_t
hash_shape(const struct st_shape *shape)
{
	uint32_t hash = 0;

	for (const char *c = shape->mnemonic; *c; c++)
		hash = hash_on(hash, (uint8_t)*c);
	for (unsigned k = 0; k < shape->n_read; k++)
		hash = hash_on(hash_on(hash, (uint8_t)shape->read[k]), 1);
	for (unsigned k = 0; k < shape->n_written; k++)
		hash = hash_on(hash_on(hash, (uint8_t)shape->written[k]), 2);
	return hash_end(hash);
}

/* The one shape with these contents, or NULL. */
static const struct st_shape *
intern(struct st_shapes *s, const struct st_shape *shape)
{
	const uint32_t hash = hash_shape(shape), number = (uint32_t)s->shapes.n;
	const uint32_t known =
	        ST_HASHMAP_FIND(&s->by_content, hash, i, same_shape(s->shapes.v[i], shape));
	if (known != ST_HASHMAP_NONE)
		return s->shapes.v[known];
	struct st_shape *kept = malloc(sizeof *kept), **new = kept ? ST_PUSH(&s->shapes) : NULL;
	if (!new) {
		free(kept);
		return NULL;
	}
	*kept = *shape;
	kept->number = number;
	*new = kept;
	return st_hashmap_add(&s->by_content, hash, number) ? NULL : kept;
}

static const struct st_shape *
shape_decode(struct st_shapes *s, const uint8_t *p, size_t n, unsigned *length)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct st_shape shape;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&s->decoder, p, n, &in, operands)))
		return NULL;
	insn_describe(&in, operands, &shape);
	const struct st_shape *kept = intern(s, &shape);
	if (!kept || shape_keep(s, p, in.length, kept->number))
		return NULL;
	*length = in.length;
	return kept;
}

const struct st_shape *
st_shapes_find(struct st_shapes *s, const uint8_t *p, size_t n, unsigned *length)
{
	unsigned unused;

	if (!length)
		length = &unused;
	*length = 0;
	if (n == 0)
		return NULL;
	const struct encoding *known = look_up(s, p, n);
	if (!known)
		return shape_decode(s, p, n, length);
	*length = known->length;
	return s->shapes.v[known->shape];
}

uint32_t
st_shapes_count(const struct st_shapes *s)
{
	return (uint32_t)s->shapes.n;
}

const struct st_shape *
st_shapes_get(const struct st_shapes *s, uint32_t number)
{
	return number < s->shapes.n ? s->shapes.v[number] : NULL;
}
