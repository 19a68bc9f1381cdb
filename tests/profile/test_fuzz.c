/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profile files with bytes changed at random: loaded or refused, and what is loaded can be printed.
 * Rounds: 400, or the first argument.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contexts/contexts.h"
#include "export/contexts.h"
#include "fake.h"
#include "profile/profile.h"
#include "report/report.h"

static unsigned char *original;
static size_t original_size;

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
add_measurements(struct st_profile *p)
{
	static const struct st_series_frame frames[] = {{"f", "f.c", 1}, {"main", "f.c", 9}};
	static const struct st_series_label labels[] = {{"workload", "small"}};
	for (uint32_t line = 1; line < 4; line++) {
		struct st_series_key key = {"time", "wall", "ns",   "a", "a.c",  "m", "C",
		                            "f",    line,   frames, 2,   labels, 1};
		struct st_series *s = st_series_of(p, &key);
		for (size_t i = 0; s && i < 20; i++)
			if (st_series_add(s, (double)i) != i ||
			    st_series_set(p, s, line % 2 ? "size" : "order", i, (double)i))
				die("no memory left for measurements");
	}
}

/* An answer with a model, and a model of a kind that nobody knows. */
static void
add_kept(struct st_profile *p)
{
	const struct st_kept_answer answer = {.uid = "a:f",
	                                      .metric = "wall",
	                                      .unit = "ns",
	                                      .x = "size",
	                                      .source = "strobe",
	                                      .method = "full",
	                                      .kinds = "linear",
	                                      .noise = "auto",
	                                      .segments = 1,
	                                      .level = 0.95,
	                                      .plausible = "linear",
	                                      .best = "linear",
	                                      .told = 1};
	const struct st_kept_model model = {.answer = 1, .kind = "linear", .points = 20},
	                           other = {.answer = 2, .kind = "unknown", .points = 20};
	const struct st_kept_coefficient b = {.model = 1, .name = "b0", .value = 1};
	if (st_kept_put_answer(p, &answer) || st_kept_put_answer(p, &answer) ||
	    st_kept_put_model(p, &model) || st_kept_put_model(p, &other) ||
	    st_kept_put_coefficient(p, &b) || st_kept_put_coefficient(p, &b))
		die("no memory left for models");
}

static void
make_original(const char *path, bool contexts)
{
	static char *const command[] = {"fixture", NULL};
	struct fake *f = fixture_results();
	if (contexts)
		fixture_contexts(f);
	else
		fixture_tables(f);
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_run run = {.processes = &process, .n_processes = 1, .tsc_hz = 1e9};
	static const char *const tools[] = {"contexts", "hot"};
	static const struct st_profile_option options[] = {{0, "mode", "inter"}, {0, "k", "2"}};
	struct st_profile_origin o = {.tools = contexts ? tools : tools + 1,
	                              .n_tools = 1,
	                              .tool_options = options,
	                              .n_tool_options = contexts ? 2 : 0,
	                              .tool = contexts ? "contexts:mode=inter,k=2" : "hot",
	                              .argv = command,
	                              .keep_blocks = !contexts};
	struct st_profile *p = st_profile_collect(&run, &o, NULL);
	if (p)
		add_measurements(p);
	if (p)
		add_kept(p);
	if (!p || st_profile_save(p, path, NULL))
		die("cannot make a profile");
	st_profile_free(p);
	fake_free(f);
	FILE *in = fopen(path, "r");
	free(original);
	original = malloc(1 << 20);
	original_size = in && original ? fread(original, 1, 1 << 20, in) : 0;
	if (!original_size)
		die("cannot read the profile back");
	fclose(in);
}

static void
write_mutant(const char *path)
{
	unsigned char *mutant = malloc(original_size);
	memcpy(mutant, original, original_size);
	size_t size = original_size;
	for (int n = 1 + rand() % 12; n > 0; n--) {
		size_t at = (size_t)rand() % size, length = 1 + (size_t)rand() % 8;
		for (size_t i = at; i < at + length && i < size; i++)
			mutant[i] = rand() % 3 ? (unsigned char)rand() : rand() % 2 ? 0xff : 0;
	}
	if (rand() % 10 == 0)
		size -= (size_t)rand() % (size / 2);
	/* The marks in the header are checked first: keep them, or nothing behind them is ever
	 * tried. */
	memcpy(mutant, original, 16);
	memcpy(mutant + 60, original + 60, 12);
	FILE *out = fopen(path, "w");
	if (!out || fwrite(mutant, 1, size, out) != size)
		die("cannot write the mutant");
	fclose(out);
	free(mutant);
}

static void
print(const struct st_profile *p, FILE *nowhere)
{
	struct st_report r = {.profile = p, .parts = ~0u, .style = {.width = 80}};
	struct st_error e;
	st_report_summary(&r, nowhere);
	st_report_parts(&r, nowhere);
	for (size_t i = 0; i < p->functions.n && i < 8; i++)
		ST_IGNORE(st_report_function(&r, nowhere, p->functions.v[i].name, &e));
	free(st_report_json(&r, &e));
	for (int pin = 0; pin < 2; pin++) {
		const struct st_context_choice all = {
		        .kccf = true, .pin = pin, .functions = true, .blocks = true, .code = true};
		struct st_contexts c;
		if (!st_contexts_make(&c, p, &all, &e))
			for (size_t i = 0; i < st_n_context_formats; i++)
				st_context_formats[i].write(&c, nowhere);
		st_contexts_free(&c);
	}
}

/* Loads and prints so many mutants. */
static void
try_mutants(const char *path, int rounds, FILE *nowhere, int *loaded, int *refused)
{
	for (int i = 0; i < rounds; i++) {
		struct st_error e = {0};
		write_mutant(path);
		struct st_profile *p = st_profile_load(path, &e);
		if (!p && (e.code != ST_EXIT_FAILED || !*e.text))
			die("refused without a cause");
		*loaded += p != NULL;
		*refused += p == NULL;
		if (p)
			print(p, nowhere);
		st_profile_free(p);
	}
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400, loaded = 0, refused = 0;
	char directory[] = "/tmp/strobe-fuzz-XXXXXX", path[64];
	FILE *nowhere = fopen("/dev/null", "w");
	if (!mkdtemp(directory) || !nowhere)
		die("no place for the mutants");
	snprintf(path, sizeof path, "%s/m.db", directory);
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	for (int contexts = 0; contexts < 2; contexts++) {
		make_original(path, contexts);
		try_mutants(path, rounds / 2, nowhere, &loaded, &refused);
	}
	unlink(path);
	rmdir(directory);
	fclose(nowhere);
	free(original);
	printf("%d loaded, %d refused\n", loaded, refused);
	return loaded && refused ? 0 : 1; /* both, or the mutants prove nothing */
}
