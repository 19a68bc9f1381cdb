/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demangling through libiberty, with a bound on what a hostile name may cost. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

/*
 * A short mangled name can stand for gigabytes of text, since each substitution may double it. The
 * printer has no way to be told to stop, but it keeps nothing on the heap, so the sink leaves it by
 * a jump.
 */
enum { LONGEST_NAME = 64 << 10 };

struct sink {
	char *text;
	size_t length;
	size_t room;
	jmp_buf overflow;
};

static void
demangle_append(const char *piece, size_t length, void *opaque)
{
	struct sink *sink = opaque;
	if (sink->length + length >= LONGEST_NAME)
		longjmp(sink->overflow, 1);
	if (sink->length + length >= sink->room) {
		size_t room = 2 * (sink->length + length) + 64;
		char *text = realloc(sink->text, room);
		if (!text)
			longjmp(sink->overflow, 1);
		sink->text = text;
		sink->room = room;
	}
	memcpy(sink->text + sink->length, piece, length);
	sink->length += length;
	sink->text[sink->length] = '\0';
}

static bool
looks_mangled(const char *name)
{
	if (name[0] != '_')
		return false;
	return name[1] == 'Z' || name[1] == 'R' || !strncmp(name, "__Z", 3) ||
	       !strncmp(name, "_GLOBAL_", 8);
}

static char *
demangle(const char *name, int options)
{
	struct sink sink = {0};

	if (!looks_mangled(name))
		return NULL;
	if (setjmp(sink.overflow)) {
		free(sink.text);
		return NULL;
	}
	/* Rust first: its older names are valid C++ names with a hash at the end. */
	if (rust_demangle_callback(name, options, demangle_append, &sink) && sink.length)
		return sink.text;
	sink.length = 0;
	if (cplus_demangle_v3_callback(name, options, demangle_append, &sink) && sink.length)
		return sink.text;
	free(sink.text);
	return NULL;
}

char *
st_demangle(const char *name)
{
	return demangle(name, DMGL_PARAMS | DMGL_ANSI);
}

char *
st_demangle_plain(const char *name)
{
	return demangle(name, DMGL_ANSI);
}
