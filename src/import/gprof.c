/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What gprof prints: the flat profile gives each function its samples and calls, the call graph the
 * samples of all that it called, and who called whom.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "import/functions.h"
#include "import/lines.h"
#include "import/tables.h"

enum gprof_part { GPROF_BETWEEN, GPROF_FLAT, GPROF_GRAPH };

struct gprof {
	struct st_import *in;
	struct st_import_functions f;
	struct st_import_table calls;
	enum gprof_part part;
	double period;    /* seconds of a sample */
	uint32_t primary; /* of the entry of the call graph: UINT32_MAX: callers come first */
};

bool
st_import_is_gprof(const struct st_import *in)
{
	return st_import_has(in, "Flat profile:") && st_import_has(in, "cumulative");
}

/* The next number of a line; false: the next word is none. */
static bool
gprof_number(const char **at, double *value)
{
	const char *end, *word = *at + strspn(*at, " \t");
	if (!isdigit((unsigned char)*word) || st_parse_real(word, value, &end) ||
	    (*end && *end != ' '))
		return false;
	*at = end;
	return *value < 1e15;
}

static uint64_t
gprof_samples(const struct gprof *x, double seconds)
{
	return x->period > 0 ? (uint64_t)llround(seconds / x->period) : 0;
}

/* "name <cycle 1> [3]" without what gprof adds. UINT32_MAX: no memory, or no name. */
static uint32_t
gprof_function(struct gprof *x, char *name)
{
	name += strspn(name, " \t");
	char *open = strrchr(name, '[');
	if (open && open > name && strspn(open + 1, "0123456789") + 2 == strlen(open) &&
	    open[strlen(open) - 1] == ']')
		open[-1] = '\0';
	char *cycle = strstr(name, " <cycle ");
	if (cycle)
		*cycle = '\0';
	return *name ? st_import_function(&x->f, ST_IMPORT_NO_IMAGE, name, NULL, 0) : UINT32_MAX;
}

static bool
gprof_skip(const char **at, int numbers)
{
	double ignored;
	while (numbers > 0 && gprof_number(at, &ignored))
		numbers--;
	return !numbers;
}

/* "PERCENT CUMULATIVE SELF [CALLS SELF TOTAL] NAME". */
static bool
read_flat(struct gprof *x, char *line)
{
	const char *at = line;
	double self, calls = 0;
	if (!gprof_skip(&at, 2) || !gprof_number(&at, &self))
		return false;
	if (gprof_number(&at, &calls) && !gprof_skip(&at, 2))
		return false;
	uint32_t function = gprof_function(x, line + (at - line));
	if (function == UINT32_MAX)
		return false;
	struct st_import_function *f = &x->f.v.v[function];
	uint64_t samples = gprof_samples(x, self);
	f->samples += samples;
	f->samples_total += f->samples_total ? 0 : samples; /* the call graph knows more */
	f->calls += (uint64_t)calls;
	x->in->p->run.samples_code += samples;
	return true;
}

/* "[INDEX] PERCENT SELF CHILDREN [CALLED] NAME [INDEX]". */
static bool
read_primary(struct gprof *x, char *line)
{
	const char *at = strchr(line, ']');
	double ignored, self, children;
	if (!at++ || !gprof_number(&at, &ignored) || !gprof_number(&at, &self) ||
	    !gprof_number(&at, &children))
		return false;
	at += strspn(at, " ");
	at += strspn(at, "0123456789+/");
	if (strstr(at, " as a whole>")) {
		x->primary = UINT32_MAX - 1; /* its members have entries of their own */
		return true;
	}
	x->primary = gprof_function(x, line + (at - line));
	if (x->primary == UINT32_MAX)
		return false;
	uint64_t total = gprof_samples(x, self + children);
	struct st_import_function *f = &x->f.v.v[x->primary];
	f->samples_total = total > f->samples_total ? total : f->samples_total;
	return true;
}

/* "[SELF CHILDREN] CALLED[/TOTAL] NAME [INDEX]": a callee of the entry. */
static bool
read_callee(struct gprof *x, char *line, st_status *status)
{
	const char *at = line;
	double self = 0, children = 0;
	if (gprof_number(&at, &self) && !gprof_number(&at, &children)) {
		at = line; /* what was read is the number of calls */
		self = 0;
	}
	at += strspn(at, " \t");
	char *end;
	uint64_t calls = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;
	if (!calls)
		return false;
	at = end;
	at += strspn(at, "/0123456789+");
	uint32_t callee = gprof_function(x, line + (at - line));
	if (callee == UINT32_MAX)
		return false;
	uint64_t *sums = st_import_table_row(&x->calls, x->primary, callee);
	if (!sums) {
		*status = ST_FAILED;
		return true;
	}
	sums[0] += calls;
	sums[1] += (uint64_t)llround((self + children) * 1e9);
	return true;
}

static bool
read_graph(struct gprof *x, char *line, st_status *status)
{
	if (line[0] == '-' && line[1] == '-') {
		x->primary = UINT32_MAX;
		return true;
	}
	if (*line == '[')
		return read_primary(x, line);
	/* Each caller has an entry of its own, in which this one is a callee. */
	if (x->primary >= UINT32_MAX - 1 || strstr(line, "<spontaneous>"))
		return true;
	return read_callee(x, line, status);
}

/* Lines that begin and end the parts, and text around them. True: it was one. */
static bool
change_part(struct gprof *x, const char *line)
{
	static const char counts[] = "Each sample counts as ";
	const char *end;
	if (!strncmp(line, counts, sizeof counts - 1)) {
		if (st_parse_real(line + sizeof counts - 1, &x->period, &end))
			x->period = 0;
		return true;
	}
	if (strstr(line, " time   seconds")) {
		x->part = GPROF_FLAT;
		return true;
	}
	if (!strncmp(line, "index % time", 12)) {
		x->part = GPROF_GRAPH;
		return true;
	}
	if (*line == '\f' || !*line || !strncmp(line, " %  ", 4))
		x->part = GPROF_BETWEEN;
	return x->part == GPROF_BETWEEN;
}

static st_status
gprof_finish(struct gprof *x)
{
	static const char *const sums[] = {"calls", "ns"};
	struct st_profile_run *r = &x->in->p->run;
	r->stacks = r->samples_code;
	if (x->period > 0 && x->period <= 1)
		r->sample_hz = llround(1 / x->period);
	return st_import_functions_finish(&x->f) ||
	                       st_import_table_finish(&x->calls, &x->f, "calls",
	                                              "calls from one function to another, and the "
	                                              "time that gprof thinks they took",
	                                              sums, 2)
	               ? ST_FAILED
	               : ST_OK;
}

st_status
st_import_gprof(struct st_import *in, struct st_error *e)
{
	struct gprof x = {.in = in, .f = {.p = in->p}, .primary = UINT32_MAX};
	struct st_lines l = {.in = in};
	st_status status = ST_OK;
	while (!status && st_lines_next(&l)) {
		if (change_part(&x, l.line))
			continue;
		bool good = x.part == GPROF_FLAT ? read_flat(&x, l.line)
		                                 : read_graph(&x, l.line, &status);
		if (!good)
			st_import_skip(in, l.number);
	}
	if (!status)
		status = l.out_of_memory ? ST_FAILED : gprof_finish(&x);
	if (status)
		status = st_import_no_memory(in, e);
	else if (!x.f.v.n)
		status = st_import_bad(in, in->first, e, "no function is in its flat profile");
	st_lines_free(&l);
	st_import_table_free(&x.calls);
	st_import_functions_free(&x.f);
	return status;
}
