/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe paths: calling contexts of functions, and paths of basic blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/paths.h"
#include "cli/show_stored.h"
#include "coverage/contextlog.h"
#include "profile/output.h"
#include "report/text.h"

/* ---- the result ---- */

/* Of callers as many as find room; none unless `callers`; join: of all threads together. 0, or -1
 * with *e. */
static st_status
read_contexts_paths(struct st_contexts *c, const struct st_profile *p, const struct st_paths *a,
                    bool callers, bool join, struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = join,
	                                         .kccf = a->kccf && callers,
	                                         .pin = a->pin,
	                                         .part = a->part,
	                                         .functions = a->functions,
	                                         .blocks = a->blocks,
	                                         .code = a->disasm,
	                                         .under = a->names.under.text,
	                                         .n_under = a->names.under.n,
	                                         .calls = a->names.calls.text,
	                                         .n_calls = a->names.calls.n,
	                                         .most_callers =
	                                                 st_contexts_most_callers(&a->limit)};
	struct st_context_options o;
	if (st_contexts_options(p, &o) && o.mode == ST_CONTEXT_FUNC && st_paths_blocks_option(a))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s needs contexts of blocks, and %s has contexts of functions",
		               st_paths_blocks_option(a), a->from);
	if (a->pin && o.loops && !o.iterations && !o.pin)
		return st_fail(e, ST_EXIT_USAGE,
		               "the blocks of %s were cut while the program ran; to keep them "
		               "whole, record them with --roll-loops --pin-blocks",
		               a->from);
	if (!st_contexts_make(c, p, &choice, e))
		return 0;
	st_contexts_free(c);
	return -1;
}

static void
say_cut(const struct st_contexts *c, const struct st_paths *a, const struct st_context_cut *cut)
{
	char text[2][ST_NUMBER_SIZE];
	if (c->k_callers != c->k)
		fprintf(stderr,
		        "strobe: the k-calling context forest has only %s of each function, "
		        "because --limit is %s\n",
		        ST_COUNT(c->k_callers, "caller", "callers"),
		        st_size(text[0], a->limit.bytes));
	if (cut->contexts)
		fprintf(stderr,
		        "strobe: %s of %s contexts are left out, those with the lowest counts "
		        "(%.1f %% of %s): all would take %s, and --limit is %s\n",
		        ST_NUMBER(cut->contexts), ST_NUMBER(cut->of), 100 * cut->worth,
		        c->timed               ? "the time"
		        : c->with_instructions ? "the instructions"
		        : c->sampled           ? "the samples"
		                               : "the activations",
		        st_size(text[0], cut->bytes), st_size(text[1], a->limit.bytes));
}

/* The cause why a part of the wall time is nothing. */
static const char *
why_part_is_empty(enum st_wall_part part)
{
	switch (part) {
	case ST_WALL_WAITING:
		return "no waiting time: no thread waited while it was measured";
	case ST_WALL_ON_CPU:
		return "no time on the CPU, because no sample was taken: the program used too "
		       "little CPU time, or --sample-hz was 0";
	case ST_WALL_SAMPLES:
		return "no samples in the code of the program: it used too little CPU time, or "
		       "--sample-hz was 0";
	default:
		return "no wall time: no sample was taken, and no thread waited while it was "
		       "measured";
	}
}

/* Of the part that is asked for, of all functions: is there any? */
static st_status
check_part(const struct st_contexts *c, const struct st_paths *a, struct st_error *e)
{
	if (!a->part || a->names.under.n || a->names.calls.n)
		return ST_OK;
	for (size_t i = 0; i < c->groups.n; i++)
		for (uint32_t k = 0; k < c->groups.v[i].ksf.n; k++)
			if (st_contexts_value(c, &c->groups.v[i].ksf.nodes[k].weight))
				return ST_OK;
	return st_fail(e, ST_EXIT_FAILED, "%s has %s", a->from, why_part_is_empty(a->part));
}

struct paths_output {
	const struct st_contexts *contexts;
	const struct st_context_format *format;
};

