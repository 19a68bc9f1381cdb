/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of runs: order, limits, and journals that were ended in every way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/experiment.h"
#include "experiment/journal.h"

enum { VARIANTS = 3, REPETITIONS = 4, RUNS = VARIANTS * REPETITIONS };

/* What was executed and taken, and when to end. */
struct log {
	size_t n_executed, n_taken;
	size_t executed[2 * RUNS], taken[2 * RUNS]; /* numbers of runs, in their order */
	size_t fail_at, stop_at, kill_at;           /* of these executed so far; SIZE_MAX: never */
	int shared;                                 /* a file with a byte for each run; -1: none */
};
#define NEVER .fail_at = SIZE_MAX, .stop_at = SIZE_MAX, .kill_at = SIZE_MAX, .shared = -1

static char folder[] = "/tmp/strobe-experiment-XXXXXX", path[64];

static int
execute(void *arg, const struct st_experiment_step *step, FILE *result, struct st_error *e)
{
	struct log *log = arg;
	if (log->n_executed == log->fail_at)
		return st_fail(e, ST_EXIT_FAILED, "it failed");
	if (log->shared >= 0)
		assert_int_equal(write(log->shared, &(char){(char)('a' + step->run)}, 1), 1);
	if (log->n_executed == log->kill_at)
		kill(getpid(), SIGKILL);
	log->executed[log->n_executed++] = step->run;
	fprintf(result, "%zu of %zu, \"%s\"", step->variant, step->repetition,
	        step->variant ? "text: x" : "");
	return 0;
}

static int
take(void *arg, const struct st_experiment_step *step, const char *result, struct st_error *e)
{
	struct log *log = arg;
	char want[64];
	(void)e;
	snprintf(want, sizeof want, "%zu of %zu, \"%s\"", step->variant, step->repetition,
	         step->variant ? "text: x" : "");
	assert_string_equal(result, want);
	log->taken[log->n_taken++] = step->run;
	return 0;
}

static bool
interrupted(void *arg)
{
	struct log *log = arg;
	return log->n_executed > log->stop_at;
}

static const struct st_experiment_plan plan = {.n_variants = VARIANTS,
                                               .n_repetitions = REPETITIONS,
                                               .journal = path,
                                               .identity = "a test"};

static struct st_experiment *
open_with(const struct st_experiment_plan *p, struct log *log, struct st_error *e)
{
	const struct st_experiment_runner runner = {execute, take, interrupted, log};
	return st_experiment_open(p, &runner, e);
}

static enum st_experiment_end
run(const struct st_experiment_plan *p, struct log *log)
{
	struct st_error e;
	enum st_experiment_end end;
	struct st_experiment *x = open_with(p, log, &e);
	if (!x)
		fail_msg("%s", e.text);
	st_status status = st_experiment_run(x, &end, &e);
	assert_int_equal(status, end == ST_EXPERIMENT_FAILED ? ST_FAILED : ST_OK);
	if (status)
		assert_string_equal(e.text, "it failed");
	assert_int_equal(st_experiment_finished(x), log->n_taken);
	st_experiment_close(x);
	return end;
}

static void
refused(const struct st_experiment_plan *p, const char *why)
{
	struct log log = {NEVER};
	struct st_error e;
	char want[300];
	assert_null(open_with(p, &log, &e));
	snprintf(want, sizeof want, why, path);
	assert_string_equal(e.text, want);
	assert_int_equal(log.n_executed, 0);
}

/* The journal is open; the kernel may not say by which process. */
static void
check_in_use(void)
{
	struct log log = {NEVER};
	struct st_error e;
	char want[300];
	assert_null(open_with(&plan, &log, &e));
	snprintf(want, sizeof want, "the journal %s is in use: another strobe", path);
	assert_int_equal(strncmp(e.text, want, strlen(want)), 0);
	snprintf(want, sizeof want, " (process %d)", (int)getpid());
	const char *rest = e.text + strlen("the journal  is in use: another strobe") + strlen(path);
	if (*rest == ' ' && rest[1] == '(') {
		assert_int_equal(strncmp(rest, want, strlen(want)), 0);
		rest += strlen(want);
	}
	assert_string_equal(rest, " executes this experiment; wait until it has ended, or end it");
}

