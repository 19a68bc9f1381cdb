/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd:COMMAND: the number at the beginning of each line that a command prints. One that ends is
 * started again at the next poll. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qos/source.h"

static const double patience = 5; /* seconds without a line */

struct command {
	char *text;
	pid_t pid; /* of its process group too */
	int pidfd; /* -1: it had ended, and been waited for, before it could be opened */
	int out;   /* what it prints; -1: it does not run */
	bool told; /* it has printed a number */
	double heard;
	char line[256]; /* what has been read of it */
	size_t n;
};

static void *
command_open(const char *text, struct st_error *e)
{
	struct command *c = calloc(1, sizeof *c);
	if (!*text) {
		st_fail(e, ST_EXIT_USAGE, "--qos cmd: needs a command that prints a number");
		free(c);
		return NULL;
	}
	if (c) {
		c->text = strdup(text);
		c->pidfd = c->out = -1;
	}
	return c;
}

/* It may be waited for by others as well: the session waits for all children. */
static bool
has_ended(const struct command *c)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
	return c->pidfd < 0 || poll(&p, 1, 0) == 1;
}

static void
end_command(struct command *c)
{
	siginfo_t info;
	if (c->out < 0)
		return;
	if (!has_ended(c))
		kill(-c->pid, SIGKILL);
	if (c->pidfd >= 0) {
		waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED);
		close(c->pidfd);
	}
	close(c->out);
	c->pidfd = c->out = -1;
	c->n = 0;
}

static int
spawn(struct command *c, int out)
{
	extern char **environ;
	char *const argv[] = {"sh", "-c", c->text, NULL};
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
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	int error = posix_spawn(&c->pid, "/bin/sh", &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static bool
start_command(struct command *c, struct st_qos_poll *p)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0) {
		st_qos_failed(p, "no pipe: %s", strerror(errno));
		return false;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	int error = spawn(c, out[1]);
	close(out[1]);
	if (error) {
		st_qos_failed(p, "it cannot be started: %s", strerror(error));
		close(out[0]);
		return false;
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	c->out = out[0];
	c->heard = p->now;
	c->told = false;
	return true;
}

/* A whole line: what it says counts if none behind it has been read. */
static enum st_qos_got
take_line(struct command *c, struct st_qos_poll *p)
{
	c->line[c->n] = 0;
	c->n = 0;
	c->heard = p->now;
	if (!st_qos_number(c->line, &p->value))
		return st_qos_failed(p, "it printed '%.40s', which is no number",
		                     c->line + strspn(c->line, " \t"));
	c->told = true;
	return ST_QOS_VALUE;
}

/* What came of the bytes that have been read. */
static enum st_qos_got
take_bytes(struct command *c, const char *bytes, size_t n, struct st_qos_poll *p)
{
	enum st_qos_got got = ST_QOS_NOTHING;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			got = take_line(c, p);
		else if (c->n < sizeof c->line - 1)
			c->line[c->n++] = bytes[i];
	}
	return got;
}

/* What has been printed since. *over: nothing will be any more. */
static enum st_qos_got
read_lines(struct command *c, struct st_qos_poll *p, bool *over)
{
	enum st_qos_got got = ST_QOS_NOTHING;
	enum { MOST = 256 }; /* reads: it must not keep us for ever */
	char bytes[4096];
	for (int done = 0; done < MOST && !*over; done++) {
		ssize_t n = read(c->out, bytes, sizeof bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		enum st_qos_got now = take_bytes(c, bytes, (size_t)n, p);
		got = now != ST_QOS_NOTHING ? now : got;
		*over = n == 0;
	}
	return *over && c->n ? take_line(c, p) : got;
}

/* Starts it, if it does not run, and reads. *again: it had ended, and had said all before. */
static enum st_qos_got
listen_to(struct command *c, struct st_qos_poll *p, bool *again)
{
	bool begins = c->out < 0, over = false;
	if (begins && !start_command(c, p))
		return ST_QOS_FAILURE;
	if (begins) /* most say their number at once */
		st_qos_wait(c->out, POLLIN, st_qos_now() + p->most, p->stop);
	enum st_qos_got got = read_lines(c, p, &over);
	bool silent = got == ST_QOS_NOTHING;
	*again = over && silent && c->told;
	if (over) {
		end_command(c);
		if (silent && !*again)
			return st_qos_failed(p, "it ended and had printed no number");
	} else if (silent && p->now - c->heard > patience) {
		end_command(c);
		return st_qos_failed(p, "it printed nothing for %g s", patience);
	}
	return got;
}

static enum st_qos_got
command_poll(void *source, struct st_qos_poll *p)
{
	bool again = false;
	enum st_qos_got got = listen_to(source, p, &again);
	return again ? listen_to(source, p, &again) : got;
}

static void
command_close(void *source)
{
	struct command *c = source;
	end_command(c);
	free(c->text);
	free(c);
}

const struct st_qos_kind st_qos_command = {"cmd", "cmd:COMMAND", command_open, command_poll,
                                           command_close};
