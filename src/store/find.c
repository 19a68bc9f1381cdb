/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which version and which profile somebody means, and which profiles belong to a version. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/patches.h"
#include "store/stored.h"

enum { SHORTEST_DIGITS = 4 };

static bool
find_is_digits(const char *text)
{
	return strspn(text, "0123456789abcdef") == strlen(text);
}

static st_status
find_take_version(struct st_query *rows, struct st_version *out, struct st_error *e)
{
	int step = st_query_step(rows, e);
	if (step > 0) {
		*out = (struct st_version){
		        .name = st_query_copy(rows, 0),
		        .tree = st_query_copy(rows, 1),
		        .subject = st_query_copy(rows, 2),
		        .time = st_query_number(rows, 3),
		};
		step = st_query_step(rows, e);
		if (step > 0) { /* a second one */
			st_version_free(out);
			step = st_fail(e, ST_EXIT_USAGE,
			               "several stored versions begin with these digits: write "
			               "more of them");
		}
	}
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* A version that the repository has lost, by the digits its name begins with. */
static st_status
find_gone_version(struct st_store *s, const char *rev, struct st_version *out, struct st_error *e)
{
	struct st_query *rows = NULL;
	*out = (struct st_version){0};
	if (strlen(rev) < SHORTEST_DIGITS || !find_is_digits(rev))
		return 0;
	if (st_store_query(s, &rows,
	                   "SELECT name, tree, subject, time FROM version WHERE name >= ?1 AND "
	                   "name < ?1 || 'g' LIMIT 2",
	                   e))
		return -1;
	st_query_put_text(rows, 1, rev);
	return find_take_version(rows, out, e);
}

st_status
st_store_version(struct st_store *s, const char *rev, struct st_version *out, struct st_error *e)
{
	struct st_error why;
	if (!s->vcs->kind->resolve(s->vcs, rev, out, &why))
		return 0;
	if (find_gone_version(s, rev, out, e))
		return -1;
	if (out->name)
		return 0;
	*e = why;
	return -1;
}

/* Behind those of the list; of these, only those whose own version is not in the history of the one
 * that is asked for. */
static st_status
find_linked(struct st_store *s, const char *condition, const struct st_version *v,
            const char *value, enum st_link link, struct st_stored_list *out, struct st_error *e)
{
	struct st_query *rows = NULL;
	size_t first = out->v.n, kept = first;
	char *sql = st_text_of("%s WHERE %s = ?1 AND v.name <> ?2 ORDER BY p.id", ST_STORED_QUERY,
	                       condition);
	int status = sql ? st_store_query(s, &rows, sql, e) : st_store_no_memory(e);
	free(sql);
	if (status)
		return -1;
	st_query_put_text(rows, 1, value);
	st_query_put_text(rows, 2, v->name);
	status = st_stored_take_all(rows, out, e);
	for (size_t i = first; i < out->v.n; i++) {
		struct st_stored *one = &out->v.v[i];
		bool known = false;
		for (size_t j = 0; j < kept && !known; j++)
			known = out->v.v[j].row == one->row;
		one->link = link;
		if (known || s->vcs->kind->reaches(s->vcs, v->name, one->of))
			st_stored_free(one);
		else
			out->v.v[kept++] = *one;
	}
	out->v.n = kept;
	return status ? ST_FAILED : ST_OK;
}

static st_status
find_has_patches(struct st_store *s, bool *has, struct st_error *e)
{
	struct st_query *rows = NULL;
	if (st_store_query(s, &rows, "SELECT 1 FROM version WHERE patch IS NOT NULL LIMIT 1", e))
		return -1;
	int step = st_query_step(rows, e);
	*has = step > 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static st_status
find_by_patch(struct st_store *s, const struct st_version *v, struct st_stored_list *out,
              struct st_error *e)
{
	char *patch = NULL;
	bool has = false;
	if (find_has_patches(s, &has, e))
		return -1;
	if (has && st_patch_of(s, v->name, &patch, e))
		return -1;
	int status = patch ? find_linked(s, "v.patch", v, patch, ST_LINK_PATCH, out, e) : 0;
	free(patch);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_store_of_version(struct st_store *s, const struct st_version *v, struct st_stored_list *out,
                    struct st_error *e)
{
	struct st_query *rows = NULL;
	*out = (struct st_stored_list){0};
	if (st_store_query(s, &rows, ST_STORED_QUERY "WHERE v.name = ? ORDER BY p.id", e))
		return -1;
	st_query_put_text(rows, 1, v->name);
	if (st_stored_take_all(rows, out, e))
		return -1;
	if (v->tree && find_linked(s, "v.tree", v, v->tree, ST_LINK_TREE, out, e))
		return -1;
	return find_by_patch(s, v, out, e);
}

/* The bytes from and to which hashes begin with these digits. */
static void
find_bounds(const char *digits, unsigned char low[ST_HASH_BYTES], unsigned char high[ST_HASH_BYTES])
{
	memset(low, 0, ST_HASH_BYTES);
	memset(high, 0xff, ST_HASH_BYTES);
	for (size_t i = 0; i < ST_HASH_HEX && digits[i]; i++) {
		unsigned char digit =
		        (unsigned char)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
		unsigned shift = i % 2 ? 0 : 4;
		low[i / 2] = (unsigned char)((low[i / 2] & ~(15u << shift)) | digit << shift);
		high[i / 2] = (unsigned char)((high[i / 2] & ~(15u << shift)) | digit << shift);
	}
}

st_status
st_store_find(struct st_store *s, const char *digits, struct st_stored *out, bool *found,
              struct st_error *e)
{
	unsigned char low[ST_HASH_BYTES], high[ST_HASH_BYTES];
	struct st_stored_list list = {0};
	struct st_query *rows = NULL;
	*found = false;
	if (strlen(digits) < SHORTEST_DIGITS || strlen(digits) > ST_HASH_HEX ||
	    !find_is_digits(digits))
		return 0;
	find_bounds(digits, low, high);
	if (st_store_query(s, &rows,
	                   ST_STORED_QUERY "WHERE p.hash BETWEEN ? AND ? ORDER BY p.hash LIMIT 2",
	                   e))
		return -1;
	st_query_put_bytes(rows, 1, low, sizeof low);
	st_query_put_bytes(rows, 2, high, sizeof high);
	int status = st_stored_take_all(rows, &list, e);
	if (!status && list.v.n > 1)
		status = st_fail(e, ST_EXIT_USAGE,
		                 "several profiles begin with '%s': write more digits of the one "
		                 "that you mean",
		                 digits);
	*found = !status && list.v.n == 1;
	if (*found) {
		*out = list.v.v[0];
		list.v.n = 0;
	}
	st_stored_list_free(&list);
	return status ? ST_FAILED : ST_OK;
}
