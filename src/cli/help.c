/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe help and strobe version: made from the lists in commands.h. */
#include "cli/commands.h"
#include "cli/completion.h"
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

static int
help_of(const char *name)
{
	const struct st_command *command = st_command_find(name);
	struct st_error e;
	if (!command) {
		const char *near = st_command_nearest(name);
		if (near)
			st_cause(&e, ST_EXIT_USAGE,
			         "no command '%s' to explain; did you mean 'strobe help %s'?", name,
			         near);
		else
			st_cause(&e, ST_EXIT_USAGE,
			         "no command '%s' to explain; strobe help lists them", name);
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
	const char *value, *command = NULL, *name = NULL;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;) {
		switch (option) {
		case HELP_help:
			command = "help";
			break;
		case HELP_completion:
			return st_completion_print(stdout, value, &e) ? st_complain(&e)
			                                              : ST_EXIT_OK;
		case ST_OPTIONS_OTHER:
			if (name) {
				st_cause(&e, ST_EXIT_USAGE,
				         "strobe help explains one command; '%s' is one too many",
				         value);
				return st_complain(&e);
			}
			command = name = value;
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
		st_cause(&e, ST_EXIT_USAGE, "strobe version takes no argument '%s'", value);
	if (option != ST_OPTIONS_END)
		return st_complain(&e);
	printf("strobe %s\n", ST_VERSION);
	return ST_EXIT_OK;
}
