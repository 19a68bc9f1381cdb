/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of a run and the options that they were given. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static uint32_t
find_tool(const struct st_profile_run *run, const char *tool)
{
	for (size_t i = 0; i < run->tools.n; i++)
		if (!strcmp(run->tools.v[i], tool))
			return (uint32_t)i;
	return UINT32_MAX;
}

bool
st_profile_has_tool(const struct st_profile *p, const char *tool)
{
	return find_tool(&p->run, tool) != UINT32_MAX;
}

const char *
st_profile_option(const struct st_profile *p, const char *tool, const char *name)
{
	const struct st_profile_run *run = &p->run;
	uint32_t index = find_tool(run, tool);
	const char *value = NULL; /* the last one counts, as in the run */
	for (size_t i = 0; i < run->tool_options.n && index != UINT32_MAX; i++) {
		const struct st_profile_option *o = &run->tool_options.v[i];
		if (o->tool == index && !strcmp(o->name, name))
			value = o->value;
	}
	return value;
}

void
st_profile_add_tool(struct st_profile *p, const char *tool)
{
	const char **slot = ST_PUSH(&p->run.tools);
	if (slot)
		*slot = st_profile_text(p, tool);
	else
		p->out_of_memory = true;
}

void
st_profile_add_option(struct st_profile *p, uint32_t tool, const char *name, const char *value)
{
	struct st_profile_option *slot = ST_PUSH(&p->run.tool_options);
	if (slot)
		*slot = (struct st_profile_option){tool, st_profile_text(p, name),
		                                   st_profile_text(p, value)};
	else
		p->out_of_memory = true;
}

/* "TOOL", "TOOL:OPTION", or a further option of a tool that has one. */
static void
tools_add_word(struct st_profile *p, char *word)
{
	char *colon = strchr(word, ':'), *equals = strchr(word, '=');
	bool named = colon && (!equals || colon < equals), listed = p->run.tool_options.n > 0;
	char *option = named ? colon + 1 : listed ? word : NULL;
	if (named)
		*colon = '\0';
	if (!option || named)
		st_profile_add_tool(p, word);
	equals = option ? strchr(option, '=') : NULL;
	if (equals)
		*equals = '\0';
	if (option && *option)
		st_profile_add_option(p, (uint32_t)p->run.tools.n - 1, option,
		                      equals ? equals + 1 : "1");
}

void
st_profile_tools_of_text(struct st_profile *p)
{
	char *rest = NULL, *copy = strdup(p->run.tool);
	for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word;
	     word = strtok_r(NULL, ",", &rest))
		tools_add_word(p, word);
	p->out_of_memory |= !copy;
	free(copy);
}
