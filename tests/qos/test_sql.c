/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sources that ask a database, with clients of our own in PATH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qos/source.h"
#include "scratch.h"

/* Keeps what it was started with and asked; what it answers to each question is `answer`. */
static const char client[] = "#!/bin/sh\n"
                             "cd \"${0%%/*}\"\n"
                             "printf '%%s\\n' \"$@\" > arguments\n"
                             "n=0\n"
                             "while read -r line; do\n"
                             "  printf '%%s\\n' \"$line\" >> asked\n"
                             "  case $line in *=strobe=*) n=$((n + 100)); %s\n"
                             "  esac\n"
                             "done\n";

static void
make_client(const char *name, const char *answer)
{
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	fprintf(f, client, answer);
	fclose(f);
	assert_int_equal(chmod(path_of(name), 0700), 0);
	unlink(path_of("asked"));
}

static void
assert_file(const char *name, const char *text)
{
	char is[1000] = "";
	FILE *f = fopen(path_of(name), "r");
	assert_non_null(f);
	is[fread(is, 1, sizeof is - 1, f)] = 0;
	fclose(f);
	assert_string_equal(is, text);
}

static struct st_qos_poll
ask(const struct st_qos_kind *kind, void *s, double now, enum st_qos_got expected)
{
	struct st_qos_poll p = {.now = now, .most = 60, .stop = -1};
	enum st_qos_got got = kind->poll(s, &p);
	if (got != expected)
		fail_msg("%d, %g, '%s'", got, p.value, p.why);
	return p;
}

static void
assert_failure(const char *answer, const char *why)
{
	make_client("psql", answer);
	void *s = open_source(&st_qos_postgresql, "SELECT 1");
	assert_string_equal(ask(&st_qos_postgresql, s, 0, ST_QOS_FAILURE).why, why);
	st_qos_postgresql.close(s);
}

static void
numbers(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_postgresql;
	make_client("psql", "echo \"NOTICE:  5\"; echo \"x 1|$n.5\"; echo 7; echo =strobe=;;");
	void *s = open_source(k, " SELECT x\nFROM t ; \n");
	assert_true(ask(k, s, 0, ST_QOS_VALUE).value == 100.5);
	assert_true(ask(k, s, 0, ST_QOS_VALUE).value == 200.5); /* the same client */
	k->close(s);
	assert_file("asked", "SELECT x\nFROM t\n;\n\\echo =strobe=\nSELECT x\nFROM t\n;\n\\echo "
	                     "=strobe=\n");
	assert_file("arguments",
	            "--no-psqlrc\n--quiet\n--no-align\n--tuples-only\n--no-password\n");
}

static void
rates(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_mysql;
	make_client("mariadb", "echo $n; echo =strobe=;;");
	void *s = open_source(k, "//me@db.example:3307/shop SELECT a / s FROM t; /s");
	ask(k, s, 1, ST_QOS_NOTHING);
	assert_true(ask(k, s, 1.5, ST_QOS_VALUE).value == 200);
	k->close(s);
	assert_file("asked", "SELECT a / s FROM t\n;\nSELECT '=strobe=';\nSELECT a / s FROM "
	                     "t\n;\nSELECT '=strobe=';\n");
	assert_file("arguments",
	            "--batch\n--skip-column-names\n--unbuffered\n--force\n--connect-timeout=3\n"
	            "--user=me\n--host=db.example\n--port=3307\n--database=shop\n");
	/* A division is no rate; and the other name of the client. */
	unlink(path_of("mariadb"));
	make_client("mysql", "echo $n; echo =strobe=;;");
	s = open_source(k, "//localhost SELECT a/s;");
	assert_true(ask(k, s, 1, ST_QOS_VALUE).value == 100);
	k->close(s);
	assert_file("asked", "SELECT a/s\n;\nSELECT '=strobe=';\n");
	assert_file("arguments", "--batch\n--skip-column-names\n--unbuffered\n--force\n--connect-"
	                         "timeout=3\n--host=localhost\n");
}

