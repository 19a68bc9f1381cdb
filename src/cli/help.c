/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe help, strobe version, and completions: all made from the lists in commands.h. */
#include <string.h>

#include "cli/commands.h"
#include "profile/version.h"

enum {
#define O(id, letter, name, argument, shown, help) HELP_##id,
	ST_HELP_OPTIONS(O)
#undef O
};

static void
overview(FILE *out)
{
	fprintf(out, "usage: strobe COMMAND [options]\n\n"
	             "Strobe shows what a native Linux program does with its time.\n\n");
	for (size_t i = 0; i < st_n_commands; i++)
		fprintf(out, "  %-12s%s\n", st_commands[i].name, st_commands[i].help);
	fprintf(out, "\nTry: strobe run -- PROGRAM, then strobe help run, man strobe.\n");
}

static void
complete_command(FILE *out, const struct st_command *c)
{
	fprintf(out, "\t%s) words=\"", c->name);
	for (size_t i = 0; i < c->n_options; i++)
		if (c->options[i].shown)
			fprintf(out, "%s--%s", i ? " " : "", c->options[i].name);
	fprintf(out, "\" ;;\n");
}

/* After the options of run comes a program, for which bash knows how to complete itself. */
static void
complete_bash(FILE *out)
{
	fprintf(out, "_strobe() {\n"
	             "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n"
	             "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W \"");
	for (size_t i = 0; i < st_n_commands; i++)
		fprintf(out, "%s%s", i ? " " : "", st_commands[i].name);
	fprintf(out, "\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < st_n_commands; i++)
		complete_command(out, &st_commands[i]);
	fprintf(out, "\tesac\n"
	             "\tif [[ $cur == -* ]]; then\n"
	             "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	             "\telif [[ ${COMP_WORDS[1]} == run ]]; then\n"
	             "\t\tCOMPREPLY=($(compgen -A command -A file -- \"$cur\"))\n"
	             "\telse\n"
	             "\t\tCOMPREPLY=($(compgen -A file -- \"$cur\"))\n"
	             "\tfi\n"
	             "}\n"
	             "complete -o filenames -F _strobe strobe\n");
}

static int
help_of(const char *name)
{
	const struct st_command *command = st_command_find(name);
	struct st_error e;
	if (!command) {
		st_fail(&e, ST_EXIT_USAGE, "no command '%s' to explain; strobe help lists them",
		        name);
		return st_complain(&e);
	}
	st_command_help(stdout, command, true);
	return ST_EXIT_OK;
}

int
st_help_main(char *const *argv)
{
	struct st_options o = st_command_options("help", argv);
	struct st_error e;
	const char *value, *command = NULL;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;) {
		switch (option) {
		case HELP_help:
			command = "help";
			break;
		case HELP_completion:
			if (strcmp(value, "bash")) {
				st_fail(&e, ST_EXIT_USAGE, "no completions for '%s', only for bash",
				        value);
				return st_complain(&e);
			}
			complete_bash(stdout);
			return ST_EXIT_OK;
		case ST_OPTIONS_OTHER:
			command = value;
			break;
		default:
			return st_complain(&e);
		}
	}
	if (command)
		return help_of(command);
	overview(stdout);
	return ST_EXIT_OK;
}

int
st_version_main(char *const *argv)
{
	struct st_options o = st_command_options("version", argv);
	struct st_error e;
	const char *value;
	int option = st_options_next(&o, &value, &e);
	if (option >= 0)
		return help_of("version");
	if (option == ST_OPTIONS_OTHER)
		st_fail(&e, ST_EXIT_USAGE, "strobe version takes no argument '%s'", value);
	if (option != ST_OPTIONS_END)
		return st_complain(&e);
	printf("strobe %s\n", ST_VERSION);
	return ST_EXIT_OK;
}
