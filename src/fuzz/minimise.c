/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/minimise.h"

#include <string.h>

#include "base/vec.h"

/* Tries b without [from, to). *removed: it still holds, and the bytes were removed. */
static st_status
try_without(const struct st_minimise *m, struct st_fuzz_bytes *b, size_t from, size_t to,
            bool *removed, struct st_error *e)
{
	struct st_fuzz_bytes less = {0};
	*removed = false;
	if (st_fuzz_bytes_copy(&less, b) || st_fuzz_bytes_splice(&less, from, to - from, NULL, 0)) {
		st_fuzz_bytes_free(&less);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to minimise an input");
	}
	st_status status = m->holds(m->arg, &less, removed, e);
	if (status || !*removed) {
		st_fuzz_bytes_free(&less);
		return status;
	}
	st_fuzz_bytes_free(b);
	*b = less;
	return ST_OK;
}

/* Removes each of `parts` parts that is not needed. *n_removed: their number. */
static st_status
remove_parts(const struct st_minimise *m, struct st_fuzz_bytes *b, size_t parts, size_t *n_removed,
             struct st_error *e)
{
	const size_t size = (b->n + parts - 1) / parts;
	*n_removed = 0;
	for (size_t at = 0; at < b->n && b->n > 1 && !(m->enough && m->enough(m->arg));) {
		const size_t to = at + size < b->n ? at + size : b->n;
		bool removed;
		if (to - at == b->n)
			return ST_OK; /* nothing would be left */
		if (try_without(m, b, at, to, &removed, e))
			return ST_FAILED;
		*n_removed += removed;
		at = removed ? at : to;
	}
	return ST_OK;
}

st_status
st_minimise(const struct st_minimise *m, struct st_fuzz_bytes *b, struct st_error *e)
{
	size_t parts = 2, removed;
	while (b->n > 1 && !(m->enough && m->enough(m->arg))) {
		parts = parts < b->n ? parts : b->n;
		if (remove_parts(m, b, parts, &removed, e))
			return ST_FAILED;
		if (!removed && parts == b->n)
			return ST_OK;
		if (!removed)
			parts *= 2;
	}
	return ST_OK;
}

st_status
st_minimise_beginning(const struct st_minimise *m, struct st_fuzz_bytes *b, struct st_error *e)
{
	bool removed = false;
	for (size_t n = 64; n < b->n && !removed && !(m->enough && m->enough(m->arg)); n *= 4)
		if (try_without(m, b, n, b->n, &removed, e))
			return ST_FAILED;
	return ST_OK;
}

static unsigned char
most_frequent(const struct st_fuzz_bytes *b)
{
	size_t counts[256] = {0};
	unsigned char most = b->v[0];
	for (size_t i = 0; i < b->n; i++)
		counts[b->v[i]]++;
	for (size_t i = 0; i < b->n; i++)
		if (counts[b->v[i]] > counts[most])
			most = b->v[i];
	return most;
}

/* Tries b with the byte in all of [from, to). */
static st_status
try_with(const struct st_minimise *m, struct st_fuzz_bytes *b, size_t from, size_t to,
         unsigned char byte, struct st_error *e)
{
	struct st_fuzz_bytes same = {0};
	bool holds = false;
	if (st_fuzz_bytes_copy(&same, b)) {
		st_fuzz_bytes_free(&same);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to minimise an input");
	}
	memset(same.v + from, byte, to - from);
	const bool differs = memcmp(same.v, b->v, b->n) != 0;
	const st_status status = differs ? m->holds(m->arg, &same, &holds, e) : ST_OK;
	if (holds)
		memcpy(b->v, same.v, b->n);
	st_fuzz_bytes_free(&same);
	return status;
}

st_status
st_minimise_unify(const struct st_minimise *m, struct st_fuzz_bytes *b, struct st_error *e)
{
	const unsigned char byte = b->n ? most_frequent(b) : 0;
	for (size_t size = b->n; size; size /= 2)
		for (size_t at = 0; at < b->n; at += size) {
			const size_t to = at + size < b->n ? at + size : b->n;
			if (m->enough && m->enough(m->arg))
				return ST_OK;
			if (try_with(m, b, at, to, byte, e))
				return ST_FAILED;
		}
	return ST_OK;
}
