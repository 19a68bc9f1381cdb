/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a job: what it means, and what is said of mistakes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/disturbance.h"
#include "job/environment.h"
#include "job/left.h"
#include "job/plan.h"
#include "job/versions.h"

static char place[] = "/tmp/strobe-job-parts-XXXXXX";

static void
refused(const char *text, const char *wanted)
{
	struct st_job j;
	struct st_error e = {0};
	assert_int_equal(st_job_of_bytes(&j, "job.yaml", text, strlen(text), &e), ST_FAILED);
	assert_string_equal(e.text, wanted);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	st_job_free(&j);
}

static void
mistakes_are_said_with_line_and_column(void **state)
{
	(void)state;
	refused("commands: [a\n", "job.yaml:2:1: did not find expected ',' or ']' while parsing a "
	                          "flow sequence");
	refused("commands:\n  - a\n - b\n",
	        "job.yaml:3:2: did not find expected key while parsing a block mapping");
	refused("commands: a\nrepaet: 3\n",
	        "job.yaml:2:1: unknown key 'repaet' of a job; did you mean 'repeat'?");
	refused("commands: a\nxyzzy: 3\n",
	        "job.yaml:2:1: unknown key 'xyzzy' of a job; it has: build, before, commands, "
	        "arguments, workloads, collectors, postprocess, repeat, timeout, cpu, aslr");
	refused("commands: a\ncommands: b\n", "job.yaml:2:1: a job has 'commands' twice");
	refused("", "job.yaml is empty: strobe job init writes an example");
	refused("# nothing\n", "job.yaml is empty: strobe job init writes an example");
	refused("- a\n", "job.yaml:1:1: a job is a mapping of keys to values");
	refused("repeat: 1\n", "job.yaml:1:1: a job needs a list of commands");
	refused("commands: a\n---\ncommands: b\n", "job.yaml:3:1: there is a second document");
	refused("commands: &x a\narguments: *x\n",
	        "job.yaml:2:12: aliases are not supported: write the value again");
	refused("commands: a\nrepeat: 0\n",
	        "job.yaml:2:9: repeat is a whole number from 1 to 1000000, not '0'");
	refused("commands: a\nrepeat: [1]\n", "job.yaml:2:9: repeat is a single value, not a list");
	refused("commands: a\ntimeout: soon\n",
	        "job.yaml:2:10: timeout is a time such as 30s that is greater than 0, not 'soon'");
	refused("commands: a\naslr: maybe\n", "job.yaml:2:7: aslr is true or false, not 'maybe'");
	refused("commands: [{a: b}]\n",
	        "job.yaml:1:12: a command is a single value, not a mapping");
	refused("commands: [\"a 'b\"]\n",
	        "job.yaml:1:12: a quote is not closed, or it has more than "
	        "1024 words: a 'b");
	refused("commands: ' '\n", "job.yaml:1:11: a command has no words");
	refused("commands: a\ncollectors: [tme]\n",
	        "job.yaml:2:14: unknown collector 'tme'; did you mean 'time'?");
	refused("commands: \"a\\0b\"\n", "job.yaml:1:11: a command cannot hold a NUL character");
}

static void
mistakes_of_workloads(void **state)
{
	(void)state;
#define OF(text) "commands: a\nworkloads:\n  - " text "\n"
	refused(OF("intger: {min: 1, max: 2}"),
	        "job.yaml:3:5: unknown generator 'intger'; did you mean 'integer'?");
	refused(OF("integer: {min: 1}"), "job.yaml:3:5: the generator integer needs 'max'");
	refused(OF("integer: {min: 3, max: 2}"), "job.yaml:3:28: max, 2, is less than min, 3");
	refused(OF("integer: {min: 1, max: 2, step: 0}"),
	        "job.yaml:3:37: step is a whole number from 1 to 2305843009213693951, not '0'");
	refused(OF("integer: {min: 0, max: 100000000}"),
	        "job.yaml:3:5: these are more than 1,000,000 workloads: use a greater step");
	refused(OF("integer: {min: 1, max: 2, stdin: true}"),
	        "job.yaml:3:31: unknown key 'stdin' of integer; it has: name, min, max, step");
	refused(OF("string: {min: 0, max: 2}"),
	        "job.yaml:3:19: min is a whole number from 1 to 100000, not '0'");
	refused(OF("textfile: {min: 1, max: 2, min-row: 9, max-row: 8}"),
	        "job.yaml:3:5: max-row, 8, is less than min-row, 9");
	refused(OF("singleton: {value: a, size: big}"),
	        "job.yaml:3:33: size is a number, not 'big'");
	refused(OF("external: {format: a}"),
	        "job.yaml:3:5: the generator external needs 'program'");
	refused(OF("integer: {min: 1, max: 2, name: a/b}"),
	        "job.yaml:3:37: a name is not empty, does not begin with a dot and has neither "
	        "slashes nor line breaks");
	refused(OF("[a]"), "job.yaml:3:5: a workload is a name, or one name with its settings");
}

