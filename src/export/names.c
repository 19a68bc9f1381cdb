/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the format of a file, and whether it is compressed, by its name, as users of other tools
 * name such files. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "export/contexts.h"

/* The first one that fits counts. */
static const struct {
	const char *pattern, *format;
} export_names[] = {
        {"callgrind.out", "callgrind"},
        {"callgrind.out.*", "callgrind"},
        {"*.callgrind", "callgrind"},
        {"*.pb.gz", "pprof"},
        {"*.pprof.gz", "pprof"},
        {"*.pb", "pprof"},
        {"*.pprof", "pprof"},
        {"*.speedscope.json", "speedscope"},
        {"*.speedscope", "speedscope"},
        {"*.folded", "folded"},
        {"*.collapsed", "folded"},
        {"*.lcov", "lcov"},
        {"*.info", "lcov"},
        {"*.csv", "csv"},
        {"*.json", "json"},
};

const char *
st_export_format_of(const char *path)
{
	const char *name = st_base_name(path);
	for (size_t i = 0; i < sizeof export_names / sizeof *export_names; i++)
		if (!fnmatch(export_names[i].pattern, name, 0))
			return export_names[i].format;
	return NULL;
}

bool
st_export_is_gzip(const char *path)
{
	return !fnmatch("*.gz", path, 0);
}

/* A text compressed by gzip, *n bytes, malloc'ed. NULL: no memory. */
static unsigned char *
export_gzip(const void *text, size_t length, size_t *n)
{
	enum { GZIP = 16, MEMORY = 8 };
	z_stream z = {.next_in = (Bytef *)(uintptr_t)text};
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	const size_t room = deflateBound(&z, length);
	unsigned char *out = malloc(room);
	size_t read = 0;
	int status = Z_OK;
	*n = 0;
	/* zlib counts what it is given at once in 32 bits. */
	while (out && status == Z_OK) {
		const size_t left = length - read, space = room - *n, most = UINT32_MAX / 2;
		z.avail_in = (uInt)(left < most ? left : most);
		z.avail_out = (uInt)(space < most ? space : most);
		z.next_out = out + *n;
		const uInt given = z.avail_in, had = z.avail_out;
		status = deflate(&z, given == left ? Z_FINISH : Z_NO_FLUSH);
		read += given - z.avail_in;
		*n += had - z.avail_out;
	}
	deflateEnd(&z);
	if (status == Z_STREAM_END)
		return out;
	free(out);
	return NULL;
}

st_status
st_export_write(const char *path, st_export_writer *write, const void *arg, FILE *out,
                struct st_error *e)
{
	struct st_text built;
	if (!path || !st_export_is_gzip(path))
		return write(arg, out, e);
	FILE *plain = st_text_begin(&built);
	st_status status = plain ? write(arg, plain, e) : ST_OK;
	char *text = plain ? st_text_end(&built) : NULL;
	size_t n = 0;
	unsigned char *packed = text && !status ? export_gzip(text, built.n, &n) : NULL;
	if (packed)
		fwrite(packed, 1, n, out);
	else if (!status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compress '%s'", path);
	free(packed);
	free(text);
	return status;
}
