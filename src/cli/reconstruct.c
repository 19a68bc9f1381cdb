/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe reconstruct: the executed path, and what is certain of it between windows. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/option.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "profile/output.h"
#include "reconstruct/read.h"
#include "report/path.h"

enum {
#define O(id, letter, name, argument, shown, help) RECONSTRUCT_##id,
	ST_RECONSTRUCT_OPTIONS(O)
#undef O
};

struct arguments {
	const char *file;
	bool gaps, blocks, returning, json, help;
	long top;
};

static st_status
take_file_reconstruct(struct arguments *a, const char *value, struct st_error *e)
{
	if (a->file)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe reconstruct reads one result; '%s' is one too many", value);
	a->file = value;
	return 0;
}

static st_status
apply_reconstruct_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return take_file_reconstruct(a, value, e);
	case RECONSTRUCT_gaps:
		a->gaps = true;
		return 0;
	case RECONSTRUCT_blocks:
		a->blocks = true;
		return 0;
	case RECONSTRUCT_returning:
		a->returning = true;
		return 0;
	case RECONSTRUCT_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case RECONSTRUCT_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text, json", e);
	case RECONSTRUCT_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_reconstruct(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("reconstruct", argv);
	const char *value;
	*a = (struct arguments){.top = 40};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_reconstruct_option(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return a->file ? 0
	               : st_fail(e, ST_EXIT_USAGE,
	                         "no result to read: strobe reconstruct FILE, with a file that "
	                         "strobe run -t branches:trace wrote");
}

/* Does a word of the options begin so? */
static bool
has_option(const char *options, const char *begin)
{
	for (const char *at = options; (at = strstr(at, begin)); at++)
		if (at == options || at[-1] == ' ' || at[-1] == '=')
			return true;
	return false;
}

/* Code that was left out of the measurement is no gap that the rows tell of. */
static st_status
refuse_parts(const struct st_profile *p, struct st_error *e)
{
	static const char *const parts[] = {"--funcs",   "--images", "--threads",
	                                    "--unique",  "adaptive", "--start-at",
	                                    "--stop-at", "--region", "--toggle"};
	for (size_t i = 0; p->run.options && i < sizeof parts / sizeof *parts; i++)
		if (has_option(p->run.options, parts[i]))
			return st_fail(e, ST_EXIT_USAGE,
			               "the run had %s, which left out code: run the program again "
			               "without it",
			               parts[i]);
	return 0;
}

static bool
has_path(const struct st_profile *p)
{
	for (size_t i = 0; i < p->streams.n; i++)
		if (!strcmp(p->streams.v[i].name, ST_PATH_STREAM) && p->streams.v[i].file)
			return true;
	return false;
}

/* malloc'ed. profile: NULL when the file is one of rows itself. */
static char *
rows_of(const char *file, const struct st_profile *profile, struct st_error *e)
{
	if (!profile)
		return strdup(file);
	if (refuse_parts(profile, e))
		return NULL;
	if (!has_path(profile)) {
		st_cause(e, ST_EXIT_USAGE,
		         "%s has no path; strobe run -t branches:trace records one", file);
		return NULL;
	}
	return st_find_rows(profile, file, ST_PATH_STREAM, e);
}

/* The code is read from the images' files: they have to be those that ran. */
static st_status
compare_images(const struct st_profile *ran, const struct st_profile *now, struct st_error *e)
{
	for (size_t i = 0; i < now->images.n; i++)
		for (size_t k = 0; k < ran->images.n; k++)
			if (!strcmp(now->images.v[i].path, ran->images.v[k].path) &&
			    strcmp(now->images.v[i].build_id, ran->images.v[k].build_id))
				return st_fail(e, ST_EXIT_FAILED,
				               "%s is no longer the file that ran; run the program "
				               "again",
				               now->images.v[i].path);
	return 0;
}

struct telling {
	struct st_progress line;
	uint64_t all; /* rows */
};

static void
tell_reconstruct(void *arg, uint64_t rows)
{
	struct telling *t = arg;
	char text[160];
	snprintf(text, sizeof text, "strobe: %s of %s read", ST_NUMBER(rows),
	         ST_COUNT(t->all, "row", "rows"));
	st_progress_line(&t->line, text);
}

static int
read_path(struct st_walk *w, struct st_row_reader *reader, struct st_error *e)
{
	struct telling t = {.all = st_row_reader_rows(reader)};
	st_progress_init(&t.line, false);
	int status = st_path_read(w, reader, tell_reconstruct, &t, e);
	st_progress_erase(&t.line);
	return status;
}

static st_status
print_reconstruct(const struct arguments *a, const struct st_walk *w,
                  const struct st_profile *profile, struct st_error *e)
{
	const struct st_path_report r = {.walk = w,
	                                 .profile = profile,
	                                 .gaps = a->gaps,
	                                 .blocks = a->blocks,
	                                 .top = (size_t)a->top};
	struct st_safe safe;
	if (!a->json && !st_safe_begin(&safe, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	if (!a->json) {
		st_path_print(&r, safe.text.out);
		st_safe_end(&safe);
	} else if (st_path_json(&r, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the path");
	return st_output_flush(e);
}

static int
reconstruct(const struct arguments *a, const struct st_profile *profile, struct st_error *e)
{
	struct st_walk w = {.returning = a->returning};
	char *path = rows_of(a->file, profile, e);
	struct st_row_reader *reader = path ? st_row_reader_open(path, e) : NULL;
	int status = reader ? read_path(&w, reader, e) : -1;
	if (status >= 0) {
		bool damaged = status > 0;
		struct st_error printing;
		if (profile && compare_images(profile, st_row_reader_profile(reader), &printing))
			status = -1;
		else
			status = print_reconstruct(a, &w, profile, &printing);
		if (status)
			*e = printing;
		status = status || damaged ? -1 : 0;
	}
	st_walk_free(&w);
	st_row_reader_close(reader);
	free(path);
	return status;
}

int
st_reconstruct_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	if (parse_reconstruct(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("reconstruct"), false);
		return ST_EXIT_OK;
	}
	struct st_profile *p = st_row_file_is(a.file) ? NULL : st_profile_load(a.file, &e);
	if (!p && !st_row_file_is(a.file))
		return st_complain(&e);
	int status = reconstruct(&a, p, &e);
	st_profile_free(p);
	return status ? st_complain(&e) : ST_EXIT_OK;
}
