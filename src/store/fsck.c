/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/extract.h"
#include "store/object.h"
#include "store/stored.h"
#include "store/upkeep.h"

struct checking {
	struct st_store *s;
	struct st_fsck *out;
	bool failed; /* memory is exhausted */
};

/* Takes the sentence, which is malloc'ed. */
static void
fsck_problem(struct checking *c, char *sentence)
{
	char **slot = sentence ? ST_PUSH(&c->out->problems) : NULL;
	if (slot)
		*slot = sentence;
	else
		free(sentence);
	c->failed |= !slot;
}

static void
fsck_unreadable(struct checking *c, int64_t row)
{
	int64_t *slot = ST_PUSH(&c->out->unreadable);
	if (slot)
		*slot = row;
	c->failed |= !slot;
}

/* Asks the database for damaged pages, or for references to rows that are missing. sql NULL: the
 * database checks this itself. */
static st_status
fsck_database(struct checking *c, const char *sql, bool references, struct st_error *e)
{
	struct st_query *rows = NULL;
	struct st_error why;
	int step;
	if (!sql)
		return ST_OK;
	if (st_store_query(c->s, &rows, sql, e))
		return -1;
	while ((step = st_query_step(rows, &why)) > 0) {
		const char *said = st_query_text(rows, 0);
		if (references)
			fsck_problem(
			        c,
			        st_text_of("row %lld of the table %s names a %s that is not there",
			                   (long long)st_query_number(rows, 1), said ? said : "",
			                   st_query_text(rows, 2)));
		else if (said && strcmp(said, "ok") != 0)
			fsck_problem(c, st_text_of("the database: %s", said));
	}
	if (step)
		fsck_problem(c, st_text_of("the database: %s", why.text));
	st_query_end(rows);
	return 0;
}

/* The hash in the first column, as hexadecimal digits. */
static const char *
fsck_hex(struct st_query *rows, char hex[ST_HASH_HEX + 1])
{
	struct st_hash hash = {0};
	size_t n;
	const void *bytes = st_query_bytes(rows, 0, &n);
	if (bytes && n == sizeof hash.v)
		memcpy(hash.v, bytes, n);
	return st_hash_hex(&hash, hex);
}

/* Reports the profiles of which an object is a part. */
static void
fsck_blame(struct checking *c, int64_t object, const char *why)
{
	struct st_query *rows = NULL;
	struct st_error e;
	char hex[ST_HASH_HEX + 1];
	uint64_t n = 0;
	if (st_store_query(c->s, &rows,
	                   "SELECT DISTINCT p.hash, v.name, p.id FROM profile p LEFT JOIN "
	                   "version v ON v.id = p.version JOIN part t ON t.profile = p.id JOIN "
	                   "object o ON o.id = t.object WHERE o.id = ?1 OR o.base = ?1 ORDER BY 1",
	                   &e)) {
		fsck_problem(c, strdup(why));
		return;
	}
	st_query_put_number(rows, 1, object);
	while (st_query_step(rows, &e) > 0) {
		const char *version = st_query_text(rows, 1);
		fsck_problem(c, st_text_of("profile %.10s of %.10s cannot be read: %s",
		                           fsck_hex(rows, hex), version ? version : "?", why));
		fsck_unreadable(c, st_query_number(rows, 2));
		n++;
	}
	if (!n)
		fsck_problem(c, st_text_of("%s; no profile needs it", why));
	st_query_end(rows);
}

static st_status
fsck_objects(struct checking *c, struct st_error *e)
{
	struct st_query *rows = NULL;
	if (st_store_query(c->s, &rows, "SELECT id, base FROM object ORDER BY id", e))
		return -1;
	int step, status = 0;
	while (!status && (step = st_query_step(rows, e)) > 0) {
		struct st_bytes bytes;
		struct st_error why;
		int64_t row = st_query_number(rows, 0);
		bool bad = st_object_get_row(c->s, row, &bytes, &why);
		if (bad && st_store_is_lost(c->s)) {
			*e = why;
			status = -1;
		} else if (bad) {
			char *sentence = st_text_of("object %lld is damaged", (long long)row);
			fsck_blame(c, row, sentence ? sentence : "");
			free(sentence);
		}
		st_bytes_free(&bytes);
		c->out->objects++;
	}
	st_query_end(rows);
	return status || step < 0 ? ST_FAILED : ST_OK; /* step < 0: the server has gone */
}

