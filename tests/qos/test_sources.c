/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each source of a metric: what it reads, and what it says of what cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <strobe/qos.h>

#include "qos/source.h"
#include "scratch.h"
#include "server.h"

static void
add_to(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "a");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct st_qos_poll
poll_at(double now)
{
	return (struct st_qos_poll){.now = now, .most = 5, .stop = -1};
}

static void
assert_value(const struct st_qos_kind *kind, void *source, double now, double value)
{
	struct st_qos_poll p = poll_at(now);
	enum st_qos_got got;
	do /* a command's end may be a little behind its number */
		got = kind->poll(source, &p);
	while (got == ST_QOS_NOTHING && kind == &st_qos_command);
	if (got != ST_QOS_VALUE || fabs(p.value - value) > 1e-9 * value)
		fail_msg("%d, %.17g, '%s' in place of %.17g", got, p.value, p.why, value);
}

/* why: a part of it. */
static void
assert_not(const struct st_qos_kind *kind, void *source, double now, enum st_qos_got expected,
           const char *why)
{
	struct st_qos_poll p = poll_at(now);
	enum st_qos_got got = kind->poll(source, &p);
	if (got != expected || !strstr(p.why, why))
		fail_msg("%d, %.17g, '%s' in place of '%s'", got, p.value, p.why, why);
}

static void
numbers(void **state)
{
	(void)state;
	const struct {
		const char *text;
		double value; /* -1: none */
	} cases[] = {{"42", 42},     {"  7.5 ops/s", 7.5},
	             {".5", 0.5},    {"1e3", 1000},
	             {"0", 0},       {"", -1},
	             {"-1", -1},     {"nan", -1},
	             {"inf", -1},    {"1e999", -1},
	             {"ops 5", -1},  {".", -1},
	             {"\t3\r\n", 3}, {"+5", -1},
	             {"12,000", 12}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double value = -1;
		bool is = st_qos_number(cases[i].text, &value);
		assert_int_equal(is, cases[i].value >= 0);
		if (is)
			assert_true(value == cases[i].value);
	}
}

static void
bad_forms(void **state)
{
	(void)state;
	const struct {
		const struct st_qos_kind *kind;
		const char *text, *says;
	} cases[] = {
	        {&st_qos_command, "", "command"},
	        {&st_qos_file, "", "file:PATH:REGEX"},
	        {&st_qos_file, "/tmp/x", "file:PATH:REGEX"},
	        {&st_qos_file, ":x", "file:PATH:REGEX"},
	        {&st_qos_file, "/tmp/x:", "regular expression"},
	        {&st_qos_file, "/tmp/x:(", "regular expression"},
	        {&st_qos_rate, "/tmp/x", "rate:PATH:REGEX"},
	        {&st_qos_growth, "", "path"},
	        {&st_qos_http, "//example.org/x", "this machine only"},
	        {&st_qos_http, "//127.0.0.1.example.org/", "this machine only"},
	        {&st_qos_http, "//127.0.0.1:0/x", "this machine only"},
	        {&st_qos_http, "//127.0.0.1:65536/x", "this machine only"},
	        {&st_qos_http, "//127.0.0.1:x/", "this machine only"},
	        {&st_qos_http, "//127.0.0.1:80/x#(", "regular expression"},
	        {&st_qos_redis, "6379", "redis:PORT:FIELD"},
	        {&st_qos_redis, "6379:", "redis:PORT:FIELD"},
	        {&st_qos_redis, "host:6379:x", "redis:PORT:FIELD"},
	        {&st_qos_redis, "/run/redis.sock", "redis:/SOCKET:FIELD"},
	        {&st_qos_redis, "/run/redis.sock:", "redis:/SOCKET:FIELD"},
	        {&st_qos_redis, "70000:x", "redis:PORT:FIELD"},
	        {&st_qos_slot, "", "shm:NAME"},
	        {&st_qos_slot, "../x", "shm:NAME"},
	        {&st_qos_slot, "a/b", "shm:NAME"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct st_error e = {.code = 0};
		assert_null(cases[i].kind->open(cases[i].text, &e));
		assert_int_equal(e.code, ST_EXIT_USAGE);
		if (!strstr(e.text, cases[i].says))
			fail_msg("'%s' of '%s'", e.text, cases[i].text);
	}
}

static void
commands_that_end(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_command;
	void *s = open_source(k, "cat %s", path_of("number"));
	double now = st_now_raw();
	assert_not(k, s, now, ST_QOS_FAILURE, "ended");
	add_to("number", "42 per second\n"); /* it is tried again */
	assert_value(k, s, now, 42);
	assert_value(k, s, now, 42);
	add_to("number", "43\n");
	assert_value(k, s, now, 43);
	k->close(s);
	s = open_source(k, "printf 44"); /* no newline at the end */
	assert_value(k, s, now, 44);
	assert_value(k, s, now, 44);
	k->close(s);
	s = open_source(k, "echo hello");
	assert_not(k, s, now, ST_QOS_FAILURE, "'hello', which is not a number");
	k->close(s);
	s = open_source(k, "/does/not/exist");
	assert_not(k, s, now, ST_QOS_FAILURE, "ended");
	k->close(s);
}

/* The session waits for all children, and may be faster. */
static void
commands_that_others_wait_for(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_command;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGCHLD, &ignore, &before); /* none of them stays to be waited for */
	void *s = open_source(k, "echo 42");
	for (int i = 0; i < 50; i++)
		assert_value(k, s, st_now_raw(), 42);
	k->close(s);
	sigaction(SIGCHLD, &before, NULL);
}

