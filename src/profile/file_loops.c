/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table loop of a profile file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/file_tables.h"

/* Numbers with blanks between them, up to the last that is not 0. */
enum { CLASSES_TEXT = STROBE_LOOP_CLASSES * 21 };

static void
format_classes(const struct st_loop *l, char text[CLASSES_TEXT])
{
	unsigned n = STROBE_LOOP_CLASSES;
	char *at = text;
	while (n && !l->classes[n - 1])
		n--;
	*at = 0;
	for (unsigned i = 0; i < n; i++)
		at += snprintf(at, (size_t)(text + CLASSES_TEXT - at), i ? " %" PRIu64 : "%" PRIu64,
		               l->classes[i]);
}

/* And their sum. */
static bool
parse_classes(const char *text, struct st_loop *l)
{
	for (unsigned i = 0; text && *text; i++) {
		char *end;
		if (i == STROBE_LOOP_CLASSES)
			return false;
		l->classes[i] = strtoull(text, &end, 10);
		if (end == text || (*end && *end != ' '))
			return false;
		l->entries += l->classes[i];
		text = *end ? end + 1 : end;
	}
	return true;
}

int
st_save_loops(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	char classes[CLASSES_TEXT];
	if (!p->loops.n)
		return SQLITE_OK;
	int status = sqlite3_exec(
	        db,
	        "CREATE TABLE loop(context INTEGER PRIMARY KEY REFERENCES context,"
	        " iterations INTEGER NOT NULL, least INTEGER NOT NULL, most INTEGER NOT NULL,"
	        " entries TEXT NOT NULL);",
	        NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, "INSERT INTO loop VALUES(?,?,?,?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->loops.n; i++) {
		const struct st_profile_loop *l = &p->loops.v[i];
		format_classes(&l->loop, classes);
		sqlite3_bind_int64(s, 1, (int64_t)l->context + 1);
		sqlite3_bind_int64(s, 2, (int64_t)l->loop.iterations);
		sqlite3_bind_int64(s, 3, (int64_t)l->loop.least);
		sqlite3_bind_int64(s, 4, (int64_t)l->loop.most);
		sqlite3_bind_text(s, 5, classes, -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

bool
st_load_loops(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!st_has_table(db, "loop"))
		return true;
	int status = sqlite3_prepare_v2(
	        db, "SELECT context, iterations, least, most, entries FROM loop ORDER BY context",
	        -1, &s, NULL);
	bool bad = status != SQLITE_OK;
	while (!bad && (status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_profile_loop *out = ST_PUSH(&p->loops);
		int64_t context = sqlite3_column_int64(s, 0);
		if (!out) {
			p->out_of_memory = bad = true;
			break;
		}
		bad |= context < 1 || (uint64_t)context > p->contexts.n;
		out->context = bad ? 0 : (uint32_t)(context - 1);
		out->loop.iterations = (uint64_t)sqlite3_column_int64(s, 1);
		out->loop.least = (uint64_t)sqlite3_column_int64(s, 2);
		out->loop.most = (uint64_t)sqlite3_column_int64(s, 3);
		bad |= !parse_classes((const char *)sqlite3_column_text(s, 4), &out->loop) ||
		       !out->loop.entries;
	}
	sqlite3_finalize(s);
	return !bad && status == SQLITE_DONE;
}
