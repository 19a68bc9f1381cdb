/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that watches a source, and what is left of it when the source is bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qos/qos.h"
#include "qos/source.h"

static const struct st_qos_goal goal = {
        .threshold = 2000, .policy = ST_QOS_FUNCTION, .period = 0.05, .most = 0.05};

static struct st_qos *
open_watch(const char *source)
{
	struct st_error e;
	struct st_qos *q = st_qos_open(source, &goal, &e);
	if (!q)
		fail_msg("%s", e.text);
	return q;
}

/* Until it has so many rows of a state, or ten seconds have passed. */
static double
wait_for_budget(struct st_qos *q, bool some)
{
	double end = st_now_raw() + 10, budget = 0;
	while (st_now_raw() < end && ((budget = st_qos_budget(q)) > 0) != some)
		usleep(1000);
	return budget;
}

static void
good(void **state)
{
	(void)state;
	size_t n;
	struct st_qos *q = open_watch("cmd:echo 6000");
	assert_string_equal(st_qos_source(q), "cmd:echo 6000");
	st_qos_start(q);
	assert_true(wait_for_budget(q, true) == 0.025);
	st_qos_stop(q);
	const struct st_qos_row *rows = st_qos_rows(q, &n);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].state, ST_QOS_KEPT);
		assert_true(rows[i].value == 6000 && rows[i].budget == 0.025);
	}
	assert_null(st_qos_trouble(q));
	st_qos_free(q);
}

/* It works, fails, and works again: said once. */
static void
failing(void **state)
{
	(void)state;
	char path[] = "/tmp/strobe-qos-XXXXXX", source[100];
	int fd = mkstemp(path);
	snprintf(source, sizeof source, "cmd:cat %s", path);
	struct st_qos *q = open_watch(source);
	assert_int_equal(write(fd, "6000\n", 5), 5);
	st_qos_start(q);
	assert_true(wait_for_budget(q, true) == 0.025);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_true(wait_for_budget(q, false) == 0);
	char *trouble = strdup(st_qos_trouble(q));
	assert_non_null(strstr(trouble, "ended and had printed no number; the budget is 0 until"));
	assert_int_equal(pwrite(fd, "6000\n", 5, 0), 5);
	assert_true(wait_for_budget(q, true) == 0.025);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_true(wait_for_budget(q, false) == 0);
	st_qos_stop(q);
	assert_string_equal(st_qos_trouble(q), trouble);
	free(trouble);
	st_qos_free(q);
	close(fd);
	unlink(path);
}

/* Nothing that a source does keeps those who ask for the budget, or stop it, for long. */
static void
hanging(void **state)
{
	(void)state;
	const char *sources[] = {"cmd:sleep 1000", "file:/does/not/exist:x", "shm:test-nobody"};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct st_qos *q = open_watch(sources[i]);
		double begin = st_now_raw();
		st_qos_start(q);
		assert_true(st_qos_budget(q) == 0);
		usleep(100000);
		assert_true(st_qos_budget(q) == 0);
		st_qos_stop(q);
		assert_true(st_now_raw() - begin < 5);
		st_qos_free(q);
	}
}

static void
silent(void **state)
{
	(void)state;
	size_t n;
	struct st_qos *q = open_watch("cmd:echo 6000; sleep 1000");
	st_qos_start(q);
	assert_true(wait_for_budget(q, true) == 0.025);
	assert_true(wait_for_budget(q, false) == 0); /* after three seconds */
	st_qos_stop(q);
	const struct st_qos_row *rows = st_qos_rows(q, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].state, ST_QOS_SILENT);
	assert_non_null(strstr(st_qos_trouble(q), "it has given no number for 3 s"));
	st_qos_free(q);
}

/* A budget that does not follow the metric is there from the beginning, also when nobody speaks. */
static void
watching(void **state)
{
	(void)state;
	struct st_qos_goal watched = goal;
	struct st_error e;
	watched.policy = ST_QOS_WATCH;
	struct st_qos *q = st_qos_open("cmd:sleep 1000", &watched, &e);
	assert_non_null(q);
	st_qos_start(q);
	assert_true(st_qos_budget(q) == goal.most);
	usleep(100000);
	assert_true(st_qos_budget(q) == goal.most);
	st_qos_stop(q);
	st_qos_free(q);
}

static void
unknown(void **state)
{
	(void)state;
	const char *sources[] = {"", "cmd", "nothing:x", ":x"};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct st_error e = {.code = 0};
		assert_null(st_qos_open(sources[i], &goal, &e));
		assert_int_equal(e.code, ST_EXIT_USAGE);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(good),   cmocka_unit_test(failing), cmocka_unit_test(hanging),
	        cmocka_unit_test(silent), cmocka_unit_test(unknown), cmocka_unit_test(watching),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
