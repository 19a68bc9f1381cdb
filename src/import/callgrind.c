/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callgrind.out: functions with their own costs and those of their lines, and calls from one
 * function to another with what they cost in all.
 */
#include "import/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/parse.h"
#include "import/functions.h"
#include "import/lines.h"
#include "import/tables.h"

/* Costs of a line of a function. */
struct line_cost {
	uint32_t function, line;
	const char *file;
	uint64_t instructions;
};

struct callgrind {
	struct st_import *in;
	struct st_import_functions f;
	struct st_callgrind_text text;
	struct st_import_table calls, costs;
	ST_VEC(struct line_cost) lines;
	const char *object, *file;
	const char *called_object, *called_file; /* NULL: those of the caller */
	const char *line_file; /* of the costs, where it is not that of the function */
	uint32_t function, called;
	uint64_t n_calls;  /* the next line has the costs of these; 0: it has the function's own */
	bool is_uncounted; /* the next line's costs are of a jump, or of calls that cannot be read
	                    */
	size_t instructions; /* which event they are; SIZE_MAX: none */
};

bool
st_import_is_callgrind(const struct st_import *in)
{
	return st_import_begins(in, "# callgrind format") ||
	       (st_import_has(in, "\nevents:") && st_import_has(in, "\nfn="));
}

/* The rest of the line after a prefix, or NULL. */
static char *
after(char *line, const char *key)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0)
		return NULL;
	return line + n + strspn(line + n, " \t");
}

static bool
callgrind_header(struct callgrind *x, char *line)
{
	char *words;
	if ((words = after(line, "positions:")))
		return st_callgrind_positions(&x->text, words);
	if ((words = after(line, "events:"))) {
		bool good = st_callgrind_events(&x->text, words);
		x->instructions = SIZE_MAX;
		for (size_t i = 0; i < x->text.n_events; i++)
			if (!strcmp(x->text.events[i], "Ir"))
				x->instructions = i;
		x->f.with_instructions = x->instructions != SIZE_MAX;
		return good;
	}
	if ((words = after(line, "cmd:"))) {
		st_import_command(x->in->p, words);
		return true;
	}
	/* version, creator, pid, desc, summary, totals, ...: a word and a colon */
	size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz");
	return word && line[word] == ':';
}

static const char *
text_or_missing(const char *text, const char *missing)
{
	return text ? text : missing;
}

/* NULL file: "???", which is how callgrind says that it does not know. */
static uint32_t
callgrind_function(struct callgrind *x, const char *object, const char *file, const char *name)
{
	bool no_file = !file || !strcmp(file, "\?\?\?");
	return st_import_function(&x->f, text_or_missing(object, ST_IMPORT_NO_IMAGE), name,
	                          no_file ? NULL : file, 0);
}

/* Where a jump leads: "jfi=(2) a.c". Jumps are left out, but later lines may use the number of a
 * name that such a line has introduced. */
static bool
read_jump_name(struct callgrind *x, const char *line)
{
	static const struct {
		const char *word;
		enum st_callgrind_names kind;
	} names[] = {{"job=", ST_CALLGRIND_OBJECT},
	             {"jfi=", ST_CALLGRIND_FILE},
	             {"jfl=", ST_CALLGRIND_FILE},
	             {"jfn=", ST_CALLGRIND_FUNCTION}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(line, names[i].word, 4))
			return st_callgrind_name(&x->text, x->in->p, names[i].kind, line + 4) !=
			       NULL;
	return false;
}

/* "fn=(1) main" and its like. False: it is no such line, or a bad one. */
static bool
read_name_line(struct callgrind *x, char *line)
{
	struct st_profile *p = x->in->p;
	char *text;
	const char *name;
	if ((text = after(line, "ob="))) {
		x->object = st_callgrind_name(&x->text, p, ST_CALLGRIND_OBJECT, text);
		return x->object != NULL;
	}
	if ((text = after(line, "fl="))) {
		x->file = x->line_file = st_callgrind_name(&x->text, p, ST_CALLGRIND_FILE, text);
		return x->file != NULL;
	}
	if ((text = after(line, "fi=")) || (text = after(line, "fe="))) {
		x->line_file = st_callgrind_name(&x->text, p, ST_CALLGRIND_FILE, text);
		return x->line_file != NULL;
	}
	if ((text = after(line, "fn="))) {
		name = st_callgrind_name(&x->text, p, ST_CALLGRIND_FUNCTION, text);
		x->function = name ? callgrind_function(x, x->object, x->file, name) : UINT32_MAX;
		x->line_file = x->file;
		return name != NULL;
	}
	if ((text = after(line, "cob="))) {
		x->called_object = st_callgrind_name(&x->text, p, ST_CALLGRIND_OBJECT, text);
		return x->called_object != NULL;
	}
	if ((text = after(line, "cfi=")) || (text = after(line, "cfl="))) {
		x->called_file = st_callgrind_name(&x->text, p, ST_CALLGRIND_FILE, text);
		return x->called_file != NULL;
	}
	if (!(text = after(line, "cfn=")))
		return false;
	name = st_callgrind_name(&x->text, p, ST_CALLGRIND_FUNCTION, text);
	x->called = name ? callgrind_function(x, text_or_missing(x->called_object, x->object),
	                                      text_or_missing(x->called_file, x->file), name)
	                 : UINT32_MAX;
	return name != NULL;
}

/* "calls=COUNT POSITION...": the costs are in the next line. */
static bool
read_calls(struct callgrind *x, const char *text)
{
	char *end;
	x->n_calls = strtoull(text, &end, 0);
	bool good = end != text && x->n_calls && x->called != UINT32_MAX;
	if (!good) {
		x->n_calls = 0;
		x->is_uncounted = true;
	}
	return good;
}

