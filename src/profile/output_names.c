/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of files by the endings of their names. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "profile/output.h"

/* Endings that say what a file is, and the command that makes such a file of a profile. */
static const struct {
	const char *ending, *kind, *command;
} output_kinds[] = {
        {".csv", "CSV", "export -o"},
        {".json", "JSON", "export -o"},
        {".folded", "folded stacks", "export -o"},
        {".collapsed", "folded stacks", "export -o"},
        {".speedscope", "speedscope", "export -o"},
        {".pb.gz", "pprof", "export -o"},
        {".pprof.gz", "pprof", "export -o"},
        {".pb", "pprof", "export -o"},
        {".pprof", "pprof", "export -o"},
        {".callgrind", "callgrind", "export -o"},
        {".lcov", "lcov", "export -o"},
        {".info", "lcov", "export -o"},
        {".txt", "text", "show -o"},
        {".md", "Markdown", "show --table TABLE --format markdown -o"},
        {".tex", "LaTeX", "show --table TABLE --format latex -o"},
        {".html", "HTML", "report -o"},
        {".svg", "SVG", "plot KIND -o"},
        {".png", "PNG", NULL},
        {".pdf", "PDF", NULL},
        {".jpg", "JPEG", NULL},
        {".jpeg", "JPEG", NULL},
        {".xml", "XML", NULL},
        {".yaml", "YAML", NULL},
        {".tsv", "TSV", NULL},
        {".gz", "gzip", NULL},
        {".xz", "xz", NULL},
        {".zst", "zstd", NULL},
        {".zip", "ZIP", NULL},
};
enum { OUTPUT_KINDS = sizeof output_kinds / sizeof *output_kinds };

static size_t
output_kind_of(const char *path)
{
	const char *name = st_base_name(path);
	const size_t n = strlen(name);
	size_t i = 0;
	for (; i < OUTPUT_KINDS; i++) {
		const size_t ending = strlen(output_kinds[i].ending);
		if (n > ending && !strcasecmp(name + n - ending, output_kinds[i].ending))
			break;
	}
	return i;
}

st_status
st_output_check_profile(const char *path, struct st_error *e)
{
	const size_t i = output_kind_of(path);
	if (i == OUTPUT_KINDS)
		return st_output_check(path, e);
	if (!output_kinds[i].command)
		return st_fail(e, ST_EXIT_USAGE,
		               "'%s' is a name for a file of %s, and the result is a profile: give "
		               "-o a name that ends with .db",
		               path, output_kinds[i].kind);
	return st_fail(e, ST_EXIT_USAGE,
	               "'%s' is a name for a file of %s, and the result is a profile: use -o "
	               "NAME.db, then strobe %s '%s' NAME.db",
	               path, output_kinds[i].kind, output_kinds[i].command, path);
}

st_status
st_output_check_kind(const char *path, const char *kind, const char *ending, struct st_error *e)
{
	const size_t i = output_kind_of(path);
	if (i == OUTPUT_KINDS || !strcmp(output_kinds[i].kind, kind))
		return st_output_check(path, e);
	return st_fail(e, ST_EXIT_USAGE,
	               "'%s' is a name for a file of %s, and %s is written: give -o a name that "
	               "ends with %s",
	               path, output_kinds[i].kind, kind, ending);
}

/* Kinds whose names are given to nothing else. */
static bool
output_is_strict(const char *kind)
{
	static const char *const strict[] = {"HTML", "SVG",  "PNG",      "PDF",  "JPEG",
	                                     "CSV",  "JSON", "Markdown", "LaTeX"};
	for (size_t i = 0; i < sizeof strict / sizeof *strict; i++)
		if (!strcmp(strict[i], kind))
			return true;
	return false;
}

st_status
st_output_check_ending(const char *path, const char *ending, struct st_error *e)
{
	char usual[32];
	snprintf(usual, sizeof usual, "x.%.24s", ending);
	const size_t i = output_kind_of(path), wanted = output_kind_of(usual);
	const char *kind = wanted == OUTPUT_KINDS ? ending : output_kinds[wanted].kind;
	if (i == OUTPUT_KINDS || !output_is_strict(output_kinds[i].kind) ||
	    !strcmp(output_kinds[i].kind, kind))
		return ST_OK;
	if (!strcmp(output_kinds[i].kind, "JSON") && !strcmp(kind, "speedscope"))
		return ST_OK; /* x.speedscope.json */
	return st_fail(e, ST_EXIT_USAGE,
	               "'%s' is a name for a file of %s, and %s is written: give -o a name that "
	               "ends with %s",
	               path, output_kinds[i].kind, kind, usual + 1);
}
