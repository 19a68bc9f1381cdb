/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions are traced, by their names: the same for the tool `calltimes` and for the engines
 * of strobe trace that choose functions before the program runs. */
#ifndef STROBE_TOOLS_TRACED_H
#define STROBE_TOOLS_TRACED_H

#include <stddef.h>

static inline int
traced_ends_in(const char *text, const char *end)
{
	size_t n = 0, m = 0;
	while (text[n])
		n++;
	while (end[m])
		m++;
	while (m && n && text[n - 1] == end[m - 1])
		n--, m--;
	return !m;
}

static inline int
traced_is(const char *text, const char *name)
{
	return traced_ends_in(text, name) && traced_ends_in(name, text);
}

/* Does the name fit the shell pattern of * and ?, which ends at a semicolon? */
static inline int
traced_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *from = name;
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern && *pattern != ';' && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern || *pattern == ';';
}

/* excluded: patterns with semicolons between them; NULL: none. */
static inline int
traced_is_excluded(const char *excluded, const char *name)
{
	for (const char *pattern = excluded; pattern && *pattern;) {
		if (traced_fits(pattern, name))
			return 1;
		while (*pattern && *pattern != ';')
			pattern++;
		pattern += *pattern == ';';
	}
	return 0;
}

/* Functions that the compiler adds to each program, and those with reserved prefixes. */
static inline int
traced_is_of_compiler(const char *name)
{
	static const char *const names[] = {
	        "_start",     "_init", "_fini", "register_tm_clones", "deregister_tm_clones",
	        "frame_dummy"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (traced_is(name, names[i]))
			return 1;
	return name[0] == '_' && name[1] == '_';
}

/* Entries of the procedure linkage table are jumps, and nobody calls what signal handlers return
 * to. */
static inline int
traced_is_no_function(const char *name)
{
	return traced_ends_in(name, "@plt") || traced_is(name, "__restore_rt");
}

#endif
