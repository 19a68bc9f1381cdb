/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs of a study from a file: blank lines, and those that begin with #, are passed over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/wholefile.h"
#include "base/words.h"
#include "cli/tune.h"

enum { MOST_WORDS = 1024 };

static const char blanks[] = " \t\r\n";

static st_status
add_line(struct st_study *s, char *line, const char *path, size_t number, struct st_error *e)
{
	char *words[MOST_WORDS + 1];
	if (line[strspn(line, blanks)] == '#')
		return 0;
	int n = st_words(line, words, MOST_WORDS);
	if (n < 0)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "line %zu of %s is no command: a quote is not closed, or it has more "
		        "than %d words",
		        number, path, MOST_WORDS);
	words[n] = NULL;
	if (n && s->programs.n == ST_STUDY_PROGRAMS)
		return st_fail(e, ST_EXIT_USAGE, "a study has at most %d programs",
		               ST_STUDY_PROGRAMS);
	return n && !st_study_add_program(s, words) ? st_fail(e, ST_EXIT_FAILED, "out of memory")
	                                            : 0;
}

st_status
st_tune_programs(struct st_study *s, const char *path, struct st_error *e)
{
	struct st_error why;
	char *text, *rest;
	size_t size, number = 0, before = s->programs.n;
	int status = 0;
	if (st_whole_read(&text, &size, path, ST_WHOLE_SETTINGS, &why))
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", path, why.text);
	rest = text;
	for (char *line; !status && (line = strsep(&rest, "\n"));)
		status = add_line(s, line, path, ++number, e);
	free(text);
	if (!status && s->programs.n == before)
		return st_fail(e, ST_EXIT_USAGE, "%s lists no program", path);
	return status;
}
