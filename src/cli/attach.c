/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe attach: take a running process under the engine, watch, let it go, save, print. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "control/attach.h"

enum {
#define O(id, letter, name, argument, shown, help) ATTACH_##id,
	ST_ATTACH_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_measure measure;
	bool help;
	double seconds; /* 0: until a signal comes */
	long pid;       /* 0: not given */
};

st_status
st_measure_pid(const char *text, long *pid, struct st_error *e)
{
	if (st_parse_between(text, 1, INT32_MAX, pid))
		return st_fail(e, ST_EXIT_USAGE,
		               "'%s' is not a process number; give a PID, such as 4711", text);
	return 0;
}

st_status
st_measure_check_source(const struct st_measure *w, long pid, const char *command,
                        struct st_error *e)
{
	if (pid && w->session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--pid names a running process: leave out the program '%s'",
		               w->session.program[0]);
	if (pid && w->session.follow)
		return st_fail(e, ST_EXIT_USAGE,
		               "--follow needs a program that strobe starts: the children of an "
		               "attached process run natively");
	if (!pid && !w->session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "no program to run: strobe %s [options] -- PROGRAM, or --pid PID "
		               "for one that is running",
		               command);
	return ST_OK;
}

/* Applies one option. 0, or -1 with *e. */
static st_status
apply_attach_option(struct arguments *a, const struct st_options *o, int option, const char *value,
                    struct st_error *e)
{
	switch (option) {
	case ATTACH_for:
		return st_region_time(&a->seconds, "for", value, e);
	case ATTACH_help:
		a->help = true;
		return 0;
	case ST_OPTIONS_OTHER:
		if (a->pid)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe attach takes one process; '%s' is one too many",
			               value);
		return st_measure_pid(value, &a->pid, e);
	case ST_OPTIONS_BAD:
		return -1; /* *e is filled */
	default:
		return st_measure_option(&a->measure, o->options[option].name, value, e);
	}
}

static st_status
parse_attach(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("attach", argv);
	const char *value;
	*a = (struct arguments){.measure = ST_MEASURE_DEFAULT};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_attach_option(a, &o, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	if (!a->pid)
		return st_fail(e, ST_EXIT_USAGE,
		               "no process to attach: strobe attach [options] PID");
	struct st_toolset *tools = &a->measure.session.tools;
	return tools->n ? 0 : st_toolset_add(tools, "hot", e);
}

char **
st_measure_command(long pid)
{
	char path[64];
	char *text = calloc(1, 1 << 16), **list;
	size_t n = 0, count = 0;
	snprintf(path, sizeof path, "/proc/%d/cmdline", st_live_thread((pid_t)pid));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (ssize_t got; text && fd >= 0 && n < (1 << 16) - 1 &&
	                  (got = read(fd, text + n, (1 << 16) - 1 - n)) > 0;)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < n; i++)
		count += text[i] == 0;
	list = text ? calloc(count + 3, sizeof *list) : NULL;
	if (!list) {
		free(text);
		return NULL;
	}
	list[0] = text;
	size_t k = 0;
	for (size_t at = 0; at < n; at += strlen(text + at) + 1)
		list[k++] = text + at;
	return list;
}

static void
say_attached(size_t threads, double seconds)
{
	fprintf(stderr, "strobe: attached to %s in %.1f ms\n",
	        ST_COUNT(threads, "thread", "threads"), seconds * 1000);
}

int
st_measure_process(struct st_measure *w, char *const *argv, long pid, double seconds)
{
	struct st_session *s = &w->session;
	char **command = st_measure_command(pid);
	if (!command)
		return st_complain(&(struct st_error){ST_EXIT_FAILED, "out of memory"});
	char *text = command[0], *given = st_result_options(argv, NULL);
	s->program = command;
	s->output.name = *text ? text : "process";
	s->pid = (pid_t)pid;
	s->seconds = seconds;
	s->given = given;
	int code = st_measure_session(w, say_attached);
	free(given);
	free(text);
	free(command);
	return code;
}

int
st_attach_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse_attach(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("attach"), false);
	else {
		st_result_guess_format(&a.measure.session.output);
		code = st_measure_process(&a.measure, argv, a.pid, a.seconds);
	}
	st_measure_free(&a.measure);
	return code;
}
