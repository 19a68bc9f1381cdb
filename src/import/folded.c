/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: "a;b;c NUMBER" on each line, the outermost function first. */
#include <string.h>

#include "base/parse.h"
#include "import/functions.h"
#include "import/lines.h"

/* "a;b;c NUMBER", perhaps without a semicolon. */
static bool
is_folded_line(const char *line, size_t n)
{
	size_t digits = 0;
	while (digits < n && line[n - 1 - digits] >= '0' && line[n - 1 - digits] <= '9')
		digits++;
	return digits && digits + 1 < n && line[n - 1 - digits] == ' ';
}

bool
st_import_is_folded(const struct st_import *in)
{
	const char *end = in->n ? memchr(in->bytes, '\n', in->n) : NULL;
	size_t n = end ? (size_t)(end - in->bytes) : in->n;
	return n && !memchr(in->bytes, '\0', n) && memchr(in->bytes, ';', n) &&
	       is_folded_line(in->bytes, n);
}

/* False: the line is no stack. ST_FAILED in *status: no memory. */
static bool
read_folded(struct st_import_functions *f, char *line, uint64_t *count, st_status *status)
{
	char *blank = strrchr(line, ' '), *rest = line;
	if (!blank || blank == line || st_parse_whole(blank + 1, count))
		return false;
	*blank = '\0';
	f->stack.n = 0;
	for (char *name; (name = strsep(&rest, ";"));) {
		if (!*name)
			return false;
		uint32_t function = st_import_function(f, ST_IMPORT_NO_IMAGE, name, NULL, 0);
		uint32_t *slot = function == UINT32_MAX ? NULL : ST_PUSH(&f->stack);
		if (!slot) {
			*status = ST_FAILED;
			return true;
		}
		*slot = function;
	}
	return true;
}

st_status
st_import_folded(struct st_import *in, struct st_error *e)
{
	struct st_import_functions f = {.p = in->p};
	struct st_lines l = {.in = in};
	uint32_t thread = st_import_thread(&f, "", 0);
	st_status status = thread == UINT32_MAX ? ST_FAILED : ST_OK;
	while (!status && st_lines_next(&l)) {
		uint64_t count;
		if (!*l.line)
			continue;
		if (!read_folded(&f, l.line, &count, &status))
			st_import_skip(in, l.number);
		else if (!status)
			status = st_import_stack(&f, thread,
			                         (struct st_import_weight){.count = count});
	}
	if (!status)
		status = l.out_of_memory ? ST_FAILED : st_import_functions_finish(&f);
	if (status)
		status = st_import_no_memory(in, e);
	else if (!f.stacks)
		status = st_import_bad(in, in->first, e, "no line is a stack and a number");
	st_lines_free(&l);
	st_import_functions_free(&f);
	return status;
}
