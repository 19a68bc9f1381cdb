/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions without version control: numbers, which the store counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "base/text.h"
#include "store/vcs.h"

struct vcs_counter {
	struct st_vcs vcs;
	sqlite3 *db;
};

static st_status
counter_failed(sqlite3 *db, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "cannot read the versions of the store: %s",
	               sqlite3_errmsg(db));
}

/* The latest version up to a number; *out has no name where there is none. */
static st_status
counter_at(const struct vcs_counter *c, int64_t most, struct st_version *out, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	*out = (struct st_version){0};
	int status = sqlite3_prepare_v2(c->db,
	                                "SELECT name, subject, time FROM version WHERE "
	                                "CAST(name AS INTEGER) <= ? ORDER BY CAST(name AS "
	                                "INTEGER) DESC LIMIT 1",
	                                -1, &rows, NULL);
	if (status == SQLITE_OK) {
		sqlite3_bind_int64(rows, 1, most);
		status = sqlite3_step(rows);
	}
	if (status == SQLITE_ROW) {
		out->name = strdup((const char *)sqlite3_column_text(rows, 0));
		out->subject = strdup((const char *)sqlite3_column_text(rows, 1));
		out->time = sqlite3_column_int64(rows, 2);
	}
	sqlite3_finalize(rows);
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		return counter_failed(c->db, e);
	return 0;
}

static st_status
counter_head(struct st_vcs *v, struct st_version *out, struct st_error *e)
{
	if (counter_at((struct vcs_counter *)v, INT64_MAX, out, e))
		return -1;
	return out->name ? 0
	                 : st_fail(e, ST_EXIT_FAILED,
	                           "the store has no version yet: strobe add makes the first one");
}

static st_status
counter_resolve(struct st_vcs *v, const char *rev, struct st_version *out, struct st_error *e)
{
	uint64_t number;
	if (!strcmp(rev, "HEAD"))
		return counter_head(v, out, e);
	*out = (struct st_version){0};
	if (!st_parse_whole(rev, &number) && number && number <= INT64_MAX &&
	    counter_at((struct vcs_counter *)v, (int64_t)number, out, e))
		return -1;
	if (out->name && !strcmp(out->name, rev))
		return 0;
	st_version_free(out);
	return st_fail(e, ST_EXIT_USAGE, "the store has no version '%s': strobe log lists them",
	               rev);
}

static st_status
counter_walk(struct st_vcs *v, const char *from, enum st_vcs_order order, st_vcs_visit *visit,
             void *arg, struct st_error *e)
{
	int64_t at = strtoll(from, NULL, 10);
	bool more = true;
	(void)order;
	for (uint64_t steps = 0; more && at > 0; steps++) {
		struct st_version version;
		if (counter_at((struct vcs_counter *)v, at, &version, e))
			return -1;
		more = version.name && visit(arg, &version, steps);
		at = version.name ? strtoll(version.name, NULL, 10) - 1 : 0;
		st_version_free(&version);
	}
	return 0;
}

static bool
counter_reaches(struct st_vcs *v, const char *name, const char *ancestor)
{
	(void)v;
	return strtoll(name, NULL, 10) >= strtoll(ancestor, NULL, 10);
}

static st_status
counter_patch(struct st_vcs *v, const char *name, char **out, struct st_error *e)
{
	(void)v, (void)name, (void)e;
	*out = NULL;
	return 0;
}

static char *
counter_branch(struct st_vcs *v)
{
	(void)v;
	return NULL;
}

static bool
counter_is_dirty(struct st_vcs *v)
{
	(void)v;
	return false;
}

static void
counter_close(struct st_vcs *v)
{
	free(v->data);
	free(v->root);
	free(v);
}

static const struct st_vcs_kind counter_kind = {
        .name = "counter",
        .title = "version",
        .head = counter_head,
        .resolve = counter_resolve,
        .walk = counter_walk,
        .reaches = counter_reaches,
        .patch = counter_patch,
        .branch = counter_branch,
        .dirty = counter_is_dirty,
        .close = counter_close,
};

/* The nearest folder upwards that has a .strobe; malloc'ed, NULL: none, or no memory. */
static char *
counter_search(void)
{
	char *folder = realpath(".", NULL);
	while (folder) {
		struct stat st;
		char *data = st_text_of("%s/.strobe", folder);
		bool there = data && !stat(data, &st) && S_ISDIR(st.st_mode);
		free(data);
		char *slash = strrchr(folder, '/');
		if (there)
			return folder;
		if (!slash || !folder[1])
			break;
		slash[slash == folder] = '\0';
	}
	free(folder);
	return NULL;
}

st_status
st_vcs_counter(struct st_vcs **out, const char *made, struct st_error *e)
{
	char *root = counter_search();
	*out = NULL;
	if (!root && !made)
		return 0;
	struct vcs_counter *c = calloc(1, sizeof *c);
	if (c)
		c->vcs = (struct st_vcs){.kind = &counter_kind, .root = root ? root : strdup(made)};
	if (c && c->vcs.root)
		c->vcs.data = st_text_of("%s/.strobe", c->vcs.root);
	if (c && c->vcs.data) {
		*out = &c->vcs;
		return 0;
	}
	if (c)
		counter_close(&c->vcs);
	return st_fail(e, ST_EXIT_FAILED, "no memory left to find the store");
}

void
st_vcs_counter_use(struct st_vcs *v, sqlite3 *db)
{
	if (v->kind == &counter_kind)
		((struct vcs_counter *)v)->db = db;
}
