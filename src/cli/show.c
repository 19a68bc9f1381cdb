/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe show: a profile again, from its file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/result.h"
#include "cli/rows.h"
#include "cli/show_restrict.h"
#include "cli/show_stored.h"
#include "cli/stored.h"
#include "contexts/contexts.h"
#include "export/lcov.h"
#include "profile/output.h"
#include "profile/profile.h"
#include "profile/waits.h"
#include "report/callers.h"
#include "report/contexts.h"
#include "report/report.h"
#include "rows/rowfile.h"
#include "symbol/symbol.h"
#include "tui/browse.h"

enum {
#define O(id, letter, name, argument, shown, help) SHOW_##id,
	ST_SHOW_OPTIONS(O)
#undef O
};

struct arguments {
	const char *file, *function, *output, *table, *rows, *extract;
	const char *sort_key; /* as given, or NULL */
	const char *columns, *process;
	ST_VEC(const char *) where;
	enum st_report_sort sort;
	long top; /* -1: not given */
	unsigned parts;
	enum st_report_format format;
	bool help, interactive, hide_loader;
	char *newest; /* the newest result, if no file was named */
};

static const char *
key_name(const void *keys, size_t i)
{
	return ((const char *const *)keys)[i];
}

static st_status
parse_sort(const char *value, enum st_report_sort *sort, struct st_error *e)
{
	static const char *const keys[] = {
#define ST_SORT(id, name) name,
	        ST_SORTS(ST_SORT)
#undef ST_SORT
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(keys[i], value)) {
			*sort = (enum st_report_sort)i;
			return 0;
		}
	const char *near = st_nearest(value, sizeof keys / sizeof *keys, key_name, keys);
	if (near)
		return st_fail(e, ST_EXIT_USAGE, "cannot sort by '%s'; did you mean '%s'?", value,
		               near);
	return st_fail(e, ST_EXIT_USAGE,
	               "cannot sort by '%s'; --sort takes time, total, waiting, total-waiting, "
	               "instructions, calls or name",
	               value);
}

static st_status
parse_format_show(const char *value, enum st_report_format *format, struct st_error *e)
{
	static const char *const names[] = {
	        [ST_FORMAT_TEXT] = "text",         [ST_FORMAT_JSON] = "json",
	        [ST_FORMAT_CSV] = "csv",           [ST_FORMAT_LCOV] = "lcov",
	        [ST_FORMAT_MARKDOWN] = "markdown", [ST_FORMAT_LATEX] = "latex"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], value)) {
			*format = (enum st_report_format)i;
			return 0;
		}
	return st_bad_format(value, "text, json, lcov and, with --table, csv, markdown, latex", e);
}

static st_status
take_file_show(struct arguments *a, const char *value, struct st_error *e)
{
	if (a->file)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe show reads one profile; '%s' is one too many", value);
	a->file = value;
	return 0;
}

static st_status
take_condition(struct arguments *a, const char *value, struct st_error *e)
{
	const char **slot = ST_PUSH(&a->where);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the conditions");
	*slot = value;
	return 0;
}

static st_status
apply_show_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return take_file_show(a, value, e);
	case SHOW_sort:
		a->sort_key = value;
		return 0;
	case SHOW_table:
		a->table = value;
		return 0;
	case SHOW_columns:
		a->columns = value;
		return 0;
	case SHOW_where:
		return take_condition(a, value, e);
	case SHOW_rows:
		a->rows = value;
		return 0;
	case SHOW_all:
		a->top = 0;
		return 0;
	case SHOW_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case SHOW_func:
		if (a->function)
			return st_fail(e, ST_EXIT_USAGE,
			               "--func shows one function; '%s' is one too many", value);
		a->function = value;
		return 0;
	case SHOW_lines:
		a->parts |= ST_PART_LINES;
		return 0;
	case SHOW_blocks:
		a->parts |= ST_PART_BLOCKS;
		return 0;
	case SHOW_images:
		a->parts |= ST_PART_IMAGES;
		return 0;
	case SHOW_threads:
		a->parts |= ST_PART_THREADS;
		return 0;
	case SHOW_process:
		a->process = value;
		return 0;
	case SHOW_hide_loader:
		a->hide_loader = true;
		return 0;
	case SHOW_stacks:
		a->parts |= ST_PART_STACKS;
		return 0;
	case SHOW_stats:
		a->parts |= ST_PART_STATS;
		return 0;
	case SHOW_debuginfod:
		return st_debuginfod_enable(e);
	case SHOW_format:
		return parse_format_show(value, &a->format, e);
	case SHOW_output:
		a->output = value;
		return 0;
	case SHOW_interactive:
		a->interactive = true;
		return 0;
	case SHOW_extract:
		a->extract = value;
		return 0;
	case SHOW_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

