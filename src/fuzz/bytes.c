/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wholefile.h"

/* One byte more than n: a NUL follows the bytes. The regexec of the address sanitizer reads up to
 * one, whatever end it is given. */
static st_status
grow_bytes(struct st_fuzz_bytes *b, size_t n)
{
	size_t want = b->cap ? b->cap : 64;
	if (n < b->cap)
		return ST_OK;
	while (want <= n)
		want *= 2;
	uint8_t *grown = realloc(b->v, want);
	if (!grown)
		return ST_FAILED;
	b->v = grown;
	b->cap = want;
	return ST_OK;
}

st_status
st_fuzz_bytes_splice(struct st_fuzz_bytes *b, size_t at, size_t drop, const void *with, size_t n)
{
	uint8_t *own = NULL;
	if (n && with >= (const void *)b->v && with < (const void *)(b->v + b->n)) {
		own = malloc(n);
		if (!own)
			return ST_FAILED;
		memcpy(own, with, n);
		with = own;
	}
	st_status status = grow_bytes(b, b->n - drop + n);
	if (!status && b->v) {
		memmove(b->v + at + n, b->v + at + drop, b->n - at - drop);
		if (n)
			memcpy(b->v + at, with, n);
		b->n += n - drop;
		b->v[b->n] = 0;
	}
	free(own);
	return status;
}

st_status
st_fuzz_bytes_copy(struct st_fuzz_bytes *to, const struct st_fuzz_bytes *from)
{
	to->n = 0;
	return st_fuzz_bytes_splice(to, 0, 0, from->v, from->n);
}

void
st_fuzz_bytes_free(struct st_fuzz_bytes *b)
{
	free(b->v);
	*b = (struct st_fuzz_bytes){0};
}

st_status
st_fuzz_bytes_read(struct st_fuzz_bytes *b, const char *path, size_t most, struct st_error *e)
{
	struct st_error why;
	char *bytes;
	size_t n;
	if (st_whole_read(&bytes, &n, path, most, &why))
		return st_fail(e, ST_EXIT_FAILED, "cannot read the input %s: %s%s", path, why.text,
		               errno == EFBIG ? ": give a smaller one" : "");
	st_fuzz_bytes_free(b);
	const st_status status = st_fuzz_bytes_splice(b, 0, 0, bytes, n);
	free(bytes);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the input %s", path) : ST_OK;
}

st_status
st_fuzz_bytes_write(const struct st_fuzz_bytes *b, const char *path, struct st_error *e)
{
	char part[4096];
	if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
		return st_fail(e, ST_EXIT_FAILED, "the path %s is too long", path);
	FILE *file = fopen(part, "wbe");
	bool written = file && fwrite(b->v, 1, b->n, file) == b->n;
	int error = errno;
	if (file && fclose(file) && written) {
		error = errno;
		written = false;
	}
	if (written && rename(part, path)) {
		error = errno;
		written = false;
	}
	if (written)
		return ST_OK;
	unlink(part);
	return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s%s", path, strerror(error),
	               error == ENOSPC || error == EDQUOT
	                       ? "; make room there, then continue with --resume"
	                       : "");
}
