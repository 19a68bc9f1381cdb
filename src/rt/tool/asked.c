/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions that tools ask for, so that it can be said which of them were not found. */
#include "rt/tool/tool.h"

/* The tools' own texts, by index in the results: the same few over and over. */
static const char *texts_asked[ST_MOST_ASKED];

static struct st_asked *
find_or_add(const char *name)
{
	struct st_results_header *r = rt.results;
	uint32_t tool = tool_current();
	for (uint32_t i = 0; i < r->tools.n_asked; i++)
		if (texts_asked[i] == name && r->tools.asked[i].tool == tool)
			return &r->tools.asked[i];
	if (r->tools.n_asked == ST_MOST_ASKED) {
		r->tools.asked_more = 1;
		return NULL;
	}
	struct st_asked *a = &r->tools.asked[r->tools.n_asked];
	*a = (struct st_asked){.name = text_add(name), .tool = tool};
	texts_asked[r->tools.n_asked++] = name;
	return a;
}

void
asked_note(const char *name, bool found)
{
	struct st_asked *a = find_or_add(name);
	if (a && found)
		a->found = 1;
}
