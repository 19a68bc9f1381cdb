/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the sides under the engine and judges their counts. */
#include "gate/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "base/text.h"
#include "gate/code.h"
#include "gate/functions.h"
#include "job/child.h"
#include "profile/profile.h"
#include "stats/least_squares.h"

const char *const st_gate_counted[] = {
#define C(id, name, limit) name,
        ST_GATE_COUNTS(C)
#undef C
};

const char *const st_gate_codes[] = {
#define C(id, name) name,
        ST_GATE_CODES(C)
#undef C
};

void
st_gate_limits_default(struct st_gate_limits *limits)
{
	*limits = (struct st_gate_limits){.program =
	                                          {
#define C(id, name, limit) limit,
	                                                  ST_GATE_COUNTS(C)
#undef C
	                                          },
	                                  .function = 0.01,
	                                  .least = 0.002};
}

/* ---- runs ---- */

struct count_files {
	char *profile, *errors;
};

static st_status
count_make_files(struct count_files *f, struct st_error *e)
{
	const char *place = getenv("TMPDIR");
	if (!place || *place != '/')
		place = "/tmp";
	*f = (struct count_files){st_text_of("%s/strobe-gate-XXXXXX", place),
	                          st_text_of("%s/strobe-gate-XXXXXX", place)};
	char *const names[] = {f->profile, f->errors};
	for (int i = 0; i < 2; i++) {
		int fd = names[i] ? mkostemp(names[i], O_CLOEXEC) : -1;
		if (fd < 0)
			return st_fail(e, ST_EXIT_FAILED, "cannot make a file in %s: %s", place,
			               names[i] ? strerror(errno) : "no memory left");
		close(fd);
	}
	return ST_OK;
}

static void
count_free_files(struct count_files *f)
{
	if (f->profile)
		unlink(f->profile);
	if (f->errors)
		unlink(f->errors);
	free(f->profile);
	free(f->errors);
}

/* Reads the last line that strobe or the program wrote to standard error. */
static void
count_last_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	char next[256];
	*line = '\0';
	while (f && fgets(next, sizeof next, f)) {
		next[strcspn(next, "\n")] = '\0';
		if (*next)
			snprintf(line, (size_t)size, "%s", next);
	}
	if (f)
		fclose(f);
}

static st_status
count_failed(const struct st_gate_counting *c, const struct count_files *f,
             const struct st_child_end *end, struct st_error *e)
{
	const char *how = c->words ? c->how : "under the engine";
	char line[256];
	count_last_line(f->errors, line, sizeof line);
	if (end->timed_out)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s of the %s takes longer than %g s %s: raise the timeout, or "
		               "leave this out with %s",
		               c->command->argv[0], st_gate_sides[c->side], c->timeout, how,
		               c->words ? c->option : "--counts 0");
	if (end->exit == ST_EXIT_NOT_FOUND || end->exit == ST_EXIT_NOT_EXECUTABLE)
		return st_fail(e, end->exit, "%s", strncmp(line, "strobe: ", 8) ? line : line + 8);
	return st_fail(e, ST_EXIT_FAILED,
	               "the gate measured nothing: %s of the %s exited with %d %s%s%s%s",
	               c->command->argv[0], st_gate_sides[c->side], end->exit, how,
	               *line ? ": " : "", line, c->advice ? c->advice : "");
}

static st_status
count_execute(const struct st_gate_counting *c, const struct count_files *f, char **argv,
              struct st_child_end *end, struct st_error *e)
{
	static const char *const count[] = {"run",         "-q", "-f", "-t",    "hot",
	                                    "--sample-hz", "0",  "-t", "calls", "-t",
	                                    "alloc",       "-o", NULL};
	size_t n = 1;
	argv[0] = (char *)(uintptr_t)c->strobe;
	for (const char *const *word = c->words ? c->words : count; *word; word++)
		argv[n++] = (char *)(uintptr_t)*word;
	argv[n++] = f->profile;
	argv[n++] = (char *)(uintptr_t) "--";
	for (char *const *word = c->command->argv; *word; word++)
		argv[n++] = *word;
	const struct st_child child = {.argv = argv,
	                               .folder = c->command->folder,
	                               .input = c->input,
	                               .output = "/dev/null",
	                               .errors = f->errors,
	                               .settings = c->settings,
	                               .cpus = c->cpus,
	                               .no_aslr = !c->words,
	                               .timeout = c->timeout};
	return st_child_run(&child, end, e);
}

st_status
st_gate_count_run(const struct st_gate_counting *c, struct st_profile **profile, struct st_error *e)
{
	enum { OPTIONS = 24 };
	struct count_files f;
	struct st_child_end end = {0};
	size_t n = 0;
	while (c->command->argv[n])
		n++;
	char **argv = calloc(n + OPTIONS, sizeof *argv);
	st_status status = argv ? count_make_files(&f, e)
	                        : st_fail(e, ST_EXIT_FAILED, "no memory left for the counts");
	*profile = NULL;
	if (!status)
		status = count_execute(c, &f, argv, &end, e);
	if (!status && end.interrupted)
		status = st_fail(e, 128 + SIGINT, "interrupted while the %s was counted",
		                 st_gate_sides[c->side]);
	else if (!status && end.exit)
		status = count_failed(c, &f, &end, e);
	if (!status && !(*profile = st_profile_load(f.profile, e)))
		status = ST_FAILED;
	if (argv)
		count_free_files(&f);
	free(argv);
	return status;
}

