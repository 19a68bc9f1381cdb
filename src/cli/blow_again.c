/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe blow --from FILE --again N: an experiment of an earlier campaign, made again. */
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "blow/again.h"
#include "cli/blow.h"
#include "profile/output.h"
#include "report/json.h"
#include "report/text.h"
#include "timing/timing.h"

/* The time that the campaign had for an option; 0: none. */
static double
again_time(const struct st_profile *p, const char *name)
{
	const char *text = st_profile_option(p, ST_BLOW_TOOL, name);
	double seconds;
	return text && !st_parse_time(text, &seconds) && seconds > 0 ? seconds : 0;
}

/* The options of the campaign that its runs depend on, unless others are given. */
static struct st_blow_how
again_how(const struct st_blow_arguments *a, const struct st_profile *p, char *const *program)
{
	const char *input = st_profile_option(p, ST_BLOW_TOOL, "stdin");
	struct st_blow_how how = {.program = program, .input = a->options.how.input};
	if (input && !strcmp(how.input, "/dev/null"))
		how.input = input;
	const char *scope = st_profile_option(p, ST_BLOW_TOOL, "main");
	how.main = scope && strcmp(scope, "none") != 0 ? scope : NULL;
	const char *where = st_profile_option(p, ST_BLOW_TOOL, "where");
	how.after = where && !strcmp(where, "after");
	const char *hides = st_profile_option(p, ST_BLOW_TOOL, "hide-pauses");
	how.hides_pauses = hides && !strcmp(hides, "yes");
	how.duration = again_time(p, "for");
	how.limit = a->options.how.limit > 0 ? a->options.how.limit : again_time(p, "limit");
	return how;
}

static st_status
again_run_all(const struct st_blow_arguments *a, const struct st_blow *b,
              const struct st_blow_how *how, struct st_blow_again_runs *runs, struct st_error *e)
{
	const size_t times = a->repeats ? a->options.noise.repeat : 1;
	for (size_t i = 0; i < times; i++) {
		struct st_blow_run run;
		if (st_blow_again(b, runs->number, how, &run, e))
			return st_timing_interrupted() ? ST_OK : ST_FAILED;
		struct st_blow_run *slot = st_timing_interrupted() ? NULL : ST_PUSH(&runs->list);
		if (!slot) {
			st_blow_run_clear(&run);
			return st_timing_interrupted()
			               ? ST_OK
			               : st_fail(e, ST_EXIT_FAILED, "no memory left for the runs");
		}
		*slot = run;
	}
	return ST_OK;
}

static st_status
again_write(const struct st_blow_arguments *a, const struct st_blow *b,
            const struct st_blow_again_runs *runs, FILE *out, struct st_error *e)
{
	struct st_safe safe;
	if (a->has_form && a->form == ST_BLOW_JSON) {
		char *text = st_json_document(st_blow_again_json(b, runs), ST_JSON_DOCUMENT,
		                              "the runs", e);
		if (!text)
			return ST_FAILED;
		fputs(text, out);
		free(text);
		return ST_OK;
	}
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the runs");
	st_blow_again_print(b, runs, safe.text.out);
	st_safe_end(&safe);
	return ST_OK;
}

static st_status
again_make(const struct st_blow_arguments *a, const struct st_blow *b, const struct st_profile *p,
           struct st_error *e)
{
	struct st_blow_again_runs runs = {.number = a->again};
	char **program = calloc(p->run.command.n + 1, sizeof *program);
	if (!program)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the command");
	for (size_t i = 0; i < p->run.command.n; i++)
		program[i] = (char *)p->run.command.v[i];
	const struct st_blow_how how = again_how(a, p, program);
	st_status status = again_run_all(a, b, &how, &runs, e);
	if (!status)
		status = again_write(a, b, &runs, stdout, e);
	for (size_t i = 0; i < runs.list.n; i++)
		st_blow_run_clear(&runs.list.v[i]);
	free(runs.list.v);
	free(program);
	return status ? status : st_output_flush(e);
}

st_status
st_blow_make_again(struct st_blow_arguments *a, struct st_error *e)
{
	struct st_blow b;
	struct st_profile *p = st_profile_load(a->from, e);
	if (!p)
		return ST_FAILED;
	st_status status = st_blow_read(&b, p, e);
	if (!status) {
		status = st_blow_again_check(&b, a->again, e);
		if (!status && !p->run.command.n)
			status = st_fail(e, ST_EXIT_FAILED, "%s does not say which program it ran",
			                 a->from);
		st_timing_watch_signals();
		if (!status)
			status = again_make(a, &b, p, e);
		st_blow_free(&b);
	}
	st_profile_free(p);
	return status;
}
