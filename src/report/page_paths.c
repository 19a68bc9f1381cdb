/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calling contexts of a profile, for the page: as `strobe paths --format json` writes them. */
#include <stdlib.h>

#include "report/contexts_limit.h"
#include "report/json.h"
#include "report/page.h"

/* A page with more nodes is of no use to a browser, and deeper JSON is not read by the library that
 * we have for it: two of its levels are one of a tree. */
enum { MOST_NODES = 100000, MOST_LEVELS = 1000 };

/* The text is released. */
static json_t *
parse(char *text, size_t size)
{
	json_t *paths = text ? json_loadb(text, size, 0, NULL) : NULL;
	free(text);
	return paths;
}

static json_t *
contexts_of(const struct st_contexts *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	st_contexts_json(c, out);
	return fclose(out) ? parse(NULL, 0) : parse(text, size);
}

json_t *
st_page_paths(const struct st_profile *p, size_t *left_out)
{
	static const struct st_context_limit limit = {.bytes = MOST_NODES, .levels = MOST_LEVELS};
	size_t own = p->contexts.n < MOST_NODES / 2 ? p->contexts.n : MOST_NODES / 2;
	const struct st_context_choice choice = {.kccf = true, .most_callers = MOST_NODES - own};
	struct st_context_options o;
	struct st_context_cut cut;
	struct st_contexts c;
	struct st_error e;
	json_t *paths = NULL;
	*left_out = 0;
	if (!st_contexts_options(p, &o))
		return NULL;
	if (!st_contexts_make(&c, p, &choice, &e) &&
	    !st_contexts_cut(&c, &st_context_cost_nodes, &limit, &cut, &e)) {
		*left_out = cut.contexts;
		paths = contexts_of(&c);
	}
	st_contexts_free(&c);
	return paths;
}