/* Formats that people read go to terminals, and names in a profile can be anything. */
static st_status
write_format(const void *arg, FILE *out, struct st_error *e)
{
	const struct paths_output *x = arg;
	struct st_safe safe;
	if (!x->format->printable) {
		x->format->write(x->contexts, out);
		return 0;
	}
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to write the contexts");
	x->format->write(x->contexts, safe.text.out);
	st_safe_end(&safe);
	return 0;
}

static st_status
write_contexts(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct st_paths *a = arg;
	const struct st_context_cost *cost = a->format->cost;
	struct st_context_cut cut;
	struct st_contexts c;
	if (read_contexts_paths(&c, p, a, cost && cost->callers, a->join_threads, e))
		return -1;
	int status = check_part(&c, a, e) || st_contexts_cut(&c, cost, &a->limit, &cut, e);
	if (!status) {
		say_cut(&c, a, &cut);
		const struct paths_output x = {&c, a->format};
		status = st_export_write(a->measure.session.output.path, write_format, &x, out, e);
	}
	st_contexts_free(&c);
	return status;
}

static void
say_note(FILE *out, const char *sentence)
{
	fprintf(out, "\n  note: %s\n", sentence);
}

static void
summarize_paths(const struct st_profile *p, const void *arg, size_t top, FILE *out)
{
	const struct st_paths *a = arg;
	struct st_contexts c;
	struct st_error e;
	if (st_names_unknown(&a->names, &p, 1, say_note, out, &e))
		say_note(out, e.text);
	if (read_contexts_paths(&c, p, arg, false, !a->per_thread, &e))
		return;
	st_contexts_summary(&c, top, out);
	st_contexts_free(&c);
}

/* ---- a run ---- */

static int
measure_paths(struct st_paths *a, char *const *argv)
{
	const struct st_output_form form = {a->format ? a->format->end : NULL, write_contexts, a};
	a->measure.session.output.form = a->format ? &form : NULL;
	a->measure.result.summary = summarize_paths;
	a->measure.result.summary_arg = a;
	if (a->pid)
		return st_measure_process(&a->measure, argv, a->pid, a->seconds);
	a->measure.collector = "paths";
	return st_measure_program(&a->measure, argv);
}

/* ---- a profile ---- */

static st_status
print_hottest(const struct st_paths *a, const struct st_profile *p, struct st_error *e)
{
	struct st_contexts c;
	struct st_safe safe;
	if (read_contexts_paths(&c, p, a, false, !a->per_thread, e))
		return -1;
	if (!st_safe_begin(&safe, stdout)) {
		st_contexts_free(&c);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	}
	st_contexts_summary(&c, (size_t)a->measure.result.top, safe.text.out);
	st_safe_end(&safe);
	st_contexts_free(&c);
	return 0;
}

static st_status
print_contexts(const struct st_paths *a, const struct st_profile *p, struct st_error *e)
{
	int status = 0;
	if (a->format)
		status = write_contexts(p, a, stdout, e);
	else
		status = print_hottest(a, p, e);
	if (status)
		return -1;
	return st_output_flush(e);
}

static int
show_profile(const struct st_paths *a)
{
	const struct st_output_form form = {a->format ? a->format->end : NULL, write_contexts, a};
	struct st_error e;
	const char *output = a->measure.session.output.path;
	if (output && st_output_check_input(output, a->from, &e))
		return st_complain_running(&e);
	struct st_profile *p = st_contextlog_is(a->from) ? st_contextlog_read(a->from, &e)
	                                                 : st_show_load(a->from, &e);
	if (!p)
		return st_complain_running(&e);
	int status = st_names_unknown(&a->names, (const struct st_profile *const *)&p, 1,
	                              st_names_say, stderr, &e);
	if (!status && a->format && output)
		status = st_output_form_write(&form, p, output, &e);
	else if (!status)
		status = print_contexts(a, p, &e);
	st_profile_free(p);
	return status ? st_complain_running(&e) : ST_EXIT_OK;
}

int
st_paths_main(char *const *argv)
{
	struct st_paths a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (st_paths_parse(&a, argv, &e))
		code = st_complain_running(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("paths"), false);
	else if (a.from)
		code = show_profile(&a);
	else
		code = measure_paths(&a, argv);
	st_paths_free(&a);
	return code;
}
