/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables label and forest of a profile file, and with file_contexts.c and file_loops.c the
 * others of contexts. */
#include <string.h>

#include "profile/file_tables.h"
#include "wire/results/header.h"

static void
bind_index(sqlite3_stmt *s, int column, uint32_t index)
{
	if (index == UINT32_MAX)
		sqlite3_bind_null(s, column);
	else
		sqlite3_bind_int64(s, column, (int64_t)index + 1);
}

static int
finish_row(sqlite3 *db, sqlite3_stmt *s)
{
	int status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return status;
}

static int
insert_labels(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO label VALUES(?,?,?,?,?,?,?,?,?,?,?)", -1,
	                                &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->labels.n; i++) {
		const struct st_profile_label *l = &p->labels.v[i];
		sqlite3_bind_int64(s, 1, (int64_t)i + 1);
		bind_index(s, 2, l->image);
		sqlite3_bind_int64(s, 3, (int64_t)l->offset);
		bind_index(s, 4, l->function);
		if (l->file) {
			sqlite3_bind_text(s, 5, l->file, -1, SQLITE_STATIC);
			sqlite3_bind_int64(s, 6, l->line);
			sqlite3_bind_int64(s, 7, l->column);
		}
		if (l->bytes) {
			sqlite3_bind_int64(s, 8, l->bytes);
			sqlite3_bind_int64(s, 9, l->piece);
			sqlite3_bind_int64(s, 10, l->insns);
			bind_index(s, 11, l->next);
		}
		status = finish_row(db, s);
	}
	sqlite3_finalize(s);
	return status;
}

static int
insert_memory(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO forest VALUES(?,?)", -1, &s, NULL);
	sqlite3_bind_int64(s, 1, (int64_t)p->run.forest_bytes);
	sqlite3_bind_int64(s, 2, (int64_t)p->run.contexts_pruned);
	if (status == SQLITE_OK)
		status = finish_row(db, s);
	sqlite3_finalize(s);
	return status;
}

int
st_save_forest(sqlite3 *db, const struct st_profile *p)
{
	if (!p->contexts.n)
		return SQLITE_OK;
	int status = sqlite3_exec(
	        db,
	        "CREATE TABLE label(id INTEGER PRIMARY KEY, image INTEGER REFERENCES image,"
	        " offset INTEGER NOT NULL, function INTEGER REFERENCES function, file TEXT,"
	        " line INTEGER, column INTEGER, bytes INTEGER, piece INTEGER, insns INTEGER,"
	        " next INTEGER REFERENCES label);"
	        "CREATE TABLE forest(bytes INTEGER NOT NULL, pruned INTEGER NOT NULL);",
	        NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = insert_memory(db, p);
	if (status == SQLITE_OK)
		status = insert_labels(db, p);
	if (status == SQLITE_OK)
		status = st_save_contexts(db, p);
	return status == SQLITE_OK ? st_save_loops(db, p) : status;
}

/* The bounds of a basic block: columns 6 to 9. */
static void
load_piece(sqlite3_stmt *s, struct st_profile_label *out, bool *bad)
{
	int64_t bytes = sqlite3_column_int64(s, 6), piece = sqlite3_column_int64(s, 7);
	int64_t insns = sqlite3_column_int64(s, 8);
	*bad |= bytes < 0 || bytes > ST_BLOCK_MOST_BYTES || piece < 0 ||
	        piece > ST_BLOCK_MOST_BYTES || insns < 0 || insns > piece;
	out->bytes = (uint32_t)bytes;
	out->piece = (uint32_t)piece;
	out->insns = (uint32_t)insns;
	out->next = st_index_of(s, 9, UINT32_MAX, bad);
}

/* Does each piece go on where it ends? So none leads back to itself. */
static bool
are_pieces(const struct st_profile *p)
{
	for (size_t i = 0; i < p->labels.n; i++) {
		const struct st_profile_label *l = &p->labels.v[i], *next;
		if (l->next == UINT32_MAX)
			continue;
		if (l->next >= p->labels.n || !l->piece)
			return false;
		next = &p->labels.v[l->next];
		if (next->image != l->image || next->offset != l->offset + l->piece)
			return false;
	}
	return true;
}

static bool
load_labels(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	/* At first there were none of the last. */
	bool pieces = sqlite3_table_column_metadata(db, "main", "label", "piece", NULL, NULL, NULL,
	                                            NULL, NULL) == SQLITE_OK;
	int status = sqlite3_prepare_v2(
	        db,
	        pieces ? "SELECT image, offset, function, file, line, column, bytes, piece, insns,"
	                 " next FROM label ORDER BY id"
	               : "SELECT image, offset, function, file, line, column, 0, 0, 0,"
	                 " NULL FROM label ORDER BY id",
	        -1, &s, NULL);
	bool bad = status != SQLITE_OK;
	while (!bad && (status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_profile_label *out = ST_PUSH(&p->labels);
		const char *file = (const char *)sqlite3_column_text(s, 3);
		if (!out) {
			p->out_of_memory = bad = true;
			break;
		}
		out->image = st_index_of(s, 0, p->images.n, &bad);
		out->offset = (uint64_t)sqlite3_column_int64(s, 1);
		out->function = st_index_of(s, 2, p->functions.n, &bad);
		out->file = file ? st_profile_text(p, file) : NULL;
		out->line = (uint32_t)sqlite3_column_int64(s, 4);
		out->column = (uint32_t)sqlite3_column_int64(s, 5);
		load_piece(s, out, &bad);
	}
	sqlite3_finalize(s);
	return !bad && status == SQLITE_DONE && are_pieces(p);
}

/* At first this was not known. */
static bool
load_memory(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!st_has_table(db, "forest"))
		return true;
	int status = sqlite3_prepare_v2(db, "SELECT bytes, pruned FROM forest", -1, &s, NULL);
	bool good = status == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
	if (good) {
		p->run.forest_bytes = (uint64_t)sqlite3_column_int64(s, 0);
		p->run.contexts_pruned = (uint64_t)sqlite3_column_int64(s, 1);
	}
	sqlite3_finalize(s);
	return good;
}

bool
st_load_forest(sqlite3 *db, struct st_profile *p)
{
	if (!st_has_table(db, "label"))
		return true;
	return load_memory(db, p) && load_labels(db, p) && st_load_contexts(db, p) &&
	       st_load_loops(db, p);
}
