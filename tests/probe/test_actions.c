/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actions at the entries and returns of functions, by the interface that noise and annotations are
 * built on: usage: test_actions PROGRAM (of programs/actions.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/frequency.h"
#include "probe/probes.h"

static char *program;

enum { CALLS = 200, READS = 2000, WAIT_NS = 50000 };

static const struct {
	const char *function;
	uint32_t kind;
} waits[] = {{"a_before", ST_PROBE_WAIT},
             {"a_sleeps", ST_PROBE_SLEEP},
             {"a_after", ST_PROBE_WAIT_AFTER},
             {"a_sleeps_after", ST_PROBE_SLEEP_AFTER}};
enum { N_WAITS = sizeof waits / sizeof *waits };

static const struct {
	const char *function;
	uint32_t kind;
} noises[] = {{"n_waits", ST_PROBE_WAIT},
              {"n_sleeps", ST_PROBE_SLEEP},
              {"n_yields", ST_PROBE_YIELD},
              {"n_none", ST_PROBE_NOTHING}};
enum { N_NOISES = sizeof noises / sizeof *noises };

struct wanted {
	double ticks_per_ns;
	uint32_t stack_words;
	struct st_probes *probes;
};

static struct st_probe_action
choose(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	const struct wanted *w = arg;
	(void)image;
	for (size_t i = 0; i < N_WAITS; i++)
		if (!strcmp(f->name, waits[i].function)) {
			const bool sleeps = waits[i].kind == ST_PROBE_SLEEP ||
			                    waits[i].kind == ST_PROBE_SLEEP_AFTER;
			return (struct st_probe_action){
			        waits[i].kind,
			        (uint32_t)(WAIT_NS * (sleeps ? 1 : w->ticks_per_ns))};
		}
	for (size_t i = 0; i < N_NOISES; i++)
		if (!strcmp(f->name, noises[i].function))
			return (struct st_probe_action){ST_PROBE_TIME, 0};
	return (struct st_probe_action){
	        strcmp(f->name, "a_read") ? ST_PROBE_NOTHING : ST_PROBE_READ, w->stack_words};
}

/* A function with noise has it from its first call on. */
static void
give_noise(void *arg, uint32_t function)
{
	const struct wanted *w = arg;
	const struct st_probed_function *f = &w->probes->functions.v[function];
	for (size_t i = 0; i < N_NOISES; i++) {
		const uint32_t amount = noises[i].kind == ST_PROBE_WAIT
		                                ? (uint32_t)(WAIT_NS * w->ticks_per_ns)
		                        : noises[i].kind == ST_PROBE_SLEEP ? WAIT_NS
		                                                           : 3;
		if (noises[i].kind && !strcmp(f->name, noises[i].function))
			w->probes->process.area->noise[function] =
			        st_probe_noise(noises[i].kind, amount);
	}
}

/* What the program prints, in `lines`. */
static void
run_with(struct st_probes *p, struct wanted *w, char *lines, size_t room)
{
	struct st_error e;
	char *argv[] = {program, NULL};
	FILE *out = tmpfile();
	const int before = dup(1);
	assert_non_null(out);
	fflush(stdout);
	dup2(fileno(out), 1);
	w->probes = p;
	*p = (struct st_probes){
	        .choose = choose, .installed = give_noise, .arg = w, .process = {.noisy = true}};
	const st_status status =
	        st_probes_start(p, argv, false, &e) || st_probes_wait(p, 0, &e) ? ST_FAILED : ST_OK;
	dup2(before, 1);
	close(before);
	if (status)
		fail_msg("%s", e.text);
	assert_true(WIFEXITED(p->process.status) && !WEXITSTATUS(p->process.status));
	rewind(out);
	lines[fread(lines, 1, room - 1, out)] = '\0';
	fclose(out);
}

static uint32_t
number_of(const struct st_probes *p, const char *name)
{
	for (size_t i = 0; i < p->functions.n; i++)
		if (!strcmp(p->functions.v[i].name, name))
			return (uint32_t)i;
	fail_msg("%s has no probe", name);
	return 0;
}

/* Of all threads. */
static uint64_t
calls_of(const struct st_probes *p, const char *name)
{
	const uint32_t function = number_of(p, name);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p->process.area->n_records; i++) {
		const struct st_probe_cell *c = st_probes_cell(p, i, function);
		sum += c ? c->calls : 0;
	}
	return sum;
}

static unsigned long long
printed(const char *lines, const char *name)
{
	char wanted[64];
	unsigned long long value;
	snprintf(wanted, sizeof wanted, "%s %%llu", name);
	const char *line = lines;
	while (line && sscanf(line, wanted, &value) != 1)
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	if (!line)
		fail_msg("%s is not in: %s", name, lines);
	return value;
}

