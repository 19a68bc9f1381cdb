/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table contexts of a profile file. There are millions of contexts where loops are rolled, and
 * a row of SQL for each took longer than the program; so a row has many, as numbers of few bytes.
 * docs/profile.md says which.
 */
#include <stdlib.h>

#include "base/varint.h"
#include "profile/file_tables.h"

enum {
	AT_ONCE = 16384,                 /* contexts in a row */
	MOST_BYTES = 7 * ST_VARINT_MOST, /* of one */
	LEAST_NUMBERS = 4,               /* each at least a byte */
	INDEX_BITS = 32,
};

static bool
has_costs(const struct st_profile_context *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].self_ns || c[i].instructions)
			return true;
	return false;
}

static unsigned char *
put_context(unsigned char *at, const struct st_profile_context *c, size_t i, bool costs)
{
	bool root = c->parent == UINT32_MAX;
	at = st_varint_put(at, root ? 0 : i - c->parent);
	if (root)
		at = st_varint_put(at, (uint64_t)c->thread + 1);
	at = st_varint_put(at, (uint64_t)c->label + 1);
	at = st_varint_put(
	        at, c->link == UINT32_MAX ? 0 : 1 + st_zigzag((int64_t)i - (int64_t)c->link));
	at = st_varint_put(at, c->count);
	if (costs) {
		at = st_varint_put(at, c->self_ns);
		at = st_varint_put(at, c->instructions);
	}
	return at;
}

/* Contexts first to first + n - 1, as one row. */
static int
insert_some(sqlite3 *db, sqlite3_stmt *s, unsigned char *bytes, const struct st_profile *p,
            size_t first, size_t n)
{
	bool costs = has_costs(&p->contexts.v[first], n);
	unsigned char *at = bytes;
	for (size_t i = first; i < first + n; i++)
		at = put_context(at, &p->contexts.v[i], i, costs);
	sqlite3_bind_int64(s, 1, (int64_t)first + 1);
	sqlite3_bind_int64(s, 2, (int64_t)n);
	sqlite3_bind_int64(s, 3, costs);
	sqlite3_bind_blob64(s, 4, bytes, (sqlite3_uint64)(at - bytes), SQLITE_STATIC);
	int status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
	sqlite3_reset(s);
	return status;
}

int
st_save_contexts(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	unsigned char *bytes = malloc((size_t)AT_ONCE * MOST_BYTES);
	int status = bytes ? sqlite3_exec(db,
	                                  "CREATE TABLE contexts(first INTEGER PRIMARY KEY,"
	                                  " n INTEGER NOT NULL, costs INTEGER NOT NULL,"
	                                  " numbers BLOB NOT NULL);",
	                                  NULL, NULL, NULL)
	                   : SQLITE_NOMEM;
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, "INSERT INTO contexts VALUES(?,?,?,?)", -1, &s,
		                            NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->contexts.n; i += AT_ONCE) {
		size_t left = p->contexts.n - i;
		status = insert_some(db, s, bytes, p, i, left < AT_ONCE ? left : AT_ONCE);
	}
	sqlite3_finalize(s);
	free(bytes);
	return status;
}