static int
setup(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* ---- order ---- */

static void
in_turn(void **state)
{
	(void)state;
	struct log log = {NEVER};
	struct st_experiment_plan p = plan;
	p.journal = NULL;
	assert_int_equal(run(&p, &log), ST_EXPERIMENT_COMPLETE);
	assert_int_equal(log.n_executed, RUNS);
	for (size_t i = 0; i < RUNS; i++) {
		assert_int_equal(log.executed[i], i);
		assert_int_equal(log.taken[i], i);
	}
}

static void
give_backwards(void *arg, size_t repetition, size_t *variants)
{
	(void)arg;
	for (size_t i = 0; i < VARIANTS; i++)
		variants[i] = (VARIANTS - 1 - i + repetition) % VARIANTS;
}

/* Variants as they are executed. */
struct seen {
	size_t n, variants[100];
};

static int
see(void *arg, const struct st_experiment_step *step, FILE *result, struct st_error *e)
{
	struct seen *seen = arg;
	(void)result, (void)e;
	assert_int_equal(step->run, seen->n);
	seen->variants[seen->n++] = step->variant;
	return 0;
}

static void
assert_order(const struct st_experiment_plan *p, struct seen *seen)
{
	const struct st_experiment_runner runner = {.execute = see, .arg = seen};
	enum st_experiment_end end;
	struct st_error e;
	*seen = (struct seen){0};
	struct st_experiment *x = st_experiment_open(p, &runner, &e);
	assert_non_null(x);
	assert_int_equal(st_experiment_runs(x), p->n_variants * p->n_repetitions);
	assert_int_equal(st_experiment_run(x, &end, &e), ST_OK);
	st_experiment_close(x);
}

static void
orders(void **state)
{
	struct seen seen, again;
	struct st_experiment_plan p = {.n_variants = VARIANTS, .n_repetitions = 2};
	(void)state;
	assert_order(&p, &seen);
	assert_memory_equal(seen.variants, ((size_t[]){0, 1, 2, 0, 1, 2}), 6 * sizeof(size_t));
	p.order = ST_EXPERIMENT_GIVEN;
	p.give_order = give_backwards;
	assert_order(&p, &seen);
	assert_memory_equal(seen.variants, ((size_t[]){2, 1, 0, 0, 2, 1}), 6 * sizeof(size_t));
	/* The same on every machine; each repetition has all, in an order of its own. */
	p = (struct st_experiment_plan){
	        .n_variants = 5, .n_repetitions = 3, .order = ST_EXPERIMENT_RANDOM, .seed = 1};
	static const size_t of_seed_1[] = {1, 3, 4, 2, 0, 2, 4, 0, 1, 3, 3, 2, 1, 0, 4};
	assert_order(&p, &seen);
	assert_memory_equal(seen.variants, of_seed_1, sizeof of_seed_1);
	p.seed = 2;
	assert_order(&p, &again);
	assert_memory_not_equal(again.variants, of_seed_1, sizeof of_seed_1);
}

/* ---- limits ---- */

static void
limits(void **state)
{
	(void)state;
	struct st_experiment_plan p = plan;
	p.most_runs = 5;
	for (size_t done = 0; done < RUNS; done += 5) {
		struct log log = {NEVER};
		size_t left = RUNS - done < 5 ? RUNS - done : 5;
		assert_int_equal(run(&p, &log),
		                 left < 5 ? ST_EXPERIMENT_COMPLETE : ST_EXPERIMENT_LIMITED);
		assert_int_equal(log.n_executed, left);
		assert_int_equal(log.n_taken, done + left);
	}
	setup(NULL);
	struct log log = {NEVER};
	p.most_runs = 0;
	p.most_seconds = 1e-9; /* gone before the first run */
	assert_int_equal(run(&p, &log), ST_EXPERIMENT_LIMITED);
	assert_int_equal(log.n_executed, 0);
}

/* ---- journals ---- */

static void
assert_whole(const struct log *log)
{
	bool seen[RUNS] = {false};
	assert_int_equal(log->n_taken, RUNS);
	for (size_t i = 0; i < RUNS; i++) {
		assert_false(seen[log->taken[i]]);
		seen[log->taken[i]] = true;
	}
}

/* A run that is interrupted or fails has not finished; all before it have. */
static void
goes_on(void **state)
{
	(void)state;
	for (size_t at = 0; at < RUNS; at++)
		for (int fails = 0; fails < 2; fails++) {
			struct log first = {NEVER}, second = {NEVER};
			*(fails ? &first.fail_at : &first.stop_at) = at;
			setup(NULL);
			assert_int_equal(run(&plan, &first),
			                 fails ? ST_EXPERIMENT_FAILED : ST_EXPERIMENT_INTERRUPTED);
			assert_int_equal(first.n_taken, at);
			assert_int_equal(run(&plan, &second), ST_EXPERIMENT_COMPLETE);
			assert_int_equal(second.n_executed, RUNS - at);
			assert_whole(&second);
		}
}

/* Killed in each of its runs in turn: none is repeated but the one under way, and none is lost. */
static void
survives_kills(void **state)
{
	char name[80], executed[3 * RUNS] = "", want[3 * RUNS] = "";
	(void)state;
	snprintf(name, sizeof name, "%s/shared", folder);
	int shared = open(name, O_RDWR | O_CREAT | O_APPEND, 0600);
	assert_true(shared >= 0);
	for (size_t i = 0; i < RUNS; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct log log = {NEVER};
			struct st_error e;
			enum st_experiment_end end;
			log.kill_at = i ? 1 : 0; /* after the one that was under way */
			log.shared = shared;
			struct st_experiment *x = open_with(&plan, &log, &e);
			if (x)
				ST_IGNORE(st_experiment_run(x, &end, &e));
			_exit(1);
		}
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		/* The first is begun once; then each is begun, killed, and executed. */
		if (i)
			want[strlen(want)] = (char)('a' + i - 1);
		want[strlen(want)] = (char)('a' + i);
	}
	struct log last = {NEVER};
	assert_int_equal(run(&plan, &last), ST_EXPERIMENT_COMPLETE);
	assert_int_equal(last.n_executed, 1);
	assert_whole(&last);
	assert_int_equal(pread(shared, executed, sizeof executed - 1, 0), strlen(want));
	assert_string_equal(executed, want);
	close(shared);
	unlink(name);
}

