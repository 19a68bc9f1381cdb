/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/import.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/wholefile.h"
#include "profile/profile.h"
#include "profile/version.h"

const struct st_import_format st_import_formats[] = {
#define F(id, name, help) {name, help, st_import_is_##id, st_import_##id},
        ST_IMPORT_FORMATS(F)
#undef F
};
const size_t st_n_import_formats = sizeof st_import_formats / sizeof *st_import_formats;

/* The number of bytes that are examined to detect the format. */
enum { HEAD = 4096 };

void
st_import_skip(struct st_import *in, size_t number)
{
	if (!in->skipped++)
		in->first = number;
}

st_status
st_import_bad(const struct st_import *in, size_t line, struct st_error *e, const char *format, ...)
{
	char reason[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	return line ? st_fail(e, ST_EXIT_FAILED, "cannot read %s: line %zu: %s", in->path, line,
	                      reason)
	            : st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", in->path, reason);
}

st_status
st_import_no_memory(const struct st_import *in, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", in->path);
}

bool
st_import_has(const struct st_import *in, const char *text)
{
	return in->n && memmem(in->bytes, in->n < HEAD ? in->n : HEAD, text, strlen(text));
}

bool
st_import_begins(const struct st_import *in, const char *text)
{
	size_t n = strlen(text);
	return in->n >= n && !memcmp(in->bytes, text, n);
}

void
st_import_command(struct st_profile *p, const char *words)
{
	static const char blanks[] = " \t\n";
	for (const char *at = words; *(at += strspn(at, blanks));) {
		size_t n = strcspn(at, blanks);
		const char **slot = ST_PUSH(&p->run.command);
		if (slot)
			*slot = st_profile_textf(p, "%.*s", (int)n, at);
		else
			p->out_of_memory = true;
		at += n;
	}
}

static const char *
import_format_name(const void *formats, size_t i)
{
	return ((const struct st_import_format *)formats)[i].name;
}

static const struct st_import_format *
format_named(const char *name, struct st_error *e)
{
	for (size_t i = 0; i < st_n_import_formats; i++)
		if (!strcmp(st_import_formats[i].name, name))
			return &st_import_formats[i];
	const char *near =
	        st_nearest(name, st_n_import_formats, import_format_name, st_import_formats);
	st_cause(e, ST_EXIT_USAGE, "no format '%s'%s%s%s; strobe help import lists the formats",
	         name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

static const struct st_import_format *
detect_format(const struct st_import *in, struct st_error *e)
{
	for (size_t i = 0; i < st_n_import_formats; i++)
		if (st_import_formats[i].detect(in))
			return &st_import_formats[i];
	ST_IGNORE(st_import_bad(in, 0, e,
	                        in->n ? "its format is not known; name it with --from, strobe help "
	                                "import lists the formats"
	                              : "it is empty"));
	return NULL;
}

static void
describe_import(struct st_profile *p, const struct st_import_format *format)
{
	struct st_profile_run *r = &p->run;
	r->tool = format->name;
	r->strobe_version = ST_VERSION;
	r->options = r->cwd = r->host = r->machine = r->kernel = r->cpu = "";
}

static void
note_skipped(const struct st_import *in)
{
	const char *one = in->skipped_are ? in->skipped_are : "line";
	char number[ST_NUMBER_SIZE];
	if (in->skipped)
		st_profile_note(
		        in->p,
		        "%s %s%s of the imported file could not be read, the first is %s %zu",
		        st_number(number, in->skipped), one, in->skipped == 1 ? "" : "s", one,
		        in->first);
}

struct st_profile *
st_import_bytes(const char *path, const char *bytes, size_t n, const char *format,
                const struct st_import_format **used, struct st_error *e)
{
	struct st_import in = {.path = path, .bytes = bytes, .n = n};
	*used = format ? format_named(format, e) : detect_format(&in, e);
	if (!*used)
		return NULL;
	in.p = st_profile_new();
	if (in.p)
		describe_import(in.p, *used);
	st_status status = in.p ? (*used)->read(&in, e) : st_import_no_memory(&in, e);
	if (!status)
		note_skipped(&in);
	if (!status && in.p->out_of_memory)
		status = st_import_no_memory(&in, e);
	if (!status)
		return in.p;
	st_profile_free(in.p);
	return NULL;
}

struct st_profile *
st_import_file(const char *path, const char *format, const struct st_import_format **used,
               struct st_error *e)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct st_error why;
	size_t n;
	char *bytes;
	if (st_whole_read(&bytes, &n, path, ST_WHOLE_DATA, &why)) {
		st_cause(e, ST_EXIT_FAILED, "cannot read %s: %s%s", name, why.text,
		         errno == EFBIG ? ": import a shorter recording" : "");
		return NULL;
	}
	struct st_profile *p = st_import_bytes(name, bytes, n, format, used, e);
	free(bytes);
	return p;
}