/* The parts that a manifest names must exist and be counted as its parts, or gc would remove them.
 */
static void
fsck_columns(struct checking *c, const struct st_stored *p, struct st_pack *pack,
             struct st_query *is_part)
{
	struct st_error why;
	char hex[ST_HASH_HEX + 1];
	for (size_t i = 0; i < pack->tables.n; i++)
		for (size_t j = 0; j < pack->tables.v[i].columns.n; j++) {
			const struct st_pack_column *column = &pack->tables.v[i].columns.v[j];
			if (!column->apart)
				continue;
			st_query_put_number(is_part, 1, p->row);
			st_query_put_bytes(is_part, 2, column->hash.v, ST_HASH_BYTES);
			if (st_query_step(is_part, &why) <= 0) {
				fsck_unreadable(c, p->row);
				fsck_problem(
				        c, st_text_of("profile %.10s of %.10s cannot be read: the "
				                      "object of %s.%s is missing",
				                      st_hash_hex(&p->hash, hex), p->of,
				                      pack->tables.v[i].name, column->name));
			}
			st_query_again(is_part);
		}
}

static void
fsck_profile(struct checking *c, const struct st_stored *p, struct st_query *is_part)
{
	struct st_pack pack = {0};
	struct st_error why;
	char hex[ST_HASH_HEX + 1];
	if (st_store_manifest(c->s, p, &pack, &why)) {
		fsck_unreadable(c, p->row);
		fsck_problem(c, st_text_of("profile %.10s of %.10s cannot be read: its manifest is "
		                           "missing or damaged",
		                           st_hash_hex(&p->hash, hex), p->of));
	} else
		fsck_columns(c, p, &pack, is_part);
	st_pack_free(&pack);
	c->out->profiles++;
}

static st_status
fsck_profiles(struct checking *c, struct st_error *e)
{
	struct st_stored_list all = {0};
	struct st_query *rows = NULL, *is_part = NULL;
	int status = st_store_query(c->s, &rows, ST_STORED_QUERY "ORDER BY p.id", e);
	if (!status)
		status = st_stored_take_all(rows, &all, e);
	if (!status)
		status = st_store_query(c->s, &is_part,
		                        "SELECT 1 FROM part t JOIN object o ON o.id = t.object "
		                        "WHERE t.profile = ? AND o.hash = ?",
		                        e);
	for (size_t i = 0; i < all.v.n && !status; i++) {
		fsck_profile(c, &all.v.v[i], is_part);
		if (st_store_is_lost(c->s))
			status = st_query_step(is_part, e) < 0 ? -1 : 0; /* fills in *e */
	}
	st_query_end(is_part);
	st_stored_list_free(&all);
	return status ? ST_FAILED : ST_OK;
}

/* The objects of profiles, and their bases; part has no index by object. */
static st_status
fsck_unused(struct checking *c, struct st_error *e)
{
	struct st_query *rows = NULL;
	if (st_store_query(c->s, &rows,
	                   "WITH used(id) AS (SELECT object FROM part UNION SELECT o.base FROM "
	                   "object o JOIN part t ON t.object = o.id WHERE o.base IS NOT NULL) "
	                   "SELECT count(*) FROM object WHERE id NOT IN (SELECT id FROM used)",
	                   e))
		return -1;
	int step = st_query_step(rows, e);
	if (step > 0)
		c->out->unused = (uint64_t)st_query_number(rows, 0);
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

st_status
st_fsck(struct st_store *s, struct st_fsck *out, struct st_error *e)
{
	struct checking c = {.s = s, .out = out};
	const struct st_database_kind *kind = s->database->kind;
	*out = (struct st_fsck){0};
	if (fsck_database(&c, kind->integrity, false, e) ||
	    fsck_database(&c, kind->dangling, true, e) || fsck_objects(&c, e) ||
	    fsck_profiles(&c, e) || fsck_unused(&c, e))
		return -1;
	return c.failed ? st_store_no_memory(e) : ST_OK;
}

void
st_fsck_free(struct st_fsck *f)
{
	for (size_t i = 0; i < f->problems.n; i++)
		free(f->problems.v[i]);
	free(f->problems.v);
	free(f->unreadable.v);
	*f = (struct st_fsck){0};
}
