/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calling contexts of a profile, for the page: as `strobe paths --format json` writes them. */
#include <stdlib.h>

#include "report/contexts.h"
#include "report/json.h"
#include "report/page.h"

/* A page with more nodes is of no use to a browser. */
enum { MOST_NODES = 100000 };

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

/* nodes: how many there are, also when NULL is returned. */
static json_t *
make(const struct st_profile *p, bool kccf, size_t *nodes)
{
	struct st_contexts c;
	struct st_error e;
	json_t *paths = NULL;
	*nodes = 0;
	if (!st_contexts_make(&c, p, &(struct st_context_choice){.kccf = kccf}, &e)) {
		*nodes = c.n_ksf + c.n_kccf;
		paths = *nodes <= MOST_NODES ? contexts_of(&c) : NULL;
	}
	st_contexts_free(&c);
	return paths;
}

json_t *
st_page_paths(const struct st_profile *p, size_t *left_out)
{
	enum st_context_mode mode;
	uint32_t k;
	size_t nodes = 0;
	*left_out = 0;
	if (!st_contexts_options(p, &mode, &k))
		return NULL;
	json_t *paths = make(p, true, &nodes);
	if (paths)
		return paths;
	*left_out = nodes;
	paths = make(p, false, &nodes);
	if (paths)
		*left_out -= nodes;
	return paths;
}
