/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of completion/strobe.bash. _strobe_commands, _strobe_options COMMAND and
 * _strobe_tool_options TOOL set words. _strobe_value COMMAND OPTION sets kind and words, and fails
 * when the option takes no value; an empty OPTION is the command's own argument.
 */
#include "cli/completion.h"
#include "cli/values.h"

static void
bash_words(FILE *out, const struct st_values *v)
{
	struct st_word w;
	fprintf(out, " words=(");
	for (size_t i = 0; st_values_word(v, i, &w); i++)
		fprintf(out, "%s%s", i ? " " : "", w.name);
	fprintf(out, ")");
}

static void
value(FILE *out, const struct st_values *v)
{
	static const char *const kinds[] = {
	        [ST_VALUE_ANY] = "any",        [ST_VALUE_WORD] = "words", [ST_VALUE_LIST] = "list",
	        [ST_VALUE_TOOL] = "tool",      [ST_VALUE_FILE] = "file",  [ST_VALUE_PID] = "pid",
	        [ST_VALUE_PROGRAM] = "program"};
	fprintf(out, ") kind=%s", kinds[v->kind]);
	bash_words(out, v);
	fprintf(out, " ;;\n");
}

static void
values_of_command(FILE *out, const struct st_command *c)
{
	struct st_values v;
	for (size_t i = 0; i < c->n_options; i++) {
		const struct st_option *o = &c->options[i];
		if (!o->argument)
			continue;
		v = st_values_of(o->argument);
		fprintf(out, "\t%s/--%s", c->name, o->name);
		if (o->letter)
			fprintf(out, " | %s/-%c", c->name, o->letter);
		value(out, &v);
	}
	if (st_command_values(c, &v)) {
		fprintf(out, "\t%s/", c->name);
		value(out, &v);
	}
}

static void
options_of_command(FILE *out, const struct st_command *c)
{
	fprintf(out, "\t%s) words=(", c->name);
	for (size_t i = 0; i < c->n_options; i++)
		if (c->options[i].shown)
			fprintf(out, " --%s", c->options[i].name);
	fprintf(out, " ) ;;\n");
}

static void
options_of_tool(FILE *out, const strobe_tool *tool)
{
	struct st_word w;
	fprintf(out, "\t%s) words=(", tool->name);
	for (size_t i = 0; st_tool_option(tool, i, &w); i++)
		fprintf(out, " %s", w.name);
	fprintf(out, " ) ;;\n");
}

void
st_completion_bash(FILE *out)
{
	fprintf(out, "_strobe_commands() {\n\twords=(");
	for (size_t i = 0; i < st_n_commands; i++)
		fprintf(out, " %s", st_commands[i].name);
	fprintf(out, " )\n}\n\n_strobe_options() {\n\tcase $1 in\n");
	for (size_t i = 0; i < st_n_commands; i++)
		options_of_command(out, &st_commands[i]);
	fprintf(out, "\t*) return 1 ;;\n\tesac\n}\n\n_strobe_value() {\n\tcase $1/$2 in\n");
	for (size_t i = 0; i < st_n_commands; i++)
		values_of_command(out, &st_commands[i]);
	fprintf(out, "\t*) return 1 ;;\n\tesac\n}\n\n_strobe_tool_options() {\n\tcase $1 in\n");
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		options_of_tool(out, st_tools[i]);
	fprintf(out, "\t*) return 1 ;;\n\tesac\n}\n");
}
