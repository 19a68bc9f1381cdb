/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports the profiles of a history as a store of Perun. */
#include "cli/export_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/stored.h"
#include "export/perun_store.h"
#include "profile/profile.h"
#include "report/text.h"
#include "store/history.h"
#include "store/vcs.h"

/* The exit code when a profile was left out. */
enum { EXIT_LEFT_OUT = 1 };

struct store_export {
	struct st_store store;
	struct st_history history;
	char *objects;
	uint64_t profiles, commits, left_out;
};

/* Loads a stored profile; NULL with *e. */
static struct st_profile *
storeexport_load(struct store_export *x, const struct st_stored *stored, struct st_error *e)
{
	char *path = NULL;
	struct st_profile *p = NULL;
	if (!st_stored_temporary(&path, e) && !st_store_extract(&x->store, stored, path, e))
		p = st_profile_load(path, e);
	st_stored_forget(path);
	return p;
}

static st_status
storeexport_profile(struct store_export *x, const struct st_stored *stored, const char *commit,
                    struct st_perun_rows *rows, struct st_error *e)
{
	char id[ST_HASH_HEX + 1];
	bool suits = true;
	struct st_profile *p = storeexport_load(x, stored, e);
	if (!p)
		return ST_FAILED;
	st_status status = st_perun_out_profile(x->objects, p, rows, &suits, e);
	if (!status && rows->v.n == 1)
		status = st_perun_out_changes(x->objects, commit, p, e);
	st_profile_free(p);
	if (!status || suits)
		return status;
	fprintf(stderr, "strobe: profile %s of commit %.10s is left out: %s\n",
	        st_stored_id(&stored->hash, id), commit, e->text);
	x->left_out++;
	return ST_OK;
}

/* Whether another version of the history is the one at which the profile was measured: it belongs
 * to this one as well, by the same content or change, but Perun has one commit for each profile. */
static bool
storeexport_is_elsewhere(const struct store_export *x, const struct st_stored *stored)
{
	if (stored->link == ST_LINK_VERSION)
		return false;
	for (size_t i = 0; i < x->history.v.n; i++)
		if (!strcmp(x->history.v.v[i].version.name, stored->of))
			return true;
	return false;
}

static st_status
storeexport_version(struct store_export *x, const struct st_version *v, struct st_error *e)
{
	struct st_stored_list l = {0};
	struct st_perun_rows rows = {0};
	st_status status = st_store_of_version(&x->store, v, &l, e);
	for (size_t i = 0; i < l.v.n && !status; i++)
		if (!storeexport_is_elsewhere(x, &l.v.v[i]))
			status = storeexport_profile(x, &l.v.v[i], v->name, &rows, e);
	if (!status && rows.v.n)
		status = st_perun_out_index(x->objects, v->name, &rows, e);
	x->profiles += rows.v.n;
	x->commits += rows.v.n != 0;
	st_perun_rows_free(&rows);
	st_stored_list_free(&l);
	return status;
}

/* Perun names objects and commits by SHA-1. */
static st_status
storeexport_check(const struct store_export *x, const struct st_version *head, struct st_error *e)
{
	if (strcmp(x->store.vcs->kind->name, "git") != 0)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the profiles of Perun belong to commits of git, and this project has "
		        "no git repository");
	if (strlen(head->name) != ST_SHA1_HEX)
		return st_fail(e, ST_EXIT_FAILED,
		               "Perun names commits by SHA-1, and this repository has commits of "
		               "SHA-256");
	return ST_OK;
}

static st_status
storeexport_history(struct store_export *x, const char *rev, const char *folder, struct st_error *e)
{
	struct st_version head = {0};
	struct st_history *h = &x->history;
	st_status status = st_store_version(&x->store, rev, &head, e);
	if (!status)
		status = storeexport_check(x, &head, e);
	if (!status)
		status = st_history_read(&x->store, rev, 0, false, h, e);
	if (!status && !(x->objects = st_perun_out_create(folder, e)))
		status = ST_FAILED;
	for (size_t i = 0; i < h->v.n && !status; i++)
		if (h->v.v[i].profiles)
			status = storeexport_version(x, &h->v.v[i].version, e);
	st_version_free(&head);
	return status;
}

int
st_export_store(const char *rev, const char *folder)
{
	struct store_export x = {0};
	struct st_error e;
	if (st_store_open(&x.store, &e))
		return st_complain(&e);
	st_status status = storeexport_history(&x, rev, folder, &e);
	const uint64_t gone = x.history.gone;
	st_history_free(&x.history);
	st_store_close(&x.store);
	free(x.objects);
	if (status)
		return st_complain(&e);
	fprintf(stderr, "strobe: exported %s of %s to %s\n",
	        ST_COUNT(x.profiles, "profile", "profiles"),
	        ST_COUNT(x.commits, "commit", "commits"), folder);
	if (gone)
		fprintf(stderr, "strobe: %s to commits that are not in the history of %s\n",
		        ST_COUNT(gone, "further profile belongs", "further profiles belong"), rev);
	return x.left_out ? EXIT_LEFT_OUT : ST_EXIT_OK;
}
