/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows/rowfile_out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1 };

/* The whole of it, or nothing. */
static bool
write_all_rowfile(struct st_row_out *o, const void *bytes, size_t n)
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

/* A new file: what was at its place is not written into, nor followed if it is a link. Its place is
 * made of names that others can foretell, and of those that the program chose. */
static int
rowfile_out_create(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0666);
	struct stat st;
	if (fd >= 0 || errno != EEXIST || lstat(path, &st))
		return fd;
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		errno = EEXIST;
		return -1;
	}
	return unlink(path) ? -1 : open(path, flags, 0666);
}

void
st_row_out_open(struct st_row_out *o, char *path)
{
	const struct st_rows_header header = {
	        .magic = ST_ROWS_MAGIC, .version = ST_ROWS_VERSION, .bytes = sizeof header};
	*o = (struct st_row_out){.path = path, .frame = 1};
	o->fd = rowfile_out_create(path);
	if (o->fd < 0)
		o->error = errno;
	else
		write_all_rowfile(o, &header, sizeof header);
}

void
st_row_out_close(struct st_row_out *o)
{
	if (o->fd >= 0)
		close(o->fd);
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		free(o->columns[i].v);
	ZSTD_freeCCtx(o->zstd);
	free(o->records.v);
	free(o->packed);
	free(o->path);
	*o = (struct st_row_out){.fd = -1};
}

/* The memory stays for later frames: fresh pages would cost as much as the rows in them. */
static st_status
reserve(struct st_row_bytes *b, size_t more)
{
	if (b->room - b->n >= more)
		return 0;
	size_t room = b->n + more + ST_ROWS_FRAME;
	unsigned char *v = realloc(b->v, room);
	if (!v)
		return -1;
	b->v = v;
	b->room = room;
	return 0;
}

void *
st_row_out_record(struct st_row_out *o, enum st_rows_kind kind, uint32_t process, size_t bytes)
{
	struct st_rows_record head = {kind, process, bytes};
	size_t padded = (bytes + 7) & ~(size_t)7, need = sizeof head + padded;
	if (reserve(&o->records, need))
		return NULL;
	unsigned char *at = o->records.v + o->records.n;
	memcpy(at, &head, sizeof head);
	memset(at + need - 8, 0, bytes ? 8 : 0); /* the filling */
	o->records.n += need;
	return at + sizeof head;
}

st_status
st_row_out_reserve(struct st_row_out *o, size_t bytes)
{
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		if (reserve(&o->columns[i], ST_CODEC_MOST(bytes)))
			return -1;
	return 0;
}

size_t
st_row_out_frame(const struct st_row_out *o)
{
	size_t n = o->records.n;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		n += o->columns[i].n;
	return n;
}

/* What a frame holds, part by part: each is compressed on its own, because what is alike in it is
 * not like the others. */
struct parts {
	struct st_row_bytes part[2 + ST_CODEC_COLUMNS];
	struct st_rows_columns columns;
	size_t n, content;
};

static void
collect_parts(const struct st_row_out *o, struct parts *p)
{
	size_t n = 0;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		p->columns.bytes[i] = (uint32_t)o->columns[i].n;
	p->part[n++] = o->records;
	p->part[n++] = (struct st_row_bytes){(unsigned char *)&p->columns, sizeof p->columns, 0};
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		p->part[n++] = o->columns[i];
	p->n = n;
	p->content = sizeof p->columns + st_row_out_frame(o);
}

static size_t
most_packed(const struct parts *p)
{
	size_t room = sizeof(struct st_rows_frame);
	for (size_t i = 0; i < p->n; i++)
		room += ZSTD_compressBound(p->part[i].n);
	return room;
}

static bool
rowfile_out_prepare(struct st_row_out *o, size_t room)
{
	if (!o->zstd && (o->zstd = ZSTD_createCCtx())) {
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
	}
	if (room > o->packed_room) {
		free(o->packed);
		o->packed = malloc(room);
		o->packed_room = o->packed ? room : 0;
	}
	return o->zstd && o->packed;
}

static bool
compress_frame(struct st_row_out *o, double tsc_hz)
{
	struct parts p;
	collect_parts(o, &p);
	struct st_rows_frame head = {.mark = ST_ROWS_MARK,
	                             .content = (uint32_t)p.content,
	                             .records = (uint32_t)o->records.n,
	                             .rows = o->frame_rows,
	                             .tsc_hz = tsc_hz};
	size_t at = sizeof head;
	if (!rowfile_out_prepare(o, most_packed(&p))) {
		o->error = ENOMEM;
		return false;
	}
	for (size_t i = 0; i < p.n; i++) {
		size_t n = ZSTD_compress2(o->zstd, o->packed + at, o->packed_room - at, p.part[i].v,
		                          p.part[i].n);
		if (ZSTD_isError(n)) {
			o->error = ENOMEM;
			return false;
		}
		at += n;
	}
	head.bytes = (uint32_t)(at - sizeof head);
	memcpy(o->packed, &head, sizeof head);
	return write_all_rowfile(o, o->packed, at);
}

void
st_row_out_flush(struct st_row_out *o, double tsc_hz)
{
	if (!o->records.n)
		return;
	if (o->fd >= 0 && compress_frame(o, tsc_hz))
		o->rows += o->frame_rows;
	else
		o->lost += o->frame_rows;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		o->columns[i].n = 0;
	o->records.n = 0;
	o->frame_rows = 0;
	o->frame++;
}
