/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that tools ask for and nobody found. */
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "collect/view.h"
#include "session/region.h"

/* A tool that asks for more names does not expect to find them all. It may be unable to list them
 * in strobe_tool.functions, because it needs the names of all functions for stacks, as locks does.
 */
enum { FEW_ASKED = 4 };

/* The names that one tool has asked for, in any process. */
struct asked_names {
	const char *name[ST_MOST_ASKED];
	size_t n;
	bool found; /* one of them, or it is not known */
};

static void
region_tools_add_name(struct asked_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return;
	if (names->n < ST_MOST_ASKED)
		names->name[names->n++] = name;
}

static void
region_tools_read_process(const struct st_process *process, uint32_t tool,
                          struct asked_names *names)
{
	struct st_view v;
	if (st_view_open(&v, process->results, process->results_size, NULL))
		return;
	names->found |= v.header->tools.asked_more != 0;
	for (uint32_t i = 0; i < v.header->tools.n_asked && i < ST_MOST_ASKED; i++) {
		const struct st_asked *a = &v.header->tools.asked[i];
		if (a->tool != tool)
			continue;
		names->found |= a->found != 0;
		region_tools_add_name(names, st_view_string(&v, a->name));
	}
}

static bool
is_there(const struct st_symbol *s, void *arg)
{
	(void)s;
	*(bool *)arg = true;
	return false;
}

static void
note_name(const struct st_region *r, const char *tool, const char *name, struct st_profile *p)
{
	struct st_nearest_few near = st_region_near(name);
	char question[512];
	bool there = false;
	for (size_t i = 0; i < r->n_opened && !there; i++)
		if (r->opened[i].image)
			ST_IGNORE(st_image_match(r->opened[i].image, name, is_there, &there));
	if (!there && r->scope.n) /* st_region_note_unknown says it of the option that names it */
		return;
	if (!there)
		st_region_try_functions(r, NULL, &near);
	st_profile_note(p,
	                there ? "the tool %s asks for the function %s, but no call of it was seen%s"
	                      : "the tool %s asks for the function %s, but no function of that "
	                        "name was loaded%s",
	                tool, name, st_nearest_question(&near, question, sizeof question));
}

/* The names that a tool without a list asks for. */
static void
region_tools_names(const struct st_region *r, const struct st_run *run, uint32_t i,
                   struct asked_names *names)
{
	const strobe_tool *t = r->tools->about[i];
	for (size_t k = 0; k < run->n_processes && t->function && !t->functions; k++)
		region_tools_read_process(&run->processes[k], i, names);
}

/* Tools that know many functions, which programs may have or not, find some of them missing; a note
 * says that all are. */
void
st_region_note_lists(const struct st_region *r, const struct st_run *run, struct st_profile *p)
{
	for (uint32_t i = 0; i < r->tools->n && r->n_opened; i++) {
		const strobe_tool *t = r->tools->about[i];
		if (t->function && t->functions && !r->matched[i])
			st_profile_note(
			        p,
			        "the tool %s asks for functions, but none of them was loaded: %s",
			        t->name, t->functions);
		struct asked_names names = {0};
		region_tools_names(r, run, i, &names);
		if (names.n > FEW_ASKED && !names.found)
			st_profile_note(
			        p,
			        "the tool %s asks for %s functions, but none of them was loaded: "
			        "%s, %s, and others",
			        t->name, ST_NUMBER(names.n), names.name[0], names.name[1]);
	}
}

void
st_region_note_asked(const struct st_region *r, const struct st_run *run, struct st_profile *p)
{
	for (uint32_t i = 0; i < r->tools->n && r->n_opened; i++) {
		struct asked_names names = {0};
		region_tools_names(r, run, i, &names);
		for (size_t k = 0; k < names.n && names.n <= FEW_ASKED && !names.found; k++)
			note_name(r, r->tools->about[i]->name, names.name[k], p);
	}
}
