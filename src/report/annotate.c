/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the functions that a name means, and what is printed above their source and code. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"
#include "report/annotate.h"
#include "report/callers.h"

/* "std::sort" names "std::sort(int*, int*)" too. */
static bool
same_name(const char *name, const char *asked)
{
	size_t n = strlen(asked);
	return !strncmp(name, asked, n) && (name[n] == '\0' || name[n] == '(');
}

/* A shell pattern; it may leave out the arguments, too. */
static bool
fits_pattern(const char *name, const char *asked)
{
	char plain[512];
	size_t n = strcspn(name, "(");
	if (!strpbrk(asked, "*?["))
		return false;
	if (!fnmatch(asked, name, 0))
		return true;
	snprintf(plain, sizeof plain, "%.*s", (int)n, name);
	return n && n < sizeof plain && !fnmatch(asked, plain, 0);
}

static bool
annotate_holds(const char *name, const char *asked)
{
	return strstr(name, asked) != NULL;
}

/* The ways in which a name can match, the likeliest first. A part of a name counts only if a single
 * function has it. */
static const struct way {
	bool (*fits)(const char *name, const char *asked);
	bool several;
} ways[] = {{same_name, true}, {fits_pattern, true}, {annotate_holds, false}};

/* Indices of the functions that are meant, and in which way. */
static size_t
annotate_find_functions(const struct st_report *r, const char *name, uint32_t *found,
                        const struct way **way)
{
	size_t n, matches = 0;
	uint32_t *order = st_report_order(r, &n);
	for (size_t k = 0; order && !matches && k < sizeof ways / sizeof *ways; k++) {
		*way = &ways[k];
		for (size_t i = 0; i < n; i++)
			if (st_profile_function_fits(r->profile, order[i], ways[k].fits, name))
				found[matches++] = order[i];
	}
	free(order);
	return matches;
}

static void
try_name(struct st_nearest *near, const char *each)
{
	st_nearest_try(near, each, strchr(near->word, '(') ? strlen(each) : strcspn(each, "("));
}

static st_status
no_such_function(const struct st_profile *p, const char *name, struct st_error *e)
{
	struct st_nearest near = st_nearest_to(name);
	for (size_t i = 0; i < p->functions.n; i++)
		try_name(&near, p->functions.v[i].name);
	for (size_t i = 0; i < p->aliases.n; i++)
		try_name(&near, p->aliases.v[i].name);
	if (near.best)
		return st_fail(e, ST_EXIT_USAGE, "no function '%s' ran; did you mean '%s'?", name,
		               near.best);
	return st_fail(e, ST_EXIT_USAGE,
	               "no function '%s' ran; strobe show --sort name --top 0 lists all", name);
}

static st_status
ambiguous(const struct st_report *r, const char *name, const uint32_t *found, size_t n,
          struct st_error *e)
{
	enum { SHOWN = 5 };
	char list[800] = "";
	for (size_t i = 0; i < n && i < SHOWN; i++)
		st_append(list, sizeof list, "%s'%.150s'", i ? ", " : "",
		          r->profile->functions.v[found[i]].name);
	return st_fail(e, ST_EXIT_USAGE,
	               "'%s' is part of the names of %s functions: say which: %s%s", name,
	               ST_NUMBER(n), list, n > SHOWN ? ", ..." : "");
}

size_t
st_annotation_parts(const struct st_annotation *a, const struct st_function **parts)
{
	const struct st_profile_function *f = &a->r->profile->functions.v[a->function];
	struct st_image *image = f->size ? st_places_image(a->places, f->image, NULL) : NULL;
	const struct st_function *whole = image ? st_image_function(image, f->offset) : NULL;
	if (!whole || whole->offset != f->offset)
		return 0;
	size_t n = st_image_parts(image, whole, parts, ST_MAX_PARTS);
	return n < ST_MAX_PARTS ? n : ST_MAX_PARTS;
}

static void
print_parts(const struct st_annotation *a)
{
	const struct st_function *parts[ST_MAX_PARTS];
	size_t n = st_annotation_parts(a, parts);
	for (size_t i = 0; i < n; i++)
		fprintf(a->out, "  cold part at offset 0x%" PRIx64 ", %s\n", parts[i]->offset,
		        ST_COUNT(parts[i]->size, "byte", "bytes"));
}

