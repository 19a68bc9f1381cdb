/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "profile/output.h"

char *
st_session_output_prefix(const char *program)
{
	enum { LONGEST = 150 }; /* of a file name of at most 255 bytes */
	char *name = NULL;
	if (asprintf(&name, "strobe.%.*s.", LONGEST, st_base_name(program)) < 0)
		return NULL;
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

/* strobe.PROGRAM.PID.db in the current directory. pid 0: it is not known yet. */
static char *
output_default_output(const struct st_session_output *o, uint32_t pid)
{
	char *prefix = st_session_output_prefix(o->name), *name = NULL, number[16] = "PID";
	if (pid)
		snprintf(number, sizeof number, "%u", pid);
	if (prefix && asprintf(&name, "%s%s.%s", prefix, number, o->form ? o->form->end : "db") < 0)
		name = NULL;
	free(prefix);
	return name;
}

st_status
st_output_form_write(const struct st_output_form *form, const struct st_profile *p,
                     const char *path, struct st_error *e)
{
	struct st_output output;
	FILE *out = NULL;
	if ((form->end && st_output_check_ending(path, form->end, e)) ||
	    st_output_begin(&output, path, e))
		return -1;
	int status = st_output_stream(&output, &out, e);
	if (!status)
		status = form->write(p, form->arg, out, e);
	if (out && st_output_close(&output, out, e))
		status = -1;
	if (!status)
		return st_output_commit(&output, e);
	st_output_abandon(&output);
	return -1;
}

static st_status
save(const struct st_session_output *o, const struct st_profile *p, const char *path,
     struct st_error *e)
{
	return o->form ? st_output_form_write(o->form, p, path, e) : st_profile_save(p, path, e);
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
save_in(const char *place, const struct st_session_output *o, const struct st_profile *p,
        const char *path)
{
	char *directory = NULL, *file = NULL;
	struct st_error e;
	if (asprintf(&directory, "%s/strobe-XXXXXX", place) < 0 || !mkdtemp(directory)) {
		free(directory);
		return NULL;
	}
	if (asprintf(&file, "%s/%s", directory, st_base_name(path)) < 0)
		file = NULL;
	if (file && save(o, p, file, &e)) {
		free(file);
		file = NULL;
	}
	if (!file)
		rmdir(directory);
	free(directory);
	return file;
}

/* Saves the result elsewhere if it cannot be written to its file: another file system may have
 * room. Nothing is saved if the reader of a pipe has closed it. Returns the file's path, malloc'ed,
 * or NULL. */
static char *
save_elsewhere(const struct st_session_output *o, const struct st_profile *p, const char *path)
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
			file = save_in(places[i], o, p, path);
	return file;
}

st_status
st_session_output_save(const struct st_session_output *o, const struct st_profile *p, uint32_t pid,
                       char **where, struct st_error *e)
{
	*where = o->path ? strdup(o->path) : output_default_output(o, pid);
	if (!*where)
		return st_output_failed("the current directory", ENOMEM, e);
	if (!save(o, p, *where, e))
		return ST_OK;
	char *elsewhere = save_elsewhere(o, p, *where);
	if (elsewhere) {
		bool rows = p->streams.n && p->streams.v[0].file;
		st_append(e->text, sizeof e->text, "%s%s; this time it is in %s",
		          rows ? "; its rows are still in " : "", rows ? p->streams.v[0].file : "",
		          elsewhere);
	}
	free(*where);
	*where = elsewhere;
	return ST_FAILED;
}

st_status
st_session_output_check(const struct st_session_output *o, uint32_t pid, struct st_error *e)
{
	if (o->path)
		return !o->form ? st_output_check_profile(o->path, e)
		       : o->form->end && st_output_check_ending(o->path, o->form->end, e)
		               ? ST_FAILED
		               : st_output_check(o->path, e);
	char *name = output_default_output(o, pid);
	int status = st_output_check(name ? name : "strobe.db", e);
	free(name);
	return status;
}
