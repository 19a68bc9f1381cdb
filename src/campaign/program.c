/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, LONGEST = 60 /* s until a program that does not answer is ended */ };

static _Noreturn void
program_become(char *const *argv, int output)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	alarm(LONGEST);
	setpgid(0, 0); /* Ctrl-C is for strobe, which waits for the answer */
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(NOT_FOUND);
}

static void
program_read(int from, char *answer, size_t size)
{
	char rest[512] = {0};
	size_t n = 0;
	for (;;) {
		bool fits = n + 1 < size;
		ssize_t got =
		        read(from, fits ? answer + n : rest, fits ? size - 1 - n : sizeof rest);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += fits ? (size_t)got : 0;
	}
	answer[n] = '\0';
}

st_status
st_program_ask(char *const *argv, char *answer, size_t size, struct st_error *e)
{
	int ends[2], status = 0;
	*answer = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		program_become(argv, ends[1]);
	int error = errno;
	close(ends[1]);
	if (pid > 0)
		program_read(ends[0], answer, size);
	close(ends[0]);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start %s: %s", argv[0], strerror(error));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return ST_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND && !*answer)
		return st_fail(e, ST_EXIT_FAILED, "cannot run %s: is Slurm installed here?",
		               argv[0]);
	return st_fail(e, ST_EXIT_FAILED, "%s failed: %.*s", argv[0], (int)strcspn(answer, "\n"),
	               answer);
}
