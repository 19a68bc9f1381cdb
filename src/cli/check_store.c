/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads profiles for strobe check from the store: for each configuration of the target, those of
 * the baseline with the same configuration. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/check.h"
#include "cli/stored.h"
#include "store/changes.h"
#include "store/config.h"

enum { DEPTH = 1000 };

static st_status
load_one(struct st_check_group *g, int side, struct st_store *s, const struct st_stored *stored,
         struct st_error *e)
{
	char *path = NULL;
	st_status status = st_stored_temporary(&path, e);
	if (!status)
		status = st_store_extract(s, stored, path, e);
	if (!status)
		status = st_check_load(g, side, path, e);
	st_stored_forget(path);
	return status;
}

static st_status
load_stored_list(struct st_check_group *g, int side, struct st_store *s,
                 const struct st_stored_list *l, struct st_error *e)
{
	for (size_t i = 0; i < l->v.n; i++)
		if (load_one(g, side, s, &l->v.v[i], e))
			return ST_FAILED;
	return ST_OK;
}

/* All profiles of the version must be of one configuration: they become one side. */
static st_status
load_version(struct st_check_group *g, int side, struct st_store *s, const char *name,
             struct st_error *e)
{
	struct st_version v;
	struct st_stored_list l = {0};
	struct st_error unknown;
	if (st_store_version(s, name, &v, &unknown))
		return st_fail(e, ST_EXIT_FAILED,
		               "'%s' is no file, no stored profile and no %s: strobe log lists "
		               "the versions",
		               name, s->vcs->kind->title);
	st_status status = st_store_of_version(s, &v, &l, e);
	if (!status && !l.v.n)
		status = st_fail(e, ST_EXIT_FAILED, "no profile of %.10s is stored", v.name);
	for (size_t i = 1; i < l.v.n && !status; i++)
		if (l.v.v[i].configuration != l.v.v[0].configuration)
			status = st_fail(e, ST_EXIT_USAGE,
			                 "%.10s has profiles of several commands: name one by the "
			                 "digits that strobe show %s prints",
			                 v.name, name);
	if (!status)
		status = load_stored_list(g, side, s, &l, e);
	st_stored_list_free(&l);
	st_version_free(&v);
	return status;
}

bool
st_check_is_stored(const char *name)
{
	struct st_store s;
	struct st_stored p;
	struct st_error none;
	bool found = false;
	if (st_store_open(&s, &none))
		return false;
	if (!st_store_find(&s, name, &p, &found, &none) && found)
		st_stored_free(&p);
	st_store_close(&s);
	return found;
}

st_status
st_check_load_stored(struct st_check_group *g, int side, const char *name, struct st_error *e)
{
	struct st_store s;
	struct st_stored p;
	struct st_error none;
	bool found;
	if (st_store_open(&s, &none))
		return st_fail(e, ST_EXIT_FAILED, "there is no file '%s', and no store: %s", name,
		               none.text);
	st_status status = st_store_find(&s, name, &p, &found, e);
	if (!status && found) {
		status = load_one(g, side, &s, &p, e);
		st_stored_free(&p);
	} else if (!status) {
		status = load_version(g, side, &s, name, e);
	}
	st_store_close(&s);
	return status;
}

struct reading {
	const struct st_check_arguments *a;
	struct st_check_groups *out;
	struct st_store store;
	struct st_version target;
	bool any_machine;
};

static st_status
leave_out(struct reading *r, const struct st_stored *like, const struct st_baseline *b,
          struct st_error *e)
{
	char **slot = ST_PUSH(&r->out->left_out);
	const char *base = r->a->named[ST_A].n ? r->a->named[ST_A].v[0] : NULL;
	if (slot && b->refused)
		*slot = st_text_of("%s: %s is not compared with %.10s, which was measured on "
		                   "another machine (%s); --any-machine does",
		                   like->collector, like->command, b->refused, b->differences);
	else if (slot && base)
		*slot = st_text_of("%s: %s was not measured at %s", like->collector, like->command,
		                   base);
	else if (slot)
		*slot = st_text_of("%s: %s was not measured at an earlier version", like->collector,
		                   like->command);
	return slot && *slot ? ST_OK : st_store_no_memory(e);
}

