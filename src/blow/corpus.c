/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/corpus.h"

#include <string.h>

#include "session/region.h"
#include "trace/choose.h"

double
st_blow_mean(const struct st_blow_function *f)
{
	return f->calls ? (double)f->ns / (double)f->calls : 0;
}

static bool
meets_one(const struct st_blow_function *f, const struct st_blow_criteria *c)
{
	return c->all || f->calls >= c->calls || st_blow_mean(f) >= (double)c->ns;
}

bool
st_blow_is_progress(const char *name, const char *raw_name, const struct st_patterns *progress)
{
	const struct st_function named = {.name = name};
	for (size_t i = 0; progress && i < progress->n; i++)
		if (!strcmp(progress->text[i], raw_name) ||
		    st_trace_fits_name(&named, progress->text[i]))
			return true;
	return false;
}

size_t
st_blow_choose(struct st_blow *b, const struct st_blow_criteria *criteria)
{
	size_t n = 0;
	for (size_t i = 0; i < b->functions.n; i++) {
		struct st_blow_function *f = &b->functions.v[i];
		f->progress =
		        !f->why && st_blow_is_progress(f->name, f->raw_name, criteria->progress);
		f->chosen = !f->why && !f->progress && f->calls && meets_one(f, criteria);
		n += f->chosen;
	}
	return n;
}
