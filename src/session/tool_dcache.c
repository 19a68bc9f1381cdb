/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/tool_dcache.h"

#include <inttypes.h>
#include <string.h>

#include "session/toolset.h"

/* A level's options. */
struct level {
	const char *size, *ways;
};
enum { SIZE_TEXT = 24 };

/* The options of dcache. */
struct asked {
	const struct st_tool_setting *settings;
	size_t n;
};

static uint64_t
tool_dcache_value_of(const struct asked *a, const char *name)
{
	uint64_t number = 0;
	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->settings[i].name, name) &&
		    st_tool_number(a->settings[i].value ? a->settings[i].value : "1", &number))
			return number;
	for (const strobe_option *o = st_tools[ST_TOOL_dcache]->options; o->name; o++)
		if (!strcmp(o->name, name))
			st_tool_number(o->value, &number);
	return number;
}

static bool
is_power(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* As the option takes it. */
static const char *
size_text(char text[SIZE_TEXT], uint64_t bytes)
{
	bool k = bytes % 1024 == 0, m = bytes % (1 << 20) == 0;
	snprintf(text, SIZE_TEXT, "%" PRIu64 "%s",
	         bytes >> (m   ? 20
	                   : k ? 10
	                       : 0),
	         m   ? "M"
	         : k ? "k"
	             : "");
	return text;
}

static st_status
check_level(const struct asked *a, const struct level *l, uint64_t line, struct st_error *e)
{
	uint64_t size = tool_dcache_value_of(a, l->size), ways = tool_dcache_value_of(a, l->ways),
	         set = ways * line;
	uint64_t below = set;
	char given[SIZE_TEXT], less[SIZE_TEXT], more[SIZE_TEXT];
	if (!size || !set || (size % set == 0 && is_power(size / set)))
		return 0;
	while (2 * below <= size)
		below *= 2;
	if (below > size)
		return st_fail(e, ST_EXIT_USAGE,
		               "tool dcache: %s=%s is less than one set of %s=%" PRIu64
		               " lines of %" PRIu64 " bytes: take %s=%s or more",
		               l->size, size_text(given, size), l->ways, ways, line, l->size,
		               size_text(less, set));
	return st_fail(e, ST_EXIT_USAGE,
	               "tool dcache: with %s=%" PRIu64 " and line=%" PRIu64
	               ", %s=%s is not a power of two of sets: take %s=%s or %s=%s",
	               l->ways, ways, line, l->size, size_text(given, size), l->size,
	               size_text(less, below), l->size, size_text(more, 2 * below));
}

st_status
st_dcache_check(const struct st_tool_setting *settings, size_t n, struct st_error *e)
{
	static const struct level levels[] = {{"size", "ways"}, {"l2", "l2ways"}};
	const struct asked a = {settings, n};
	uint64_t line = tool_dcache_value_of(&a, "line");
	if (!is_power(line))
		return st_fail(e, ST_EXIT_USAGE,
		               "option line of tool dcache takes a power of two, such as 64, not "
		               "%" PRIu64,
		               line);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (check_level(&a, &levels[i], line, e))
			return -1;
	return 0;
}
