/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that are stopped in a system call that goes on by restart_syscall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/threads.h"

static const double patience = 60;

/* A child in nanosleep. */
static pid_t
sleeper(void)
{
	const struct timespec hour = {3600, 0}, pause = {0, 1000000};
	char path[64], text[400] = "";
	const pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_nanosleep, &hour, NULL);
		_exit(0);
	}
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	while (!strstr(text, ") S ")) {
		FILE *f = fopen(path, "re");
		assert_non_null(f);
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		fclose(f);
		nanosleep(&pause, NULL);
	}
	return pid;
}

/* The second time the thread has not run: the number of its call is not known any more, but that it
 * continues one is. */
static void
a_stop_before_the_call_goes_on(void **state)
{
	(void)state;
	struct st_threads ts;
	struct st_error e;
	const pid_t pid = sleeper();
	if (st_threads_stop(&ts, pid, patience, &e)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		print_message("%s\n", e.text);
		skip();
	}
	struct st_traced *t = &ts.v[0];
	assert_int_equal(ts.n, 1);
	assert_true(t->interrupted);
	assert_int_equal(t->regs.rax, SYS_restart_syscall);
	assert_int_equal(t->restart, SYS_nanosleep);
	const uint64_t rip = t->regs.rip;
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(st_thread_continue(t), ST_OK);
	assert_int_equal(st_threads_stop_again(&ts, patience, &e), ST_OK);
	assert_false(t->interrupted);
	assert_int_equal(t->regs.rip, rip);
	assert_int_equal(t->regs.rax, SYS_restart_syscall);
	assert_int_equal(t->restart, SYS_restart_syscall);
	st_threads_release(&ts);
	st_threads_free(&ts);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_stop_before_the_call_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