/* Each call has waited so long, by the program's own clock: a thousandth is for the speed of the
 * TSC, which is measured. And a call that waits afterwards is timed without that. */
static void
test_waits(void **state)
{
	struct st_probes p;
	struct wanted w = {st_tsc_frequency() * 1e-9, 0, NULL};
	char lines[1024];
	(void)state;
	run_with(&p, &w, lines, sizeof lines);
	for (size_t i = 0; i < N_WAITS; i++) {
		assert_int_equal(calls_of(&p, waits[i].function), CALLS);
		assert_true((double)printed(lines, waits[i].function) >= 0.998 * CALLS * WAIT_NS);
	}
	for (uint32_t i = 0; i < p.process.area->n_records; i++) {
		const struct st_probe_cell *c = st_probes_cell(&p, i, number_of(&p, "a_after"));
		/* A call of it takes a few ns: of the quickest, nothing may be left of the wait. */
		if (c)
			assert_true((double)c->shortest < WAIT_NS * w.ticks_per_ns);
	}
	st_probes_free(&p);
}

/* Sums of all threads. */
static struct st_probe_cell
sums_of(const struct st_probes *p, const char *name)
{
	const uint32_t function = number_of(p, name);
	struct st_probe_cell sum = {.function = function};
	for (uint32_t i = 0; i < p->process.area->n_records; i++) {
		const struct st_probe_cell *c = st_probes_cell(p, i, function);
		sum.calls += c ? c->calls : 0;
		sum.noises += c ? c->noises : 0;
		sum.noise += c ? c->noise : 0;
		sum.inclusive += c ? c->inclusive : 0;
	}
	return sum;
}

/* The noise of a call is part of its measured time, and of the time that the program measures. */
static void
test_noise(void **state)
{
	struct st_probes p;
	struct wanted w = {st_tsc_frequency() * 1e-9, 0, NULL};
	char lines[1024];
	(void)state;
	run_with(&p, &w, lines, sizeof lines);
	for (size_t i = 0; i < N_NOISES; i++) {
		const struct st_probe_cell sum = sums_of(&p, noises[i].function);
		const bool timed =
		        noises[i].kind == ST_PROBE_WAIT || noises[i].kind == ST_PROBE_SLEEP;
		assert_int_equal(sum.calls, CALLS);
		assert_int_equal(sum.noises, noises[i].kind ? CALLS : 0);
		assert_true(!noises[i].kind == !sum.noise);
		if (timed) {
			assert_true((double)sum.noise >= 0.998 * CALLS * WAIT_NS * w.ticks_per_ns);
			assert_true((double)printed(lines, noises[i].function) >=
			            0.998 * CALLS * WAIT_NS);
		}
		/* The mean cost of probes is subtracted. */
		if (timed)
			assert_true((double)sum.inclusive >= 0.9 * (double)sum.noise);
	}
	st_probes_free(&p);
}

/* The arguments of each call are kept once, with as many words of the stack as was asked for. */
static void
check_rows(const struct st_probes *p, uint32_t words)
{
	uint32_t seen[1000] = {0};
	uint64_t n = 0;
	const uint32_t function = number_of(p, "a_read");
	for (uint32_t i = 0; i < p->process.area->n_records; i++) {
		struct st_probe_reading reading = st_probe_reading_of(p, i);
		for (const struct st_probe_arguments *a; (a = st_probe_next_row(&reading)); n++) {
			const uint64_t first = a->registers[0];
			assert_int_equal(a->function, function + 1);
			assert_int_equal(a->words, words);
			assert_true(first < 1000);
			seen[first]++;
			for (uint64_t k = 0; k < ST_PROBE_REGISTERS; k++)
				assert_int_equal(a->registers[k], first + k);
			for (uint64_t k = 0; k < words && k < 2; k++)
				assert_int_equal(a->stack[k], first + ST_PROBE_REGISTERS + k);
			assert_true(a->ticks > p->process.begin.ticks && a->ticks < p->process.end);
		}
	}
	assert_int_equal(n, READS);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(seen[i], 2); /* once in each thread */
}

static void
test_arguments(void **state)
{
	static const uint32_t words[] = {0, 2, ST_PROBE_STACK_WORDS, 1000};
	char lines[1024];
	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct st_probes p;
		struct wanted w = {0, words[i], NULL};
		run_with(&p, &w, lines, sizeof lines);
		assert_int_equal(printed(lines, "wrong"), 0);
		assert_int_equal(calls_of(&p, "a_read"), READS);
		assert_int_equal(p.process.area->rows, READS);
		check_rows(&p, words[i] < ST_PROBE_STACK_WORDS ? words[i] : ST_PROBE_STACK_WORDS);
		st_probes_free(&p);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_waits),
	                                   cmocka_unit_test(test_noise),
	                                   cmocka_unit_test(test_arguments)};
	if (argc < 2)
		return 2;
	program = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