static void
write_file(const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
}

static size_t
read_file(char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, bytes, size);
	assert_true(fd >= 0 && n > 0 && close(fd) == 0);
	return (size_t)n;
}

static size_t
count_lines(const char *bytes, size_t n)
{
	size_t lines = 0;
	for (size_t i = 0; i < n; i++)
		lines += bytes[i] == '\n';
	return lines;
}

/* Cut at each byte, as by a full disk or the end of power. */
static void
every_cut(void **state)
{
	static char whole[8192], after[8192];
	struct log log = {NEVER};
	(void)state;
	assert_int_equal(run(&plan, &log), ST_EXPERIMENT_COMPLETE);
	size_t size = read_file(whole, sizeof whole);
	assert_int_equal(count_lines(whole, size), RUNS + 1);
	for (size_t n = 0; n <= size; n++) {
		struct log again = {NEVER};
		struct st_error e;
		enum st_experiment_end end;
		size_t lines = count_lines(whole, n), kept = lines ? lines - 1 : 0;
		write_file(whole, n);
		struct st_experiment *x = open_with(&plan, &again, &e);
		if (!x)
			fail_msg("%zu bytes: %s", n, e.text);
		assert_int_equal(st_experiment_dropped(x) != NULL, n && whole[n - 1] != '\n');
		assert_int_equal(st_experiment_finished(x), kept);
		assert_int_equal(st_experiment_run(x, &end, &e), ST_OK);
		st_experiment_close(x);
		assert_int_equal(again.n_executed, RUNS - kept);
		assert_whole(&again);
		assert_int_equal(read_file(after, sizeof after), size);
		assert_memory_equal(after, whole, size);
	}
}

