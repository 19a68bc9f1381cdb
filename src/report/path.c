/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The path as text. Blocks in a row of one function become one line, with the source lines that
 * they belong to; what repeats itself is indented under how often it does.
 */
#include "report/path.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/report.h"

enum { MOST_LINES = 12 }; /* numbers of source lines in one line */

struct printer {
	const struct st_path_report *r;
	FILE *out;
	size_t left;     /* lines that may still be printed of the window */
	uint64_t hidden; /* blocks and bodies that were not */
};

/* ---- names ---- */

const char *
st_path_fact_name(enum st_fact_kind kind)
{
	static const char *const names[] = {[ST_FACT_BETWEEN] = "between",
	                                    [ST_FACT_ENTERED] = "entered",
	                                    [ST_FACT_LEFT] = "left"};
	return names[kind];
}

const char *
st_path_end_name(enum st_window_end end)
{
	static const char *const names[] = {[ST_WINDOW_LAST] = "last",
	                                    [ST_WINDOW_GAP] = "gap",
	                                    [ST_WINDOW_SIGNAL] = "signal",
	                                    [ST_WINDOW_BREAK] = "break"};
	return names[end];
}

static void
path_print_text(FILE *out, const char *text)
{
	char *printable = st_printable(text);
	fputs(printable ? printable : "", out);
	free(printable);
}

static const struct st_function *
path_function_of(const struct st_walk *w, uint32_t image, uint64_t offset)
{
	struct st_image *i = st_code_image(&w->code, image);
	return i ? st_code_function(i, offset) : NULL;
}

static void
path_print_function(const struct printer *p, uint32_t image, const struct st_function *f)
{
	const struct st_code *c = &p->r->walk->code;
	path_print_text(p->out, f ? f->name : "(no function)");
	if (image < c->images.n) {
		fputs(" [", p->out);
		path_print_text(p->out, st_base_name(c->images.v[image].path));
		fputc(']', p->out);
	}
}

/* ---- source lines ---- */

/* Those of some blocks, each once as long as they come in a row. */
struct lines {
	const char *file;
	uint32_t line[MOST_LINES];
	size_t n;
	bool more;
};

static void
path_add_line(struct lines *l, struct st_image *image, uint64_t offset)
{
	struct st_line line;
	if (!image || st_image_line(image, offset, &line) || !line.file || !line.line)
		return;
	if (!l->file)
		l->file = line.file;
	if (strcmp(l->file, line.file) || (l->n && l->line[l->n - 1] == line.line))
		return; /* inlined from a header: the lines around it say enough */
	if (l->n == MOST_LINES)
		l->more = true;
	else
		l->line[l->n++] = line.line;
}

static void
path_print_lines(const struct printer *p, const struct lines *l)
{
	if (!l->n)
		return;
	fputs("  ", p->out);
	path_print_text(p->out, st_base_name(l->file));
	for (size_t i = 0; i < l->n; i++)
		fprintf(p->out, "%s%" PRIu32, i ? " " : ":", l->line[i]);
	if (l->more)
		fputs(" ...", p->out);
}

/* ---- windows ---- */

static void
indent(const struct printer *p, unsigned depth)
{
	fprintf(p->out, "    %*s", 2 * (int)depth, "");
}

static bool
path_is_block(const struct st_fold_item *item)
{
	return item->id < ST_FOLD_BODY;
}

/* The number of items that are blocks of one function, each once. */
static size_t
in_a_row(const struct printer *p, const struct st_fold_item *items, size_t n)
{
	const struct st_walk *w = p->r->walk;
	const struct st_place *first = &w->code.places.v[items[0].id];
	const struct st_function *f = path_function_of(w, first->image, first->offset);
	size_t i = 1;
	if (items[0].times > 1 || p->r->blocks)
		return 1;
	for (; i < n && path_is_block(&items[i]) && items[i].times == 1; i++) {
		const struct st_place *at = &w->code.places.v[items[i].id];
		if (at->image != first->image ||
		    !st_code_is_same(path_function_of(w, at->image, at->offset), f))
			break;
	}
	return i;
}

