/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe backfill: today's job on earlier versions. */
#include <string.h>

#include "cli/commands.h"
#include "cli/job.h"
#include "cli/stored.h"

enum {
#define O(id, letter, name, argument, shown, help) BACKFILL_##id,
	ST_BACKFILL_OPTIONS(O)
#undef O
};

static st_status
apply_backfill_option(struct st_job_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		if (a->options.range)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe backfill takes one range of versions; '%s' is one "
			               "too many",
			               value);
		a->options.range = value;
		return ST_OK;
	case BACKFILL_file:
		a->file = value;
		return ST_OK;
	case BACKFILL_all:
		a->options.only_missing = false;
		return ST_OK;
	case BACKFILL_restart:
		a->options.restart = true;
		return ST_OK;
	case BACKFILL_format:
		return st_stored_format(value, &a->json, e);
	case BACKFILL_quiet:
		a->quiet = true;
		return ST_OK;
	case BACKFILL_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

int
st_backfill_main(char *const *argv)
{
	struct st_options o = st_command_options("backfill", argv);
	struct st_job_arguments a = {.options.only_missing = true};
	struct st_error e;
	const char *value;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;)
		if (apply_backfill_option(&a, option, value, &e))
			return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("backfill"), false);
		return ST_EXIT_OK;
	}
	if (!a.options.range) {
		st_cause(&e, ST_EXIT_USAGE,
		         "no versions to measure: strobe backfill v1..HEAD, for example");
		return st_complain(&e);
	}
	return st_job_command(&a);
}
