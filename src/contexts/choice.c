/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contexts/choice.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Up to the bracket that the last one closes. */
size_t
st_choice_plain(const char *name)
{
	const char *at = strrchr(name, ')');
	int depth = 0;
	for (; at && at > name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (!depth)
			return (size_t)(at - name);
	}
	return strlen(name);
}

bool
st_choice_fits(const char *pattern, const char *name)
{
	if (!strcmp(pattern, name) || !fnmatch(pattern, name, 0))
		return true;
	size_t n = st_choice_plain(name);
	char *plain = name[n] ? strndup(name, n) : NULL;
	bool fits = plain && (!strcmp(pattern, plain) || !fnmatch(pattern, plain, 0));
	free(plain);
	return fits;
}

static bool
fits_asked(const char *name, const char *asked)
{
	return st_choice_fits(asked, name);
}

bool
st_choice_fits_function(const char *pattern, const struct st_profile *p, uint32_t function)
{
	return st_profile_function_fits(p, function, fits_asked, pattern) != NULL;
}

unsigned char *
st_choice_look(const struct st_forest *f, const unsigned char *labels)
{
	unsigned char *nodes = calloc(f->n + 1, sizeof *nodes);
	for (uint32_t i = 0; nodes && i < f->n; i++) { /* parents come first */
		const struct st_tree_node *n = &f->nodes[i];
		nodes[i] = labels[n->label];
		if (n->parent != ST_NO_NODE)
			nodes[i] |= nodes[n->parent] & ST_CHOICE_UNDER;
	}
	for (uint32_t i = nodes ? f->n : 0; i-- > 0;) {
		uint32_t parent = f->nodes[i].parent;
		if ((nodes[i] & ST_CHOSEN) == ST_CHOSEN)
			nodes[i] |= ST_CHOICE_WAY;
		if (parent != ST_NO_NODE)
			nodes[parent] |= nodes[i] & (ST_CHOICE_CALLS | ST_CHOICE_WAY);
	}
	return nodes;
}