/* A line with its newline, but not as it was written: in the last line it is dropped, else the
 * journal is refused. */
static void
damage(void **state)
{
	static char whole[8192], bad[8192];
	struct log log = {NEVER};
	struct st_error e;
	(void)state;
	assert_int_equal(run(&plan, &log), ST_EXPERIMENT_COMPLETE);
	size_t size = read_file(whole, sizeof whole);
	memcpy(bad, whole, size);
	bad[size - 3] ^= 1;
	write_file(bad, size);
	struct log again = {NEVER};
	struct st_experiment *x = open_with(&plan, &again, &e);
	assert_non_null(x);
	assert_string_equal(st_experiment_dropped(x),
	                    "line 13, the last one of the journal, was not written whole: its run "
	                    "is executed again");
	assert_int_equal(st_experiment_finished(x), RUNS - 1);
	st_experiment_close(x);
	memcpy(bad, whole, size);
	*(strchr(strchr(bad, '\n') + 1, '\n') - 1) ^= 1;
	write_file(bad, size);
	refused(&plan, "the journal %s is damaged in line 2: remove what begins there");
	/* Twice the same run, well written. */
	char *second = strchr(whole, '\n') + 1;
	size_t n = (size_t)(strchr(second, '\n') + 1 - second);
	memcpy(bad, whole, size);
	memcpy(bad + size, second, n);
	write_file(bad, size + n);
	refused(&plan, "the journal %s has a run twice");
}

static void
wrong_files(void **state)
{
	struct log log = {NEVER};
	struct st_experiment_plan p = plan;
	struct st_error e;
	char bytes[64];
	(void)state;
	write_file("something else\n", 15);
	refused(&plan, "%s is not a journal of an experiment: choose another file or folder");
	write_file("something", 9);
	refused(&plan, "%s is not a journal of an experiment: choose another file or folder");
	assert_int_equal(read_file(bytes, sizeof bytes), 9);
	setup(NULL);
	assert_int_equal(run(&plan, &log), ST_EXPERIMENT_COMPLETE);
	char *identity = st_journal_identity(plan.journal);
	assert_string_equal(identity, "a test");
	free(identity);
	assert_null(st_journal_identity("/no/such/journal"));
	p.identity = "another";
	refused(&p, "the journal %s is of another experiment, which has 'a' where this one has "
	            "'another'; choose another file or folder, or repeat that one: a test");
	char *text = malloc(1 << 16);
	size_t size = read_file(text, 1 << 16);
	text[31] ^= 1;
	write_file(text, size);
	refused(&plan,
	        "the journal %s is damaged in line 1, which describes the experiment: choose "
	        "another file or folder");
	text[31] ^= 1;
	write_file(text, size);
	free(text);
	p = plan;
	p.n_repetitions--;
	refused(&p, "the journal %s has a run that the experiment does not have");
	struct log first = {NEVER};
	struct st_experiment *x = open_with(&plan, &first, &e);
	assert_non_null(x);
	check_in_use();
	st_experiment_close(x);
}

int
main(void)
{
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/journal", folder);
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(in_turn, setup),
	        cmocka_unit_test_setup(orders, setup),
	        cmocka_unit_test_setup(limits, setup),
	        cmocka_unit_test_setup(goes_on, setup),
	        cmocka_unit_test_setup(survives_kills, setup),
	        cmocka_unit_test_setup(every_cut, setup),
	        cmocka_unit_test_setup(damage, setup),
	        cmocka_unit_test_setup(wrong_files, setup),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
