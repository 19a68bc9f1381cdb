/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions that are asked for and were never called. */
#include <string.h>

#include "base/nearest.h"
#include "cli/paths.h"

/* The name of the function that a label stands for, NULL: none. */
static const char *
name_of(const struct st_profile *p, size_t label)
{
	const struct st_profile_label *l = &p->labels.v[label];
	if (l->image == UINT32_MAX && l->offset < ST_FIRST_PLACE)
		return st_profile_label_name(l);
	return l->function == UINT32_MAX ? NULL : p->functions.v[l->function].name;
}

static bool
is_known(const struct st_profile *p, const char *pattern)
{
	for (size_t i = 0; i < p->labels.n; i++) {
		const char *name = name_of(p, i);
		if (name && st_choice_fits(pattern, name))
			return true;
	}
	return false;
}

static const char *
question(const struct st_profile *p, const char *pattern, char *text, size_t size)
{
	struct st_nearest_few near = st_nearest_few_to(pattern);
	bool arguments = strchr(pattern, '(') != NULL;
	for (size_t i = 0; i < p->labels.n && !strpbrk(pattern, "*?["); i++) {
		const char *name = name_of(p, i);
		if (name)
			st_nearest_few_try(&near, name,
			                   arguments ? strlen(name) : st_choice_plain(name));
	}
	return st_nearest_question(&near, text, size);
}

static int
check(const struct st_patterns *patterns, const char *option, const struct st_profile *p,
      void (*say)(FILE *out, const char *sentence), FILE *out, struct st_error *e)
{
	bool known[ST_MOST_PATTERNS], any = false;
	char text[512];
	for (size_t i = 0; i < patterns->n; i++)
		any |= known[i] = is_known(p, patterns->text[i]);
	for (size_t i = 0; i < patterns->n; i++) {
		if (known[i])
			continue;
		st_fail(e, ST_EXIT_USAGE, "--%s %s: no function of that name was called%s", option,
		        patterns->text[i], question(p, patterns->text[i], text, sizeof text));
		if (!any)
			return -1;
		say(out, e->text);
	}
	return 0;
}

int
st_paths_unknown(const struct st_paths *a, const struct st_profile *p,
                 void (*say)(FILE *out, const char *sentence), FILE *out, struct st_error *e)
{
	if (!p->labels.n)
		return 0;
	return check(&a->under, "under", p, say, out, e) ||
	                       check(&a->calls, "calls", p, say, out, e)
	               ? -1
	               : 0;
}
