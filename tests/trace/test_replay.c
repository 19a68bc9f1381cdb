/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface of engines is all that one needs: a raw file comes out of it as calls that were
 * counted and timed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "replay.h"
#include "session/session.h"
#include "trace/trace.h"

/* main 0..900 calls a 100..400, which calls b 150..250, and b 500..550; another thread calls b. */
static const char log_by_hand[] =
        "0 7 0;main\n0 7 100;a\n0 7 150;b\n1 7 250;b\n1 7 400;a\n"
        "0 7 500;b\n1 7 550;b\nnonsense\n0 8 600;b\n1 8 610;b\n1 7 900;main\n";

static struct st_trace_outcome
replayed(const char *text)
{
	char path[] = "/tmp/strobe-replay-XXXXXX";
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	char *program[] = {path, NULL};
	struct st_session session = {.program = program};
	const struct st_trace_request request = {.session = &session, .main = ""};
	struct st_trace_outcome out = {0};
	struct st_error e;
	assert_int_equal(trace_replay.check(&request, &e), 0);
	assert_int_equal(trace_replay.run(&request, &out, &e), 0);
	unlink(path);
	return out;
}

static const struct st_trace_function *
find_replayed(const struct st_trace *t, const char *name, int64_t tid)
{
	for (size_t i = 0; i < t->functions.n; i++)
		if (!strcmp(t->functions.v[i].name, name) && (int64_t)t->functions.v[i].tid == tid)
			return &t->functions.v[i];
	fail_msg("no function %s in thread %ld", name, (long)tid);
	return NULL;
}

static void
assert_times(const struct st_trace_function *f, uint64_t calls, uint64_t inclusive,
             uint64_t exclusive)
{
	assert_int_equal(f->calls, calls);
	assert_int_equal(f->inclusive_ns, inclusive);
	assert_int_equal(f->exclusive_ns, exclusive);
}

static void
calls_are_as_by_hand(void **state)
{
	(void)state;
	struct st_trace_outcome out = replayed(log_by_hand);
	struct st_trace t;
	struct st_error e;
	assert_int_equal(st_trace_read(&t, out.profile, true, &e), 0);
	assert_string_equal(t.engine, "replay");
	assert_int_equal(t.functions.n, 4);
	assert_times(find_replayed(&t, "main", 7), 1, 900, 550);
	assert_times(find_replayed(&t, "a", 7), 1, 300, 200);
	assert_times(find_replayed(&t, "b", 7), 2, 150, 150);
	assert_times(find_replayed(&t, "b", 8), 1, 10, 10);
	st_trace_free(&t);
	st_profile_free(out.profile);
}

static void
missing_file(void **state)
{
	(void)state;
	char *program[] = {"/nonexistent/raw", NULL};
	struct st_session session = {.program = program};
	const struct st_trace_request request = {.session = &session, .main = ""};
	struct st_error e = {0};
	assert_int_equal(trace_replay.check(&request, &e), -1);
	assert_string_equal(e.text, "cannot replay /nonexistent/raw");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls_are_as_by_hand),
	        cmocka_unit_test(missing_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
