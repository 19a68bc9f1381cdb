/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show_stored.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/stored.h"
#include "profile/profile.h"
#include "report/json.h"
#include "report/text.h"

static st_status
show_extract(struct st_store *s, const struct st_stored *p, char **path, struct st_error *e)
{
	return st_stored_temporary(path, e) ? ST_FAILED : st_store_extract(s, p, *path, e);
}

static json_t *
show_list_json(const struct st_version *v, const struct st_stored_list *l)
{
	json_t *profiles = json_array();
	for (size_t i = 0; i < l->v.n; i++)
		json_array_append_new(profiles, st_stored_json(&l->v.v[i]));
	return json_pack("{si, ss, so, so}", "version", ST_JSON_VERSION, "commit", v->name,
	                 "subject", st_json_text(v->subject), "profiles", profiles);
}

static st_status
show_list(const struct st_store *s, const struct st_version *v, const struct st_stored_list *l,
          bool json, struct st_error *e)
{
	struct st_safe safe;
	if (json)
		return st_stored_print_json(show_list_json(v, l), e);
	if (!st_safe_begin(&safe, stdout))
		return st_store_no_memory(e);
	fprintf(safe.text.out, "%s %.10s%s%s\n", s->vcs->kind->title, v->name,
	        *v->subject ? ": " : "", v->subject);
	if (!l->v.n)
		fputs("  no profile of this version is stored\n", safe.text.out);
	bool printed = !l->v.n || st_stored_print(l, safe.text.out);
	st_safe_end(&safe);
	return printed ? 0 : st_store_no_memory(e);
}

static st_status
show_find_version(struct st_store *s, const char *name, struct st_version *v, struct st_error *e)
{
	struct st_error unknown;
	if (!st_store_version(s, name, v, &unknown))
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED,
	               "'%s' is no file, no stored profile and no %s: strobe log lists what is "
	               "stored",
	               name, s->vcs->kind->title);
}

/* The only profile of a version, or a list of all. */
static st_status
show_version(struct st_store *s, const char *name, bool json, char **path, bool *printed,
             struct st_error *e)
{
	struct st_version v;
	struct st_stored_list l = {0};
	if (show_find_version(s, name, &v, e))
		return ST_FAILED;
	int status = st_store_of_version(s, &v, &l, e);
	if (!status && l.v.n == 1)
		status = show_extract(s, &l.v.v[0], path, e);
	else if (!status)
		status = show_list(s, &v, &l, json, e);
	*printed = !*path;
	st_stored_list_free(&l);
	st_version_free(&v);
	return status ? ST_FAILED : ST_OK;
}

/* Opens the store when there is one and the name is no file's. */
static st_status
show_open(struct st_store *s, const char *name, bool *found, struct st_error *e)
{
	struct st_error why;
	*found = false;
	if (!access(name, F_OK) || !st_store_open_if_any(s, found, &why))
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED, "%s is no file, and the store cannot be asked: %s", name,
	               why.text);
}

st_status
st_show_stored(const char *name, bool json, char **path, bool *printed, struct st_error *e)
{
	struct st_store s;
	struct st_stored p;
	bool found;
	*path = NULL;
	*printed = false;
	if (show_open(&s, name, &found, e))
		return ST_FAILED;
	if (!found)
		return ST_OK;
	int status = st_store_find(&s, name, &p, &found, e);
	if (!status && found) {
		status = show_extract(&s, &p, path, e);
		st_stored_free(&p);
	} else if (!status) {
		status = show_version(&s, name, json, path, printed, e);
	}
	st_store_close(&s);
	if (status && *path) {
		st_stored_forget(*path);
		*path = NULL;
	}
	return status ? ST_FAILED : ST_OK;
}

/* The profile that a name means: of a version, its only one. */
static st_status
show_the_one(struct st_store *s, const char *name, struct st_stored *p, struct st_error *e)
{
	struct st_version v;
	struct st_stored_list l = {0};
	bool found;
	if (st_store_find(s, name, p, &found, e))
		return -1;
	if (found)
		return 0;
	if (show_find_version(s, name, &v, e))
		return -1;
	int status = st_store_of_version(s, &v, &l, e);
	if (!status && l.v.n != 1)
		status = st_fail(e, ST_EXIT_USAGE,
		                 "%s of %.10s: name one by the digits that strobe show %s prints",
		                 l.v.n ? ST_COUNT(l.v.n, "profile is", "profiles are")
		                       : "no profile is",
		                 v.name, name);
	if (!status) {
		*p = l.v.v[0];
		l.v.n = 0;
	}
	st_stored_list_free(&l);
	st_version_free(&v);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_show_extract(const char *name, const char *file, struct st_error *e)
{
	struct st_store s;
	struct st_stored p;
	if (st_store_open(&s, e))
		return -1;
	int status = show_the_one(&s, name, &p, e);
	if (!status) {
		status = st_store_extract(&s, &p, file, e);
		st_stored_free(&p);
	}
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

struct st_profile *
st_show_load(const char *name, struct st_error *e)
{
	struct st_store s;
	struct st_stored p;
	bool found;
	char *path = NULL;
	if (show_open(&s, name, &found, e))
		return NULL;
	if (!found)
		return st_profile_load(name, e);
	st_status status = show_the_one(&s, name, &p, e);
	if (!status) {
		status = show_extract(&s, &p, &path, e);
		st_stored_free(&p);
	}
	st_store_close(&s);
	struct st_profile *profile = status ? NULL : st_profile_load(path, e);
	st_stored_forget(path);
	return profile;
}
