/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/regular.h"

enum { MAX_SOURCE = 64 << 20 };

static void
source_split(struct st_source *s)
{
	char *rest = s->bytes, *line;
	while ((line = strsep(&rest, "\n")) && (rest || *line)) {
		char **slot = ST_PUSH(&s->lines);
		if (slot)
			*slot = line;
	}
}

/* By the last part of its name. */
static bool
is_called_as_source(const char *path)
{
	static const char *const ends[] = {
	        "C",   "H",   "S",     "ada", "adb", "ads", "asm",  "c",   "c++", "cc",  "cl",
	        "cp",  "cpp", "cr",    "cu",  "cuh", "cxx", "d",    "def", "f",   "f03", "f08",
	        "f77", "f90", "f95",   "for", "ftn", "go",  "h",    "h++", "hh",  "hpp", "hs",
	        "hxx", "i",   "ii",    "inc", "inl", "ipp", "java", "js",  "kt",  "l",   "ll",
	        "m",   "mi",  "ml",    "mli", "mm",  "nim", "pas",  "pp",  "py",  "re",  "rl",
	        "rs",  "s",   "swift", "tcc", "tpp", "ts",  "v",    "y",   "yy",  "zig"};
	const char *name = strrchr(path, '/'), *end = strrchr(name ? name : path, '.');
	for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
		if (!strcmp(end + 1, ends[i]))
			return true;
	return false;
}

static bool
is_for_anybody(const char *path, const struct stat *st)
{
	return (st->st_mode & S_IROTH) || (st->st_uid != 0 && is_called_as_source(path));
}

static void
source_read_lines(struct st_source *s, FILE *f, size_t size)
{
	s->bytes = calloc(1, size + 1);
	if (s->bytes && fread(s->bytes, 1, size, f) == size)
		source_split(s);
}

bool
st_source_read(struct st_source *s, const char *path, enum st_source_for who)
{
	struct stat st;
	memset(s, 0, sizeof *s);
	FILE *f = st_fopen_regular(path);
	if (!f)
		return true;
	bool may = fstat(fileno(f), &st) == 0 &&
	           (who == ST_SOURCE_FOR_READER || is_for_anybody(path, &st));
	if (may && st.st_size < MAX_SOURCE)
		source_read_lines(s, f, (size_t)st.st_size);
	fclose(f);
	return may;
}

void
st_source_free(struct st_source *s)
{
	free(s->lines.v);
	free(s->bytes);
}
