/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of studies with texts and bytes changed at random: read or refused, and what is read can be
 * analysed and printed. Rounds: 3000, or the first argument; seed: the second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study.h"

static char *original;
static size_t original_size;

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
respond(struct st_study_pair *p)
{
	p->measured = (struct st_study_time){1.1, 1.2 + 0.01 * (double)p->repetition};
	p->instructions = 50 + p->budget + p->repetition;
	p->raw = 500 + p->period;
}

static void
make_original(void)
{
	struct st_study s;
	struct st_analysis a;
	study_make(&s, 2, 2, respond);
	if (st_analysis_make(&a, &s, NULL) || !(original = st_study_json(&a, &s, NULL)))
		die("cannot make a study");
	original_size = strlen(original);
	st_study_free(&s);
}

/* Another value for one that stands behind a colon or begins a line: the form stays JSON. */
static void
write_value(FILE *out, size_t at)
{
	static const char *const values[] = {
	        "0",    "1",  "-1",   "1e300", "0.25", "4.0", "9007199254740993",
	        "null", "[]", "true", "\"\"",  "{}",   "2",   "18446744073709551616"};
	size_t end = at + strcspn(original + at, ",}]\n");
	fwrite(original, 1, at, out);
	fputs(values[(size_t)rand() % (sizeof values / sizeof *values)], out);
	fwrite(original + end, 1, original_size - end, out);
}

static void
write_bytes(FILE *out)
{
	char *mutant = malloc(original_size);
	size_t size = original_size;
	if (!mutant)
		die("no memory");
	memcpy(mutant, original, size);
	for (int n = 1 + rand() % 3; n > 0; n--)
		mutant[(size_t)rand() % size] = (char)rand();
	if (rand() % 10 == 0)
		size -= (size_t)rand() % size;
	fwrite(mutant, 1, size, out);
	free(mutant);
}

static void
write_mutant(const char *path)
{
	FILE *out = fopen(path, "w");
	size_t at = (size_t)rand() % original_size;
	const char *colon = strchr(original + at, ':');
	if (!out)
		die("cannot write the mutant");
	if (colon && rand() % 4)
		write_value(out, (size_t)(colon - original) + 2);
	else
		write_bytes(out);
	fclose(out);
}

static void
print(const struct st_study *s, FILE *nowhere)
{
	struct st_analysis a;
	struct st_error e;
	if (st_analysis_make(&a, s, &e))
		return;
	st_analysis_print(&a, s, true, nowhere, (struct st_style){.width = 80});
	free(st_study_json(&a, s, &e));
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3000, loaded = 0, refused = 0;
	char directory[] = "/tmp/strobe-fuzz-XXXXXX", path[64];
	FILE *nowhere = fopen("/dev/null", "w");
	if (!mkdtemp(directory) || !nowhere)
		die("no place for the mutants");
	snprintf(path, sizeof path, "%s/study", directory);
	make_original();
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	for (int i = 0; i < rounds; i++) {
		struct st_study s;
		struct st_error e = {0};
		write_mutant(path);
		bool good = !st_study_load(&s, path, &e);
		if (!good && (e.code != ST_EXIT_FAILED || !*e.text))
			die("refused without a cause");
		loaded += good;
		refused += !good;
		if (good)
			print(&s, nowhere);
		st_study_free(&s);
	}
	unlink(path);
	rmdir(directory);
	fclose(nowhere);
	free(original);
	printf("%d loaded, %d refused\n", loaded, refused);
	return loaded && refused ? 0 : 1; /* both, or the mutants prove nothing */
}
