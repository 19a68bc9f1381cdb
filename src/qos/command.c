/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd:COMMAND: the number at the beginning of each line that a command prints. One that ends is
 * started again at the next poll. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qos/child.h"
#include "qos/source.h"

static const double patience = 5; /* seconds without a line */

struct command {
	char *text;
	struct st_qos_child child;
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
		st_cause(e, ST_EXIT_USAGE, "--qos cmd: needs a command that prints a number");
		free(c);
		return NULL;
	}
	if (c) {
		c->text = strdup(text);
		c->out = -1;
	}
	return c;
}

static void
end_command(struct command *c)
{
	if (c->out < 0)
		return;
	st_qos_child_end(&c->child);
	close(c->out);
	c->out = -1;
	c->n = 0;
}

static bool
start_command(struct command *c, struct st_qos_poll *p)
{
	const char *const argv[] = {"/bin/sh", "-c", c->text, NULL};
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0) {
		st_qos_failed(p, "no pipe: %s", strerror(errno));
		return false;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	int error = st_qos_child_start(&c->child, argv, &(struct st_qos_ends){-1, out[1], -1});
	close(out[1]);
	if (error) {
		st_qos_failed(p, "it cannot be started: %s", strerror(error));
		close(out[0]);
		return false;
	}
	c->out = out[0];
	c->heard = p->now;
	c->told = false;
	return true;
}

/* A whole line: what it says counts if none behind it has been read. */
static enum st_qos_got
command_take_line(struct command *c, struct st_qos_poll *p)
{
	c->line[c->n] = 0;
	c->n = 0;
	c->heard = p->now;
	if (!st_qos_number(c->line, &p->value))
		return st_qos_failed(p, "it printed '%.40s', which is not a number",
		                     c->line + strspn(c->line, " \t"));
	c->told = true;
	return ST_QOS_VALUE;
}

/* The outcome of parsing the bytes read so far. */
static enum st_qos_got
command_take_bytes(struct command *c, const char *bytes, size_t n, struct st_qos_poll *p)
{
	enum st_qos_got got = ST_QOS_NOTHING;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			got = command_take_line(c, p);
		else if (c->n < sizeof c->line - 1)
			c->line[c->n++] = bytes[i];
	}
	return got;
}

/* The output since the last call. *over: the command has ended. */
static enum st_qos_got
command_read_lines(struct command *c, struct st_qos_poll *p, bool *over)
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
		enum st_qos_got now = command_take_bytes(c, bytes, (size_t)n, p);
		got = now != ST_QOS_NOTHING ? now : got;
		*over = n == 0;
	}
	return *over && c->n ? command_take_line(c, p) : got;
}

/* Starts it, if it does not run, and reads. *again: it had ended, and had said all before. */
static enum st_qos_got
listen_to(struct command *c, struct st_qos_poll *p, bool *again)
{
	bool begins = c->out < 0, over = false;
	if (begins && !start_command(c, p))
		return ST_QOS_FAILURE;
	if (begins) /* most say their number at once */
		st_qos_wait(c->out, POLLIN, st_now_raw() + p->most, p->stop);
	enum st_qos_got got = command_read_lines(c, p, &over);
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

const struct st_qos_kind st_qos_command = {"cmd",         "cmd:COMMAND", command_open, command_poll,
                                           command_close, NULL,          NULL};
