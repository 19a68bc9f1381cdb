/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/values.h"

#include <string.h>

#include "check/check.h"
#include "cli/completion.h"
#include "model/growth.h"
#include "report/contexts_diff.h"
#include "report/report.h"
#include "session/region.h"
#include "wire/plan.h"

static bool
set_word(struct st_word *w, const char *name, size_t length, const char *help)
{
	snprintf(w->name, sizeof w->name, "%.*s", (int)length, name);
	w->help = help;
	return true;
}

static bool
tool_word(size_t i, struct st_word *w)
{
	return i < ST_TOOL_COUNT &&
	       set_word(w, st_tools[i]->name, strlen(st_tools[i]->name), st_tools[i]->help);
}

static bool
command_word(size_t i, struct st_word *w)
{
	return i < st_n_commands &&
	       set_word(w, st_commands[i].name, strlen(st_commands[i].name), st_commands[i].help);
}

static bool
shell_word(size_t i, struct st_word *w)
{
	const char *name = st_completion_shell(i);
	return name && set_word(w, name, strlen(name), NULL);
}

static bool
sort_word(size_t i, struct st_word *w)
{
	static const char *const keys[] = {
#define ST_SORT(id, name) name,
	        ST_SORTS(ST_SORT)
#undef ST_SORT
	};
	return i < sizeof keys / sizeof *keys && set_word(w, keys[i], strlen(keys[i]), NULL);
}

static bool
metric_word(size_t i, struct st_word *w)
{
	static const char *const names[] = {
#define M(id, word, field, total, title) word,
	        ST_DIFF_METRICS(M)
#undef M
	};
	return i < sizeof names / sizeof *names && set_word(w, names[i], strlen(names[i]), NULL);
}

static bool
signal_word(size_t i, struct st_word *w)
{
	static const char *const names[] = {
#define S(signal) #signal,
	        ST_TOGGLE_SIGNALS(S)
#undef S
	};
	return i < sizeof names / sizeof *names && set_word(w, names[i], strlen(names[i]), NULL);
}

static bool
stress_word(size_t i, struct st_word *w)
{
	static const struct st_word modes[] = {
#define ST_STRESS(name, bit, text) {#name, text},
	        ST_STRESSES(ST_STRESS)
#undef ST_STRESS
	};
	if (i >= sizeof modes / sizeof *modes)
		return false;
	*w = modes[i];
	return true;
}

static bool
kind_word(size_t i, struct st_word *w)
{
	static const char *const names[] = {
#define K(id, name, parameters, formula) name,
	        ST_GROWTHS(K)
#undef K
	};
	return i < sizeof names / sizeof *names && set_word(w, names[i], strlen(names[i]), NULL);
}

static bool
method_word(size_t i, struct st_word *w)
{
	static const struct st_word methods[] = {
#define M(id, name, help) {name, help},
	        ST_CHECK_METHODS(M)
#undef M
	};
	if (i >= sizeof methods / sizeof *methods)
		return false;
	*w = methods[i];
	return true;
}

static const struct st_values known[] = {
        {"TOOL", ST_VALUE_TOOL, tool_word},      {"COMMAND", ST_VALUE_WORD, command_word},
        {"SHELL", ST_VALUE_WORD, shell_word},    {"KEY", ST_VALUE_WORD, sort_word},
        {"METRIC", ST_VALUE_WORD, metric_word},  {"SIGNAL", ST_VALUE_WORD, signal_word},
        {"MODES", ST_VALUE_LIST, stress_word},   {"FILE", ST_VALUE_FILE, NULL},
        {"DIRECTORY", ST_VALUE_FILE, NULL},      {"PID", ST_VALUE_PID, NULL},
        {"PROGRAM", ST_VALUE_PROGRAM, NULL},     {"KINDS", ST_VALUE_LIST, kind_word},
        {"METHODS", ST_VALUE_LIST, method_word},
};

enum { N_KNOWN = sizeof known / sizeof *known };

bool
st_values_known(size_t i, struct st_values *v)
{
	if (i < N_KNOWN)
		*v = known[i];
	return i < N_KNOWN;
}

struct st_values
st_values_of(const char *placeholder)
{
	for (size_t i = 0; i < N_KNOWN; i++)
		if (!strcmp(known[i].placeholder, placeholder))
			return known[i];
	bool words = strchr(placeholder, '|') != NULL;
	return (struct st_values){.placeholder = placeholder,
	                          .kind = words ? ST_VALUE_WORD : ST_VALUE_ANY};
}

bool
st_values_word(const struct st_values *v, size_t i, struct st_word *w)
{
	if (v->word)
		return v->word(i, w);
	const char *at = strchr(v->placeholder, '|') ? v->placeholder : NULL;
	for (; at && i; i--) {
		at = strchr(at, '|');
		at += at != NULL;
	}
	return at && set_word(w, at, strcspn(at, "|"), NULL);
}

bool
st_tool_option(const strobe_tool *tool, size_t i, struct st_word *w)
{
	if (i >= STROBE_MOST_OPTIONS || !tool->options[i].name)
		return false;
	snprintf(w->name, sizeof w->name, "%s=", tool->options[i].name);
	w->help = tool->options[i].help;
	return true;
}

/* The first word of capitals that the usage line has: "[options] [--] PROGRAM [ARGUMENT...]". */
bool
st_command_values(const struct st_command *command, struct st_values *v)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *at = strpbrk(command->usage, capitals);
	if (!at)
		return false;
	size_t length = strspn(at, capitals);
	for (size_t i = 0; i < N_KNOWN; i++)
		if (strlen(known[i].placeholder) == length &&
		    !strncmp(known[i].placeholder, at, length)) {
			*v = known[i];
			return true;
		}
	*v = (struct st_values){.placeholder = "argument", .kind = ST_VALUE_FILE};
	return true;
}
