/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe status: what the store has of the version that is checked out, and what is not in it. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/status_changes.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"
#include "store/pending.h"

enum {
#define O(id, letter, name, argument, shown, help) STATUS_##id,
	ST_STATUS_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_status_compare compare;
	bool exit_code, json, help;
};

/* With --exit-code, when something costs more than before. */
enum { EXIT_WORSE = 1 };

/* The output. */
struct answer {
	struct st_store store;
	struct st_version head;
	struct st_stored_list profiles;
	struct st_pending_list pending;
	struct st_status_groups groups;
	char *branch;
	const char *none; /* why there is no version; NULL: there is one */
};

static st_status
parse_status(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("status", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == STATUS_help)
			a->help = true;
		else if (option == STATUS_exit_code)
			a->exit_code = true;
		else if (option == STATUS_any_machine)
			a->compare.any_machine = true;
		else if (option == STATUS_against)
			a->compare.against = value;
		else if (option == STATUS_format && !st_stored_format(value, &a->json, e))
			continue;
		else if (option == ST_OPTIONS_OTHER)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe status takes no argument, and '%s' is one: strobe "
			               "show %s shows what the store has of a version",
			               value, value);
		else
			return -1;
	}
	return 0;
}

static json_t *
status_pending_json(const struct answer *w)
{
	json_t *pending = json_array();
	for (size_t i = 0; i < w->pending.v.n; i++)
		json_array_append_new(
		        pending, json_pack("{so, sI}", "file", st_json_text(w->pending.v.v[i].file),
		                           "started", (json_int_t)w->pending.v.v[i].start_ns));
	return pending;
}

static json_t *
status_json(const struct answer *w)
{
	json_t *profiles = json_array(), *head;
	for (size_t i = 0; i < w->profiles.v.n; i++)
		json_array_append_new(profiles, st_stored_json(&w->profiles.v.v[i]));
	head = json_pack("{ss?, ss?, so, so, so}", "commit", w->head.name, "tree", w->head.tree,
	                 "subject", w->head.subject ? st_json_text(w->head.subject) : json_null(),
	                 "branch", w->branch ? st_json_text(w->branch) : json_null(), "profiles",
	                 profiles);
	return json_pack("{si, so, so, so}", "version", ST_JSON_VERSION, "head", head, "pending",
	                 status_pending_json(w), "changes", st_status_changes_json(&w->groups));
}

static void
status_print_head(const struct answer *w, FILE *out)
{
	if (w->none) {
		fprintf(out, "no version yet: %s\n", w->none);
		return;
	}
	fprintf(out, "%s %.10s%s%s%s%s%s\n", w->store.vcs->kind->title, w->head.name,
	        w->branch ? " (" : "", w->branch ? w->branch : "", w->branch ? ")" : "",
	        *w->head.subject ? ": " : "", w->head.subject);
	if (!w->profiles.v.n)
		fputs("  no profile of this version is stored\n", out);
	else if (!st_stored_print(&w->profiles, out))
		fputs("  out of memory\n", out);
}

static void
status_print(const struct answer *w, FILE *out)
{
	status_print_head(w, out);
	st_status_print_changes(&w->store, &w->groups, out);
	if (w->pending.v.n)
		fputs("\nnot stored; strobe add FILE stores a profile:\n", out);
	for (size_t i = 0; i < w->pending.v.n; i++)
		fprintf(out, "  %s\n", w->pending.v.v[i].file);
}

static st_status
status_find(struct answer *w, const struct st_status_compare *how, struct st_error *e)
{
	static struct st_error none;
	if (!w->store.vcs->kind->head(w->store.vcs, &w->head, &none)) {
		if (st_store_of_version(&w->store, &w->head, &w->profiles, e))
			return -1;
	} else if (w->store.vcs->kind->empty(w->store.vcs)) {
		w->none = none.text;
	} else {
		*e = none;
		return -1;
	}
	if (!w->none && st_status_compare(&w->store, &w->head, &w->profiles, how, &w->groups, e))
		return -1;
	w->branch = w->store.vcs->kind->branch(w->store.vcs);
	return st_pending_find(&w->store, &w->pending, e);
}

static st_status
status_answer(const struct arguments *a, int *code, struct st_error *e)
{
	struct answer w = {0};
	struct st_safe safe;
	if (st_store_open(&w.store, e))
		return -1;
	int status = status_find(&w, &a->compare, e);
	if (!status && a->json) {
		status = st_stored_print_json(status_json(&w), e);
	} else if (!status && st_safe_begin(&safe, stdout)) {
		status_print(&w, safe.text.out);
		st_safe_end(&safe);
	}
	if (!status && a->exit_code && st_status_is_worse(&w.groups))
		*code = EXIT_WORSE;
	free(w.branch);
	st_status_groups_free(&w.groups);
	st_pending_free(&w.pending);
	st_stored_list_free(&w.profiles);
	st_version_free(&w.head);
	st_store_close(&w.store);
	return status ? ST_FAILED : ST_OK;
}

int
st_status_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse_status(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("status"), false);
	else if (bad || status_answer(&a, &code, &e))
		return st_complain(&e);
	return code;
}