/* Nothing of a command is left, also of one that has ended and been waited for by others. */
static void
commands_that_leave_children(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_command;
	struct sigaction before;
	for (int others = 0; others < 2; others++) {
		struct sigaction how = {.sa_handler = others ? SIG_IGN : SIG_DFL};
		struct st_qos_poll p = poll_at(st_now_raw());
		double first = 0;
		int alive[2]; /* all inherit it: its end is theirs */
		assert_int_equal(pipe(alive), 0);
		sigaction(SIGCHLD, &how, &before);
		void *s = open_source(k, "sleep 1000 >/dev/null & echo $!");
		do { /* until it has ended, and been started again */
			if (k->poll(s, &p) == ST_QOS_VALUE && !first)
				first = p.value;
		} while (!first || p.value == first);
		k->close(s);
		sigaction(SIGCHLD, &before, NULL);
		close(alive[1]);
		assert_true(st_qos_wait(alive[0], POLLIN, st_now_raw() + 20, -1));
		close(alive[0]);
	}
}

static void
commands_that_go_on(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_command;
	/* Its number, and a child that would go on. */
	void *s = open_source(k, "echo $$; sleep 1000 & wait; echo 1");
	struct st_qos_poll p = poll_at(st_now_raw());
	int alive[2]; /* both inherit it: its end is theirs */
	char byte;
	assert_int_equal(pipe(alive), 0);
	assert_int_equal(k->poll(s, &p), ST_QOS_VALUE);
	close(alive[1]);
	pid_t pid = (pid_t)p.value;
	assert_int_equal(kill(pid, 0), 0);
	assert_not(k, s, p.now + 4.9, ST_QOS_NOTHING, "");
	assert_not(k, s, p.now + 5.1, ST_QOS_FAILURE, "nothing for 5 s");
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(read(alive[0], &byte, 1), 0);
	close(alive[0]);
	/* It is started again. */
	assert_int_equal(k->poll(s, &p), ST_QOS_VALUE);
	assert_true((pid_t)p.value != pid);
	k->close(s);
	assert_int_equal(kill((pid_t)p.value, 0), -1);
	/* The last of the lines counts. */
	s = open_source(k, "printf '1\\n2\\n3\\n4'; read x");
	p.value = 0;
	while (p.value < 4)
		assert_int_not_equal(k->poll(s, &p), ST_QOS_FAILURE);
	k->close(s);
	/* One that hangs takes no longer than it may. */
	s = open_source(k, "sleep 1000");
	p.most = 0.01;
	double begin = st_now_raw();
	p.now = begin;
	assert_int_equal(k->poll(s, &p), ST_QOS_NOTHING);
	assert_true(st_now_raw() - begin < 5);
	k->close(s);
}

