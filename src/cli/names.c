/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "contexts/choice.h"

void
st_names_free(struct st_names *n)
{
	st_patterns_free(&n->under);
	st_patterns_free(&n->calls);
}

/* ---- those that were never called ---- */

static bool
fits_label(const struct st_profile *p, size_t label, const char *pattern)
{
	const struct st_profile_label *l = &p->labels.v[label];
	if (l->image == UINT32_MAX && l->offset < ST_FIRST_PLACE)
		return st_choice_fits(pattern, st_profile_label_name(l));
	return l->function != UINT32_MAX && st_choice_fits_function(pattern, p, l->function);
}

/* The name of the function that a label stands for, NULL: none. */
static const char *
asked_name_of(const struct st_profile *p, size_t label)
{
	const struct st_profile_label *l = &p->labels.v[label];
	if (l->image == UINT32_MAX && l->offset < ST_FIRST_PLACE)
		return st_profile_label_name(l);
	return l->function == UINT32_MAX ? NULL : p->functions.v[l->function].name;
}

static bool
is_known(const struct st_profile *const *profiles, size_t n, const char *pattern)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < profiles[k]->labels.n; i++)
			if (fits_label(profiles[k], i, pattern))
				return true;
	return false;
}

static void
look_near(struct st_nearest_few *near, const struct st_profile *p, bool arguments)
{
	for (size_t i = 0; i < p->labels.n; i++) {
		const char *name = asked_name_of(p, i);
		if (name)
			st_nearest_few_try(near, name,
			                   arguments ? strlen(name) : st_choice_plain(name));
	}
	for (size_t i = 0; i < p->aliases.n; i++) {
		const char *name = p->aliases.v[i].name;
		st_nearest_few_try(near, name, arguments ? strlen(name) : st_choice_plain(name));
	}
}

static const char *
question(const struct st_profile *const *profiles, size_t n, const char *pattern, char *text,
         size_t size)
{
	struct st_nearest_few near = st_nearest_few_to(pattern);
	for (size_t i = 0; i < n && !strpbrk(pattern, "*?["); i++)
		look_near(&near, profiles[i], strchr(pattern, '(') != NULL);
	return st_nearest_question(&near, text, size);
}

static st_status
check_asked(const struct st_patterns *patterns, const char *option,
            const struct st_profile *const *profiles, size_t n,
            void (*say)(FILE *out, const char *sentence), FILE *out, struct st_error *e)
{
	bool any = false;
	char text[512];
	for (size_t i = 0; i < patterns->n; i++)
		any |= is_known(profiles, n, patterns->text[i]);
	for (size_t i = 0; i < patterns->n; i++) {
		if (is_known(profiles, n, patterns->text[i]))
			continue;
		st_cause(e, ST_EXIT_USAGE, "--%s %s: no function of that name was called%s", option,
		         patterns->text[i],
		         question(profiles, n, patterns->text[i], text, sizeof text));
		if (!any)
			return -1;
		say(out, e->text);
	}
	return 0;
}

st_status
st_names_unknown(const struct st_names *n, const struct st_profile *const *profiles,
                 size_t n_profiles, void (*say)(FILE *out, const char *sentence), FILE *out,
                 struct st_error *e)
{
	size_t labels = 0;
	for (size_t i = 0; i < n_profiles; i++)
		labels += profiles[i]->labels.n;
	if (!labels)
		return 0;
	return check_asked(&n->under, "under", profiles, n_profiles, say, out, e) ||
	                       check_asked(&n->calls, "calls", profiles, n_profiles, say, out, e)
	               ? -1
	               : 0;
}

void
st_names_say(FILE *out, const char *sentence)
{
	fprintf(out, "strobe: %s\n", sentence);
}