/* The names that somebody may have asked for. */
static void
print_aliases(const struct st_annotation *a)
{
	size_t n;
	const struct st_profile_alias *aliases = st_profile_aliases(a->r->profile, a->function, &n);
	for (size_t i = 0; i < n; i++) {
		char *name = st_printable(aliases[i].name);
		fprintf(a->out, "%s%s", i ? ", " : "  also called ", name ? name : "");
		free(name);
	}
	if (n)
		putc('\n', a->out);
}

void
st_annotate_head(const struct st_annotation *a)
{
	const struct st_report *r = a->r;
	const struct st_profile *p = r->profile;
	const struct st_profile_function *f = &p->functions.v[a->function];
	FILE *out = a->out;
	char *name = st_printable(f->name), *image = st_printable(p->images.v[f->image].path);
	fprintf(out, "%s%s%s\n  %s, offset 0x%" PRIx64 ", %s\n", r->style.colour ? "\033[1m" : "",
	        name ? name : "", r->style.colour ? "\033[0m" : "", image ? image : "", f->offset,
	        ST_COUNT(f->size, "byte", "bytes"));
	print_aliases(a);
	print_parts(a);
	fprintf(out, "  self %.2f %% of %s, %s, %s%s, %s\n", 100 * st_profile_self_share(p, f),
	        st_profile_share_is_time(p) ? "the program's time" : "its instructions",
	        ST_COUNT(f->samples, "sample", "samples"), f->calls_exact ? "" : "at most ",
	        ST_COUNT(f->calls, "call", "calls"),
	        ST_COUNT(f->instructions, "instruction", "instructions"));
	free(name);
	free(image);
}

void
st_print_inlined(struct st_image *image, uint64_t offset, FILE *out)
{
	enum { DEEPEST = 32 };
	struct st_inlined chain[DEEPEST];
	size_t n = st_image_inlined(image, offset, chain, DEEPEST);
	for (size_t i = 0; i < n && i < DEEPEST; i++) {
		char *name = st_printable(chain[i].name);
		char *file = st_printable(chain[i].call.file ? chain[i].call.file : "?");
		fprintf(out, " %s, from %s:%u", name ? name : "", file ? st_base_name(file) : "",
		        chain[i].call.line);
		free(name);
		free(file);
	}
}

static void
annotate(const struct st_callers *callers, struct st_places *places,
         const struct st_branches *branches, FILE *out, uint32_t function)
{
	struct st_annotation a = {callers->r, places, out, function, branches};
	st_annotate_head(&a);
	st_callers_print(callers, function, out);
	st_annotate_source(&a);
	st_annotate_code(&a);
}

st_status
st_report_function(const struct st_report *r, FILE *out, const char *name, struct st_error *e)
{
	const struct st_profile *p = r->profile;
	if (!p->run.has_functions)
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile holds no functions: it was made with '%s'; use "
		               "strobe run -t hot%s",
		               p->run.tool, st_profile_has_tool(p, "branches") ? ",branches" : "");
	uint32_t *found = calloc(p->functions.n + 1, sizeof *found);
	if (!found)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to search the profile");
	struct st_places places;
	const struct way *way = NULL;
	size_t n = annotate_find_functions(r, name, found, &way);
	int status = 0;
	if (st_places_open(&places, p))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to search the profile");
	else if (!n)
		status = no_such_function(p, name, e);
	else if (n > 1 && !way->several)
		status = ambiguous(r, name, found, n, e);
	struct st_callers callers = {0};
	struct st_branches branches = {0};
	if (!status)
		status = st_callers_open(&callers, r, e);
	if (!status && st_branches_open(&branches, p))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to search the profile");
	for (size_t i = 0; i < n && !status; i++) {
		if (i)
			putc('\n', out);
		annotate(&callers, &places, &branches, out, found[i]);
	}
	st_callers_close(&callers);
	st_branches_close(&branches);
	st_places_close(&places);
	free(found);
	return status;
}