static void
path_print_blocks(const struct printer *p, const struct st_fold_item *items, size_t n,
                  unsigned depth)
{
	const struct st_walk *w = p->r->walk;
	const struct st_place *first = &w->code.places.v[items[0].id];
	struct lines lines = {0};
	indent(p, depth);
	path_print_function(p, first->image, path_function_of(w, first->image, first->offset));
	fprintf(p->out, "  0x%" PRIx64, first->offset);
	for (size_t i = 0; i < n; i++) {
		const struct st_place *at = &w->code.places.v[items[i].id];
		path_add_line(&lines, st_code_image(&w->code, at->image), at->offset);
	}
	path_print_lines(p, &lines);
	if (n > 1)
		fprintf(p->out, "  %s", ST_COUNT(n, "block", "blocks"));
	if (items[0].times > 1)
		fprintf(p->out, "  %s", ST_COUNT(items[0].times, "time", "times"));
	fputc('\n', p->out);
}

static void print_items(struct printer *p, const struct st_fold_item *items, size_t n,
                        unsigned depth);

/* Returns how many items that were. */
static size_t
print_item(struct printer *p, const struct st_fold_item *items, size_t n, unsigned depth)
{
	if (path_is_block(items)) {
		size_t row = in_a_row(p, items, n);
		path_print_blocks(p, items, row, depth);
		return row;
	}
	uint32_t members;
	const struct st_fold_item *body = st_fold_members(&p->r->walk->fold, items[0].id, &members);
	indent(p, depth);
	fprintf(p->out, "%s:\n", ST_COUNT(items[0].times, "time", "times"));
	print_items(p, body, members, depth + 1);
	return 1;
}

/* Bodies nest no deeper than the number of times that a sequence can be halved. */
static void
print_items(struct printer *p, const struct st_fold_item *items, size_t n, unsigned depth)
{
	for (size_t i = 0; i < n;) {
		if (!p->left) {
			p->hidden += n - i;
			return;
		}
		p->left--;
		i += print_item(p, items + i, n - i, depth);
	}
}

static void
print_window(struct printer *p, const struct st_window *w, size_t number)
{
	char blocks[ST_NUMBER_SIZE];
	fprintf(p->out, "  window %zu: %s\n", number, ST_COUNT(w->blocks, "block", "blocks"));
	p->left = p->r->top ? p->r->top : SIZE_MAX;
	p->hidden = 0;
	print_items(p, w->path.v, w->path.n, 0);
	if (p->hidden)
		fprintf(p->out, "    ... and %s more (--top)\n", st_number(blocks, p->hidden));
}

/* ---- gaps ---- */

static void
path_print_step(const struct printer *p, const struct st_step *s)
{
	const struct st_walk *w = p->r->walk;
	const struct st_place *at = &w->code.places.v[s->place];
	struct lines lines = {0};
	path_print_function(p, at->image, path_function_of(w, at->image, at->offset));
	fprintf(p->out, " 0x%" PRIx64, at->offset);
	path_add_line(&lines, st_code_image(&w->code, at->image), at->offset);
	path_print_lines(p, &lines);
}

static void
print_spans(const struct printer *p, const st_spans_of_code *spans, uint32_t image)
{
	struct lines lines = {0};
	fprintf(p->out, "%s", ST_COUNT(spans->n, "block", "blocks"));
	for (size_t i = 0; i < spans->n && (p->r->blocks || i < MOST_LINES); i++)
		fprintf(p->out, "%s0x%" PRIx64, i ? " " : ": ", spans->v[i].start);
	if (!p->r->blocks && spans->n > MOST_LINES)
		fputs(" ...", p->out);
	for (size_t i = 0; i < spans->n; i++)
		path_add_line(&lines, st_code_image(&p->r->walk->code, image), spans->v[i].start);
	path_print_lines(p, &lines);
	fputc('\n', p->out);
}

/* The other code of the function that may have been executed. */
static void
print_open(const struct printer *p, const struct st_fact *f)
{
	if (!f->open && !f->calls && !f->indirect)
		return;
	fputs("      unknown: ", p->out);
	fprintf(p->out, "which of %s, and how often",
	        ST_COUNT(f->open, "more block", "more blocks"));
	if (f->calls)
		fprintf(p->out, "; what %s did", ST_COUNT(f->calls, "call", "calls"));
	if (f->indirect)
		fprintf(p->out, "; where %s led",
		        ST_COUNT(f->indirect, "indirect jump", "indirect jumps"));
	fputc('\n', p->out);
}

