/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes an imported file of callgrind again, as far as a profile keeps it: the costs of functions
 * in all events, the instructions of lines, and the costs of calls without the lines of the calls.
 * Costs that belong to no line are written at line 0, so that the sums are those of the file.
 */
#include "export/functions_callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

enum { NO_ROW = 0 }; /* rows are kept with 1 added */

struct callgrind_writer {
	const struct st_profile *p;
	const struct st_profile_table *costs, *calls; /* calls NULL: there are none */
	FILE *out;
	size_t n_events;
	size_t instructions; /* the event that lines have; n_events: none */
	bool *named;         /* by function: its name has been written, and its number is enough */
	uint32_t *cost;      /* by function: its row of costs */
	uint32_t *first;     /* by function: the first row of its calls */
	uint32_t *next;      /* by row of calls: the next of the same caller */
	uint32_t *line;      /* by function: the first of its lines */
};

static const struct st_profile_table *
callgrind_table(const struct st_profile *p, const char *name, size_t keys)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (!strcmp(t->name, name) && t->n_keys == keys && t->n_columns > keys &&
		    t->columns[0].type == STROBE_FUNCTION)
			return t;
	}
	return NULL;
}

bool
st_export_has_callgrind(const struct st_profile *p)
{
	return !strcmp(p->run.tool, "callgrind") && callgrind_table(p, "costs", 1);
}

/* ---- index by function ---- */

/* Returns the function in a column of a row, or the number of functions if the row has none. */
static size_t
callgrind_key(const struct callgrind_writer *w, const struct st_profile_table *t, size_t row,
              size_t column)
{
	uint32_t f = t->values.v[row * t->n_columns + column].function;
	return f < w->p->functions.n ? f : w->p->functions.n;
}

static void
callgrind_chain(struct callgrind_writer *w)
{
	for (size_t i = st_profile_rows(w->costs); i-- > 0;)
		w->cost[callgrind_key(w, w->costs, i, 0)] = (uint32_t)i + 1;
	for (size_t i = w->calls ? st_profile_rows(w->calls) : 0; i-- > 0;) {
		size_t caller = callgrind_key(w, w->calls, i, 0);
		w->next[i] = w->first[caller];
		w->first[caller] = (uint32_t)i + 1;
	}
	for (size_t i = w->p->lines.n; i-- > 0;)
		if (w->p->lines.v[i].function < w->p->functions.n)
			w->line[w->p->lines.v[i].function] = (uint32_t)i + 1;
}

static bool
callgrind_begin(struct callgrind_writer *w)
{
	const size_t n = w->p->functions.n + 1; /* one more, for rows without a function */
	w->named = calloc(n, sizeof *w->named);
	w->cost = calloc(n, sizeof *w->cost);
	w->first = calloc(n, sizeof *w->first);
	w->line = calloc(n, sizeof *w->line);
	w->next = calloc((w->calls ? st_profile_rows(w->calls) : 0) + 1, sizeof *w->next);
	if (!w->named || !w->cost || !w->first || !w->line || !w->next)
		return false;
	w->n_events = w->costs->n_columns - 1;
	w->instructions = 0;
	while (w->instructions < w->n_events &&
	       strcmp(w->costs->columns[1 + w->instructions].name, "Ir") != 0)
		w->instructions++;
	callgrind_chain(w);
	return true;
}

/* ---- writing ---- */

static void
callgrind_put_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '\n' || *text == '\r' ? '?' : *text, out);
}

static void
callgrind_put_field(const char *key, const char *value, FILE *out)
{
	fprintf(out, "%s=", key);
	callgrind_put_text(value && *value ? value : "\?\?\?", out);
	fputc('\n', out);
}

static void
callgrind_put_header(const struct callgrind_writer *w)
{
	fputs("# callgrind format\nversion: 1\ncreator: strobe export\n", w->out);
	if (w->p->run.command.n)
		fputs("cmd:", w->out);
	for (size_t i = 0; i < w->p->run.command.n; i++) {
		fputc(' ', w->out);
		callgrind_put_text(w->p->run.command.v[i], w->out);
	}
	fputs(w->p->run.command.n ? "\npositions: line\nevents:" : "positions: line\nevents:",
	      w->out);
	for (size_t i = 0; i < w->n_events; i++)
		fprintf(w->out, " %s", w->costs->columns[1 + i].name);
	fputc('\n', w->out);
}

