/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/object.h"

#include <zstd.h>

/* Level: what takes a few ms for the columns of five thousand functions. A base of more bytes is
 * not worth its memory; no piece is larger than what is said to be at most in it. */
enum { LEVEL = 6, MOST_BASE = 64 << 20, WINDOW_LOG = 27 };
static const uint64_t most_size = UINT64_C(1) << 36;

static st_status
object_damaged(struct st_store *s, int64_t row, const char *how, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "%s is damaged: object %lld %s; strobe fsck says which profiles it concerns",
	               s->place, (long long)row, how);
}

st_status
st_object_row(struct st_store *s, const struct st_hash *hash, int64_t *row, struct st_error *e)
{
	struct st_query *rows = NULL;
	*row = 0;
	if (st_store_query(s, &rows, "SELECT id FROM object WHERE hash = ?", e))
		return -1;
	st_query_put_bytes(rows, 1, hash->v, sizeof hash->v);
	int step = st_query_step(rows, e);
	if (step > 0)
		*row = st_query_number(rows, 0);
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* The base of a base is the better one, so that no chain arises. */
static st_status
object_first_base(struct st_store *s, int64_t *base, struct st_error *e)
{
	struct st_query *rows = NULL;
	if (!*base)
		return 0;
	if (st_store_query(s, &rows,
	                   "SELECT coalesce(base, id) FROM object WHERE id = ? AND size < ?", e))
		return -1;
	st_query_put_number(rows, 1, *base);
	st_query_put_number(rows, 2, MOST_BASE);
	int step = st_query_step(rows, e);
	*base = step > 0 ? st_query_number(rows, 0) : 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static bool
object_compress(struct st_store *s, const struct st_bytes *b, const struct st_bytes *base,
                struct st_bytes *out)
{
	ZSTD_CCtx *c = s->compressor ? s->compressor : ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(b->n);
	unsigned char *room = st_bytes_room(out, bound);
	size_t n = 0;
	bool good = c && room;
	s->compressor = c;
	if (good) {
		ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 1);
		if (base->n)
			ZSTD_CCtx_refPrefix(c, base->v, base->n);
		n = ZSTD_compress2(c, room, bound, b->v, b->n);
		good = !ZSTD_isError(n);
	}
	out->n = good ? n : 0;
	return good;
}

static bool
object_decompress(struct st_store *s, const void *data, size_t n, const struct st_bytes *base,
                  size_t size, struct st_bytes *out)
{
	ZSTD_DCtx *d = s->decompressor ? s->decompressor : ZSTD_createDCtx();
	unsigned char *room = st_bytes_room(out, size + 1);
	bool good = d && room;
	s->decompressor = d;
	if (good) {
		ZSTD_DCtx_reset(d, ZSTD_reset_session_and_parameters);
		ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG);
		if (base->n)
			ZSTD_DCtx_refPrefix(d, base->v, base->n);
		good = ZSTD_decompressDCtx(d, room, size, data, n) == size;
	}
	out->n = good ? size : 0;
	return good;
}

/* As a difference, unless the piece alone is hardly larger. *base is 0 when it is stored alone. */
static bool
object_smallest(struct st_store *s, const struct st_bytes *b, const struct st_bytes *base_bytes,
                int64_t *base, struct st_bytes *out)
{
	static const struct st_bytes none;
	struct st_bytes alone = {0};
	if (*base && !object_compress(s, b, base_bytes, out))
		return false;
	if (*base && out->n * 4 < b->n)
		return true;
	if (!object_compress(s, b, &none, &alone)) {
		st_bytes_free(&alone);
		return false;
	}
	if (*base && out->n + out->n / 8 < alone.n) {
		st_bytes_free(&alone);
		return true;
	}
	st_bytes_free(out);
	*out = alone;
	*base = 0;
	return true;
}

