/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of columns with bytes changed at random: read or refused with a cause, and what is read can
 * be modelled. Rounds: 3000, or the first argument; seed: the second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/choice.h"
#include "model/csv.h"

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
write_csv_mutant(const char *path)
{
	static const char bytes[] = "\",;\t \n\r#-.eE0123456789naNAxy";
	static const char original[] =
	        "n,time,\"a \"\"name\"\"\"\n1,2.5,7\n2,4.25,8\n# no point\n4,8,1e300\n8,,3\n"
	        "16,32,-1\n0,1,2\n-3,5,6\n32,64.5,\"9\"\n";
	char mutant[sizeof original];
	size_t size = sizeof original - 1;
	FILE *out = fopen(path, "w");
	if (!out)
		die("cannot write the mutant");
	memcpy(mutant, original, sizeof mutant);
	for (int n = rand() % 4; n > 0; n--)
		mutant[(size_t)rand() % size] =
		        rand() % 4 ? bytes[(size_t)rand() % (sizeof bytes - 1)] : (char)rand();
	if (rand() % 10 == 0)
		size -= (size_t)rand() % size;
	fwrite(mutant, 1, size, out);
	fclose(out);
}

int
main(int argc, char **argv)
{
	static const char *const columns[] = {NULL, "n", "time", "3", "1", "none"};
	int rounds = argc > 1 ? atoi(argv[1]) : 3000, loaded = 0, refused = 0;
	char directory[] = "/tmp/strobe-fuzz-XXXXXX", path[64];
	if (!mkdtemp(directory))
		die("no place for the mutants");
	snprintf(path, sizeof path, "%s/points", directory);
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	for (int i = 0; i < rounds; i++) {
		struct st_csv csv;
		struct st_choice c;
		struct st_error e = {0};
		write_csv_mutant(path);
		const bool good =
		        !st_csv_read(&csv, path, columns[rand() % 6], columns[rand() % 6], &e);
		const struct st_points points = st_csv_points(&csv);
		if (!good && (!e.code || !*e.text))
			die("refused without a cause");
		loaded += good;
		refused += !good;
		if (good && st_choice_make(&c, &points, ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e) &&
		    !*e.text)
			die("not modelled, without a cause");
		st_csv_free(&csv);
	}
	unlink(path);
	rmdir(directory);
	printf("%d loaded, %d refused\n", loaded, refused);
	return loaded && refused ? 0 : 1; /* both, or the mutants prove nothing */
}