static void
print_fact(const struct printer *p, const struct st_fact *f)
{
	fputs("    ", p->out);
	path_print_function(p, f->image, f->function);
	fputs(f->kind == ST_FACT_ENTERED ? " was entered"
	      : f->kind == ST_FACT_LEFT  ? " was left"
	                                 : "",
	      p->out);
	fputs("\n", p->out);
	if (f->ran.n) {
		fputs(f->exact && f->kind == ST_FACT_ENTERED ? "      executed, and nothing else: "
		                                             : "      must have executed: ",
		      p->out);
		print_spans(p, &f->ran, f->image);
	}
	if (f->exact && f->kind == ST_FACT_BETWEEN) {
		fputs("      if it was not left: exactly ", p->out);
		print_spans(p, &f->stayed, f->image);
	} else if (f->stayed.n > f->ran.n) {
		fputs("      if it was not left: ", p->out);
		print_spans(p, &f->stayed, f->image);
	}
	if (!f->exact || f->kind == ST_FACT_BETWEEN)
		print_open(p, f);
}

static void
print_gap(const struct printer *p, const struct st_gap *g, size_t number)
{
	fprintf(p->out, "  gap %zu: from ", number);
	path_print_step(p, &g->from);
	if (g->last) {
		fputs("\n    to the end: the thread was not measured again\n", p->out);
	} else {
		fputs("\n    to ", p->out);
		path_print_step(p, &g->to);
		fputc('\n', p->out);
	}
	for (size_t i = 0; i < g->facts.n; i++)
		print_fact(p, &g->facts.v[i]);
	fputs(g->facts.n ? "    unknown: all other functions\n" : "    unknown: everything\n",
	      p->out);
}

/* ---- threads ---- */

static void
path_print_end(struct printer *p, const struct st_path_thread *t, size_t i, size_t *gap)
{
	const struct st_window *w = &t->windows.v[i];
	bool last = i + 1 == t->windows.n;
	if (w->end == ST_WINDOW_GAP)
		print_gap(p, &w->gap, ++*gap);
	else if (p->r->gaps)
		return;
	else if (w->end == ST_WINDOW_SIGNAL)
		fputs("  a signal\n", p->out);
	else if (w->end == ST_WINDOW_BREAK && !last)
		fputs("  what came here is unknown: the end of a signal's handler, or code that "
		      "was "
		      "not measured\n",
		      p->out);
}

const char *
st_path_command(const struct st_path_report *r, const struct st_path_thread *t)
{
	if (!r->profile || t->process >= r->profile->processes.n)
		return NULL;
	const struct st_profile_process *p = &r->profile->processes.v[t->process];
	return p->pid == t->pid && p->command[0] ? p->command : NULL;
}

static void
print_thread(struct printer *p, const struct st_path_thread *t)
{
	const char *command = st_path_command(p->r, t);
	size_t gap = 0;
	fprintf(p->out, "thread %" PRId64 " of process %" PRId64 "%s", t->tid, t->pid,
	        command ? ": " : "");
	path_print_text(p->out, command ? command : "");
	fputc('\n', p->out);
	if (t->late)
		fputs("  not measured at first: unknown\n", p->out);
	for (size_t i = 0; i < t->windows.n; i++) {
		if (!p->r->gaps)
			print_window(p, &t->windows.v[i], i + 1);
		path_print_end(p, t, i, &gap);
	}
}

static void
add_gap(struct st_path_sums *s, const struct st_gap *g)
{
	s->gaps++;
	s->with_facts += g->facts.n > 0;
	for (size_t i = 0; i < g->facts.n; i++) {
		s->ran += g->facts.v[i].ran.n;
		s->exact += g->facts.v[i].exact;
	}
}

struct st_path_sums
st_path_add_up(const struct st_walk *w)
{
	struct st_path_sums s = {0};
	for (size_t i = 0; i < w->threads.n; i++) {
		const struct st_path_thread *t = w->threads.v[i];
		s.windows += t->windows.n;
		for (size_t k = 0; k < t->windows.n; k++) {
			s.blocks += t->windows.v[k].blocks;
			if (t->windows.v[k].end == ST_WINDOW_GAP)
				add_gap(&s, &t->windows.v[k].gap);
		}
	}
	return s;
}

void
st_path_print(const struct st_path_report *r, FILE *out)
{
	struct printer p = {.r = r, .out = out};
	const struct st_path_sums s = st_path_add_up(r->walk);

	for (size_t i = 0; i < r->walk->threads.n; i++)
		print_thread(&p, r->walk->threads.v[i]);
	fprintf(out, "%s in %s, all of them known", ST_COUNT(s.blocks, "block", "blocks"),
	        ST_COUNT(s.windows, "window", "windows"));
	if (s.gaps)
		fprintf(out, "; %s, something certain in %s: %s", ST_COUNT(s.gaps, "gap", "gaps"),
		        ST_NUMBER(s.with_facts), ST_COUNT(s.ran, "block", "blocks"));
	fputc('\n', out);
}
