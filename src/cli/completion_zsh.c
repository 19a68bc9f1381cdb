/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of completion/strobe.zsh: a function _strobe_PLACEHOLDER for each placeholder that
 * stands for words, and _strobe_specs COMMAND, which sets specs, the arguments of _arguments.
 */
#include <string.h>

#include "cli/completion.h"
#include "cli/values.h"

/* name, or 'name:help' */
static void
zsh_words(FILE *out, const struct st_values *v, const char *between, const char *after)
{
	struct st_word w;
	for (size_t i = 0; st_values_word(v, i, &w); i++) {
		fprintf(out, " %s", w.name);
		if (!w.help)
			continue;
		fprintf(out, "%s", between);
		st_completion_quote(out, w.help, "\\:[]");
		fprintf(out, "%s", after);
	}
}

static void
zsh_words_function(FILE *out, const struct st_values *v)
{
	fprintf(out, "_strobe_%s() {\n", v->placeholder);
	if (v->kind == ST_VALUE_LIST) {
		fprintf(out, "\t_values -s , %s", v->placeholder);
		zsh_words(out, v, "\\[", "\\]");
		fprintf(out, "\n}\n\n");
		return;
	}
	fprintf(out, "\tlocal -a words_of=(");
	zsh_words(out, v, ":", "");
	fprintf(out, " )\n\t_describe -t values %s words_of \"$@\"\n", v->placeholder);
	fprintf(out, "}\n\n");
}

/* _strobe_tool_options TOOL, which sets words_of; fails when there is no such tool. */
static void
zsh_options_of_tools(FILE *out)
{
	struct st_word w;
	fprintf(out, "_strobe_tool_options() {\n\tcase $1 in\n");
	for (size_t i = 0; i < ST_TOOL_COUNT; i++) {
		fprintf(out, "\t%s) words_of=(", st_tools[i]->name);
		for (size_t j = 0; st_tool_option(st_tools[i], j, &w); j++) {
			fprintf(out, " %s:", w.name);
			st_completion_quote(out, w.help, "\\:");
		}
		fprintf(out, " ) ;;\n");
	}
	fprintf(out, "\t*) return 1 ;;\n\tesac\n}\n\n");
}

/* The words of a placeholder that lists them itself stand in the specification. */
static void
zsh_action(FILE *out, const struct st_values *v)
{
	struct st_word w;
	if (v->kind == ST_VALUE_FILE)
		fprintf(out, "_files");
	else if (v->kind == ST_VALUE_PID)
		fprintf(out, "_strobe_pids");
	else if (v->kind == ST_VALUE_TOOL)
		fprintf(out, "_strobe_tool");
	else if (v->word)
		fprintf(out, "_strobe_%s", v->placeholder);
	else if (v->kind == ST_VALUE_WORD) {
		fprintf(out, "(");
		for (size_t i = 0; st_values_word(v, i, &w); i++)
			fprintf(out, "%s%s", i ? " " : "", w.name);
		fprintf(out, ")");
	}
}

/* '(-t --tool)'{-t+,--tool=}'[help]:TOOL:_strobe_TOOL'; the ! of one that is not shown hides it. */
static void
option(FILE *out, const struct st_option *o)
{
	struct st_values v = st_values_of(o->argument ? o->argument : "");
	const char *hide = o->shown ? "" : "!", *more = o->argument ? "=" : "";
	fprintf(out, "\t\t'%s", hide);
	if (v.kind == ST_VALUE_TOOL)
		fprintf(out, "*");
	else if (o->letter)
		fprintf(out, "(-%c --%s)", o->letter, o->name);
	if (o->letter)
		fprintf(out, "'{-%c%s,--%s%s}", o->letter, o->argument ? "+" : "", o->name, more);
	else
		fprintf(out, "--%s%s'", o->name, more);
	char help[256];
	snprintf(help, sizeof help, "[%s]", o->help);
	st_completion_quote(out, help, "\\");
	if (o->argument) {
		fprintf(out, "':%s:", o->argument);
		zsh_action(out, &v);
		fprintf(out, "'");
	}
	fprintf(out, "\n");
}

static void
specs(FILE *out, const struct st_command *c)
{
	struct st_values v;
	fprintf(out, "\t%s) specs=(\n", c->name);
	for (size_t i = 0; i < c->n_options; i++)
		option(out, &c->options[i]);
	if (st_command_values(c, &v) && v.kind == ST_VALUE_PROGRAM)
		fprintf(out, "\t\t'(-)1: :_strobe_program'\n\t\t'*:: :_strobe_arguments'\n");
	else if (st_command_values(c, &v)) {
		fprintf(out, "\t\t'*:%s:", v.placeholder);
		zsh_action(out, &v);
		fprintf(out, "'\n");
	}
	fprintf(out, "\t\t) ;;\n");
}

void
st_completion_zsh(FILE *out)
{
	struct st_values v;
	for (size_t i = 0; st_values_known(i, &v); i++)
		if (v.word)
			zsh_words_function(out, &v);
	zsh_options_of_tools(out);
	fprintf(out, "_strobe_specs() {\n\tcase $1 in\n");
	for (size_t i = 0; i < st_n_commands; i++)
		specs(out, &st_commands[i]);
	fprintf(out, "\t*) return 1 ;;\n\tesac\n}\n");
}