static void
values_of_a_log(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_file;
	char moved[300];
	add_to("log", "rate 1 old\n");
	void *s = open_source(k, "%s:rate ([0-9.]+)", path_of("log"));
	assert_not(k, s, 0, ST_QOS_NOTHING, "no line"); /* what was there before is not now */
	add_to("log", "rate 10\nrate 20\nother 30\n");
	assert_value(k, s, 0, 20);
	assert_not(k, s, 0, ST_QOS_NOTHING, "no line");
	add_to("log", "rate 4"); /* not whole yet */
	assert_not(k, s, 0, ST_QOS_NOTHING, "no line");
	add_to("log", "0\n");
	assert_value(k, s, 0, 40);
	assert_int_equal(truncate(path_of("log"), 0), 0);
	add_to("log", "rate 5\n");
	assert_value(k, s, 0, 5);
	snprintf(moved, sizeof moved, "%s.1", path_of("log"));
	assert_int_equal(rename(path_of("log"), moved), 0);
	assert_not(k, s, 0, ST_QOS_NOTHING, "no such file");
	add_to("log", "rate 6, and more than the other one had\n");
	assert_value(k, s, 0, 6);
	k->close(s);
	s = open_source(k, "%s:is .*", path_of("log"));
	assert_not(k, s, 0, ST_QOS_NOTHING, "no line");
	add_to("log", "it is late\n");
	assert_not(k, s, 0, ST_QOS_FAILURE, "not a number");
	k->close(s);
	s = open_source(k, "%s:[0-9]+", folder);
	assert_not(k, s, 0, ST_QOS_FAILURE, "not a regular file");
	k->close(s);
}

static void
long_lines(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_file;
	void *s = open_source(k, "%s:^v=([0-9]+)", path_of("long"));
	assert_not(k, s, 0, ST_QOS_NOTHING, "no such file");
	FILE *f = fopen(path_of("long"), "w");
	for (int i = 0; i < 300000; i++)
		fputc(i % 1000 ? 'x' : 0, f);
	fputs("\nv=8\n", f);
	fclose(f);
	assert_value(k, s, 0, 8);
	k->close(s);
}

static void
rates(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_rate;
	void *s = open_source(k, "%s:GET .* 200", path_of("access"));
	assert_not(k, s, 1, ST_QOS_NOTHING, "no such file");
	add_to("access", "GET /a 200\n");
	assert_not(k, s, 2, ST_QOS_NOTHING, "");
	add_to("access", "GET /b 200\nGET /c 404\nGET /d 200\nGET /e 200\n");
	assert_value(k, s, 2.5, 6);
	assert_value(k, s, 3.5, 0);
	k->close(s);
	k = &st_qos_growth;
	s = open_source(k, "%s", path_of("out"));
	assert_not(k, s, 1, ST_QOS_NOTHING, "no such file");
	add_to("out", "0123456789");
	assert_not(k, s, 2, ST_QOS_NOTHING, "does not grow");
	add_to("out", "0123456789");
	assert_value(k, s, 4, 5);
	assert_value(k, s, 5, 0);
	assert_int_equal(truncate(path_of("out"), 3), 0);
	assert_not(k, s, 6, ST_QOS_NOTHING, "");
	add_to("out", "0123456");
	assert_value(k, s, 7, 7);
	k->close(s);
}

#define OK "HTTP/1.1 200 OK\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nX: y\r\n\r\n"