/* A job that is good, with its plan. */
static void
planned(const char *text, struct st_job *j, struct st_job_plan *p)
{
	struct st_error e = {0};
	if (st_job_of_bytes(j, "job.yaml", text, strlen(text), &e) ||
	    st_job_plan_make(p, j, place, place, &e))
		fail_msg("%s", e.text);
}

static void
assert_argv(const struct st_job_variant *v, const char *wanted)
{
	char found[256] = "";
	char **argv = st_job_variant_argv(v);
	assert_non_null(argv);
	for (char **word = argv; *word; word++) {
		strcat(found, *word);
		strcat(found, "|");
	}
	assert_string_equal(found, wanted);
	free(argv);
}

static void
all_combinations(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	(void)state;
	planned("commands: [a, \"b 'c d'\"]\narguments: ['', '-f {workload}']\nworkloads: [1, x]\n"
	        "collectors: [time, run: [-t hot, -t bbcount]]\nrepeat: 7\ntimeout: 2m\n",
	        &j, &p);
	assert_int_equal(p.v.n, 2 * 2 * 2 * 3);
	assert_int_equal(j.repeat, 7);
	assert_float_equal(j.timeout, 120, 0);
	assert_argv(&p.v.v[0], "a|1|");
	assert_argv(&p.v.v[3], "a|x|");
	assert_argv(&p.v.v[6], "a|-f|1|");
	assert_argv(&p.v.v[12], "b|c d|1|");
	assert_argv(&p.v.v[23], "b|c d|-f|x|");
	assert_string_equal(p.v.v[1].collector->options, "-t hot");
	char *title = st_job_variant_title(&p.v.v[11]);
	assert_string_equal(title, "run -t bbcount of a -f {workload}, x");
	free(title);
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
what_is_left_out_has_defaults(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	(void)state;
	planned("commands: a b\nworkloads:\ncollectors: ~\n", &j, &p);
	assert_int_equal(p.v.n, 1);
	assert_argv(&p.v.v[0], "a|b|");
	assert_string_equal(p.v.v[0].collector->name, "time");
	assert_true(p.v.v[0].collector->built_in);
	assert_int_equal(j.repeat, 1);
	assert_false(j.keep_aslr);
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
the_example_is_good(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	(void)state;
	planned(st_job_example, &j, &p);
	assert_int_equal(p.v.n, 1);
	assert_int_equal(j.repeat, 10);
	assert_float_equal(j.timeout, 60, 0);
	st_job_plan_free(&p);
	st_job_free(&j);
}

/* ---- generators ---- */

static double
feature(const struct st_workload *w, const char *name)
{
	for (size_t i = 0; i < w->features.n; i++)
		if (!strcmp(w->features.v[i].name, name))
			return w->features.v[i].value;
	return NAN;
}

static void
integers_and_strings(void **state)
{
	struct st_job j, again;
	struct st_job_plan p, q;
	static const char text[] =
	        "commands: a\nworkloads:\n  - integer: {min: -5, max: 6, step: 5}\n"
	        "  - string: {min: 3, max: 9, step: 3, name: s}\n";
	static const struct {
		const char *name;
		double size;
	} wanted[] = {{"integer_-5", -5}, {"integer_0", 0}, {"integer_5", 5},
	              {"s_3", 3},         {"s_6", 6},       {"s_9", 9}};
	(void)state;
	planned(text, &j, &p);
	planned(text, &again, &q);
	assert_int_equal(p.v.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct st_workload *w = p.v.v[i].workload;
		assert_string_equal(w->name, wanted[i].name);
		assert_float_equal(st_workload_size(w), wanted[i].size, 0);
		assert_string_equal(w->argument, q.v.v[i].workload->argument);
		if (i > 2)
			assert_int_equal(strlen(w->argument), (size_t)wanted[i].size);
	}
	assert_string_equal(p.v.v[0].workload->argument, "-5");
	st_job_plan_free(&p);
	st_job_plan_free(&q);
	st_job_free(&j);
	st_job_free(&again);
}

/* Lines, the shortest and the longest of them, and bytes. */
static void
measure_file(const char *path, size_t v[4])
{
	FILE *f = fopen(path, "r");
	char line[256];
	assert_non_null(f);
	v[0] = v[2] = v[3] = 0;
	v[1] = SIZE_MAX;
	while (fgets(line, sizeof line, f)) {
		size_t n = strlen(line);
		assert_int_equal(line[n - 1], '\n');
		v[0]++;
		v[1] = n - 1 < v[1] ? n - 1 : v[1];
		v[2] = n - 1 > v[2] ? n - 1 : v[2];
		v[3] += n;
	}
	fclose(f);
}

static void
text_files(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	(void)state;
	planned("commands: a\nworkloads:\n  - textfile: {min: 500, max: 1000, step: 500, stdin: "
	        "true}\n  - textfile: {min: 2, max: 2, min-row: 3, max-row: 7, randomize-rows: "
	        "false, name: even}\n",
	        &j, &p);
	assert_int_equal(p.v.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct st_workload *w = p.v.v[i].workload;
		size_t v[4];
		measure_file(w->argument, v);
		assert_float_equal(feature(w, "size"), v[0], 0);
		assert_float_equal(feature(w, "bytes"), v[3], 0);
		assert_int_equal(v[0], i < 2 ? 500 * (i + 1) : 2);
		assert_int_equal(v[1], i < 2 ? 5 : 7); /* of 500 random lengths of 76 */
		assert_int_equal(v[2], i < 2 ? 80 : 7);
	}
	assert_argv(&p.v.v[0], "a|");
	assert_true(p.v.v[0].workload->to_stdin && !p.v.v[2].workload->to_stdin);
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
singletons_have_a_size(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	char path[64];
	static const double sizes[] = {7, 12.5, 5, 11};
	(void)state;
	snprintf(path, sizeof path, "%s/eleven", place);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("0123456789\n", f);
	fclose(f);
	planned("commands: a\nworkloads:\n  - singleton: {value: abc, size: 7}\n  - '12.5'\n"
	        "  - abcde\n  - eleven\n",
	        &j, &p);
	assert_int_equal(p.v.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_float_equal(st_workload_size(p.v.v[i].workload), sizes[i], 0);
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
programs_make_files(void **state)
{
	struct st_job j;
	struct st_job_plan p;
	static const char *const names[] = {"g/g-9-a.txt", "g/g-10-b.txt", "g/g-10-c.txt"};
	(void)state;
	planned("commands: a\nworkloads:\n  - external:\n      name: g\n      format: "
	        "g-{size}-{kind}.txt\n      program: 'make() { cd $1; touch g-10-c.txt g-9-a.txt "
	        "g-10-b.txt; }; make'\n",
	        &j, &p);
	assert_int_equal(p.v.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(p.v.v[i].workload->name, names[i]);
		assert_float_equal(st_workload_size(p.v.v[i].workload), i ? 10 : 9, 0);
		assert_int_equal(access(p.v.v[i].workload->argument, F_OK), 0);
	}
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
plan_is_refused(const char *text, const char *wanted)
{
	struct st_job j;
	struct st_job_plan p;
	struct st_error e = {0};
	assert_int_equal(st_job_of_bytes(&j, "job.yaml", text, strlen(text), &e), ST_OK);
	assert_int_equal(st_job_plan_make(&p, &j, place, place, &e), ST_FAILED);
	assert_string_equal(e.text, wanted);
	st_job_plan_free(&p);
	st_job_free(&j);
}

static void
workloads_that_cannot_be_made(void **state)
{
	(void)state;
	plan_is_refused(OF("external: {program: 'exit 3;', name: x}"),
	                "job.yaml:3:5: the program that makes workloads exited with 3: exit 3;");
	plan_is_refused(OF("external: {program: ':', name: y}"),
	                "job.yaml:3:5: the program : made no file in the folder that it was given");
	plan_is_refused(
	        OF("external: {program: 'f() { touch $1/a; }; f', format: 'b{size}', name: z}"),
	        "job.yaml:3:5: the program made the file 'a', which is not named like "
	        "'b{size}'");
	plan_is_refused(
	        "commands: a\nworkloads: [integer: {min: 1, max: 1}, integer: {min: 2, "
	        "max: 2}]\n",
	        "job.yaml:2:40: two generators are named 'integer': give one of them another "
	        "'name'");
}

static void
names_of_files(void **state)
{
	static const struct {
		const char *format, *name;
		bool fits;
		double a, b;
	} cases[] = {
	        {"{a}", "12", true, 12, NAN},           {"x{a}y", "x3y", true, 3, NAN},
	        {"x{a}y", "x3z", false, NAN, NAN},      {"{a}-{b}.t", "1-2.t", true, 1, 2},
	        {"{a}-{b}.t", "1-2-3.t", true, 1, NAN}, {"{a}-{b}.t", "-2.t", false, NAN, NAN},
	        {"{a}.t", "v.t.t", true, NAN, NAN},     {"{a}{b}", "12", false, NAN, NAN},
	        {"plain", "plain", true, NAN, NAN},     {"plain", "plai", false, NAN, NAN},
	        {"{open", "{open", true, NAN, NAN},     {"", "", true, NAN, NAN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct st_workload w = {0};
		bool fits = st_workload_take_name(&w, cases[i].format, cases[i].name);
		if (fits != cases[i].fits)
			fail_msg("%s, %s: %d", cases[i].format, cases[i].name, fits);
		if (fits) {
			assert_true(isnan(cases[i].a) ? isnan(feature(&w, "a"))
			                              : feature(&w, "a") == cases[i].a);
			assert_true(isnan(cases[i].b) ? isnan(feature(&w, "b"))
			                              : feature(&w, "b") == cases[i].b);
		}
		for (size_t k = 0; k < w.features.n; k++)
			free(w.features.v[k].name);
		free(w.features.v);
	}
}

/* ---- the rest ---- */

static void
time_that_is_left(void **state)
{
	struct st_left l = {.runs = 10};
	char text[64];
	double least, most;
	(void)state;
	st_left_add(&l, 2);
	st_left_add(&l, NAN);
	st_left_add(&l, 2);
	assert_string_equal(st_left_text(&l, text, sizeof text), "");
	st_left_add(&l, 2);
	assert_string_equal(st_left_text(&l, text, sizeof text), "; 20 s to 20 s left");
	l = (struct st_left){.runs = 4};
	for (double seconds = 1; seconds < 4; seconds++)
		st_left_add(&l, seconds);
	st_left_interval(&l, &least, &most);
	assert_true(fabs(least - (8 - 1.96 * sqrt(4 + 16 / 3.0))) < 1e-9);
	assert_true(fabs(most - (8 + 1.96 * sqrt(4 + 16 / 3.0))) < 1e-9);
}

static void
put(const char *path, const char *text)
{
	char full[256], command[320];
	snprintf(full, sizeof full, "%s%s", place, path);
	snprintf(command, sizeof command, "mkdir -p $(dirname %s)", full);
	assert_int_equal(system(command), 0);
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
environment(void **state)
{
	char text[192];
	(void)state;
	st_frequency_text(place, text, sizeof text);
	assert_string_equal(text, "governor unknown, turbo unknown");
	struct st_load_moment then = st_load_now(place);
	assert_true(isnan(st_load_since(place, &then, 0).others));
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	st_frequency_text(place, text, sizeof text);
	assert_string_equal(text, "governor powersave, turbo off");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	assert_int_equal(st_turbo(place), 1);
	put("/proc/stat", "cpu  100 10 50 1000 9 5 5 0 0 0\n");
	then = st_load_now(place);
	then.seconds -= 10; /* ten seconds ago */
	put("/proc/stat", "cpu  1100 10 50 1000 9 5 5 100 0 0\n");
	struct st_load l = st_load_since(place, &then, 4);
	assert_true(fabs(l.others - (1000.0 / (double)sysconf(_SC_CLK_TCK) - 4) / 10) < 0.05);
	assert_true(fabs(l.stolen - 10.0 / (double)sysconf(_SC_CLK_TCK)) < 0.01);
	assert_true(l.error > 0);
}

static void
spread_of_a_loop(void **state)
{
	double times[20];
	struct st_disturbance d = {0};
	(void)state;
	for (size_t i = 0; i < 20; i++)
		times[i] = (double)((i * 7) % 20 + 1); /* 1 to 20, mixed */
	assert_int_equal(st_disturbance_of(times, 20, &d), ST_OK);
	assert_int_equal(d.rounds, 20);
	assert_true(d.least == 1 && d.most == 20 && d.median == 10.5 && d.tenth == 18);
	assert_true(d.median_low == 6 && d.median_high == 15);
	assert_int_equal(st_disturbance_measure(0.01, &d), ST_OK);
	assert_true(d.rounds >= 20 && d.least > 0 && d.least <= d.median && d.median <= d.most);
	assert_true(d.away >= 0 && d.away < 1);
}

static int
make_place(void **state)
{
	(void)state;
	return mkdtemp(place) ? 0 : -1;
}

static int
remove_place(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", place);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(mistakes_are_said_with_line_and_column),
	        cmocka_unit_test(mistakes_of_workloads),
	        cmocka_unit_test(all_combinations),
	        cmocka_unit_test(what_is_left_out_has_defaults),
	        cmocka_unit_test(the_example_is_good),
	        cmocka_unit_test(integers_and_strings),
	        cmocka_unit_test(text_files),
	        cmocka_unit_test(singletons_have_a_size),
	        cmocka_unit_test(programs_make_files),
	        cmocka_unit_test(workloads_that_cannot_be_made),
	        cmocka_unit_test(names_of_files),
	        cmocka_unit_test(time_that_is_left),
	        cmocka_unit_test(environment),
	        cmocka_unit_test(spread_of_a_loop),
	};
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
