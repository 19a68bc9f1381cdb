/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imports the profiles of a project of Perun into the store. */
#include "cli/import_perun.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/stored.h"
#include "import/import.h"
#include "import/perun_store.h"
#include "profile/profile.h"
#include "report/text.h"

/* The exit code when a profile or a change was left out. */
enum { EXIT_LEFT_OUT = 1 };

struct folder_import {
	struct st_store store;
	struct st_perun_store perun;
	uint64_t profiles, known, commits, left_out;
};

/* Reports on standard error, in one line, an item that could not be imported. */
static void
folder_leave_out(struct folder_import *f, const char *sentence)
{
	char *safe = st_printable(sentence);
	fprintf(stderr, "strobe: %s\n", safe ? safe : "");
	free(safe);
	f->left_out++;
}

/* Adds the data that Perun keeps beside the profile: time, name and changes. */
static void
folder_annotate(struct st_profile *p, const struct st_perun_commit *c,
                const struct st_perun_entry *entry)
{
	p->run.start_ns = entry->time * 1000000000;
	st_profile_note(p, "Perun had this profile as %s", entry->name);
	if (!c->n_changes)
		return;
	st_profile_add_extra(p, "perun.changes", c->changes);
	st_profile_note(p, "Perun found %s at this commit, which are in the table extra",
	                ST_COUNT(c->n_changes, "change", "changes"));
}

/* Writes the profile to a temporary file, which st_stored_forget removes; NULL with *e. */
static char *
folder_convert(const struct folder_import *f, const struct st_perun_commit *c,
               const struct st_perun_entry *entry, struct st_error *e)
{
	const struct st_import_format *format;
	size_t n;
	char *path = NULL, *json = st_perun_store_object(&f->perun, entry->object, &n, e);
	struct st_profile *p =
	        json ? st_import_bytes(entry->name, json, n, "perun", &format, e) : NULL;
	if (p)
		folder_annotate(p, c, entry);
	if (p && !st_stored_temporary(&path, e) && st_profile_save(p, path, e)) {
		st_stored_forget(path);
		path = NULL;
	}
	st_profile_free(p);
	free(json);
	return path;
}

static st_status
folder_add(struct folder_import *f, const struct st_perun_commit *c,
           const struct st_perun_entry *entry, struct st_error *e)
{
	struct st_version v = {0};
	char *object = st_perun_store_path(&f->perun, entry->object, "");
	struct st_addition a = {.file = object};
	if (!object)
		return st_store_no_memory(e);
	a.profile = folder_convert(f, c, entry, e);
	st_status status = a.profile ? st_store_add(&f->store, &a, 1, c->name, &v, e) : ST_FAILED;
	if (!status) {
		f->profiles += !a.known;
		f->known += a.known;
	}
	st_version_free(&v);
	st_stored_forget(a.profile);
	free(object);
	return status;
}

/* Leaves out the profiles of a commit that the repository does not have: no command could find
 * them. */
static st_status
folder_commit(struct folder_import *f, const struct st_perun_commit *c, struct st_error *e)
{
	struct st_version v = {0};
	struct st_error why;
	char sentence[sizeof why.text + 256];
	uint64_t before = f->profiles + f->known;
	if (!c->profiles.v.n && !c->n_changes)
		return ST_OK;
	if (st_store_version(&f->store, c->name, &v, &why)) {
		if (st_store_is_lost(&f->store)) {
			*e = why;
			return ST_FAILED;
		}
		snprintf(sentence, sizeof sentence,
		         "commit %.10s, which the repository does not have, is left out with %s "
		         "and %s",
		         c->name, ST_COUNT(c->profiles.v.n, "profile", "profiles"),
		         ST_COUNT(c->n_changes, "change", "changes"));
		folder_leave_out(f, sentence);
		return ST_OK;
	}
	st_version_free(&v);
	for (size_t i = 0; i < c->profiles.v.n; i++) {
		const struct st_perun_entry *entry = &c->profiles.v.v[i];
		if (!folder_add(f, c, entry, &why))
			continue;
		if (st_store_is_lost(&f->store)) {
			*e = why;
			return ST_FAILED;
		}
		snprintf(sentence, sizeof sentence,
		         "%s of commit %.10s is left out: object %.10s: %s", entry->name, c->name,
		         entry->object, why.text);
		folder_leave_out(f, sentence);
	}
	if (c->n_changes && !c->profiles.v.n) {
		snprintf(sentence, sizeof sentence,
		         "the changes of commit %.10s are left out: it has no profile", c->name);
		folder_leave_out(f, sentence);
	}
	f->commits += f->profiles + f->known > before;
	return ST_OK;
}

static st_status
folder_read(struct folder_import *f, const char *folder, struct st_error *e)
{
	st_status status = st_perun_store_read(&f->perun, folder, e);
	for (size_t i = 0; i < f->perun.problems.n && !status; i++)
		folder_leave_out(f, f->perun.problems.v[i]);
	for (size_t i = 0; i < f->perun.commits.n && !status; i++)
		status = folder_commit(f, &f->perun.commits.v[i], e);
	return status;
}

st_status
st_import_folder(const char *folder, bool quiet, int *code, struct st_error *e)
{
	struct folder_import f = {0};
	if (st_store_open(&f.store, e))
		return ST_FAILED;
	st_status status = folder_read(&f, folder, e);
	if (!status && !quiet) {
		fprintf(stderr, "strobe: imported %s of %s",
		        ST_COUNT(f.profiles, "profile", "profiles"),
		        ST_COUNT(f.commits, "commit", "commits"));
		if (f.known)
			fprintf(stderr, "; %s stored already",
			        ST_COUNT(f.known, "profile was", "profiles were"));
		fputc('\n', stderr);
	}
	if (!status && f.left_out)
		*code = EXIT_LEFT_OUT;
	st_perun_store_free(&f.perun);
	st_store_close(&f.store);
	return status;
}
