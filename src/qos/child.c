/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
redirect(posix_spawn_file_actions_t *actions, int from, int to)
{
	if (from < 0)
		posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_RDWR, 0);
	else
		posix_spawn_file_actions_adddup2(actions, from, to);
}

int
st_qos_child_start(struct st_qos_child *c, const char *const *argv, const struct st_qos_ends *ends)
{
	extern char **environ;
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
	                                              POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn_file_actions_init(&actions);
	redirect(&actions, ends->in, STDIN_FILENO);
	redirect(&actions, ends->out, STDOUT_FILENO);
	redirect(&actions, ends->err, STDERR_FILENO);
	int error = posix_spawnp(&c->pid, argv[0], &actions, &attributes,
	                         (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	c->pidfd = error ? -1 : (int)syscall(SYS_pidfd_open, c->pid, 0);
	return error;
}

/* Whether its number is still its own: it has not been waited for. The session waits for all
 * children, too. */
static bool
child_is_ours(const struct st_qos_child *c)
{
	siginfo_t info;
	return c->pidfd >= 0 &&
	       waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void
st_qos_child_end(struct st_qos_child *c)
{
	siginfo_t info;
	/* What it has started may go on without it. As long as it does, no process gets its number:
	   if one has it, the group is not ours any more. */
	if (child_is_ours(c) || kill(c->pid, 0))
		kill(-c->pid, SIGKILL);
	if (c->pidfd >= 0) {
		waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED);
		close(c->pidfd);
	}
	c->pidfd = -1;
}
