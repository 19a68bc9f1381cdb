/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe mem: the memory that a program allocates. */
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/show_stored.h"
#include "export/mem.h"
#include "profile/output.h"
#include "report/text.h"

enum {
#define O(id, letter, name, argument, shown, help) MEM_##id,
	ST_MEM_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_measure measure;
	struct st_mem_view view;
	const struct st_context_format *format; /* of contexts; NULL: db or JSON */
	bool json, has_format, has_metric, help;
	const char *from;  /* a profile to read; NULL: none */
	const char *asked; /* an option that is about a run; NULL: none was given */
	double interval;
};

/* ---- formats ---- */

static const struct st_context_format *
export_format(const char *name)
{
	for (size_t i = 0; i < st_n_context_formats; i++)
		if (!strcmp(name, st_context_formats[i].name) && strcmp(name, "xml") &&
		    strcmp(name, "json"))
			return &st_context_formats[i];
	return NULL;
}

static st_status
mem_set_format(struct arguments *a, const char *value, struct st_error *e)
{
	a->json = !strcmp(value, "json");
	a->format = a->json ? NULL : export_format(value);
	a->has_format = true;
	return a->json || a->format || !strcmp(value, "db")
	               ? ST_OK
	               : st_bad_format(value,
	                               "db, text, json, folded, speedscope, callgrind and pprof",
	                               e);
}

/* The format by the name of the file, unless --format is given. */
static void
mem_guess_format(struct arguments *a)
{
	const char *output = a->measure.session.output.path;
	const char *dot = output ? strrchr(st_base_name(output), '.') : NULL;
	const char *usual = output ? st_export_format_of(output) : NULL;
	if (a->has_format || !dot)
		return;
	if (usual) {
		a->json = !strcmp(usual, "json");
		a->format = export_format(usual);
	} else if (!strcmp(dot, ".txt")) {
		a->format = export_format("text");
	}
	a->has_format = a->json || a->format;
}

static bool
is_text(const struct arguments *a)
{
	return a->format && !strcmp(a->format->name, "text");
}

/* In what is printed to a terminal, names are not to play tricks on it. */
static st_status
mem_print_text(const struct st_mem *m, const struct arguments *a, const struct st_mem_view *asked,
               FILE *out, struct st_error *e)
{
	struct st_safe safe;
	struct st_mem_view view = *asked;
	view.top = (size_t)a->measure.result.top;
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the allocations");
	st_mem_text(m, &view, safe.text.out);
	st_safe_end(&safe);
	return ST_OK;
}

struct mem_output {
	const struct st_mem *m;
	const struct st_profile *profile;
	enum st_mem_metric metric;
	const struct st_context_format *format;
};

static st_status
mem_write_contexts(const void *arg, FILE *out, struct st_error *e)
{
	const struct mem_output *x = arg;
	return st_mem_write_contexts(x->m, x->profile, x->metric, x->format, out, e);
}

static int
mem_write(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct arguments *a = arg;
	struct st_mem_view view = a->view;
	struct st_mem m;
	if (st_mem_read(&m, p, e))
		return ST_FAILED;
	if (!a->has_metric)
		view.metric = st_mem_usual_metric(p);
	st_status status;
	if (a->json)
		status = st_mem_json(&m, p, out, e);
	else if (!a->format || is_text(a))
		status = mem_print_text(&m, a, &view, out, e);
	else
		status = st_export_write(a->measure.session.output.path, mem_write_contexts,
		                         &(const struct mem_output){&m, p, view.metric, a->format},
		                         out, e);
	st_mem_free(&m);
	return status;
}

static void
mem_summarize(const struct st_profile *p, const void *arg, size_t top, FILE *out)
{
	const struct arguments *a = arg;
	struct st_mem_view view = a->view;
	struct st_mem m;
	struct st_error e;
	if (st_mem_read(&m, p, &e)) {
		fprintf(out, "\n  note: %s\n", e.text);
		return;
	}
	view.top = top;
	st_mem_text(&m, &view, out);
	st_mem_free(&m);
}

/* ---- the command line ---- */

