/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of jobs with bytes and pieces changed at random: each is taken or refused with a cause.
 * usage: test_fuzz ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "job/plan.h"

static const char seed_text[] =
        "commands: [./a, \"./b 'c d'\"]\narguments: ['', --fast]\nworkloads:\n"
        "  - integer: {min: 1, max: 9, step: 2}\n  - string: {min: 1, max: 3}\n"
        "  - textfile: {min: 1, max: 2, min-row: 5, max-row: 8, randomize-rows: false}\n"
        "  - singleton: {value: x, size: 3}\n  - external: {program: gen, format: 'g-{size}'}\n"
        "  - plain\ncollectors:\n  - time\n  - run: [-t hot, -t bbcount]\n  - ./own: ~\n"
        "repeat: 3\ntimeout: 2s\naslr: true\nbuild: [make]\nbefore: []\npostprocess: |\n  text\n";

static const char *const words[] = {"",   "-",    "- ",    ": ", "{",    "}",    "[",  "]",
                                    "*a", "&a ",  "---\n", "\"", "'",    "|",    ">",  "~",
                                    "\t", "\r\n", "#",     "%",  "!!x",  "<<: ", "? ", "-1",
                                    "\n", "\n ",  "\xff",  "\\", "null", "1e9",  ","};

/* A piece doubled, removed or replaced. */
static size_t
mutate(char *m, size_t n, size_t room, uint64_t *state)
{
	size_t at = st_random_below(state, n + 1), most = n - at < 24 ? n - at : 24;
	size_t length = st_random_below(state, most + 1);
	const char *word = words[st_random_below(state, sizeof words / sizeof *words)];
	size_t w = strlen(word);
	switch (st_random_below(state, 4)) {
	case 0:
		if (n)
			m[at % n] = (char)st_random_next(state);
		return n;
	case 1:
		memmove(m + at, m + at + length, n - at - length);
		return n - length;
	case 2:
		if (n + length > room)
			return n;
		memmove(m + at + length, m + at, n - at);
		return n + length;
	default:
		if (n + w > room)
			return n;
		memmove(m + at + w, m + at, n - at);
		memcpy(m + at, word, w);
		return n + w;
	}
}

static bool
try_bytes(const char *bytes, size_t n)
{
	struct st_job j;
	struct st_error e = {0};
	st_status status = st_job_of_bytes(&j, "mutant", bytes, n, &e);
	if (status && (e.code != ST_EXIT_USAGE || !*e.text)) {
		fprintf(stderr, "refused without a cause: %s\n", e.text);
		exit(1);
	}
	st_job_free(&j);
	return !status;
}

int
main(int argc, char **argv)
{
	enum { ROOM = 1 << 14 };
	long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 1000;
	uint64_t state = 1;
	size_t taken = 0;
	char *m = malloc(ROOM);
	for (long i = 0; m && i < rounds; i++) {
		const char *seed = i % 2 ? st_job_example : seed_text;
		size_t n = strlen(seed);
		memcpy(m, seed, n);
		for (size_t changes = st_random_below(&state, 4); changes--;)
			n = mutate(m, n, ROOM, &state);
		char *exact = malloc(n + 1); /* so that a byte behind the end is seen */
		if (exact)
			memcpy(exact, m, n);
		taken += exact && try_bytes(exact, n);
		free(exact);
	}
	free(m);
	printf("%zu of %ld taken\n", taken, rounds);
	return taken && (long)taken < rounds ? 0 : 1;
}
