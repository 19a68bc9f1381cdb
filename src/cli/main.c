/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/commands.h"
#include "cli/ownstack.h"
#include "cli/truncated.h"
#include "profile/output.h"

static int
unknown_command(const char *name)
{
	struct st_error e;
	const char *near = st_command_nearest(name);
	if (near)
		st_cause(&e, ST_EXIT_USAGE, "unknown command '%s'; did you mean 'strobe %s'?", name,
		         near);
	else
		st_cause(&e, ST_EXIT_USAGE,
		         "unknown command '%s'; strobe help lists the commands, strobe run runs a "
		         "program",
		         name);
	return st_complain(&e);
}

static int
run_command(int argc, char **argv)
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

/* A command that succeeded has failed after all when what it printed did not arrive. */
static int
flush_output(int code)
{
	struct st_error e;
	return !st_output_flush(&e) || code != ST_EXIT_OK ? code : st_complain(&e);
}

int
main(int argc, char **argv)
{
	st_survive_truncation();
	return flush_output(st_on_own_stack(run_command, argc, argv));
}
