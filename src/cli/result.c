/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of a run: a file, and a summary on standard error. */
#include "cli/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/report.h"

st_status
st_result_format(const char *value, bool *json, struct st_error *e)
{
	*json = !strcmp(value, "json");
	return *json || !strcmp(value, "db") ? 0 : st_bad_format(value, "db and json", e);
}

st_status
st_result_output(const char *value, const char **output, struct st_error *e)
{
	if (!strcmp(value, "-"))
		return st_fail(e, ST_EXIT_USAGE,
		               "standard output belongs to the program: give -o a file, then use "
		               "strobe show");
	*output = value;
	return 0;
}

char *
st_result_prefix(const struct st_result *a)
{
	enum { LONGEST = 150 }; /* of a file name of at most 255 bytes */
	char *name = NULL;
	if (asprintf(&name, "strobe.%.*s.", LONGEST, st_base_name(a->name)) < 0)
		return NULL;
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

/* Is it something else than a profile? */
static bool
is_text(const struct st_result *a)
{
	return a->json || (a->form && a->form->end);
}

static const char *
end_of(const struct st_result *a)
{
	return a->form && a->form->end ? a->form->end : a->json ? "json" : "db";
}

/* strobe.PROGRAM.PID.db in the current directory. pid 0: it is not known yet. */
static char *
default_output(const struct st_result *a, uint32_t pid)
{
	char *prefix = st_result_prefix(a), *name = NULL, number[16] = "PID";
	if (pid)
		snprintf(number, sizeof number, "%u", pid);
	if (prefix && asprintf(&name, "%s%s.%s", prefix, number, end_of(a)) < 0)
		name = NULL;
	free(prefix);
	return name;
}

st_status
st_result_write(const struct st_result_form *form, const struct st_profile *p, const char *path,
                struct st_error *e)
{
	struct st_output o;
	FILE *out = NULL;
	if (st_output_begin(&o, path, e))
		return -1;
	int status = st_output_stream(&o, &out, e);
	if (!status)
		status = form->write(p, form->arg, out, e);
	if (out && st_output_close(&o, out, e))
		status = -1;
	if (!status)
		return st_output_commit(&o, e);
	st_output_abandon(&o);
	return -1;
}

static st_status
save(const struct st_result *a, const struct st_profile *p, const char *path, struct st_error *e)
{
	struct st_report everything = {.profile = p};
	if (!is_text(a))
		return st_profile_save(p, path, e);
	if (a->form)
		return st_result_write(a->form, p, path, e);
	char *text = st_report_json(&everything, e);
	int status = text ? st_output_text(path, text, e) : -1;
	free(text);
	return status;
}

/* The file system that a file is on, or would be. False when that cannot be told. */
static bool
file_system_of(const char *path, dev_t *fs)
{
	struct stat st;
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool known = !stat(path, &st) || (directory && !stat(directory, &st));
	if (known)
		*fs = st.st_dev;
	free(directory);
	return known;
}

/* Into a new directory of that place, whose name nobody could foretell. The file, malloc'ed, or
 * NULL. */
static char *
save_in(const char *place, const struct st_result *a, const struct st_profile *p, const char *path)
{
	char *directory = NULL, *file = NULL;
	struct st_error e;
	if (asprintf(&directory, "%s/strobe-XXXXXX", place) < 0 || !mkdtemp(directory)) {
		free(directory);
		return NULL;
	}
	if (asprintf(&file, "%s/%s", directory, st_base_name(path)) < 0)
		file = NULL;
	if (file && save(a, p, file, &e)) {
		free(file);
		file = NULL;
	}
	if (!file)
		rmdir(directory);
	free(directory);
	return file;
}

/* What was measured is not lost with its place: on another file system there may be room. Whoever
 * read it from a pipe has stopped because he wants no more. The file, malloc'ed, or NULL. */
static char *
save_elsewhere(const struct st_result *a, const struct st_profile *p, const char *path)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
	dev_t full = 0, fs = 0;
	bool known = file_system_of(path, &full);
	struct stat st;
	char *file = NULL;
	if (!stat(path, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return NULL;
	for (size_t i = 0; !file && i < sizeof places / sizeof *places; i++)
		if (places[i] && *places[i] && file_system_of(places[i], &fs) &&
		    !(known && fs == full))
			file = save_in(places[i], a, p, path);
	return file;
}

static void
print(const struct st_result *a, const struct st_profile *p, const char *saved)
{
	struct st_report r = {.profile = p, .top = (size_t)a->top, .style = st_style_of(stderr)};
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return;
	st_report_summary(&r, out);
	if (a->form)
		a->form->summary(p, a->form->arg, (size_t)a->top, out);
	if (!is_text(a) && !a->form)
		st_report_next(&r, out, saved);
	else if (saved)
		fprintf(out, "\n  result: %s\n", saved);
	char *text = st_text_end(&built);
	if (text)
		st_print_safely(stderr,
		                text); /* at once: the program's children may still write there */
	free(text);
}

st_status
st_result_report(const struct st_result *a, const struct st_profile *p, uint32_t pid,
                 struct st_error *e)
{
	char *fallback = a->output ? NULL : default_output(a, pid);
	const char *path = a->output ? a->output : fallback;
	int status =
	        path ? save(a, p, path, e) : st_output_failed("the current directory", ENOMEM, e);
	char *elsewhere = status && path ? save_elsewhere(a, p, path) : NULL;
	if (elsewhere) {
		bool rows = p->streams.n && p->streams.v[0].file;
		st_append(e->text, sizeof e->text, "%s%s; this time it is in %s",
		          rows ? "; its rows are still in " : "", rows ? p->streams.v[0].file : "",
		          elsewhere);
	}
	if (!a->quiet)
		print(a, p, status ? elsewhere : path);
	free(elsewhere);
	free(fallback);
	return status;
}

st_status
st_result_check(const struct st_result *a, uint32_t pid, struct st_error *e)
{
	if (a->output)
		return st_output_check(a->output, e);
	char *name = default_output(a, pid);
	int status = st_output_check(name ? name : "strobe.db", e);
	free(name);
	return status;
}

char *
st_result_options(char *const *argv, char *const *end)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	for (; argv != end && *argv && strcmp(*argv, "--"); argv++)
		fprintf(out, "%s%s", ftell(out) ? " " : "", *argv);
	return st_text_end(&built);
}
