/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the program from a separate process, which writes its results to a pipe: any effects of the
 * program or of its probes on that process end with it. */
#include "blow/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blow/timeline.h"
#include "timing/signals.h"
#include "timing/timing.h"

/* ---- in the process of the run ---- */

static st_status
take_streams_of_run(const struct st_blow_how *how, int output, struct st_error *e)
{
	const int in = open(how->input, O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s, the input of --stdin: %s",
		               how->input, strerror(errno));
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nothing < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot open /dev/null: %s", strerror(errno));
	return ST_OK;
}

static _Noreturn void
run_in_child(const struct st_blow_how *how, const struct st_blow *b,
             const struct st_blow_run *asked, pid_t strobe, int report)
{
	struct st_error e = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* else it would keep the lock of the journal */
	if (getppid() != strobe)
		_exit(ST_EXIT_FAILED);
	FILE *output = tmpfile(), *out = fdopen(report, "w");
	if (!out)
		_exit(ST_EXIT_FAILED);
	st_status status = output ? ST_OK
	                          : st_fail(&e, ST_EXIT_FAILED,
	                                    "cannot make a temporary file for the program's "
	                                    "output: %s",
	                                    strerror(errno));
	if (!status)
		status = take_streams_of_run(how, fileno(output), &e);
	if (!status)
		status = how->plain ? st_blow_plain(how, out, &e)
		                    : st_blow_probed(how, b, asked, fileno(output), out, &e);
	if (status) {
		for (char *at = e.text; (at = strchr(at, '\n'));)
			*at = ' ';
		fprintf(out, "error %d %s\n", e.code, e.text);
	}
	_exit(fclose(out) ? ST_EXIT_FAILED : 0);
}

/* ---- in the process of the campaign ---- */

struct answer {
	FILE *in;
	pid_t pid;
};

static st_status
blow_begin_run(const struct st_blow_how *how, const struct st_blow *b,
               const struct st_blow_run *asked, struct answer *a, struct st_error *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	const pid_t strobe = getpid();
	a->pid = fork();
	if (a->pid == 0) {
		close(ends[0]);
		run_in_child(how, b, asked, strobe, ends[1]);
	}
	close(ends[1]);
	a->in = a->pid > 0 ? fdopen(ends[0], "re") : NULL;
	if (a->in) {
		st_timing_child_begin(a->pid);
		if (st_timing_interrupted()) /* it came before the process was known */
			kill(a->pid, st_timing_interrupted());
		return ST_OK;
	}
	close(ends[0]);
	return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(errno));
}

static void
blow_end_run(struct answer *a)
{
	fclose(a->in);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	st_timing_child_end(a->pid);
}

static st_status
take_error(const char *line, struct st_error *e)
{
	char *text;
	const long code = strtol(line, &text, 10);
	return st_fail(e, (int)code, "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
}

st_status
st_blow_read_answer(FILE *in, struct st_blow *selected, size_t n_functions, struct st_blow_run *run,
                    struct st_error *e)
{
	struct st_blow_timeline *timeline = selected ? selected->timeline : NULL;
	char *line = NULL;
	size_t room = 0;
	bool has_run = false;
	st_status status = ST_OK;
	while (!status && getline(&line, &room, in) > 0) {
		if (!strncmp(line, "error ", 6))
			status = take_error(line + 6, e);
		else if (timeline && st_blow_is_timeline_line(line))
			status = st_blow_read_timeline_line(selected, timeline, line);
		else if (!strncmp(line, "run ", 4) && !has_run)
			has_run = !(status = st_blow_read_line(run, line, n_functions));
		else
			status = selected ? st_blow_read_function(selected, line) : ST_FAILED;
		if (status && strncmp(line, "error ", 6) != 0)
			st_cause(e, ST_EXIT_FAILED,
			         "no memory left for the results of the run, or they are damaged");
	}
	free(line);
	if (!status && !has_run)
		return st_fail(e, ST_EXIT_FAILED,
		               "the process that runs the program has ended without a result");
	return status;
}

st_status
st_blow_select(const struct st_blow_how *how, struct st_blow *b, struct st_blow_run *run,
               struct st_error *e)
{
	const struct st_blow_run none = {.function = ST_BLOW_NONE};
	struct answer a;
	if (blow_begin_run(how, NULL, &none, &a, e))
		return ST_FAILED;
	const st_status status = st_blow_read_answer(a.in, b, 0, run, e);
	blow_end_run(&a);
	return status;
}

st_status
st_blow_run_once(const struct st_blow_how *how, const struct st_blow *b, struct st_blow_run *run,
                 struct st_error *e)
{
	struct answer a;
	if (blow_begin_run(how, b, run, &a, e))
		return ST_FAILED;
	const st_status status = st_blow_read_answer(a.in, NULL, b->functions.n, run, e);
	blow_end_run(&a);
	return status;
}

st_status
st_blow_run_recorded(const struct st_blow_how *how, struct st_blow *b, struct st_blow_run *run,
                     struct st_error *e)
{
	struct answer a;
	if (blow_begin_run(how, b, run, &a, e))
		return ST_FAILED;
	b->timeline = calloc(1, sizeof *b->timeline);
	const st_status status =
	        b->timeline ? st_blow_read_answer(a.in, b, b->functions.n, run, e)
	                    : st_fail(e, ST_EXIT_FAILED, "no memory left for the timeline");
	blow_end_run(&a);
	return status;
}
