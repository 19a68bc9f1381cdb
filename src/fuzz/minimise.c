/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/minimise.h"

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
