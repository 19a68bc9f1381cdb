/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe gc: removes what no profile of the store needs. */
#include "base/number.h"
#include "cli/commands.h"
#include "cli/stored.h"
#include "store/upkeep.h"

enum {
#define O(id, letter, name, argument, shown, help) GC_##id,
	ST_GC_OPTIONS(O)
#undef O
};

struct arguments {
	bool quiet, help;
};

static st_status
parse_gc(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("gc", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == GC_help)
			a->help = true;
		else if (option == GC_quiet)
			a->quiet = true;
		else if (option == ST_OPTIONS_OTHER)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe gc takes no argument, and '%s' is one; strobe rm "
			               "removes profiles",
			               value);
		else
			return -1;
	}
	return 0;
}

static st_status
gc_store(const struct arguments *a, struct st_error *e)
{
	struct st_store s;
	struct st_gc g;
	char before[ST_NUMBER_SIZE], after[ST_NUMBER_SIZE];
	if (st_store_open(&s, e))
		return -1;
	int status = st_gc(&s, &g, e);
	if (!status && !a->quiet)
		printf("removed %s; the store had %s and has %s\n",
		       ST_COUNT(g.objects, "object", "objects"), st_size(before, g.before),
		       st_size(after, g.after));
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

int
st_gc_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int bad = parse_gc(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("gc"), false);
	else if (bad || gc_store(&a, &e))
		return st_complain(&e);
	return ST_EXIT_OK;
}
