/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source with what each line did. Lines without code are shown where they connect lines that have
 * some. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "report/annotate.h"
#include "report/source.h"

enum {
	CONTEXT = 2,  /* lines shown around those that ran */
	MAX_GAP = 12, /* longer stretches without code are left out */
};

struct printing {
	const struct st_annotation *a;
	uint64_t *offsets;            /* where the code of each line begins */
	const char *inlined;          /* the function that was named last; NULL: that itself */
	struct st_line *branch_lines; /* of each branch of the profile's branches; NULL: unknown */
};

static void
annotate_source_print_text(FILE *out, const struct st_source *s, uint32_t line, size_t width)
{
	if (line > s->lines.n) {
		putc('\n', out);
		return;
	}
	/* Tabs as the eight columns that the numbers in front would distort. */
	struct st_text built;
	size_t column = 0;
	FILE *text = st_text_begin(&built);
	if (!text)
		return;
	for (const char *c = s->lines.v[line - 1]; *c; c++) {
		if (*c == '\t') {
			do
				putc(' ', text);
			while (++column % 8);
		} else if (*c != '\r') {
			putc(*c, text);
			column++;
		}
	}
	char *expanded = st_text_end(&built);
	char *clean = expanded ? st_printable(expanded) : NULL;
	if (clean && width > 60)
		st_shorten(clean, width - 52);
	fprintf(out, "%s\n", clean ? clean : "");
	free(clean);
	free(expanded);
}

static void
annotate_source_print_line(const struct st_report *r, FILE *out, const struct st_source *s,
                           uint32_t number, const struct st_profile_line *l)
{
	char executions[ST_NUMBER_SIZE] = "", instructions[ST_NUMBER_SIZE] = "";
	char samples[ST_NUMBER_SIZE] = "";
	if (l) {
		st_number(executions, l->executions);
		st_number(instructions, l->instructions);
		if (l->samples)
			st_number(samples, l->samples);
	}
	fprintf(out, "%8s %14s %16s %6u  ", samples, executions, instructions, number);
	annotate_source_print_text(out, s, number, r->style.width);
}

/* Which function the lines that follow were inlined from, where that changes. The same line may
 * have come along different ways, so only the function that holds it is named. */
static void
print_inlined(struct printing *pr, size_t line)
{
	const struct st_profile *p = pr->a->r->profile;
	const struct st_profile_function *f = &p->functions.v[pr->a->function];
	struct st_image *image = st_places_image(pr->a->places, f->image, NULL);
	struct st_inlined innermost = {0};
	if (!image || pr->offsets[line] == UINT64_MAX)
		return;
	st_image_inlined(image, pr->offsets[line], &innermost, 1);
	if (innermost.name == pr->inlined ||
	    (innermost.name && pr->inlined && !strcmp(innermost.name, pr->inlined)))
		return;
	pr->inlined = innermost.name;
	char *name = innermost.name ? st_printable(innermost.name) : NULL;
	fprintf(pr->a->out, "%48s; %s%s\n", "", name ? name : "",
	        innermost.name ? ", inlined" : "not inlined");
	free(name);
}

/* The branches of the function's code between two offsets: in which line each of them is. */
static void
find_branch_lines(struct printing *pr, uint64_t offset, uint64_t size)
{
	const struct st_profile_function *f = &pr->a->r->profile->functions.v[pr->a->function];
	struct st_image *image = st_places_image(pr->a->places, f->image, NULL);
	size_t end, at = st_branches_from(pr->a->branches, f->image, offset, offset + size, &end);
	for (; image && pr->branch_lines && at < end; at++)
		if (st_image_line(image, pr->a->branches->v.v[at].offset, &pr->branch_lines[at]))
			pr->branch_lines[at] = (struct st_line){0};
}

static void
find_branches(struct printing *pr)
{
	const struct st_profile_function *f = &pr->a->r->profile->functions.v[pr->a->function];
	const struct st_function *parts[ST_MAX_PARTS];
	const size_t n_parts = st_annotation_parts(pr->a, parts), n = pr->a->branches->v.n;
	pr->branch_lines = n ? calloc(n, sizeof *pr->branch_lines) : NULL;
	find_branch_lines(pr, f->offset, f->size);
	for (size_t i = 0; i < n_parts; i++)
		find_branch_lines(pr, parts[i]->offset, parts[i]->size);
}

