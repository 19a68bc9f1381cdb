/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executes a file of SQL in a new database in memory; prints the number of rows and a checksum of
 * all values, so that versions can be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

static char *
read_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *text = NULL;
	if (in && !fseek(in, 0, SEEK_END)) {
		const long n = ftell(in);
		rewind(in);
		text = calloc(1, (size_t)n + 1);
		if (text && fread(text, 1, (size_t)n, in) != (size_t)n)
			*text = '\0';
	}
	if (in)
		fclose(in);
	return text;
}

static unsigned long
checksum(unsigned long sum, const char *text)
{
	for (; text && *text; text++)
		sum = sum * 31 + (unsigned char)*text;
	return sum;
}

int
main(int argc, char **argv)
{
	char *text = argc == 2 ? read_file(argv[1]) : NULL;
	const char *rest = text;
	unsigned long rows = 0, sum = 0;
	sqlite3 *db;
	if (!text || sqlite3_open(":memory:", &db))
		return 2;
	while (rest && *rest) {
		sqlite3_stmt *statement;
		int step = SQLITE_DONE;
		if (sqlite3_prepare_v2(db, rest, -1, &statement, &rest))
			step = SQLITE_ERROR;
		while (statement && step != SQLITE_ERROR &&
		       (step = sqlite3_step(statement)) == SQLITE_ROW) {
			rows++;
			for (int i = 0; i < sqlite3_column_count(statement); i++)
				sum = checksum(sum,
				               (const char *)sqlite3_column_text(statement, i));
		}
		sqlite3_finalize(statement);
		if (step != SQLITE_DONE) {
			fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
			return 1;
		}
	}
	printf("%lu rows, checksum %016lx\n", rows, sum);
	sqlite3_close(db);
	free(text);
	return 0;
}