/* Options that concern one table only. */
static st_status
check_table_options(const struct arguments *a, bool is_rows, struct st_error *e)
{
	if ((a->columns || a->where.n) && !a->table)
		return st_fail(e, ST_EXIT_USAGE, "%s chooses from one table: name it with --table",
		               a->columns ? "--columns" : "--where");
	const bool markup = a->format == ST_FORMAT_MARKDOWN || a->format == ST_FORMAT_LATEX;
	if (is_rows && !a->table && markup)
		return st_fail(e, ST_EXIT_USAGE, "rows are printed as text, json or csv");
	if (a->table || is_rows)
		return 0;
	if (a->format == ST_FORMAT_CSV)
		return st_fail(e, ST_EXIT_USAGE,
		               "--format csv prints one table: name it with --table, or --rows");
	if (markup)
		return st_fail(e, ST_EXIT_USAGE,
		               "--format %s prints one table: name it with --table",
		               a->format == ST_FORMAT_LATEX ? "latex" : "markdown");
	return 0;
}

/* Options that counts of a single process cannot answer. */
static st_status
check_process(const struct arguments *a, bool is_rows, struct st_error *e)
{
	if (is_rows && (a->process || a->hide_loader))
		return st_fail(e, ST_EXIT_USAGE, "%s chooses from a profile: leave it out for rows",
		               a->process ? "--process" : "--hide-loader");
	const bool lines = a->table && !strcmp(a->table, "lines");
	if (a->process && (a->function || a->parts & (ST_PART_LINES | ST_PART_BLOCKS) || lines ||
	                   a->format == ST_FORMAT_LCOV))
		return st_fail(e, ST_EXIT_USAGE,
		               "lines and basic blocks have counts of all processes together: "
		               "leave out --process, or %s",
		               a->function                 ? "--func"
		               : a->parts & ST_PART_LINES  ? "--lines"
		               : a->parts & ST_PART_BLOCKS ? "--blocks"
		               : lines                     ? "--table lines"
		                                           : "--format lcov");
	return ST_OK;
}

/* Options that the terminal browser has keys for, or that concern what is printed. */
static st_status
check_interactive(const struct arguments *a, struct st_error *e)
{
	if (!a->interactive)
		return ST_OK;
	if (a->parts || a->rows || a->columns || a->where.n || a->extract ||
	    (a->function && a->table) || a->top >= 0 || a->format != ST_FORMAT_TEXT ||
	    strcmp(a->output, "-") != 0)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--interactive shows all of the profile: leave out the other "
		        "options, apart from --func or --table, --sort, --process, --hide-loader "
		        "and --debuginfod");
	if (st_row_file_is(a->file))
		return st_fail(e, ST_EXIT_USAGE,
		               "--interactive shows profiles, and '%s' is a file of rows: leave "
		               "out --interactive to print them",
		               a->file);
	return st_tui_check_terminal(e);
}

/* The first option that prints a list of its own. */
static const char *
part_option(const struct arguments *a)
{
	return a->function                  ? "--func"
	       : a->parts & ST_PART_LINES   ? "--lines"
	       : a->parts & ST_PART_BLOCKS  ? "--blocks"
	       : a->parts & ST_PART_IMAGES  ? "--images"
	       : a->parts & ST_PART_THREADS ? "--threads"
	       : a->parts & ST_PART_STACKS  ? "--stacks"
	                                    : "--stats";
}

/* --table prints one table, and rows are printed alone. */
static st_status
check_alone(const struct arguments *a, bool is_rows, struct st_error *e)
{
	if (a->table && is_rows)
		return st_fail(e, ST_EXIT_USAGE,
		               "--table prints a table of a profile, and %s: "
		               "leave one of them out",
		               a->rows ? "--rows prints a stream" : "the file has rows");
	if (!(a->table || is_rows) || !(a->function || a->parts))
		return ST_OK;
	if (a->table && a->function)
		return st_fail(e, ST_EXIT_USAGE,
		               "--table prints all rows of a table, and --func one function: leave "
		               "out one of them");
	return st_fail(e, ST_EXIT_USAGE, "%s and %s print different tables: leave out one of them",
	               a->table ? "--table" : "--rows", part_option(a));
}

