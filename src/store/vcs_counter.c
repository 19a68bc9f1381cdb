/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions without version control: numbers, which the store counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "base/text.h"
#include "store/backend.h"
#include "store/vcs.h"

struct vcs_counter {
	struct st_vcs vcs;
	struct st_database *database;
};

/* The latest version up to a number; *out has no name if there is none. Versions are numbers
 * without leading zeros, which are ordered by length, then by digits. */
static st_status
counter_at(const struct vcs_counter *c, int64_t most, struct st_version *out, struct st_error *e)
{
	struct st_query *rows = NULL;
	char number[32];
	*out = (struct st_version){0};
	snprintf(number, sizeof number, "%lld", (long long)most);
	if (st_database_query(c->database, &rows,
	                      "SELECT name, subject, time FROM version WHERE (length(name), name) "
	                      "<= (length(?1), ?1) ORDER BY length(name) DESC, name DESC LIMIT 1",
	                      e))
		return -1;
	st_query_put_text(rows, 1, number);
	int step = st_query_step(rows, e);
	if (step > 0) {
		out->name = st_query_copy(rows, 0);
		out->subject = st_query_copy(rows, 1);
		out->time = st_query_number(rows, 2);
	}
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static bool
counter_is_empty(struct st_vcs *v)
{
	struct st_version latest;
	struct st_error ignored;
	bool empty =
	        !counter_at((struct vcs_counter *)v, INT64_MAX, &latest, &ignored) && !latest.name;
	st_version_free(&latest);
	return empty;
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
        .empty = counter_is_empty,
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
st_vcs_counter_use(struct st_vcs *v, struct st_database *d)
{
	if (v->kind == &counter_kind)
		((struct vcs_counter *)v)->database = d;
}
