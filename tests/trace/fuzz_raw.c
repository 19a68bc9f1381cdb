/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw files made at random, of lines that are right, nearly right, or noise: read or refused, and
 * what is read holds together. Arguments: rounds, 2000 unless given; seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/raw.h"

enum { MOST_LINES = 200 };

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
write_noise(FILE *out)
{
	static const char bytes[] = "01234567899;;; \t-#x\r\0\377\200un";
	for (int n = rand() % 40; n > 0; n--)
		putc(bytes[(size_t)rand() % (sizeof bytes - 1)], out);
}

static void
write_line(FILE *out, unsigned long *now)
{
	static const char *const names[] = {"main", "a", "b", "c", "f(int, char)", "x;y", ""};
	const int type = rand() % 20 ? rand() % 2 : rand() % 11;
	*now += (unsigned long)(rand() % 1000);
	fprintf(out, "%d %d", type, 1 + rand() % 3);
	for (int n = rand() % 10 ? 0 : rand() % 4; n > 0; n--)
		fprintf(out, " %d", rand() % 100);
	/* Time goes backwards now and then. */
	fprintf(out, " %lu;%s", rand() % 30 ? *now : (unsigned long)rand() << rand() % 40,
	        names[(size_t)rand() % (sizeof names / sizeof *names)]);
}

static void
write_file(const char *path)
{
	FILE *out = fopen(path, "w");
	unsigned long now = 0;
	if (!out)
		die("cannot write the file");
	for (int n = rand() % MOST_LINES; n > 0; n--) {
		if (rand() % 25 == 0)
			write_noise(out);
		else if (rand() % 40 == 0)
			fputs(rand() % 2 ? "#unit us" : "#unit ns", out);
		else
			write_line(out, &now);
		if (rand() % 50)
			putc('\n', out);
	}
	fclose(out);
}

static void
check_function(const struct st_trace_function *f)
{
	uint64_t classes = 0, ns;
	for (size_t i = 0; i < f->classes.n; i++) {
		classes += f->classes.v[i].calls;
		if (i && f->classes.v[i].from_ns <= f->classes.v[i - 1].from_ns)
			die("classes out of order");
	}
	if (classes != f->calls)
		die("a call is in no class");
	if (f->exclusive_ns > f->inclusive_ns || f->outermost_ns > f->inclusive_ns)
		die("a part is more than the whole");
	if (!f->calls && !f->lost)
		die("a function that was not called");
	if (f->calls && (!st_trace_quantile(f, 0.5, &ns) || ns < f->min_ns || ns > f->max_ns))
		die("the median is no duration of a call");
}

static void
check(const struct st_trace *t)
{
	uint64_t calls = 0, lost = 0, in_pairs = 0;
	for (size_t i = 0; i < t->functions.n; i++) {
		check_function(&t->functions.v[i]);
		calls += t->functions.v[i].calls;
		lost += t->functions.v[i].lost;
		if (i && t->functions.v[i].exclusive_ns > t->functions.v[i - 1].exclusive_ns)
			die("functions out of order");
	}
	for (size_t i = 0; i < t->pairs.n; i++) {
		in_pairs += t->pairs.v[i].calls;
		if (t->pairs.v[i].callee >= t->functions.n ||
		    (t->pairs.v[i].caller >= t->functions.n &&
		     t->pairs.v[i].caller != ST_TRACE_NOBODY))
			die("a pair of no function");
	}
	if (in_pairs != calls)
		die("a call is in no pair");
	if (lost != t->lost_returns)
		die("lost calls do not add up");
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 2000;
	int taken = 0, refused = 0;
	char path[] = "/tmp/strobe-raw-XXXXXX";
	const int fd = mkstemp(path);
	if (fd < 0)
		die("cannot make a file");
	close(fd);
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	for (int i = 0; i < rounds; i++) {
		struct st_error e = {0};
		struct st_trace t;
		write_file(path);
		if (st_trace_read_raw(&t, path, (enum st_trace_unit)(rand() % 3), rand() % 2, &e)) {
			if (!*e.text || e.code != ST_EXIT_FAILED)
				die("refused without a cause");
			refused++;
			continue;
		}
		check(&t);
		st_trace_free(&t);
		taken++;
	}
	unlink(path);
	printf("%d read, %d refused\n", taken, refused);
	return taken && refused ? 0 : 1;
}
