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

#include "insn/internal.h"

enum {
	MAX_LENGTH = ZYDIS_MAX_INSTRUCTION_LENGTH,
	FIRST_SLOTS = 1 << 10,
};

/* length 0: empty */
struct slot {
	uint8_t bytes[MAX_LENGTH], length;
	uint32_t shape, hash;
};

struct st_shapes {
	ZydisDecoder decoder;
	struct slot *slots;
	size_t n_slots, used;  /* n_slots is a power of two */
	uint16_t lengths[256]; /* by the first byte; bit n: n bytes */
	struct st_shape **shapes;
	uint32_t n_shapes, room;
	uint32_t *by_content; /* twice the room; number + 1, 0 is empty */
};

static uint32_t
hash_on(uint32_t hash, uint8_t byte)
{
	return (hash ^ byte) * 0x9e3779b1u;
}

/* Multiplication leaves the low bits poor: fold the high ones in. */
static size_t
place(uint32_t hash, size_t n_slots)
{
	return (hash ^ hash >> 15) & (n_slots - 1);
}

struct st_shapes *
st_shapes_new(void)
{
	struct st_shapes *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	ZydisDecoderInit(&s->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	s->n_slots = FIRST_SLOTS;
	s->slots = calloc(s->n_slots, sizeof *s->slots);
	if (!s->slots) {
		free(s);
		return NULL;
	}
	return s;
}

void
st_shapes_free(struct st_shapes *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_shapes; i++)
		free(s->shapes[i]);
	free(s->shapes);
	free(s->by_content);
	free(s->slots);
	free(s);
}

/* The slot of these bytes, or the empty one where they belong. */
static struct slot *
find_slot(const struct st_shapes *s, const uint8_t *p, unsigned length, uint32_t hash)
{
	size_t i = place(hash, s->n_slots);

	for (;; i = (i + 1) & (s->n_slots - 1)) {
		struct slot *slot = &s->slots[i];

		if (!slot->length || (slot->hash == hash && slot->length == length &&
		                      memcmp(slot->bytes, p, length) == 0))
			return slot;
	}
}

static const struct slot *
look_up(const struct st_shapes *s, const uint8_t *p, size_t n)
{
	uint32_t hash = 0, lengths = s->lengths[p[0]];

	for (unsigned length = 1; length <= n && lengths >> length; length++) {
		hash = hash_on(hash, p[length - 1]);
		if (lengths >> length & 1) {
			const struct slot *slot = find_slot(s, p, length, hash);

			if (slot->length)
				return slot;
		}
	}
	return NULL;
}

static bool
grow_slots(struct st_shapes *s)
{
	struct st_shapes grown = {.n_slots = s->n_slots * 2};

	if (s->used < s->n_slots / 4 * 3)
		return true;
	grown.slots = calloc(grown.n_slots, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < s->n_slots; i++) {
		const struct slot *old = &s->slots[i];

		if (old->length)
			*find_slot(&grown, old->bytes, old->length, old->hash) = *old;
	}
	free(s->slots);
	s->slots = grown.slots;
	s->n_slots = grown.n_slots;
	return true;
}

static bool
keep(struct st_shapes *s, const uint8_t *p, unsigned length, uint32_t shape)
{
	uint32_t hash = 0;

	if (!grow_slots(s))
		return false;
	for (unsigned i = 0; i < length; i++)
		hash = hash_on(hash, p[i]);
	struct slot *slot = find_slot(s, p, length, hash);
	memcpy(slot->bytes, p, length);
	slot->length = (uint8_t)length;
	slot->shape = shape;
	slot->hash = hash;
	s->lengths[p[0]] |= (uint16_t)(1u << length);
	s->used++;
	return true;
}

/* Mnemonics and categories are Zydis's own strings: their addresses tell them apart. */
static bool
same_shape(const struct st_shape *a, const struct st_shape *b)
{
	return a->mnemonic == b->mnemonic && a->category == b->category && a->n_read == b->n_read &&
	       a->n_written == b->n_written && memcmp(a->read, b->read, sizeof a->read) == 0 &&
	       memcmp(a->written, b->written, sizeof a->written) == 0;
}

/* Where a shape is in by_content, or the empty place where it belongs. */
static uint32_t *
find_content(const struct st_shapes *s, const struct st_shape *shape)
{
	size_t size = 2 * (size_t)s->room, i;
	uint32_t hash = 0;

	for (const char *c = shape->mnemonic; *c; c++)
		hash = hash_on(hash, (uint8_t)*c);
	for (unsigned k = 0; k < shape->n_read; k++)
		hash = hash_on(hash_on(hash, (uint8_t)shape->read[k]), 1);
	for (unsigned k = 0; k < shape->n_written; k++)
		hash = hash_on(hash_on(hash, (uint8_t)shape->written[k]), 2);
	for (i = place(hash, size);; i = (i + 1) & (size - 1))
		if (!s->by_content[i] || same_shape(s->shapes[s->by_content[i] - 1], shape))
			return &s->by_content[i];
}

static bool
grow_shapes(struct st_shapes *s)
{
	uint32_t room = s->room ? 2 * s->room : 256;

	if (s->n_shapes < s->room)
		return true;
	struct st_shape **shapes = reallocarray(s->shapes, room, sizeof(struct st_shape *));
	if (!shapes)
		return false;
	s->shapes = shapes;
	uint32_t *by_content = calloc(2 * (size_t)room, sizeof *by_content);
	if (!by_content)
		return false;
	free(s->by_content);
	s->by_content = by_content;
	s->room = room;
	for (uint32_t i = 0; i < s->n_shapes; i++)
		*find_content(s, s->shapes[i]) = i + 1;
	return true;
}

/* The one shape with these contents, or NULL. */
static const struct st_shape *
intern(struct st_shapes *s, const struct st_shape *shape)
{
	if (!grow_shapes(s))
		return NULL;
	uint32_t *at = find_content(s, shape);
	if (*at)
		return s->shapes[*at - 1];
	struct st_shape *kept = malloc(sizeof *kept);
	if (!kept)
		return NULL;
	*kept = *shape;
	kept->number = s->n_shapes;
	s->shapes[s->n_shapes++] = kept;
	*at = s->n_shapes;
	return kept;
}

static const struct st_shape *
decode(struct st_shapes *s, const uint8_t *p, size_t n, unsigned *length)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct st_shape shape;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&s->decoder, p, n, &in, operands)))
		return NULL;
	insn_describe(&in, operands, &shape);
	const struct st_shape *kept = intern(s, &shape);
	if (!kept || !keep(s, p, in.length, kept->number))
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
	const struct slot *slot = look_up(s, p, n);
	if (!slot)
		return decode(s, p, n, length);
	*length = slot->length;
	return s->shapes[slot->shape];
}

uint32_t
st_shapes_count(const struct st_shapes *s)
{
	return s->n_shapes;
}

const struct st_shape *
st_shapes_get(const struct st_shapes *s, uint32_t number)
{
	return number < s->n_shapes ? s->shapes[number] : NULL;
}
