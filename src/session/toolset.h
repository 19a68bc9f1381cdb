/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools that a run was asked for: -t NAME:option=value,... once or more. */
#ifndef STROBE_SESSION_TOOLSET_H
#define STROBE_SESSION_TOOLSET_H

#include <stdbool.h>

#include "base/error.h"
#include "control/run.h"
#include "profile/profile.h"
#include "toolkit/toolfile.h"
#include "tools/tools.h"

/* An option of a tool. */
struct st_tool_setting {
	const char *name;
	const char *value; /* NULL: "1" */
};

struct st_toolset {
	struct st_run_tool tools[ST_MAX_TOOLS]; /* what they point to is the set's */
	const strobe_tool *about[ST_MAX_TOOLS];
	size_t n;
	struct st_tool_file *files[ST_MAX_TOOLS]; /* of those that come from one */
	ST_VEC(struct st_profile_option) options; /* of all; the texts are the set's */
	char *text; /* all of them, for the record: "branches,calls:args=1" */
};

/* Adds a tool, by its name or file, with n options. 0, or -1 with *e. */
st_status st_toolset_use(struct st_toolset *set, const char *tool,
                         const struct st_tool_setting *settings, size_t n, struct st_error *e);
/* The same for all tools of `spec`, the argument of -t: "hot,calls:args=1". */
st_status st_toolset_add(struct st_toolset *set, const char *spec, struct st_error *e);
void st_toolset_free(struct st_toolset *set);

/* The most that one of them asks for. */
uint32_t st_toolset_sample_hz(const struct st_toolset *set);
bool st_toolset_takes_waits(const struct st_toolset *set);
bool st_toolset_keeps_blocks(const struct st_toolset *set);

/* Whether a table of theirs has such keys. */
bool st_toolset_shows(const struct st_toolset *set, enum st_shape_of_value shape);

/* The counters that the tools declare, malloc'ed; *n of them. NULL: none, or no memory. */
struct st_profile_declared *st_toolset_counters(const struct st_toolset *set, size_t *n);

/* Adds a note to the profile for each tool that failed in a process of the run. */
void st_toolset_note_failures(const struct st_toolset *set, const struct st_run *run,
                              struct st_profile *p);

/* Is it the value of an option that is a number: decimal digits, perhaps with k, M or G behind
 * them? *number is then as strobe_option_number reads it. */
bool st_tool_number(const char *text, uint64_t *number);

#endif