static st_status
compare_group(struct reading *r, const struct st_stored_list *profiles, const struct st_baseline *b,
              struct st_error *e)
{
	const struct st_stored *like = &profiles->v.v[0];
	char *title = st_text_of("%s: %s", like->collector, like->command);
	char base[16], target[16];
	snprintf(base, sizeof base, "%.10s", b->version.name);
	snprintf(target, sizeof target, "%.10s", r->target.name);
	struct st_check_group *g =
	        title ? st_check_group_new(r->out, title, base, target, e) : NULL;
	st_status status = title ? ST_OK : st_store_no_memory(e);
	free(title);
	if (!g || status)
		return ST_FAILED;
	status = load_stored_list(g, ST_A, &r->store, &b->profiles, e);
	return status ? status : load_stored_list(g, ST_B, &r->store, profiles, e);
}

/* profiles: of one configuration and machine. */
static st_status
read_group(struct reading *r, const struct st_stored_list *profiles, struct st_error *e)
{
	const struct st_stored *like = &profiles->v.v[0];
	struct st_baseline b = {0};
	st_status status = r->a->named[ST_A].n
	                           ? st_baseline_at(&r->store, r->a->named[ST_A].v[0], &r->target,
	                                            like, r->any_machine, &b, e)
	                           : st_baseline_find(&r->store, &r->target, like, DEPTH,
	                                              r->any_machine, &b, e);
	if (!status)
		status = b.profiles.v.n ? compare_group(r, profiles, &b, e)
		                        : leave_out(r, like, &b, e);
	st_baseline_free(&b);
	return status;
}

/* Groups the profiles by configuration and machine, one group after another. */
static st_status
read_groups(struct reading *r, struct st_stored_list *all, struct st_error *e)
{
	while (all->v.n) {
		struct st_stored_list group = {0};
		const struct st_stored like = all->v.v[0];
		size_t kept = 0;
		st_status status = ST_OK;
		for (size_t i = 0; i < all->v.n; i++) {
			const struct st_stored one = all->v.v[i];
			const bool fits = one.configuration == like.configuration &&
			                  one.machine == like.machine && !status;
			struct st_stored *slot = fits ? ST_PUSH(&group.v) : NULL;
			if (slot)
				*slot = one;
			else
				all->v.v[kept++] = one;
			if (fits && !slot)
				status = st_store_no_memory(e);
		}
		all->v.n = kept;
		if (!status)
			status = read_group(r, &group, e);
		st_stored_list_free(&group);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
read_machines(struct reading *r, struct st_error *e)
{
	struct st_config c;
	st_status status = st_config_read(&c, r->store.vcs->data, e);
	const char *machines = status ? NULL : st_config_get(&c, "compare.machines");
	r->any_machine = r->a->any_machine || (machines && !strcmp(machines, "any"));
	st_config_free(&c);
	return status;
}

static st_status
read_target(struct reading *r, struct st_error *e)
{
	const char *name = r->a->named[ST_B].n ? r->a->named[ST_B].v[0] : NULL;
	struct st_stored_list all = {0};
	st_status status = name ? st_store_version(&r->store, name, &r->target, e)
	                        : r->store.vcs->kind->head(r->store.vcs, &r->target, e);
	if (!status)
		status = st_store_of_version(&r->store, &r->target, &all, e);
	if (!status && !all.v.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "no profile of %.10s is stored: strobe add FILE stores one",
		                 r->target.name);
	if (!status)
		status = read_groups(r, &all, e);
	st_stored_list_free(&all);
	return status;
}

st_status
st_check_read_store(const struct st_check_arguments *a, struct st_check_groups *out,
                    struct st_error *e)
{
	struct reading r = {.a = a, .out = out};
	struct st_error none;
	if (st_store_open(&r.store, &none))
		return a->named[ST_A].n ? st_fail(e, ST_EXIT_FAILED,
		                                  "there is no file '%s', and no store: %s",
		                                  a->named[ST_A].v[0], none.text)
		                        : st_fail(e, none.code, "%s", none.text);
	st_status status = read_machines(&r, e);
	if (!status)
		status = read_target(&r, e);
	if (!status && !out->v.n)
		status = st_fail(e, ST_EXIT_FAILED, "there is nothing to compare: %s",
		                 out->left_out.v[0]);
	st_version_free(&r.target);
	st_store_close(&r.store);
	return status;
}
