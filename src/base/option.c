/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/option.h"

#include <string.h>

#include "base/parse.h"
#include "base/text.h"

st_status
st_option_number(const char *option, const char *text, long low, long high, long *value,
                 struct st_error *e)
{
	if (st_parse_between(text, low, high, value))
		return st_fail(e, ST_EXIT_USAGE, "--%s takes a number from %ld to %ld, not '%s'",
		               option, low, high, text);
	return 0;
}

/* "a, b or c" */
static void
list_option_words(char *list, size_t size, const char *const *words, size_t n)
{
	*list = '\0';
	for (size_t i = 0; i < n; i++)
		st_append(list, size, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", words[i]);
}

st_status
st_option_word(const char *option, const char *text, const char *const *words, size_t n,
               unsigned *which, struct st_error *e)
{
	char list[200];
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(text, words[i])) {
			*which = i;
			return 0;
		}
	list_option_words(list, sizeof list, words, n);
	return st_fail(e, ST_EXIT_USAGE, "--%s takes %s, not '%s'", option, list, text);
}
