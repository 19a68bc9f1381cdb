/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe hooks: hooks of git that store what was measured, and stop a push. */
#include <string.h>

#include "cli/commands.h"
#include "store/hooks.h"

enum {
#define O(id, letter, name, argument, shown, help) HOOKS_##id,
	ST_HOOKS_OPTIONS(O)
#undef O
};

struct arguments {
	const char *verb;
	bool quiet, help;
};

static st_status
parse_hooks(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("hooks", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == HOOKS_help)
			a->help = true;
		else if (option == HOOKS_quiet)
			a->quiet = true;
		else if (option == ST_OPTIONS_OTHER && !a->verb)
			a->verb = value;
		else if (option == ST_OPTIONS_OTHER)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe hooks takes one word; '%s' is one too many", value);
		else
			return -1;
	}
	if (a->help || (a->verb && (!strcmp(a->verb, "install") || !strcmp(a->verb, "remove"))))
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "say what is to be done: strobe hooks install, or strobe hooks remove");
}

static st_status
hooks_do(const struct arguments *a, struct st_error *e)
{
	struct st_hook hooks[ST_HOOKS];
	int status =
	        strcmp(a->verb, "install") ? st_hooks_remove(hooks, e) : st_hooks_install(hooks, e);
	for (int i = 0; i < ST_HOOKS && !status && !a->quiet; i++) {
		if (hooks[i].change == ST_HOOK_WRITTEN)
			printf("wrote %s\n", hooks[i].path);
		else if (hooks[i].change == ST_HOOK_REMOVED)
			printf("removed %s\n", hooks[i].path);
		else
			printf("no %s hook of strobe is there\n", hooks[i].name);
	}
	st_hooks_free(hooks);
	return status ? ST_FAILED : ST_OK;
}

int
st_hooks_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int bad = parse_hooks(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("hooks"), false);
	else if (bad || hooks_do(&a, &e))
		return st_complain(&e);
	return ST_EXIT_OK;
}
