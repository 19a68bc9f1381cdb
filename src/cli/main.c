/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/commands.h"

static const char *
command_name(const void *commands, size_t i)
{
	return ((const struct st_command *)commands)[i].name;
}

static int
unknown_command(const char *name)
{
	struct st_error e;
	const char *near = st_nearest(name, st_n_commands, command_name, st_commands);
	if (near)
		st_fail(&e, ST_EXIT_USAGE, "unknown command '%s'; did you mean 'strobe %s'?", name,
		        near);
	else
		st_fail(&e, ST_EXIT_USAGE,
		        "unknown command '%s'; strobe help lists the commands, strobe run runs a "
		        "program",
		        name);
	return st_complain(&e);
}

int
main(int argc, char **argv)
{
	static char *const none[] = {NULL};
	if (argc < 2) {
		st_help_main(none);
		return ST_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return st_help_main(none);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return st_version_main(none);
	const struct st_command *command = st_command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->main(argv + 2);
}