/* Each conditional branch of the line, in the order of their addresses. */
static void
print_branches_of(const struct printing *pr, const struct st_profile_line *l)
{
	for (size_t i = 0; pr->branch_lines && i < pr->a->branches->v.n; i++) {
		const struct st_line *line = &pr->branch_lines[i];
		if (line->line != l->line || !line->file || strcmp(line->file, l->file) != 0)
			continue;
		fprintf(pr->a->out, "%48s; branch at %" PRIx64 ": ", "",
		        pr->a->branches->v.v[i].offset);
		st_branch_print(&pr->a->branches->v.v[i], pr->a->out);
		putc('\n', pr->a->out);
	}
}

/* A file that was changed after its program was built may have other lines than those that ran. */
static void
print_newer(const struct st_annotation *a, const char *source)
{
	const struct st_profile *p = a->r->profile;
	const char *image = p->images.v[p->functions.v[a->function].image].path;
	struct stat text, code;
	if (stat(source, &text) || stat(image, &code) ||
	    (text.st_mtim.tv_sec != code.st_mtim.tv_sec
	             ? text.st_mtim.tv_sec < code.st_mtim.tv_sec
	             : text.st_mtim.tv_nsec <= code.st_mtim.tv_nsec))
		return;
	char *shown = st_printable(image);
	fprintf(a->out,
	        "note: this file is newer than %s, so its lines may not be those that ran\n",
	        shown ? shown : "the program");
	free(shown);
}

/* The lines from first on are of one file, in order. */
static void
annotate_source_print_file(struct printing *pr, size_t first, size_t n)
{
	const struct st_report *r = pr->a->r;
	const struct st_profile_line *l = &r->profile->lines.v[first];
	FILE *out = pr->a->out;
	struct st_source s;
	char *path = st_printable(l[0].file);
	st_source_read(&s, l[0].file, ST_SOURCE_FOR_READER);
	fprintf(out, "\n%s%s\n", path ? path : "", s.lines.n ? "" : " (not readable here)");
	free(path);
	if (s.lines.n)
		print_newer(pr->a, l[0].file);
	fprintf(out, "%8s %14s %16s %6s\n", "samples", "executions", "instructions", "line");
	uint32_t next = l[0].line > CONTEXT ? l[0].line - CONTEXT : 1;
	for (size_t i = 0; i < n; i++) {
		if (!s.lines.n || l[i].line > s.lines.n) {
			next = l[i].line;
		} else if (l[i].line > next && l[i].line - next > MAX_GAP) {
			fprintf(out, "%8s\n", "...");
			next = l[i].line - CONTEXT;
		}
		for (; next < l[i].line; next++)
			annotate_source_print_line(r, out, &s, next, NULL);
		print_inlined(pr, first + i);
		annotate_source_print_line(r, out, &s, l[i].line, &l[i]);
		print_branches_of(pr, &l[i]);
		next = l[i].line + 1;
	}
	st_source_free(&s);
}

/* Those files of the lines first..end that are, or are not, the function's own. */
static void
print_files(struct printing *pr, size_t first, size_t end, bool inlined)
{
	const struct st_profile *p = pr->a->r->profile;
	const char *own = p->functions.v[pr->a->function].file;
	for (size_t i = first, n; i < end; i += n) {
		for (n = 1; i + n < end; n++)
			if (strcmp(p->lines.v[i + n].file, p->lines.v[i].file) ||
			    p->lines.v[i + n].line <= p->lines.v[i + n - 1].line)
				break;
		bool is_own = own && !strcmp(p->lines.v[i].file, own);
		if (is_own != inlined)
			annotate_source_print_file(pr, i, n);
	}
}

void
st_annotate_source(const struct st_annotation *a)
{
	const struct st_profile *p = a->r->profile;
	struct printing pr = {.a = a};
	size_t first = 0;
	while (first < p->lines.n && p->lines.v[first].function != a->function)
		first++;
	size_t end = first;
	while (end < p->lines.n && p->lines.v[end].function == a->function)
		end++;
	if (first == end) {
		fprintf(a->out,
		        "\n  no source lines: the image has no line information (install its debug "
		        "symbols or compile with -g)\n");
		return;
	}
	pr.offsets = calloc(p->lines.n, sizeof *pr.offsets);
	if (!pr.offsets)
		return;
	st_places_of_lines(a->places, a->function, pr.offsets);
	find_branches(&pr);
	/* The file of the function itself first, then those whose code was inlined into it. */
	for (int inlined = 0; inlined < 2; inlined++)
		print_files(&pr, first, end, inlined);
	free(pr.branch_lines);
	free(pr.offsets);
}
