/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe rm: removes profiles from the store. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/stored.h"

enum {
#define O(id, letter, name, argument, shown, help) RM_##id,
	ST_RM_OPTIONS(O)
#undef O
};

struct arguments {
	ST_VEC(const char *) names;
	bool quiet, help;
};

static st_status
parse_rm(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("rm", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == RM_help) {
			a->help = true;
		} else if (option == RM_quiet) {
			a->quiet = true;
		} else if (option == ST_OPTIONS_OTHER) {
			const char **slot = ST_PUSH(&a->names);
			if (!slot)
				return st_store_no_memory(e);
			*slot = value;
		} else {
			return -1;
		}
	}
	if (!a->help && !a->names.n)
		return st_fail(e, ST_EXIT_USAGE, "no profile to remove: strobe rm PROFILE...");
	return 0;
}

/* The profile that a name means, once. */
static st_status
rm_take(struct st_store *s, const char *name, struct st_stored_list *l, struct st_error *e)
{
	struct st_stored one;
	bool found;
	if (st_store_find(s, name, &one, &found, e))
		return -1;
	if (!found)
		return st_fail(e, ST_EXIT_USAGE,
		               "no stored profile '%s': strobe show REV lists the profiles of a "
		               "version, and four digits of a name are enough",
		               name);
	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].row == one.row) {
			st_stored_free(&one);
			return 0;
		}
	struct st_stored *slot = ST_PUSH(&l->v);
	if (slot)
		*slot = one;
	else
		st_stored_free(&one);
	return slot ? 0 : st_store_no_memory(e);
}

static st_status
rm_profiles(const struct arguments *a, struct st_error *e)
{
	struct st_store s;
	struct st_stored_list l = {0};
	if (st_store_open(&s, e))
		return -1;
	int status = 0;
	for (size_t i = 0; i < a->names.n && !status; i++)
		status = rm_take(&s, a->names.v[i], &l, e);
	if (!status)
		status = st_store_remove(&s, &l, e);
	for (size_t i = 0; i < l.v.n && !status && !a->quiet; i++) {
		char id[ST_HASH_HEX + 1];
		printf("removed %s of %s %.10s\n", st_stored_id(&l.v.v[i].hash, id),
		       s.vcs->kind->title, l.v.v[i].of);
	}
	st_stored_list_free(&l);
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

int
st_rm_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	int bad = parse_rm(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("rm"), false);
	else if (bad || rm_profiles(&a, &e))
		code = st_complain(&e);
	free(a.names.v);
	return code;
}