static st_status
parse_show(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("show", argv);
	const char *value;
	*a = (struct arguments){.output = "-", .top = -1};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_show_option(a, option, value, e))
			return -1;
	if (a->help)
		return 0;
	if (!a->file)
		a->file = a->newest = st_newest_result();
	if (!a->file)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no profile to show: strobe show FILE, or a stored profile or version; "
		        "there is no result in this directory");
	if (check_interactive(a, e))
		return -1;
	bool is_rows = a->rows || st_row_file_is(a->file);
	if (check_table_options(a, is_rows, e) || check_process(a, is_rows, e))
		return -1;
	if (check_alone(a, is_rows, e))
		return -1;
	if (is_rows && a->sort_key)
		return st_fail(e, ST_EXIT_USAGE,
		               "--rows prints rows in the order in which they were recorded: leave "
		               "out --sort");
	if (!a->table && !a->interactive && a->sort_key && parse_sort(a->sort_key, &a->sort, e))
		return -1;
	if (a->format == ST_FORMAT_LCOV && (a->table || a->function || a->parts || is_rows))
		return st_fail(e, ST_EXIT_USAGE,
		               "--format lcov prints the coverage of lines and "
		               "functions, and nothing else");
	if (a->format == ST_FORMAT_JSON && a->parts & ST_PART_STACKS)
		return st_fail(e, ST_EXIT_USAGE,
		               "--stacks prints only text; for JSON, say strobe paths --from FILE "
		               "--format json");
	if (a->format == ST_FORMAT_JSON && a->function)
		return st_fail(e, ST_EXIT_USAGE,
		               "--func prints only text; for its numbers, say --format json "
		               "--lines --blocks");
	return 0;
}

static st_status
show_table(const struct arguments *a, const struct st_report *r, FILE *out, struct st_error *e)
{
	const struct st_table_choice choice = {.columns = a->columns,
	                                       .sort = a->sort_key,
	                                       .where = a->where.v,
	                                       .n_where = a->where.n,
	                                       .format = a->format};
	return st_report_table(r, out, a->table, &choice, e);
}

/* Prints the summary, and for a result of strobe paths its hottest contexts. */
static st_status
show_summary(const struct st_report *r, FILE *out, struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = true};
	struct st_context_options o;
	struct st_contexts c;
	st_report_summary(r, out);
	if (!st_contexts_options(r->profile, &o) || o.sampled)
		return ST_OK;
	st_status status = st_contexts_make(&c, r->profile, &choice, e);
	if (!status)
		st_contexts_summary(&c, r->top, out);
	st_contexts_free(&c);
	return status;
}

/* Only hot:wall measures what --sort waiting sorts by. */
static st_status
check_sort(const struct arguments *a, const struct st_profile *p, struct st_error *e)
{
	const bool waiting = a->sort == ST_SORT_WAITING || a->sort == ST_SORT_TOTAL_WAITING;
	if (!waiting || st_profile_has_waits(p))
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "the profile has no waiting times to sort by: measure with strobe run -t "
	               "hot:wall");
}

