/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An alarm that is set before an execve ends the new program, whenever it comes: before that, while
 * an engine goes into the new program, or when it waits.
 */
/* strobe-test: follow=1 stress=blocks,lookup */
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 40, STEP = 150, LONG = 20 }; /* us; s */

int
main(int argc, char **argv)
{
	if (argc > 1) {
		sleep(LONG);
		return 3; /* it was lost */
	}
	for (int i = 1; i <= CHILDREN; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			const struct itimerval once = {.it_value.tv_usec = i * STEP};
			CHECK(!setitimer(ITIMER_REAL, &once, NULL), "setitimer: %s",
			      strerror(errno));
			execl("/proc/self/exe", argv[0], "again", NULL);
			CHECK(0, "execl: %s", strerror(errno));
		}
		int status;
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "wait: %s", strerror(errno));
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM, "child %d ended with %#x",
		      i, (unsigned)status);
	}
	puts("every alarm has come");
}