static st_status
object_insert(struct st_store *s, const struct st_hash *hash, size_t size, int64_t base,
              const struct st_bytes *data, int64_t *row, struct st_error *e)
{
	struct st_query *insert = NULL;
	if (st_store_query(
	            s, &insert,
	            "INSERT INTO object(hash, base, size, data) VALUES(?,?,?,?) RETURNING id", e))
		return -1;
	st_query_put_bytes(insert, 1, hash->v, sizeof hash->v);
	if (base)
		st_query_put_number(insert, 2, base);
	st_query_put_number(insert, 3, (int64_t)size);
	st_query_put_bytes(insert, 4, data->v, data->n);
	int step = st_query_step(insert, e);
	*row = step > 0 ? st_query_number(insert, 0) : 0;
	st_query_end(insert);
	return step < 0 ? ST_FAILED : ST_OK;
}

st_status
st_object_put(struct st_store *s, const struct st_hash *hash, const struct st_bytes *b,
              int64_t base, int64_t *row, uint64_t *grown, struct st_error *e)
{
	struct st_bytes base_bytes = {0}, data = {0};
	if (st_object_row(s, hash, row, e))
		return -1;
	if (*row)
		return 0;
	int status = 0;
	if (b->n > MOST_BASE)
		base = 0;
	if (object_first_base(s, &base, e))
		return -1;
	struct st_error unreadable;
	if (base && st_object_get_row(s, base, &base_bytes, &unreadable))
		base = 0; /* a damaged base is a matter of fsck: this piece does without it */
	if (!object_smallest(s, b, &base_bytes, &base, &data))
		status = st_store_no_memory(e);
	if (!status)
		status = object_insert(s, hash, b->n, base, &data, row, e);
	*grown += data.n;
	st_bytes_free(&base_bytes);
	st_bytes_free(&data);
	return status ? ST_FAILED : ST_OK;
}

static st_status
object_read(struct st_store *s, struct st_query *rows, struct st_bytes *out, struct st_error *e)
{
	struct st_bytes base = {0};
	int64_t row = st_query_number(rows, 0), base_row = st_query_number(rows, 2);
	int64_t size = st_query_number(rows, 3);
	size_t n, hash_bytes;
	const void *data = st_query_bytes(rows, 4, &n),
	           *named = st_query_bytes(rows, 1, &hash_bytes);
	if (size < 0 || (uint64_t)size > most_size || base_row == row ||
	    hash_bytes != ST_HASH_BYTES)
		return object_damaged(s, row, "has an impossible size or base", e);
	if (base_row && st_object_get_row(s, base_row, &base, e)) {
		st_bytes_free(&base);
		return -1;
	}
	bool good = object_decompress(s, data, n, &base, (size_t)size, out);
	st_bytes_free(&base);
	if (out->failed)
		return st_store_no_memory(e);
	if (!good)
		return object_damaged(s, row, "cannot be decompressed", e);
	struct st_hash hash = st_sha256(out->v, out->n);
	if (memcmp(hash.v, named, sizeof hash.v))
		return object_damaged(s, row, "has other contents than its hash says", e);
	return 0;
}

static st_status
object_get_by(struct st_store *s, const char *sql, const struct st_hash *hash, int64_t row,
              struct st_bytes *out, struct st_error *e)
{
	struct st_query *rows = NULL;
	*out = (struct st_bytes){0};
	if (st_store_query(s, &rows, sql, e))
		return -1;
	if (hash)
		st_query_put_bytes(rows, 1, hash->v, sizeof hash->v);
	else
		st_query_put_number(rows, 1, row);
	int step = st_query_step(rows, e), status = step > 0 ? 0 : -1;
	if (step == 0)
		status = object_damaged(s, row, "is missing", e);
	if (!status)
		status = object_read(s, rows, out, e);
	st_query_end(rows);
	return status ? ST_FAILED : ST_OK;
}

#define OBJECT_COLUMNS "SELECT id, hash, base, size, data FROM object WHERE "

st_status
st_object_get(struct st_store *s, const struct st_hash *hash, struct st_bytes *out,
              struct st_error *e)
{
	return object_get_by(s, OBJECT_COLUMNS "hash = ?", hash, 0, out, e);
}

/* A base has no base: the store never makes one, and a file that was tampered with cannot make us
 * follow a circle. */
st_status
st_object_get_row(struct st_store *s, int64_t row, struct st_bytes *out, struct st_error *e)
{
	return object_get_by(s, OBJECT_COLUMNS "id = ?", NULL, row, out, e);
}