/* Bytes of a row, being read. They may come from anyone: `bad` once they cannot be contexts. */
struct numbers {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t
file_contexts_take(struct numbers *in, unsigned bits)
{
	uint64_t n = 0;
	in->bad |= !st_varint_take(&in->at, in->end, bits, &n);
	return n;
}

/* A row of a table with n rows, by its id. */
static uint32_t
take_id(struct numbers *in, size_t n)
{
	uint64_t id = file_contexts_take(in, INDEX_BITS);
	in->bad |= id < 1 || id > n;
	return (uint32_t)(id - 1);
}

/* Its own index is i; all before it are there. Where links lead is looked at when all are read. */
static void
take_context(struct numbers *in, const struct st_profile *p, size_t i, bool costs,
             struct st_profile_context *out)
{
	uint64_t up = file_contexts_take(in, INDEX_BITS);
	in->bad |= up > i;
	out->parent = up && !in->bad ? (uint32_t)(i - up) : UINT32_MAX;
	out->thread = out->parent == UINT32_MAX ? take_id(in, p->threads.n)
	                                        : p->contexts.v[out->parent].thread;
	out->label = take_id(in, p->labels.n);
	uint64_t link = file_contexts_take(in, INDEX_BITS + 2);
	int64_t to = link ? (int64_t)i - st_unzigzag(link - 1) : UINT32_MAX;
	in->bad |= to < 0 || to > UINT32_MAX;
	out->link = (uint32_t)to;
	out->count = file_contexts_take(in, 64);
	out->self_ns = costs ? file_contexts_take(in, 64) : 0;
	out->instructions = costs ? file_contexts_take(in, 64) : 0;
}

/* The contexts of the row at hand; false: it is damaged, or memory is exhausted. */
static bool
load_some(sqlite3_stmt *s, struct st_profile *p)
{
	int64_t first = sqlite3_column_int64(s, 0), n = sqlite3_column_int64(s, 1);
	bool costs = sqlite3_column_int(s, 2) != 0;
	const unsigned char *bytes = sqlite3_column_blob(s, 3);
	int64_t size = sqlite3_column_bytes(s, 3);
	struct numbers in = {bytes, bytes + size,
	                     first != (int64_t)p->contexts.n + 1 || n < 0 ||
	                             n > size / LEAST_NUMBERS};
	for (int64_t i = 0; i < n && !in.bad; i++) {
		size_t index = p->contexts.n;
		struct st_profile_context *out = ST_PUSH(&p->contexts);
		if (!out) {
			p->out_of_memory = true;
			return false;
		}
		take_context(&in, p, index, costs, out);
	}
	return !in.bad && in.at == in.end;
}

static bool
load_contexts(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(
	        db, "SELECT first, n, costs, numbers FROM contexts ORDER BY first", -1, &s, NULL);
	bool good = status == SQLITE_OK;
	while (good && (status = sqlite3_step(s)) == SQLITE_ROW)
		good = load_some(s, p);
	sqlite3_finalize(s);
	return good && status == SQLITE_DONE;
}

/* Up to version 3 each context was a row of its own. */
static bool
file_contexts_load_rows(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db,
	                                "SELECT thread, parent, label, link, count, self_ns, "
	                                "instructions FROM context ORDER BY id",
	                                -1, &s, NULL);
	bool bad = status != SQLITE_OK;
	while (!bad && (status = sqlite3_step(s)) == SQLITE_ROW) {
		size_t index = p->contexts.n;
		struct st_profile_context *out = ST_PUSH(&p->contexts);
		if (!out) {
			p->out_of_memory = bad = true;
			break;
		}
		out->thread = st_index_of(s, 0, p->threads.n, &bad);
		out->parent = st_index_of(s, 1, index, &bad); /* before it: there is no circle */
		out->label = st_index_of(s, 2, p->labels.n, &bad);
		out->link = st_index_of(s, 3, UINT32_MAX, &bad);
		bad |= out->thread == UINT32_MAX || out->label == UINT32_MAX;
		out->count = (uint64_t)sqlite3_column_int64(s, 4);
		out->self_ns = (uint64_t)sqlite3_column_int64(s, 5);
		out->instructions = (uint64_t)sqlite3_column_int64(s, 6);
	}
	sqlite3_finalize(s);
	return !bad && status == SQLITE_DONE;
}

static bool
links_lead_to_contexts(const struct st_profile *p)
{
	for (size_t i = 0; i < p->contexts.n; i++) {
		uint32_t link = p->contexts.v[i].link;
		if (link != UINT32_MAX && link >= p->contexts.n)
			return false;
	}
	return true;
}

bool
st_load_contexts(sqlite3 *db, struct st_profile *p)
{
	bool good = st_has_table(db, "contexts") ? load_contexts(db, p)
	                                         : file_contexts_load_rows(db, p);
	return good && links_lead_to_contexts(p);
}
