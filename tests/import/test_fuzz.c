/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of other tools with bytes and pieces changed at random: each reader takes or refuses them
 * with a cause, and what it takes can be written in every format.
 * usage: test_fuzz ROUNDS FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/measurements_csv.h"
#include "export/perun.h"
#include "import/import.h"
#include "profile/profile.h"
#include "report/report.h"

static void
die(const char *what, const char *more)
{
	fprintf(stderr, "%s: %s\n", what, more);
	exit(1);
}

static char *
read_file(const char *path, size_t *n)
{
	enum { MOST = 1 << 20 };
	FILE *f = fopen(path, "r");
	char *bytes = malloc(MOST);
	if (!f || !bytes)
		die("cannot read", path);
	*n = fread(bytes, 1, MOST, f);
	fclose(f);
	return bytes;
}

static size_t
any(size_t below)
{
	return below ? (size_t)rand() % below : 0;
}

/* A byte, a digit run, a piece doubled, a piece removed, an end cut off. malloc'ed. */
static char *
mutant_of(const char *bytes, size_t n, size_t *size)
{
	static const char *const words[] = {"",      "-1",
	                                    "1e999", "99999999999999999999",
	                                    "null",  "[]",
	                                    "{}",    "\"\"",
	                                    "\n",    ";",
	                                    " ",     "\t",
	                                    "(1)",   "\xff\xff\xff\xff\x0f",
	                                    "+3",    "\"a\\u0000\"",
	                                    "*",     "0x",
	                                    ":",     "["};
	char *m = malloc(2 * n + 256);
	memcpy(m, bytes, n);
	for (int changes = 1 + rand() % 4; changes > 0; changes--) {
		size_t at = any(n), length = any(n - at < 24 ? n - at + 1 : 24);
		const char *word = words[any(sizeof words / sizeof *words)];
		size_t w = strlen(word);
		switch (rand() % 5) {
		case 0:
			m[at] = (char)rand();
			break;
		case 1:
			memmove(m + at, m + at + length, n - at - length);
			n -= length;
			break;
		case 2:
			if (n + length < *size) {
				memmove(m + at + length, m + at, n - at);
				n += length;
			}
			break;
		case 3:
			if (n + w < *size) {
				memmove(m + at + w, m + at, n - at);
				memcpy(m + at, word, w);
				n += w;
			}
			break;
		default:
			n -= rand() % 8 ? 0 : length;
		}
		if (!n)
			m[n++] = ' ';
	}
	*size = n;
	return m;
}

static void
write_all(const struct st_profile *p, FILE *nowhere)
{
	struct st_report r = {.profile = p, .parts = ~0u, .style = {.width = 80}};
	struct st_error e;
	ST_IGNORE(st_export_perun(p, nowhere, &e));
	ST_IGNORE(st_export_measurements_csv(p, nowhere, &e));
	st_report_summary(&r, nowhere);
	free(st_report_json(&r, &e));
}

static void
try_bytes(const char *bytes, size_t n, const char *format, FILE *nowhere, int *taken)
{
	const struct st_import_format *used;
	struct st_error e = {0};
	struct st_profile *p = st_import_bytes("mutant", bytes, n, format, &used, &e);
	if (!p && (e.code != ST_EXIT_FAILED || !*e.text))
		die("refused without a cause", e.text);
	*taken += p != NULL;
	if (p)
		write_all(p, nowhere);
	st_profile_free(p);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	FILE *nowhere = fopen("/dev/null", "w");
	srand(1);
	for (int i = 2; i < argc; i++) {
		size_t n, size;
		char *bytes = read_file(argv[i], &n);
		const struct st_import_format *format;
		struct st_error e;
		struct st_profile *p = st_import_bytes(argv[i], bytes, n, NULL, &format, &e);
		int taken = 0;
		if (!p)
			die(argv[i], e.text);
		st_profile_free(p);
		for (int round = 0; round < rounds; round++) {
			size = 2 * n + 200;
			char *m = mutant_of(bytes, n, &size);
			char *exact = malloc(size); /* so that a sanitizer sees its end */
			memcpy(exact, m, size);
			free(m);
			try_bytes(exact, size, format->name, nowhere, &taken);
			free(exact);
		}
		printf("%s: %s, %d of %d taken\n", argv[i], format->name, taken, rounds);
		free(bytes);
		if (taken == 0)
			die("the mutants of this file prove nothing", argv[i]);
	}
	fclose(nowhere);
	return 0;
}
