/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot: profiles as pictures. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/plot.h"
#include "profile/output.h"

enum {
#define O(id, letter, name, argument, shown, help) PLOT_##id,
	ST_PLOT_OPTIONS(O)
#undef O
};

typedef st_status plot_draw(const struct st_plot_arguments *a, FILE *out, struct st_error *e);

/* In the order of ST_PLOT_KINDS. */
static plot_draw *const plot_kinds[] = {
        st_plot_history,   st_plot_scatter,   st_plot_flame_graph,   st_plot_bars_of,
        st_plot_flow_over, st_plot_heat_over, st_plot_cost,          st_plot_residuals,
        st_plot_passed,    st_plot_causal,    st_plot_blow_timeline, st_plot_thread_waits,
        st_plot_callgraph};
static const char *const plot_names[] = {
#define K(id, name) name,
        ST_PLOT_KINDS(K)
#undef K
};
enum { PLOT_KINDS = sizeof plot_names / sizeof *plot_names };

static st_status
plot_take(struct st_plot_arguments *a, const char *value, struct st_error *e)
{
	if (!a->kind) {
		a->kind = value;
		return ST_OK;
	}
	const char **slot = ST_PUSH(&a->files);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the names of profiles");
	*slot = value;
	return ST_OK;
}

/* The field of an option whose argument is kept as text; NULL: another kind of option. */
static const char **
plot_text_option(struct st_plot_arguments *a, int option)
{
	switch (option) {
	case PLOT_output:
		return &a->output;
	case PLOT_of:
		return &a->of;
	case PLOT_metric:
		return &a->metric;
	case PLOT_x:
		return &a->x;
	case PLOT_csv:
		return &a->csv;
	case PLOT_rev:
		return &a->rev;
	case PLOT_title:
		return &a->title;
	case PLOT_per:
		return &a->per;
	case PLOT_by:
		return &a->by;
	case PLOT_func:
		return &a->func;
	case PLOT_kept:
		return &a->kept;
	case PLOT_least:
		return &a->least;
	case PLOT_up_to:
		return &a->up_to;
	default:
		return NULL;
	}
}

static bool *
plot_flag_option(struct st_plot_arguments *a, int option)
{
	switch (option) {
	case PLOT_no_model:
		return &a->no_model;
	case PLOT_log:
		return &a->logarithmic;
	case PLOT_inverted:
		return &a->inverted;
	case PLOT_shares:
		return &a->shares;
	case PLOT_stacked:
		return &a->stacked;
	case PLOT_grouped:
		return &a->grouped;
	case PLOT_accumulate:
		return &a->accumulate;
	case PLOT_help:
		return &a->help;
	default:
		return NULL;
	}
}

static st_status
plot_apply(struct st_plot_arguments *a, int option, const char *value, struct st_error *e)
{
	const char **text = plot_text_option(a, option);
	bool *flag = plot_flag_option(a, option);
	if (option == ST_OPTIONS_OTHER)
		return plot_take(a, value, e);
	if (option == ST_OPTIONS_BAD)
		return ST_FAILED; /* *e is filled */
	if (option == PLOT_top)
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	if (option == PLOT_levels)
		return st_option_number("levels", value, 0, 1000, &a->levels, e);
	if (text)
		*text = value;
	if (flag)
		*flag = true;
	return ST_OK;
}

static st_status
plot_parse(struct st_plot_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("plot", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (plot_apply(a, option, value, e))
			return ST_FAILED;
	if (!a->help && !a->kind)
		return st_fail(e, ST_EXIT_USAGE,
		               "no kind of picture: strobe plot KIND [PROFILE...]; strobe help "
		               "plot lists the kinds");
	return ST_OK;
}

st_status
st_plot_count_files(const struct st_plot_arguments *a, size_t least, size_t most,
                    struct st_error *e)
{
	if (a->files.n > most)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe plot %s takes at most %s; '%s' is one too many", a->kind,
		               ST_COUNT(most, "profile", "profiles"), a->files.v[most]);
	if (a->files.n < least)
		return st_fail(e, ST_EXIT_USAGE, "no profile to draw: strobe plot %s PROFILE",
		               a->kind);
	return ST_OK;
}

char *
st_plot_title_of(const struct st_plot_arguments *a, const struct st_profile *p)
{
	struct st_text built;
	if (a->title)
		return strdup(a->title);
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < p->run.command.n; i++)
		fprintf(out, "%s%s", i ? " " : "", p->run.command.v[i]);
	if (out && !p->run.command.n)
		fputs(st_base_name(a->files.v[0]), out);
	return out ? st_text_end(&built) : NULL;
}

static st_status
plot_to_stdout(const char *text, struct st_error *e)
{
	fputs(text, stdout);
	return st_output_flush(e);
}

/* Builds the whole picture in memory first, so that a failure leaves no incomplete file. */
static st_status
plot_write(const struct st_plot_arguments *a, plot_draw *draw, struct st_error *e)
{
	char name[64];
	struct st_text built;
	snprintf(name, sizeof name, "%s.svg", a->kind);
	const char *path = a->output ? a->output : name;
	for (size_t i = 0; i < a->files.n; i++)
		if (strcmp(path, "-") != 0 && st_output_check_input(path, a->files.v[i], e))
			return ST_FAILED;
	if (strcmp(path, "-") != 0 && st_output_check_kind(path, "SVG", ".svg", e))
		return ST_FAILED;
	FILE *out = st_text_begin(&built);
	if (!out)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	st_status status = draw(a, out, e);
	char *text = st_text_end(&built);
	if (!status && !text)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	if (!status)
		status =
		        strcmp(path, "-") ? st_output_text(path, text, e) : plot_to_stdout(text, e);
	free(text);
	return status;
}

static const char *
plot_name_of(const void *names, size_t i)
{
	return ((const char *const *)names)[i];
}

static st_status
plot_no_kind(const char *kind, struct st_error *e)
{
	const char *near = st_nearest(kind, PLOT_KINDS, plot_name_of, plot_names);
	char all[256] = "";
	for (size_t i = 0; i < PLOT_KINDS; i++)
		st_append(all, sizeof all, "%s%s", i ? ", " : "", plot_names[i]);
	return near ? st_fail(e, ST_EXIT_USAGE, "no kind of picture '%s'; did you mean '%s'?", kind,
	                      near)
	            : st_fail(e, ST_EXIT_USAGE, "no kind of picture '%s'; the kinds are %s", kind,
	                      all);
}

static st_status
plot_run(const struct st_plot_arguments *a, struct st_error *e)
{
	for (size_t i = 0; i < PLOT_KINDS; i++)
		if (!strcmp(plot_names[i], a->kind))
			return plot_write(a, plot_kinds[i], e);
	return plot_no_kind(a->kind, e);
}

int
st_plot_main(char *const *argv)
{
	struct st_plot_arguments a = {.top = -1, .levels = -1};
	struct st_error e;
	int code = ST_EXIT_OK;
	const int bad = plot_parse(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("plot"), false);
	else if (bad || plot_run(&a, &e))
		code = st_complain(&e);
	free(a.files.v);
	return code;
}
