/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mangled names hold the function's own identifier as it is written, so only those that do have to
 * be demangled for a search: of 100,000 names in a large program a handful.
 */
#include "symbol/pattern.h"

#include <stdbool.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* The last component of a qualified name, what is in brackets left out of sight. */
static const char *
last_component(const char *pattern)
{
	const char *start = pattern;
	int depth = 0;
	for (const char *c = pattern; *c; c++) {
		if (strchr("(<[{", *c))
			depth++;
		else if (strchr(")>]}", *c))
			depth--;
		else if (!depth && c[0] == ':' && c[1] == ':')
			start = c + 2;
	}
	return start;
}

/* Names that mangling abbreviates or that stand for something else: constructors of the standard
 * library's classes have their names, and operators have letters. */
static bool
is_abbreviated(const char *name)
{
	static const char *const names[] = {
	        "allocator", "basic_string",  "string",   "istream",        "basic_istream",
	        "ostream",   "basic_ostream", "iostream", "basic_iostream", "std"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "operator", 8);
}

void
sym_pattern_needle(const char *pattern, char needle[SYM_NEEDLE])
{
	const char *component = last_component(pattern);
	size_t n = strspn(component, letters);
	needle[0] = '\0';
	/* A whole identifier: nothing after it but arguments. */
	if (!n || n >= SYM_NEEDLE || (component[n] && !strchr("(<", component[n])))
		return;
	memcpy(needle, component, n);
	needle[n] = '\0';
	if (is_abbreviated(needle))
		needle[0] = '\0';
}