static void
http(void **state)
{
	(void)state;
	const struct {
		const char *where, *answer;
		double value;    /* -1: a failure */
		const char *why; /* of it */
	} cases[] = {
	        {"", OK "12.5\n", 12.5, ""},
	        {"#.", OK "7", 7, ""},
	        {"#.a.b", OK "{\"a\": {\"b\": 3}}", 3, ""},
	        {"#$.a[1].b", OK "{\"a\": [0, {\"b\": 2.5}]}", 2.5, ""},
	        {"#.a[0]", OK "{\"a\": [\"19 per second\"]}", 19, ""},
	        {"#Req/s: ([0-9.]+)", OK "<p>Req/s: 301.5</p>", 301.5, ""},
	        {"", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42 and more", 42, ""},
	        {"", CHUNKED "1\r\n4\r\n3;a=b\r\n2.5\r\n0\r\n\r\n", 42.5, ""},
	        {"#.a", CHUNKED "00000a\r\n{\"a\":\r\n  1\r\n2\r\n7}\r\n0\r\nTrailer: 1\r\n\r\n",
	         17, ""},
	        {"", CHUNKED "4\r\n12", -1, "no last chunk"},
	        {"", CHUNKED "4\r\n1234\r\n", -1, "no last chunk"},
	        {"", CHUNKED "fffffffffffffffe\r\n1234\r\n0\r\n\r\n", -1, "no last chunk"},
	        {"", CHUNKED "-1\r\n1234\r\n0\r\n\r\n", -1, "no last chunk"},
	        {"", CHUNKED "12", -1, "no last chunk"},
	        {"", CHUNKED "0\r\n\r\n", -1, "not a number"},
	        {"", OK "\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12", -1, "not a number"},
	        {"#.a", OK "{\"a\": -1}", -1, "0 or more"},
	        {"#.a", OK "{\"a\": true}", -1, "at .a"},
	        {"#.a.b", OK "{\"a\": 1}", -1, "at .a.b"},
	        {"#.a[7]", OK "{\"a\": []}", -1, "at .a[7]"},
	        {"#.a[", OK "{\"a\": [1]}", -1, "at .a["},
	        {"#.a", OK "<html>", -1, "not JSON"},
	        {"", OK "much", -1, "not a number"},
	        {"#rate (.*)", OK "rate high", -1, "not a number"},
	        {"#rate", OK "nothing", -1, "nothing in the answer matches"},
	        {"", "HTTP/1.1 404 Not Found\r\n\r\n1", -1, "status 404"},
	        {"", "220 ftp\r\n", -1, "not HTTP"},
	        {"", "", -1, "not HTTP"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct server server;
		const struct st_qos_kind *k = &st_qos_http;
		uint16_t port = server_start(&server, cases[i].answer, false);
		void *s = open_source(k, "//127.0.0.1:%u/status?x=1%s", port, cases[i].where);
		if (cases[i].value >= 0)
			assert_value(k, s, 0, cases[i].value);
		else
			assert_not(k, s, 0, ST_QOS_FAILURE, cases[i].why);
		server_stop(&server);
		assert_memory_equal(server.asked, "GET /status?x=1 HTTP/1.0\r\n", 26);
		assert_not(k, s, 0, ST_QOS_FAILURE, "refused");
		k->close(s);
	}
}

/* An answer is whole before the connection is closed. */
static void
http_kept_open(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_http;
	const char *answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n4.5",
	                         CHUNKED "2\r\n4.\r\n1\r\n5\r\n0\r\n\r\n"};
	for (size_t i = 0; i < 2; i++) {
		struct server server;
		uint16_t port = server_start(&server, answers[i], true);
		void *s = open_source(k, "//127.0.0.1:%u/", port);
		assert_value(k, s, 0, 4.5);
		k->close(s);
		server_stop(&server);
	}
}

static const char info[] = "$75\r\n# Stats\r\ntotal:100\r\ninstantaneous_ops_per_sec:4711\r\n"
                           "instantaneous_ops:8\r\nx:y\r\n\r\n";

static void
redis(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_redis;
	struct server server;
	uint16_t port = server_start(&server, info, true);
	void *s = open_source(k, "%u:instantaneous_ops_per_sec", port);
	assert_value(k, s, 0, 4711);
	k->close(s);
	s = open_source(k, "%u:instantaneous_ops", port);
	assert_value(k, s, 0, 8);
	k->close(s);
	s = open_source(k, "%u:total/s", port);
	assert_not(k, s, 1, ST_QOS_NOTHING, "");
	assert_value(k, s, 2, 0);
	k->close(s);
	const char *none[] = {"x", "otal", "ops_per_sec"};
	for (size_t i = 0; i < 3; i++) {
		s = open_source(k, "%u:%s", port, none[i]);
		assert_not(k, s, 0, ST_QOS_FAILURE, "no number called");
		k->close(s);
	}
	server_stop(&server);
	assert_string_equal(server.asked, "INFO\r\n");
	port = server_start(&server, "-NOAUTH Authentication required.\r\n", true);
	s = open_source(k, "%u:total", port);
	assert_not(k, s, 0, ST_QOS_FAILURE,
	           "'-NOAUTH Authentication required.': give the password in REDISCLI_AUTH");
	k->close(s);
	server_stop(&server);
}

static void
redis_with_password(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_redis;
	char good[200], without[200];
	snprintf(good, sizeof good, "+OK\r\n%s", info);
	snprintf(without, sizeof without, "-ERR AUTH called without any password\r\n%s", info);
	const struct {
		const char *answer, *why; /* why: of a failure */
	} cases[] = {{good, NULL},
	             {without, NULL},
	             {"-WRONGPASS invalid\r\n-NOAUTH Authentication required.\r\n",
	              "the server answers '-WRONGPASS invalid'"}};
	setenv("REDISCLI_AUTH", "a \"secret\"", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct server server;
		uint16_t port = server_start(&server, cases[i].answer, true);
		void *s = open_source(k, "%u:total", port);
		if (cases[i].why)
			assert_not(k, s, 0, ST_QOS_FAILURE, cases[i].why);
		else
			assert_value(k, s, 0, 100);
		k->close(s);
		server_stop(&server);
		assert_string_equal(server.asked,
		                    "*2\r\n$4\r\nAUTH\r\n$10\r\na \"secret\"\r\nINFO\r\n");
	}
	unsetenv("REDISCLI_AUTH");
}

static void
redis_at_a_socket(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_redis;
	struct server server;
	char too_long[120];
	server_start_at(&server, path_of("a:socket"), info, true);
	void *s = open_source(k, "%s:total", path_of("a:socket"));
	assert_value(k, s, 0, 100);
	k->close(s);
	server_stop(&server);
	assert_string_equal(server.asked, "INFO\r\n");
	s = open_source(k, "%s:total", path_of("none"));
	assert_not(k, s, 0, ST_QOS_FAILURE, "/none: No such file or directory");
	k->close(s);
	memset(too_long, 'x', sizeof too_long - 1);
	too_long[sizeof too_long - 1] = 0;
	s = open_source(k, "%s:total", path_of(too_long));
	assert_not(k, s, 0, ST_QOS_FAILURE, "File name too long");
	k->close(s);
}

/* A server that begins to answer and does not go on. */
static void
slow_servers(void **state)
{
	(void)state;
	struct server server;
	const struct st_qos_kind *kinds[] = {&st_qos_redis, &st_qos_http};
	const char *texts[] = {"%u:total", "//localhost:%u/"};
	for (size_t i = 0; i < 2; i++) {
		uint16_t port = server_start(&server, "$100\r\ntot", true);
		void *s = open_source(kinds[i], texts[i], port);
		struct st_qos_poll p = {.most = 0.05, .stop = -1};
		assert_int_equal(kinds[i]->poll(s, &p), ST_QOS_FAILURE);
		assert_string_equal(p.why, "there was no whole answer in time");
		/* Told to stop, it does not wait. */
		int fds[2];
		assert_int_equal(pipe(fds), 0);
		close(fds[1]);
		p = (struct st_qos_poll){.most = 1e6, .stop = fds[0]};
		assert_int_equal(kinds[i]->poll(s, &p), ST_QOS_FAILURE);
		close(fds[0]);
		kinds[i]->close(s);
		server_stop(&server);
	}
}

/* As if a second had passed since strobe was looked for. */
static void
look_again(struct strobe_qos *q)
{
	q->calls = 0;
	q->looked = 0;
}

static void
slots(void **state)
{
	(void)state;
	const struct st_qos_kind *k = &st_qos_slot;
	char name[64];
	snprintf(name, sizeof name, "test-%d", getpid());
	struct strobe_qos served = STROBE_QOS(name), other = served;
	errno = EXDEV;
	strobe_qos_count(&served, 5); /* without strobe nothing happens */
	assert_int_equal(errno, EXDEV);
	strobe_qos_set(&served, 5);
	assert_null(served.slot);
	void *s = open_source(k, "%s", name);
	assert_not(k, s, 1, ST_QOS_NOTHING, "writes nothing");
	/* It is looked for once in a second, by the first of sixteen calls. */
	look_again(&served);
	strobe_qos_count(&served, 1);
	assert_non_null(served.slot);
	assert_int_equal(served.slot->count, 1);
	strobe_qos_count(&served, 4095);
	assert_not(k, s, 2, ST_QOS_NOTHING, "");
	strobe_qos_count(&served, 30);
	assert_value(k, s, 4, 15);
	assert_value(k, s, 5, 0);
	strobe_qos_set(&other, 0.5);
	assert_value(k, s, 6, 0.5);
	strobe_qos_set(&other, NAN);
	assert_not(k, s, 7, ST_QOS_FAILURE, "no number");
	strobe_qos_set(&other, -1);
	assert_not(k, s, 7, ST_QOS_FAILURE, "no number");
	/* A second one uses what is there. */
	void *again = open_source(k, "%s", name);
	k->close(again);
	char path[128];
	snprintf(path, sizeof path, "/dev/shm/strobe-qos.%s", name);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(truncate(path, 8), 0);
	assert_not(k, s, 8, ST_QOS_FAILURE, "not a slot any more");
	k->close(s);
	assert_int_equal(access(path, F_OK), -1);
	/* Another one is found in its place, and nothing before. */
	void *next = open_source(k, "%s", name);
	struct strobe_qos_slot *before = served.slot;
	strobe_qos_count(&served, 5);
	assert_not(k, next, 9, ST_QOS_NOTHING, "writes nothing");
	look_again(&served);
	strobe_qos_count(&served, 5);
	assert_ptr_equal(served.slot, before);
	assert_int_equal(served.slot->count, 5);
	k->close(next);
	munmap(served.slot, sizeof *served.slot);
	munmap(other.slot, sizeof *other.slot);
}

static int
begin(void **state)
{
	(void)state;
	unsetenv("REDISCLI_AUTH");
	return mkdtemp(folder) ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	char line[100];
	snprintf(line, sizeof line, "rm -r %s", folder);
	return system(line);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),
	        cmocka_unit_test(bad_forms),
	        cmocka_unit_test(commands_that_end),
	        cmocka_unit_test(commands_that_others_wait_for),
	        cmocka_unit_test(commands_that_leave_children),
	        cmocka_unit_test(commands_that_go_on),
	        cmocka_unit_test(values_of_a_log),
	        cmocka_unit_test(long_lines),
	        cmocka_unit_test(rates),
	        cmocka_unit_test(http),
	        cmocka_unit_test(http_kept_open),
	        cmocka_unit_test(redis),
	        cmocka_unit_test(redis_with_password),
	        cmocka_unit_test(redis_at_a_socket),
	        cmocka_unit_test(slow_servers),
	        cmocka_unit_test(slots),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