static void
callgrind_put_function(struct callgrind_writer *w, size_t i, bool called)
{
	const struct st_profile_function *f = &w->p->functions.v[i];
	callgrind_put_field(called ? "cob" : "ob", w->p->images.v[f->image].path, w->out);
	callgrind_put_field(called ? "cfi" : "fl", f->file, w->out);
	fprintf(w->out, "%sfn=(%zu)", called ? "c" : "", i + 1);
	if (!w->named[i]) {
		fputc(' ', w->out);
		callgrind_put_text(f->name, w->out);
	}
	fputc('\n', w->out);
	w->named[i] = true;
}

/* Writes the lines of a function, and subtracts them from its instructions. */
static void
callgrind_put_lines(const struct callgrind_writer *w, size_t function, uint64_t *instructions)
{
	const char *file = w->p->functions.v[function].file;
	for (size_t i = w->line[function]; i && i <= w->p->lines.n; i++) {
		const struct st_profile_line *l = &w->p->lines.v[i - 1];
		if (l->function != function)
			break;
		if (!l->line || l->instructions > *instructions)
			continue; /* not of an imported file */
		if (!file || strcmp(file, l->file) != 0)
			callgrind_put_field("fi", l->file, w->out);
		file = l->file;
		fprintf(w->out, "%" PRIu32, l->line);
		for (size_t k = 0; k < w->n_events; k++)
			fprintf(w->out, " %" PRIu64,
			        k == w->instructions ? l->instructions : UINT64_C(0));
		fputc('\n', w->out);
		*instructions -= l->instructions;
	}
}

static void
callgrind_put_costs(const struct callgrind_writer *w, size_t function)
{
	const struct st_profile_value *row;
	uint64_t left = 0, sum = 0;
	if (w->cost[function] == NO_ROW)
		return;
	row = &w->costs->values.v[(w->cost[function] - 1) * w->costs->n_columns + 1];
	if (w->instructions < w->n_events) {
		left = row[w->instructions].number;
		callgrind_put_lines(w, function, &left);
	}
	for (size_t k = 0; k < w->n_events; k++)
		sum |= k == w->instructions ? left : row[k].number;
	if (!sum && w->line[function])
		return;
	fputs("0", w->out);
	for (size_t k = 0; k < w->n_events; k++)
		fprintf(w->out, " %" PRIu64, k == w->instructions ? left : row[k].number);
	fputc('\n', w->out);
}

/* A row has the number of calls, then the events; a table of calls has one column less than that of
 * costs for events, so the last one may be missing. */
static void
callgrind_put_calls(struct callgrind_writer *w, size_t function)
{
	for (size_t i = w->first[function]; i; i = w->next[i - 1]) {
		const struct st_profile_value *row =
		        &w->calls->values.v[(i - 1) * w->calls->n_columns + 2];
		size_t callee = callgrind_key(w, w->calls, i - 1, 1), n = w->calls->n_columns - 3;
		if (callee == w->p->functions.n)
			continue;
		callgrind_put_function(w, callee, true);
		fprintf(w->out, "calls=%" PRIu64 " 0\n0", row[0].number);
		for (size_t k = 0; k < w->n_events; k++)
			fprintf(w->out, " %" PRIu64, k < n ? row[1 + k].number : UINT64_C(0));
		fputc('\n', w->out);
	}
}

st_status
st_export_callgrind(const struct st_profile *p, FILE *out, struct st_error *e)
{
	struct callgrind_writer w = {.p = p, .out = out};
	w.costs = callgrind_table(p, "costs", 1);
	w.calls = callgrind_table(p, "calls", 2);
	bool good = callgrind_begin(&w);
	if (good)
		callgrind_put_header(&w);
	for (size_t i = 0; i < p->functions.n && good; i++) {
		if (w.cost[i] == NO_ROW && w.first[i] == NO_ROW)
			continue;
		fputc('\n', out);
		callgrind_put_function(&w, i, false);
		callgrind_put_costs(&w, i);
		callgrind_put_calls(&w, i);
	}
	free(w.named);
	free(w.cost);
	free(w.first);
	free(w.next);
	free(w.line);
	return good ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left to write the file");
}
