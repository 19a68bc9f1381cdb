/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/usdt.h"

#include <stdio.h>
#include <string.h>

#include "tools/traced.h"

bool
st_usdt_is_pair(const char *begin, const char *end)
{
	static const char *const begins[] = {"begin", "entry", "start", "create", "construct"},
	                         *const ends[] = {"end", "return", "finish", "destroy",
	                                          "deconstruct"};
	enum { N = sizeof begins / sizeof *begins };
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < N; k++) {
			if (!traced_ends_in(begin, begins[i]) || !traced_ends_in(end, ends[k]))
				continue;
			const size_t n = strlen(begin) - strlen(begins[i]);
			if (n == strlen(end) - strlen(ends[k]) && !strncmp(begin, end, n))
				return true;
		}
	return false;
}

enum st_usdt_role
st_usdt_chosen(const char *choice, const char *provider, const char *name)
{
	char copy[512];
	snprintf(copy, sizeof copy, "%s", choice);
	char *colon = strchr(copy, ':'), *hash = strrchr(copy, '#');
	const char *wanted = colon ? colon + 1 : copy;
	if (hash)
		*hash = '\0';
	if (colon)
		*colon = '\0';
	if (colon && !traced_fits(copy, provider))
		return ST_USDT_OTHER;
	if (traced_fits(wanted, name))
		return hash ? ST_USDT_BEGIN : ST_USDT_ANY;
	return hash && traced_fits(hash + 1, name) ? ST_USDT_END : ST_USDT_OTHER;
}