/* ---- the program ---- */

/* The sum of a column of a tool's table, over all rows. */
static double
count_of_table(const struct st_profile *p, const char *tool, const char *table, const char *column)
{
	double sum = 0;
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (strcmp(t->name, table) != 0 || strcmp(t->tool, tool) != 0)
			continue;
		for (size_t k = 0; k < t->n_columns; k++)
			for (size_t row = 0;
			     row < st_profile_rows(t) && !strcmp(t->columns[k].name, column); row++)
				sum += (double)t->values.v[row * t->n_columns + k].number;
	}
	return sum;
}

double
st_gate_count_of(const struct st_profile *p, enum st_gate_counted what)
{
	double instructions = 0, blocks = 0;
	for (size_t i = 0; i < p->processes.n; i++) {
		instructions += (double)p->processes.v[i].instructions;
		blocks += (double)p->processes.v[i].executions;
	}
	switch (what) {
	case ST_GATE_INSTRUCTIONS:
		return instructions;
	case ST_GATE_BLOCKS:
		return blocks;
	case ST_GATE_CALLS:
		return count_of_table(p, "calls", "pairs", "count");
	case ST_GATE_ALLOCATIONS:
		return count_of_table(p, "alloc", "totals", "count");
	default:
		return count_of_table(p, "alloc", "totals", "bytes");
	}
}

static void
count_judge_program(struct st_gate_counts *c, const struct st_gate_limits *limits)
{
	for (int what = 0; what < ST_GATE_N_COUNTED; what++) {
		double v[ST_GATE_SIDES][ST_GATE_MOST_RUNS];
		struct st_gate_count *count = &c->program[what];
		for (int side = 0; side < ST_GATE_SIDES; side++)
			for (size_t run = 0; run < c->runs; run++)
				v[side][run] = st_gate_count_of(c->profiles[side][run],
				                                (enum st_gate_counted)what);
		st_gate_count_make(count, v, c->runs);
		st_gate_count_limit(count, limits->program[what]);
		if (count->verdict > c->verdict)
			c->verdict = count->verdict;
	}
}

/* ---- a count ---- */

void
st_gate_count_make(struct st_gate_count *c, double v[ST_GATE_SIDES][ST_GATE_MOST_RUNS], size_t runs)
{
	double squares = 0;
	const double n = (double)runs, df = 2 * (n - 1);
	*c = (struct st_gate_count){.verdict = ST_GATE_PASS};
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		c->value[side] = st_mean(v[side], runs);
		for (size_t i = 0; i < runs; i++)
			squares += pow(v[side][i] - c->value[side], 2);
	}
	const double base = c->value[ST_GATE_BASE], target = c->value[ST_GATE_TARGET];
	c->change = target == base ? 0 : base > 0 ? target / base - 1 : INFINITY;
	c->exact = runs > 1 && squares == 0;
	c->low = c->high = runs > 1 ? c->change : NAN;
	if (runs > 1 && squares > 0 && base > 0) {
		/* The interval of a difference of two means of n values each, with a common
		 * variance. */
		const double half = st_student(0.99, df) * sqrt(squares / df * 2 / n) / base;
		c->low -= half;
		c->high += half;
	}
}

void
st_gate_count_limit(struct st_gate_count *c, double limit)
{
	const double low = isnan(c->low) ? c->change : c->low;
	const double high = isnan(c->high) ? c->change : c->high;
	c->verdict = low >= limit    ? ST_GATE_REGRESSION
	             : high >= limit ? ST_GATE_INCONCLUSIVE
	                             : ST_GATE_PASS;
	if (isinf(limit))
		c->verdict = ST_GATE_PASS;
}

/* ---- the whole ---- */

st_status
st_gate_count_judge(struct st_gate_counts *c, struct st_gate_limits *limits, struct st_error *e)
{
	c->verdict = ST_GATE_PASS;
	count_judge_program(c, limits);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		if (!(c->program[ST_GATE_INSTRUCTIONS].value[side] > 0))
			return st_fail(e, ST_EXIT_FAILED,
			               "the gate measured nothing: no instruction of the %s was "
			               "counted",
			               st_gate_sides[side]);
	if (st_gate_functions_judge(c, limits))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the functions");
	return ST_OK;
}

void
st_gate_counts_free(struct st_gate_counts *c)
{
	for (size_t i = 0; i < c->functions.n; i++)
		free(c->functions.v[i].callers.v);
	free(c->functions.v);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		for (size_t run = 0; run < ST_GATE_MOST_RUNS; run++)
			st_profile_free(c->profiles[side][run]);
	*c = (struct st_gate_counts){0};
}
