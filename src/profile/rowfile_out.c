/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/rowfile_out.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1 };

/* The whole of it, or nothing. */
static bool
write_all(struct st_row_out *o, const void *bytes, size_t n)
{
	size_t done = 0;
	while (o->fd >= 0 && done < n) {
		ssize_t wrote = write(o->fd, (const char *)bytes + done, n - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			o->error = wrote < 0 ? errno : ENOSPC;
			if (ftruncate(o->fd, (off_t)o->bytes)) {
				/* A reader finds the end of what is whole by itself. */
			}
			close(o->fd);
			o->fd = -1;
			return false;
		}
		done += (size_t)wrote;
	}
	if (o->fd < 0)
		return false;
	o->bytes += n;
	return true;
}

void
st_row_out_open(struct st_row_out *o, char *path)
{
	const struct st_rows_header header = {
	        .magic = ST_ROWS_MAGIC, .version = ST_ROWS_VERSION, .bytes = sizeof header};
	*o = (struct st_row_out){.path = path, .frame = 1};
	o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd < 0)
		o->error = errno;
	else
		write_all(o, &header, sizeof header);
}

void
st_row_out_close(struct st_row_out *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->path);
	free(o->records);
	*o = (struct st_row_out){.fd = -1};
}

void *
st_row_out_record(struct st_row_out *o, enum st_rows_kind kind, uint32_t process, size_t bytes)
{
	struct st_rows_record head = {kind, process, bytes};
	size_t padded = (bytes + 7) & ~(size_t)7, need = sizeof head + padded;
	if (o->room - o->n < need) {
		size_t room = o->n + need + ST_ROWS_FRAME;
		unsigned char *more = realloc(o->records, room);
		if (!more)
			return NULL;
		o->records = more;
		o->room = room;
	}
	unsigned char *at = o->records + o->n;
	memcpy(at, &head, sizeof head);
	memset(at + need - 8, 0, bytes ? 8 : 0); /* the filling */
	o->n += need;
	return at + sizeof head;
}

static bool
compress_frame(struct st_row_out *o, double tsc_hz)
{
	struct st_rows_frame head = {.mark = ST_ROWS_MARK,
	                             .content = (uint32_t)o->n,
	                             .rows = o->frame_rows,
	                             .tsc_hz = tsc_hz};
	size_t room = ZSTD_compressBound(o->n);
	unsigned char *packed = malloc(sizeof head + room);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	bool ok = packed && zstd;
	if (ok) {
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
		size_t n = ZSTD_compress2(zstd, packed + sizeof head, room, o->records, o->n);
		ok = !ZSTD_isError(n);
		head.bytes = (uint32_t)n;
		memcpy(packed, &head, sizeof head);
		ok = ok && write_all(o, packed, sizeof head + n);
	} else {
		o->error = ENOMEM;
	}
	ZSTD_freeCCtx(zstd);
	free(packed);
	return ok;
}

void
st_row_out_flush(struct st_row_out *o, double tsc_hz)
{
	if (!o->n)
		return;
	if (o->fd >= 0 && compress_frame(o, tsc_hz))
		o->rows += o->frame_rows;
	else
		o->lost += o->frame_rows;
	o->n = 0;
	o->frame_rows = 0;
	o->frame++;
}