static st_status
mem_apply(struct arguments *a, int option, const char *name, const char *value, struct st_error *e)
{
	switch (option) {
	case MEM_metric:
		a->has_metric = true;
		return st_mem_metric_named(value, &a->view.metric)
		               ? ST_OK
		               : st_fail(e, ST_EXIT_USAGE,
		                         "--metric takes peak, live, total or calls, not '%s'",
		                         value);
	case MEM_callers:
		a->view.callers = true;
		return ST_OK;
	case MEM_interval:
		a->asked = name;
		return st_region_time(&a->interval, name, value, e);
	case MEM_from:
		a->from = value;
		return ST_OK;
	case MEM_format:
		return mem_set_format(a, value, e);
	case MEM_output:
		a->measure.session.output.path = value;
		return ST_OK;
	case MEM_help:
		a->help = true;
		return ST_OK;
	default:
		return st_measure_option(&a->measure, name, value, e);
	}
}

static st_status
mem_check_shown(struct arguments *a, struct st_error *e)
{
	const char *output = a->measure.session.output.path;
	if (a->measure.session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--from shows an earlier run: leave out the program '%s'",
		               a->measure.session.program[0]);
	if (a->asked)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for running a program, and --from runs none: leave out one "
		               "of them",
		               a->asked);
	if (a->has_format && !a->json && !a->format)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s cannot be written as db: say --format text or json", a->from);
	if (output && !strcmp(output, "-"))
		a->measure.session.output.path = NULL;
	return ST_OK;
}

static st_status
mem_check_run(struct arguments *a, struct st_error *e)
{
	const char *output = a->measure.session.output.path;
	if (!a->measure.session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "no program to run: strobe mem [options] -- PROGRAM [ARGUMENT...]");
	return output ? st_result_output(output, &a->measure.session.output.path, e) : ST_OK;
}

static st_status
mem_parse(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("mem", argv);
	const char *value;
	*a = (struct arguments){.measure = ST_MEASURE_DEFAULT};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->measure.session.program = argv + o.at - 1;
			a->measure.session.output.name = a->measure.session.program[0];
			break;
		}
		if (option == ST_OPTIONS_BAD ||
		    mem_apply(a, option, o.options[option].name, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	mem_guess_format(a);
	const char *output = a->measure.session.output.path;
	if (output && st_export_is_gzip(output) && (!a->format || is_text(a)))
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe mem compresses only folded, speedscope, callgrind and "
		               "pprof: give -o a name without .gz, or --format");
	return a->from ? mem_check_shown(a, e) : mem_check_run(a, e);
}

/* ---- a run, and a file ---- */

static st_status
mem_by_probes(void *arg, struct st_measured *out, struct st_error *e)
{
	struct arguments *a = arg;
	const struct st_session *s = &a->measure.session;
	const struct st_mem_request request = {.program = s->program,
	                                       .given = s->given,
	                                       .own_group = s->own_group,
	                                       .interval_ns = (uint64_t)(a->interval * 1e9)};
	struct st_profile *p = NULL;
	if (st_session_output_check(&s->output, 0, e) ||
	    st_mem_run(&request, &p, &out->pid, &out->exit_code, e))
		return ST_FAILED;
	out->outcome = (struct st_session_outcome){.profile = p};
	return ST_OK;
}

static struct st_output_form
mem_form(const struct arguments *a)
{
	const char *end = a->json ? "json" : a->format ? a->format->end : NULL;
	return (struct st_output_form){end, mem_write, a};
}

static int
mem_measure(struct arguments *a, char *const *argv)
{
	const struct st_output_form form = mem_form(a);
	a->measure.session.output.form = a->json || a->format ? &form : NULL;
	a->measure.result.summary = mem_summarize;
	a->measure.result.summary_arg = a;
	a->measure.by = mem_by_probes;
	a->measure.by_arg = a;
	a->measure.collector = "mem";
	return st_measure_program(&a->measure, argv);
}

static st_status
mem_show(const struct arguments *a, struct st_error *e)
{
	const char *output = a->measure.session.output.path;
	const struct st_output_form form = mem_form(a);
	struct st_profile *p = st_show_load(a->from, e);
	if (!p)
		return ST_FAILED;
	st_status status;
	if (output)
		status = st_output_check_input(output, a->from, e)
		                 ? ST_FAILED
		                 : st_output_form_write(&form, p, output, e);
	else
		status = mem_write(p, a, stdout, e) ? ST_FAILED : ST_OK;
	if (!status && !output)
		status = st_output_flush(e);
	st_profile_free(p);
	return status;
}

int
st_mem_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (mem_parse(&a, argv, &e))
		code = st_complain_running(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("mem"), false);
	else if (a.from)
		code = mem_show(&a, &e) ? st_complain_running(&e) : ST_EXIT_OK;
	else
		code = mem_measure(&a, argv);
	st_measure_free(&a.measure);
	return code;
}