/* PostgreSQL's counters stand still for a second: the growth does not. */
static void
steps(void **state)
{
	(void)state;
	struct st_qos_steps s = {0};
	double rate;
	for (int i = 0; i < 400; i++) {
		double now = i / 8., amount = 1000 * ((i + 3) / 8);
		assert_int_equal(st_qos_stepped(&s, 1, amount, now, &rate), i >= 16);
		assert_true(i < 16 || rate == 1000);
	}
	/* One that is late by an eighth of a second moves by as much of the triangle. */
	for (int i = 0; i < 400; i++) {
		int step = (i + 3) / 8, late = (i + 2) / 8;
		double now = 50 + i / 8., amount = 50000 + 1000 * (step % 7 ? step : late);
		assert_true(st_qos_stepped(&s, 1, amount, now, &rate));
		assert_true(rate >= 875 && rate <= 1125);
	}
}

/* It is polled often enough for that, whatever the period; other numbers are not. */
static void
intervals(void **state)
{
	(void)state;
	static const struct {
		const struct st_qos_kind *kind;
		const char *text;
		double interval;
	} cases[] = {{&st_qos_postgresql, "SELECT 1; /s", .1},
	             {&st_qos_postgresql, "SELECT 1", 0},
	             {&st_qos_mysql, "SELECT 1; /s", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		void *source = open_source(cases[i].kind, "%s", cases[i].text);
		assert_true(cases[i].kind->interval(source) == cases[i].interval);
		cases[i].kind->close(source);
	}
	/* Steps that wander through the polls. */
	struct st_qos_steps s = {0};
	double rate;
	for (int i = 0; i < 2000; i++) {
		double now = i * .1, amount = 1e12 + 1000 * (int)((now + .3) / 1.005);
		if (st_qos_stepped(&s, 1, amount, now, &rate))
			assert_true(rate > 890 && rate < 1110);
	}
}

/* A rate is known from two seconds on, and when the server has begun again. */
static void
windows(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_postgresql;
	make_client("psql", "[ $n = 10100 ] && n=100; echo $n; echo =strobe=;;");
	void *s = open_source(k, "SELECT 1; /s");
	for (int i = 0; i < 8; i++) /* 100 to 800 */
		ask(k, s, i * 0.25, ST_QOS_NOTHING);
	for (int i = 8; i < 100; i++)
		assert_true(ask(k, s, i * 0.25, ST_QOS_VALUE).value == 400);
	for (int i = 100; i < 108; i++) /* it has begun again */
		ask(k, s, i * 0.25, ST_QOS_NOTHING);
	/* On the mean 500 from 25.5 on, 825 from 26.5 on. */
	assert_true(ask(k, s, 27.5, ST_QOS_VALUE).value == 325);
	k->close(s);
}

static void
servers(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_postgresql;
	make_client("psql", "echo $n; echo =strobe=;;");
	void *s = open_source(k, "//me@127.0.0.1:5433/shop?sslmode=disable SELECT 1");
	ask(k, s, 0, ST_QOS_VALUE);
	k->close(s);
	assert_file("arguments", "--no-psqlrc\n--quiet\n--no-align\n--tuples-only\n--no-password\n"
	                         "--dbname=postgresql://me@127.0.0.1:5433/shop?sslmode=disable\n");
}

static void
failures(void **state)
{
	(void)state;
	assert_failure("echo 'ERROR:  no such table' >&2; echo LINE 1; echo =strobe=;;",
	               "the client says 'ERROR:  no such table'");
	assert_failure("echo -----; echo 'ERROR 1 at line 3: no'; echo =strobe=;;",
	               "the client says 'ERROR 1 at line 3: no'");
	assert_failure("echo =strobe=;;", "the query gives no number");
	assert_failure("echo; echo =strobe=;;", "the query gives no number");
	assert_failure("echo 'psql: error: refused'; exit 2;;", "psql: error: refused");
	assert_failure("exit 2;;", "psql ended without an answer");
	unlink(path_of("psql"));
	void *s = open_source(&st_qos_postgresql, "SELECT 1");
	assert_string_equal(ask(&st_qos_postgresql, s, 0, ST_QOS_FAILURE).why,
	                    "psql cannot be started: No such file or directory");
	/* It is tried again, but not at once. */
	make_client("psql", "echo $n; echo =strobe=;;");
	ask(&st_qos_postgresql, s, 0.9, ST_QOS_NOTHING);
	assert_true(ask(&st_qos_postgresql, s, 1.1, ST_QOS_VALUE).value == 100);
	st_qos_postgresql.close(s);
}

/* A server that takes long is asked no second time before it has answered. */
static void
slow(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_postgresql;
	make_client("psql", "read -r go < fifo; echo $n; echo =strobe=;;");
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	void *s = open_source(k, "SELECT 1");
	struct st_qos_poll p = {.now = 10, .most = 0.01, .stop = -1};
	assert_int_equal(k->poll(s, &p), ST_QOS_NOTHING);
	p.now = 14.9;
	assert_int_equal(k->poll(s, &p), ST_QOS_NOTHING);
	FILE *fifo = fopen(path_of("fifo"), "w");
	fputs("go\n", fifo);
	fclose(fifo);
	assert_true(ask(k, s, 14.9, ST_QOS_VALUE).value == 100);
	p.now = 20;
	assert_int_equal(k->poll(s, &p), ST_QOS_NOTHING);
	p.now = 25.1;
	assert_int_equal(k->poll(s, &p), ST_QOS_FAILURE);
	assert_string_equal(p.why, "there was no answer for 5 s");
	k->close(s);
	assert_file("asked", "SELECT 1\n;\n\\echo =strobe=\nSELECT 1\n;\n\\echo =strobe=\n");
}

/* A server that is asked to end waits for its clients. */
static void
disconnected(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_postgresql;
	make_client("psql", "echo $$; echo =strobe=;;");
	double now = st_now_raw();
	void *s = open_source(k, "SELECT 1");
	pid_t one = (pid_t)ask(k, s, now, ST_QOS_VALUE).value;
	assert_int_equal(kill(one, 0), 0);
	k->disconnect(s);
	assert_int_equal(kill(one, 0), -1);
	ask(k, s, now, ST_QOS_NOTHING);
	assert_true((pid_t)ask(k, s, st_now_raw() + 1.1, ST_QOS_VALUE).value != one);
	k->close(s);
}

static void
bad_forms(void **state)
{
	(void)state;
	const char *texts[] = {"",           ";",          " ; /s",      "//server",
	                       "//server  ", "SELECT a/s", "SELECT 7 /s"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct st_error e = {.code = 0};
		assert_null(st_qos_mysql.open(texts[i], &e));
		assert_int_equal(e.code, ST_EXIT_USAGE);
		assert_non_null(strstr(e.text, "--qos mysql: needs a query"));
	}
	struct st_error e = {.code = 0};
	assert_null(st_qos_mysql.open("//me:secret@server SELECT 1", &e));
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_non_null(strstr(e.text, "do not give a password here"));
	assert_null(strstr(e.text, "secret"));
	e.code = 0;
	assert_null(st_qos_postgresql.open("//server/shop?password=secret SELECT 1", &e));
	assert_int_equal(e.code, ST_EXIT_USAGE);
	void *s = st_qos_postgresql.open("//server:5433/shop?user=a@b SELECT 1", &e);
	assert_non_null(s);
	st_qos_postgresql.close(s);
}

static int
set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? setenv("PATH", folder, 1) : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	char command[200];
	snprintf(command, sizeof command, "/bin/rm -r %s", folder);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),      cmocka_unit_test(rates),
	        cmocka_unit_test(windows),      cmocka_unit_test(servers),
	        cmocka_unit_test(steps),        cmocka_unit_test(intervals),
	        cmocka_unit_test(failures),     cmocka_unit_test(slow),
	        cmocka_unit_test(disconnected), cmocka_unit_test(bad_forms),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
