/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe init: makes the store of a project. */
#include "cli/commands.h"
#include "store/store.h"

enum {
#define O(id, letter, name, argument, shown, help) INIT_##id,
	ST_INIT_OPTIONS(O)
#undef O
};

struct arguments {
	bool quiet, help;
};

static st_status
parse_init(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("init", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == INIT_help)
			a->help = true;
		else if (option == INIT_quiet)
			a->quiet = true;
		else if (option == ST_OPTIONS_OTHER)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe init takes no argument, and '%s' is one: change to "
			               "the folder of your project first",
			               value);
		else
			return -1;
	}
	return 0;
}

int
st_init_main(char *const *argv)
{
	struct arguments a;
	struct st_store s;
	struct st_error e;
	bool made = false;
	if (parse_init(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("init"), false);
		return ST_EXIT_OK;
	}
	if (st_store_create(&s, &made, &e))
		return st_complain(&e);
	if (!a.quiet)
		printf("%s %s, with the versions of %s\n",
		       made ? "made the store" : "the store is there:", s.place,
		       strcmp(s.vcs->kind->name, "git") ? "a counter" : "git");
	st_store_close(&s);
	return ST_EXIT_OK;
}
