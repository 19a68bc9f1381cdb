/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe run: launch, wait, collect, save, print. Strobe speaks on standard error; standard output
 * is the program's. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/measure.h"

enum {
#define O(id, letter, name, argument, shown, help) RUN_##id,
	ST_RUN_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_measure measure;
	bool help;
};

/* Applies one option. 0, or -1 with *e. */
static st_status
apply_run_option(struct arguments *a, const struct st_options *o, int option, const char *value,
                 struct st_error *e)
{
	switch (option) {
	case RUN_follow:
		a->measure.session.follow = true;
		return 0;
	case RUN_for:
		return st_region_time(&a->measure.session.region.length, "for", value, e);
	case RUN_help:
		a->help = true;
		return 0;
	case ST_OPTIONS_BAD:
		return -1; /* *e is filled */
	default:
		return st_measure_option(&a->measure, o->options[option].name, value, e);
	}
}

/* The options end where the program begins, so that the program's own are left alone. */
static st_status
parse_run(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("run", argv);
	const char *value;
	*a = (struct arguments){.measure = ST_MEASURE_DEFAULT};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			struct st_session *s = &a->measure.session;
			s->program = argv + o.at - 1;
			s->output.name = s->program[0];
			return s->tools.n ? 0 : st_toolset_add(&s->tools, "hot", e);
		}
		if (apply_run_option(a, &o, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return st_fail(e, ST_EXIT_USAGE, "no program to run: strobe run [options] -- PROGRAM");
}

int
st_run_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse_run(&a, argv, &e))
		code = st_complain_running(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("run"), false);
	else {
		st_result_guess_format(&a.measure.session.output);
		code = st_measure_program(&a.measure, argv);
	}
	st_measure_free(&a.measure);
	return code;
}
