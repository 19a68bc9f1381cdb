/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tools with bytes changed at random: read or refused, and what is read can be placed and
 * described. Arguments: a tool; rounds, 2000 unless given; seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolkit/toolfile.h"

static unsigned char original[1 << 20], mutant[1 << 20];
static size_t original_size;

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Bytes anywhere, or eight bytes of the tables as a number that is nearly right. */
static void
write_mutant(const char *path)
{
	size_t size = original_size;
	memcpy(mutant, original, size);
	for (int n = 1 + rand() % 6; n > 0; n--) {
		size_t at;
		do /* most of a file is padding */
			at = (size_t)rand() % (rand() % 4 ? 20000 : size) & ~(size_t)7;
		while (at + 8 > size || !memcmp(original + at, (char[8]){0}, 8));
		uint64_t word = (uint64_t)rand() << rand() % 40;
		if (rand() % 2)
			memcpy(mutant + at, &word, 8);
		else
			mutant[at + (size_t)rand() % 8] = (unsigned char)rand();
	}
	if (rand() % 10 == 0)
		size -= (size_t)rand() % size;
	if (size > 8)
		memcpy(mutant, original, 8); /* what is not even ELF is refused early */
	FILE *out = fopen(path, "w");
	if (!out || fwrite(mutant, 1, size, out) != size)
		die("cannot write the mutant");
	fclose(out);
}

static void
use(const struct st_tool_file *f)
{
	const strobe_tool *t = st_tool_file_about(f);
	const struct st_tool_result *results;
	uint64_t delta;
	size_t size, letters = strlen(t->name) + strlen(t->help);
	for (size_t i = 0; i < STROBE_MOST_OPTIONS && t->options[i].name; i++)
		letters += strlen(t->options[i].name) + strlen(t->options[i].value) +
		           strlen(t->options[i].help);
	for (size_t n = st_tool_file_results(f, &results), i = 0; i < n; i++) {
		letters += strlen(results[i].name) + strlen(results[i].help);
		for (size_t c = 0; c < results[i].n_columns; c++)
			letters += strlen(results[i].columns[c].name) +
			           (results[i].columns[c].type > STROBE_SYSCALL);
	}
	unsigned char *image = st_tool_file_place(f, 0x7f0000000000, 0x7e0000000000, &size);
	if (!image || size % 4096 || !letters)
		die("a tool that cannot be placed");
	for (uint64_t at = 0; at < size; at += 512)
		st_tool_file_function(f, at, &delta);
	free(image);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 2000, taken = 0, refused = 0;
	char path[] = "/tmp/strobe-fuzz-XXXXXX";
	FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
	int fd = mkstemp(path);
	if (!in || fd < 0)
		die("usage: fuzz_toolfile TOOL [ROUNDS [SEED]]");
	close(fd);
	original_size = fread(original, 1, sizeof original, in);
	fclose(in);
	srand(argc > 3 ? (unsigned)atoi(argv[3]) : 1);
	for (int i = 0; i < rounds; i++) {
		struct st_error e = {0};
		write_mutant(path);
		struct st_tool_file *f = st_tool_file_read(path, &e);
		if (!f && (e.code != ST_EXIT_USAGE || !*e.text))
			die("refused without a cause");
		if (f)
			use(f);
		taken += f != NULL;
		refused += f == NULL;
		st_tool_file_free(f);
	}
	unlink(path);
	printf("%d read, %d refused\n", taken, refused);
	return taken && refused ? 0 : 1; /* both, or the mutants prove nothing */
}
