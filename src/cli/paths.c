/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe paths: calling contexts of functions, and paths of basic blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/paths.h"
#include "profile/output.h"

/* ---- the result ---- */

/* 0, or -1 with *e. */
static int
read_contexts(struct st_contexts *c, const struct st_profile *p, const struct st_paths *a,
              struct st_error *e)
{
	const struct st_context_choice choice = {.join = a->join,
	                                         .kccf = a->kccf,
	                                         .pin = a->pin,
	                                         .functions = a->functions,
	                                         .blocks = a->blocks,
	                                         .code = a->disasm};
	enum st_context_mode mode;
	uint32_t k;
	if (st_contexts_options(p, &mode, &k) && mode == ST_CONTEXT_FUNC &&
	    st_paths_blocks_option(a))
		return st_fail(e, ST_EXIT_USAGE, "--%s is about blocks, but %s has functions only",
		               st_paths_blocks_option(a), a->from);
	if (!st_contexts_make(c, p, &choice, e))
		return 0;
	st_contexts_free(c);
	return -1;
}

static char *
render(const struct st_profile *p, const void *arg, size_t *size, struct st_error *e)
{
	const struct st_paths *a = arg;
	struct st_contexts c;
	char *text = NULL;
	if (read_contexts(&c, p, a, e))
		return NULL;
	FILE *out = open_memstream(&text, size);
	if (out)
		a->format->write(&c, out);
	st_contexts_free(&c);
	if (out && !ferror(out) && !fclose(out))
		return text;
	free(text);
	st_fail(e, ST_EXIT_FAILED, "no memory left to write the contexts");
	return NULL;
}

static void
summarize(const struct st_profile *p, const void *arg, size_t top, FILE *out)
{
	struct st_contexts c;
	struct st_error e;
	if (read_contexts(&c, p, arg, &e))
		return;
	st_contexts_summary(&c, top, out);
	st_contexts_free(&c);
}

/* ---- a run ---- */

static int
run_program(struct st_paths *a, char *const *argv)
{
	const struct st_result_form form = {a->format ? a->format->end : NULL, render, summarize,
	                                    a};
	a->measure.result.form = &form;
	return st_measure_program(&a->measure, argv, a->program, a->follow);
}

/* ---- a profile ---- */

static int
print_contexts(const struct st_paths *a, const struct st_contexts *c, struct st_error *e)
{
	if (a->format)
		a->format->write(c, stdout);
	else
		st_contexts_summary(c, (size_t)a->measure.result.top, stdout);
	return fflush(stdout) ? st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
	                                strerror(errno))
	                      : 0;
}

static int
show_profile(const struct st_paths *a)
{
	struct st_error e;
	struct st_contexts c;
	struct st_profile *p = st_profile_load(a->from, &e);
	if (!p)
		return st_complain(&e);
	int status;
	if (a->format && a->measure.result.output) {
		size_t size;
		char *text = render(p, a, &size, &e);
		status = text ? st_output_bytes(a->measure.result.output, text, size, &e) : -1;
		free(text);
	} else {
		status = read_contexts(&c, p, a, &e);
		if (!status) {
			status = print_contexts(a, &c, &e);
			st_contexts_free(&c);
		}
	}
	st_profile_free(p);
	return status ? st_complain(&e) : ST_EXIT_OK;
}

int
st_paths_main(char *const *argv)
{
	struct st_paths a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (st_paths_parse(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("paths"), false);
	else if (a.from)
		code = show_profile(&a);
	else
		code = run_program(&a, argv);
	st_paths_free(&a);
	return code;
}