static st_status
add_call(struct callgrind *x, const uint64_t *costs)
{
	x->f.v.v[x->called].calls += x->n_calls;
	uint64_t *sums = st_import_table_row(&x->calls, x->function, x->called);
	if (!sums)
		return ST_FAILED;
	sums[0] += x->n_calls;
	for (size_t i = 0; i < x->text.n_events; i++)
		sums[i + 1] += costs[i];
	x->n_calls = 0;
	x->called = UINT32_MAX;
	x->called_object = x->called_file = NULL;
	return ST_OK;
}

static st_status
add_own(struct callgrind *x, uint64_t line, const uint64_t *costs)
{
	uint64_t *sums = st_import_table_row(&x->costs, x->function, UINT32_MAX);
	if (!sums)
		return ST_FAILED;
	for (size_t i = 0; i < x->text.n_events; i++)
		sums[i] += costs[i];
	if (x->instructions == SIZE_MAX)
		return ST_OK;
	x->f.v.v[x->function].instructions += costs[x->instructions];
	if (!line || line > UINT32_MAX || !x->line_file || !strcmp(x->line_file, "\?\?\?"))
		return ST_OK;
	struct line_cost *cost = ST_PUSH(&x->lines);
	if (!cost)
		return ST_FAILED;
	*cost = (struct line_cost){x->function, (uint32_t)line, x->line_file,
	                           costs[x->instructions]};
	return ST_OK;
}

/* False: it is no line of costs. */
static bool
read_costs(struct callgrind *x, const char *line, st_status *status)
{
	uint64_t number, costs[ST_CALLGRIND_EVENTS];
	if (!x->text.n_events || x->function == UINT32_MAX ||
	    !st_callgrind_costs(&x->text, line, &number, costs))
		return false;
	if (x->is_uncounted)
		x->is_uncounted = false;
	else
		*status = x->n_calls ? add_call(x, costs) : add_own(x, number, costs);
	return true;
}

static bool
read_callgrind_line(struct callgrind *x, char *line, st_status *status)
{
	char *text;
	if (!*line || *line == '#')
		return true;
	if ((text = after(line, "calls=")))
		return read_calls(x, text);
	if (after(line, "jump=") || after(line, "jcnd=")) {
		x->is_uncounted = true;
		return true;
	}
	if (strchr("0123456789+-*", *line))
		return read_costs(x, line, status);
	return read_name_line(x, line) || read_jump_name(x, line) || callgrind_header(x, line);
}

/* ---- into the profile ---- */

static int
line_cost_order(const void *a, const void *b)
{
	const struct line_cost *x = a, *y = b;
	int by_file = x->file == y->file ? 0 : strcmp(x->file, y->file);
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return by_file ? by_file : (x->line > y->line) - (x->line < y->line);
}

static st_status
finish_lines(struct callgrind *x)
{
	struct st_profile *p = x->in->p;
	struct st_profile_line *out = NULL;
	for (size_t i = 0; i < x->lines.n; i++)
		x->lines.v[i].function = x->f.v.v[x->lines.v[i].function].number;
	if (x->lines.n)
		qsort(x->lines.v, x->lines.n, sizeof *x->lines.v, line_cost_order);
	for (size_t i = 0; i < x->lines.n; i++) {
		const struct line_cost *in = &x->lines.v[i];
		if (!i || line_cost_order(in - 1, in) != 0) {
			if (!(out = ST_PUSH(&p->lines)))
				return ST_FAILED;
			*out = (struct st_profile_line){
			        .function = in->function, .line = in->line, .file = in->file};
		}
		out->instructions += in->instructions;
	}
	return ST_OK;
}

static st_status
callgrind_finish(struct callgrind *x)
{
	const char *events[ST_CALLGRIND_EVENTS + 1] = {"calls"};
	for (size_t i = 0; i < x->text.n_events; i++)
		events[i + 1] = x->text.events[i];
	if (x->text.left_out)
		st_profile_note(x->in->p, "%s left out: a table has at most %d",
		                ST_COUNT(x->text.left_out, "event of the imported file is",
		                         "events of the imported file are"),
		                ST_CALLGRIND_EVENTS);
	if (st_import_functions_finish(&x->f) || finish_lines(x) ||
	    st_import_table_finish(&x->calls, &x->f, "calls",
	                           "calls from one function to another, with all that they cost",
	                           events, x->text.n_events + 1) ||
	    st_import_table_finish(&x->costs, &x->f, "costs", "what functions cost by themselves",
	                           events + 1, x->text.n_events))
		return ST_FAILED;
	return ST_OK;
}

st_status
st_import_callgrind(struct st_import *in, struct st_error *e)
{
	struct callgrind x = {.in = in,
	                      .f = {.p = in->p},
	                      .text = {.n_positions = 1},
	                      .function = UINT32_MAX,
	                      .called = UINT32_MAX,
	                      .instructions = SIZE_MAX};
	struct st_lines l = {.in = in};
	st_status status = ST_OK;
	while (!status && st_lines_next(&l))
		if (!read_callgrind_line(&x, l.line, &status))
			st_import_skip(in, l.number);
	if (!status)
		status = l.out_of_memory ? ST_FAILED : callgrind_finish(&x);
	if (status)
		status = st_import_no_memory(in, e);
	else if (!x.costs.n && !x.calls.n)
		status = st_import_bad(in, in->first, e, "no function in it has costs");
	st_lines_free(&l);
	free(x.lines.v);
	st_import_table_free(&x.calls);
	st_import_table_free(&x.costs);
	st_callgrind_text_free(&x.text);
	st_import_functions_free(&x.f);
	return status;
}
