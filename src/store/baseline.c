/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest ancestor with profiles of the same configuration and machine. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/changes.h"
#include "store/stored.h"
#include "store/traits.h"

struct seeking {
	struct st_store *s;
	const struct st_stored *like;
	struct st_baseline *out;
	char *machine; /* fields of the one that `like` was measured on */
	uint64_t depth, seen;
	bool any_machine, by_patch;
	int status;
	struct st_error *e;
};

static st_status
baseline_machine(struct st_store *s, int64_t row, char **fields, struct st_error *e)
{
	struct st_query *rows = NULL;
	*fields = NULL;
	if (st_store_query(s, &rows, "SELECT fields FROM machine WHERE id = ?", e))
		return -1;
	st_query_put_number(rows, 1, row);
	int step = st_query_step(rows, e);
	*fields = step > 0 ? st_query_copy(rows, 0) : strdup("");
	st_query_end(rows);
	if (step < 0)
		return -1;
	return *fields ? 0 : st_store_no_memory(e);
}

static bool
baseline_remember_refused(struct seeking *k, const struct st_version *v, char *differences)
{
	if (k->out->refused) {
		free(differences);
		return true;
	}
	k->out->differences = differences;
	k->out->refused = strdup(v->name);
	return k->out->refused != NULL;
}

/* Those of another configuration or machine are dropped. */
static st_status
baseline_keep(struct seeking *k, const struct st_version *v, struct st_stored_list *l)
{
	size_t kept = 0;
	int status = 0;
	for (size_t i = 0; i < l->v.n; i++) {
		struct st_stored *one = &l->v.v[i];
		char *there = NULL, *differences = NULL;
		bool fits = one->configuration == k->like->configuration && !status;
		if (fits && one->machine != k->like->machine && !k->any_machine) {
			status = baseline_machine(k->s, one->machine, &there, k->e);
			differences =
			        there ? st_traits_differences(there, k->machine, ", here ") : NULL;
			fits = !differences;
			if (differences && !baseline_remember_refused(k, v, differences))
				status = st_store_no_memory(k->e);
			free(there);
		}
		if (fits)
			l->v.v[kept++] = *one;
		else
			st_stored_free(one);
	}
	l->v.n = kept;
	return status ? ST_FAILED : ST_OK;
}

/* Those measured at the version, or at another one with its files. */
static st_status
baseline_of(struct seeking *k, const struct st_version *v, struct st_stored_list *out)
{
	struct st_query *rows = NULL;
	if (k->by_patch)
		return st_store_of_version(k->s, v, out, k->e);
	*out = (struct st_stored_list){0};
	if (st_store_query(k->s, &rows,
	                   ST_STORED_QUERY "WHERE p.configuration = ?1 AND p.version IN (SELECT id "
	                                   "FROM version WHERE name = ?2) ORDER BY p.id",
	                   k->e))
		return -1;
	st_query_put_number(rows, 1, k->like->configuration);
	st_query_put_text(rows, 2, v->name);
	return st_stored_take_all(rows, out, k->e);
}

static bool
baseline_visit(void *arg, const struct st_version *v, uint64_t steps)
{
	struct seeking *k = arg;
	struct st_stored_list l = {0};
	if (!steps)
		return true;
	if (k->seen++ >= k->depth)
		return false;
	k->status = baseline_of(k, v, &l);
	if (!k->status)
		k->status = baseline_keep(k, v, &l);
	if (k->status || !l.v.n) {
		st_stored_list_free(&l);
		return !k->status;
	}
	k->out->profiles = l;
	k->out->steps = steps;
	k->out->version = (struct st_version){
	        .name = strdup(v->name), .subject = strdup(v->subject), .time = v->time};
	if (!k->out->version.name || !k->out->version.subject)
		k->status = st_store_no_memory(k->e);
	return false;
}

/* Whether another version has profiles of this configuration at all. */
static st_status
baseline_is_possible(struct seeking *k, bool *possible)
{
	struct st_query *rows = NULL;
	if (st_store_query(k->s, &rows,
	                   "SELECT 1 FROM profile WHERE configuration = ? AND version <> ? LIMIT 1",
	                   k->e))
		return -1;
	st_query_put_number(rows, 1, k->like->configuration);
	st_query_put_number(rows, 2, k->like->version);
	int step = st_query_step(rows, k->e);
	*possible = step > 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static st_status
baseline_begin(struct seeking *k)
{
	*k->out = (struct st_baseline){0};
	return baseline_machine(k->s, k->like->machine, &k->machine, k->e);
}

st_status
st_baseline_at(struct st_store *s, const char *rev, const struct st_version *head,
               const struct st_stored *like, bool any_machine, struct st_baseline *out,
               struct st_error *e)
{
	struct seeking k = {.s = s, .like = like, .out = out, .e = e};
	struct st_version v = {0};
	k.any_machine = any_machine;
	k.by_patch = true;
	k.depth = 1;
	int status = baseline_begin(&k);
	if (!status)
		status = st_store_version(s, rev, &v, e);
	if (!status && !strcmp(v.name, head->name))
		status = st_fail(e, ST_EXIT_USAGE,
		                 "'%s' is the version that is checked out: name an earlier one",
		                 rev);
	if (!status) {
		baseline_visit(&k, &v, 1);
		status = k.status;
		out->steps = 0;
	}
	st_version_free(&v);
	free(k.machine);
	return status ? ST_FAILED : ST_OK;
}

/* First by what was measured at the ancestors themselves; where there is nothing, as after a
 * rebase, by what belongs to them. */
st_status
st_baseline_find(struct st_store *s, const struct st_version *from, const struct st_stored *like,
                 uint64_t depth, bool any_machine, struct st_baseline *out, struct st_error *e)
{
	struct seeking k = {.s = s, .like = like, .out = out, .e = e};
	bool possible = false;
	k.depth = depth;
	k.any_machine = any_machine;
	int status = baseline_begin(&k);
	if (!status)
		status = baseline_is_possible(&k, &possible);
	for (int pass = 0; pass < 2 && !status && possible && !out->version.name; pass++) {
		k.by_patch = pass == 1;
		k.seen = 0;
		status = s->vcs->kind->walk(s->vcs, from->name, ST_VCS_NEAREST, baseline_visit, &k,
		                            e);
		if (!status)
			status = k.status;
	}
	free(k.machine);
	return status ? ST_FAILED : ST_OK;
}

void
st_baseline_free(struct st_baseline *b)
{
	st_version_free(&b->version);
	st_stored_list_free(&b->profiles);
	free(b->refused);
	free(b->differences);
	*b = (struct st_baseline){0};
}
