/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hash map from what the caller keeps in an array to its index there: for hosted code.
 *
 * The map holds hashes and indices, the caller the elements, so that it can compare and move them
 * as it likes. A hash is the caller's, too: its low bits should differ (st_hash_number). Elements
 * are not removed.
 *
 *	uint32_t i = ST_HASHMAP_FIND(&m, hash, at, names.v[at].id == id);
 *	if (i == ST_HASHMAP_NONE) { ... ST_PUSH(&names) ...; st_hashmap_add(&m, hash, names.n - 1) }
 */
#ifndef STROBE_BASE_HASHMAP_H
#define STROBE_BASE_HASHMAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { ST_HASHMAP_NONE = UINT32_MAX };

struct st_hashmap_slot {
	uint32_t hash;
	uint32_t filled; /* the index + 1; 0: free */
};

/* All zeros is an empty map. */
struct st_hashmap {
	struct st_hashmap_slot *slots;
	uint32_t n;
	uint32_t size; /* a power of two, or 0 */
};

/* The slot from `at` on that has the hash, or a free one. */
static inline uint32_t
st_hashmap_probe(const struct st_hashmap *m, uint32_t hash, uint32_t at)
{
	for (at &= m->size - 1; m->slots[at].filled && m->slots[at].hash != hash;)
		at = (at + 1) & (m->size - 1);
	return at;
}

/* The index of the element with this hash for which is_it, an expression that may use `at`, its
 * index, is true; or ST_HASHMAP_NONE. */
#define ST_HASHMAP_FIND(map, hash_of_it, at, is_it)                                                \
	({                                                                                         \
		const struct st_hashmap *map_ = (map);                                             \
		const uint32_t hash_ = (hash_of_it);                                               \
		uint32_t at = ST_HASHMAP_NONE;                                                     \
		if (map_->size) {                                                                  \
			uint32_t slot_ = st_hashmap_probe(map_, hash_, hash_);                     \
			while ((at = map_->slots[slot_].filled - 1) != ST_HASHMAP_NONE &&          \
			       !(is_it))                                                           \
				slot_ = st_hashmap_probe(map_, hash_, slot_ + 1);                  \
		}                                                                                  \
		at;                                                                                \
	})

/* Adds an element that is not in the map. */
st_status st_hashmap_grow(struct st_hashmap *m);
static inline st_status
st_hashmap_add(struct st_hashmap *m, uint32_t hash, uint32_t index)
{
	if (2 * (m->n + 1) > m->size && st_hashmap_grow(m))
		return ST_FAILED;
	uint32_t at = hash & (m->size - 1);
	while (m->slots[at].filled)
		at = (at + 1) & (m->size - 1);
	m->slots[at] = (struct st_hashmap_slot){hash, index + 1};
	m->n++;
	return ST_OK;
}

/* Puts another index in the place of one that is in the map. */
void st_hashmap_replace(struct st_hashmap *m, uint32_t hash, uint32_t old, uint32_t index);

static inline void
st_hashmap_free(struct st_hashmap *m)
{
	free(m->slots);
	*m = (struct st_hashmap){0};
}

/* Hashes. */
static inline uint32_t
st_hash_number(uint64_t n)
{
	return (uint32_t)(n * 0x9e3779b97f4a7c15u >> 32);
}

static inline uint32_t
st_hash_numbers(uint64_t a, uint64_t b)
{
	return (uint32_t)((a * 0x9e3779b97f4a7c15u ^ b) * 0xff51afd7ed558ccdu >> 32);
}

/* Of n bytes, eight at a time: the names of a large program are ten megabytes. */
static inline uint32_t
st_hash_bytes(const void *bytes, size_t n)
{
	const char *at = bytes;
	uint64_t h = n, word = 0;
	for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
		memcpy(&word, at, sizeof word);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, at, n);
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h ^ h >> 32);
}

static inline uint32_t
st_hash_text(const char *text)
{
	return st_hash_bytes(text, strlen(text));
}

#endif