/* Everything as text into a stream in memory, so that a failure leaves no half of it behind. */
static char *
render(const struct arguments *a, const struct st_profile *p, struct st_style style,
       struct st_error *e)
{
	enum { DEFAULT_TOP = 40 };
	struct st_report r = {.profile = p, .sort = a->sort, .parts = a->parts, .style = style};
	r.top = a->top >= 0 ? (size_t)a->top : a->format != ST_FORMAT_TEXT ? 0 : DEFAULT_TOP;
	if (check_sort(a, p, e))
		return NULL;
	if (a->format == ST_FORMAT_JSON && !a->table)
		return st_report_json(&r, e);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	int status = 0;
	if (!out) {
		st_cause(e, ST_EXIT_FAILED, "no memory left to print the profile");
		return NULL;
	}
	if (a->format == ST_FORMAT_LCOV)
		status = st_export_lcov(&r, out, a->top == 0, e);
	else if (a->table)
		status = show_table(a, &r, out, e);
	else if (a->function)
		status = st_report_function(&r, out, a->function, e);
	else if (!a->parts)
		status = show_summary(&r, out, e);
	if (!a->table)
		st_report_parts(&r, out);
	if (!status && a->parts & ST_PART_STACKS)
		status = st_report_stacks(&r, out, e);
	char *text = st_text_end(&built);
	if (!text && !status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to print the profile");
	if (!status)
		return text;
	free(text);
	return NULL;
}

static st_status
write_text_show(const char *path, char *text, bool json, struct st_error *e)
{
	return strcmp(path, "-") ? st_output_text(path, text, e)
	                         : st_result_write_text(text, json, e);
}

/* The file of rows that was named, or that of a stream of the profile that was. malloc'ed. */
static char *
rows_path(const struct arguments *a, struct st_error *e)
{
	if (st_row_file_is(a->file))
		return strdup(a->file);
	struct st_profile *p = st_profile_load(a->file, e);
	char *path = p ? st_find_rows(p, a->file, a->rows, e) : NULL;
	st_profile_free(p);
	return path;
}

static st_status
show_rows(const struct arguments *a, struct st_error *e)
{
	enum { DEFAULT_TOP = 40 };
	bool terminal = !strcmp(a->output, "-");
	char *path = rows_path(a, e);
	bool other = path && !st_output_check_input(a->output, path, e);
	struct st_row_reader *reader = other ? st_row_reader_open(path, e) : NULL;
	struct st_style plain = {0};
	free(path);
	if (!reader)
		return -1;
	uint64_t top = a->top >= 0                   ? (uint64_t)a->top
	               : a->format != ST_FORMAT_TEXT ? 0
	                                             : DEFAULT_TOP;
	FILE *out = terminal ? stdout : fopen(a->output, "we");
	int status = out ? st_report_rows(reader, out, a->format, top,
	                                  terminal ? st_style_of(stdout) : plain, e)
	                 : st_output_failed(a->output, errno, e);
	if (out && !terminal && fclose(out) && !status)
		status = st_output_failed(a->output, errno, e);
	st_row_reader_close(reader);
	return status;
}

static st_status
show_interactively(const struct arguments *a, const struct st_profile *p, struct st_error *e)
{
	const struct st_tui_begin begin = {
	        .table = a->table, .sort = a->sort_key, .function = a->function};
	return st_tui_browse(p, st_base_name(a->file), &begin, e);
}

static st_status
show_profile_file(const struct arguments *a, struct st_error *e)
{
	if (a->rows || st_row_file_is(a->file))
		return show_rows(a, e);
	struct st_profile *p = st_profile_load(a->file, e);
	if (!p || st_show_restrict(p, a->process, a->hide_loader, e)) {
		st_profile_free(p);
		return -1;
	}
	if (a->interactive) {
		const st_status status = show_interactively(a, p, e);
		st_profile_free(p);
		return status;
	}
	struct st_style plain = {0};
	bool terminal = !strcmp(a->output, "-");
	char *text = render(a, p, terminal ? st_style_of(stdout) : plain, e);
	int status = text ? write_text_show(a->output, text, a->format == ST_FORMAT_JSON, e) : -1;
	if (st_debuginfod_problem())
		fprintf(stderr, "strobe: %s\n", st_debuginfod_problem());
	free(text);
	st_profile_free(p);
	return status ? ST_FAILED : ST_OK;
}

/* Of the names of files, in the order of enum st_format. */
static const char *const show_endings[] = {"txt", "json", "csv", "lcov", "md", "tex"};

static st_status
show_asked(struct arguments *a, struct st_error *e)
{
	char *stored = NULL;
	bool printed = false;
	if (a->extract)
		return st_show_extract(a->file, a->extract, e);
	if (st_output_check_input(a->output, a->file, e) ||
	    st_output_check_ending(a->output, show_endings[a->format], e) ||
	    st_show_stored(a->file, a->format == ST_FORMAT_JSON, &stored, &printed, e))
		return ST_FAILED;
	if (stored)
		a->file = stored;
	st_status status = printed ? ST_OK : show_profile_file(a, e);
	st_stored_forget(stored);
	return status;
}

int
st_show_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse_show(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("show"), false);
	else if (bad || show_asked(&a, &e))
		code = st_complain(&e);
	free(a.where.v);
	free(a.newest);
	return code;
}
