/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "store/patches.h"

/* A version of the store. */
struct counted {
	struct st_version version;
	char *patch;
	uint64_t profiles;
	bool placed; /* its profiles belong to a version that is listed */
};

struct reading {
	struct st_store *s;
	struct st_history *out;
	uint64_t most;
	ST_VEC(struct counted) counted;
	struct st_hashmap by_name;
	bool stopped, failed;
};

static void
history_free_counted(struct counted *c)
{
	st_version_free(&c->version);
	free(c->patch);
}

static bool
history_take_counted(struct reading *r, struct st_query *rows)
{
	struct counted *c = ST_PUSH(&r->counted);
	if (!c)
		return false;
	c->version = (struct st_version){.name = st_query_copy(rows, 0),
	                                 .tree = st_query_copy(rows, 1),
	                                 .subject = st_query_copy(rows, 3),
	                                 .time = st_query_number(rows, 4)};
	c->patch = st_query_copy(rows, 2);
	c->profiles = (uint64_t)st_query_number(rows, 5);
	return c->version.name && c->version.subject &&
	       !st_hashmap_add(&r->by_name, st_hash_text(c->version.name),
	                       (uint32_t)r->counted.n - 1);
}

static st_status
history_count(struct reading *r, struct st_error *e)
{
	struct st_query *rows = NULL;
	int step;
	if (st_store_query(r->s, &rows,
	                   "SELECT v.name, v.tree, v.patch, v.subject, v.time, p.n FROM (SELECT "
	                   "version, count(*) AS n FROM profile GROUP BY version) p JOIN version v "
	                   "ON v.id = p.version ORDER BY v.time DESC, v.id DESC",
	                   e))
		return -1;
	while ((step = st_query_step(rows, e)) > 0)
		if (!history_take_counted(r, rows)) {
			step = st_store_no_memory(e);
			break;
		}
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static bool
history_copy_version(struct st_version *to, const struct st_version *from)
{
	*to = (struct st_version){.name = strdup(from->name),
	                          .tree = from->tree ? strdup(from->tree) : NULL,
	                          .subject = strdup(from->subject),
	                          .time = from->time,
	                          .cut = from->cut};
	return to->name && to->subject && (!from->tree || to->tree);
}

static bool
history_visit(void *arg, const struct st_version *v, uint64_t steps)
{
	struct reading *r = arg;
	(void)steps;
	if (r->most && r->out->v.n >= r->most) {
		r->stopped = true;
		return false;
	}
	struct st_logged *slot = ST_PUSH(&r->out->v);
	if (!slot || !history_copy_version(&slot->version, v)) {
		r->failed = true;
		return false;
	}
	r->out->cut |= v->cut;
	uint32_t i = ST_HASHMAP_FIND(&r->by_name, st_hash_text(v->name), at,
	                             !strcmp(r->counted.v[at].version.name, v->name));
	if (i != ST_HASHMAP_NONE) {
		slot->profiles += r->counted.v[i].profiles;
		r->counted.v[i].placed = true;
	}
	return true;
}

/* Whether profiles of a version that was not listed may belong to one that was: not if it is
 * further back in the same history. */
static bool
history_is_elsewhere(const struct reading *r, const struct counted *c)
{
	return !c->placed &&
	       (!r->stopped ||
	        !r->s->vcs->kind->reaches(r->s->vcs, r->out->v.v[0].version.name, c->version.name));
}

/* Texts of listed versions by which others may belong to them. */
struct keyed {
	struct st_hashmap map;
	ST_VEC(uint32_t) logged; /* by the index in the map */
	ST_VEC(char *) key;      /* the same */
};

static bool
history_add_key(struct keyed *k, uint32_t logged, const char *key)
{
	uint32_t *slot = ST_PUSH(&k->logged);
	char **text = ST_PUSH(&k->key);
	if (!slot || !text || !(*text = strdup(key)))
		return false;
	*slot = logged;
	return !st_hashmap_add(&k->map, st_hash_text(key), (uint32_t)k->key.n - 1);
}

static void
history_free_keys(struct keyed *k)
{
	for (size_t i = 0; i < k->key.n; i++)
		free(k->key.v[i]);
	free(k->key.v);
	free(k->logged.v);
	st_hashmap_free(&k->map);
}

static void
history_place(struct reading *r, const struct keyed *k, bool by_patch)
{
	for (size_t i = 0; i < r->counted.n; i++) {
		struct counted *c = &r->counted.v[i];
		const char *key = by_patch ? c->patch : c->version.tree;
		if (c->placed || !key)
			continue;
		uint32_t at_key =
		        ST_HASHMAP_FIND(&k->map, st_hash_text(key), at, !strcmp(k->key.v[at], key));
		if (at_key == ST_HASHMAP_NONE || !history_is_elsewhere(r, c))
			continue;
		r->out->v.v[k->logged.v[at_key]].profiles += c->profiles;
		c->placed = true;
	}
}

static st_status
history_place_by_tree(struct reading *r, struct st_error *e)
{
	struct keyed k = {0};
	bool good = true;
	for (size_t i = 0; i < r->out->v.n && good; i++)
		if (r->out->v.v[i].version.tree)
			good = history_add_key(&k, (uint32_t)i, r->out->v.v[i].version.tree);
	if (good)
		history_place(r, &k, false);
	history_free_keys(&k);
	return good ? 0 : st_store_no_memory(e);
}

/* Patch ids are computed only when a profile is left that may be found by one, and only of versions
 * that have no profile yet. */
static st_status
history_place_by_patch(struct reading *r, struct st_error *e)
{
	struct keyed k = {0};
	struct st_error why;
	bool left = false;
	int status = 0;
	for (size_t i = 0; i < r->counted.n && !left; i++)
		left = r->counted.v[i].patch && history_is_elsewhere(r, &r->counted.v[i]);
	bool together = left && r->s->database->writable && !st_store_begin(r->s, &why);
	for (size_t i = 0; left && i < r->out->v.n && !status; i++) {
		char *patch = NULL;
		if (r->out->v.v[i].profiles)
			continue;
		status = st_patch_of(r->s, r->out->v.v[i].version.name, &patch, e);
		if (!status && patch && !history_add_key(&k, (uint32_t)i, patch))
			status = st_store_no_memory(e);
		free(patch);
	}
	if (together)
		(void)!st_store_commit(r->s, &why);
	if (!status && left)
		history_place(r, &k, true);
	history_free_keys(&k);
	return status ? ST_FAILED : ST_OK;
}

static st_status
history_list_gone(struct reading *r, bool list, struct st_error *e)
{
	r->out->whole = !r->stopped;
	for (size_t i = 0; i < r->counted.n && r->out->whole; i++) {
		struct counted *c = &r->counted.v[i];
		if (c->placed)
			continue;
		r->out->gone += c->profiles;
		struct st_logged *slot = list ? ST_PUSH(&r->out->v) : NULL;
		if (slot) {
			*slot = (struct st_logged){c->version, c->profiles, true};
			c->version = (struct st_version){0};
		} else if (list) {
			return st_store_no_memory(e);
		}
	}
	return 0;
}

static st_status
history_read_from(struct reading *r, const char *from, bool gone, struct st_error *e)
{
	if (history_count(r, e) ||
	    r->s->vcs->kind->walk(r->s->vcs, from, ST_VCS_NEWEST, history_visit, r, e))
		return -1;
	if (r->failed)
		return st_store_no_memory(e);
	if (r->out->v.n && (history_place_by_tree(r, e) || history_place_by_patch(r, e)))
		return -1;
	return history_list_gone(r, gone, e);
}

st_status
st_history_read(struct st_store *s, const char *rev, uint64_t most, bool gone,
                struct st_history *out, struct st_error *e)
{
	struct reading r = {.s = s, .out = out, .most = gone ? 0 : most};
	struct st_version from = {0};
	*out = (struct st_history){0};
	int status =
	        rev ? st_store_version(s, rev, &from, e) : s->vcs->kind->head(s->vcs, &from, e);
	if (!status)
		status = history_read_from(&r, from.name, gone, e);
	for (size_t i = 0; i < r.counted.n; i++)
		history_free_counted(&r.counted.v[i]);
	free(r.counted.v);
	st_hashmap_free(&r.by_name);
	st_version_free(&from);
	return status ? ST_FAILED : ST_OK;
}

void
st_history_free(struct st_history *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		st_version_free(&h->v.v[i].version);
	free(h->v.v);
	*h = (struct st_history){0};
}
