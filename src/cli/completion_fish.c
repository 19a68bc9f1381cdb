/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of completion/strobe.fish: a function __strobe_PLACEHOLDER for each placeholder that
 * stands for words; $__strobe_valued, COMMAND/OPTION of each option with a value;
 * $__strobe_running, the commands that take a program; and a rule for each option and argument.
 */
#include "cli/completion.h"
#include "cli/values.h"

/* WORD, a tab, and its help, one a line. */
static void
fish_words_function(FILE *out, const struct st_values *v)
{
	struct st_word w;
	bool list = v->kind == ST_VALUE_LIST;
	fprintf(out, "function __strobe_%s\n    ", v->placeholder);
	fprintf(out, list ? "__strobe_behind , (printf '%%s\\t%%s\\n'" : "printf '%%s\\t%%s\\n'");
	for (size_t i = 0; st_values_word(v, i, &w); i++) {
		fprintf(out, " %s ", w.name);
		st_completion_quote(out, w.help ? w.help : "", "\\");
	}
	fprintf(out, "%s\n", list ? ")" : "");
	fprintf(out, "end\n");
}

/* __strobe_tool_options TOOL: its options in the same form. */
static void
fish_options_of_tools(FILE *out)
{
	struct st_word w;
	fprintf(out, "function __strobe_tool_options\n    switch $argv[1]\n");
	for (size_t i = 0; i < ST_TOOL_COUNT; i++) {
		if (!st_tool_option(st_tools[i], 0, &w))
			continue;
		fprintf(out, "        case %s\n            printf '%%s\\t%%s\\n'",
		        st_tools[i]->name);
		for (size_t j = 0; st_tool_option(st_tools[i], j, &w); j++) {
			fprintf(out, " %s ", w.name);
			st_completion_quote(out, w.help, "\\");
		}
		fprintf(out, "\n");
	}
	fprintf(out, "    end\nend\n");
}

static void
valued(FILE *out)
{
	fprintf(out, "set -g __strobe_valued");
	for (size_t i = 0; i < st_n_commands; i++)
		for (size_t j = 0; j < st_commands[i].n_options; j++) {
			const struct st_option *o = &st_commands[i].options[j];
			if (!o->argument)
				continue;
			fprintf(out, " %s/--%s", st_commands[i].name, o->name);
			if (o->letter)
				fprintf(out, " %s/-%c", st_commands[i].name, o->letter);
		}
	fprintf(out, "\nset -g __strobe_running");
	for (size_t i = 0; i < st_n_commands; i++) {
		struct st_values v;
		if (st_command_values(&st_commands[i], &v) && v.kind == ST_VALUE_PROGRAM)
			fprintf(out, " %s", st_commands[i].name);
	}
	fprintf(out, "\n");
}

/* The end of a rule: what may be given. */
static void
fish_action(FILE *out, const struct st_values *v)
{
	struct st_word w;
	if (v->kind == ST_VALUE_FILE)
		fprintf(out, " -rF");
	else if (v->kind == ST_VALUE_PID)
		fprintf(out, " -xa '(__fish_complete_pids)'");
	else if (v->kind == ST_VALUE_PROGRAM)
		fprintf(out, " -xa '(__strobe_complete_program)'");
	else if (v->kind == ST_VALUE_TOOL)
		fprintf(out, " -xka '(__strobe_tool)'");
	else if (v->word)
		fprintf(out, " -xka '(__strobe_%s)'", v->placeholder);
	else if (v->kind == ST_VALUE_WORD) {
		fprintf(out, " -xka '");
		for (size_t i = 0; st_values_word(v, i, &w); i++)
			fprintf(out, "%s%s", i ? " " : "", w.name);
		fprintf(out, "'");
	} else if (v->kind == ST_VALUE_ANY)
		fprintf(out, " -x");
}

/* An option that is not shown has a rule for its value only, which fish reads once it is typed. */
static void
rules(FILE *out, const struct st_command *c)
{
	struct st_values v;
	for (size_t i = 0; i < c->n_options; i++) {
		const struct st_option *o = &c->options[i];
		fprintf(out, "complete -c strobe -n '__strobe_at %s", c->name);
		if (!o->shown)
			fprintf(out, "; and __strobe_typed %s", o->name);
		fprintf(out, "' -l %s", o->name);
		if (o->letter)
			fprintf(out, " -s %c", o->letter);
		fprintf(out, " -d ");
		st_completion_quote(out, o->help, "\\");
		if (o->argument) {
			v = st_values_of(o->argument);
			fish_action(out, &v);
		}
		fprintf(out, "\n");
	}
	if (!st_command_values(c, &v))
		return;
	bool program = v.kind == ST_VALUE_PROGRAM;
	fprintf(out, "complete -c strobe -n '%s %s'", program ? "__strobe_in" : "__strobe_at",
	        c->name);
	fish_action(out, &v);
	fprintf(out, "\n");
}

void
st_completion_fish(FILE *out)
{
	struct st_values v;
	for (size_t i = 0; st_values_known(i, &v); i++)
		if (v.word)
			fish_words_function(out, &v);
	fish_options_of_tools(out);
	valued(out);
	for (size_t i = 0; i < st_n_commands; i++) {
		const struct st_command *c = &st_commands[i];
		fprintf(out, "complete -c strobe -n '__strobe_in' -a %s -d ", c->name);
		st_completion_quote(out, c->help, "\\");
		fprintf(out, "\n");
		rules(out, c);
	}
}
